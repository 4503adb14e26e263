//! Reads and writes IP, TCP with its options, SCTP with its chunks, UDP encapsulation, sequence
//! numbers, and capture files.
//!
//! Nothing here has a clock, a socket or a memory of earlier packets. For any input, a reader
//! returns a value or an [`Error`] with the field, its offset and the expected value. It never
//! panics.
//!
//! ```
//! use eifel_packet::{datagram, ip::{Addresses, Ecn, Header}, segment::{Flags, Options, Segment}, seq::Seq};
//!
//! let header = Header::new(Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() });
//! let segment = Segment {
//!     source_port: 49152,
//!     destination_port: 80,
//!     seq: Seq(1),
//!     ack: Seq(1),
//!     flags: Flags::ACK.with(Flags::PSH),
//!     window: 512,
//!     options: Options::default(),
//!     payload_len: 5,
//!     ecn: Ecn::NotEct,
//! };
//! let mut bytes = Vec::new();
//! datagram::emit(&header, &segment, b"hello", &mut bytes)?;
//! assert_eq!(bytes.len(), 20 + 20 + 5);
//! assert_eq!(datagram::parse(&bytes)?, (header, segment, &b"hello"[..]));
//! # Ok::<(), eifel_packet::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod checksum;
pub mod datagram;
pub mod error;
pub mod icmp;
pub mod ip;
mod ipv4;
mod ipv6;
pub mod options;
pub mod pcap;
pub mod pcapng;
pub mod sctp;
pub mod segment;
pub mod seq;
pub mod tcp;
pub mod udp;

pub use error::Error;
