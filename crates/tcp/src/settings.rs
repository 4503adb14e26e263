//! The settings of one end of a connection.

use eifel_base::time::Duration;
pub use eifel_packet::segment::Marks;
use eifel_packet::seq::Seq;

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

/// The window scale that is offered (RFC 7323, section 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowScale {
    /// Offers none: windows end at 65 535 bytes.
    Off,
    /// Offers the smallest shift with which the whole receive window can be announced.
    Fit,
    /// Offers this shift. Values above 14 mean 14.
    Shift(u8),
}

/// The selective acknowledgements that are offered and generated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SackUse {
    /// Does not send SACK-permitted.
    Off,
    /// Generates the blocks of RFC 2018.
    Plain,
    /// Generates the blocks of RFC 2018, and reports duplicates (RFC 2883).
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
    /// The clock's value. Segments that leave within one tick share it.
    Clock,
    /// A distinct value for each segment. It exceeds the previous one by the elapsed time and a
    /// drawn step of 1 to 64 ticks. So a timestamp names one transmission, and a receiver that has
    /// not got it can only guess it.
    Distinct {
        /// The key from which the steps are drawn. It must stay secret; many connections may share
        /// it.
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
    /// The effect of duplicates on the echo.
    pub echo: EchoRule,
    pub stamping: Stamping,
    /// Whether a segment without the option is dropped once it is agreed on. RFC 7323, section 3.2, says that it should be;
    /// Linux takes it.
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
    /// A clock with ticks of 1 ms. Better timestamps need a secret: see
    /// [`TimestampSettings::distinct`].
    fn default() -> Self {
        let granularity = Duration::from_millis(1);
        Self { granularity, offset: 0, echo: EchoRule::Standard, stamping: Stamping::Clock, required: true }
    }
}

/// How much of the receive buffer is announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Announce {
    /// The window's edge moves by at least a segment, or half the buffer (RFC 9293, section 3.8.6.2.2).
    InSteps,
    /// Each acknowledgement announces all room in a buffer that is rounded up to whole segments, unless that is less than a
    /// segment and a quarter of the buffer: FreeBSD's rule.
    AllRoom,
}

/// The segments that count as waiting for an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckCount {
    /// The bytes of a full-sized segment (RFC 5681, section 4.2).
    Bytes,
    /// Any segment, as in BSD's stacks.
    Segments,
}

/// When data received in order is acknowledged (RFC 5681, section 4.2; RFC 9293, section 3.8.6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckSettings {
    /// Full-sized segments whose bytes cause an immediate acknowledgement. With 0 or 1 every
    /// segment does.
    pub every: u32,
    pub counted: AckCount,
    /// Segments with data at the beginning of a connection that are acknowledged one by one, unless this end answers with
    /// data of its own: Linux's quick ACKs, by which a peer in slow start gets its ACKs soon.
    pub quick: u32,
    /// The longest delay of an acknowledgement. Zero acknowledges every segment at once.
    pub delay: Duration,
}

impl Default for AckSettings {
    fn default() -> Self {
        Self { every: 2, counted: AckCount::Bytes, quick: 0, delay: Duration::from_millis(200) }
    }
}

/// Whether an end uses explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// Neither asks for it nor agrees to it.
    Off,
    /// Agrees if the peer asks, as servers do.
    Answer,
    /// Asks for it, and agrees.
    Ask,
}

/// What a connection in TIME-WAIT answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeWait {
    /// What is not acceptable, and a SYN by a challenge ACK (RFC 9293, section 3.10.7.4; RFC 5961, section 4.2).
    Rfc9293,
    /// Everything but a bare acknowledgement of what is known; a SYN in no way, unless it lies beyond all that has arrived:
    /// then it begins another connection (RFC 1122, section 4.2.2.13). So 4.4BSD's stacks.
    Reopens,
}

/// How a closed window is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowProbe {
    /// By a byte of data (RFC 9293, section 3.8.6.1).
    Data,
    /// While nothing is outstanding by an old sequence number without data, which a peer answers too: Linux's.
    Empty,
}

