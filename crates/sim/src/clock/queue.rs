//! The event queue: at most one entry for each slot (a link or a timer). Rescheduling a slot moves
//! its entry.
//!
//! Each heap is a binary heap whose first entry is kept apart above it. Nearly always the first
//! entry is the one that moves. A single comparison then decides whether it stays first.
//!
//! Slots have two classes, each with its own heap. Near slots are links, due within the time of one
//! packet. Far slots are timers, mostly moved before they are due. With two heaps, the many far
//! entries do not slow the near entries down. Far entries move from any place, so their heap is
//! indexed. Near entries are nearly always new, or move when they are due; otherwise a linear
//! search finds them.
//!
//! At equal times a far event happens before a near event. Within a class, a hash of the time and
//! the slot decides. So the order does not depend on when the events were scheduled, and no slot is
//! always first. If the lower slot were always first, the first of a hundred synchronised flows at
//! a full queue would take all the room.

use eifel_base::time::Instant;

/// Bits of an entry that hold its slot.
const SLOT_BITS: u32 = 20;
/// The place of a slot without an entry.
const ABSENT: u32 = u32::MAX;

/// Time (64 bits), class (1 bit), draw (43), slot (20). Entries compare as numbers, without
/// branches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    const NONE: Self = Self(u128::MAX);
    /// Set in the entry of a near slot.
    const NEAR: u64 = 1 << 63;

    #[inline]
    fn new(at: Instant, class: u64, slot: u32) -> Self {
        let draw = draw(at.as_nanos(), slot) >> (SLOT_BITS + 1) << SLOT_BITS;
        Self((u128::from(at.as_nanos()) << 64) | u128::from(class | draw | u64::from(slot)))
    }

    #[inline]
    fn slot(self) -> u32 {
        self.0 as u32 & ((1 << SLOT_BITS) - 1)
    }

    #[inline]
    fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
}

