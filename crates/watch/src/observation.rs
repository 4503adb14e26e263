//! What is observed of a connection, from a loss sign to its repair, and the verdicts on it.

use crate::cause::Cause;
use crate::fact::{Fact, MISSED, Start, Step, Timer, Window};
use crate::holes::Holes;
use crate::replay::{Replay, is_before, segments};
use eifel_capture::advise::{ByFRto, Settings};
use eifel_capture::result::{Confidence, Retransmission, Trigger, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Facts kept of an observation. Beyond this number it has a hole.
const MOST_FACTS: usize = 100_000;

/// How long a duplicate may be reported after the ACK of its data, at least, in nanoseconds.
const SETTLES: u64 = 500_000_000;

/// The longest timeout of Linux, in milliseconds.
const LONGEST_RTO_MS: f64 = 120_000.0;

/// What Linux adds to two round trips before a tail-loss probe, in milliseconds.
const PROBE_WAITS_MS: f64 = 2.0;

const DROPPED: &str = "facts about its connection are missing: the kernel had no room for them, or told of none";
const NOT_OBSERVED: &str = "its first transmission was not observed";
const HANDSHAKE: &str = "handshakes are not observed";
const NO_DATA: &str = "it repeats no data whose arrival could be told";

/// An observation at work.
#[derive(Debug)]
pub(crate) struct Observation {
    /// The number of its connection.
    pub(crate) connection: u64,
    pub(crate) start: Start,
    facts: Vec<Fact>,
    /// The number of the latest fact.
    number: u32,
    holes: Holes,
    /// The highest acknowledgement that was told of.
    acked: u32,
    /// When the latest fact happened, in nanoseconds since the machine was started.
    pub(crate) last: u64,
}

/// A segment that was sent again, with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// When it was sent, in seconds since 1970.
    pub time_s: f64,
    /// Number of its connection, from 0.
    pub connection: u64,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// Inode of the network namespace.
    pub namespace: u32,
    pub seq: u32,
    pub bytes: u32,
    /// Why it was sent, by the kernel's state.
    pub cause: Cause,
    pub verdict: Verdict,
    pub confidence: Confidence,
    pub reason: &'static str,
    /// Whether the kernel undid the reduction of its window. `None` if it had nothing to undo, or if that
    /// was not observed.
    pub kernel_undid: Option<bool>,
    /// Milliseconds until then.
    pub undone_after_ms: Option<f64>,
    /// The congestion window before the first loss sign, and now, in segments.
    pub cwnd_before: u32,
    pub cwnd: u32,
    #[serde(flatten)]
    pub replayed: Replayed,
}

/// What the packets of the observation show of a retransmission, as in `eifel analyze`. Empty if they do not
/// show it.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Replayed {
    /// Milliseconds from the first transmission to this one.
    pub since_first_ms: Option<f64>,
    /// Milliseconds from the first transmission to the first ACK that covers it.
    pub answered_ms: Option<f64>,
    /// Whether that ACK reports a duplicate of it too.
    pub answered_as_duplicate: bool,
    pub window_lost_bytes: Option<u64>,
    pub flight_back_ms: Option<f64>,
    /// What made it leave: `eifel advise` judges other settings by it. Round trips are the kernel's own.
    pub trigger: Option<Box<Trigger>>,
    /// What F-RTO makes of a timeout; `None` for other retransmissions.
    pub f_rto: Option<ByFRto>,
}

impl Observation {
    pub(crate) fn new(start: Start, connection: u64) -> Self {
        let Start { head, .. } = start;
        let acked = start.window.una;
        let (facts, holes) = (Vec::new(), Holes::default());
        Self { connection, start, facts, number: head.number, holes, acked, last: head.nanos }
    }

    /// Takes the next fact. Returns how many retransmissions, and how many ACKs at least, happened before
    /// it without a fact.
    pub(crate) fn push(&mut self, fact: Fact) -> (u64, u64) {
        let not_told = self.not_told(&fact);
        let head = fact.head();
        // Packets that are found outside of TCP have no number.
        let is_next = head.number == 0 || head.number == self.number + 1;
        let has_room = self.facts.len() < MOST_FACTS;
        if not_told != (0, 0) || !is_next || !has_room {
            self.holes.begin(self.last);
        }
        if head.flags & MISSED != 0 && matches!(fact, Fact::End(_)) {
            self.holes.add_everywhere();
        }
        self.number = self.number.max(head.number);
        // A segment has the time when it was sent.
        if !matches!(fact, Fact::Sent(_)) {
            self.last = self.last.max(head.nanos);
            if has_room {
                self.holes.end(self.last);
            }
        }
        if has_room {
            self.facts.push(fact);
        }
        not_told
    }

