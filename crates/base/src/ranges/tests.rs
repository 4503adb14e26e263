//! Compares ranges with naive sets of positions.

use super::*;
use proptest::prelude::*;

fn block(start: u64, end: u64) -> Block {
    Block { start, end }
}

fn insert(ranges: &mut Ranges, start: u64, end: u64) -> Vec<Block> {
    let mut gaps = Vec::new();
    ranges.insert(block(start, end), |gap| gaps.push(gap));
    gaps
}

#[test]
fn insert_reports_only_new_parts() {
    let mut ranges = Ranges::default();
    assert_eq!(insert(&mut ranges, 10, 20), [block(10, 20)]);
    assert_eq!(insert(&mut ranges, 30, 40), [block(30, 40)]);
    assert_eq!(insert(&mut ranges, 12, 18), []);
    assert_eq!(insert(&mut ranges, 5, 45), [block(5, 10), block(20, 30), block(40, 45)]);
    assert_eq!(ranges.from(0).collect::<Vec<_>>(), [block(5, 45)]);
}

#[test]
fn neighbours_merge() {
    let mut ranges = Ranges::default();
    insert(&mut ranges, 10, 20);
    assert_eq!(insert(&mut ranges, 20, 30), [block(20, 30)]);
    assert_eq!(insert(&mut ranges, 0, 10), [block(0, 10)]);
    assert_eq!(ranges.count(), 1);
}

#[test]
fn a_removal_at_a_ranges_end_leaves_no_empty_range() {
    let mut ranges = Ranges::default();
    insert(&mut ranges, 10, 20);
    insert(&mut ranges, 30, 40);
    assert_eq!(insert(&mut ranges, 12, 20), []);
    assert_eq!(insert(&mut ranges, 15, 40), [block(20, 30)]);
    insert(&mut ranges, 50, 60);
    assert_eq!(insert(&mut ranges, 10, 55), [block(40, 50)]);
    assert_eq!(ranges.ascending().collect::<Vec<_>>(), [block(10, 60)]);
}

#[test]
fn a_range_ends_before_its_end() {
    let mut ranges = Ranges::default();
    assert!(ranges.is_empty());
    insert(&mut ranges, 10, 20);
    assert!(!ranges.is_empty());
    assert_eq!([9, 10, 19, 20].map(|at| ranges.containing(at).is_some()), [false, true, true, false]);
    assert_eq!(
        [(9, 20), (10, 20), (12, 21), (20, 21)].map(|(a, b)| ranges.covers(block(a, b))),
        [false, true, false, false]
    );
}

#[test]
fn counts_and_removal_cut_through_ranges() {
    let mut ranges = Ranges::default();
    insert(&mut ranges, 10, 20);
    insert(&mut ranges, 30, 40);
    assert_eq!(ranges.covered(0, 100), 20);
    assert_eq!(ranges.covered(15, 35), 10);
    assert_eq!(ranges.covered(20, 30), 0);
    assert_eq!(ranges.covered(12, 12), 0);
    let mut gone = Vec::new();
    ranges.remove_below(35, |part| gone.push(part));
    assert_eq!(gone, [block(10, 20), block(30, 35)]);
    assert_eq!(ranges.from(0).collect::<Vec<_>>(), [block(35, 40)]);
}

#[test]
fn ranges_far_apart_share_a_set_with_ranges_close_together() {
    let mut ranges = Ranges::default();
    insert(&mut ranges, 1 << 40, (1 << 40) + 5);
    insert(&mut ranges, 7, 9);
    insert(&mut ranges, 1 << 50, u64::MAX);
    assert_eq!(insert(&mut ranges, 9, 1 << 40), [block(9, 1 << 40)]);
    assert_eq!(ranges.ascending().collect::<Vec<_>>(), [block(7, (1 << 40) + 5), block(1 << 50, u64::MAX)]);
    assert_eq!([6, 7, 1 << 45, 1 << 50].map(|at| ranges.containing(at).is_some()), [false, true, false, true]);
}

