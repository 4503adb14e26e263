//! A TCP connection without I/O: segments and time go in, segments and events come out.
//!
//! The connection is a state machine driven from outside. The driver makes an input:
//! [`Connection::handle_segment`], [`Connection::handle_timeout`], a write, a read or a close. Then
//! it calls [`Connection::poll_transmit`] until it returns nothing, and looks at
//! [`Connection::poll_timeout`] and [`Connection::poll_event`].
//!
//! [`eifel_recovery::engine::Engine`] decides which data to send or retransmit, and when. This
//! crate computes neither the congestion window nor the retransmission timeout. It implements the
//! wire side: handshake, acknowledgements, reassembly, flow control, timestamps, closing (RFC 9293,
//! 2018, 2883, 5961, 7323).
//!
//! ```
//! use eifel_packet::segment::Segment;
//! use eifel_packet::seq::Seq;
//! use eifel_recovery::engine::{Config, Engine};
//! use eifel_base::time::{Duration, Instant};
//! use eifel_tcp::settings::TimestampSettings;
//! use eifel_tcp::{Connection, Ports, Settings, State};
//!
//! // From the system's random numbers. Timestamps that name one transmission each are what the default detector goes by.
//! let secret = [0x1234, 0x5678];
//! let settings = Settings { timestamps: Some(TimestampSettings::distinct(secret)), ..Settings::default() };
//! let engine = || Engine::new(&Config::default()).expect("the defaults are in the registry");
//! let mut client = Connection::connect(&settings, engine(), Ports { local: 49_152, remote: 80 }, Seq(1_000));
//! let mut server = Connection::listen(&settings, engine(), Ports { local: 80, remote: 49_152 }, Seq(2_000));
//! client.write_counted(100_000);
//!
//! let mut now = Instant::ZERO;
//! while server.received() < 100_000 {
//!     // What one end sends is with the other 10 ms later.
//!     let [calls, answers] = [&mut client, &mut server].map(|end| {
//!         let mut segment = Segment::default();
//!         std::iter::from_fn(|| end.poll_transmit(now, &mut segment).map(|_| segment)).collect::<Vec<_>>()
//!     });
//!     now += Duration::from_millis(10);
//!     calls.iter().for_each(|segment| server.handle_segment(now, segment, &[]));
//!     answers.iter().for_each(|segment| client.handle_segment(now, segment, &[]));
//!     for end in [&mut client, &mut server] {
//!         if end.poll_timeout() <= now {
//!             end.handle_timeout(now);
//!         }
//!     }
//! }
//! assert_eq!((client.state(), client.counts().refused_acks), (State::Established, 0));
//! ```
//!
//! Internally, sequence numbers are positions that never wrap. The SYN has position 0, the first
//! byte of data 1, and the FIN the position after the last byte. A stream offset is a position
//! minus one.
#![forbid(unsafe_code)]

mod challenge;
mod close;
pub mod connection;
mod cookie;
mod counts;
mod cut;
mod delayed_ack;
mod distinct;
mod ecn;
pub mod event;
mod handshake;
mod header_prediction;
mod icmp;
mod input;
pub mod listener;
mod marks;
mod output;
mod persist;
mod plain_departure;
mod quick_acks;
mod rare;
mod reassembly;
mod receive;
mod recv_stream;
mod ring;
mod sack;
mod sack_option;
mod send_stream;
pub mod settings;
pub mod state;
mod tail;
mod time_wait;
mod timers;
mod timestamps;
mod window;

// Their types are in this crate's signatures.
pub use {eifel_base, eifel_packet, eifel_recovery};

pub use connection::{Connection, Outgoing};
pub use counts::Counts;
pub use event::{Event, IcmpError};
pub use handshake::reset;
pub use listener::{Caller, Listener, ListenerReply, isn};
pub use settings::{Ports, Settings};
pub use state::State;