/// Hashes a slot and a time. At equal times the slot with the smallest hash comes first. Both are
/// mixed by multiplication with odd constants: the golden ratio's, and one of MurmurHash3's
/// finaliser.
#[inline]
fn draw(at: u64, slot: u32) -> u64 {
    let both = at ^ u64::from(slot).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (both ^ (both >> 32)).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// Future events, at most one for each slot.
pub struct EventQueue {
    near: Heap<false>,
    far: Heap<true>,
    /// Number of near slots. Their numbers are below those of far slots.
    nears: u32,
}

impl EventQueue {
    /// The most slots that a queue can hold.
    pub const MAX_SLOTS: usize = 1 << SLOT_BITS;

    /// Creates an empty queue for the slots `0..slots`. Slots below `nears` are near.
    ///
    /// # Panics
    /// Panics with more than [`EventQueue::MAX_SLOTS`] slots.
    pub fn new(slots: usize, nears: usize) -> Self {
        assert!(slots <= Self::MAX_SLOTS, "{slots} event slots, the most is {}", Self::MAX_SLOTS);
        let far = Heap::new(slots.saturating_sub(nears), vec![ABSENT; slots]);
        Self { near: Heap::new(nears, Vec::new()), far, nears: nears as u32 }
    }

    /// Returns the time and slot of the first entry. The entry stays in the queue.
    #[inline]
    pub fn peek(&self) -> Option<(Instant, u32)> {
        let first = self.near.first().min(self.far.first());
        (first != Entry::NONE).then(|| (first.at(), first.slot()))
    }

    /// Returns the time at which `slot` is due; [`Instant::NEVER`] without an entry.
    #[cfg(test)]
    pub fn due(&self, slot: u32) -> Instant {
        if slot < self.nears { self.near.due(slot) } else { self.far.due(slot) }
    }

    /// Schedules `slot` for `at`, in place of any earlier schedule. [`Instant::NEVER`] removes its
    /// entry.
    #[inline]
    pub fn set(&mut self, slot: u32, at: Instant) {
        if slot < self.nears {
            self.near.set(Entry::new(at, Entry::NEAR, slot));
        } else {
            self.far.set(Entry::new(at, 0, slot));
        }
    }

    /// Schedules a near slot that has no entry. `at` must not be [`Instant::NEVER`].
    #[inline]
    pub fn begin(&mut self, slot: u32, at: Instant) {
        self.near.insert(Entry::new(at, Entry::NEAR, slot));
    }

    /// Reschedules the near slot that is due first; [`Instant::NEVER`] removes its entry.
    #[inline]
    pub fn move_first(&mut self, slot: u32, at: Instant) {
        self.near.move_first(Entry::new(at, Entry::NEAR, slot));
    }
}

/// Entries of one class; `INDEXED` says whether `place` is kept.
///
/// Entry 0 is the first of all entries, and entry 1 the first of the others. From entry 1 on, entry
/// `n` is the parent of entries `2 n` and `2 n + 1`.
struct Heap<const INDEXED: bool> {
    /// [`Entry::NONE`] follows the last entry, so that every parent has two children to compare.
    entries: Vec<Entry>,
    length: usize,
    /// Index in `entries` of each slot's entry, if indexed.
    place: Vec<u32>,
}

impl<const INDEXED: bool> Heap<INDEXED> {
    fn new(most: usize, place: Vec<u32>) -> Self {
        Self { entries: vec![Entry::NONE; most + 2], length: 0, place }
    }

    #[inline]
    fn first(&self) -> Entry {
        self.entries[0]
    }

    /// Finds the index of a slot's entry.
    #[inline]
    fn find(&self, slot: u32) -> Option<usize> {
        if !INDEXED {
            return self.entries[..self.length].iter().position(|entry| entry.slot() == slot);
        }
        Some(self.place[slot as usize]).filter(|&place| place != ABSENT).map(|place| place as usize)
    }

    #[cfg(test)]
    fn due(&self, slot: u32) -> Instant {
        self.find(slot).map_or(Instant::NEVER, |place| self.entries[place].at())
    }

    #[inline]
    fn insert(&mut self, entry: Entry) {
        self.length += 1;
        self.sift_up(self.length - 1, entry);
    }

    #[inline]
    fn set(&mut self, entry: Entry) {
        let Some(place) = self.find(entry.slot()) else {
            if entry.at() != Instant::NEVER {
                self.insert(entry);
            }
            return;
        };
        let before = self.entries[place];
        if before.at() == entry.at() {
            return;
        }
        if entry.at() == Instant::NEVER {
            self.remove(place);
        } else if entry < before {
            self.sift_up(place, entry);
        } else {
            self.sift_down(place, entry);
        }
    }

    #[inline(never)]
    fn move_first(&mut self, entry: Entry) {
        let before = self.entries[0];
        debug_assert!(
            before.slot() == entry.slot() && before.at() <= entry.at(),
            "the first one, and not to before now"
        );
        if entry.at() == Instant::NEVER {
            self.remove(0);
        } else if entry.at() != before.at() {
            self.sift_down(0, entry);
        }
    }

    #[inline(never)]
    fn remove(&mut self, place: usize) {
        let gone = self.entries[place];
        if INDEXED {
            self.place[gone.slot() as usize] = ABSENT;
        }
        self.length -= 1;
        let last = std::mem::replace(&mut self.entries[self.length], Entry::NONE);
        if place < self.length {
            if last < gone {
                self.sift_up(place, last);
            } else {
                self.sift_down(place, last);
            }
        }
    }

    /// Moves the hole at `place` towards the root until `entry` fits into it.
    #[inline]
    fn sift_up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = place / 2;
            let above = self.entries[parent];
            if above < entry {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Moves the hole at `place` away from the root until `entry` fits into it.
    #[inline(always)]
    fn sift_down(&mut self, place: usize, entry: Entry) {
        if place > 0 {
            return self.sink(place, entry);
        }
        let second = self.entries[1];
        if entry < second {
            return self.put(0, entry);
        }
        self.put(0, second);
        // With two entries, as on a single path, they swap places.
        if self.length == 2 { self.put(1, entry) } else { self.sink(1, entry) }
    }

    /// Moves an entry below the first one down to its place.
    #[inline(always)]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        while let Some(&[left, right]) = self.entries.get(2 * place..2 * place + 2) {
            let (smallest, chosen) = if right < left { (right, 2 * place + 1) } else { (left, 2 * place) };
            if entry < smallest {
                break;
            }
            self.put(place, smallest);
            place = chosen;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.entries[place] = entry;
        if INDEXED {
            self.place[entry.slot() as usize] = place as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, u32)> {
        let mut order = Vec::new();
        while let Some((at, slot)) = queue.peek() {
            order.push((at.as_nanos(), slot));
            queue.set(slot, Instant::NEVER);
        }
        order
    }

    #[test]
    fn at_equal_times_timers_come_before_packets() {
        let mut queue = EventQueue::new(4, 2);
        for slot in [2, 1, 3, 0] {
            queue.set(slot, Instant::from_nanos(7));
        }
        let slots: Vec<u32> = drain(&mut queue).into_iter().map(|(_, slot)| slot).collect();
        assert!(slots[..2].iter().all(|&slot| slot >= 2) && slots[2..].iter().all(|&slot| slot < 2), "{slots:?}");
    }

    #[test]
    fn the_order_of_simultaneous_events_does_not_depend_on_when_they_were_set() {
        let mut firsts = [0; 4];
        for at in 0..4000 {
            let order = |slots: [u32; 4]| {
                let mut queue = EventQueue::new(4, 4);
                for slot in slots {
                    queue.set(slot, Instant::from_nanos(81 * at));
                }
                drain(&mut queue)
            };
            let slots = order([0, 1, 2, 3]);
            assert_eq!(slots, order([3, 1, 2, 0]));
            firsts[slots[0].1 as usize] += 1;
        }
        // A binomial distribution with 4000 trials of probability 1/4, 5 standard deviations to
        // each side.
        assert!(firsts.iter().all(|count| (863..=1137).contains(count)), "{firsts:?}");
    }

    proptest! {
        /// Compares with the simplest queue: a list that is searched for its smallest (time, class,
        /// hash).
        #[test]
        fn it_does_as_a_searched_list_does(steps in prop::collection::vec((0u32..40, 0u64..50, 0u8..6), 1..400)) {
            let mut queue = EventQueue::new(40, 25);
            let mut list: BTreeMap<u32, u64> = BTreeMap::new();
            for (slot, at, action) in steps {
                match action {
                    0 => {
                        queue.set(slot, Instant::NEVER);
                        list.remove(&slot);
                    }
                    1 if slot < 25 && !list.contains_key(&slot) => {
                        queue.begin(slot, Instant::from_nanos(at));
                        list.insert(slot, at);
                    }
                    _ => {
                        queue.set(slot, Instant::from_nanos(at));
                        list.insert(slot, at);
                    }
                }
                let least = list.iter().map(|(&slot, &at)| (at, slot < 25, draw(at, slot) >> 21, slot)).min();
                prop_assert_eq!(queue.peek(), least.map(|(at, _, _, slot)| (Instant::from_nanos(at), slot)));
                for slot in 0..40 {
                    let due = list.get(&slot).map_or(Instant::NEVER, |&at| Instant::from_nanos(at));
                    prop_assert_eq!(queue.due(slot), due);
                }
            }
        }
    }
}
