//! Records which TSNs have arrived, and when a SACK is due (RFC 9260, sections 6.2 and 6.7).

use eifel_base::ranges::{Block, Ranges};
use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::Gap;
use eifel_packet::seq::{Seq, unwrap, wrap};

/// Maximum number of duplicates listed in a SACK, as in usrsctp.
const MOST_DUPLICATES: usize = 20;

/// When the next SACK is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    /// There is nothing to acknowledge.
    No,
    /// A delayed SACK is sent at this time.
    At(Instant),
    Now,
}

/// Properties of the packet being processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Packet {
    data: bool,
    new: bool,
    duplicate: bool,
    /// A reason for an immediate SACK: the I bit [rfc8540:3.45.b], or data for which there was no
    /// room.
    urgent: bool,
}

/// The receiver's record of TSNs. Positions count from 0 at the peer's initial TSN.
#[derive(Clone, Debug)]
pub(crate) struct Tracker {
    initial: Seq,
    /// First position that has not arrived.
    next: u64,
    /// Positions that arrived beyond a gap. The ranges are the gap ack blocks, with missing TSNs
    /// between them [rfc8540:3.47].
    beyond: Ranges,
    duplicates: Vec<Seq>,
    due: Due,
    /// Packets with data since the last SACK.
    packets: u32,
    packet: Packet,
    /// Whether a chunk marked as a retransmission arrived since the last SACK.
    retransmission: bool,
    /// Whether any data has arrived. The first packet with data is acknowledged at once (section
    /// 5.1).
    begun: bool,
}

impl Tracker {
    pub(crate) fn new(initial: Seq) -> Self {
        Self {
            initial,
            next: 0,
            beyond: Ranges::default(),
            duplicates: Vec::new(),
            due: Due::No,
            packets: 0,
            packet: Packet::default(),
            retransmission: false,
            begun: false,
        }
    }

    /// Returns the position of a TSN near the next expected one.
    pub(crate) fn position(&self, tsn: Seq) -> u64 {
        unwrap(self.next, self.initial, tsn)
    }

    /// Returns the TSN at a position.
    fn tsn(&self, position: u64) -> Seq {
        wrap(position, self.initial)
    }

    /// Returns the first position that has not arrived.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the first position beyond all that have arrived.
    pub(crate) fn highest(&self) -> u64 {
        self.beyond.highest().unwrap_or(self.next)
    }

    /// Returns the cumulative TSN.
    pub(crate) fn cumulative(&self) -> Seq {
        Seq(self.tsn(self.next).0.wrapping_sub(1))
    }

