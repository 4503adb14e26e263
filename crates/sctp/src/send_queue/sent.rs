//! The sent chunks that are not acknowledged yet, in order.
//!
//! In a bulk transfer of zeros, all chunks are equal except for their numbers.
//! Consecutive equal chunks form one run. Sending a chunk then costs a comparison, and
//! acknowledging it a subtraction.

use std::collections::VecDeque;

use eifel_base::time::Instant;
use eifel_packet::sctp::DataFlags;
use eifel_packet::seq::Seq;

use super::Content;
use crate::packet::Data;

/// Flags and identifiers of a chunk within its message and stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChunkFields {
    pub(super) flags: DataFlags,
    pub(super) stream: u16,
    pub(super) ssn: u16,
    pub(super) ppid: [u8; 4],
    /// When the message expires; [`Instant::NEVER`] if it never does.
    pub(super) expires: Instant,
}

impl ChunkFields {
    /// Returns a chunk of `len` bytes of user data.
    #[inline]
    pub(super) fn data(self, tsn: Seq, len: usize) -> Data {
        let Self { flags, stream, ssn, ppid, expires: _ } = self;
        Data { flags, tsn, stream, ssn, ppid, len: len as u32, at: None }
    }

    /// Returns the number of the message that follows `ahead` messages later in the run.
    #[inline]
    fn ssn_behind(&self, ahead: u64) -> u16 {
        if self.flags.has(DataFlags::UNORDERED) || !self.flags.has(DataFlags::WHOLE) {
            return self.ssn;
        }
        self.ssn.wrapping_add(ahead as u16)
    }
}

/// A sent chunk: the bytes from `start` to `end` of a message.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) place: ChunkFields,
    pub(super) content: Content,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Whole messages that are equal except for their numbers, or one chunk.
#[derive(Clone, Debug)]
struct Run {
    chunk: Chunk,
    /// Position of the first chunk, which may be acknowledged already.
    position: u64,
}

/// The chunks from position `una` up to, not including, `nxt`.
#[derive(Clone, Debug, Default)]
pub(super) struct SentChunks {
    runs: VecDeque<Run>,
    una: u64,
    nxt: u64,
}

impl SentChunks {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.una == self.nxt
    }

    /// Returns the position of the first chunk.
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// Returns the position of the next chunk.
    #[inline]
    pub(super) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns the number of chunks.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.nxt - self.una
    }

    #[cfg(test)]
    pub(super) fn runs(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn push(&mut self, chunk: Chunk) {
        self.runs.push_back(Run { chunk, position: self.nxt });
        self.nxt += 1;
    }

    /// Adds a chunk of `len` bytes if it extends the last run. Returns whether it does.
    #[inline]
    pub(super) fn extend_run(&mut self, place: &ChunkFields, content: &Content, len: usize) -> bool {
        let Some(Run { chunk, position }) = self.runs.back() else { return false };
        let expected = ChunkFields { ssn: chunk.place.ssn_behind(self.nxt - position), ..chunk.place };
        let whole = place.flags.has(DataFlags::WHOLE) && len == chunk.end;
        let prolongs = whole && *place == expected && content.is_equal(&chunk.content);
        self.nxt += u64::from(prolongs);
        prolongs
    }

    /// Adds a chunk that equals the last one except for its number. Returns its place. Returns
    /// `None`, with nothing changed, if there is no run.
    #[inline(always)]
    pub(super) fn extend_run_by_equal(&mut self) -> Option<ChunkFields> {
        let Run { chunk, position } = self.runs.back()?;
        let ssn = chunk.place.ssn_behind(self.nxt - position);
        self.nxt += 1;
        Some(ChunkFields { ssn, ..chunk.place })
    }

    /// Returns the first chunk of the run at `position`, and the stream sequence number at
    /// `position`. The run's chunks differ only in this number.
    pub(super) fn get(&self, position: u64) -> (&Chunk, u16) {
        let behind = self.runs.partition_point(|run| run.position <= position);
        let Run { chunk, position: first } = &self.runs[behind - 1];
        (chunk, chunk.place.ssn_behind(position - first))
    }

    /// Drops the chunks below `una`, which must be at most `nxt`. Calls `gone` with each distinct
    /// chunk and the number of equal ones dropped.
    #[inline]
    pub(super) fn drop_below(&mut self, una: u64, mut gone: impl FnMut(&Chunk, usize)) {
        while self.una < una {
            let end = self.runs.get(1).map_or(self.nxt, |next| next.position);
            let run = self.runs.front().expect("what is acknowledged was sent");
            gone(&run.chunk, (end.min(una) - self.una) as usize);
            self.una = end.min(una);
            if end <= una {
                self.runs.pop_front();
            }
        }
    }
}
