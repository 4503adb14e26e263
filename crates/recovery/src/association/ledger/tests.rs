//! Compares the ledger with a naive one, which has a counter and a state for each chunk and scans
//! all of them.

use super::*;

const PATHS: usize = 3;

/// A pseudo-random number generator: SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % bound
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    InFlight,
    Reported,
    Marked,
    /// Abandoned, and not reported.
    Abandoned,
}

#[derive(Clone, Debug)]
struct Entry {
    size: Size,
    last: usize,
    state: State,
    indications: u32,
    abandoned: bool,
    /// Section 7.2.4, step 5.
    ineligible: bool,
}

/// RFC 9260's rules, applied chunk by chunk.
#[derive(Default)]
struct Naive {
    una: u64,
    entries: Vec<Entry>,
}

impl Naive {
    fn flight(&self, path: usize) -> (u64, u64) {
        let there = self.entries.iter().filter(|entry| entry.last == path && entry.state == State::InFlight);
        there.fold((0, 0), |(data, wire), e| (data + u64::from(e.size.data), wire + u64::from(e.size.wire)))
    }

    fn oldest(&self, path: usize) -> Option<u64> {
        let index = self.entries.iter().position(|entry| entry.last == path && entry.state == State::InFlight);
        index.map(|index| self.una + index as u64)
    }

    fn marked(&self) -> Vec<u64> {
        let marked = self.entries.iter().enumerate().filter(|(_, entry)| entry.state == State::Marked);
        marked.map(|(index, _)| self.una + index as u64).collect()
    }

    /// Returns the credit of each path (passed, acknowledged, reported), and the first position
    /// beyond the highest newly acknowledged chunk.
    fn on_sack(&mut self, cumulative: u64, blocks: &[Block]) -> ([(u64, u64, u64); PATHS], u64) {
        let (mut credit, mut newest) = ([(0, 0, 0); PATHS], 0);
        let in_order = blocks.windows(2).all(|pair| pair[0].start < pair[1].start);
        let inside = |position: u64| blocks.iter().any(|block| (block.start..block.end).contains(&position));
        let highest = blocks.iter().map(|block| block.end).max().unwrap_or(u64::MAX);
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let (position, wire) = (self.una + index as u64, u64::from(entry.size.wire));
            let credited = if entry.abandoned { 0 } else { wire };
            if position < cumulative {
                credit[entry.last].0 += credited;
            }
            if (position < cumulative || inside(position)) && entry.state != State::Reported {
                if position < cumulative {
                    credit[entry.last].1 += credited;
                } else {
                    credit[entry.last].2 += credited;
                }
                // The cumulative TSN may have passed an abandoned chunk that did not arrive.
                if !entry.abandoned || position >= cumulative {
                    newest = newest.max(position + 1);
                }
                entry.state = State::Reported;
            } else if position >= cumulative
                && entry.state == State::Reported
                && !inside(position)
                && position < highest
                && in_order
            {
                entry.state = if entry.abandoned { State::Abandoned } else { State::InFlight };
            }
        }
        self.entries.drain(..(cumulative - self.una) as usize);
        self.una = cumulative;
        (credit, newest)
    }

    fn count_misses(&mut self, below: u64) -> Vec<usize> {
        let mut paths = Vec::new();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if self.una + (index as u64) < below {
                entry.indications += 1;
                if entry.indications == 3 {
                    // Whether the chunk was missing or reported, it cannot be fast retransmitted
                    // again.
                    if entry.state == State::InFlight && !entry.ineligible {
                        entry.state = State::Marked;
                        paths.push(entry.last);
                    }
                    entry.ineligible = true;
                }
            }
        }
        paths
    }
}

