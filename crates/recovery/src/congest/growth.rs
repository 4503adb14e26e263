//! When the window grows, and by how much: the parts of slow start and Reno's congestion avoidance
//! that controllers share.
//!
//! From RFC 5681, section 3.1; RFC 3465, section 2; and Linux's `tcp_slow_start`, `tcp_cong_avoid_ai` and
//! `tcp_is_cwnd_limited`. RFC 7661, which judges by a pipe counted over a round trip, was not at hand.

use super::{Progress, Window};
use crate::fact::Cause;
use crate::registry::{Parameter, Parameters};

/// When cwnd grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grow {
    /// On every ACK of new data.
    Always,
    /// While the window limits sending: at least half of it is outstanding in slow start, all but a
    /// segment afterwards.
    WhenLimiting,
    /// Judged over a whole window, as in Linux (`tcp_cwnd_validate`). cwnd must have been full at
    /// some time or, in slow start, more than half of it outstanding. So the last ACKs of a flight
    /// count like its first.
    WhenLimitingWindow,
}

/// How many bytes an ACK counts for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// At most one segment an ACK, in slow start and afterwards (RFC 5681).
    Rfc5681,
    /// Appropriate byte counting (RFC 3465): at most this many segments in slow start, and only one
    /// if slow start follows a timeout. Congestion avoidance adds a segment for each acknowledged
    /// window.
    Abc(u8),
    /// All newly delivered bytes, in slow start up to ssthresh. The rest, and all later bytes,
    /// count as in the congestion avoidance of [`Abc`](Self::Abc).
    Linux,
}

/// When and by how much a window grows, and the state of both rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    pub counting: Counting,
    pub grow: Grow,
    /// Whether the recorded flight filled cwnd.
    full: bool,
    /// The recorded flight in bytes: the newest that filled cwnd, else the largest.
    most: u64,
    /// Bytes of the recorded flight that are not yet acknowledged. At 0, the next flight is
    /// recorded.
    left: u64,
    /// Whether slow start follows a timeout.
    after_timeout: bool,
    /// The remainder of equation 3, or RFC 3465's bytes_acked.
    counted: u64,
}

pub(super) const GROW: Parameter = Parameter::word(
    "grow",
    "when cwnd grows: while it limits sending by the flight before the ACK, or in the last window; or always",
    "when-limiting",
    &["when-limiting", "when-limiting-window", "always"],
);

pub(super) const COUNTING: Parameter = Parameter::word(
    "counting",
    "how much an ACK counts for: one segment (RFC 5681), bytes up to one or two segments (RFC 3465) or up to eight \
     (RFC 9406), all bytes that the ACK delivers (Linux)",
    "rfc5681",
    &["rfc5681", "abc-1", "abc-2", "abc-8", "linux"],
);

impl Growth {
    /// Creates growth by these rules.
    pub const fn new(counting: Counting, grow: Grow) -> Self {
        Self { counting, grow, full: false, most: 0, left: 0, after_timeout: false, counted: 0 }
    }

    pub(super) fn of(parameters: &Parameters) -> Self {
        let counting = [
            ("rfc5681", Counting::Rfc5681),
            ("abc-1", Counting::Abc(1)),
            ("abc-2", Counting::Abc(2)),
            ("abc-8", Counting::Abc(8)),
            ("linux", Counting::Linux),
        ];
        let grow = [
            ("when-limiting", Grow::WhenLimiting),
            ("when-limiting-window", Grow::WhenLimitingWindow),
            ("always", Grow::Always),
        ];
        Self::new(parameters.word("counting", &counting), parameters.word("grow", &grow))
    }

    /// Returns whether cwnd may grow on this ACK.
    #[inline]
    pub(super) fn permits(&mut self, now: &Window, progress: &Progress, mss: u64) -> bool {
        let flight = progress.flight;
        match self.grow {
            Grow::Always => true,
            Grow::WhenLimiting if now.cwnd < now.ssthresh => flight * 2 >= now.cwnd,
            Grow::WhenLimiting => flight + mss > now.cwnd,
            Grow::WhenLimitingWindow => {
                self.note_flight(progress, progress.flight + mss > now.cwnd);
                self.full || now.cwnd < now.ssthresh && self.most * 2 > now.cwnd
            }
        }
    }

    /// Records the flight before an ACK, and whether it filled cwnd. The record stays until that
    /// flight is acknowledged, unless a later flight fills cwnd or is larger.
    fn note_flight(&mut self, &Progress { acked, flight, .. }: &Progress, full: bool) {
        if self.left == 0 || full || !self.full && flight > self.most {
            (self.full, self.most, self.left) = (full, flight, flight);
        }
        self.left = self.left.saturating_sub(acked);
    }

    /// Returns cwnd after an ACK in slow start.
    #[inline]
    pub(super) fn slow_start(&mut self, now: &Window, progress: &Progress, mss: u64) -> u64 {
        let acked = progress.acked;
        match self.counting {
            // RFC 5681, equation 2.
            Counting::Rfc5681 => now.cwnd + acked.min(mss),
            // RFC 3465, sections 2.2 and 2.3.
            Counting::Abc(limit) => {
                let limit = if self.after_timeout { 1 } else { u64::from(limit) };
                now.cwnd + acked.min(limit * mss)
            }
            Counting::Linux => {
                let acked = progress.delivered;
                let grown = acked.min(now.ssthresh - now.cwnd);
                let then = Window { cwnd: now.cwnd + grown, ..*now };
                if acked == grown {
                    return then.cwnd;
                }
                self.add_bytes(&then, acked - grown, mss).min(now.cwnd + acked.max(mss))
            }
        }
    }

    /// Returns cwnd after an ACK in Reno's congestion avoidance.
    #[inline]
    pub(super) fn avoid_congestion(&mut self, now: &Window, progress: &Progress, mss: u64) -> u64 {
        let acked = if self.counting == Counting::Linux { progress.delivered } else { progress.acked };
        if self.counting == Counting::Rfc5681 {
            // RFC 5681, equation 3. The remainder is the part of a byte by which the window should
            // be larger. An ACK of less than a segment counts only for the bytes it acknowledges.
            // Otherwise a peer that divides its ACKs could open the window as fast as it likes (RFC
            // 3465, section 2.1; Savage and others, "TCP Congestion Control with a Misbehaving
            // Receiver", section 2.1). An undo can leave a window below a segment, which must not
            // grow by more than a segment either.
            let share = mss * acked.min(mss) + self.counted;
            self.counted = share % now.cwnd;
            return now.cwnd + (share / now.cwnd).min(mss);
        }
        self.add_bytes(now, acked, mss)
    }

    /// Adds a segment to cwnd for each acknowledged window (RFC 3465, section 2.1).
    #[inline]
    fn add_bytes(&mut self, now: &Window, acked: u64, mss: u64) -> u64 {
        // The bytes counted before a cut must not count as several of the smaller windows.
        self.counted = self.counted.min(now.cwnd) + acked;
        if self.counted < now.cwnd {
            return now.cwnd;
        }
        self.counted = (self.counted - now.cwnd).min(now.cwnd);
        now.cwnd + mss
    }

    pub(super) fn on_loss(&mut self, cause: Cause) {
        self.after_timeout = cause == Cause::Timeout;
        self.counted = 0;
    }

    /// Forgets the timeout: it was spurious, so slow start does not follow a timeout.
    pub(super) fn on_undo(&mut self) {
        self.after_timeout = false;
    }
}
