//! Records the events of an engine: episodes, verdicts and the timer.

use super::Table;
use super::codes;
use super::recorder::{OfPath, Recorder, Subject, nanos, place};
use super::tables::{EpisodeRow, TimerRow, VerdictRow, WindowRow};
use crate::capture::Captures;
use crate::end::End;
use crate::oracle::JudgedRetransmission;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{Event, Snapshot};
use eifel_recovery::episode::{Episode, Saved};

/// Comments on the acknowledgement that made a sender decide.
fn comment(captures: &mut Captures, Subject { flow, end, .. }: Subject, event: &Event) {
    match *event {
        Event::Judged { detector: 0, outcome, reason, .. } => captures.comment((flow, end), || {
            let word = if outcome == Outcome::Spurious { "spurious" } else { "genuine" };
            format!("the sender calls its episode {word}: {reason}")
        }),
        Event::Adjusted { window, .. } => {
            captures.comment((flow, end), || format!("undo: cwnd {} bytes, ssthresh {}", window.cwnd, window.ssthresh))
        }
        _ => {}
    }
}

impl Recorder {
    /// Records an event of an end's engine.
    pub fn recovery(&mut self, now: Instant, subject: Subject, event: &Event) {
        if let Some(captures) = &mut self.captures {
            comment(captures, subject, event);
        }
        match *event {
            Event::TimerExpired { .. } => self.path(subject).expired = true,
            Event::EpisodeOpened { episode, saved } if self.tables.kept.keeps(Table::Episodes) => {
                let row = self.tables.episodes.flow.len() as u32;
                self.path(subject).episodes.push(row);
                self.tables.episodes.push(opened(subject, &episode, &saved));
            }
            Event::Judged { episode, detector, outcome, reason } => {
                let reason = self.tables.dictionaries.reason(reason);
                self.judged(now, (subject, episode), detector, (outcome, reason));
            }
            Event::EpisodeClosed { episode, timeouts } => {
                if let Some(row) = self.episode(subject, episode) {
                    self.tables.episodes.closed_ns[row] = nanos(now);
                    self.tables.episodes.timeouts[row] = timeouts as i32;
                }
            }
            Event::EpisodeOpened { .. } | Event::Adjusted { .. } | Event::Echoed { .. } | Event::Distrusted { .. } => {}
        }
    }

    fn judged(
        &mut self,
        now: Instant,
        (subject, episode): (Subject, u32),
        detector: usize,
        (outcome, reason): (Outcome, u8),
    ) {
        if self.tables.kept.keeps(Table::Verdicts) {
            let Subject { flow, end, path } = subject;
            let detectors = &self.memories[place(flow, end)].detectors;
            self.tables.verdicts.push(VerdictRow {
                t_ns: nanos(now),
                flow: flow as i32,
                end: end as u8,
                episode: episode as i32,
                detector: detectors.get(detector).copied().unwrap_or(u8::MAX),
                acting: detector == 0,
                verdict: codes::verdict(outcome),
                reason,
                path: path as i32,
            });
        }
        if detector == 0
            && let Some(row) = self.episode(subject, episode)
            && self.tables.episodes.verdict_ns[row] < 0
        {
            self.tables.episodes.verdict[row] = codes::verdict(outcome);
            self.tables.episodes.verdict_ns[row] = nanos(now);
            self.tables.episodes.reason[row] = reason;
        }
    }

    fn path(&mut self, Subject { flow, end, path }: Subject) -> &mut OfPath {
        &mut self.memories[place(flow, end)].paths[path]
    }

    fn episode(&self, Subject { flow, end, path }: Subject, number: u32) -> Option<usize> {
        let rows = &self.memories[place(flow, end)].paths.get(path)?.episodes;
        rows.get((number as usize).checked_sub(1)?).map(|&row| row as usize)
    }

    /// Records the oracle's judgement on a retransmission. `opened` is the path and number of the
    /// episode that the retransmission opened, if any.
    pub fn on_judged(&mut self, judged: &JudgedRetransmission, opened: Option<(usize, u32)>) {
        if let Some(captures) = &mut self.captures {
            captures.on_judged(judged);
        }
        let JudgedRetransmission { flow, sender, transmission, needed } = *judged;
        if let Some(row) = self.row(flow, sender, transmission) {
            self.tables.transmissions.needed[row] = codes::need(needed);
        }
        let row = opened.and_then(|(path, number)| self.episode(Subject { flow, end: sender, path }, number));
        if let Some(row) = row {
            self.tables.episodes.truth[row] = codes::truth(needed);
        }
    }

