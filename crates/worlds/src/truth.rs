//! The episodes of a world: the oracle's view, and the sender's conclusions.

use eifel_recovery::detect::Outcome;
use eifel_recovery::engine;
use eifel_recovery::fact::{Block, Cause};
use eifel_sim::oracle::{JudgedRetransmission, Role, SentData};

/// An episode after the end of its world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Episode {
    number: u32,
    pub cause: Cause,
    /// Positions outstanding when the episode began.
    outstanding: Block,
    /// ssthresh after the loss signal, in bytes.
    reduced: u64,
    /// Number of its first retransmission; `None` without one.
    first: Option<u64>,
    /// The oracle's view: whether the first retransmission was needed. `None` without one.
    pub needed: Option<bool>,
    /// The acting detector's last verdict; `None` without one.
    pub verdict: Option<Outcome>,
    /// Whether ssthresh was restored in whole or in part.
    pub undone: bool,
}

/// Records of a running world.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    episodes: Vec<Episode>,
    /// Positions of lost transmissions.
    lost: Vec<Block>,
    /// Whether the next retransmission is the first of the last episode.
    opening: bool,
    /// ssthresh before anything could be lost, and at the end, in bytes.
    thresholds: (u64, u64),
}

impl Truth {
    pub(crate) fn record_event(&mut self, event: &engine::Event) {
        match event {
            engine::Event::EpisodeOpened { episode, saved } => {
                self.opening = true;
                self.episodes.push(Episode {
                    number: episode.number,
                    cause: episode.cause,
                    outstanding: Block { start: episode.start, end: episode.recovery_point },
                    reduced: saved.reduced.ssthresh,
                    first: None,
                    needed: None,
                    verdict: None,
                    undone: false,
                });
            }
            engine::Event::Judged { episode, detector: 0, outcome, .. } => {
                if let Some(episode) = self.find(*episode) {
                    episode.verdict = Some(*outcome);
                }
            }
            engine::Event::Adjusted { episode, window } => {
                if let Some(episode) = self.find(*episode) {
                    episode.undone |= window.ssthresh > episode.reduced;
                }
            }
            _ => {}
        }
    }

    fn find(&mut self, number: u32) -> Option<&mut Episode> {
        self.episodes.iter_mut().rev().find(|episode| episode.number == number)
    }

    pub(crate) fn left(&mut self, sent: &SentData) {
        if sent.role == Role::Retransmission && self.opening {
            self.opening = false;
            if let Some(episode) = self.episodes.last_mut() {
                episode.first = Some(sent.transmission);
            }
        }
    }

    pub(crate) fn lost(&mut self, sent: &SentData) {
        self.lost.push(Block { start: sent.start, end: sent.end });
    }

    pub(crate) fn on_judged(&mut self, settled: &JudgedRetransmission) {
        let mut episodes = self.episodes.iter_mut();
        if let Some(episode) = episodes.find(|episode| episode.first == Some(settled.transmission)) {
            episode.needed = Some(settled.needed);
        }
    }

    /// Returns the episodes in order.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
    }

    /// Returns whether data was lost.
    pub fn has_loss(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns whether data that was outstanding when `episode` began was lost, before or after.
    pub fn has_loss_in(&self, episode: &Episode) -> bool {
        let Block { start, end } = episode.outstanding;
        self.lost.iter().any(|lost| lost.start < end && lost.end > start)
    }

    pub(crate) fn ends(&mut self, thresholds: (u64, u64)) {
        self.thresholds = thresholds;
    }

    /// Returns whether ssthresh ends lower than it began, so that a cut remains.
    pub fn is_cut(&self) -> bool {
        self.thresholds.1 < self.thresholds.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(transmission: u64, start: u64, end: u64, role: Role) -> SentData {
        SentData { transmission, start, end, role }
    }

    const EPISODE: Episode = Episode {
        number: 1,
        cause: Cause::Timeout,
        outstanding: Block { start: 1000, end: 3000 },
        reduced: 2000,
        first: None,
        needed: None,
        verdict: None,
        undone: false,
    };

    fn truth() -> Truth {
        let second = Episode { number: 2, ..EPISODE };
        Truth { episodes: vec![EPISODE, second], opening: true, ..Truth::default() }
    }

    #[test]
    fn a_loss_is_in_an_episode_that_shares_a_byte_with_it() {
        let has = |start, end| {
            let mut truth = truth();
            truth.lost(&sent(1, start, end, Role::Original));
            assert!(truth.has_loss());
            truth.has_loss_in(&EPISODE)
        };
        assert_eq!([has(0, 1000), has(3000, 4000)], [false; 2], "just before, and just behind");
        assert_eq!([has(999, 1001), has(2999, 4000), has(0, 9000), has(1500, 1600)], [true; 4]);
        assert!(!truth().has_loss());
    }

    #[test]
    fn the_first_retransmission_decides_whether_an_episode_was_needed() {
        let mut truth = truth();
        truth.left(&sent(7, 0, 1000, Role::Original));
        truth.left(&sent(8, 0, 1000, Role::Probe));
        truth.left(&sent(9, 0, 1000, Role::Retransmission));
        truth.left(&sent(10, 0, 1000, Role::Retransmission));
        assert_eq!([truth.episodes[0].first, truth.episodes[1].first], [None, Some(9)]);
        for (transmission, needed) in [(8, false), (9, true), (10, false)] {
            truth.on_judged(&JudgedRetransmission { transmission, needed, flow: 0, sender: eifel_sim::End::From });
        }
        assert_eq!([truth.episodes[0].needed, truth.episodes[1].needed], [None, Some(true)]);
    }

    #[test]
    fn only_the_acting_detectors_verdict_counts() {
        let judged = |episode, detector, outcome| engine::Event::Judged { detector, outcome, episode, reason: "" };
        let mut truth = truth();
        truth.record_event(&judged(1, 1, Outcome::Genuine));
        assert_eq!(truth.episodes[0].verdict, None);
        truth.record_event(&judged(1, 0, Outcome::Spurious));
        assert_eq!([truth.episodes[0].verdict, truth.episodes[1].verdict], [Some(Outcome::Spurious), None]);
    }

    #[test]
    fn an_undo_restores_ssthresh_and_a_remaining_cut_is_counted() {
        let mut truth = truth();
        let window = |ssthresh| eifel_recovery::congest::Window { cwnd: 1, ssthresh };
        truth.record_event(&engine::Event::Adjusted { episode: 1, window: window(2000) });
        assert!(!truth.episodes[0].undone, "it is where the loss signal left it");
        truth.record_event(&engine::Event::Adjusted { episode: 1, window: window(2001) });
        assert_eq!([truth.episodes[0].undone, truth.episodes[1].undone], [true, false]);
        truth.ends((5000, 5000));
        assert!(!truth.is_cut());
        truth.ends((5000, 4999));
        assert!(truth.is_cut());
    }
}
