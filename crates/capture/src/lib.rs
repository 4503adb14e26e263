//! Finds why each retransmission in a capture was sent, and whether it was needed.
//!
//! The crate takes bytes and returns values. Only the modules behind the feature `files` open
//! files, so the rest also compiles to WebAssembly.
//!
//! ```
//! use eifel_capture::{analysis::Analyzer, frame::read::Reader};
//! use eifel_packet::ip::{Addresses, Header};
//! use eifel_packet::pcapng::{Packet, Writer};
//! use eifel_packet::segment::{Flags, Segment};
//! use eifel_packet::{datagram, seq::Seq};
//!
//! // A capture at a sender: 100 bytes leave, and a second later the same 100 bytes leave again.
//! let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
//! let data = Segment { seq: Seq(1000), flags: Flags::ACK, payload_len: 100, ..Segment::EMPTY };
//! let mut bytes = Vec::new();
//! datagram::emit(&Header::new(addresses), &data, &[7; 100], &mut bytes).unwrap();
//! let mut writer = Writer::new(Vec::new(), "example").unwrap();
//! let interface = writer.interface("sender").unwrap();
//! for nanos in [1_000_000_000, 2_000_000_000] {
//!     let packet = Packet { bytes: &bytes, wire_len: bytes.len() as u32, comment: None };
//!     writer.packet(interface, nanos, packet).unwrap();
//! }
//!
//! let mut reader = Reader::new();
//! reader.feed(&writer.finish().unwrap());
//! let mut analyzer = Analyzer::default();
//! while let Some(frame) = reader.frame().unwrap() {
//!     analyzer.frame(&frame);
//! }
//! let found = analyzer.finish();
//! assert_eq!((found.segments, found.retransmissions.len()), (2, 1));
//! assert_eq!(found.retransmissions[0].frame, 2);
//! ```
#![forbid(unsafe_code)]

pub mod advise;
pub mod analysis;
mod cause;
#[cfg(feature = "files")]
pub mod command;
mod evidence;
#[cfg(feature = "files")]
pub mod files;
pub mod frame;
mod order;
pub mod places;
pub mod quic;
pub mod report;
pub mod result;
mod sctp;
mod stream;
mod tcp;
mod verdict;

// Their types are in this crate's signatures.
pub use {eifel_base, eifel_packet, eifel_recovery};

pub use order::identification::Identifications;
pub use tcp::MOST_CONNECTIONS;
