//! The event queue: one entry a slot (a link, a timer), moved rather than queued again.
//!
//! A binary heap, and above it the first of all, which nearly always is the one that moves: one comparison says whether it
//! stays the first. Slots are of two classes, near ones (links, due within a packet's time) and far ones (timers, mostly
//! moved before they are due), each with a heap of its own: the many far ones make the near ones no slower. Far ones are
//! moved wherever they stand, so that their heap is indexed; near ones nearly always come anew or are moved when they are
//! due, and are searched for otherwise.
//!
//! Of two events of one instant, a far one happens before a near one. Two of one class are drawn for, by the instant and
//! their slots alone: what happens does not depend on when it became known that it would, and nobody is always first. Were it
//! the lower slot, of a hundred flows whose packets come to a full queue in step the first would take all the room.

use eifel_base::time::Instant;

/// Bits of an entry that name its slot.
const SLOT_BITS: u32 = 20;
/// `place` of a slot that has no entry.
const ABSENT: u32 = u32::MAX;

/// Time (64 bits), class (1 bit), draw (43), slot (20): entries compare as numbers, which needs no branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    /// Later than every entry.
    const NONE: Self = Self(u128::MAX);
    /// Set in an entry of a near slot.
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

/// What a slot draws at an instant, the least of which is first: the two, mixed by multiplication with odd numbers (the
/// golden ratio's and the one of MurmurHash3's last step).
#[inline]
fn draw(at: u64, slot: u32) -> u64 {
    let both = at ^ u64::from(slot).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (both ^ (both >> 32)).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// What happens next, at most one entry a slot.
pub struct EventQueue {
    near: Heap<false>,
    far: Heap<true>,
    /// Slots below are near ones.
    nears: u32,
}

impl EventQueue {
    /// The largest number of slots that a queue can hold.
    pub const MAX_SLOTS: usize = 1 << SLOT_BITS;

    /// A queue for the slots `0..slots`, of which those below `nears` are near; nothing is due.
    ///
    /// # Panics
    /// With more than [`EventQueue::MAX_SLOTS`] slots.
    pub fn new(slots: usize, nears: usize) -> Self {
        assert!(slots <= Self::MAX_SLOTS, "{slots} event slots, the most is {}", Self::MAX_SLOTS);
        let far = Heap::new(slots.saturating_sub(nears), vec![ABSENT; slots]);
        Self { near: Heap::new(nears, Vec::new()), far, nears: nears as u32 }
    }

    /// The earliest entry: its time and slot. It stays until it is moved or removed.
    #[inline]
    pub fn peek(&self) -> Option<(Instant, u32)> {
        let first = self.near.first().min(self.far.first());
        (first != Entry::NONE).then(|| (first.at(), first.slot()))
    }

    /// When `slot` is due, [`Instant::NEVER`] when it is not.
    #[inline]
    pub fn due(&self, slot: u32) -> Instant {
        if slot < self.nears { self.near.due(slot) } else { self.far.due(slot) }
    }

    /// Lets `slot` be due at `at` and not before; [`Instant::NEVER`] takes its entry away.
    #[inline]
    pub fn set(&mut self, slot: u32, at: Instant) {
        if slot < self.nears {
            self.near.set(Entry::new(at, Entry::NEAR, slot));
        } else {
            self.far.set(Entry::new(at, 0, slot));
        }
    }

    /// The same for a near slot that is not due, at an instant that comes.
    #[inline]
    pub fn begin(&mut self, slot: u32, at: Instant) {
        self.near.insert(Entry::new(at, Entry::NEAR, slot));
    }

    /// Lets the near slot that is due first be due at `at`, or never again.
    #[inline]
    pub fn move_first(&mut self, slot: u32, at: Instant) {
        self.near.move_first(Entry::new(at, Entry::NEAR, slot));
    }
}

/// Entries of one class; `INDEXED` if it is known where each stands.
///
/// The first of all is number 0, and number 1 the first of the others; below it, number `n` stands above `2 n` and `2 n + 1`.
struct Heap<const INDEXED: bool> {
    /// Behind the entries stands [`Entry::NONE`], so that every node has two children to compare.
    entries: Vec<Entry>,
    length: usize,
    /// Where in `entries` each slot's is, if indexed.
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

    /// Where the entry of `slot` stands.
    #[inline]
    fn find(&self, slot: u32) -> Option<usize> {
        if !INDEXED {
            return self.entries[..self.length].iter().position(|entry| entry.slot() == slot);
        }
        Some(self.place[slot as usize]).filter(|&place| place != ABSENT).map(|place| place as usize)
    }

    #[inline]
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

    /// Moves the hole at `place` towards the first until `entry` fits into it.
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

    /// Moves the hole at `place` away from the first until `entry` fits into it.
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
        // Of two, as a single path has, they change places.
        if self.length == 2 { self.put(1, entry) } else { self.sink(1, entry) }
    }

    /// The same below the first.
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
    fn of_one_instant_timers_come_before_packets() {
        let mut queue = EventQueue::new(4, 2);
        for slot in [2, 1, 3, 0] {
            queue.set(slot, Instant::from_nanos(7));
        }
        let slots: Vec<u32> = drain(&mut queue).into_iter().map(|(_, slot)| slot).collect();
        assert!(slots[..2].iter().all(|&slot| slot >= 2) && slots[2..].iter().all(|&slot| slot < 2), "{slots:?}");
    }

    #[test]
    fn of_one_instant_each_is_first_in_its_turn_whenever_it_was_set() {
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
        // Of a binomial distribution with 4000 tries at a quarter, 5 standard deviations to each side.
        assert!(firsts.iter().all(|count| (863..=1137).contains(count)), "{firsts:?}");
    }

    proptest! {
        /// Against the plainest queue there is: a list that is searched for its least (time, class, draw)
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
