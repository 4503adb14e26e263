//! Congestion events of a trace: the losses of one recovery period, the windows before and after
//! it, and what rules would undo.

use super::judge::{Reported, Sent};
use super::path::Path;
use super::qlog::{Counted, Key, Metrics};
use super::rules::{Loss, RULES};
use super::window::Track;
use super::{CongestionEvent, LossVerdict, Losses, Rule};
use crate::result::StackReaction;
use std::collections::BTreeMap;

/// Round trips within which a stack that undoes an event has done so.
const ROUND_TRIPS: f64 = 2.0;

/// The congestion events of a trace while it is being read.
pub(super) struct Events {
    /// Number of the trace in the report.
    place: usize,
    paths: bool,
    /// Whether the log names the packets that it declares lost.
    named: bool,
    /// Whether the log shows what is acknowledged, as rules have to know.
    acknowledges: bool,
    open: Vec<Open>,
    by_path: BTreeMap<u64, Path>,
    /// What the log shows of each lost packet.
    reports: Vec<Reported>,
    /// Losses of which the log counts, and does not name.
    counted: u64,
}

/// A congestion event while its log is being read.
struct Open {
    path: u64,
    time_ms: f64,
    round_trip_ms: f64,
    /// Places of its packets among the trace's losses.
    packets: Vec<usize>,
    /// Losses that are only counted.
    unnamed: u64,
    window: Track,
    /// When each rule would undo it.
    undone_ms: [Option<f64>; RULES.len()],
}

impl Events {
    pub(super) fn new(place: usize, paths: bool, (named, acknowledges): (bool, bool)) -> Self {
        let (open, reports) = (Vec::new(), Vec::new());
        Self { place, paths, named, acknowledges, open, by_path: BTreeMap::new(), reports, counted: 0 }
    }

    fn path(&mut self, path: u64) -> &mut Path {
        self.by_path.entry(path).or_default()
    }

    pub(super) fn sent(&mut self, key: Key, bytes: u32) {
        self.path(key.1).sent(key, bytes);
    }

    pub(super) fn metrics(&mut self, now: f64, metrics: &Metrics) {
        let path = if self.paths { metrics.path } else { 0 };
        let latest = {
            let path = self.path(path);
            path.metrics(now, metrics);
            path.latest
        };
        if let (Some(cwnd), Some(latest)) = (metrics.cwnd, latest) {
            self.open[latest].window.report(now, cwnd);
        }
    }

    /// Adds a lost packet. Returns the number of its event, if its loss is a sign of congestion, and
    /// when a round trip is over from now.
    pub(super) fn lost(&mut self, now: f64, key: Key, left: Option<Sent>) -> (Option<u32>, f64) {
        let round_trip_ms = self.path(key.1).round_trip_ms();
        let only_acks = left.is_some_and(|left| left.only_acks);
        self.reports.push(Reported { only_acks, missing: false, settled_ms: now + round_trip_ms });
        if left.is_some_and(|left| !left.in_flight) {
            return (None, now + round_trip_ms);
        }
        let begins = self.begins(key.1, left.map(|left| left.at_ms));
        if begins {
            self.begin(now, key.1, None);
        }
        let packet = self.reports.len() - 1;
        let path = self.path(key.1);
        path.lost(&Loss {
            packet: key,
            sent: super::instant(left.map_or(now, |left| left.at_ms)),
            now: super::instant(now),
            begins,
            largest_sent: path.largest_sent(key),
            window: path.window_packets(now),
            slow_start: path.in_slow_start(now),
        });
        let Some(event) = path.latest else { return (None, now + round_trip_ms) };
        self.open[event].packets.push(packet);
        (Some(event as u32 + 1), now + round_trip_ms)
    }

    /// Returns whether the loss of a packet that left at `left_ms` begins an event. RFC 9002, section
    /// 7.3.1: it does not if the packet left before recovery began. An undo ends recovery.
    fn begins(&mut self, path: u64, left_ms: Option<f64>) -> bool {
        let Some(latest) = self.path(path).latest else { return true };
        let open = &self.open[latest];
        open.window.restored_ms.is_some() || left_ms.is_some_and(|left| left > open.time_ms)
    }

    fn begin(&mut self, now: f64, path: u64, cwnd: Option<u64>) {
        let latest = self.open.len();
        let of = self.path(path);
        of.latest = Some(latest);
        let before = cwnd.or_else(|| of.cwnd_before(now));
        let (round_trip_ms, window) = (of.round_trip_ms(), Track::new(now, before));
        self.open.push(Open {
            path,
            time_ms: now,
            round_trip_ms,
            packets: Vec::new(),
            unnamed: 0,
            window,
            undone_ms: [None; RULES.len()],
        });
    }

