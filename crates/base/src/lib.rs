//! Basic types of all crates: integer time, rates, wrapping timestamps, timestamps that are hard to
//! guess, a ring buffer, a queue of few values, sets of ranges, and a keyed hash.
//!
//! ```
//! use eifel_base::{time::Duration, units::Rate};
//!
//! let rate = Rate::from_bps(2_000_000).expect("above zero");
//! assert_eq!(rate.time_for(1000), Duration::from_millis(4));
//! ```
#![forbid(unsafe_code)]

pub mod few;
pub mod ranges;
pub mod ring;
pub mod siphash;
pub mod steps;
pub mod time;
pub mod units;
