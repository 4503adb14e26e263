//! What a sender does, counted: retransmissions with the oracle's judgement, timeouts, episodes,
//! undos.

use crate::oracle::Settled;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{Cause, Event};

/// Counts of one end, or of one path of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Data segments or chunks sent, all copies.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Needless retransmissions of data, by the oracle.
    pub spurious: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Episodes that a timeout opened.
    pub after_timeout: Episodes,
    /// Episodes that a fast retransmit opened.
    pub after_duplicates: Episodes,
    /// Episodes that the acting detector called spurious.
    pub detected_spurious: u64,
    /// Verdicts after which the response moved the window.
    pub undos: u64,
}

/// Counts of the episodes of one cause, judged by their first retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Episodes {
    /// All episodes.
    pub opened: u64,
    /// Episodes whose first retransmission was needless.
    pub spurious: u64,
    /// Episodes whose first retransmission was needed.
    pub genuine: u64,
    /// Sum over genuine episodes of the time from the segment's last transmission to the episode.
    pub genuine_wait: Duration,
}

/// The first retransmission of an episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct First {
    /// Number of the transmission, from 1; 0 until it leaves.
    transmission: u64,
    /// Number of the episode.
    episode: u32,
    /// The cause of the episode.
    cause: Cause,
    /// Time from the segment's last transmission to the episode.
    waited: Duration,
}

/// The counts of a sender, or of one of its paths, and the first retransmission of each episode.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub counts: Counts,
    /// An episode whose first retransmission has not left.
    opening: Option<First>,
    /// The first retransmissions of all episodes, in order.
    firsts: Vec<First>,
    /// Retransmissions that repeat no data: a SYN or a FIN alone.
    bare: Vec<u64>,
}

impl Tally {
    /// Counts an event of the brain. If an episode opens, `sent` tells when its first segment was
    /// last sent.
    pub fn on_recovery(&mut self, event: &Event, sent: impl FnOnce() -> Option<Instant>) {
        match event {
            Event::TimerExpired { .. } => self.counts.timeouts += 1,
            Event::EpisodeOpened { episode, .. } => {
                self.episodes(episode.cause).opened += 1;
                let waited = sent().map_or(Duration::ZERO, |sent| episode.opened_at.since(sent));
                self.opening = Some(First { transmission: 0, episode: episode.number, cause: episode.cause, waited });
            }
            Event::Judged { detector: 0, outcome: Outcome::Spurious, .. } => self.counts.detected_spurious += 1,
            Event::Adjusted { .. } => self.counts.undos += 1,
            _ => {}
        }
    }

    /// Returns the cause of an episode whose first retransmission has not left.
    pub fn opening(&self) -> Option<Cause> {
        self.opening.map(|first| first.cause)
    }

    /// Notes that a retransmission repeats no data, and is not counted.
    pub fn on_bare(&mut self, transmission: u64) {
        self.bare.push(transmission);
    }

    /// Counts the oracle's judgement on a retransmission.
    pub fn on_judged(&mut self, settled: &Settled) {
        self.counts.spurious += u64::from(!settled.needed && !self.bare.contains(&settled.transmission));
    }

    /// Notes that a retransmission leaves: the first of the episode that has opened, if any.
    pub fn on_retransmission(&mut self, transmission: u64) {
        if let Some(first) = self.opening.take() {
            self.firsts.push(First { transmission, ..first });
        }
    }

    /// Counts the oracle's judgement on the first retransmission of an episode. Returns the number
    /// of the episode; `None` if the retransmission was not the first of one.
    pub fn on_settled(&mut self, settled: &Settled) -> Option<u32> {
        let found = self.firsts.binary_search_by_key(&settled.transmission, |first| first.transmission);
        let first = found.ok().map(|index| self.firsts[index])?;
        let episodes = self.episodes(first.cause);
        match settled.needed {
            true => {
                episodes.genuine += 1;
                episodes.genuine_wait = episodes.genuine_wait + first.waited;
            }
            false => episodes.spurious += 1,
        }
        Some(first.episode)
    }

    fn episodes(&mut self, cause: Cause) -> &mut Episodes {
        match cause {
            Cause::Timeout => &mut self.counts.after_timeout,
            Cause::FastRetransmit => &mut self.counts.after_duplicates,
        }
    }
}
