//! Conversations with an SCTP association: packetdrill's SCTP grammar over [`eifel_sctp`].

mod bytes;
pub(crate) mod call;
mod compare;
pub(crate) mod host;
pub(crate) mod item;
mod numbers;
pub(crate) mod packet;
pub(crate) mod setup;
pub(crate) mod shape;
mod sockets;
pub(crate) mod variables;
