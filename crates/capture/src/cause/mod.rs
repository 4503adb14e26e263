//! Why a sender sent again, what its stack did about it, and what that cost.

pub(crate) mod detectors;
mod model;
mod path_mtu;
mod reaction;
mod retransmissions;
mod sender;
mod suspected;

pub(crate) use path_mtu::{PathMtu, reported};
pub(crate) use reaction::InFlight;
pub(crate) use retransmissions::{DirectionId, Retransmissions};
pub(crate) use sender::SenderModel;
