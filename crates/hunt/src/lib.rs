//! Searches for counterexamples to a claim: at random first, then uphill from the best found.
//!
//! A claim names its candidates ([`climb::Subject`]) and measures how strongly one of them refutes
//! it. One search ([`climb::search`]) serves all claims, and is repeatable from its seed. It judges
//! its winners on new seeds, because the best of many noisy measurements is overestimated.
#![forbid(unsafe_code)]

pub mod climb;
pub mod liars;
