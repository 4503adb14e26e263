//! Ground truth about a foreign sender: which of its retransmissions were needed.
//!
//! Only the box loses packets, so packets that it let out have reached the receiver. A
//! retransmission is *spurious* if every byte of it had an earlier copy that came out, even if that
//! copy came out after the retransmission was sent.

use super::{Direction, Fate, Passage};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::time::Instant;
use std::collections::BTreeMap;

/// A data segment as it came in, and whether it came out.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    frame: u64,
    block: Block,
    seq: u32,
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
        let (Some(block), Some(segment)) = (passage.seen.data, passage.seen.tcp) else { return };
        let flow = self.sent.entry((passage.seen.label.flow, passage.direction)).or_default();
        let (at, seq) = (passage.entered, segment.seq.0);
        flow.insert(passage.seen.number, Sent { at, frame, block, seq, came_out: false, fate: Fate::Inside });
    }

    /// Notes the fate of a packet, or of a copy of it.
    pub fn ends(&mut self, passage: &Passage) {
        let flow = self.sent.get_mut(&(passage.seen.label.flow, passage.direction));
        if let Some(sent) = flow.and_then(|flow| flow.get_mut(&passage.seen.number))
            && !sent.came_out
        {
            sent.came_out = matches!(passage.fate, Fate::Delivered | Fate::Copied);
            sent.fate = passage.fate;
        }
    }

    /// Judges all retransmissions, flow by flow, in the order in which they came in.
    pub fn judge(&self) -> Vec<Judged> {
        let mut judged = Vec::new();
        for (&(flow, direction), sent) in &self.sent {
            let (mut seen, mut out) = (Ranges::default(), Ranges::default());
            let mut times: BTreeMap<u64, u32> = BTreeMap::new();
            for one in sent.values() {
                if seen.covered(one.block.start, one.block.end) > 0 {
                    let times = times.entry(one.block.start).or_insert(1);
                    *times += 1;
                    judged.push(Judged {
                        at: one.at,
                        frame: one.frame,
                        flow,
                        direction,
                        seq: one.seq,
                        len: one.block.end - one.block.start,
                        nth: *times,
                        fate: one.fate,
                        spurious: out.covers(one.block),
                        original_known: seen.covers(one.block),
                    });
                }
                seen.add(one.block);
                if one.came_out {
                    out.add(one.block);
                }
            }
        }
        judged
    }
}
