//! Flows over SCTP: associations that send real packets over several paths.
//!
//! A path is a pair of nodes, one address at each end. A packet carries the bytes of its SCTP packet
//! and its chunks' transmissions in a [`Bundle`](bundle::Bundle) beside the slab, so that TCP's
//! packets stay as small as they are. The oracle judges each chunk: a position is an unwrapped TSN.

pub mod bundle;
pub mod endpoint;
pub mod flow;
mod liar;
mod messages;
pub mod opening;
pub mod solo;
mod written;
