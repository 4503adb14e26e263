//! What a world's episodes were, by the oracle, and what became of them.

use eifel_recovery::detect::Outcome;
use eifel_recovery::engine;
use eifel_recovery::fact::{Block, Cause};
use eifel_sim::oracle::{Role, Sent, Settled};

/// An episode when its world is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Episode {
    number: u32,
    /// What opened it.
    pub cause: Cause,
    /// What was outstanding then.
    outstanding: Block,
    /// ssthresh as the loss signal has left it, in bytes.
    reduced: u64,
    /// The number of its first retransmission; `None` if it had none.
    first: Option<u64>,
    /// Whether that was needed, as the oracle says.
    pub needed: Option<bool>,
    /// What the acting detector said.
    pub verdict: Option<Outcome>,
    /// Whether ssthresh was given back, or a part of it.
    pub undone: bool,
}

/// All that is noted of a world.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    episodes: Vec<Episode>,
    /// What was lost.
    lost: Vec<Block>,
    /// Whether the next retransmission is the first of the last episode.
    opening: bool,
    /// ssthresh before anything could be lost, and at the end, in bytes.
    thresholds: (u64, u64),
}

impl Truth {
    pub(crate) fn tells(&mut self, event: &engine::Event) {
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

    pub(crate) fn left(&mut self, sent: &Sent) {
        if sent.role == Role::Retransmission && self.opening {
            self.opening = false;
            if let Some(episode) = self.episodes.last_mut() {
                episode.first = Some(sent.transmission);
            }
        }
    }

    pub(crate) fn lost(&mut self, sent: &Sent) {
        self.lost.push(Block { start: sent.start, end: sent.end });
    }

    pub(crate) fn settled(&mut self, settled: &Settled) {
        let mut episodes = self.episodes.iter_mut();
        if let Some(episode) = episodes.find(|episode| episode.first == Some(settled.transmission)) {
            episode.needed = Some(settled.needed);
        }
    }

    /// The episodes, in order.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
    }

    /// Whether any data was lost.
    pub fn has_loss(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Whether any of what was outstanding when `episode` began was lost, before or after.
    pub fn has_loss_in(&self, episode: &Episode) -> bool {
        let Block { start, end } = episode.outstanding;
        self.lost.iter().any(|lost| lost.start < end && lost.end > start)
    }

    pub(crate) fn ends(&mut self, thresholds: (u64, u64)) {
        self.thresholds = thresholds;
    }

    /// Whether ssthresh ends lower than it began: a cut of the window stands.
    pub fn is_cut(&self) -> bool {
        self.thresholds.1 < self.thresholds.0
    }
}
