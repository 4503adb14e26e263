//! Invariants that hold for any bytes. Each target turns bytes into inputs, and panics if an
//! invariant does not hold. `fuzz/` passes these functions to libFuzzer, and a test replays the
//! corpus without it.
//!
//! A target for bytes or text reads them directly. A target for a seam draws an algorithm of the
//! registry, its parameters and its inputs: any value that a scenario can set, and anything that an
//! engine may pass to that seam.
#![forbid(unsafe_code)]

mod analysis;
mod association;
mod canary;
mod capture;
mod chunks;
mod congest;
mod connection;
mod detect;
mod icmp;
mod input;
mod ip;
mod listener;
mod options;
mod pace;
mod qlog;
mod recover;
mod respond;
mod rto;
mod scenario;
mod script;
mod segment;

pub use analysis::analysis;
pub use association::association;
pub use canary::canary;
pub use capture::capture;
pub use chunks::chunks;
pub use congest::congest;
pub use connection::connection;
pub use detect::detect;
pub use icmp::icmp;
pub use ip::ip;
pub use listener::listener;
pub use options::options;
pub use pace::pace;
pub use qlog::qlog;
pub use recover::recover;
pub use respond::respond;
pub use rto::rto;
pub use scenario::scenario;
pub use script::script;
pub use segment::segment;

/// A target. Takes bytes, and panics if an invariant does not hold.
pub type Target = fn(&[u8]);

/// Every target with its name, except the [`canary`](canary()).
pub const TARGETS: &[(&str, Target)] = &[
    ("analysis", analysis),
    ("association", association),
    ("capture", capture),
    ("chunks", chunks),
    ("congest", congest),
    ("connection", connection),
    ("detect", detect),
    ("icmp", icmp),
    ("ip", ip),
    ("listener", listener),
    ("options", options),
    ("pace", pace),
    ("qlog", qlog),
    ("recover", recover),
    ("respond", respond),
    ("rto", rto),
    ("scenario", scenario),
    ("script", script),
    ("segment", segment),
];
