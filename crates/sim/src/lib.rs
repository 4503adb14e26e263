//! The simulator: virtual time, nodes and links, hosts with TCP connections and applications, records of what
//! happened, the oracle that knows what every retransmission was worth, and checkers.
#![forbid(unsafe_code)]

pub mod clock;
pub mod oracle;
pub mod scenario;
pub mod slab;