    /// Returns whether a chunk beyond a gap has arrived.
    pub(crate) fn has_gaps(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// Returns whether the chunk at `position` has arrived.
    #[inline(always)]
    pub(crate) fn has(&self, position: u64) -> bool {
        position < self.next || self.beyond.containing(position).is_some()
    }

    /// Returns the position of an arrived TSN, or `None` if it is a duplicate. Records a duplicate
    /// at once. A new TSN is recorded by [`accept`](Self::accept).
    pub(crate) fn check(&mut self, tsn: Seq, immediate: bool) -> Option<u64> {
        self.packet.data = true;
        self.packet.urgent |= immediate;
        let position = self.position(tsn);
        if !self.has(position) {
            return Some(position);
        }
        self.packet.duplicate = true;
        if self.duplicates.len() < MOST_DUPLICATES {
            self.duplicates.push(tsn);
        }
        None
    }

    /// Records that a chunk, new or duplicate, is marked as a retransmission.
    pub(crate) fn note_retransmission(&mut self) {
        self.retransmission = true;
    }

    /// Returns whether the SACK sent now answers a retransmission, and resets the record. Call it
    /// once per SACK.
    pub(crate) fn take_retransmission_mark(&mut self) -> bool {
        std::mem::take(&mut self.retransmission)
    }

    /// Records that a new TSN is kept.
    pub(crate) fn accept(&mut self, position: u64) {
        self.packet.new = true;
        if position == self.next && self.beyond.is_empty() {
            self.next += 1;
            return;
        }
        self.beyond.add(Block { start: position, end: position + 1 });
        self.next = self.beyond.absorb(self.next);
    }

    /// Returns whether a TSN is the next in order, and no chunk beyond it has arrived.
    #[inline]
    pub(crate) fn is_next(&self, tsn: Seq) -> bool {
        self.tsn(self.next) == tsn && self.beyond.is_empty()
    }

    /// Records a packet with only [the next](Self::is_next) TSN, as [`check`](Self::check),
    /// [`accept`](Self::accept) and [`end_packet`](Self::end_packet) do.
    #[inline]
    pub(crate) fn take_next(&mut self, now: Instant, when: (u32, Duration), immediate: bool) {
        self.next += 1;
        self.schedule(now, when, immediate);
    }

    /// Records a packet with only one duplicate TSN, as [`check`](Self::check) and
    /// [`end_packet`](Self::end_packet) do. Returns `false`, with nothing changed, if the TSN is
    /// new, or beyond the cumulative TSN.
    pub(crate) fn take_duplicate(&mut self, now: Instant, when: (u32, Duration), tsn: Seq) -> bool {
        if self.position(tsn) >= self.next {
            return false;
        }
        if self.duplicates.len() < MOST_DUPLICATES {
            self.duplicates.push(tsn);
        }
        self.schedule(now, when, true);
        true
    }

    /// Counts a packet, and sets when its SACK is due. It is due now if `at_once` is set, for the
    /// first packet (section 5.1), and for every `every`-th packet. Otherwise it is due after
    /// `delay`.
    #[inline]
    fn schedule(&mut self, now: Instant, (every, delay): (u32, Duration), at_once: bool) {
        self.packets += 1;
        let first = !std::mem::replace(&mut self.begun, true);
        if first || at_once || self.packets >= every {
            self.due = Due::Now;
        } else if self.due == Due::No {
            self.due = Due::At(now + delay);
        }
    }

    /// Records that there was no room for a new TSN: this requires an immediate SACK.
    pub(crate) fn refuse(&mut self) {
        self.packet.urgent = true;
    }

    /// Removes chunks beyond a gap that were dropped for lack of room.
    pub(crate) fn drop_again(&mut self, dropped: Block) {
        self.beyond.remove(dropped);
    }

    /// Records that the peer abandoned all chunks below `position` (RFC 3758, section 3.6). Returns
    /// whether this is new.
    pub(crate) fn forward(&mut self, position: u64) -> bool {
        self.packet.data = true;
        if position <= self.next {
            self.packet.urgent = true;
            return false;
        }
        self.packet.new = true;
        self.beyond.remove_below(position, |_| {});
        self.next = self.beyond.absorb(position);
        true
    }

    /// Sets when a packet is acknowledged, after its last chunk. Returns whether it had data.
    pub(crate) fn end_packet(&mut self, now: Instant, every: u32, delay: Duration) -> bool {
        let packet = std::mem::take(&mut self.packet);
        if !packet.data {
            return false;
        }
        let only_duplicates = packet.duplicate && !packet.new;
        self.schedule(now, (every, delay), packet.urgent || only_duplicates || self.has_gaps());
        true
    }

    /// Cancels the SACK if the cumulative TSN is all it would report: SHUTDOWN carries it (section
    /// 9.2).
    pub(crate) fn drop_sack_for_shutdown(&mut self) {
        if !self.has_gaps() && self.duplicates.is_empty() {
            self.clear_due();
        }
    }

    /// Requests an immediate SACK, for example after the window has opened.
    pub(crate) fn acknowledge_now(&mut self) {
        self.due = Due::Now;
    }

    /// Returns whether a SACK is due now.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        match self.due {
            Due::No => false,
            Due::At(at) => at <= now,
            Due::Now => true,
        }
    }

    #[inline]
    fn clear_due(&mut self) {
        self.due = Due::No;
        self.packets = 0;
    }

    /// Returns whether a SACK is due, now or later.
    pub(crate) fn is_pending(&self) -> bool {
        self.due != Due::No
    }

    /// Returns when the next SACK is due: [`Instant::ZERO`] for an immediate one,
    /// [`Instant::NEVER`] for none.
    pub(crate) fn deadline(&self) -> Instant {
        match self.due {
            Due::No => Instant::NEVER,
            Due::At(at) => at,
            Due::Now => Instant::ZERO,
        }
    }

    /// Appends the lists of the SACK sent now to `lists`, in at most `room` bytes: gaps from the
    /// lowest on, then duplicates. Returns the number of gaps. No SACK is due afterwards.
    #[inline]
    pub(crate) fn take(&mut self, room: usize, lists: &mut Vec<[u8; 4]>) -> usize {
        self.clear_due();
        if self.beyond.is_empty() && self.duplicates.is_empty() { 0 } else { self.take_lists(room / 4, lists) }
    }

    /// Appends at most `entries` gaps and duplicates. Returns the number of gaps.
    fn take_lists(&mut self, entries: usize, lists: &mut Vec<[u8; 4]>) -> usize {
        // A gap's offset has 16 bits.
        let reach = self.next + u64::from(u16::MAX) - 1;
        let gaps = self
            .beyond
            .ascending()
            .take_while(|block| block.start <= reach)
            .map(|block| Gap { start: self.distance(block.start), end: self.distance(block.end.min(reach + 1) - 1) });
        lists.extend(gaps.map(Gap::to_bytes).take(entries));
        let gaps = lists.len();
        lists.extend(self.duplicates.drain(..).take(entries - gaps).map(|tsn| tsn.0.to_be_bytes()));
        gaps
    }

    /// Returns the offset of a position from the cumulative TSN.
    fn distance(&self, position: u64) -> u16 {
        (position - self.next + 1) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn packet(tracker: &mut Tracker, now: u64, tsns: &[u32]) {
        for tsn in tsns {
            if let Some(position) = tracker.check(Seq(*tsn), false) {
                tracker.accept(position);
            }
        }
        tracker.end_packet(at(now), 2, Duration::from_millis(200));
    }

    fn gaps(tracker: &mut Tracker) -> (Vec<(u16, u16)>, Vec<u32>) {
        let mut gaps = Vec::new();
        let count = tracker.take(1000, &mut gaps);
        let duplicates = gaps.split_off(count);
        let pair = |[a, b, c, d]: [u8; 4]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        (gaps.into_iter().map(pair).collect(), duplicates.into_iter().map(u32::from_be_bytes).collect())
    }

    /// The example of section 3.3.4, with isolated gaps [rfc8540:3.47].
    #[test]
    fn the_gaps_of_section_3_3_4() {
        let mut tracker = Tracker::new(Seq(10));
        packet(&mut tracker, 0, &[10, 11, 12, 14, 15, 17]);
        assert_eq!(tracker.cumulative(), Seq(12));
        assert_eq!(gaps(&mut tracker), (vec![(2, 3), (5, 5)], vec![]));
        packet(&mut tracker, 0, &[13, 14, 14]);
        assert_eq!((tracker.cumulative(), gaps(&mut tracker)), (Seq(15), (vec![(2, 2)], vec![14, 14])));
    }

    #[test]
    fn the_first_and_every_second_packet_is_acknowledged_at_once_and_others_after_200_ms() {
        let mut tracker = Tracker::new(Seq(u32::MAX));
        packet(&mut tracker, 5, &[u32::MAX]);
        assert!(tracker.is_due(at(5)));
        tracker.take(0, &mut Vec::new());
        packet(&mut tracker, 10, &[0]);
        assert!(!tracker.is_due(at(209)) && tracker.is_due(at(210)));
        assert_eq!(tracker.deadline(), at(210));
        packet(&mut tracker, 20, &[1, 2]);
        assert!(tracker.is_due(at(20)));
        tracker.take(0, &mut Vec::new());
        assert!(!tracker.is_pending());
    }

    #[test]
    fn duplicates_the_i_bit_and_gaps_cause_an_immediate_sack() {
        let mut tracker = Tracker::new(Seq(0));
        packet(&mut tracker, 0, &[0]);
        tracker.take(0, &mut Vec::new());
        packet(&mut tracker, 0, &[0]);
        assert!(tracker.is_due(at(0)));
        assert_eq!(gaps(&mut tracker).1, [0]);
        packet(&mut tracker, 0, &[0, 1]);
        assert!(!tracker.is_due(at(0)), "a duplicate beside new data may wait");
        tracker.take(0, &mut Vec::new());
        assert_eq!(tracker.check(Seq(2), true), Some(2));
        tracker.accept(2);
        tracker.end_packet(at(0), 2, Duration::from_millis(200));
        assert!(tracker.is_due(at(0)));
        tracker.take(0, &mut Vec::new());
        packet(&mut tracker, 0, &[4]);
        assert!(tracker.is_due(at(0)));
    }

    #[test]
    fn a_sack_lists_gaps_first_and_at_most_twenty_duplicates() {
        let mut tracker = Tracker::new(Seq(0));
        packet(&mut tracker, 0, &[0, 2, 4, 6]);
        packet(&mut tracker, 0, &[0; 25]);
        for (room, duplicates) in [(1000, 20), (16, 1)] {
            let mut lists = Vec::new();
            assert_eq!(tracker.clone().take(room, &mut lists), 3);
            assert_eq!(lists.len(), 3 + duplicates);
        }
        let mut lists = Vec::new();
        tracker.take(8, &mut lists);
        assert_eq!(lists, [Gap { start: 2, end: 2 }, Gap { start: 4, end: 4 }].map(Gap::to_bytes));
    }

    #[test]
    fn abandoned_tsns_count_as_arrived() {
        // RFC 3758, section 3.6: 103 is abandoned after 104, 105 and 107 have arrived.
        let mut tracker = Tracker::new(Seq(103));
        packet(&mut tracker, 0, &[104, 105, 107]);
        assert!(tracker.forward(1));
        assert_eq!(tracker.cumulative(), Seq(105));
        assert!(!tracker.forward(1));
        tracker.end_packet(at(0), 2, Duration::from_millis(200));
        assert_eq!(gaps(&mut tracker).0, [(2, 2)]);
    }
}
