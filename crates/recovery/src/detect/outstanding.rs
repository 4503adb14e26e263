//! The outstanding data as the composite detection sees it: which segments were retransmitted,
//! which retransmissions are in flight, and what SACK has reported.

use std::collections::{BTreeMap, BTreeSet};

use crate::fact::{Acked, Block};
use crate::view::View;
use eifel_base::ranges::Ranges;

/// Outstanding segments that were retransmitted, and outstanding data that was reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    /// Segments that were ever retransmitted: the first position of each, and the end.
    resent: BTreeMap<u64, u64>,
    /// The first positions of those with a retransmission in flight that is no tail loss probe.
    in_flight: BTreeSet<u64>,
    /// Those of them that SACK had reported before, until the next ACK.
    needless: Vec<Block>,
    /// Length of the longest segment that was retransmitted.
    longest: u64,
    /// Data that SACK has reported, also before a timeout.
    reported: Ranges,
}

impl Outstanding {
    /// Records a retransmission. A tail loss probe does not count as in flight.
    pub(super) fn on_retransmission(&mut self, positions: Block, in_flight: bool) {
        let Block { start, end } = positions;
        let known = self.resent.entry(start).or_insert(end);
        *known = end.max(*known);
        self.longest = self.longest.max(*known - start);
        if in_flight {
            self.in_flight.insert(start);
            self.needless.extend(Some(positions).filter(|_| self.reported.covers(positions)));
        }
    }

    /// Returns the number of retransmissions in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.len() as u32
    }

    /// Records a timeout: nothing counts as in flight any more.
    pub(super) fn deem_lost(&mut self) {
        self.in_flight.clear();
    }

    /// Returns whether the segment at `una` was retransmitted.
    pub(super) fn is_oldest_resent(&self, una: u64) -> bool {
        self.resent.first_key_value().is_some_and(|(&start, _)| start <= una)
    }

    /// Returns the number of retransmitted segments inside `block`.
    pub(super) fn resent_within(&self, block: Block) -> u64 {
        let inside = self.resent.range(block.start..block.end);
        inside.filter(|(_, end)| **end <= block.end).count() as u64
    }

    /// Forgets what is below `una`.
    pub(super) fn prune(&mut self, una: u64) {
        self.reported.remove_below(una, |_| ());
        while let Some(first) = self.resent.first_entry()
            && *first.key() < una
        {
            let (start, end) = first.remove_entry();
            let flies = self.in_flight.remove(&start);
            if end <= una {
                continue;
            }
            // The ACK covers a part of the segment. SACK may have reported the rest.
            let rest = self.resent.entry(una).or_insert(end);
            *rest = end.max(*rest);
            let (landed, flies) = (Block { start: una, end: *rest }, flies || self.in_flight.contains(&una));
            if flies && !self.reported.covers(landed) {
                self.in_flight.insert(una);
            } else {
                self.in_flight.remove(&una);
            }
        }
    }

    /// Records what the ACK delivers; `before` is `una` before it. Returns whether something of it
    /// had left only once, and below `high_seq`.
    pub(super) fn note_delivered(&mut self, acked: &Acked, before: u64, high_seq: u64, view: &View) -> bool {
        let (mut original, resent) = (false, &self.resent);
        let mut judge = |gap: Block| original |= left_once(resent, gap.start, gap.end.min(high_seq));
        if before < acked.cumulative {
            self.reported.insert(Block { start: before, end: acked.cumulative }, &mut judge);
        }
        if acked.sacked > 0 && view.sack {
            for &block in acked.sacks.iter().filter(|block| block.start < block.end && block.end <= view.nxt) {
                self.reported.insert(block, &mut judge);
            }
        }
        if !view.sack && resent.range(..acked.cumulative).next().is_some() {
            // Without SACK, the retransmission may have filled the only hole.
            original = false;
        }
        let advanced = Block { start: before, end: acked.cumulative };
        let sacks = acked.sacks.iter().filter(|_| acked.sacked > 0 && view.sack);
        sacks.chain([&advanced]).for_each(|block| self.land(*block));
        while let Some(block) = self.needless.pop() {
            self.land(block);
        }
        original
    }

    /// Takes retransmissions that overlap `block` out of those in flight, if all of them is reported.
    fn land(&mut self, block: Block) {
        let near = self.in_flight.range(block.start.saturating_sub(self.longest)..block.end.max(block.start));
        let landed = near.filter(|start| {
            self.resent.get(start).is_none_or(|end| self.reported.covers(Block { start: **start, end: *end }))
        });
        let landed: Vec<u64> = landed.copied().collect();
        for start in landed {
            self.in_flight.remove(&start);
        }
    }
}

