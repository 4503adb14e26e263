//! Keeps several hypotheses of one trace by one model until later packets decide between them.
//!
//! Two causes often fit one retransmission, and only the later retransmissions differ. So the cheapest
//! hypotheses are kept side by side (a beam search). The hypothesis with the lowest cost in the end
//! names all causes.

use super::{AckReceived, Cause, Retransmitted, Settings, StackModel};

/// The number of hypotheses kept.
const MOST: usize = 3;
/// A hypothesis explains the trace nearly as well as another if its cost is higher by less than
/// this. Costs are powers of e, so this means odds of less than two to one.
pub(crate) const UNDECIDED: f64 = std::f64::consts::LN_2;
/// The number of retransmissions followed back to find where two hypotheses part.
const FOLLOWED: usize = 256;

/// A hypothesis: the state of the model that it leads to, and the index of its last step.
#[derive(Clone, Debug)]
struct Hypothesis {
    model: StackModel,
    last: Option<u32>,
}

/// The cause of a retransmission in a hypothesis, and the index of the step before.
#[derive(Clone, Copy, Debug)]
struct Step {
    before: Option<u32>,
    cause: Cause,
}

/// A hypothesis that cost a little more than another one: the last steps of both, and the
/// difference.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    kept: u32,
    last: u32,
    more: f64,
}

/// The explanation of a retransmission by the best hypothesis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Explained {
    pub(crate) cause: Cause,
    /// The cause in another hypothesis that explains the trace nearly as well; `None` if there is
    /// none.
    pub(crate) other: Option<Cause>,
}

impl Explained {
    /// Returns an explanation without an alternative.
    pub(crate) fn only(cause: Cause) -> Self {
        Self { cause, other: None }
    }
}

/// The hypotheses of one model, in ascending order of cost.
#[derive(Clone, Debug)]
pub(crate) struct Hypotheses {
    hypotheses: Vec<Hypothesis>,
    steps: Vec<Step>,
    dropped: Vec<Dropped>,
}

impl Hypotheses {
    /// Returns one hypothesis, of a sender with nothing outstanding.
    pub(crate) fn new(settings: &'static Settings) -> Self {
        let first = Hypothesis { model: StackModel::new(settings), last: None };
        Self { hypotheses: vec![first], steps: Vec::new(), dropped: Vec::new() }
    }

    fn best(&self) -> &Hypothesis {
        &self.hypotheses[0]
    }

