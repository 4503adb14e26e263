//! Whole runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod applications;
mod bounds;
mod bytes;
mod captures;
mod common;
mod crossroads;
mod determinism;
mod drawn;
mod golden;
mod impairments;
mod laws;
mod liars;
mod lookahead;
mod marks;
mod profiles;
mod proxies;
mod queues;
mod sctp;
mod sctp_addresses;
mod sctp_liars;
mod sharing;
mod streaming;
mod table;
