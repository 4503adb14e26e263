//! Random transfers over hostile paths: loss, reordering, duplication, delay spikes, rate changes, closed windows, lost
//! handshakes, both directions at once, half-open and half-closed connections, sequence numbers and timestamps that
//! wrap, and any combination of the registry's algorithms with any parameters.
//!
//! [`generate`](generate::scenario) turns a seed into a scenario. [`judge`](judge::judge) runs it
//! with every checker on and every byte compared, and returns a violation if there is one.
//! [`shrink`](shrink::shrink) removes everything from a failing scenario that the failure does not
//! need. [`hunt`](hunt::hunt) does this for many seeds on all cores.
//! [`captured`](captured::captured) captures a transfer at three places and adds the truth, to
//! judge tools that analyse captures.
#![forbid(unsafe_code)]

pub mod bounds;
pub mod captured;
mod dice;
pub mod generate;
pub mod hunt;
pub mod judge;
pub mod shrink;
