//! The oracle: the simulator's truth about every retransmission.
//!
//! It sees both ends and the network. A retransmission was *needed* when, as it left, some of its data had neither
//! arrived at the receiver nor was on its way there in an earlier copy that arrives in the end; otherwise it was
//! *spurious*. Whether an earlier copy arrives is often known only later, so some judgements are open for a while.
//!
//! What is neither lost nor repeated costs one comparison at its arrival; everything else is rare.

use crate::slab::End;
use eifel_base::ranges::Ranges;
use eifel_recovery::fact::Block;
use std::collections::BTreeMap;

/// One transmission, as far as the oracle cares.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its number at its sender, growing from transmission to transmission.
    pub transmission: u64,
    /// First position that it carries.
    pub start: u64,
    /// First position beyond.
    pub end: u64,
    /// How the oracle treats it.
    pub role: Role,
}

/// What a transmission is to the oracle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Carries its positions for the first time.
    Original,
    /// Repeats positions, and is judged.
    Retransmission,
    /// Repeats positions to probe a window that the receiver has closed: a copy on its way like any other, which later
    /// retransmissions may lean on, but no retransmission that could be needless.
    Probe,
}

impl Sent {
    fn block(&self) -> Block {
        Block { start: self.start, end: self.end }
    }
}

/// A judgement that is final.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settled {
    /// Index of the flow.
    pub flow: u32,
    /// The end that sent the retransmission.
    pub sender: End,
    /// The number of the transmission at that sender.
    pub transmission: u64,
    /// Whether it was needed.
    pub needed: bool,
}

/// A retransmission whose fate or judgement is open.
#[derive(Clone)]
struct Retransmitted {
    end: u64,
    under_way: bool,
    /// What had not arrived when it left, and has not arrived since in an earlier copy; `None` when it is judged.
    missing: Option<Ranges>,
}

/// What one end of a flow has sent, seen from above.
#[derive(Clone, Default)]
struct Direction {
    /// Everything below has arrived.
    arrived: u64,
    /// What has arrived beyond.
    beyond: Ranges,
    /// What was lost when it was sent first.
    lost: Ranges,
    /// By first position and transmission.
    retransmitted: BTreeMap<(u64, u64), Retransmitted>,
    /// The most positions that a retransmission carried.
    longest: u64,
}

/// The oracle of a whole run.
#[derive(Clone, Default)]
pub struct Oracle {
    directions: Vec<Direction>,
    settled: Vec<Settled>,
}

impl Oracle {
    /// An oracle for so many flows, each with two ends that may send.
    pub fn new(flows: usize) -> Self {
        Self { directions: (0..2 * flows).map(|_| Direction::default()).collect(), settled: Vec::new() }
    }

    /// The stream of this end begins at `position`: nothing before it is ever sent.
    pub fn begin(&mut self, flow: u32, sender: End, position: u64) {
        self.directions[2 * flow as usize + sender.index()].arrived = position;
    }

