//! Counts of a sender: retransmissions with the oracle's judgement, timeouts, episodes and undos.

use crate::oracle::JudgedRetransmission;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{Cause, Event};

/// Counts of one end, or of one of its paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Data segments or DATA chunks sent, including retransmissions.
    pub segments: u64,
    /// Data segments or DATA chunks sent again.
    pub retransmissions: u64,
    /// Retransmissions of data that the oracle judged needless.
    pub spurious: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Episodes that a timeout opened.
    pub after_timeout: Episodes,
    /// Episodes that a fast retransmit opened.
    pub after_duplicates: Episodes,
    /// Episodes that the acting detector called spurious.
    pub detected_spurious: u64,
    /// Verdicts after which the response changed the window.
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
    /// The open episode whose first retransmission has not left; `None` if there is none.
    opening: Option<First>,
    /// The first retransmissions of all episodes, in order.
    firsts: Vec<First>,
    /// Numbers of retransmissions that repeat no data: a lone SYN or FIN.
    bare: Vec<u64>,
}

impl Tally {
    /// Counts an event of loss recovery. If an episode opens, `sent` returns the time at which its
    /// first segment was last sent.
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

    /// Returns the cause of the open episode whose first retransmission has not left.
    pub fn opening(&self) -> Option<Cause> {
        self.opening.map(|first| first.cause)
    }

    /// Notes a retransmission that repeats no data, so that [`on_judged`](Self::on_judged) ignores
    /// it.
    pub fn on_retransmission_without_data(&mut self, transmission: u64) {
        self.bare.push(transmission);
    }

    /// Counts the oracle's judgement on a retransmission.
    pub fn on_judged(&mut self, judged: &JudgedRetransmission) {
        self.counts.spurious += u64::from(!judged.needed && !self.bare.contains(&judged.transmission));
    }

    /// Notes that a retransmission leaves. If an episode has just opened, it is the episode's
    /// first.
    pub fn on_retransmission(&mut self, transmission: u64) {
        if let Some(first) = self.opening.take() {
            self.firsts.push(First { transmission, ..first });
        }
    }

    /// Counts the oracle's judgement if the retransmission was the first of an episode. Returns the
    /// number of this episode; `None` if there is none.
    pub fn judge_episode(&mut self, judged: &JudgedRetransmission) -> Option<u32> {
        let found = self.firsts.binary_search_by_key(&judged.transmission, |first| first.transmission);
        let first = found.ok().map(|index| self.firsts[index])?;
        let episodes = self.episodes(first.cause);
        match judged.needed {
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
