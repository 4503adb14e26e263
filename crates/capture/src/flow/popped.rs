//! Segments that one ACK covers.

use super::When;
use super::again::Trouble;
use super::half::Setting;
use super::sent::Sent;
use eifel_base::ranges::Block;

/// Segments that one ACK covers.
#[derive(Clone, Debug, Default)]
pub(super) struct Popped {
    /// When the lowest left, if it answers its first sending.
    pub(super) front: Option<u64>,
    /// Those whose first sending it answers, put together where they touch.
    pub(super) originals: Vec<Block>,
    pub(super) reported_before: bool,
    /// How many there are.
    pub(super) count: usize,
    /// Duplicate ACKs that came before it.
    pub(super) duplicates: u32,
}

impl Popped {
    /// Begins with another ACK, in the same memory.
    pub(super) fn reused(&mut self, duplicates: u32) -> Self {
        let mut originals = std::mem::take(&mut self.originals);
        originals.clear();
        Self { originals, duplicates, ..Self::default() }
    }

    /// Whether first sendings above `position` are among them.
    pub(super) fn beyond(&self, position: u64) -> bool {
        self.originals.last().is_some_and(|block| block.end > position)
    }

    /// Whether the ACK at `when` is the first for the data that end at `position`, and those were sent once.
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
