//! The simulator: virtual time, nodes and links, hosts with TCP connections, SCTP associations and
//! applications. It includes records of a run, checkers, and the oracle, which knows whether each
//! retransmission was needed.
//!
//! ```
//! use eifel_sim::record::Record;
//! use eifel_sim::scenario::Scenario;
//!
//! let text = r#"
//!     duration_s = 60
//!     [point_to_point]
//!     rate_bps = 2_000_000
//!     delay_ms = 150
//!
//!     [[flow]]
//!     name = "main"
//!     from = "sender"
//!     to = "receiver"
//!     application = { kind = "bulk", bytes = 100_000 }
//! "#;
//! let scenario = Scenario::parse(text, "example.toml".as_ref()).unwrap();
//! let outcome = eifel_sim::run(&scenario, 0, Record::none()).unwrap();
//! assert!(outcome.summary.flows[0].completed);
//! ```
#![forbid(unsafe_code)]

mod app;
mod background;
mod bounds;
mod capture;
mod check;
mod clock;
pub mod command;
pub mod comments;
mod datagram_flow;
mod end;
mod endpoint;
mod error;
pub mod liar;
mod lookahead;
mod network;
pub mod numbering;
mod opening;
pub mod oracle;
mod outcome;
mod packet;
pub mod pattern;
mod proxies;
pub mod record;
mod routes;
mod run;
pub mod scenario;
mod sctp;
mod seed;
mod slab;
mod span;
mod stream_flow;
pub mod summary;
mod tally;
mod transport_flow;
mod wire;
mod world;
mod writing;

// Their types are in this crate's signatures.
pub use {eifel_base, eifel_packet, eifel_path, eifel_recovery, eifel_sctp, eifel_tcp};

pub use capture::{Capture, Shown};
pub use end::End;
pub use error::Error;
pub use run::{Options, Outcome, run, run_into, run_with};
