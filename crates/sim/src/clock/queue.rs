//! The event queue: one entry a slot (a link, a timer), moved rather than queued again.
//!
//! A binary heap, and above it the first of all, which nearly always is the one that moves: one comparison says whether it
//! stays the first. Its keys are (time, insertion number), so that two events of one instant happen in the order in which
//! they were set, on every machine. Slots are of two classes, near ones (links, due within a packet's time) and far ones
//! (timers, mostly moved before they are due), each with a heap of its own: the many far ones make the near ones no
//! slower. Far ones are moved wherever they stand, so that their heap is indexed; near ones nearly always come anew or are
//! moved when they are due, and are searched for otherwise.

use eifel_recovery::time::Instant;

/// Bits of an entry that name its slot; above them is the insertion number, and above that the time.
const SLOT_BITS: u32 = 20;
/// Set in the number of an entry that comes behind others of its instant.
const BEHIND: u64 = 1 << 43;
/// `place` of a slot that has no entry.
const ABSENT: u32 = u32::MAX;

/// Time (64 bits), insertion number (44), slot (20): entries compare as numbers, which needs no branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    /// Later than every entry.
    const NONE: Self = Self(u128::MAX);

    #[inline]
    fn new(at: Instant, number: u64, slot: u32) -> Self {
        let low = (number << SLOT_BITS) | u64::from(slot);
        Self((u128::from(at.as_nanos()) << 64) | u128::from(low))
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

/// What happens next, at most one entry a slot.
pub struct EventQueue {
    near: Heap<false>,
    far: Heap<true>,
    /// Slots below are near ones.
    nears: u32,
    next_number: u64,
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
        Self { near: Heap::new(nears, Vec::new()), far, nears: nears as u32, next_number: 0 }
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

    /// Lets `slot` be due at `at` and not before; [`Instant::NEVER`] takes its entry away. An entry that is due then
    /// already keeps its turn.
    #[inline]
    pub fn set(&mut self, slot: u32, at: Instant) {
        self.next_number += 1;
        let entry = Entry::new(at, self.next_number, slot);
        if slot < self.nears { self.near.set(entry) } else { self.far.set(entry) }
    }

    /// The same for a near slot that is not due, at an instant that comes.
    #[inline]
    pub fn begin(&mut self, slot: u32, at: Instant) {
        self.next_number += 1;
        self.near.insert(Entry::new(at, self.next_number, slot));
    }

    /// The same, behind everything else that is due at that instant but what has been set like this before.
    #[inline]
    pub fn begin_behind(&mut self, slot: u32, at: Instant) {
        self.next_number += 1;
        self.near.insert(Entry::new(at, BEHIND | self.next_number, slot));
    }

    /// The same for the near slot that is due first, at `at` or never again.
    #[inline]
    pub fn move_behind(&mut self, slot: u32, at: Instant) {
        self.next_number += 1;
        self.near.move_first(Entry::new(at, BEHIND | self.next_number, slot));
    }

    /// Lets the near slot that is due first be due at `at`, or never again.
    #[inline]
    pub fn move_first(&mut self, slot: u32, at: Instant) {
        self.next_number += 1;
        self.near.move_first(Entry::new(at, self.next_number, slot));
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

    fn drain(queue: &mut EventQueue) -> Vec<(u64, u32)> {
        let mut order = Vec::new();
        while let Some((at, slot)) = queue.peek() {
            order.push((at.as_nanos(), slot));
            queue.set(slot, Instant::NEVER);
        }
        order
    }

    #[test]
    fn events_of_one_instant_happen_in_the_order_in_which_they_were_set() {
        let mut queue = EventQueue::new(4, 2);
        for slot in [2, 0, 3, 1] {
            queue.set(slot, Instant::from_nanos(7));
        }
        queue.set(0, Instant::from_nanos(8));
        queue.set(0, Instant::from_nanos(7));
        assert_eq!(drain(&mut queue), [(7, 2), (7, 3), (7, 1), (7, 0)]);
    }

    #[test]
    fn what_is_to_come_behind_comes_behind_what_is_set_later() {
        let mut queue = EventQueue::new(5, 4);
        queue.begin_behind(3, Instant::from_nanos(6));
        queue.move_behind(3, Instant::from_nanos(7));
        queue.begin_behind(1, Instant::from_nanos(7));
        for slot in [2, 4, 0] {
            queue.set(slot, Instant::from_nanos(7));
        }
        assert_eq!(drain(&mut queue), [(7, 2), (7, 4), (7, 0), (7, 3), (7, 1)]);
    }

    proptest! {
        /// Against the plainest queue there is: a list that is searched for its least (time, number).
        #[test]
        fn it_does_as_a_searched_list_does(steps in prop::collection::vec((0u32..40, 0u64..50, 0u8..6), 1..400)) {
            let mut queue = EventQueue::new(40, 25);
            let mut list: Vec<(u64, u64, u32)> = Vec::new();
            for (number, (slot, at, action)) in steps.into_iter().enumerate() {
                let existing = list.iter().position(|entry| entry.2 == slot);
                match action {
                    0 => {
                        queue.set(slot, Instant::NEVER);
                        list.retain(|entry| entry.2 != slot);
                    }
                    _ => {
                        match existing {
                            None if slot < 25 && action == 1 => queue.begin(slot, Instant::from_nanos(at)),
                            _ => queue.set(slot, Instant::from_nanos(at)),
                        }
                        match existing {
                            Some(index) if list[index].0 == at => {}
                            Some(index) => list[index] = (at, number as u64, slot),
                            None => list.push((at, number as u64, slot)),
                        }
                    }
                }
                let least = list.iter().min().map(|entry| (Instant::from_nanos(entry.0), entry.2));
                prop_assert_eq!(queue.peek(), least);
                for slot in 0..40 {
                    let due = list.iter().find(|entry| entry.2 == slot).map_or(Instant::NEVER, |entry| Instant::from_nanos(entry.0));
                    prop_assert_eq!(queue.due(slot), due);
                }
            }
        }
    }
}
