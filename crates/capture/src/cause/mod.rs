//! Why a sender sent again, what its stack did about it, and what that cost.

pub(crate) mod detectors;
mod model;
mod path_mtu;
mod reaction;
mod record;
mod sender;
mod suspected;

pub(crate) use model::Explained;
pub(crate) use path_mtu::{PathMtu, reported};
pub(crate) use record::{Identity, Retransmissions};
pub(crate) use sender::SenderModel;
