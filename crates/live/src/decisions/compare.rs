//! Compares the kernel's undos with the model's, from one loss signal to the next.

use super::counters::{self, Undo};
use super::events::{self, Course, What};
use super::sender::{Sender, counter};
use super::windows::Windows;
use crate::system::Error;
use crate::truth::record::PLACES;
use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_recovery::fact::Cause;
use std::fs;
use std::path::Path;

/// How late a look reads the counters after it has noted the time, on a busy machine.
const LATE: Duration = Duration::from_millis(5);
/// A loss signal that follows an ACK so soon, with nothing sent in between, is due to it.
const AT_ONCE: Duration = Duration::from_millis(1);

/// From a loss signal to the next.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// Time since the first loss signal of the connection.
    pub begins: Duration,
    pub timeout: bool,
    /// The counters of the kernel's undos.
    pub kernel: Vec<&'static str>,
    /// The same of the detector `linux`.
    pub model: Vec<&'static str>,
    /// Whether each undo of the one is at the time of an undo of the other.
    pub is_timely: bool,
    /// cwnd in segments at the first ACK after the undo: the kernel's and the model's. `None` without
    /// an undo of both, if a loss signal came before that ACK, or for an unknown congestion control.
    pub cwnd: Option<[u64; 2]>,
}

impl Decision {
    /// Returns whether both undid by the same evidence at the same time, or neither did.
    pub fn agrees(&self) -> bool {
        self.kernel == self.model && self.is_timely
    }
}

/// Compares the decisions in a recording. `congestion` is the kernel's congestion control.
///
/// # Errors
/// A recording that is damaged or does not show everything.
pub fn decisions(own: &Path, port: u16, congestion: &str) -> Result<Vec<Decision>, Error> {
    let course = events::read(own, port)?;
    let path = own.join(format!("{}.counters.csv", PLACES[0]));
    let failed = |cause: &dyn std::fmt::Display| Error::new(path.display().to_string(), cause, "");
    let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let mut kernel = counters::undos(&text).map_err(|what| failed(&what))?;
    // The kernel tells its ACKs only until the connection is closed.
    let last = course.events.iter().rev().find(|(_, what)| matches!(what, What::Received(..)));
    kernel.retain(|undo| last.is_some_and(|&(at, _)| undo.after < at));
    let run = Model::run(&course, congestion).map_err(|what| Error::new(own.display().to_string(), &what, ""))?;
    Ok(matched(&run.episodes, &run.undos, &kernel))
}

/// An episode of the model.
#[derive(Clone, Copy, Debug)]
struct Episode {
    begins: Instant,
    cause: Cause,
}

/// An undo of the model, in the last episode that had begun.
#[derive(Clone, Copy, Debug)]
struct Told {
    at: Instant,
    episode: usize,
    counter: &'static str,
    /// As in [`Decision`].
    cwnd: Option<[u64; 2]>,
}

/// The model's course.
struct Model {
    sender: Sender,
    windows: Option<Windows>,
    episodes: Vec<Episode>,
    undos: Vec<Told>,
    /// When the last segment was processed; `None` once something was sent after it.
    processed: Option<Instant>,
    /// cwnd of the model after an undo on the last ACK.
    undone: Option<u64>,
}

impl Model {
    fn run(course: &Course, congestion: &str) -> Result<Self, String> {
        let failed = |error: eifel_recovery::registry::Error| error.to_string();
        let [syn, answer] = &course.syns;
        let mut model = Self {
            sender: Sender::new(syn, answer).map_err(failed)?,
            windows: Windows::new(congestion).map_err(failed)?,
            episodes: Vec::new(),
            undos: Vec::new(),
            processed: None,
            undone: None,
        };
        for &(at, what) in &course.events {
            match what {
                What::Sent(segment) => {
                    model.processed = None;
                    model.sender.on_sent(at, &segment);
                }
                What::FastRetransmit => model.on_signal(at, Cause::FastRetransmit),
                What::Timeout => model.on_timeout(at),
                What::Received(segment, standing) => {
                    let from = |una: Seq| una.0.wrapping_sub(syn.seq.0);
                    let (kernel, own) = (from(standing.una), from(model.sender.una()));
                    if kernel != own {
                        return Err(format!("{at:?}: una is {kernel} in the kernel, and {own} by its packets"));
                    }
                    model.on_received(at, &segment, &standing);
                }
            }
        }
        Ok(model)
    }

    /// Begins an episode.
    fn on_signal(&mut self, at: Instant, cause: Cause) {
        let at = self.processed.filter(|&processed| at.since(processed) < AT_ONCE).unwrap_or(at);
        let recovers = cause == Cause::Timeout && self.sender.is_recovering();
        if let Some(windows) = &mut self.windows {
            windows.on_signal(cause, recovers, &self.sender);
        }
        self.sender.on_signal(at, cause);
        self.episodes.push(Episode { begins: at, cause });
        self.undone = None;
    }

