//! The brain that TCP and SCTP share: detecting, undoing, timing and repairing retransmissions.
//!
//! Five seams, one algorithm a file: [`detect`], [`respond`], [`rto`], [`recover`], [`congest`]; [`engine::Engine`]
//! alone applies what they decide. No clock, no I/O, no protocol header: time and positions are arguments.
#![forbid(unsafe_code)]

pub mod congest;
pub mod detect;
pub mod duplicate;
pub mod engine;
pub mod episode;
pub mod fact;
pub mod grant;
pub mod pace;
pub mod recover;
pub mod registry;
pub mod respond;
pub mod rto;
pub mod rtt;
pub mod scoreboard;
pub mod view;
