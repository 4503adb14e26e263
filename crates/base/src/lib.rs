//! The ground of all crates: integer time, rates, wrapping timestamps, a ring buffer, sets of
//! ranges, a keyed hash.
#![forbid(unsafe_code)]

pub mod ranges;
pub mod ring;
pub mod siphash;
pub mod time;
pub mod units;
