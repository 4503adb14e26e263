//! The state that every seam may read. It contains no windows, because detectors must not see them.

use crate::rtt::RoundTrips;
use eifel_base::time::Instant;

/// The options that both ends agreed on in the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negotiated {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Whether SACK may be used.
    pub sack: bool,
    /// Whether timestamps are in use.
    pub timestamps: bool,
}

/// The connection as the seams see it at one instant. All positions are unwrapped, and all lengths
/// are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// First position not acknowledged.
    pub una: u64,
    // `now` lies between `una` and `nxt`, so that the compiler does not load those two as a pair.
    // One of them was written just before, and a paired load would wait for that store.
    /// The instant of the latest input.
    pub now: Instant,
    /// First position never sent.
    pub nxt: u64,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Whether SACK was negotiated.
    pub sack: bool,
    /// Samples and estimates of the round-trip time.
    pub round_trips: RoundTrips,
}
