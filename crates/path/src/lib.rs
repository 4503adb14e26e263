//! A model of a network path: loss, queues, transmission and delay. It does no I/O and reads no
//! clock.
//!
//! A [`Link`](link::Link) is one direction between two nodes. A parcel meets, in this order: the
//! elements at the entrance (outages, loss, duplication, reordering, jitter), the queue, the
//! transmitter (a rate, or a recorded link), the propagation delay, the far end. Spikes hold it at
//! the transmitter or at the far end. The driver of the link, with virtual time or with real time,
//! offers parcels and collects those that arrive. A link has at most one pending event, however
//! many parcels are under way. A [`Proxy`](proxy::Proxy) stands in front of a link and filters one
//! direction of one connection.
//!
//! Each random element draws from a [stream](stream::Stream) of its own, derived from the seed and the element's name.
//!
//! ```
//! use eifel_base::time::{Duration, Instant};
//! use eifel_base::units::Rate;
//! use eifel_path::{config::LinkConfig, link::Link, parcel::Parcel};
//!
//! let rate = Rate::from_bps(1_000_000).expect("above zero");
//! let mut link = Link::new(&LinkConfig::plain(rate, Duration::from_millis(100)), "link", 1)?;
//! let mut outcomes = Vec::new();
//! link.offer(Instant::ZERO, Parcel { handle: 7, bytes: 1000 }, Default::default, &mut outcomes);
//! // 8 ms of transmission and 100 ms of propagation.
//! assert_eq!(link.next_event(), Instant::ZERO + Duration::from_millis(108));
//! let arrived = link.advance(link.next_event(), &mut outcomes);
//! assert_eq!(arrived.map(|parcel| parcel.handle), Some(7));
//! # Ok::<(), eifel_path::config::ConfigError>(())
//! ```
#![forbid(unsafe_code)]

pub mod background;
pub mod config;
pub mod draw;
pub mod element;
pub mod link;
pub mod parcel;
mod passing;
pub mod proxy;
pub mod queue;
pub mod spike;
pub mod stream;
pub mod trace;
pub mod transmitter;

// Its types are in this crate's signatures.
pub use eifel_base;
