//! Integer time, rates and wrapping timestamps, a ring buffer, and sets of ranges: what every other crate stands on.
#![forbid(unsafe_code)]

pub mod ranges;
pub mod ring;
pub mod time;
pub mod units;
