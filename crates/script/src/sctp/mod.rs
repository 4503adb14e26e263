//! Conversations with an SCTP association: packetdrill's SCTP grammar over [`eifel_sctp`].

mod bytes;
mod calls;
mod compare;
mod host;
mod icmp;
mod item;
mod numbers;
mod packet;
mod setup;
mod shape;
mod sockets;
pub(crate) mod variables;

pub(crate) use calls::{Call, call};
pub(crate) use host::AssociationEnd;
pub(crate) use icmp::Icmp;
pub(crate) use packet::{Packet, arriving, leaving};
pub(crate) use setup::Setup;
