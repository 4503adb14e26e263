//! The settings of one end of a connection.

use eifel_base::time::Duration;
pub use eifel_packet::segment::Marks;
use eifel_packet::segment::Options;
use eifel_packet::seq::Seq;

pub use crate::delayed_ack::OutOfOrderAck;

/// The two ports of a connection, from this end's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    pub local: u16,
    pub remote: u16,
}

impl Ports {
    /// Returns a number that distinguishes this end from other ends with the same secret.
    pub(crate) fn with(self, isn: Seq) -> u64 {
        u64::from(self.local) << 48 | u64::from(self.remote) << 32 | u64::from(isn.0)
    }
}

/// The window scale option to offer (RFC 7323, section 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowScale {
    /// None: windows are at most 65 535 bytes.
    Off,
    /// The smallest shift that can advertise the whole receive window.
    Fit,
    /// This shift. Values above 14 mean 14.
    Shift(u8),
}

/// The use of selective acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SackUse {
    /// Not offered: no SACK-permitted option is sent.
    Off,
    /// Sends the blocks of RFC 2018.
    Plain,
    /// Sends the blocks of RFC 2018, and reports duplicates (RFC 2883).
    WithDuplicates,
}

/// The segments that may change the timestamp to echo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoRule {
    /// RFC 7323, section 4.3: a segment wholly below the cumulative acknowledgement changes
    /// nothing.
    Standard,
    /// Duplicates below the cumulative acknowledgement update it too, as in some stacks (Gurtov and
    /// Ludwig, "Responding to Spurious Timeouts in TCP", section II.B).
    OnDuplicates,
}

/// The timestamp that a segment carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stamping {
    /// The clock's value. Segments sent within one tick share it.
    Clock,
    /// A distinct value for each segment. It exceeds the previous one by the elapsed time and a
    /// random step of 1 to 64 ticks. So a timestamp identifies one transmission, and a receiver
    /// that did not get it can only guess it.
    Distinct {
        /// The key for the random steps. It must stay secret. Connections may share it.
        secret: [u64; 2],
    },
}

/// The timestamps option and the clock behind it (RFC 7323, sections 3 to 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimestampSettings {
    /// Length of a tick. Zero means one nanosecond.
    pub granularity: Duration,
    /// The clock's value at the beginning of the run.
    pub offset: u32,
    /// Whether duplicates update the echo.
    pub echo: EchoRule,
    pub stamping: Stamping,
    /// Whether a segment without the negotiated option is dropped. RFC 7323, section 3.2, says that
    /// it should be. Linux accepts it.
    pub required: bool,
}

impl TimestampSettings {
    /// Distinct timestamps in ticks of a microsecond. Eifel detection with the proof `original`
    /// needs them. With a coarse clock it stays safe, but detects almost nothing.
    ///
    /// RFC 7323, section 5.4, asks for ticks of 1 ms to 1 s, so that 24 idle days do not cover half
    /// of the timestamp's range. Here a segment's timestamp exceeds the previous one by at most
    /// 2^20 ticks and a step, however long that was ago. PAWS could mistake a new segment for an
    /// old one only after 2047 consecutive losses.
    pub fn distinct(secret: [u64; 2]) -> Self {
        Self { granularity: Duration::from_micros(1), stamping: Stamping::Distinct { secret }, ..Self::default() }
    }
}

impl Default for TimestampSettings {
    /// Returns a clock with ticks of 1 ms. Better timestamps need a secret: see
    /// [`TimestampSettings::distinct`].
    fn default() -> Self {
        let granularity = Duration::from_millis(1);
        Self { granularity, offset: 0, echo: EchoRule::Standard, stamping: Stamping::Clock, required: true }
    }
}

/// The advertised part of the receive buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Announce {
    /// The window's right edge moves by at least a segment, or half the buffer (RFC 9293, section
    /// 3.8.6.2.2).
    InSteps,
    /// FreeBSD's rule. The buffer is rounded up to whole segments. Each acknowledgement advertises
    /// all free space in it, unless that is less than a segment and less than a quarter of the
    /// buffer.
    AllRoom,
}

/// How unacknowledged data is counted for delayed acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckCount {
    /// By bytes, compared with full-sized segments (RFC 5681, section 4.2).
    Bytes,
    /// By segments of any size, as in BSD's stacks.
    Segments,
}

