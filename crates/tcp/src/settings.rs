//! What one end of a connection is told before it begins.

use eifel_base::time::Duration;
pub use eifel_packet::segment::Marks;
use eifel_packet::seq::Seq;

/// The two ports of a connection, as this end sees them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// This end's port.
    pub local: u16,
    /// The peer's port.
    pub remote: u16,
}

impl Ports {
    /// Tells this end of a connection from other ends with the same secret.
    pub(crate) fn with(self, isn: Seq) -> u64 {
        u64::from(self.local) << 48 | u64::from(self.remote) << 32 | u64::from(isn.0)
    }
}

/// Whether and how a window scale is offered (RFC 7323, section 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowScale {
    /// Not offered: windows end at 65 535 bytes.
    Off,
    /// The smallest shift that lets the receive window be announced whole.
    Fit,
    /// This shift; more than 14 is read as 14.
    Shift(u8),
}

/// Whether selective acknowledgements are offered and generated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SackUse {
    /// SACK-permitted is not sent.
    Off,
    /// RFC 2018.
    Plain,
    /// RFC 2018, and duplicates are reported by RFC 2883.
    WithDuplicates,
}

/// Which segments may change the timestamp that is echoed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoRule {
    /// RFC 7323, section 4.3: never a segment that lies wholly below the cumulative acknowledgement.
    Standard,
    /// Duplicates below the cumulative acknowledgement update it too, as some stacks did (Gurtov and Ludwig,
    /// "Responding to Spurious Timeouts in TCP", section II.B).
    OnDuplicates,
}

/// Which timestamp a segment carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stamping {
    /// What the clock shows: segments that leave within one tick share it.
    Clock,
    /// Later than that of the segment before by the time in between, as far as the clock tells it, and by a step of 1 to 64
    /// ticks that is drawn: a timestamp names one transmission, and who has not received it can only guess it.
    Distinct {
        /// What the steps are drawn with. Nobody else may know it; it may serve many connections.
        secret: [u64; 2],
    },
}

/// The timestamps option and the clock behind it (RFC 7323, sections 3 to 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimestampSettings {
    /// How long the clock shows one value. Zero is read as one nanosecond.
    pub granularity: Duration,
    /// What the clock shows at the beginning of the run.
    pub offset: u32,
    /// What this end echoes when it gets duplicates.
    pub echo: EchoRule,
    /// Which value of the clock a segment carries.
    pub stamping: Stamping,
}

impl TimestampSettings {
    /// Distinct timestamps in ticks of a microsecond. Eifel detection with the proof `original` needs them: with those of a
    /// coarse clock it is safe, and finds next to nothing.
    ///
    /// RFC 7323, section 5.4, asks for ticks of 1 ms to 1 s, so that 24 days of idleness are no half of the circle. Here a
    /// segment is never more than 2^20 ticks and a step ahead of the one before, however long that was ago: 2047 in a row
    /// would have to be lost before PAWS could take the next for one of the past.
    pub fn distinct(secret: [u64; 2]) -> Self {
        Self { granularity: Duration::from_micros(1), stamping: Stamping::Distinct { secret }, ..Self::default() }
    }
}

impl Default for TimestampSettings {
    /// A clock of 1 ms. It takes a secret to do better: see [`TimestampSettings::distinct`].
    fn default() -> Self {
        let granularity = Duration::from_millis(1);
        Self { granularity, offset: 0, echo: EchoRule::Standard, stamping: Stamping::Clock }
    }
}

/// When data received in order is acknowledged (RFC 5681, section 4.2; RFC 9293, section 3.8.6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckSettings {
    /// An acknowledgement leaves at once when so many full-sized segments' bytes wait for one. 0 and 1: every segment.
    pub every: u32,
    /// The longest that an acknowledgement waits. Zero: every segment is acknowledged at once.
    pub delay: Duration,
}

impl Default for AckSettings {
    fn default() -> Self {
        Self { every: 2, delay: Duration::from_millis(200) }
    }
}