    pub(crate) fn name(&self) -> &'static str {
        self.best().model.name()
    }

    /// Returns the cost of the best hypothesis.
    pub(crate) fn cost(&self) -> f64 {
        self.best().model.cost()
    }

    /// Returns whether the model considers nothing lost in the best hypothesis.
    pub(crate) fn is_open(&self) -> bool {
        self.best().model.is_open()
    }

    /// Returns whether the model would ignore an ACK of new data without SACK blocks in every
    /// hypothesis.
    pub(crate) fn is_idle(&self) -> bool {
        self.hypotheses.iter().all(|hypothesis| hypothesis.model.is_idle())
    }

    /// Returns the cause of a retransmission in the hypothesis that is the best now.
    pub(crate) fn explain(&mut self, resent: &Retransmitted) -> Cause {
        let mut hypotheses: Vec<(Cause, Hypothesis)> = Vec::new();
        for hypothesis in &self.hypotheses {
            for (cause, cost) in hypothesis.model.candidates(resent) {
                let mut model = hypothesis.model.clone();
                model.take(cause, cost, resent);
                hypotheses.push((cause, Hypothesis { model, last: hypothesis.last }));
            }
        }
        hypotheses.sort_by(|(_, one), (_, other)| one.model.cost().total_cmp(&other.model.cost()));
        self.hypotheses.clear();
        for (cause, hypothesis) in hypotheses {
            // Later packets hardly distinguish two hypotheses in states of the same kind, so the
            // cheaper one is kept.
            let kept = self.hypotheses.iter().find(|other| other.model.is_in_state_of(&hypothesis.model));
            let kept = kept.or(self.hypotheses.first().filter(|_| self.hypotheses.len() == MOST));
            if let Some(kept) = kept {
                let more = hypothesis.model.cost() - kept.model.cost();
                if let Some(kept) = kept.last.filter(|_| more < UNDECIDED) {
                    let last = push(&mut self.steps, Step { before: hypothesis.last, cause });
                    self.dropped.push(Dropped { kept, last, more });
                }
                continue;
            }
            let last = push(&mut self.steps, Step { before: hypothesis.last, cause });
            self.hypotheses.push(Hypothesis { last: Some(last), ..hypothesis });
        }
        self.steps[self.best().last.map_or(0, |last| last as usize)].cause
    }

    /// Handles an ACK that the sender receives.
    pub(crate) fn on_ack(&mut self, ack: &AckReceived) {
        self.hypotheses.iter_mut().for_each(|hypothesis| hypothesis.model.on_ack(ack));
    }

    /// Handles new data that leave behind a retransmission, as [`Models::on_new`](super::Models::on_new) does.
    pub(crate) fn on_new(&mut self, missing: impl Fn(u64) -> u64) {
        let contradicted = self.hypotheses.iter_mut().filter_map(|one| one.model.on_new(&missing).then_some(()));
        if contradicted.count() > 0 {
            self.hypotheses.sort_by(|one, other| one.model.cost().total_cmp(&other.model.cost()));
        }
    }

    /// Returns the explanations of all retransmissions so far by the best hypothesis, in order.
    pub(crate) fn explained(&self) -> Vec<Explained> {
        let mut path: Vec<u32> =
            std::iter::successors(self.best().last, |place| self.steps[*place as usize].before).collect();
        path.reverse();
        let mut others: Vec<(f64, Option<Cause>)> = vec![(UNDECIDED, None); path.len()];
        let costs_more = |one: &Hypothesis| one.model.cost() - self.cost();
        let rest = self.hypotheses[1..]
            .iter()
            .filter_map(|one| Some(Dropped { kept: self.best().last?, last: one.last?, more: costs_more(one) }));
        // One that was dropped for a hypothesis which lost later on says nothing about the best.
        for Dropped { kept, last, more } in self.dropped.iter().copied().chain(rest) {
            let Ok(until) = path.binary_search(&kept) else { continue };
            let mut other = Some(last);
            for place in (0..=until).rev().take(FOLLOWED) {
                let Some(at) = other.filter(|at| *at != path[place]) else { break };
                let step = self.steps[at as usize];
                if step.cause != self.steps[path[place] as usize].cause && more < others[place].0 {
                    others[place] = (more, Some(step.cause));
                }
                other = step.before;
            }
        }
        let explain = |(place, (_, other)): (&u32, (f64, Option<Cause>))| Explained {
            cause: self.steps[*place as usize].cause,
            other,
        };
        path.iter().zip(others).map(explain).collect()
    }
}

