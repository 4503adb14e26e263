//! Flows over SCTP: associations with one or more paths.
//!
//! A path is a pair of nodes, one address at each end. The contents of an SCTP packet, and the
//! transmissions of its chunks, are in a [`Bundle`](bundle::Bundle) beside the slab, so that TCP's
//! packets stay small. The oracle judges each chunk. A position is an unwrapped TSN.

pub mod bundle;
pub mod endpoint;
pub mod flow;
mod liar;
mod messages;
pub mod opening;
pub mod solo;
mod written;
