//! The brain that TCP and SCTP share.
#![forbid(unsafe_code)]

pub mod time;
pub mod units;
