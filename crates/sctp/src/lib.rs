//! An SCTP association without I/O: packets and time go in, packets, messages and events come out.
//! A [`Packet`] is a value. It is read from bytes and written as bytes only where a wire begins.
//!
//! The association is a state machine driven from outside. The driver makes an input:
//! [`Association::handle`], [`Association::handle_timeout`], a message to send or taken, or
//! a shutdown. Then it calls [`Association::poll_transmit`] until it returns nothing, and looks at
//! [`Association::poll_timeout`] and [`Association::poll_event`]. Packets that no association
//! [owns](Association::owns) go to a [`Listener`].
//!
//! [`eifel_recovery::association::Engine`] decides which data to send, when, and on which path.
//! This crate computes neither the congestion window nor the retransmission timeout. It implements
//! the wire side of RFC 9260: handshake, streams, fragmentation, acknowledgements, heartbeats,
//! shutdown.
//!
//! ```
//! use eifel_base::time::{Duration, Instant};
//! use eifel_sctp::{Association, Delivery, ListenerAction, Listener, Packet, Phase, Ports, Settings};
//!
//! // The secrets are from the system's random numbers.
//! let here = Settings { addresses: vec![[10, 0, 0, 1].into()], secret: [0x1234, 0x5678], ..Settings::default() };
//! let there = Settings { addresses: vec![[10, 0, 0, 2].into()], secret: [0x9abc, 0xdef0], ..Settings::default() };
//! let mut now = Instant::ZERO;
//! let ports = Ports { local: 5001, remote: 5002 };
//! let mut caller = Association::connect(now, &here, ports, &there.addresses, 0)?;
//! let mut listener = Listener::new(there, ports.remote)?;
//! let mut callee = None;
//! caller.send(Delivery::default(), *b"hello")?;
//!
//! let message = loop {
//!     // What an end sends is with the other 10 ms later.
//!     let (mut packet, mut answer) = (Packet::default(), Packet::default());
//!     if let Some(outgoing) = caller.poll_transmit(now, &mut packet) {
//!         now += Duration::from_millis(10);
//!         let back = match &mut callee {
//!             None => match listener.handle(now, caller.addresses(&outgoing), &packet) {
//!                 ListenerAction::Reply(back, packet) => {
//!                     answer = packet;
//!                     Some(back)
//!                 }
//!                 ListenerAction::Accepted(association) => {
//!                     let association: &mut Association = callee.insert(*association);
//!                     association.poll_transmit(now, &mut answer).map(|outgoing| *association.addresses(&outgoing))
//!                 }
//!                 ListenerAction::Nothing => None,
//!             },
//!             Some(callee) => {
//!                 callee.handle(now, caller.addresses(&outgoing), &packet);
//!                 callee.poll_transmit(now, &mut answer).map(|outgoing| *callee.addresses(&outgoing))
//!             }
//!         };
//!         now += Duration::from_millis(10);
//!         if let Some(back) = back {
//!             caller.handle(now, &back, &answer);
//!         }
//!     }
//!     if let Some(message) = callee.as_mut().and_then(Association::receive) {
//!         break message;
//!     }
//! };
//! assert_eq!((message.bytes, caller.phase()), (b"hello".to_vec(), Phase::Established));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod abandon;
mod association;
mod closing;
mod cookie;
mod data;
pub mod event;
mod handshake;
mod header_prediction;
pub mod icmp;
mod input;
pub mod listener;
mod opening;
mod output;
pub mod packet;
mod peer_address;
pub mod reassembly;
pub mod send_queue;
pub mod settings;
mod stamps;
pub mod state;
#[cfg(test)]
mod tests;
mod timers;
mod tracker;
mod tuning;

// Their types are in this crate's signatures.
pub use {eifel_base, eifel_packet, eifel_recovery};

pub use association::{Association, Outgoing};
pub use event::{Event, Failure};
pub use header_prediction::Processed;
pub use icmp::IcmpError;
pub use listener::{Listener, ListenerAction, out_of_the_blue};
pub use packet::Packet;
pub use reassembly::Message;
pub use send_queue::{Delivery, SendError};
pub use settings::{Ports, Settings, ShutdownGuard, TimestampChunk, TimestampValues};
pub use state::Phase;
