//! TLP's part of RACK-TLP: a probe two round trips after the last sign of life (RFC 8985, section 7).

use crate::fact::Acked;
use crate::scoreboard::Scoreboard;
use crate::time::{Duration, Instant};
use crate::view::View;

/// PTO while there is no SRTT (section 7.2).
const UNKNOWN: Duration = Duration::from_secs(1);

/// Where the probe stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Probe {
    /// None has been sent since the last was answered.
    None,
    /// It goes next, whatever the window.
    Due,
    /// It has left as new data, up to `end`.
    New { end: u64 },
    /// It has left as the highest segment again, which ends at `end`.
    Again { end: u64 },
}

/// What the answer to a probe says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Nothing of congestion.
    Nothing,
    /// The probe has repaired a loss.
    Repaired,
}

/// TLP's variables.
#[derive(Clone, Debug)]
pub(super) struct Tlp {
    probe: Probe,
    /// TLP.max_ack_delay.
    max_ack_delay: Duration,
    /// When new data was last acknowledged.
    progress: Instant,
    /// Round-trip samples when the last probe was due: without one since then SRTT could not follow the path.
    samples: u64,
}

impl Tlp {
    pub(super) fn new(max_ack_delay: Duration) -> Self {
        Self { probe: Probe::None, max_ack_delay, progress: Instant::ZERO, samples: 0 }
    }

    /// When a probe goes: PTO after the last new data was sent or acknowledged (section 7.2). The engine sends it at the
    /// RTO if that comes first.
    pub(super) fn alarm(&self, board: &Scoreboard, view: &View) -> Option<Instant> {
        let newest = board.newest()?;
        // Section 7.3: one at a time, and none without a sample since the last.
        let possible = self.probe == Probe::None && view.round_trips.taken() > self.samples;
        if !possible || !view.sack || !board.sacked().is_empty() {
            return None;
        }
        let pto = match view.round_trips.smoothed() {
            Some(srtt) if board.segments() == 1 => srtt * 2 + self.max_ack_delay,
            Some(srtt) => srtt * 2,
            None => UNKNOWN,
        };
        Some(newest.last_sent().max(self.progress) + pto)
    }

    /// The alarm has come.
    pub(super) fn on_alarm(&mut self, view: &View) {
        (self.probe, self.samples) = (Probe::Due, view.round_trips.taken());
    }

    /// Whether the probe goes next.
    pub(super) fn is_due(&self) -> bool {
        self.probe == Probe::Due
    }

    /// What was due has left; `end` is where it ends.
    pub(super) fn on_sent(&mut self, end: u64, again: bool) {
        self.probe = if again { Probe::Again { end } } else { Probe::New { end } };
    }

    /// Whether the DSACK is for the probe.
    pub(super) fn is_answered_by_dsack(&self, acked: &Acked) -> bool {
        matches!(self.probe, Probe::Again { end } if acked.dsack.is_some_and(|dsack| dsack.end == end))
    }

    /// TLP_process_ack (section 7.4.2).
    pub(super) fn on_ack(&mut self, acked: &Acked, now: Instant) -> Answer {
        if acked.bytes > 0 {
            self.progress = now;
        }
        let (Probe::New { end } | Probe::Again { end }) = self.probe else {
            // New data acknowledged: the silence is over.
            if acked.bytes > 0 {
                self.probe = Probe::None;
            }
            return Answer::Nothing;
        };
        if acked.cumulative < end {
            return Answer::Nothing;
        }
        if matches!(self.probe, Probe::New { .. }) || self.is_answered_by_dsack(acked) {
            // Nothing was repaired; or original and probe have both arrived.
            self.probe = Probe::None;
        } else if acked.cumulative > end {
            self.probe = Probe::None;
            return Answer::Repaired;
        } else if acked.bytes == 0 && acked.sacked_up_to == 0 {
            // A duplicate without SACK: original and probe have both arrived.
            self.probe = Probe::None;
        }
        Answer::Nothing
    }

    /// A timeout or fast recovery ends the probing.
    pub(super) fn forget(&mut self) {
        self.probe = Probe::None;
    }
}
