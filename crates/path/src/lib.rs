//! What a network does to a packet, without I/O and without a clock.
//!
//! A [`Link`](link::Link) is one direction between two nodes. A parcel meets, in this order: the elements at the
//! entrance (loss, duplication, reordering), the queue, the transmitter (a rate, or a recorded link), the
//! propagation delay, the far end. Spikes hold it at the transmitter or at the far end. Whoever drives the link, with
//! virtual time or with real time, offers parcels and collects those that arrive; a link has one pending event at the
//! most, however much is under way on it. A [`Proxy`](proxy::Proxy) stands in front of a link, and tells connections apart.
//!
//! Each random element draws from a [stream](stream::Stream) of its own, derived from the seed and the element's name.
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
