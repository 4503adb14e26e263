//! TCP connections of a capture: each from its first packet to its results.

mod connection;
mod direction;
mod fast_path;
mod loss_state;
mod preload;
mod recent;
mod recent_packets;
mod table;

pub(crate) use connection::Connection;
pub(crate) use preload::Preload;
pub use table::MOST_CONNECTIONS;
pub(crate) use table::{Table, hash};
