//! Searches for what refutes a claim: at random first, then uphill from the best that was found.
//!
//! A claim names what it searches ([`climb::Subject`]) and measures how far one candidate refutes it. The search is the
//! same for all of them ([`climb::search`]), is repeatable from its seed, and judges its winners on seeds that it has not
//! searched with, since the best of many noisy measurements is better than it is.
#![forbid(unsafe_code)]

pub mod climb;
pub mod liars;
