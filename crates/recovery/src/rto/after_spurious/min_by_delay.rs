//! *Looks at* verdicts, and the sample of the delayed segment.
//! *Decides* to raise the minimum to that delay after a spurious timeout, or to a smoothed average of such delays. A
//! genuine timeout resets or halves the minimum.
//! *Blind to* delays without a sample: without timestamps Karn's rule forbids it.
//! *From* "Responding to Spurious Timeouts in TCP", section III.C, the further options after option 3, which the paper
//! did not evaluate. The gain of the average is not stated; a new delay counts as much as `average_of` says.

use super::{AfterSpurious, ON_GENUINE, OnGenuine, TimerChange};
use crate::detect::Outcome;
use crate::registry::{Entry, Parameter, RESPONDING};
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "min-by-delay",
    summary: "the minimum rises to the delay that caused a spurious timeout, or to an average of such delays",
    source: RESPONDING,
    parameters: &[
        Parameter::integer(
            "average_of",
            "the delays that the smoothed average remembers: 1 is the last delay alone; n gives a new one 1/n of the weight",
            1,
            (1, 64),
        ),
        ON_GENUINE,
    ],
    ..Entry::after_spurious(|parameters| {
        let average_of = parameters.integer("average_of");
        Box::new(MinByDelay { average_of, on_genuine: OnGenuine::of(parameters), average: None })
    })
};

/// Raises the minimum to the delay.
#[derive(Clone, Debug)]
pub struct MinByDelay {
    average_of: u64,
    on_genuine: OnGenuine,
    /// The smoothed average of the delays. It outlives genuine timeouts.
    average: Option<Duration>,
}

impl AfterSpurious for MinByDelay {
    fn on_verdict(&mut self, outcome: Outcome, sample: Option<Duration>, _: u32) -> TimerChange {
        match (outcome, sample) {
            (Outcome::Spurious, Some(delay)) => {
                let average = match self.average {
                    None => delay,
                    Some(average) => (average * (self.average_of - 1) + delay) / self.average_of,
                };
                self.average = Some(average);
                TimerChange::RaiseMinimumTo(average)
            }
            (Outcome::Spurious, None) => TimerChange::Keep,
            (Outcome::Genuine, _) => self.on_genuine.change(),
        }
    }
}