/// When an end gives the connection up (RFC 9293, section 3.8.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GiveUp {
    /// Consecutive timeouts of a SYN or SYN-ACK before its timer's next expiry ends the attempt.
    pub handshake_timeouts: u32,
    /// Consecutive timeouts after the handshake before the timer's next expiry ends the connection.
    pub timeouts: u32,
    /// The longest time that something may wait without any of it being acknowledged, zero windows included.
    pub user_timeout: Option<Duration>,
}

impl Default for GiveUp {
    fn default() -> Self {
        Self { handshake_timeouts: 6, timeouts: 15, user_timeout: None }
    }
}

/// How many challenge ACKs a connection sends (RFC 5961, section 7). The count is the connection's own: a count shared
/// among connections would tell an observer about others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChallengeLimit {
    /// At most so many in one interval; each interval's number is drawn between half of this and this.
    pub acks: u32,
    /// The interval.
    pub interval: Duration,
}

impl Default for ChallengeLimit {
    fn default() -> Self {
        Self { acks: 10, interval: Duration::from_secs(5) }
    }
}

/// What is kept of the data that the application writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendKind {
    /// Only its length; the wire carries segments without bytes.
    Counted,
    /// Only its length, and at most so many bytes.
    CountedUpTo {
        /// Room for bytes that are written and not yet acknowledged.
        buffer: u64,
    },
    /// The bytes, until they are acknowledged; at most so many of them.
    Held {
        /// Room for bytes that are written and not yet acknowledged.
        buffer: usize,
    },
}

/// What is kept of the data that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveKind {
    /// Only its length, and the application reads at once whatever can be read: no reads, no [`Readable`] events, and
    /// the window never closes.
    ///
    /// [`Readable`]: crate::Event::Readable
    Drained,
    /// Only its length; the application reads when it wants to.
    Counted,
    /// The bytes; the application reads when it wants to.
    Held,
}

/// All settings of one end. The default is a present-day stack's, with counted streams, but for one thing that only its user
/// can give: the secret of [distinct timestamps](TimestampSettings::distinct). Without them, timestamps are those of a clock of
/// 1 ms, and the engine's default detector, which asks for the proof `original`, finds few spurious retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Bytes: the value of the MSS option sent, and the most that this end puts into a segment. As in RFC 9293, section
    /// 3.7.1, TCP options count: with timestamps, 12 bytes fewer of payload go into each segment.
    pub mss: u16,
    /// Bytes of receive buffer: the largest window announced (as far as the agreed window scale can express it).
    pub receive_window: u32,
    /// Window scale option.
    pub window_scale: WindowScale,
    /// Timestamps option; `None`: not offered. For Eifel detection [`TimestampSettings::distinct`], rather than the default.
    pub timestamps: Option<TimestampSettings>,
    /// Selective acknowledgements.
    pub sack: SackUse,
    /// Marks of retransmissions; `None`: not offered. [`Marks::Timestamps`] is not offered beside [`timestamps`]: there
    /// every segment has one.
    ///
    /// [`timestamps`]: Self::timestamps
    pub marks: Option<Marks>,
    /// Delayed acknowledgements.
    pub acks: AckSettings,
    /// Whether a small segment waits while anything is unacknowledged (RFC 9293, section 3.7.4).
    pub nagle: bool,
    /// The longest that FIN-WAIT-2 lasts once the application has [left](crate::Connection::leave): the peer then has
    /// nobody to send to. As Linux, and with its `tcp_fin_timeout` as default; RFC 9293 knows no such limit.
    pub fin_wait_2: Duration,
    /// Length of TIME-WAIT, twice the maximum segment lifetime.
    pub time_wait: Duration,
    /// When to give up.
    pub give_up: GiveUp,
    /// Challenge ACKs.
    pub challenge: ChallengeLimit,
    /// What is kept of sent data.
    pub send: SendKind,
    /// What is kept of received data.
    pub receive: ReceiveKind,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mss: 1460,
            receive_window: 1 << 20,
            window_scale: WindowScale::Fit,
            timestamps: Some(TimestampSettings::default()),
            sack: SackUse::WithDuplicates,
            marks: None,
            acks: AckSettings::default(),
            nagle: false,
            fin_wait_2: Duration::from_secs(60),
            time_wait: Duration::from_secs(60),
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
    /// The shift that this end offers for its own window; `None` if it offers none.
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