fn check(ledger: &mut Ledger, naive: &Naive, case: &str) {
    assert_eq!((ledger.una(), ledger.nxt()), (naive.una, naive.una + naive.entries.len() as u64), "{case}");
    for path in 0..PATHS {
        let TotalSize { data, wire } = ledger.under_way[path].size;
        assert_eq!((data, wire), naive.flight(path), "{case}: path {path}");
        assert_eq!(ledger.oldest(PathId(path)), naive.oldest(path), "{case}: path {path}");
        let left = naive
            .entries
            .iter()
            .filter(|entry| entry.last == path && entry.state != State::Reported && !entry.abandoned);
        let outstanding = left.map(|entry| u64::from(entry.size.wire)).sum::<u64>();
        assert_eq!(ledger.outstanding(PathId(path)), outstanding, "{case}: path {path}");
    }
    let ahead = naive.entries.iter().take_while(|entry| entry.abandoned).count() as u64;
    assert_eq!(ledger.peer_ack_point(), naive.una + ahead, "{case}");
    assert_eq!(ledger.has_outstanding(), naive.entries.iter().any(|entry| !entry.abandoned), "{case}");
    let mut marked = Vec::new();
    while let Some(position) = ledger.marked_from(marked.last().map_or(0, |last| last + 1)) {
        marked.push(position);
    }
    assert_eq!(marked, naive.marked(), "{case}");
    assert_eq!(ledger.data_under_way(), (0..PATHS).map(|path| naive.flight(path).0).sum::<u64>());
}

/// Marked chunks are not under way [rfc8540:3.30].
#[test]
fn the_ledger_agrees_with_a_naive_ledger() {
    for seed in 0..2000 {
        let mut dice = Dice(seed);
        let mut ledger = Ledger::new(3, false);
        (0..PATHS).for_each(|_| ledger.add_path());
        let mut naive = Naive::default();
        for step in 0..120 {
            let case = format!("seed {seed}, step {step}");
            let (una, nxt) = (ledger.una(), ledger.nxt());
            match dice.below(11) {
                0..=3 => {
                    for _ in 0..dice.below(8) {
                        let data = 1 + dice.below(1000) as u32;
                        let size = Size { data, wire: 16 + data.next_multiple_of(4) };
                        let last = dice.below(PATHS as u64) as usize;
                        ledger.on_new(Instant::ZERO, PathId(last), size, None);
                        let state = State::InFlight;
                        let (abandoned, ineligible) = (false, false);
                        naive.entries.push(Entry { size, last, state, indications: 0, abandoned, ineligible });
                    }
                }
                4..=6 if nxt > una => {
                    let cumulative = una + dice.below(3).min(nxt - una);
                    let mut blocks = Vec::new();
                    let mut start = cumulative + 1 + dice.below(4);
                    while start < nxt && dice.below(4) > 0 {
                        let end = (start + 1 + dice.below(5)).min(nxt);
                        blocks.push(Block { start, end });
                        start = end + 1 + dice.below(4);
                    }
                    // Blocks out of order report arrivals, but no dropped chunks.
                    if dice.below(6) == 0 {
                        blocks.reverse();
                    }
                    let mut news = [PathNews::default(); PATHS];
                    let taken = ledger.on_sack(cumulative, &blocks, &mut news);
                    let (credit, newest) = naive.on_sack(cumulative, &blocks);
                    assert_eq!((taken.advanced, taken.newest), (cumulative > una, newest), "{case}");
                    for (news, credit) in news.iter().zip(credit) {
                        assert_eq!((news.passed, news.acked, news.sacked), credit, "{case}");
                    }
                    let mut paths = Vec::new();
                    let lost = ledger.count_misses(taken.newest);
                    ledger.mark_lost(lost, |path| paths.push(path.0));
                    assert_eq!(paths, naive.count_misses(taken.newest), "{case}");
                }
                7 => {
                    let path = dice.below(PATHS as u64) as usize;
                    ledger.mark_all(PathId(path));
                    for entry in naive.entries.iter_mut().filter(|entry| entry.last == path) {
                        entry.state = if entry.state == State::InFlight { State::Marked } else { entry.state };
                    }
                }
                8 => {
                    let path = dice.below(PATHS as u64) as usize;
                    ledger.unmark(PathId(path));
                    for entry in naive.entries.iter_mut().filter(|entry| entry.last == path) {
                        entry.state = if entry.state == State::Marked { State::InFlight } else { entry.state };
                    }
                }
                9 => {
                    if let Some(position) = ledger.marked_from(0) {
                        let path = dice.below(PATHS as u64) as usize;
                        ledger.on_retransmission(Instant::ZERO, position, PathId(path));
                        let entry = &mut naive.entries[(position - una) as usize];
                        (entry.last, entry.state) = (path, State::InFlight);
                    }
                }
                _ if nxt > una => {
                    let index = dice.below(nxt - una);
                    ledger.abandon(una + index);
                    let entry = &mut naive.entries[index as usize];
                    entry.abandoned = true;
                    entry.state = if entry.state == State::Reported { State::Reported } else { State::Abandoned };
                }
                _ => {}
            }
            check(&mut ledger, &naive, &case);
        }
    }
}

