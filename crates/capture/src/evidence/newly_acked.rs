//! The segments that one ACK covers.

use super::When;
use super::again::Trouble;
use super::half::Setting;
use super::sent::Sent;
use eifel_base::ranges::Block;

/// A summary of the segments that one ACK covers.
#[derive(Clone, Debug, Default)]
pub(super) struct Popped {
    /// When the first sending of the lowest segment left, if the ACK answers that sending.
    pub(super) front: Option<u64>,
    /// The data whose first sending the ACK answers, as maximal blocks in ascending order.
    pub(super) originals: Vec<Block>,
    pub(super) reported_before: bool,
    /// The number of segments.
    pub(super) count: usize,
    /// The number of duplicate ACKs before this ACK.
    pub(super) duplicates: u32,
}

impl Popped {
    /// Returns an empty summary for the next ACK, which reuses the memory.
    pub(super) fn reused(&mut self, duplicates: u32) -> Self {
        let mut originals = std::mem::take(&mut self.originals);
        originals.clear();
        Self { originals, duplicates, ..Self::default() }
    }

    /// Returns whether the ACK answers first sendings above `position`.
    pub(super) fn beyond(&self, position: u64) -> bool {
        self.originals.last().is_some_and(|block| block.end > position)
    }

    /// Returns `when` if the ACK at `when` is the first for the data that end at `position`, and
    /// these were sent once.
    pub(super) fn neighbour(&self, position: u64, when: When) -> Option<When> {
        self.originals.iter().any(|block| block.start < position && position <= block.end).then_some(when)
    }

    pub(super) fn note(&mut self, sent: &Sent, trouble: &Trouble, setting: &Setting) {
        self.judge(sent, trouble, setting);
        self.count += 1;
    }

    fn judge(&mut self, sent: &Sent, trouble: &Trouble, setting: &Setting) {
        if !trouble.sacked.is_empty() && trouble.sacked.covered(sent.start, sent.end()) > 0 {
            self.reported_before = true;
            return;
        }
        let original = sent.copies == 1
            || trouble.repeated.get(&sent.start).and_then(|one| one.sendings.get(1)).is_some_and(|second| {
                second.nanos.saturating_add(setting.receiver().unwrap_or(0)) > setting.when.nanos
            });
        if original && !sent.missing {
            if self.count == 0 {
                self.front = Some(sent.nanos);
            }
            match self.originals.last_mut().filter(|last| last.end == sent.start) {
                Some(last) => last.end = sent.end(),
                None => self.originals.push(Block { start: sent.start, end: sent.end() }),
            }
        }
    }
}