    /// Returns whether the window or the timer of an end is recorded.
    pub(super) fn records_variables(&self, flow: u32, end: End) -> bool {
        self.records(flow, end, Table::Window) || self.records(flow, end, Table::Timer)
    }

    /// Records the variables of a path after an input, if they have changed.
    pub(super) fn variables(&mut self, now: Instant, subject: Subject, (snapshot, peer_window): (Snapshot, u64)) {
        let last = self.path(subject).last.replace((snapshot, peer_window));
        let expired = std::mem::take(&mut self.path(subject).expired);
        let key = |(s, window): &(Snapshot, u64)| (s.cwnd, s.ssthresh, s.flight, s.una, s.nxt, *window);
        if self.tables.kept.keeps(Table::Window) && last.as_ref().map(key) != Some(key(&(snapshot, peer_window))) {
            self.tables.window.push(WindowRow {
                t_ns: nanos(now),
                flow: subject.flow as i32,
                end: subject.end as u8,
                cwnd: snapshot.cwnd as i64,
                ssthresh: threshold(snapshot.ssthresh),
                flight: snapshot.flight as i64,
                peer_window: peer_window as i64,
                una: snapshot.una as i64,
                nxt: snapshot.nxt as i64,
                path: subject.path as i32,
            });
            self.grown(Table::Window);
        }
        if self.tables.kept.keeps(Table::Timer) {
            self.timer(now, subject, (last.map(|last| last.0), snapshot), expired);
        }
    }

    fn timer(&mut self, now: Instant, of: Subject, (last, new): (Option<Snapshot>, Snapshot), expired: bool) {
        if expired {
            let before = last.unwrap_or(new);
            self.timer_row(now, of, codes::EXPIRED, &Snapshot { deadline: now, ..before });
        }
        let changed = last.is_none_or(|last| (last.rto, last.srtt, last.rttvar) != (new.rto, new.srtt, new.rttvar));
        let event = match () {
            () if last.is_some_and(|last| new.samples > last.samples) => codes::SAMPLE,
            () if !changed || last.is_none() => return,
            () if expired => codes::BACK_OFF,
            () => codes::ADAPTED,
        };
        self.timer_row(now, of, event, &new);
    }

    fn timer_row(&mut self, now: Instant, Subject { flow, end, path }: Subject, event: u8, snapshot: &Snapshot) {
        let length = |duration: Option<Duration>| duration.map_or(-1, |duration| duration.as_nanos() as i64);
        self.tables.timer.push(TimerRow {
            t_ns: nanos(now),
            flow: flow as i32,
            end: end as u8,
            event,
            rtt_ns: length(snapshot.latest_rtt),
            srtt_ns: length(snapshot.srtt),
            rttvar_ns: length(snapshot.rttvar),
            rto_ns: snapshot.rto.as_nanos() as i64,
            deadline_ns: nanos(snapshot.deadline),
            path: path as i32,
        });
        self.grown(Table::Timer);
    }
}

fn opened(Subject { flow, end, path }: Subject, episode: &Episode, saved: &Saved) -> EpisodeRow {
    EpisodeRow {
        flow: flow as i32,
        end: end as u8,
        episode: episode.number as i32,
        opened_ns: nanos(episode.opened_at),
        cause: codes::cause(episode.cause),
        start: episode.start as i64,
        recovery_point: episode.recovery_point as i64,
        timeouts: episode.timeouts as i32,
        closed_ns: -1,
        saved_cwnd: saved.window.cwnd as i64,
        saved_ssthresh: threshold(saved.window.ssthresh),
        saved_srtt_ns: saved.estimate.map_or(-1, |estimate| estimate.srtt.as_nanos() as i64),
        verdict: 0,
        verdict_ns: -1,
        reason: 0,
        truth: 0,
        path: path as i32,
    }
}

fn threshold(ssthresh: u64) -> i64 {
    i64::try_from(ssthresh).unwrap_or(-1)
}
