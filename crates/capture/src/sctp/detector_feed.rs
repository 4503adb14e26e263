//! Asks the registry's detectors about the retransmissions of an association.
//!
//! Away from the sender, a capture shows the sender's reactions late, by the round trip to the
//! sender and back. So SACKs wait here for that time before the detectors receive them.

use std::collections::VecDeque;

use crate::cause::detectors::{ChunkBytes, Departure, EpisodeDetectors, ReceivedAck, SenderState};
use crate::frame::decode::sctp::Sack;
use crate::order::CapturePoint;
use crate::result::{Cause, DetectorVerdict};
use eifel_base::ranges::{Block, Ranges};
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::fact::Ack;
use eifel_recovery::view::Negotiated;

/// SACKs that may be under way to the sender, and chunks watched. Beyond the first, the oldest SACK
/// counts as received; beyond the second, the detectors are dropped.
const MOST_WAITING: usize = 4096;
const MOST_WATCHED: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Chunk {
    len: u16,
    retransmitted: bool,
    reported: bool,
}

#[derive(Debug)]
struct Waiting {
    due: u64,
    frame: u64,
    cumulative: u64,
    gaps: Vec<Block>,
    duplicates: Vec<Block>,
}

/// Runs the detectors while a repair goes on.
#[derive(Debug, Default)]
pub(crate) struct DetectorFeed {
    detectors: EpisodeDetectors,
    una: u64,
    under_way: VecDeque<Chunk>,
    reported: Ranges,
    waiting: VecDeque<Waiting>,
    /// The end of the data sent at the last retransmission, or one window later.
    until: u64,
    /// Whether everything up to the first of these ends is acknowledged.
    repaired: bool,
}

impl DetectorFeed {
    /// Handles a retransmission of the chunk at `position`. `under_way` yields, for each chunk from
    /// `una` on, when it left and its length. Returns the number of the episode that it belongs to.
    pub(crate) fn on_retransmission(
        &mut self,
        (position, cause): (u64, Cause),
        una: u64,
        under_way: impl Iterator<Item = (u64, u16)>,
        point: &CapturePoint,
    ) -> Option<u32> {
        let now = point.when.nanos;
        self.receive_until(now);
        if self.detectors.current.is_none() {
            let chunks: Vec<_> = under_way.take(MOST_WATCHED).collect();
            let mss = chunks.iter().map(|(_, len)| u32::from(*len)).max().unwrap_or(1).max(1);
            let state = SenderState {
                now,
                una,
                round_trip: point.round_trip_at_least(),
                negotiated: Negotiated { mss, sack: true, timestamps: false },
                sctp: true,
            };
            let departed = chunks.iter().map(|(nanos, _)| Departure { nanos: *nanos, len: 1, stamp: None });
            self.detectors.start(&state, departed);
            self.una = una;
            self.under_way =
                chunks.iter().map(|(_, len)| Chunk { len: *len, retransmitted: false, reported: false }).collect();
            self.reported = Ranges::default();
        }
        let chunk = position.checked_sub(self.una).and_then(|index| self.under_way.get_mut(index as usize))?;
        chunk.retransmitted = true;
        (self.until, self.repaired) = (self.una + self.under_way.len() as u64, false);
        let block = Block { start: position, end: position + 1 };
        self.detectors.on_retransmission(now, block, cause, None)
    }

    /// Handles a chunk of `len` bytes that leaves for the first time.
    pub(crate) fn on_new(&mut self, len: u16, point: &CapturePoint) {
        self.receive_until(point.when.nanos);
        let Some(detectors) = &mut self.detectors.current else { return };
        if self.under_way.len() >= MOST_WATCHED {
            return self.forget();
        }
        detectors.on_new(&Departure { nanos: point.when.nanos, len: 1, stamp: None });
        self.under_way.push_back(Chunk { len, retransmitted: false, reported: false });
    }

    /// Handles a SACK that passes and acknowledges everything below `cumulative`.
    pub(crate) fn on_sack(&mut self, sack: &Sack<'_>, (cumulative, initial): (u64, Seq), point: &CapturePoint) {
        if self.detectors.current.is_none() {
            return;
        }
        if self.waiting.len() == MOST_WAITING {
            self.receive_next();
        }
        let base = cumulative - 1;
        let gap = |(first, last)| Block { start: base + u64::from(first), end: base + u64::from(last) + 1 };
        let gaps = sack.gaps().filter(|(first, last)| *first > 1 && first <= last).map(gap);
        let duplicate = |tsn| unwrap(cumulative, initial, tsn);
        let duplicates = sack.duplicates().map(duplicate).map(|start| Block { start, end: start + 1 });
        self.waiting.push_back(Waiting {
            due: point.when.nanos + point.sender_rtt().unwrap_or(0),
            frame: point.when.frame,
            cumulative,
            gaps: gaps.collect(),
            duplicates: duplicates.collect(),
        });
    }

    fn receive_until(&mut self, now: u64) {
        while self.waiting.front().is_some_and(|first| first.due <= now) {
            self.receive_next();
        }
    }

    fn receive_next(&mut self) {
        let Some(Waiting { due, frame, cumulative, gaps, duplicates }) = self.waiting.pop_front() else { return };
        let nxt = self.una + self.under_way.len() as u64;
        if cumulative < self.una || cumulative > nxt || gaps.iter().any(|gap| gap.end > nxt) {
            return;
        }
        let chunk_bytes = self.cover(cumulative, &gaps);
        let Some(detectors) = &mut self.detectors.current else { return };
        let ack =
            Ack { cumulative, sacks: &gaps, dsacks: &duplicates, echo: None, mark: None, plain: true, ece: false };
        detectors.on_ack(&ReceivedAck {
            now: due,
            frame,
            ack,
            echo: None,
            stamp: None,
            chunk_bytes: Some(chunk_bytes),
        });
        if cumulative >= self.until {
            // Duplicates of repaired chunks are reported up to a window later.
            if self.repaired {
                self.forget();
            }
            (self.until, self.repaired) = (nxt + 1, true);
        }
    }

    /// Removes the chunks that a SACK covers. Returns the bytes that it covers for the first time.
    fn cover(&mut self, cumulative: u64, gaps: &[Block]) -> ChunkBytes {
        let mut chunk_bytes = ChunkBytes::default();
        while self.una < cumulative
            && let Some(chunk) = self.under_way.pop_front()
        {
            self.una += 1;
            if !chunk.reported {
                chunk_bytes.acked += u64::from(chunk.len);
                chunk_bytes.originals += if chunk.retransmitted { 0 } else { u64::from(chunk.len) };
            }
        }
        self.reported.remove_below(self.una, |_| {});
        for gap in gaps {
            let (una, under_way) = (self.una, &mut self.under_way);
            self.reported.insert(*gap, |news| {
                for position in news.start..news.end {
                    let Some(chunk) = under_way.get_mut((position - una) as usize) else { continue };
                    chunk.reported = true;
                    chunk_bytes.sacked += u64::from(chunk.len);
                    chunk_bytes.originals += if chunk.retransmitted { 0 } else { u64::from(chunk.len) };
                }
            });
        }
        chunk_bytes
    }

    fn forget(&mut self) {
        self.detectors.stop();
        self.waiting.clear();
        self.under_way = VecDeque::new();
    }

    /// Ends the capture. Delivers the SACKs that are still waiting.
    pub(crate) fn finish(&mut self) {
        while !self.waiting.is_empty() {
            self.receive_next();
        }
        self.forget();
    }

    pub(crate) fn verdicts(&self, episode: u32) -> Vec<DetectorVerdict> {
        self.detectors.verdicts(episode)
    }
}