    /// Returns what the socket itself shows to have happened before a fact without being told of.
    fn not_told(&mut self, fact: &Fact) -> (u64, u64) {
        let Some(step) = fact.step() else { return (0, 0) };
        let una = step.window.una;
        // What acknowledged this data is not known.
        let has_jumped = is_before(self.acked, una);
        if has_jumped {
            self.acked = una;
        }
        if matches!(fact, Fact::Ack(_)) && is_before(self.acked, step.ack()) {
            self.acked = step.ack();
        }
        (step.missed.into(), has_jumped.into())
    }

    /// Returns the number of facts that it holds.
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// Returns whether everything was acknowledged that had been sent by the last retransmission.
    pub(crate) fn is_repaired(&self) -> bool {
        let windows = || self.facts.iter().filter_map(Fact::window);
        let sent = self.facts.iter().rev().find(|fact| matches!(fact, Fact::Retransmitted(_) | Fact::State(_)));
        let high = sent.and_then(Fact::window).map_or(self.start.window.nxt, |window| window.nxt);
        windows().next_back().is_some_and(|last| last.una.wrapping_sub(high).cast_signed() >= 0)
    }

    /// Returns the verdicts on its retransmissions. `since_1970` is added to times, in nanoseconds.
    pub(crate) fn judge(&self, since_1970: u64) -> Vec<Judged> {
        let replay = Replay::new(&self.start, &self.facts);
        let mut by_mtu = false;
        let mut rows: Vec<((usize, usize), Judged)> = Vec::new();
        for (number, fact) in self.facts.iter().enumerate() {
            let Fact::Retransmitted(step) = fact else { continue };
            let cause = Cause::find(step, &mut by_mtu);
            let unknown = match cause {
                Cause::Syn => Some(HANDSHAKE),
                _ if replay.is_unknown(step) => Some(NOT_OBSERVED),
                _ => None,
            };
            let row = self.row((number, step), cause, unknown, since_1970);
            for (index, (seq, bytes)) in segments(step.seq, step.len, self.start.mss).enumerate() {
                rows.push(((number, index), Judged { seq, bytes, ..row.clone() }));
            }
        }
        let found: BTreeMap<_, _> = replay.judge(since_1970).into_iter().collect();
        for (number, row) in &mut rows {
            let Some(step) = self.facts[number.0].step().filter(|_| row.reason != HANDSHAKE) else { continue };
            let one = found.get(number);
            if self.is_in_hole(step, one) {
                row.reason = DROPPED;
            } else if let Some(one) = one.filter(|_| row.reason == NO_DATA) {
                row.take(one, trigger(one, step, row.cause));
            }
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Returns whether a fact may be missing between the first transmission of a retransmission's data and their ACK,
    /// or the time in which a duplicate would be reported: that there was no report shows that it was needed.
    fn is_in_hole(&self, step: &Step, one: Option<&Retransmission>) -> bool {
        let nanos = |ms: f64| (ms * 1e6) as u64;
        let first = one.and_then(|one| one.timing.since_first_ms).map(|ms| step.left().saturating_sub(nanos(ms)));
        let answered = first.zip(one.and_then(|one| one.timing.answered_ms)).map(|(first, ms)| first + nanos(ms));
        let settles = match one.map(|one| one.verdict) {
            Some(Verdict::Spurious) => 0,
            _ => SETTLES.max(2000 * u64::from(self.start.srtt_us)),
        };
        let settled = answered.map_or(u64::MAX, |at| at.max(step.left()).saturating_add(settles));
        self.holes.touch(first.unwrap_or(0), settled)
    }

    fn row(
        &self,
        (number, step): (usize, &Step),
        cause: Cause,
        unknown: Option<&'static str>,
        since_1970: u64,
    ) -> Judged {
        let undone = self.undone(number, step);
        Judged {
            time_s: (step.sent_nanos + since_1970) as f64 / 1e9,
            connection: self.connection,
            local: self.start.local,
            remote: self.start.remote,
            namespace: self.start.namespace,
            seq: step.seq,
            bytes: step.len,
            cause,
            verdict: Verdict::Undecidable,
            confidence: Confidence::Weak,
            reason: unknown.unwrap_or(NO_DATA),
            kernel_undid: undone.map(|nanos| nanos.is_some()),
            undone_after_ms: undone.flatten().map(|nanos| nanos.saturating_sub(step.head.nanos) as f64 / 1e6),
            cwnd_before: self.start.window.cwnd,
            cwnd: step.window.cwnd,
            replayed: Replayed::default(),
        }
    }

    /// Returns when the kernel undid the reduction that was in force at a retransmission: `None` if none
    /// was, and `Some(None)` if it was not undone before the next one, or before the observation ended.
    fn undone(&self, number: usize, step: &Step) -> Option<Option<u64>> {
        let mut before = step.window;
        if before.undo_marker == 0 {
            return None;
        }
        for fact in &self.facts[number + 1..] {
            let Some(window) = fact.window() else { continue };
            if is_undone(&before, window) {
                return Some(Some(fact.head().nanos));
            }
            if window.undo_marker != before.undo_marker {
                break;
            }
            before = *window;
        }
        Some(None)
    }

    /// Returns how often the kernel undid a reduction of its window.
    pub(crate) fn undone_in_all(&self) -> u64 {
        let windows: Vec<&Window> = self.facts.iter().filter_map(Fact::window).collect();
        windows.windows(2).filter(|pair| is_undone(pair[0], pair[1])).count() as u64
    }
}

/// Returns whether the kernel undid its reduction between two facts: it has nothing to undo any more, and
/// its window did not shrink.
fn is_undone(before: &Window, after: &Window) -> bool {
    before.undo_marker != 0 && after.undo_marker == 0 && (after.cwnd > before.cwnd || after.ssthresh > before.ssthresh)
}

/// Returns what made a retransmission leave. The observation begins in the middle of its connection, so the
/// socket's round trips replace those of the replay, and its timers are those that the kernel computed.
fn trigger(one: &Retransmission, step: &Step, cause: Cause) -> Option<Box<Trigger>> {
    let mut trigger = one.timing.trigger.clone()?;
    let timer = step.timer();
    let ms = |us: u32| f64::from(us) / 1e3;
    trigger.smoothed_ms = timer.map(|timer| ms(timer.srtt_us));
    trigger.variation_ms = timer.map(|timer| ms(timer.rttvar_us));
    let timeout = |timer: Timer| (ms(timer.srtt_us) + ms(timer.rttvar_us)) * f64::from(timer.backoff).exp2();
    // A probe repeats the last segment: where that is the first one too, it waits for a delayed ACK (RFC 8985,
    // section 7.2), and Linux takes its smallest timeout for that.
    let is_alone = step.seq == step.window.una;
    let wait = if is_alone { Settings::default().rto_min_ms } else { PROBE_WAITS_MS };
    let probe = |timer: Timer| (2.0 * ms(timer.srtt_us) + wait).min(timeout(timer)).min(trigger.quiet_ms);
    trigger.timer_ms = match cause {
        Cause::Rto => timer.map(timeout).map(|ran| ran.min(LONGEST_RTO_MS)),
        Cause::Tlp => timer.map(probe),
        _ => None,
    };
    Some(trigger)
}

impl Judged {
    fn take(&mut self, one: &Retransmission, trigger: Option<Box<Trigger>>) {
        self.verdict = one.verdict;
        self.confidence = one.confidence;
        self.reason = one.reason;
        self.replayed = Replayed {
            since_first_ms: one.timing.since_first_ms,
            answered_ms: one.timing.answered_ms,
            answered_as_duplicate: one.timing.answered_as_duplicate,
            window_lost_bytes: one.effect.window_lost_bytes,
            flight_back_ms: one.effect.flight_back_ms,
            trigger,
            f_rto: (self.cause == Cause::Rto).then(|| ByFRto::of(one)),
        };
    }
}
