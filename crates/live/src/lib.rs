//! The engine on a real network: the only crate with a device, a clock and threads.
//!
//! A [`Host`](host::Host) holds any number of connections, and is without I/O as everything below it: packets and time go in,
//! packets and events come out. A [`Station`](station::Station) drives it with a TUN device and the real clock, for an
//! [application](apps). [`system`] is what the operating system gives; all of it goes with the process, however that ends.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod apps;
pub mod capture;
pub mod command;
pub mod hiccup;
pub mod host;
pub mod judge;
pub mod messenger;
pub mod mirror;
pub mod recording;
pub mod side;
pub mod station;
pub mod system;
pub mod terms;
