//! The oracle: the simulator's truth about every retransmission.
//!
//! It sees both ends and the network. A retransmission is *needed* if, when it leaves, some of its
//! data has neither arrived nor is on its way in an earlier copy that will arrive. Otherwise it is
//! *spurious*. The arrival of an earlier copy is often known only later, so some judgements stay
//! open for a while.
//!
//! Data that arrives in order, with no loss or retransmission open, takes only a few comparisons.
//! Everything else is rare.

use crate::end::End;
use eifel_base::ranges::Ranges;
use eifel_recovery::fact::Block;
use std::collections::BTreeMap;

/// A transmission, reduced to the facts that the oracle needs.
#[derive(Clone, Copy, Debug)]
pub struct SentData {
    /// Its number at its sender. Numbers increase in the order of sending.
    pub transmission: u64,
    pub start: u64,
    /// The first position after its data.
    pub end: u64,
    pub role: Role,
}

/// How the oracle treats a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Carries its positions for the first time.
    Original,
    /// Repeats positions, and is judged.
    Retransmission,
    /// Repeats positions to probe a closed window. It counts as a copy under way for later
    /// retransmissions, but is not judged itself.
    Probe,
}

impl SentData {
    fn block(&self) -> Block {
        Block { start: self.start, end: self.end }
    }
}

/// The final judgement on a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JudgedRetransmission {
    pub flow: u32,
    /// The end that sent the retransmission.
    pub sender: End,
    /// Its number at that sender.
    pub transmission: u64,
    pub needed: bool,
}

/// A retransmission whose fate or judgement is open.
#[derive(Clone)]
struct Retransmitted {
    end: u64,
    under_way: bool,
    /// Ranges that had not arrived when it left, and have not arrived in an earlier copy since.
    /// `None` once it is judged.
    missing: Option<Ranges>,
}

/// The transmissions of one end of a flow, and their fates.
#[derive(Clone, Default)]
struct Direction {
    /// First position that has not arrived.
    arrived: u64,
    /// Ranges above `arrived` that have arrived.
    beyond: Ranges,
    /// Ranges whose original was lost.
    lost: Ranges,
    /// Retransmissions and probes, keyed by first position and transmission.
    retransmitted: BTreeMap<(u64, u64), Retransmitted>,
    /// The most positions that a retransmission or probe carried.
    longest: u64,
}

#[derive(Clone, Default)]
pub struct Oracle {
    directions: Vec<Direction>,
    judged: Vec<JudgedRetransmission>,
}

impl Oracle {
    /// Creates an oracle for `flows` flows, each with two ends that may send.
    pub fn new(flows: usize) -> Self {
        Self { directions: (0..2 * flows).map(|_| Direction::default()).collect(), judged: Vec::new() }
    }

    /// Sets the first position of this end's stream. No earlier position is ever sent.
    pub fn begin(&mut self, flow: u32, sender: End, position: u64) {
        self.directions[2 * flow as usize + sender.index()].arrived = position;
    }

