//! Ground truth about a foreign sender: which of its retransmissions were needed.
//!
//! Only the box loses packets, so packets that it let out have reached the receiver. A
//! retransmission is *spurious* if every byte of it had an earlier copy that came out, even if that
//! copy came out after the retransmission was sent.

use super::{Direction, Fate, Passage};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::time::Instant;
use std::collections::BTreeMap;

/// Names a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Which {
    /// Its flow.
    pub flow: u32,
    /// Its direction.
    pub direction: Direction,
    /// Its number in this flow and direction, from 1.
    pub number: u64,
}

impl Which {
    fn of(passage: &Passage) -> Self {
        Self { flow: passage.seen.label.flow, direction: passage.direction, number: passage.seen.number }
    }
}

/// A data segment as it came in.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// When the box got it.
    pub at: Instant,
    /// Its number in the sender's capture, from 1.
    pub frame: u64,
    /// The positions of its data.
    pub block: Block,
    /// Its sequence number.
    pub seq: u32,
}

/// A data segment, and whether it came out.
#[derive(Clone, Copy, Debug)]
struct Sent {
    data: Data,
    came_out: bool,
    fate: Fate,
}

/// A retransmission, judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judged {
    /// When the box got it.
    pub at: Instant,
    /// Its number in the sender's capture, from 1.
    pub frame: u64,
    /// The flow.
    pub flow: u32,
    /// The direction.
    pub direction: Direction,
    /// Which packet of its flow and direction it is, from 1.
    pub number: u64,
    /// Its sequence number.
    pub seq: u32,
    /// Bytes of data.
    pub len: u64,
    /// Which sending of its first byte it is, from 2.
    pub nth: u32,
    /// Its fate in the box.
    pub fate: Fate,
    /// Whether it was not needed.
    pub spurious: bool,
    /// Whether all of it was seen before.
    pub original_known: bool,
}

/// The packets sent, flow by flow.
#[derive(Debug, Default)]
pub struct Truth {
    /// By flow and direction; within, by the number of the packet.
    sent: BTreeMap<(u32, Direction), BTreeMap<u64, Sent>>,
}

impl Truth {
    /// Notes a packet that has come in, as frame number `frame` of its sender's capture.
    pub fn enters(&mut self, passage: &Passage, frame: u64) {
        if let (Some(data), Some(segment)) = (passage.seen.data, passage.seen.tcp) {
            self.sends(Which::of(passage), Data { at: passage.entered, frame, block: data, seq: segment.seq.0 });
        }
    }

    /// Notes the fate of a packet, or of a copy of it.
    pub fn ends(&mut self, passage: &Passage) {
        self.settles(Which::of(passage), passage.fate);
    }

    /// Notes data that was sent.
    pub fn sends(&mut self, which: Which, data: Data) {
        let flow = self.sent.entry((which.flow, which.direction)).or_default();
        flow.insert(which.number, Sent { data, came_out: false, fate: Fate::Inside });
    }

    /// Notes the fate of a packet, or of a copy of it.
    pub fn settles(&mut self, which: Which, fate: Fate) {
        let flow = self.sent.get_mut(&(which.flow, which.direction));
        if let Some(sent) = flow.and_then(|flow| flow.get_mut(&which.number))
            && !sent.came_out
        {
            sent.came_out = matches!(fate, Fate::Delivered | Fate::Copied);
            sent.fate = fate;
        }
    }

    /// Judges all retransmissions, flow by flow, in the order in which they came in.
    pub fn judge(&self) -> Vec<Judged> {
        let mut judged = Vec::new();
        for (&(flow, direction), sent) in &self.sent {
            let (mut seen, mut out) = (Ranges::default(), Ranges::default());
            let mut times: BTreeMap<u64, u32> = BTreeMap::new();
            for (&number, &Sent { data: one, came_out, fate }) in sent {
                if seen.covered(one.block.start, one.block.end) > 0 {
                    let times = times.entry(one.block.start).or_insert(1);
                    *times += 1;
                    judged.push(Judged {
                        at: one.at,
                        frame: one.frame,
                        flow,
                        direction,
                        number,
                        seq: one.seq,
                        len: one.block.end - one.block.start,
                        nth: *times,
                        fate,
                        spurious: out.covers(one.block),
                        original_known: seen.covers(one.block),
                    });
                }
                seen.add(one.block);
                if came_out {
                    out.add(one.block);
                }
            }
        }
        judged
    }
}
