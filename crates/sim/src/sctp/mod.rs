//! Flows over SCTP: associations with one or more paths.
//!
//! A path is a pair of nodes, one address at each end. The oracle judges each chunk. A position is
//! an unwrapped TSN.

pub mod endpoint;
pub mod flow;
mod liar;
mod messages;
pub mod opening;
mod written;
