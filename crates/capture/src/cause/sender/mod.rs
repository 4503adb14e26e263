//! A replica of the sender: models of stacks that are fed with everything it sent and received.
//!
//! Away from the sender, a capture shows the sender's reactions late, by the round trip from the
//! capture point to the sender and back. So ACKs wait here for that time before the models receive
//! them. All events are then in the order in which the sender saw them.

mod hear;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use super::When;
use super::doubts::Doubts;
use super::half::{Acknowledgement, Data, Half, Setting};
use super::held::Held;
use super::unheard::{Plain, Unheard};
use crate::detectors::{Departed, Detectors, Standing};
use crate::report::Told;
use crate::sender::{Explained, Heard, MODELS, Resent, Strands, UNDECIDED};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::ring::Ring;
use eifel_base::units::Timestamp;
use eifel_recovery::view::Negotiated;

/// ACKs that may be under way to the sender. Beyond this number the oldest counts as received.
const MOST_WAITING: usize = 4096;
/// Without SACK, the number of duplicate ACKs that reports a loss.
const DUPLICATES: u32 = 3;
/// Ranges kept.
const MOST_RANGES: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Replica {
    models: [Strands; MODELS.len()],
    /// Whether all models would ignore an ACK of new data without SACK blocks.
    idle: bool,
    una: u64,
    nxt: u64,
    sacked: Ranges,
    /// The positions that were sent more than once.
    again: Ranges,
    duplicates: u32,
    last_ack: u64,
    last_sent: u64,
    held: Held,
    /// The timestamp that the sender's last segment echoes.
    echo: Option<Timestamp>,
    /// The latest smoothed round trip, in nanoseconds.
    smoothed: Option<u64>,
    /// Whether the last segment that left was a retransmission.
    follows: bool,
    /// Whether the last retransmission was of data reported missing, or followed a repair of them.
    doubted: bool,
    doubts: Doubts,
    timer_since: u64,
    waiting: Ring<Waiting>,
    /// The [`Reports`] of the waiting ACKs that have any, in order.
    reports: VecDeque<Reports>,
    /// The sender's last echo, if it alone shows that the sender has not received the waiting ACKs.
    settled: Option<Timestamp>,
    /// `None` while everything is repaired.
    detectors: Option<Box<Detectors>>,
    /// The detectors' judgements by episode, and the number of the last episode.
    told: BTreeMap<u32, Vec<Told>>,
    episodes: u32,
    /// Whether a retransmission was seen far from the sender.
    told_apart: bool,
}

/// An ACK that the sender has not received. Few ACKs have reports, so these are stored separately.
#[derive(Clone, Copy, Default, Debug)]
struct Waiting {
    /// When the sender receives it, as far as is known, and the earliest time at which it can, in
    /// nanoseconds.
    due: u64,
    soonest: u64,
    when: When,
    cumulative: u64,
    advances: bool,
    plain: bool,
    sack: bool,
    /// Whether it has [`Reports`].
    reports: bool,
    stamp: Option<Timestamp>,
    /// The timestamp that it echoes for the models, and the one for the detectors.
    echo: Option<Timestamp>,
    told: Option<Timestamp>,
}

/// The SACK blocks and the DSACK of an ACK.
#[derive(Clone, Copy, Default, Debug)]
struct Reports {
    sacks: [Block; 4],
    count: usize,
    dsack: Option<Block>,
}

impl Reports {
    fn sacks(&self) -> &[Block] {
        &self.sacks[..self.count]
    }
}

impl Waiting {
    /// Returns the ACK with its reports.
    fn with(&self, reports: Option<Reports>) -> Acknowledgement {
        let &Self { when, cumulative, advances, plain, stamp, echo, .. } = self;
        let Reports { sacks, count, dsack } = reports.unwrap_or_default();
        Acknowledgement { when, cumulative, advances, sacks, count, dsack, echo, stamp, plain }
    }
}

impl Replica {
    /// Returns models of a sender without anything outstanding, at rest.
    pub(super) fn new() -> Self {
        Self {
            models: MODELS.each_ref().map(Strands::new),
            idle: false,
            una: 0,
            nxt: 0,
            sacked: Ranges::default(),
            again: Ranges::default(),
            duplicates: 0,
            last_ack: 0,
            last_sent: 0,
            held: Held::default(),
            echo: None,
            smoothed: None,
            follows: false,
            doubted: false,
            doubts: Doubts::default(),
            timer_since: 0,
            waiting: Ring::default(),
            reports: VecDeque::new(),
            settled: None,
            detectors: None,
            told: BTreeMap::new(),
            episodes: 0,
            told_apart: false,
        }
    }

