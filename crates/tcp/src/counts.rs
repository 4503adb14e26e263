//! What a connection counts.

/// Numbers of arrivals that were rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Segments refused by PAWS (RFC 7323, section 5).
    pub old_timestamps: u64,
    /// Segments without the negotiated timestamps (RFC 7323, section 3.2).
    pub missing_timestamps: u64,
    /// Timestamp echoes that match no outstanding segment.
    pub ignored_echoes: u64,
    /// Timestamp echoes of values that were never sent. With distinct timestamps, only a lying peer
    /// sends them.
    pub forged_echoes: u64,
    /// SACK blocks that cannot be true.
    pub ignored_sack_blocks: u64,
    /// Acknowledgements of unsent data, or of data that was acknowledged long ago (RFC 5961,
    /// section 5).
    pub refused_acks: u64,
    /// Segments outside the window.
    pub outside_window: u64,
    /// ICMP messages about no segment in flight, or that this end ignores.
    pub ignored_icmp: u64,
    /// Challenge ACKs sent.
    pub challenges: u64,
    /// Challenge ACKs suppressed by their limit.
    pub withheld_challenges: u64,
}