    /// Adds losses that are only counted. A smaller window reported with them begins an event.
    pub(super) fn counted(&mut self, now: f64, counted: Counted, sent: &BTreeMap<Key, Sent>) {
        let more = counted.total.map_or(counted.more, |total| total.saturating_sub(self.counted));
        self.counted += more;
        if more == 0 || self.named {
            return;
        }
        let before = self.path(0).cwnd_before(now);
        let cut = before.zip(counted.cwnd).is_some_and(|(before, cwnd)| cwnd < before);
        let largest = counted.largest.and_then(|number| sent.get(&(super::qlog::Space::Application, 0, number)));
        let later = largest.is_some_and(|sent| self.begins(0, Some(sent.at_ms)));
        if cut || later || self.path(0).latest.is_none() {
            self.begin(now, 0, before);
        }
        if let Some(latest) = self.path(0).latest {
            self.open[latest].unnamed += more;
        }
    }

    /// Tells the rules of an ACK, with the packets that it acknowledges late and its largest number.
    pub(super) fn ack(&mut self, now: f64, late: &[Key], (largest, left): (Key, Option<Sent>)) {
        let path = self.path(largest.1);
        let undone = path.ack(now, late, (largest, left.map(|left| left.at_ms)));
        if let Some(latest) = path.latest {
            for (at, _) in self.open[latest].undone_ms.iter_mut().zip(undone).filter(|(_, undone)| *undone) {
                at.get_or_insert(now);
            }
        }
    }

    pub(super) fn reported_missing(&mut self, packet: usize) {
        self.reports[packet].missing = true;
    }

    pub(super) fn packets(&self) -> usize {
        self.reports.len()
    }

    pub(super) fn reports(&self) -> &[Reported] {
        &self.reports
    }

    /// Returns the number of losses that the log counts and does not name.
    pub(super) fn unnamed(&self) -> u64 {
        if self.named { 0 } else { self.counted }
    }

    /// Returns the events once their packets, which begin at `first` in the report, are judged.
    pub(super) fn finish(self, end: f64, first: usize, losses: &Losses) -> Vec<CongestionEvent> {
        let mut until: BTreeMap<u64, f64> = BTreeMap::new();
        let mut events = Vec::new();
        for (place, open) in self.open.iter().enumerate().rev() {
            let until = until.entry(open.path).or_insert(end);
            let mut event = open.settle(*until, &losses.packets[first..]);
            if !self.acknowledges || open.unnamed > 0 {
                event.rules.clear();
            }
            (event.trace, event.event) = (self.place, place as u32 + 1);
            event.path_id = self.paths.then_some(open.path);
            *until = open.time_ms;
            events.push(event);
        }
        events.reverse();
        events
    }
}

impl Open {
    /// Returns the event with its results. Windows count until the next event, at `until`.
    fn settle(&self, until: f64, packets: &[super::LostPacket]) -> CongestionEvent {
        let packets = || self.packets.iter().map(|place| &packets[*place]);
        let late: Vec<f64> = packets().filter_map(|packet| packet.acknowledged_ms).collect();
        let lost = self.packets.len() + self.unnamed as usize;
        let last_late = late.iter().copied().reduce(f64::max);
        let all_late = last_late.filter(|_| late.len() == lost);
        let genuine = packets().any(|packet| packet.verdict == LossVerdict::Genuine);
        let after = self.window.smallest((self.time_ms + self.round_trip_ms).min(until));
        let cut = self.window.before.zip(after).is_some_and(|(before, after)| after <= before / 10 * 9);
        // Later, the window may have grown back.
        let soon = all_late.map_or(f64::INFINITY, |last| last + ROUND_TRIPS * self.round_trip_ms);
        let restored_ms = self.window.restored_ms.filter(|at| *at <= soon);
        let stack_noticed = match (restored_ms, all_late) {
            (Some(_), _) if genuine => StackReaction::Harmful,
            (Some(_), _) => StackReaction::Undone,
            (None, Some(last)) if cut && until > last && !self.window.raised => StackReaction::NotUndone,
            _ => StackReaction::CannotBeTold,
        };
        CongestionEvent {
            trace: 0,
            path_id: None,
            event: 0,
            time_ms: self.time_ms,
            lost,
            unnamed: self.unnamed,
            late: late.len(),
            cwnd_before: self.window.before,
            cwnd_after: after,
            stack_noticed,
            restored_ms,
            rules: self.rules(&late, lost),
        }
    }

    /// Returns the results of the rules.
    fn rules(&self, late: &[f64], lost: usize) -> Vec<Rule> {
        let stacks = RULES.iter().zip(self.undone_ms).map(|(entry, time_ms)| Rule {
            rule: entry.name,
            stacks: entry.stacks,
            takes_back: if time_ms.is_some() { 1.0 } else { 0.0 },
            time_ms,
        });
        let share = if lost == 0 { 0.0 } else { late.len() as f64 / lost as f64 };
        let in_proportion = Rule {
            rule: "in-proportion",
            stacks: "",
            takes_back: share,
            time_ms: late.iter().copied().reduce(f64::max),
        };
        stacks.chain([in_proportion]).collect()
    }
}