    /// Starts the replica at a sign of trouble, with the current state of `half`.
    pub(super) fn wake(&mut self, half: &Half, setting: &Setting) {
        let trip = setting.sender().unwrap_or(0);
        let unheard = half.unheard().filter(|unheard| unheard.waiting(setting).next().is_some());
        let heard = unheard.and_then(Unheard::last_heard);
        let before = self.una;
        self.una = heard.map_or(half.una, |heard| heard.cumulative);
        self.nxt = half.nxt;
        self.sacked.remove_below(self.una, |_| {});
        self.again.remove_below(self.una, |_| {});
        let heard_since = Heard {
            now: setting.when.nanos,
            una: self.una,
            nxt: self.nxt,
            advances: self.una > before,
            duplicate: false,
            original_below: None,
            echo: None,
            sacks: [Block { start: 0, end: 0 }; 4],
            dsack: false,
        };
        self.tell_models(&heard_since);
        self.last_ack = half.last_ack + trip;
        self.last_sent = half.last_sent;
        self.smoothed = half.whole_estimate(setting.sender()).map(|(smoothed, _)| smoothed);
        self.held = Held::default();
        for sent in half.out.iter().filter(|sent| !sent.missing) {
            self.held.on_sent(sent.nanos, self.smoothed);
        }
        self.timer_since = half.timer_since + trip;
        (self.follows, self.doubted) = (false, false);
        let standing = Standing {
            now: setting.when.nanos,
            una: self.una,
            round_trip: setting.round_trip(),
            negotiated: Negotiated { mss: half.largest.max(1), sack: setting.sack, timestamps: half.stamped },
            sctp: false,
            before: self.episodes,
        };
        let una = self.una;
        let under_way = half.out.iter().filter(|sent| sent.end() > una).map(|sent| Departed {
            nanos: sent.nanos,
            len: (sent.end() - sent.start.max(una)) as u32,
            stamp: (half.stamped && !sent.missing).then_some(Timestamp(sent.stamp)),
        });
        let passed = unheard.into_iter().flat_map(|unheard| unheard.answered(half, setting));
        self.detectors = Some(Box::new(Detectors::new(&standing, passed.chain(under_way))));
        for (ack, echo) in unheard.iter().flat_map(|unheard| unheard.waiting(setting)) {
            self.on_ack_with(&ack, echo, setting);
        }
        // ACKs that waited before the trouble have no reports.
        match self.waiting.back().map(|last| last.with(None)) {
            None => {
                self.duplicates = half.duplicates;
                self.doubts.begin(half.una, half.duplicates);
            }
            Some(last) => {
                (0..half.duplicates).for_each(|_| self.on_ack(&Acknowledgement { advances: false, ..last }, setting))
            }
        }
        if let Some(heard) = heard {
            let due = heard.nanos + trip;
            (self.last_ack, self.timer_since) = (due, due);
        }
    }

    /// Returns whether all models know that everything is repaired, and no reports are waiting.
    pub(super) fn is_repaired(&self) -> bool {
        self.models.iter().all(Strands::is_open) && self.reports.is_empty()
    }

    /// Puts the replica to rest after everything is repaired, and drops the detectors. Returns the
    /// ACKs that the sender has not received.
    pub(super) fn rest(&mut self) -> Unheard {
        self.forget_detectors();
        let waiting = std::mem::take(&mut self.waiting);
        self.settled = None;
        let trip = waiting.front().map_or(0, |first| first.due - first.when.nanos);
        let plain = |one: &Waiting| {
            let &Waiting { when, cumulative, stamp, told: echo, .. } = one;
            Plain { nanos: when.nanos, cumulative, stamp, echo }
        };
        Unheard::after(self.una, self.last_ack.saturating_sub(trip), waiting.iter().map(plain))
    }

    fn forget_detectors(&mut self) {
        if let Some(detectors) = self.detectors.take() {
            self.told.extend(detectors.told);
        }
    }

    /// Handles a segment of new data.
    #[inline(always)]
    pub(super) fn on_new(&mut self, data: &Data) {
        // The other segments of a train carry the same echo and tell nothing new.
        if self.settled.is_none() || self.settled != data.echo {
            self.hear_until(data.left, data.echo);
        }
        self.on_sent(data.left, data.len);
        self.echo = data.echo;
        if let Some(detectors) = &mut self.detectors {
            detectors.on_new(&Departed { nanos: data.left, len: data.len, stamp: data.stamp });
        }
    }

    /// Handles data that never passed here. They must have left before the data that follow them.
    pub(super) fn on_unseen(&mut self, when: When, len: u32) {
        self.on_sent(when.nanos, len);
        if let Some(detectors) = &mut self.detectors {
            detectors.on_new(&Departed { nanos: when.nanos, len, stamp: None });
        }
    }

    #[inline]
    fn on_sent(&mut self, now: u64, len: u32) {
        if self.una == self.nxt {
            self.timer_since = now;
        }
        self.nxt += u64::from(len);
        self.last_sent = now;
        self.held.on_sent(now, self.smoothed);
        self.follows = false;
    }