    /// Notes that a transmission leaves its sender.
    #[inline]
    pub fn on_sent(&mut self, flow: u32, sender: End, sent: SentData) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        if sent.role != Role::Original {
            let judged = direction.retransmit(sent);
            self.judged.extend(judged.map(|needed| JudgedRetransmission {
                flow,
                sender,
                transmission: sent.transmission,
                needed,
            }));
        } else if !direction.lost.is_empty() {
            // The receiver refused this data in a probe, and the sender sends it again as new data.
            direction.lost.remove(sent.block());
        }
    }

    /// Notes the first arrival of a transmission. The receiver accepts positions below `accepted`.
    /// Returns the number of new positions, and whether the first of them was the next in order.
    pub fn arrived(&mut self, flow: u32, sender: End, sent: SentData, accepted: u64) -> (u32, bool) {
        if sent.end <= accepted && self.arrived_in_order(flow, sender, sent.start, sent.end) {
            return ((sent.end - sent.start) as u32, true);
        }
        self.arrived_after_all(flow, sender, sent, accepted)
    }

    /// Notes that a SYN arrived in the answer to a simultaneous open. That answer is not a
    /// transmission to judge, but position 0 has arrived.
    #[cold]
    pub fn syn_arrived(&mut self, flow: u32, sender: End) {
        let syn = SentData { transmission: 0, start: 0, end: 1, role: Role::Original };
        self.directions[2 * flow as usize + sender.index()].note_arrival(syn);
    }

    /// Notes the first arrival of `start..end`, if these are the next positions in order and the
    /// arrival has no other effect. Otherwise returns false and notes nothing.
    #[inline(always)]
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

    /// Returns whether everything below `position` has arrived.
    pub fn has_all_below(&self, flow: u32, sender: End, position: u64) -> bool {
        self.directions[2 * flow as usize + sender.index()].arrived >= position
    }

    /// Returns whether the loss of an original is known and can still matter.
    #[inline]
    pub fn knows_losses(&self, flow: u32, sender: End) -> bool {
        !self.directions[2 * flow as usize + sender.index()].lost.is_empty()
    }

    /// Notes a first arrival when data was lost, retransmitted or refused.
    #[inline(never)]
    fn arrived_after_all(&mut self, flow: u32, sender: End, sent: SentData, accepted: u64) -> (u32, bool) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        if sent.end > accepted {
            self.refused(flow, sender, sent, accepted);
            return (0, false);
        }
        let news = direction.note_arrival(sent);
        if !direction.retransmitted.is_empty() {
            direction.settle_arrival(sent, |transmission, needed| {
                self.judged.push(JudgedRetransmission { flow, sender, transmission, needed });
            });
        }
        news
    }

    /// Notes the arrival of a duplicate that the network made. It counts if the receiver had no
    /// room for the first copy.
    #[cold]
    pub fn arrived_again(&mut self, flow: u32, sender: End, sent: SentData, accepted: u64) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        if sent.end <= accepted && direction.note_arrival(sent).0 > 0 {
            direction.lost.remove(sent.block());
            direction.settle_arrival(sent, |transmission, needed| {
                self.judged.push(JudgedRetransmission { flow, sender, transmission, needed });
            });
        }
    }

    /// Notes that a transmission is lost: no copy has arrived, and none will.
    pub fn lost(&mut self, flow: u32, sender: End, sent: SentData) {
        let direction = &mut self.directions[2 * flow as usize + sender.index()];
        direction.settle_loss(sent, |transmission, needed| {
            self.judged.push(JudgedRetransmission { flow, sender, transmission, needed });
        });
    }

    /// Notes that the receiver has no room for part of an arrival. That part counts as lost.
    #[cold]
    fn refused(&mut self, flow: u32, sender: End, sent: SentData, accepted: u64) {
        if accepted > sent.start {
            let direction = &mut self.directions[2 * flow as usize + sender.index()];
            direction.note_arrival(SentData { end: accepted, ..sent });
        }
        self.lost(flow, sender, sent);
    }

    /// Returns whether there are judgements to [take](Self::take_judged).
    #[inline]
    pub fn has_judged(&self) -> bool {
        !self.judged.is_empty()
    }

    /// Takes the judgements that became final since the last call, in that order.
    pub fn take_judged(&mut self) -> Vec<JudgedRetransmission> {
        std::mem::take(&mut self.judged)
    }

    /// Closes open judgements at the end of the run. A copy still on its way counts as arriving.
    pub fn finish(&mut self) {
        for (index, direction) in self.directions.iter_mut().enumerate() {
            let (flow, sender) = ((index / 2) as u32, if index % 2 == 0 { End::From } else { End::To });
            for (&(_, transmission), open) in &mut direction.retransmitted {
                if open.missing.take().is_some() {
                    self.judged.push(JudgedRetransmission { flow, sender, transmission, needed: false });
                }
            }
        }
    }
}

impl Direction {
    /// Notes that a retransmission or probe leaves. Returns whether a retransmission is needed;
    /// `None` if that is still open, and for a probe.
    fn retransmit(&mut self, sent: SentData) -> Option<bool> {
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

    /// Returns whether copies sent before `transmission` carry all of `missing` and are on their
    /// way.
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

    fn note_arrival(&mut self, sent: SentData) -> (u32, bool) {
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

    /// Settles the judgements that the arrival of a copy decides: later copies may be spurious.
    fn settle_arrival(&mut self, sent: SentData, mut settle: impl FnMut(u64, bool)) {
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

    /// Settles the judgements that the loss of a copy decides: later copies may be needed.
    fn settle_loss(&mut self, sent: SentData, mut settle: impl FnMut(u64, bool)) {
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

    /// Drops state that no judgement can depend on any more.
    fn forget(&mut self, sent: SentData) {
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
