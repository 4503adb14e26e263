//! HyStart: slow start ends when ACKs come in a train half a round trip long, or when the round trip grows by an eighth.
//!
//! From Ha and Rhee, "Taming the Elephants: New TCP Slow Start" (2011), in the form of Linux's
//! `tcp_cubic.c` (5.8 to 6.13). The train is measured from the beginning of the round, and the
//! delay by the smallest of more than eight samples. Both apply from 16 segments on.

use super::Window;
use crate::fact::Cause;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// `hystart_low_window`, in segments.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`: ACKs further apart belong to no train.
const ACK_DELTA: Duration = Duration::from_millis(2);
/// HYSTART_MIN_SAMPLES
const MIN_SAMPLES: u32 = 8;
/// HYSTART_DELAY_MIN and HYSTART_DELAY_MAX.
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);

/// HyStart's variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HyStart {
    /// `delay_min`: the smallest round trip.
    shortest: Duration,
    /// `found`: slow start has ended once.
    found: bool,
    /// `round_start`
    began: Instant,
    /// `last_ack`: the last ACK of the train.
    last: Instant,
    /// `end_seq`: the round ends when more than this is acknowledged.
    end: u64,
    /// `curr_rtt`: the smallest round trip of this round.
    current: Duration,
    /// `sample_cnt`, up to [`MIN_SAMPLES`].
    samples: u32,
}

impl HyStart {
    pub(super) const NEW: Self = Self {
        shortest: Duration::MAX,
        found: false,
        began: Instant::ZERO,
        last: Instant::ZERO,
        end: 1,
        current: Duration::MAX,
        samples: 0,
    };

    /// Returns the window before it grows in slow start. If slow start ends, ssthresh becomes cwnd.
    pub(super) fn before_growth(&mut self, now: &Window, view: &View) -> Window {
        let Some(rtt) = view.round_trips.unambiguous() else { return *now };
        self.shortest = self.shortest.min(rtt);
        if self.found || now.cwnd < LOW_WINDOW * u64::from(view.mss) {
            return *now;
        }
        if view.una > self.end {
            (self.began, self.last, self.end) = (view.now, view.now, view.nxt);
            (self.current, self.samples) = (Duration::MAX, 0);
        }
        self.found = self.is_long_train(view.now) | self.is_late(rtt);
        if self.found { Window { ssthresh: now.cwnd, ..*now } } else { *now }
    }

    fn is_long_train(&mut self, now: Instant) -> bool {
        let together = now.since(self.last) <= ACK_DELTA;
        if together {
            self.last = now;
        }
        together && now.since(self.began) > self.shortest / 2
    }

    fn is_late(&mut self, rtt: Duration) -> bool {
        self.current = self.current.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.current > self.shortest + (self.shortest / 8).clamp(DELAY_MIN, DELAY_MAX)
    }

    /// Resets the state after a timeout, so that HyStart can end the next slow start too.
    pub(super) fn on_loss(&mut self, cause: Cause, view: &View) {
        if cause == Cause::Timeout {
            *self = Self { began: view.now, last: view.now, end: view.nxt, ..Self::NEW };
        }
    }
}
