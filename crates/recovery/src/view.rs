//! What every seam may read. Windows are not among it: detectors must not see them.

use crate::rtt::RoundTrips;
use eifel_base::time::Instant;

/// The connection as the seams see it at one instant. All positions unwrapped, all lengths in bytes.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// First position not acknowledged.
    pub una: u64,
    // Between the two, so that they are not fetched as a pair, of which one was written just before: that waits.
    /// Now.
    pub now: Instant,
    /// First position never sent.
    pub nxt: u64,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Whether SACK was negotiated.
    pub sack: bool,
    /// What is known of the round-trip time.
    pub round_trips: RoundTrips,
}