/// When data received in order is acknowledged (RFC 5681, section 4.2; RFC 9293, section 3.8.6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckSettings {
    /// Number of full-sized segments whose bytes cause an immediate acknowledgement. With 0 or 1,
    /// every segment causes one.
    pub every: u32,
    pub counted: AckCount,
    /// Number of data segments at the beginning of a connection that are acknowledged one by one.
    /// It ends early if this end answers with data. These are Linux's quick ACKs: a peer in slow
    /// start gets its ACKs soon.
    pub quick: u32,
    /// Maximum delay of an acknowledgement. With zero, every segment is acknowledged at once.
    pub delay: Duration,
    /// How arriving segments are merged before TCP sees them; `None` if they are not.
    pub gro: Option<Gro>,
    pub out_of_order: OutOfOrderAck,
}

/// Generic receive offload: a host merges segments that arrive in a row, and acknowledges the batch
/// once. An acknowledgement that is due waits for the end of the batch, so it may stretch over many
/// segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gro {
    /// Number of full-sized segments whose bytes end a batch.
    pub segments: u32,
    /// How long a batch may wait for more, from the segment on that makes an acknowledgement due.
    pub wait: Duration,
}

impl Default for AckSettings {
    fn default() -> Self {
        Self {
            every: 2,
            counted: AckCount::Bytes,
            quick: 0,
            delay: Duration::from_millis(200),
            gro: None,
            out_of_order: OutOfOrderAck::Alone,
        }
    }
}

/// Whether an end uses explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// Neither asks for ECN nor accepts it.
    Off,
    /// Accepts ECN if the peer asks for it, as servers do.
    Answer,
    /// Asks for ECN, and accepts it.
    Ask,
}

/// The segments answered in TIME-WAIT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeWait {
    /// Unacceptable segments, and a SYN by a challenge ACK (RFC 9293, section 3.10.7.4; RFC 5961,
    /// section 4.2).
    Rfc9293,
    /// All segments with ACK, except a bare acknowledgement without news. A SYN without ACK is not
    /// answered. If it is beyond all arrived data, it begins a new connection (RFC 1122, section
    /// 4.2.2.13). Used by 4.4BSD's stacks.
    Reopens,
}

/// How a zero window is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowProbe {
    /// With a byte of data (RFC 9293, section 3.8.6.1).
    Data,
    /// As in Linux: while no data is outstanding, with an old sequence number and no data. A peer
    /// answers this too.
    Empty,
}

/// When an end gives up a connection (RFC 9293, section 3.8.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GiveUp {
    /// Maximum number of consecutive timeouts of a SYN or SYN-ACK. The next expiry ends the
    /// attempt.
    pub handshake_timeouts: u32,
    /// Maximum duration of a handshake; `None` leaves the limit to `handshake_timeouts`.
    pub handshake: Option<Duration>,
    /// Maximum number of consecutive timeouts after the handshake. The next expiry ends the
    /// connection.
    pub timeouts: u32,
    /// Maximum time without any acknowledgement while data is outstanding, zero windows included;
    /// `None` for no limit.
    pub user_timeout: Option<Duration>,
}

impl Default for GiveUp {
    fn default() -> Self {
        Self { handshake_timeouts: 6, handshake: None, timeouts: 15, user_timeout: None }
    }
}

/// The limit on a connection's challenge ACKs (RFC 5961, section 7). Each connection has its own
/// count: a shared count would tell an observer about other connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChallengeLimit {
    /// Maximum number of challenge ACKs per interval. Each interval draws its limit between half of
    /// this number and this number.
    pub acks: u32,
    pub interval: Duration,
}

impl Default for ChallengeLimit {
    fn default() -> Self {
        Self { acks: 10, interval: Duration::from_secs(5) }
    }
}

/// The stored part of written data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendKind {
    /// Only the length. Segments carry no bytes.
    Counted,
    /// Only the length, up to a limit.
    CountedUpTo {
        /// Maximum number of bytes written and not yet acknowledged.
        buffer: u64,
    },
    /// The bytes until they are acknowledged, up to a limit.
    Held {
        /// Maximum number of bytes written and not yet acknowledged.
        buffer: usize,
    },
}

/// The stored part of received data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveKind {
    /// Only the length. The data counts as read on arrival. There are no [`Readable`] events, and
    /// the window never closes.
    ///
    /// [`Readable`]: crate::Event::Readable
    Drained,
    /// Only the length. The application reads at its own pace.
    Counted,
    /// The bytes. The application reads at its own pace.
    Held,
}

