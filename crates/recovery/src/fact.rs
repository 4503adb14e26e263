//! Facts: the values that a connection passes to its engine and that detectors observe.

pub use eifel_base::ranges::Block;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;

/// Identifies one transmission of one segment. An id is never used twice in a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TxId(pub u64);

/// A loss signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Expiry of the retransmission timer.
    Timeout,
    /// Duplicate ACKs, or SACK blocks.
    FastRetransmit,
}

/// The kind of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Sent for the first time.
    New,
    /// Retransmitted because of this loss signal; `Timeout` also if no episode is open.
    Retransmission(Cause),
    /// Sent into a window that the peer has closed (RFC 9293, section 3.8.6.1).
    WindowProbe,
}

/// One transmission of positions `start..start + len`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmission {
    pub id: TxId,
    /// First position.
    pub start: u64,
    /// Length in positions: payload bytes in a connection, plus one for a SYN or FIN; 1 for a
    /// chunk.
    pub len: u32,
    /// New data, a retransmission or a window probe.
    pub kind: Kind,
    /// How often its first position was sent before.
    pub copy: u32,
}

impl Transmission {
    /// Returns the positions that it covers.
    #[inline]
    pub const fn positions(&self) -> Block {
        Block { start: self.start, end: self.start + self.len as u64 }
    }
}

/// The peer's echo of our timestamp on an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Echo {
    /// A timestamp that a segment may have carried.
    Known {
        /// TSecr as in the option.
        value: Timestamp,
        /// Time since our timestamp clock showed `value`, to the clock's granularity.
        age: Duration,
    },
    /// A timestamp that no segment ever carried. The peer forged it, or a middlebox did.
    Forged,
}

impl Echo {
    /// Returns how long ago the echoed timestamp was current; `None` if it was forged.
    #[inline]
    pub fn age(self) -> Option<Duration> {
        match self {
            Self::Known { age, .. } => Some(age),
            Self::Forged => None,
        }
    }
}

/// The peer's mark on an ACK: whether an original or a retransmission caused it. Exists only where
/// both ends mark retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The first transmission of a segment.
    Original,
    /// A later transmission of a segment.
    Retransmission,
}

/// An acceptable acknowledgement (`una <= cumulative <= nxt`), unwrapped and checked by the connection.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// First position that the peer has not received in order.
    pub cumulative: u64,
    /// SACK blocks above `cumulative`, without the DSACK, in the option's order.
    pub sacks: &'a [Block],
    /// Duplicates that the peer reports: at most one in TCP (RFC 2883), any number in SCTP.
    pub dsacks: &'a [Block],
    /// The echoed timestamp; `None` without timestamps, or if the echo was implausible.
    pub echo: Option<Echo>,
    /// The peer's mark; `None` if no marks were negotiated.
    pub mark: Option<Mark>,
    /// Whether the ACK has no payload, no SYN or FIN, and an unchanged advertised window. These are
    /// conditions (b), (c) and (e) of RFC 5681, section 2, for a duplicate ACK.
    pub plain: bool,
    /// Whether ECN-Echo is set.
    pub ece: bool,
}

impl Ack<'_> {
    /// Creates an ACK of everything below `cumulative`, without blocks, echo, mark and ECN-Echo.
    ///
    /// Set the others with `Ack { echo, ..Ack::new(cumulative) }`: then a field that a later version
    /// adds has its default.
    pub const fn new(cumulative: u64) -> Self {
        Self { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false }
    }
}

/// A segment that an ACK has newly covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    /// First position beyond it.
    pub end: u64,
    /// Number of retransmissions; 0 if it was sent once.
    pub copies: u32,
    /// When it was last sent.
    pub last_sent: Instant,
}

/// The segments that an ACK newly delivers, by its cumulative acknowledgement or by SACK blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delivered {
    /// Of the segments sent only once, the one sent last.
    pub original: Option<Covered>,
    /// Of the retransmitted segments, the one sent last.
    pub again: Option<Covered>,
    /// Of the segments sent only once, the lowest.
    pub lowest_original: Option<Block>,
}

impl Delivered {
    /// Records a segment that begins at `start` and that an ACK has newly delivered.
    pub(crate) fn note(&mut self, start: u64, covered: Covered) {
        let latest = if covered.copies == 0 { &mut self.original } else { &mut self.again };
        if latest.is_none_or(|known| (known.last_sent, known.end) < (covered.last_sent, covered.end)) {
            *latest = Some(covered);
        }
        if covered.copies == 0 && self.lowest_original.is_none_or(|lowest| covered.end < lowest.end) {
            self.lowest_original = Some(Block { start, end: covered.end });
        }
    }
}

/// An ACK after the scoreboard has processed it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked<'a> {
    /// The cumulative acknowledgement.
    pub cumulative: u64,
    /// Bytes that it newly acknowledged: positions in a connection, wire bytes of chunks in an
    /// association. Never add them to an association's positions, which are TSNs.
    pub bytes: u64,
    /// Bytes that SACK blocks newly reported, counted like `bytes`.
    pub sacked: u64,
    /// Bytes of chunks sent only once that are newly acknowledged or SACKed; `None` in a
    /// connection.
    pub originals: Option<u64>,
    /// Whether it is a duplicate ACK (RFC 5681, section 2). One with SACK blocks or a DSACK counts
    /// only if the blocks report something new.
    pub duplicate: bool,
    /// The highest segment that the cumulative ACK newly covers to its end.
    pub highest: Option<Covered>,
    /// First position beyond the highest of its SACK blocks; 0 without blocks.
    pub sacked_up_to: u64,
    /// Its SACK blocks, or gap ack blocks.
    pub sacks: &'a [Block],
    /// Duplicates that the peer reports.
    pub dsacks: &'a [Block],
    pub echo: Option<Echo>,
    /// The peer's mark; `None` if no marks were negotiated.
    pub mark: Option<Mark>,
    /// Whether ECN-Echo is set.
    pub ece: bool,
    /// Whether everything ever sent is now acknowledged.
    pub all: bool,
}

/// A fact that detectors observe.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// A retransmission was sent.
    Retransmitted {
        transmission: &'a Transmission,
        /// TSval that it carries.
        stamp: Option<Timestamp>,
        /// TSval of its segment's first transmission. `None` if a neighbouring segment carried the
        /// same TSval: its echo would not prove that this segment arrived.
        original: Option<Timestamp>,
        /// Whether it is the first of its episode.
        opens: bool,
    },
    /// An ACK came in.
    Acked(&'a Acked<'a>),
    /// The probe that this detector asked for will not be sent.
    NotProbed(Refusal),
}

/// Why a probe is not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no new data, or the peer's window has no room for it.
    NothingNew,
    /// The detector only watches: another one acts.
    Watches,
}
