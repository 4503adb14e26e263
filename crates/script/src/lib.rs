//! Test conversations with one TCP connection or SCTP association, in packetdrill's grammar, run in virtual time.
//!
//! A script lists packets that arrive, calls of the application, packets that must leave and when,
//! and assertions about the connection's variables. The language is the part of packetdrill's that
//! needs no operating system. `docs/reference/scripts.md` describes it and lists the omissions.
//!
//! ```
//! let text = "
//! 0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//! +0   bind(3, ..., ...) = 0
//! +0   listen(3, 1) = 0
//! +0   < S 0:0(0) win 10000 <mss 1000>
//! +0   > S. 0:0(0) ack 1 <mss 1460>
//! +.1  < . 1:1(0) ack 1 win 10000
//! +0   accept(3, ..., ...) = 4
//! +0   write(4, ..., 1000) = 1000
//! +0   > P. 1:1001(1000) ack 1
//! +1   > P. 1:1001(1000) ack 1
//! +0   %{ assert rto_us == 2000000 }%
//! ";
//! let script = eifel_script::parse(text, "example.pkt")?;
//! assert!(eifel_script::run(&script).passed());
//! # Ok::<(), eifel_script::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod command;
mod counts;
mod error;
mod expression;
mod json;
mod ladder;
mod outcome;
mod parse;
mod profile;
mod run;
mod script;
mod sctp;
pub mod variables;

pub use error::{Error, Place};
pub use outcome::{Failure, Outcome, Row, Seen, Side};
pub use parse::{parse, parse_for};
pub use profile::Profile;
pub use run::run;
pub use script::Script;