/// All settings of one end. The defaults are those of a present-day stack, with counted streams.
/// They lack the secret of [distinct timestamps](TimestampSettings::distinct), which only the user
/// can provide. So the timestamps come from a clock of 1 ms. The engine's default detector, which
/// asks for the proof `original`, then detects few spurious retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Value of the MSS option in bytes, and maximum payload of this end's segments, TCP options
    /// included (RFC 9293, section 3.7.1). With timestamps, each segment has 12 bytes less payload.
    pub mss: u16,
    /// Bytes of receive buffer: the largest advertised window, as far as the negotiated window
    /// scale allows.
    pub receive_window: u32,
    pub announce: Announce,
    pub window_scale: WindowScale,
    /// Timestamps option; `None` offers none. Eifel detection needs
    /// [`TimestampSettings::distinct`], not the default.
    pub timestamps: Option<TimestampSettings>,
    pub sack: SackUse,
    /// Marks of retransmissions; `None` offers none. [`Marks::Timestamps`] is not offered together
    /// with [`timestamps`], because every segment then has a timestamp.
    ///
    /// [`timestamps`]: Self::timestamps
    pub marks: Option<Marks>,
    pub ecn: EcnUse,
    /// Maximum number of SYNs that ask for ECN, or SYN-ACKs that accept it. Later ones have no ECN
    /// flags, in case the path drops segments with them (RFC 3168, section 6.1.1.1).
    pub ecn_syns: u32,
    pub acks: AckSettings,
    /// Whether a small segment waits while anything is unacknowledged (RFC 9293, section 3.7.4).
    pub nagle: bool,
    /// Whether a FIN without data is sent although cwnd is full, as in Linux: cwnd counts data, and
    /// a FIN is not data.
    pub fin_beyond_cwnd: bool,
    pub window_probe: WindowProbe,
    /// Maximum duration of FIN-WAIT-2 after the application has [closed](crate::Connection::close),
    /// when the peer's data has no reader. RFC 9293 has no limit. The default is that of Linux's
    /// `tcp_fin_timeout`.
    pub fin_wait_2: Duration,
    /// Duration of TIME-WAIT: twice the maximum segment lifetime.
    pub time_wait: Duration,
    pub time_wait_rule: TimeWait,
    pub give_up: GiveUp,
    pub challenge: ChallengeLimit,
    pub send: SendKind,
    pub receive: ReceiveKind,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mss: 1460,
            receive_window: 1 << 20,
            announce: Announce::InSteps,
            window_scale: WindowScale::Fit,
            timestamps: Some(TimestampSettings::default()),
            sack: SackUse::WithDuplicates,
            marks: None,
            ecn: EcnUse::Off,
            ecn_syns: 2,
            acks: AckSettings::default(),
            nagle: false,
            fin_beyond_cwnd: false,
            window_probe: WindowProbe::Data,
            fin_wait_2: Duration::from_secs(60),
            time_wait: Duration::from_secs(60),
            time_wait_rule: TimeWait::Rfc9293,
            give_up: GiveUp::default(),
            challenge: ChallengeLimit::default(),
            send: SendKind::Counted,
            receive: ReceiveKind::Counted,
        }
    }
}

/// The largest shift allowed by RFC 7323, section 2.3.
pub(crate) const LARGEST_SHIFT: u8 = 14;

impl Settings {
    /// Returns the options of a SYN, without the timestamps.
    pub(crate) fn offer(&self) -> Options {
        Options {
            mss: Some(self.mss),
            window_scale: self.shift(),
            sack_permitted: self.sack != SackUse::Off,
            marks: self.offered_marks(),
            ..Options::default()
        }
    }

    /// Returns the marks to offer. If all segments carry timestamps, timestamps cannot mark
    /// retransmissions.
    pub(crate) fn offered_marks(&self) -> Option<Marks> {
        self.marks.filter(|marks| *marks != Marks::Timestamps || self.timestamps.is_none())
    }

    /// Returns the shift that this end offers for its own window; `None` if it offers none.
    pub(crate) fn shift(&self) -> Option<u8> {
        match self.window_scale {
            WindowScale::Off => None,
            WindowScale::Shift(shift) => Some(shift.min(LARGEST_SHIFT)),
            WindowScale::Fit => {
                Some((0..LARGEST_SHIFT).find(|shift| self.receive_window >> shift <= 0xffff).unwrap_or(LARGEST_SHIFT))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fitting_shift_is_the_smallest_that_announces_the_whole_window() {
        let shift = |receive_window| Settings { receive_window, ..Settings::default() }.shift();
        assert_eq!(shift(65_535), Some(0));
        assert_eq!(shift(65_536), Some(1));
        assert_eq!(shift(150_000), Some(2));
        assert_eq!(shift(1 << 30), Some(14));
        assert_eq!(shift(u32::MAX), Some(14));
        let fixed = Settings { window_scale: WindowScale::Shift(20), ..Settings::default() };
        assert_eq!(fixed.shift(), Some(14));
    }
}
