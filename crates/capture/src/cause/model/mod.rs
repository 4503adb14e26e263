//! Models of senders: each says why its stack would have sent a retransmission.
//!
//! All models are one state machine with different settings. Each keeps its own state, names a
//! cause for each retransmission, and adds up the cost of what the causes leave unexplained. A model
//! keeps several hypotheses of the trace until later packets decide between them. The causes in the report come from the model that explains a connection best.

mod costs;
mod duplicates;
mod events;
mod fit;
mod hypotheses;
mod settings;
mod stack;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use events::{AckReceived, Retransmitted};
pub(crate) use hypotheses::Explained;

use crate::cause::sender::Triggers;
use crate::result::Cause;
use hypotheses::{Hypotheses, UNDECIDED};
use settings::{MODELS, Settings};
use stack::StackModel;

/// The models of all stacks for one sender.
#[derive(Debug)]
pub(crate) struct Models {
    pub(crate) stacks: [Hypotheses; MODELS.len()],
    /// Whether all models would ignore an ACK of new data without SACK blocks.
    idle: bool,
    /// What made each retransmission leave, whatever the models say of its cause.
    pub(crate) triggers: Triggers,
}

impl Default for Models {
    fn default() -> Self {
        Self { stacks: MODELS.each_ref().map(Hypotheses::new), idle: false, triggers: Triggers::default() }
    }
}

impl Models {
    /// Handles an ACK that the sender receives.
    pub(crate) fn on_ack(&mut self, ack: &AckReceived) {
        self.stacks.iter_mut().for_each(|model| model.on_ack(ack));
        self.idle = self.stacks.iter().all(Hypotheses::is_idle);
    }

    /// Handles new data that leave behind a retransmission. `missing` returns the first position from one on that is
    /// not reported.
    pub(crate) fn on_new(&mut self, missing: impl Fn(u64) -> u64) {
        self.stacks.iter_mut().for_each(|model| model.on_new(&missing));
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// Returns whether all models consider everything repaired.
    pub(crate) fn are_open(&self) -> bool {
        self.stacks.iter().all(Hypotheses::is_open)
    }

    /// Returns the cause of a retransmission by the model that is the best now.
    pub(crate) fn explain(&mut self, resent: &Retransmitted) -> Cause {
        let causes = self.stacks.each_mut().map(|model| model.explain(resent));
        self.idle = false;
        causes[self.best()]
    }

    /// Returns the index of the model with the lowest cost.
    fn best(&self) -> usize {
        let cost = |place: &usize| self.stacks[*place].cost();
        (0..MODELS.len()).min_by(|one, other| cost(one).total_cmp(&cost(other))).unwrap_or(0)
    }

    /// Returns the name of the model with the lowest cost, and its explanations of the
    /// retransmissions in order. If another model explains them nearly as well, its causes are
    /// added.
    pub(crate) fn explained(&self) -> (&'static str, Vec<Explained>) {
        let best = self.best();
        let (name, cost) = (self.stacks[best].name(), self.stacks[best].cost());
        let mut explained = self.stacks[best].explained();
        for place in (0..MODELS.len()).filter(|place| *place != best) {
            if self.stacks[place].cost() - cost < UNDECIDED {
                for (one, other) in explained.iter_mut().zip(self.stacks[place].explained()) {
                    one.other = one.other.or(Some(other.cause).filter(|cause| *cause != one.cause));
                }
            }
        }
        (name, explained)
    }
}
