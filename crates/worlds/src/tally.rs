//! Counts over worlds, and the smallest world of each kind of failure.

use eifel_recovery::detect::Outcome;
use eifel_recovery::fact::Cause;

use crate::fate::Fates;
use crate::truth::{Episode, Truth};

/// Verdicts of the acting detector on episodes of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Verdicts {
    pub spurious: u64,
    pub genuine: u64,
    /// Episodes that were never judged.
    pub undecided: u64,
}

impl Verdicts {
    fn add(&mut self, verdict: Option<Outcome>, weight: u64) {
        let count = match verdict {
            Some(Outcome::Spurious) => &mut self.spurious,
            Some(Outcome::Genuine) => &mut self.genuine,
            None => &mut self.undecided,
        };
        *count += weight;
    }

    fn merge(&mut self, other: &Self) {
        self.spurious += other.spurious;
        self.genuine += other.genuine;
        self.undecided += other.undecided;
    }
}

/// Episodes of one cause, by the oracle's view of their first retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Episodes {
    /// Episodes whose first retransmission repeated data that arrived.
    pub needless: Verdicts,
    /// Episodes whose first retransmission repeated lost data.
    pub needed: Verdicts,
}

/// A way in which a world can go wrong. Reports use this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Failure {
    /// The first retransmission was needed, but the detector called the episode spurious.
    FalseVerdict,
    /// The first retransmission was needless, but the detector called the episode genuine.
    Missed,
    /// The first retransmission was needless, but the detector never judged the episode.
    Undecided,
    /// The first retransmission was needed, but the window was restored.
    FalseUndo,
    /// The first retransmission was needless and the window was restored, but other outstanding
    /// data had been lost.
    LossUndone,
    /// Data was lost, but no cut of the window remains at the end.
    Unpaid,
    /// No data was lost, but a cut remains at the end.
    NeedlessCut,
    /// The connection never comes to an end.
    Stuck,
}

impl Failure {
    pub const ALL: [Self; 8] = [
        Self::FalseVerdict,
        Self::Missed,
        Self::Undecided,
        Self::FalseUndo,
        Self::LossUndone,
        Self::Unpaid,
        Self::NeedlessCut,
        Self::Stuck,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::FalseVerdict => "false-verdict",
            Self::Missed => "missed",
            Self::Undecided => "undecided",
            Self::FalseUndo => "false-undo",
            Self::LossUndone => "loss-undone",
            Self::Unpaid => "unpaid",
            Self::NeedlessCut => "needless-cut",
            Self::Stuck => "stuck",
        }
    }
}

/// The worlds that fail in one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Failed {
    pub worlds: u64,
    /// The world in which the fewest packets have another fate than delivery. Ties are broken by
    /// the fates of segments, then of ACKs, in the order of [`Fate`](crate::Fate).
    pub smallest: Option<Fates>,
}

impl Failed {
    fn add(&mut self, weight: u64, fates: &Fates) {
        self.worlds += weight;
        self.smallest = self.smallest.into_iter().chain([*fates]).min_by_key(|fates| (fates.disturbed(), *fates));
    }

    fn merge(&mut self, other: &Self) {
        if let Some(fates) = &other.smallest {
            self.add(other.worlds, fates);
        }
    }
}

/// Counts over worlds. Worlds that differ only in the fates of packets that were never sent are run
/// once, and each is counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub worlds: u64,
    /// Number of worlds that were run.
    pub run: u64,
    /// Worlds in which data was lost.
    pub with_loss: u64,
    /// Worlds with at least one episode.
    pub with_episode: u64,
    /// Episodes that a timeout has opened.
    pub after_timeout: Episodes,
    /// Episodes that duplicate ACKs or SACKs have opened.
    pub after_duplicates: Episodes,
    /// Episodes after which the window was restored in whole or in part.
    pub undone: u64,
    failed: [Failed; Failure::ALL.len()],
}

impl Tally {
    /// Returns the worlds that fail in this way.
    pub fn failed(&self, failure: Failure) -> &Failed {
        &self.failed[failure as usize]
    }

    /// Counts a finished world `weight` times.
    pub(crate) fn add(&mut self, truth: &Truth, fates: &Fates, weight: u64) {
        self.worlds += weight;
        self.run += 1;
        self.with_loss += if truth.has_loss() { weight } else { 0 };
        self.with_episode += if truth.episodes().is_empty() { 0 } else { weight };
        let mut failures = [false; Failure::ALL.len()];
        for episode in truth.episodes() {
            // Without a retransmission there is nothing to judge.
            let Some(needed) = episode.needed else { continue };
            self.add_episode(episode, needed, weight);
            let wrong = failure_of(episode.verdict, needed);
            let undone = match (episode.undone, needed) {
                (true, true) => Some(Failure::FalseUndo),
                (true, false) if truth.has_loss_in(episode) => Some(Failure::LossUndone),
                _ => None,
            };
            for failure in [wrong, undone].into_iter().flatten() {
                failures[failure as usize] = true;
            }
        }
        failures[Failure::Unpaid as usize] = truth.has_loss() && !truth.is_cut();
        failures[Failure::NeedlessCut as usize] = !truth.has_loss() && truth.is_cut();
        for (failed, _) in self.failed.iter_mut().zip(failures).filter(|(_, failure)| *failure) {
            failed.add(weight, fates);
        }
    }

    /// Counts a world that does not end `weight` times.
    pub(crate) fn add_stuck(&mut self, fates: &Fates, weight: u64) {
        self.worlds += weight;
        self.run += 1;
        self.failed[Failure::Stuck as usize].add(weight, fates);
    }

    fn add_episode(&mut self, episode: &Episode, needed: bool, weight: u64) {
        let episodes = match episode.cause {
            Cause::Timeout => &mut self.after_timeout,
            Cause::FastRetransmit => &mut self.after_duplicates,
        };
        let verdicts = if needed { &mut episodes.needed } else { &mut episodes.needless };
        verdicts.add(episode.verdict, weight);
        self.undone += if episode.undone { weight } else { 0 };
    }

    /// Adds the counts of other worlds.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.run += other.run;
        self.with_loss += other.with_loss;
        self.with_episode += other.with_episode;
        self.undone += other.undone;
        for (own, other) in
            [(&mut self.after_timeout, &other.after_timeout), (&mut self.after_duplicates, &other.after_duplicates)]
        {
            own.needless.merge(&other.needless);
            own.needed.merge(&other.needed);
        }
        for (own, other) in self.failed.iter_mut().zip(&other.failed) {
            own.merge(other);
        }
    }
}

fn failure_of(verdict: Option<Outcome>, needed: bool) -> Option<Failure> {
    match (verdict, needed) {
        (Some(Outcome::Spurious), true) => Some(Failure::FalseVerdict),
        (Some(Outcome::Genuine), false) => Some(Failure::Missed),
        (None, false) => Some(Failure::Undecided),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fate::{Fate, Subject};

    #[test]
    fn a_world_that_never_ends_is_counted_as_stuck() {
        let fates = Fates::of(&[(Subject::Segment(0), Fate::Lost)]);
        let mut tally = Tally::default();
        tally.add_stuck(&fates, 3);
        tally.add_stuck(&Fates::default(), 2);
        assert_eq!((tally.worlds, tally.run), (5, 2));
        assert_eq!(*tally.failed(Failure::Stuck), Failed { worlds: 5, smallest: Some(Fates::default()) });
        assert_eq!(Failure::ALL.iter().map(|failure| tally.failed(*failure).worlds).sum::<u64>(), 5);
    }
}
