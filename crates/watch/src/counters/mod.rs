//! What the kernel's counters say about retransmissions, where no program may watch: each in words, and a
//! calibrated estimate of the needless share.

mod estimate;
mod meaning;
mod read;

pub use estimate::{Error, Estimate, FEWEST, FITTED, KERNEL, Signs, Situation};
pub use meaning::{Group, MEANINGS, Meaning};
pub use read::{Counters, Malformed, OF_THIS_HOST};
