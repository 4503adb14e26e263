//! *Looks at* verdicts.
//! *Decides* to raise the minimum by a step for each spurious timeout, and to reset it on a genuine
//! one, or to halve it.
//! *Blind to* the length of the delay spikes.
//! *From* "Responding to Spurious Timeouts in TCP", section III.C, option 3, and table 4, note a (a step of 1 s).

use super::{AfterSpurious, ON_GENUINE, OnGenuine, TimerChange};
use crate::detect::Outcome;
use crate::registry::{Entry, Parameter, RESPONDING};
use crate::rto::{HOUR, MICROSECOND};
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "min-plus-plus",
    summary: "the minimum rises with each spurious timeout and falls back on a genuine one",
    source: RESPONDING,
    parameters: &[
        Parameter::milliseconds("step_ms", "by how much the minimum rises", 1000, (MICROSECOND, HOUR)),
        Parameter::word(
            "per",
            "what raises the minimum by one step: a verdict, or each expiry before it",
            "verdict",
            &["verdict", "expiry"],
        ),
        ON_GENUINE,
    ],
    ..Entry::after_spurious(|parameters| {
        let per = parameters.word("per", &[("verdict", Per::Verdict), ("expiry", Per::Expiry)]);
        Box::new(MinPlusPlus::new(parameters.duration("step_ms"), per, OnGenuine::of(parameters)))
    })
};

/// The events that count as one spurious timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Per {
    /// Each verdict, however often the timer had expired before it.
    Verdict,
    /// Each expiry of the timer that the verdict covers.
    Expiry,
}

/// Raises the minimum additively.
#[derive(Clone, Debug)]
pub struct MinPlusPlus {
    step: Duration,
    per: Per,
    on_genuine: OnGenuine,
}

impl MinPlusPlus {
    /// Creates an adaptation that raises the minimum by `step` each time.
    pub fn new(step: Duration, per: Per, on_genuine: OnGenuine) -> Self {
        Self { step, per, on_genuine }
    }
}

impl AfterSpurious for MinPlusPlus {
    fn on_verdict(&mut self, outcome: Outcome, _: Option<Duration>, timeouts: u32) -> TimerChange {
        match (outcome, self.per) {
            (Outcome::Spurious, Per::Verdict) => TimerChange::RaiseMinimum(self.step),
            (Outcome::Spurious, Per::Expiry) => TimerChange::RaiseMinimum(self.step * u64::from(timeouts)),
            (Outcome::Genuine, _) => self.on_genuine.change(),
        }
    }
}