    /// A transmission leaves its sender.
    #[inline]
    pub fn left(&mut self, flow: u32, sender: End, sent: Sent) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        if sent.role != Role::Original {
            let judged = direction.retransmit(sent);
            self.settled.extend(judged.map(|needed| Settled { flow, sender, transmission: sent.transmission, needed }));
        } else if !direction.lost.is_empty() {
            // A probe that the receiver refused is sent again as new data.
            direction.lost.remove(sent.block());
        }
    }

    /// A transmission arrives for the first time; the receiver takes what lies before `accepted`. The answer is the
    /// number of positions that had not arrived before, and whether the first of them was the next in order.
    pub fn arrived(&mut self, flow: u32, sender: End, sent: Sent, accepted: u64) -> (u32, bool) {
        if sent.end <= accepted && self.arrived_in_order(flow, sender, sent.start, sent.end) {
            return ((sent.end - sent.start) as u32, true);
        }
        self.arrived_after_all(flow, sender, sent, accepted)
    }

    /// A SYN arrives outside of its sender's course: in the answer to the SYN of a peer that has called at the same time. It
    /// is no transmission that could be judged, but position 0 has arrived.
    #[cold]
    pub fn syn_arrived(&mut self, flow: u32, sender: End) {
        let syn = Sent { transmission: 0, start: 0, end: 1, role: Role::Original };
        self.directions[2 * flow as usize + sender.index()].note_arrival(syn);
    }

    /// Whether positions `start..end` that arrive for the first time, and are taken, are the next, and nothing else follows
    /// from it; otherwise nothing is noted.
    #[inline]
    pub fn arrived_in_order(&mut self, flow: u32, sender: End, start: u64, end: u64) -> bool {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        let plain = start == direction.arrived
            && end > start
            && direction.beyond.is_empty()
            && direction.retransmitted.is_empty();
        if plain {
            direction.arrived = end;
        }
        plain
    }

    /// Whether everything below `position` has arrived.
    pub fn has_all_below(&self, flow: u32, sender: End, position: u64) -> bool {
        self.directions[2 * flow as usize + sender.index()].arrived >= position
    }

    /// Whether something that left is known to be lost.
    #[inline]
    pub fn knows_losses(&self, flow: u32, sender: End) -> bool {
        !self.directions[2 * flow as usize + sender.index()].lost.is_empty()
    }

    /// The same where something was lost or sent again, or is refused.
    #[inline(never)]
    fn arrived_after_all(&mut self, flow: u32, sender: End, sent: Sent, accepted: u64) -> (u32, bool) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        if sent.end > accepted {
            self.refused(flow, sender, sent, accepted);
            return (0, false);
        }
        let news = direction.note_arrival(sent);
        if !direction.retransmitted.is_empty() {
            direction.settle_arrival(sent, |transmission, needed| {
                self.settled.push(Settled { flow, sender, transmission, needed });
            });
        }
        news
    }

    /// A further copy of a transmission arrives, that the network has made: it counts where there was no room for the first.
    #[cold]
    pub fn arrived_again(&mut self, flow: u32, sender: End, sent: Sent, accepted: u64) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        if sent.end <= accepted && direction.note_arrival(sent).0 > 0 {
            direction.lost.remove(sent.block());
            direction.settle_arrival(sent, |transmission, needed| {
                self.settled.push(Settled { flow, sender, transmission, needed });
            });
        }
    }

    /// The last copy of a transmission is lost, and none has arrived.
    pub fn lost(&mut self, flow: u32, sender: End, sent: Sent) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        direction.settle_loss(sent, |transmission, needed| {
            self.settled.push(Settled { flow, sender, transmission, needed });
        });
    }

    /// The receiver has no room for (all of) what arrives: it is as good as lost.
    #[cold]
    fn refused(&mut self, flow: u32, sender: End, sent: Sent, accepted: u64) {
        if accepted > sent.start {
            let direction = &mut self.directions[2 * flow as usize + sender.index()];
            direction.note_arrival(Sent { end: accepted, ..sent });
        }
        self.lost(flow, sender, sent);
    }

    /// Whether judgements wait to be taken.
    #[inline]
    pub fn has_settled(&self) -> bool {
        !self.settled.is_empty()
    }

    /// The judgements since the last call, in the order in which they became final.
    pub fn take_settled(&mut self) -> Vec<Settled> {
        std::mem::take(&mut self.settled)
    }

    /// The run is over: a copy that is still on its way counts as one that arrives.
    pub fn finish(&mut self) {
        for (index, direction) in self.directions.iter_mut().enumerate() {
            let (flow, sender) = ((index / 2) as u32, if index % 2 == 0 { End::From } else { End::To });
            for (&(_, transmission), open) in &mut direction.retransmitted {
                if open.missing.take().is_some() {
                    self.settled.push(Settled { flow, sender, transmission, needed: false });
                }
            }
        }
    }
}

