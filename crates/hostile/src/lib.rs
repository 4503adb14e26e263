//! Random transfers over hostile paths: loss, reordering, duplication, delay spikes, rate changes, closed windows, lost
//! handshakes, both directions at once, half-open and half-closed connections, sequence numbers and timestamps that
//! wrap, and any combination of the registry's algorithms with any parameters.
//!
//! A seed is a scenario ([`generate`](generate::scenario)); [`judge`](judge::judge) runs it with every checker on and
//! every byte compared, and says what is wrong, if anything; [`shrink`](shrink::shrink) takes away from a scenario that
//! fails whatever can go; [`hunt`](hunt::hunt) does so for many seeds on all cores. [`captured`](captured::captured)
//! captures a transfer at three places, with the truth about it, for those who judge captures.
#![forbid(unsafe_code)]

pub mod captured;
mod dice;
pub mod generate;
pub mod hunt;
pub mod judge;
pub mod patience;
pub mod shrink;