    /// Returns the detectors' judgements on an episode.
    pub(super) fn told(&self, episode: u32) -> Vec<Told> {
        self.told.get(&episode).cloned().unwrap_or_default()
    }

    /// Ends the capture. Delivers the ACKs that are still waiting.
    pub(super) fn finish(&mut self) {
        while !self.waiting.is_empty() {
            self.hear_next();
        }
        self.forget_detectors();
    }

    /// Asks each model for the cause of a retransmission. Returns the loss episode that it belongs
    /// to.
    pub(super) fn on_again(&mut self, block: Block, data: &Data, half: &Half, setting: &Setting) -> Option<u32> {
        let now = data.left;
        self.hear_until(now, data.echo);
        self.doubts.on_again(block.start, self.nxt);
        self.doubted = self.doubts.covers(block.start) || self.follows && self.doubted;
        let estimate = half.whole_estimate(setting.sender());
        self.smoothed = estimate.map(|(smoothed, _)| smoothed);
        self.held.on_sent(now, self.smoothed);
        let exact = setting.is_next_to_sender() || half.has_fine_clock();
        let earliest = if exact { now } else { self.held.earliest(now).max(self.last_ack.min(now)) };
        let timer_from = if exact { self.timer_since } else { self.held.earliest_before(self.timer_since) };
        let reported = self.sacked.highest().is_some_and(|highest| highest > block.start);
        let resent = Resent {
            now,
            earliest,
            told_at: half.place(block.start),
            trip: setting.sender().unwrap_or(0),
            start: block.start,
            end: block.end,
            una: self.una,
            nxt: self.nxt,
            last_ack: self.last_ack,
            last_sent: self.last_sent,
            timer_since: self.timer_since,
            timer_from,
            estimate,
            missing: reported || !setting.sack && self.duplicates >= DUPLICATES && block.start <= self.una,
            doubted: self.doubted,
            shown: self.doubts.shows(block.start),
            news: data.echo.zip(self.echo).map(|(echo, before)| before.precedes(echo)),
            sack: setting.sack,
            segments: half.out.len(),
            stamp: data.stamp,
            may_be_unseen: !setting.is_next_to_sender(),
            repeated: self.again.containing(block.start).is_some(),
            reported: self.sacked.containing(block.start).is_some(),
            follows: self.follows,
        };
        self.told_apart |= resent.may_be_unseen;
        let causes = self.models.each_mut().map(|model| model.explain(&resent));
        self.idle = false;
        if self.again.count() < MOST_RANGES {
            self.again.add(block);
        }
        self.last_sent = now;
        self.follows = true;
        self.echo = data.echo;
        let place = self.best_model();
        let detectors = self.detectors.as_mut();
        let episode = detectors.and_then(|detectors| detectors.on_again(now, block, causes[place], data.stamp));
        self.episodes = episode.unwrap_or(self.episodes);
        episode
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, setting: &Setting) {
        self.on_ack_with(ack, ack.echo, setting);
    }

    #[inline(always)]
    fn on_ack_with(&mut self, ack: &Acknowledgement, told: Option<Timestamp>, setting: &Setting) {
        let &Acknowledgement { when, cumulative, advances, sacks, count, dsack, echo, stamp, plain } = ack;
        let (trip, sack) = (setting.sender().unwrap_or(0), setting.sack);
        let due = when.nanos + trip;
        if self.waiting.len() == MOST_WAITING {
            self.hear_next();
        }
        self.settled = None;
        let reports = count > 0 || dsack.is_some();
        if reports {
            self.reports.push_back(Reports { sacks, count, dsack });
        }
        // The shortest round trip that was seen may be a little longer than the shortest one of the
        // path.
        let soonest = due - trip / 16;
        self.waiting.push_back(Waiting {
            due,
            soonest,
            when,
            cumulative,
            advances,
            plain,
            sack,
            reports,
            stamp,
            echo,
            told,
        });
    }

    /// Returns the index of the model with the lowest cost.
    fn best_model(&self) -> usize {
        let cost = |place: &usize| self.models[*place].cost();
        (0..MODELS.len()).min_by(|one, other| cost(one).total_cmp(&cost(other))).unwrap_or(0)
    }

    /// Returns the name of the model with the lowest cost, and its explanations of the
    /// retransmissions in order. If another model explains them nearly as well, its causes are
    /// added.
    pub(super) fn explained(&mut self) -> (&'static str, Vec<Explained>) {
        let best = self.best_model();
        let (name, cost) = (self.models[best].name(), self.models[best].cost());
        let mut explained = self.models[best].explained();
        if !self.told_apart {
            return (name, explained);
        }
        for place in (0..MODELS.len()).filter(|place| *place != best) {
            if self.models[place].cost() - cost < UNDECIDED {
                for (one, other) in explained.iter_mut().zip(self.models[place].explained()) {
                    one.other = one.other.or(Some(other.cause).filter(|cause| *cause != one.cause));
                }
            }
        }
        (name, explained)
    }
}
