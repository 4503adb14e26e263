//! Reads what only conversations with an association have: packets by chunks, calls, settings.

mod calls;
mod icmp;
mod packet;
mod setting;

pub(super) use calls::call;
pub(super) use packet::{arriving, leaving};
pub(super) use setting::apply;