/// When an end gives up the connection (RFC 9293, section 3.8.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GiveUp {
    /// Consecutive timeouts of a SYN or SYN-ACK; the next expiry ends the attempt.
    pub handshake_timeouts: u32,
    /// The longest that a handshake lasts; `None` leaves that to the timeouts.
    pub handshake: Option<Duration>,
    /// Consecutive timeouts after the handshake; the next expiry ends the connection.
    pub timeouts: u32,
    /// The longest time without any acknowledgement while data waits for one, zero windows
    /// included.
    pub user_timeout: Option<Duration>,
}

impl Default for GiveUp {
    fn default() -> Self {
        Self { handshake_timeouts: 6, handshake: None, timeouts: 15, user_timeout: None }
    }
}

/// The limit on a connection's challenge ACKs (RFC 5961, section 7). Each connection counts its
/// own: a shared count would tell an observer about other connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChallengeLimit {
    /// The most challenge ACKs in one interval. Each interval draws its limit between half of this
    /// and this.
    pub acks: u32,
    pub interval: Duration,
}

impl Default for ChallengeLimit {
    fn default() -> Self {
        Self { acks: 10, interval: Duration::from_secs(5) }
    }
}

/// The part of written data that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendKind {
    /// Keeps only the length. Segments carry no bytes.
    Counted,
    /// Keeps only the length, up to a limit.
    CountedUpTo {
        /// The most bytes written and not yet acknowledged.
        buffer: u64,
    },
    /// Keeps the bytes until they are acknowledged, up to a limit.
    Held {
        /// The most bytes written and not yet acknowledged.
        buffer: usize,
    },
}

/// The part of received data that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveKind {
    /// Keeps only the length, and reads at once for the application. There are no [`Readable`]
    /// events, and the window never closes.
    ///
    /// [`Readable`]: crate::Event::Readable
    Drained,
    /// Keeps only the length. The application reads when it wants to.
    Counted,
    /// Keeps the bytes. The application reads when it wants to.
    Held,
}

/// All settings of one end. The default is a present-day stack's, with counted streams. It lacks
/// the secret of [distinct timestamps](TimestampSettings::distinct), which only the user can
/// provide. So its timestamps come from a clock of 1 ms. The engine's default detector, which asks
/// for the proof `original`, then detects few spurious retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Bytes in the MSS option, and the most that this end puts into a segment. TCP options count,
    /// as in RFC 9293, section 3.7.1: with timestamps, each segment has 12 bytes less payload.
    pub mss: u16,
    /// Bytes of receive buffer: the largest window announced, within the agreed window scale.
    pub receive_window: u32,
    pub announce: Announce,
    pub window_scale: WindowScale,
    /// Timestamps option; `None` offers none. Eifel detection needs
    /// [`TimestampSettings::distinct`], not the default.
    pub timestamps: Option<TimestampSettings>,
    pub sack: SackUse,
    /// Marks of retransmissions; `None` offers none. [`Marks::Timestamps`] is not offered beside
    /// [`timestamps`], with which every segment has one.
    ///
    /// [`timestamps`]: Self::timestamps
    pub marks: Option<Marks>,
    pub ecn: EcnUse,
    /// The most SYNs, or SYN-ACKs, that ask for ECN or agree to it. Later ones do without, in case something on the path drops
    /// those that do (RFC 3168, section 6.1.1.1).
    pub ecn_syns: u32,
    pub acks: AckSettings,
    /// Whether a small segment waits while anything is unacknowledged (RFC 9293, section 3.7.4).
    pub nagle: bool,
    /// Whether a FIN without data leaves though cwnd is full, as in Linux: cwnd counts data, and a FIN is none.
    pub fin_beyond_cwnd: bool,
    pub window_probe: WindowProbe,
    /// The longest that FIN-WAIT-2 lasts after the application has
    /// [left](crate::Connection::leave), when nothing reads the peer's data. RFC 9293 has no such
    /// limit; this default is Linux's `tcp_fin_timeout`.
    pub fin_wait_2: Duration,
    /// Length of TIME-WAIT, twice the maximum segment lifetime.
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

/// The largest shift that RFC 7323, section 2.3, allows.
pub(crate) const LARGEST_SHIFT: u8 = 14;

impl Settings {
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
