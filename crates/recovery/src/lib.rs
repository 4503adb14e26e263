//! The sender's logic that TCP and SCTP share: it detects, undoes, times and repairs
//! retransmissions.
//!
//! Five main seams hold the algorithms, one per file: [`detect`], [`respond`], [`rto`],
//! [`recover`], [`congest`]. Three companions go with them: [`grant`] guards responses,
//! [`rto::after_spurious`] adapts timers, and [`pace`] spreads what congestion control allows. Two
//! more are an association's: [`retransmit`] chooses paths, and [`credit`] decides which chunks let
//! a window grow.
//!
//! A [`watch::Watch`] runs the detectors, for a sender or over a capture. A [`path::Path`] adds a
//! window and a timer. An [`engine::Engine`] drives one path over a byte stream, and an
//! [`association::Engine`] drives several over chunks. Only these two apply the algorithms'
//! decisions. There is no clock, no I/O and no protocol header: time and positions are arguments.
#![forbid(unsafe_code)]

pub mod association;
mod config;
pub mod congest;
pub mod credit;
pub mod detect;
mod duplicate;
pub mod engine;
pub mod episode;
pub mod event;
pub mod fact;
pub mod grant;
pub mod pace;
pub mod path;
pub mod recover;
pub mod registry;
pub mod respond;
pub mod retransmit;
pub mod rto;
pub mod rtt;
pub mod scoreboard;
pub mod view;
pub mod watch;
