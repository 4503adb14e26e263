//! A TCP connection without I/O: segments and time go in, segments and events come out.
//!
//! The shape is that of a state machine driven from outside. After every input ([`Connection::handle_segment`],
//! [`Connection::handle_timeout`], a write, a read, a close) the driver calls [`Connection::poll_transmit`] until it
//! returns nothing, then looks at [`Connection::poll_timeout`] and [`Connection::poll_event`].
//!
//! What to send, and when to send it again, is decided by [`eifel_recovery::engine::Engine`]: this crate holds no
//! arithmetic on the congestion window or the retransmission timer. It is the wire side: handshake, acknowledgements,
//! reassembly, flow control, timestamps, closing (RFC 9293, 2018, 2883, 5961, 7323).
//!
//! Inside, sequence numbers are positions that never wrap: 0 is the SYN, 1 the first byte of data, and the FIN takes the
//! position after the last byte. A stream offset is a position less one.
#![forbid(unsafe_code)]

mod challenge;
mod close;
pub mod connection;
mod cookie;
mod delayed_ack;
mod distinct;
pub mod event;
mod handshake;
pub mod icmp;
mod input;
pub mod listener;
mod marks;
mod output;
mod reassembly;
mod receive;
mod recv_stream;
mod ring;
mod run;
mod sack;
mod sack_option;
mod send_stream;
pub mod settings;
mod siphash;
pub mod state;
mod timers;
mod timestamps;
mod window;

pub use connection::{Connection, Counts, Outgoing};
pub use event::Event;
pub use icmp::IcmpError;
pub use listener::{Caller, Heard, Listener};
pub use output::{Agenda, Turn};
pub use run::Run;

pub use settings::{Ports, Settings};
pub use state::State;
