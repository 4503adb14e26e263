//! The retransmission timer: when it starts and stops, and what it learns (RFC 6298, section 5).

use super::Path;
use crate::fact::Acked;
use crate::learnt::Learnt;
use crate::rto::{RestartedBy, Sample, TimerChange};
use eifel_base::time::{Duration, Instant};

impl Path {
    /// Begins with what an earlier connection learnt of the path.
    pub(crate) fn inherit(&mut self, learnt: &Learnt) {
        if let Some(estimate) = learnt.estimate {
            self.rto.change(TimerChange::Inherit(estimate));
        }
        self.rto.change(TimerChange::RaiseMinimumTo(learnt.minimum));
        if learnt.held_expiries > 0 {
            self.rto.change(TimerChange::HoldBackOff);
            (0..learnt.held_expiries).for_each(|_| self.rto.back_off());
        }
        self.watch.on_smoothed(self.rto.srtt());
    }

    /// Starts the timer for a segment sent now, with a full RTO. Nothing is retransmitted earlier.
    /// [rfc6298:5.a]
    pub(crate) fn start_timer(&mut self, now: Instant) {
        self.timer = self.rto.expires(now, now);
    }

    /// Restarts or stops the timer after an ACK. `oldest` is when the oldest outstanding segment
    /// was last sent; `None` if it is not in flight. RFC 6298, sections 5.2 and 5.3. [rfc6298:5.2]
    /// [rfc6298:5.3]
    pub(crate) fn run_timer(&mut self, now: Instant, acked: &Acked<'_>, restart: bool, oldest: Option<Instant>) {
        if acked.bytes == 0 {
            if acked.duplicate && self.restarted_by == RestartedBy::Duplicates {
                self.restart_timer(now, oldest.unwrap_or(now));
            }
            return;
        }
        if acked.all {
            self.idle_since = now;
            self.timer = Instant::NEVER;
        } else if restart {
            self.restart_timer(now, oldest.unwrap_or(now));
        }
    }

    /// Stops the timer, because nothing is outstanding on the path any more.
    pub(crate) fn stop_timer(&mut self, now: Instant) {
        if self.timer != Instant::NEVER {
            self.idle_since = now;
            self.timer = Instant::NEVER;
        }
    }

    /// Restarts the timer, unless it is one that ACKs never restart. `oldest` is when the oldest
    /// outstanding segment was last sent.
    pub(crate) fn restart_timer(&mut self, now: Instant, oldest: Instant) {
        if self.restarted_by != RestartedBy::Nothing {
            self.timer = self.rto.expires(now, oldest).max(now);
        }
    }

    /// Passes an ACK's sample to the timer, after the `change` that a verdict asks for. A timer
    /// that the change has re-seeded already has the sample.
    pub(crate) fn sample(&mut self, acked: &Acked<'_>, sample: Option<Duration>, change: TimerChange) {
        if change != TimerChange::Keep {
            self.rto.change(change);
        }
        let Some(rtt) = sample else { return };
        if let Some(pace) = &mut self.pace {
            pace.on_sample(self.watch.view().now, rtt);
        }
        if !matches!(change, TimerChange::Reseed(_)) {
            self.rto.sample(&Sample { rtt, acked: acked.bytes, window: self.window }, self.watch.view());
        }
        // If the response asked for it, the first sample of data unsent at a spurious timeout
        // re-seeds the timer.
        if let Some((before, unsent)) = self.pending_reseed()
            && acked.cumulative > unsent
        {
            self.undo_state_mut().pending_reseed = None;
            self.rto.change(TimerChange::ReseedAtLeast { sample: rtt, before });
        }
        self.watch.on_smoothed(self.rto.srtt());
    }
}
