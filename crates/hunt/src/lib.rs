//! Searches for counterexamples to a claim: at random first, then uphill from the best found.
//!
//! A claim ([`climb::Subject`]) measures how strongly a candidate ([`climb::Candidate`]) refutes
//! it. One search ([`climb::search`]) serves all claims, and is repeatable from its seed. It judges
//! its winners on new seeds, because the best of many noisy measurements is overestimated.
//!
//! [`claim::Claim`] names the claims about honest ends, and [`field::Field`] their scenarios.
//! [`survey::survey`] estimates the share of all scenarios that refute a claim. [`climb::simplest`]
//! simplifies a counterexample.
#![forbid(unsafe_code)]

pub mod claim;
pub mod climb;
pub mod field;
pub mod harm;
pub mod liars;
pub mod survey;
pub mod table;
pub mod wrong;
