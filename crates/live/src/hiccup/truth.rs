//! Device truth about a foreign sender: which of its retransmissions were needed.
//!
//! Only the box loses packets, so packets that it let out have reached the receiver. A
//! retransmission is *spurious* if every byte of it had an earlier copy that came out, even if that
//! copy came out after the retransmission was sent.

use super::{Direction, Fate, Transit};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::time::Instant;
use std::collections::{BTreeMap, VecDeque};

/// Identifies a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketId {
    pub flow: u32,
    pub direction: Direction,
    /// Its number in this flow and direction, from 1.
    pub number: u64,
}

impl PacketId {
    fn of(passage: &Transit) -> Self {
        Self { flow: passage.seen.label.flow, direction: passage.direction, number: passage.seen.number }
    }
}

/// A data segment as it came in.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// When the box got it.
    pub at: Instant,
    /// Its number in the sender's capture, from 1; 0 if the capture does not have it.
    pub frame: u64,
    /// The positions of its data.
    pub block: Block,
    /// Its sequence number.
    pub seq: u32,
}

/// A data segment, and its fate.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    data: Data,
    fate: Fate,
}

/// A judged retransmission.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judged {
    /// When the box got it.
    pub at: Instant,
    /// Its number in the sender's capture, from 1; 0 if the capture does not have it.
    pub frame: u64,
    pub flow: u32,
    pub direction: Direction,
    /// Its number in its flow and direction, from 1.
    pub number: u64,
    /// Its sequence number.
    pub seq: u32,
    /// Bytes of data.
    pub len: u64,
    /// Number of its transmission among those with the same first byte, from 2.
    pub nth: u32,
    /// Its fate in the box.
    pub fate: Fate,
    /// Whether it was not needed.
    pub spurious: bool,
    /// Whether the box had seen all of its data before.
    pub original_known: bool,
}

/// One direction of a flow.
#[derive(Debug, Default)]
struct FlowDirection {
    /// Segments by number: those in the box, and those that came in after the oldest of them.
    waiting: VecDeque<(u64, Waiting)>,
    /// Positions of segments that no longer wait.
    seen: Ranges,
    /// Positions that came out, of segments that no longer wait.
    out: Ranges,
    /// Transmissions of each retransmitted segment, by its first position.
    times: BTreeMap<u64, u32>,
}

/// Judges a retransmission as soon as its fate and those of all segments before it are known.
/// Memory grows with the packets in the box and with the retransmissions, not with all packets.
#[derive(Debug, Default)]
pub struct Truth {
    courses: BTreeMap<(u32, Direction), FlowDirection>,
    judged: Vec<Judged>,
}

impl Truth {
    /// Records a packet that has come in, as frame number `frame` of its sender's capture.
    pub fn enters(&mut self, passage: &Transit, frame: u64) {
        if let (Some(data), Some(segment)) = (passage.seen.data, passage.seen.tcp) {
            self.sends(PacketId::of(passage), Data { at: passage.entered, frame, block: data, seq: segment.seq.0 });
        }
    }

    /// Records the fate of a packet, or of a copy of it.
    pub fn ends(&mut self, passage: &Transit) {
        self.settles(PacketId::of(passage), passage.fate);
    }

    /// Records data that was sent.
    pub fn sends(&mut self, which: PacketId, data: Data) {
        let FlowDirection { waiting, .. } = self.courses.entry((which.flow, which.direction)).or_default();
        let place = waiting.partition_point(|&(number, _)| number < which.number);
        waiting.insert(place, (which.number, Waiting { data, fate: Fate::Inside }));
    }

    /// Records the fate of a packet. Later fates of its copies change nothing.
    pub fn settles(&mut self, which: PacketId, fate: Fate) {
        let key = (which.flow, which.direction);
        let Some(course) = self.courses.get_mut(&key) else { return };
        let Ok(place) = course.waiting.binary_search_by_key(&which.number, |&(number, _)| number) else { return };
        let sent = &mut course.waiting[place].1;
        if sent.fate == Fate::Inside {
            sent.fate = fate;
        }
        while let Some(&(number, sent)) = course.waiting.front().filter(|(_, sent)| sent.fate != Fate::Inside) {
            course.waiting.pop_front();
            self.judged.extend(course.judge(key, number, &sent));
        }
    }

    /// Returns the retransmissions judged since the last call. Those of one direction of a flow are
    /// in the order in which they came in.
    pub fn judged(&mut self) -> Vec<Judged> {
        std::mem::take(&mut self.judged)
    }

    /// Judges all remaining retransmissions too. A packet without a fate has not come out.
    pub fn finish(mut self) -> Vec<Judged> {
        for (key, mut course) in self.courses {
            for (number, sent) in std::mem::take(&mut course.waiting) {
                self.judged.extend(course.judge(key, number, &sent));
            }
        }
        self.judged
    }
}

impl FlowDirection {
    /// Adds the next segment, and judges it if it is a retransmission.
    fn judge(&mut self, (flow, direction): (u32, Direction), number: u64, sent: &Waiting) -> Option<Judged> {
        let (Data { at, frame, block, seq }, fate) = (sent.data, sent.fate);
        let judged = (self.seen.covered(block.start, block.end) > 0).then(|| {
            let times = self.times.entry(block.start).or_insert(1);
            *times += 1;
            let (spurious, original_known) = (self.out.covers(block), self.seen.covers(block));
            let (len, nth) = (block.end - block.start, *times);
            Judged { at, frame, flow, direction, number, seq, len, nth, fate, spurious, original_known }
        });
        self.seen.add(block);
        if matches!(fate, Fate::Delivered | Fate::Copied) {
            self.out.add(block);
        }
        judged
    }
}