/// Returns whether some of `start..end` is in no retransmitted segment.
fn left_once(resent: &BTreeMap<u64, u64>, mut start: u64, end: u64) -> bool {
    let below = resent.range(..=start).next_back();
    if let Some((_, end)) = below {
        start = start.max(*end);
    }
    while start < end {
        match resent.get(&start) {
            Some(end) if *end > start => start = *end,
            _ => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RoundTrips;
    use eifel_base::time::{Duration, Instant};
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// The same by the plain rule: after each ACK, every retransmission is looked at.
    #[derive(Default)]
    struct Naive {
        resent: BTreeMap<u64, (u64, bool)>,
        reported: Ranges,
    }

    impl Naive {
        fn on_retransmission(&mut self, Block { start, end }: Block, in_flight: bool) {
            let known = self.resent.entry(start).or_insert((end, in_flight));
            *known = (end.max(known.0), known.1 || in_flight);
        }

        fn on_ack(&mut self, before: u64, acked: &Acked) {
            if before < acked.cumulative {
                self.reported.insert(Block { start: before, end: acked.cumulative }, |_| ());
            }
            acked.sacks.iter().for_each(|block| self.reported.insert(*block, |_| ()));
            self.land();
            let una = acked.cumulative;
            self.reported.remove_below(una, |_| ());
            for (start, (end, in_flight)) in std::mem::take(&mut self.resent) {
                if end > una {
                    self.on_retransmission(Block { start: start.max(una), end }, in_flight);
                }
            }
            self.land();
        }

        fn land(&mut self) {
            for (start, (end, in_flight)) in &mut self.resent {
                *in_flight &= !self.reported.covers(Block { start: *start, end: *end });
            }
        }

        fn in_flight(&self) -> u32 {
            self.resent.values().filter(|(_, in_flight)| *in_flight).count() as u32
        }
    }

    const NXT: u64 = 60;

    fn block() -> impl Strategy<Value = Block> {
        (0..NXT, 1..9_u64).prop_map(|(start, len)| Block { start, end: (start + len).min(NXT) })
    }

    #[derive(Clone, Debug)]
    enum Step {
        Retransmission(Block, bool),
        Ack(u64, Vec<Block>),
        Timeout,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (block(), any::<bool>()).prop_map(|(block, flies)| Step::Retransmission(block, flies)),
            4 => (0..4_u64, vec(block(), 0..4)).prop_map(|(more, sacks)| Step::Ack(more, sacks)),
            1 => Just(Step::Timeout),
        ]
    }

    fn acked(cumulative: u64, bytes: u64, sacks: &[Block]) -> Acked<'_> {
        Acked { cumulative, bytes, sacked: sacks.len() as u64, duplicate: bytes == 0, sacks, ..Acked::default() }
    }

    #[test]
    fn the_rest_of_a_segment_that_sack_has_reported_is_not_in_flight() {
        let round_trips = RoundTrips::new(false);
        let view = |una| View { now: Instant::ZERO, una, nxt: NXT, mss: 1, sack: true, round_trips };
        let mut tracked = Outstanding::default();
        tracked.on_retransmission(Block { start: 10, end: 16 }, true);
        tracked.on_retransmission(Block { start: 12, end: 20 }, true);
        let sacks = [Block { start: 15, end: 20 }];
        tracked.note_delivered(&acked(10, 0, &sacks), 10, NXT, &view(10));
        assert_eq!(tracked.in_flight(), 2);
        tracked.note_delivered(&acked(14, 4, &sacks), 10, NXT, &view(14));
        tracked.prune(14);
        assert_eq!((tracked.in_flight(), &tracked.resent), (1, &BTreeMap::from([(14, 20)])));
        tracked.note_delivered(&acked(15, 1, &sacks), 14, NXT, &view(15));
        tracked.prune(15);
        assert_eq!((tracked.in_flight(), &tracked.resent), (0, &BTreeMap::from([(15, 20)])));
    }

    proptest! {
        #[test]
        fn what_is_in_flight_is_what_a_look_at_each_retransmission_counts(steps in vec(step(), 1..60)) {
            let round_trips = RoundTrips::new(false);
            let (mut una, mut tracked, mut naive) = (0, Outstanding::default(), Naive::default());
            for step in steps {
                match step {
                    Step::Retransmission(Block { start, end }, flies) if end > una => {
                        let positions = Block { start: start.max(una), end };
                        tracked.on_retransmission(positions, flies);
                        naive.on_retransmission(positions, flies);
                    }
                    Step::Retransmission(..) => {}
                    Step::Ack(more, sacks) => {
                        let (before, now) = (una, Instant::ZERO + Duration::from_secs(1));
                        una = (una + more).min(NXT);
                        let sacks: Vec<Block> = sacks.into_iter().filter(|block| block.start > una).collect();
                        let view = View { now, una, nxt: NXT, mss: 1, sack: true, round_trips };
                        let acked = acked(una, una - before, &sacks);
                        tracked.note_delivered(&acked, before, NXT, &view);
                        tracked.prune(una);
                        naive.on_ack(before, &acked);
                    }
                    Step::Timeout => {
                        tracked.deem_lost();
                        naive.resent.values_mut().for_each(|(_, in_flight)| *in_flight = false);
                    }
                }
                prop_assert_eq!(tracked.in_flight(), naive.in_flight());
                let starts: Vec<_> = naive.resent.iter().map(|(start, (end, _))| (*start, *end)).collect();
                prop_assert_eq!(tracked.resent.clone().into_iter().collect::<Vec<_>>(), starts);
            }
        }
    }
}
