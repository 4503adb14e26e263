//! Integer time, rates and wrapping timestamps, a ring buffer, sets of ranges, and a keyed hash: what every other crate stands on.
#![forbid(unsafe_code)]

pub mod ranges;
pub mod ring;
pub mod siphash;
pub mod time;
pub mod units;