/// Adds a step. Returns its index.
fn push(steps: &mut Vec<Step>, step: Step) -> u32 {
    steps.push(step);
    steps.len() as u32 - 1
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::MODELS;
    use super::*;
    use eifel_base::units::Timestamp;

    const MS: u64 = 1_000_000;

    /// Returns a retransmission at 1 s, after an ACK at 800 ms, on a path with a round trip of 200
    /// ms.
    pub(in crate::cause::model) fn resent() -> Retransmitted {
        Retransmitted {
            now: 1000 * MS,
            earliest: 1000 * MS,
            ack_place: crate::order::AckPlace::Unknown,
            silence_before: None,
            start: 0,
            end: 1000,
            una: 0,
            nxt: 20_000,
            last_ack: 800 * MS,
            last_sent: 800 * MS,
            timer_set: (800 * MS, 800 * MS),
            estimate: Some((200 * MS, 30 * MS)),
            missing: true,
            suspected_lost: true,
            in_gap: true,
            echo_is_new: None,
            duplicates: None,
            duplicates_passed: 0,
            segments: 20,
            stamp: None,
            repeated: true,
            reported: false,
            overtaken: None,
            follows_another: false,
            may_be_unseen: true,
        }
    }

    fn ack(una: u64) -> AckReceived {
        AckReceived {
            now: 1000 * MS,
            una,
            nxt: 20_000,
            advances: una > 0,
            duplicate: una == 0,
            original_below: None,
            echo: None,
            sacks: [eifel_base::ranges::Block { start: 0, end: 0 }; 4],
            dsack: None,
            sack: true,
        }
    }

    fn others(hypotheses: &Hypotheses) -> Vec<Option<Cause>> {
        hypotheses.clone().explained().iter().map(|one| one.other).collect()
    }

    #[test]
    fn a_later_retransmission_decides_the_cause_of_an_earlier_one() {
        let bsd = MODELS.iter().find(|model| model.forgets_sack).expect("a model that forgets");
        // A repaired segment leaves again 200 ms after the last ACK. The timer would take 400 ms.
        let first = resent();
        let mut hypotheses = Hypotheses::new(bsd);
        assert_eq!(hypotheses.explain(&first), Cause::Fast);
        assert_eq!(others(&hypotheses), [Some(Cause::Rto)]);
        // A segment reported by SACK leaves again only if the sender has forgotten the report.
        let second = Retransmitted {
            now: 1001 * MS,
            earliest: 1001 * MS,
            start: 1000,
            end: 2000,
            repeated: false,
            reported: true,
            follows_another: true,
            ..first
        };
        hypotheses.on_ack(&ack(0));
        assert_eq!(hypotheses.explain(&second), Cause::Loss);
        assert_eq!(hypotheses.explained().iter().map(|one| one.cause).collect::<Vec<_>>(), [Cause::Rto, Cause::Loss]);
        assert_eq!(others(&hypotheses), [None, None]);
    }

    #[test]
    fn far_from_the_sender_a_recovery_that_repeats_reported_data_goes_on() {
        // The path loses most ACKs behind the capture point.
        let first = Retransmitted {
            repeated: false,
            last_ack: 999 * MS,
            timer_set: (850 * MS, 850 * MS),
            stamp: Some(Timestamp(1)),
            ..resent()
        };
        let next = |number: u64| Retransmitted {
            start: 1000 * number,
            end: 1000 * number + 1000,
            reported: number % 2 == 1,
            follows_another: true,
            ..first
        };
        let mut hypotheses = Hypotheses::new(&MODELS[0]);
        (0..5).for_each(|number| _ = hypotheses.explain(&next(number)));
        assert!(hypotheses.explained().iter().all(|one| one.cause == Cause::Fast));
        // A path that loses one report loses others: the second costs half of the first.
        assert_eq!(hypotheses.cost(), 1.5);
        // Next to the sender all ACKs are known.
        let mut near = Hypotheses::new(&MODELS[0]);
        (0..5).for_each(|number| _ = near.explain(&Retransmitted { may_be_unseen: false, ..next(number) }));
        assert!(near.cost() > hypotheses.cost() + 2.0);
    }

    #[test]
    fn a_dropped_hypothesis_of_similar_cost_is_the_other_cause() {
        let mut hypotheses = Hypotheses::new(&MODELS[0]);
        let first = resent();
        hypotheses.explain(&first);
        // An ACK of everything ends both hypotheses' repairs, so later packets do not decide
        // between them.
        hypotheses.on_ack(&ack(20_000));
        let again = Retransmitted {
            now: 3000 * MS,
            earliest: 3000 * MS,
            last_ack: 2996 * MS,
            start: 40_000,
            end: 41_000,
            ..first
        };
        let second =
            Retransmitted { una: 40_000, nxt: 60_000, repeated: false, timer_set: (2996 * MS, 2996 * MS), ..again };
        assert_eq!(hypotheses.explain(&second), Cause::Fast);
        assert_eq!(others(&hypotheses), [Some(Cause::Rto), None]);
    }
}