impl Direction {
    /// Notes that a copy leaves. Returns the judgement on a retransmission where it can be given at once.
    fn retransmit(&mut self, sent: Sent) -> Option<bool> {
        self.longest = self.longest.max(sent.end - sent.start);
        let mut missing = Ranges::default();
        missing.add(Block { start: sent.start.max(self.arrived), end: sent.end });
        for arrived in self.beyond.within(sent.block()) {
            missing.remove(arrived);
        }
        let judged = if sent.role == Role::Probe {
            None
        } else if missing.is_empty() {
            Some(false)
        } else if !self.on_its_way(&missing, sent.transmission) {
            Some(true)
        } else {
            None
        };
        let missing = (judged.is_none() && sent.role == Role::Retransmission).then_some(missing);
        self.retransmitted
            .insert((sent.start, sent.transmission), Retransmitted { end: sent.end, under_way: true, missing });
        judged
    }

    /// Whether all of `missing` is on its way in copies sent before `transmission`.
    fn on_its_way(&self, missing: &Ranges, transmission: u64) -> bool {
        missing.ascending().all(|part| {
            let mut uncovered = Ranges::default();
            for lost in self.lost.within(part) {
                uncovered.add(lost);
            }
            if uncovered.is_empty() {
                return true;
            }
            for (&(left, number), open) in self.overlapping(part.start, part.end) {
                if number < transmission && open.under_way {
                    uncovered.remove(Block { start: left, end: open.end });
                }
            }
            uncovered.is_empty()
        })
    }

    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (&(u64, u64), &Retransmitted)> {
        self.retransmitted
            .range((start.saturating_sub(self.longest), 0)..(end, 0))
            .filter(move |(_, open)| open.end > start)
    }

    fn note_arrival(&mut self, sent: Sent) -> (u32, bool) {
        let start = sent.start.max(self.arrived);
        let end = sent.end.max(start);
        let had = self.beyond.covered(start, end);
        let new = (end - start - had) as u32;
        if sent.start <= self.arrived {
            self.arrived = self.beyond.absorb(end);
            (new, new > 0)
        } else {
            self.beyond.add(Block { start, end });
            (new, false)
        }
    }

    /// A copy arrived: later copies of it may turn out spurious.
    fn settle_arrival(&mut self, sent: Sent, mut settle: impl FnMut(u64, bool)) {
        let from = (sent.start.saturating_sub(self.longest), 0);
        for (&(_, number), open) in self.retransmitted.range_mut(from..(sent.end, 0)) {
            if number == sent.transmission {
                open.under_way = false;
            } else if number > sent.transmission
                && let Some(missing) = &mut open.missing
            {
                missing.remove(sent.block());
                if missing.is_empty() {
                    open.missing = None;
                    settle(number, false);
                }
            }
        }
        self.forget(sent);
    }

    /// A copy is lost: later copies of it may turn out needed.
    fn settle_loss(&mut self, sent: Sent, mut settle: impl FnMut(u64, bool)) {
        if sent.role == Role::Original {
            self.lost.add(sent.block());
        } else if let Some(own) = self.retransmitted.get_mut(&(sent.start, sent.transmission)) {
            own.under_way = false;
        }
        let open: Vec<(u64, u64)> = self.overlapping(sent.start, sent.end).map(|(&key, _)| key).collect();
        for key in open {
            let needed = key.1 > sent.transmission
                && self.retransmitted[&key].missing.as_ref().is_some_and(|missing| !self.on_its_way(missing, key.1));
            if needed && let Some(open) = self.retransmitted.get_mut(&key) {
                open.missing = None;
                settle(key.1, true);
            }
        }
        self.forget(sent);
    }

    /// Drops what no judgement can depend on any more.
    fn forget(&mut self, sent: Sent) {
        let from = (sent.start.saturating_sub(self.longest), 0);
        let over: Vec<(u64, u64)> = self
            .retransmitted
            .range(from..(sent.end, 0))
            .filter(|(_, open)| !open.under_way && open.missing.is_none())
            .map(|(&key, _)| key)
            .collect();
        for key in over {
            self.retransmitted.remove(&key);
        }
        let oldest = self.retransmitted.first_key_value().map_or(u64::MAX, |(&(start, _), _)| start);
        self.lost.remove_below(self.arrived.min(oldest), |_| {});
    }
}

#[cfg(test)]
mod tests;
