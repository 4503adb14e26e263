//! The brain that TCP and SCTP share: it detects, undoes, times and repairs retransmissions.
//!
//! Five seams hold the algorithms, one a file: [`detect`], [`respond`], [`rto`], [`recover`], [`congest`]. A
//! [`watch::Watch`] asks the detectors, also over a capture; a [`path::Path`] adds window and timer; an
//! [`engine::Engine`] drives one path over a byte stream, and alone applies what the algorithms decide. There is no
//! clock, no I/O and no protocol header: time and positions are arguments.
#![forbid(unsafe_code)]

pub mod association;
mod config;
pub mod congest;
pub mod credit;
pub mod detect;
pub mod duplicate;
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
