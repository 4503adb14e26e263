//! Facts: the values that a connection hands to its engine, and that detectors observe.

pub use eifel_base::ranges::Block;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;

/// Names one transmission of one segment; never used twice in a connection.
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
    /// Sent again in an episode that this opened.
    Retransmission(Cause),
    /// Sent into a window that the peer has closed (RFC 9293, section 3.8.6.1).
    WindowProbe,
}

/// One sending of positions `start..start + len`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmission {
    pub id: TxId,
    /// Its first position.
    pub start: u64,
    /// Its length in positions: bytes of payload, and one for a SYN or FIN.
    pub len: u32,
    /// Whether it repeats data, and what for.
    pub kind: Kind,
    /// How often its first position had left before.
    pub copy: u32,
}

impl Transmission {
    /// Returns the positions that it covers. A byte stream has a position for each byte; this is the only place that says so.
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
        /// TSecr as it stands in the option.
        value: Timestamp,
        /// Time since our timestamp clock showed `value`, to the clock's granularity.
        age: Duration,
    },
    /// A timestamp that no segment has ever carried: the peer lies, or something on the path does.
    Forged,
}

impl Echo {
    /// Returns how long ago the echoed timestamp was current; `None` for a forged one.
    #[inline]
    pub fn age(self) -> Option<Duration> {
        match self {
            Self::Known { age, .. } => Some(age),
            Self::Forged => None,
        }
    }
}

/// The peer's mark on an ACK: which sending of a segment caused it, where both ends mark retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The first sending.
    Original,
    /// A later sending.
    Retransmission,
}

/// An acceptable acknowledgement (`una <= cumulative <= nxt`), unwrapped and checked by the connection.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// First position that the peer has not received in order.
    pub cumulative: u64,
    /// SACK blocks above `cumulative`, without the DSACK, in the option's order.
    pub sacks: &'a [Block],
    /// Duplicates that the peer reports: at most one in TCP's DSACK (RFC 2883), any number in SCTP's.
    pub dsacks: &'a [Block],
    /// The timestamp echoed, where timestamps are in use and the echo was plausible.
    pub echo: Option<Echo>,
    /// The peer's mark, where marks were agreed on.
    pub mark: Option<Mark>,
    /// No payload, neither SYN nor FIN, and the advertised window unchanged: conditions (b), (c) and (e) of
    /// RFC 5681, section 2, for a duplicate ACK.
    pub plain: bool,
    /// ECN-Echo is set.
    pub ece: bool,
}

/// A segment that an ACK has newly covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    /// First position beyond it.
    pub end: u64,
    /// How often it was sent, less one.
    pub copies: u32,
    /// When it was sent last.
    pub last_sent: Instant,
}

/// The segments that an ACK newly delivers, by its cumulative acknowledgement or by SACK blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delivered {
    /// The segment sent last, of those sent once.
    pub original: Option<Covered>,
    /// The segment sent last, of those sent more than once.
    pub again: Option<Covered>,
    /// The lowest segment, of those sent once.
    pub lowest_original: Option<Block>,
}

/// An ACK after the scoreboard has taken it in.
#[derive(Clone, Copy, Debug)]
pub struct Acked<'a> {
    /// The cumulative acknowledgement.
    pub cumulative: u64,
    /// Bytes that it newly acknowledged: positions of a connection, wire bytes of an association's chunks. Positions of an
    /// association are TSNs, which bytes are not to be added to.
    pub bytes: u64,
    /// Bytes that SACK blocks newly reported, in the same sense.
    pub sacked: u64,
    /// Bytes newly acknowledged or reported of an association's chunks that left once; `None` for a connection.
    pub originals: Option<u64>,
    /// A duplicate ACK by RFC 5681, section 2; one with SACK blocks only if they report something new.
    pub duplicate: bool,
    /// The highest segment that the cumulative acknowledgement newly covers to its end.
    pub highest: Option<Covered>,
    /// The first position beyond the highest of its SACK blocks, or 0.
    pub sacked_up_to: u64,
    /// Duplicates that the peer reports.
    pub dsacks: &'a [Block],
    pub echo: Option<Echo>,
    /// The peer's mark, where marks were agreed on.
    pub mark: Option<Mark>,
    /// ECN-Echo is set.
    pub ece: bool,
    /// Whether everything ever sent is now acknowledged.
    pub all: bool,
}

/// A fact that detectors observe.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// A retransmission has left.
    Retransmitted {
        transmission: &'a Transmission,
        /// TSval that it carries.
        stamp: Option<Timestamp>,
        /// TSval of its segment's first sending. `None` where a neighbouring segment carried the same, because an echo of it
        /// does not prove that this segment arrived.
        original: Option<Timestamp>,
        /// Whether it is the first of its episode.
        opens: bool,
    },
    /// An ACK came in.
    Acked(&'a Acked<'a>),
    /// The probe that this detector has asked for will not leave.
    NotProbed(Refusal),
}

/// The reason why a probe does not leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no new data, or no room for it in the peer's window.
    NothingNew,
    /// Another detector acts; this one watches.
    Watches,
}