#[test]
fn descending_order_fills_chunks_behind_a_full_one() {
    let mut ranges = Ranges::default();
    (0..sorted::CHUNK as u64).for_each(|at| ranges.add(block(2 * at, 2 * at + 1)));
    let kept = 100 * sorted::CHUNK as u64;
    (0..kept).rev().for_each(|at| ranges.add(block(1000 + 2 * at, 1001 + 2 * at)));
    ranges.sorted.check();
    assert_eq!(ranges.count() as u64, kept + sorted::CHUNK as u64);
    assert_eq!(ranges.covered(0, u64::MAX), ranges.count() as u64);
}

proptest! {
    /// Each position stands for a number of positions; with a large number, ranges lie far apart.
    #[test]
    fn ranges_agree_with_one_flag_for_each_position(
        steps in prop::collection::vec((0u8..9, 0u64..200, 0u64..12), 1..200),
        scale in prop::sample::select(vec![1, 1 << 30]),
    ) {
        let mut ranges = Ranges::default();
        let mut flags = [false; 220];
        let held = |ranges: &Ranges| ranges.ascending().collect::<Vec<_>>();
        let positions = |blocks: &[Block]| {
            blocks.iter().flat_map(|b| (b.start..b.end).step_by(scale as usize)).map(|at| at / scale).collect::<Vec<_>>()
        };
        for (action, start, length) in steps {
            // Mostly a single position, so that ranges are many.
            let length = if action > 5 { 1 } else { length };
            let asked = block(start * scale, (start + length) * scale);
            let places = start as usize..(start + length) as usize;
            match action {
                0 | 6.. => ranges.add(asked),
                1 if length > 0 => ranges.insert(asked, |gap| {
                    for at in positions(&[gap]) {
                        assert!(!flags[at as usize], "{at} was there");
                    }
                }),
                2 => ranges.remove(asked),
                3 if start < 40 => ranges.remove_below(asked.start, |gone| {
                    assert!(gone.start < gone.end);
                    assert!(positions(&[gone]).iter().all(|&at| flags[at as usize]));
                }),
                4 if start < 40 => {
                    let beyond = ranges.absorb(asked.start);
                    let expected = (start..220).find(|&at| !flags[at as usize]).unwrap();
                    prop_assert_eq!(beyond, expected * scale);
                }
                5 => {
                    let top = held(&ranges).pop();
                    ranges.remove_highest();
                    positions(top.as_slice()).iter().for_each(|&at| flags[at as usize] = false);
                }
                _ => continue,
            }
            match action {
                0 | 1 | 6.. => flags[places.clone()].fill(true),
                2 => flags[places.clone()].fill(false),
                3 => flags[..start as usize].fill(false),
                4 => {
                    let reached = (start as usize..220).find(|&at| !flags[at]).unwrap();
                    flags[..reached].fill(false);
                }
                _ => {}
            }
            ranges.sorted.check();
            prop_assert_eq!(ranges.is_empty(), ranges.count() == 0);
            let held = held(&ranges);
            prop_assert_eq!(held.len(), ranges.count());
            prop_assert_eq!((held.first().copied(), held.last().map(|range| range.end)), (ranges.lowest(), ranges.highest()));
            prop_assert!(held.iter().all(|range| range.start < range.end));
            prop_assert!(held.windows(2).all(|pair| pair[0].end < pair[1].start));
            prop_assert!(held.iter().rev().copied().eq(ranges.descending()));
            prop_assert!(held.iter().filter(|range| range.start >= asked.start).copied().eq(ranges.from(asked.start)));
            let set = |places: core::ops::Range<usize>| -> Vec<u64> {
                places.filter(|&at| flags[at]).map(|at| at as u64).collect()
            };
            prop_assert_eq!(positions(&held), set(0..220));
            let part: Vec<Block> = ranges.within(asked).collect();
            prop_assert!(part.iter().all(|range| range.start < range.end));
            prop_assert_eq!(positions(&part), set(places.clone()));
            prop_assert_eq!(ranges.covered(asked.start, asked.end), set(places.clone()).len() as u64 * scale);
            if length > 0 {
                prop_assert_eq!(ranges.covers(asked), set(places).len() as u64 == length);
            }
        }
    }
}
