//! Several readings of one trace by one model: what comes later tells which of them was right.
//!
//! Next to the sender a retransmission's own circumstances name its cause. Far from it two causes often fit one retransmission,
//! and only those that follow differ. So the cheapest readings so far are kept side by side (a beam search), and the one that
//! leaves the least unexplained in the end names all causes.

use super::{Cause, Heard, Model, Resent, Settings};

/// Readings kept far from the sender.
const MOST: usize = 3;

/// A reading: the model in the state that it leads to, and its last step.
#[derive(Clone, Debug)]
struct Strand {
    model: Model,
    last: Option<u32>,
}

/// The cause of a retransmission in a reading, and the step before.
#[derive(Clone, Copy, Debug)]
struct Step {
    before: Option<u32>,
    cause: Cause,
}

/// The readings of one model, the cheapest first.
#[derive(Clone, Debug)]
pub struct Strands {
    strands: Vec<Strand>,
    steps: Vec<Step>,
}

impl Strands {
    /// One reading, of a sender with nothing outstanding.
    pub fn new(settings: &'static Settings) -> Self {
        Self { strands: vec![Strand { model: Model::new(settings), last: None }], steps: Vec::new() }
    }

    fn best(&self) -> &Strand {
        &self.strands[0]
    }

    /// The model's name.
    pub fn name(&self) -> &'static str {
        self.best().model.name()
    }

    /// What the best reading leaves unexplained.
    pub fn cost(&self) -> f64 {
        self.best().model.cost()
    }

    /// Whether by the best reading it takes nothing for lost.
    pub fn is_open(&self) -> bool {
        self.best().model.is_open()
    }

    /// Returns the cause of a retransmission in the reading that is the best now.
    pub fn explain(&mut self, resent: &Resent) -> Cause {
        let most = if resent.may_be_unseen { MOST } else { 1 };
        let mut readings: Vec<(Cause, Strand)> = Vec::new();
        for strand in &self.strands {
            for (cause, cost) in strand.model.candidates(resent) {
                let mut model = strand.model.clone();
                model.take(cause, cost, resent);
                readings.push((cause, Strand { model, last: strand.last }));
            }
        }
        readings.sort_by(|(_, one), (_, other)| one.model.cost().total_cmp(&other.model.cost()));
        self.strands.clear();
        for (cause, strand) in readings {
            // What comes finds little difference between two in the same state: the cheaper one stays.
            if self.strands.iter().any(|other| other.model.stands_as(&strand.model)) {
                continue;
            }
            self.steps.push(Step { before: strand.last, cause });
            self.strands.push(Strand { last: Some(self.steps.len() as u32 - 1), ..strand });
            if self.strands.len() == most {
                break;
            }
        }
        self.steps[self.best().last.map_or(0, |last| last as usize)].cause
    }

    /// Takes an ACK in.
    pub fn hear(&mut self, heard: &Heard) {
        self.strands.iter_mut().for_each(|strand| strand.model.hear(heard));
    }

    /// The causes of all retransmissions so far, in their order, in the best reading.
    pub fn causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let mut next = self.best().last;
        while let Some(step) = next.and_then(|place| self.steps.get(place as usize)) {
            causes.push(step.cause);
            next = step.before;
        }
        causes.reverse();
        causes
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sender::MODELS;

    const MS: u64 = 1_000_000;

    /// A retransmission at 1 s, after an ACK at 800 ms, of a path with a round trip of 200 ms.
    pub(in crate::sender) fn resent() -> Resent {
        Resent {
            now: 1000 * MS,
            earliest: 1000 * MS,
            told_at: crate::flow::Place::Unknown,
            trip: 0,
            start: 0,
            end: 1000,
            una: 0,
            nxt: 20_000,
            last_ack: 800 * MS,
            last_sent: 800 * MS,
            timer_since: 800 * MS,
            timer_from: 800 * MS,
            estimate: Some((200 * MS, 30 * MS)),
            missing: true,
            doubted: true,
            shown: true,
            news: None,
            sack: true,
            segments: 20,
            stamp: None,
            repeated: true,
            reported: false,
            follows: false,
            may_be_unseen: true,
        }
    }

    #[test]
    fn what_comes_later_names_the_cause_of_what_came_before() {
        // A repaired segment leaves once more, 200 ms after the last ACK: the timer would have taken 400 ms.
        let first = resent();
        let mut strands = Strands::new(&MODELS[0]);
        assert_eq!(strands.explain(&first), Cause::Fast);
        // What was reported leaves only if everything is taken for lost.
        let second = Resent {
            now: 1001 * MS,
            earliest: 1001 * MS,
            start: 1000,
            end: 2000,
            repeated: false,
            reported: true,
            follows: true,
            ..first
        };
        assert_eq!(strands.explain(&second), Cause::Loss);
        assert_eq!(strands.causes(), [Cause::Rto, Cause::Loss]);
        // Next to the sender there is one reading only.
        let mut strands = Strands::new(&MODELS[0]);
        for resent in [first, second] {
            strands.explain(&Resent { may_be_unseen: false, ..resent });
        }
        assert_eq!(strands.strands.len(), 1);
    }
}