/// The cost of a SACK depends on its news, not on the outstanding chunks. The test counts chunk
/// lookups, not time (attack s2).
#[test]
fn the_cost_of_a_sack_grows_with_its_news_not_with_the_flight() {
    let lookups = |outstanding: u64, blocks: u64| {
        let mut ledger = Ledger::new(3, false);
        ledger.add_path();
        for _ in 0..outstanding {
            ledger.on_new(Instant::ZERO, PathId(0), Size { data: 4, wire: 20 }, None);
        }
        let blocks: Vec<Block> = (0..blocks).map(|n| Block { start: 2 * n + 1, end: 2 * n + 2 }).collect();
        let mut news = [PathNews::default()];
        [(); 6].map(|()| {
            ledger.lookups.set(0);
            let taken = ledger.on_sack(0, &blocks, &mut news);
            let lost = ledger.count_misses(taken.reported_up_to);
            ledger.mark_lost(lost, |_| {});
            ledger.lookups.get()
        })
    };
    for blocks in [363, 16_376] {
        let few = lookups(2 * blocks + 1, blocks);
        assert_eq!(few, lookups(400_000, blocks), "{blocks} blocks");
        assert!(few[0] >= blocks && few.iter().all(|lookups| *lookups <= 8 * blocks), "{few:?} for {blocks} blocks");
        // A SACK that repeats the last one brings no news.
        assert!(few[4..].iter().all(|lookups| *lookups <= 4), "{few:?} for {blocks} blocks");
    }
}

/// The oldest chunk of a path is found without a scan, however many chunks of another path lie
/// between. Here a peer alternately reports and reneges the lowest chunk, which was retransmitted
/// on the second path.
#[test]
fn finding_a_paths_oldest_chunk_visits_no_chunks_of_other_paths() {
    let lookups = |between: u64| {
        let mut ledger = Ledger::new(3, false);
        (0..2).for_each(|_| ledger.add_path());
        let size = Size { data: 4, wire: 20 };
        (0..between).for_each(|_| _ = ledger.on_new(Instant::ZERO, PathId(0), size, None));
        ledger.on_new(Instant::ZERO, PathId(1), size, None);
        ledger.mark_lost(1..2, |_| {});
        ledger.on_retransmission(Instant::ZERO, 1, PathId(1));
        let mut news = [PathNews::default(); 2];
        [(); 6].map(|()| {
            ledger.lookups.set(0);
            for (reported, oldest) in [(1, between), (2, 1)] {
                ledger.on_sack(0, &[Block { start: reported, end: reported + 1 }], &mut news);
                assert_eq!(ledger.oldest(PathId(1)), Some(oldest));
            }
            ledger.lookups.get()
        })
    };
    assert_eq!(lookups(10), lookups(100_000));
}