    fn on_timeout(&mut self, at: Instant) {
        self.undone = None;
        if !self.sender.on_timer_again(at) {
            self.on_signal(at, Cause::Timeout);
        }
    }

    fn on_received(&mut self, at: Instant, segment: &Segment, standing: &events::Standing) {
        if let (Some(model), Some(last)) = (self.undone.take(), self.undos.last_mut()) {
            last.cwnd = Some([standing.cwnd, model]);
        }
        self.processed = Some(at);
        let mss = self.sender.view().mss;
        if let Some(windows) = &mut self.windows {
            windows.take(standing, mss);
        }
        // A repeated SYN-ACK acknowledges nothing.
        if segment.flags.has(Flags::SYN) {
            return;
        }
        let Some(brought) = self.sender.on_ack(at, segment) else { return };
        let last = self.episodes.len().checked_sub(1);
        let cause = last.map_or(Cause::Timeout, |last| self.episodes[last].cause);
        self.undone = self.windows.as_mut().and_then(|windows| windows.on_ack(&brought, cause, &self.sender));
        if let (Some(reason), Some(episode)) = (brought.undo, last) {
            self.undos.push(Told { at, episode, counter: counter(reason), cwnd: None });
        }
    }
}

/// Matches the undos of both, and returns the decisions in each episode.
fn matched(episodes: &[Episode], model: &[Told], kernel: &[Undo]) -> Vec<Decision> {
    let Some(first) = episodes.first().map(|first| first.begins) else { return Vec::new() };
    let mut found: Vec<Decision> = episodes
        .iter()
        .map(|episode| Decision {
            begins: episode.begins.since(first),
            timeout: episode.cause == Cause::Timeout,
            kernel: Vec::new(),
            model: Vec::new(),
            is_timely: true,
            cwnd: None,
        })
        .collect();
    let mut left: Vec<&Told> = model.iter().collect();
    let mut unmatched = Vec::new();
    for undo in kernel {
        let timely = |told: &&Told| undo.after < told.at && told.at < undo.seen + LATE;
        let same = left.iter().position(|told| timely(told) && told.counter == undo.counter);
        match same.or_else(|| left.iter().position(timely)) {
            Some(place) => {
                let told = left.remove(place);
                let decision = &mut found[told.episode];
                decision.kernel.push(undo.counter);
                decision.model.push(told.counter);
                decision.cwnd = told.cwnd;
            }
            None => unmatched.push(undo),
        }
    }
    for told in left {
        let decision = &mut found[told.episode];
        decision.model.push(told.counter);
        decision.is_timely = false;
    }
    for undo in unmatched {
        let begun = episodes.partition_point(|episode| episode.begins <= undo.seen);
        let decision = &mut found[begun.saturating_sub(1)];
        decision.kernel.push(undo.counter);
        decision.is_timely = false;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn undo(counter: &'static str, after: u64, seen: u64) -> Undo {
        Undo { counter, after: ms(after), seen: ms(seen) }
    }

    fn told(at: u64, episode: usize, counter: &'static str) -> Told {
        Told { at: ms(at), episode, counter, cwnd: Some([9, 9]) }
    }

    /// In the first episode both undo, in the second each by other evidence, in the third the kernel
    /// alone, in the fourth the model alone, in the fifth the model later, in the last neither.
    #[test]
    fn an_undo_is_compared_by_evidence_and_time() {
        let begins = [1000, 2000, 3000, 4000, 5000, 6000];
        let causes = [Cause::Timeout, Cause::FastRetransmit];
        let episodes: Vec<Episode> = begins
            .iter()
            .enumerate()
            .map(|(place, &at)| Episode { begins: ms(at), cause: causes[place % 2] })
            .collect();
        let (loss, full) = ("TCPLossUndo", "TCPFullUndo");
        let model = [told(1102, 0, loss), told(2103, 1, full), told(4100, 3, loss), told(5300, 4, full)];
        let kernel = [undo(loss, 1100, 1104), undo(loss, 2100, 2104), undo(full, 3100, 3104), undo(full, 5100, 5104)];
        let found = matched(&episodes, &model, &kernel);
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.kernel.as_slice(), one.model.as_slice(), one.is_timely, one.agrees(), one.cwnd.is_some()))
            .collect();
        let none: &[&str] = &[];
        assert_eq!(
            shown,
            [
                (&[loss][..], &[loss][..], true, true, true),
                (&[loss], &[full], true, false, true),
                (&[full], none, false, false, false),
                (none, &[loss], false, false, false),
                (&[full], &[full], false, false, false),
                (none, none, true, true, false),
            ]
        );
        assert_eq!((found[1].begins, found[1].timeout), (Duration::from_secs(1), false));
        assert!(matched(&[], &[], &[]).is_empty());
    }
}
