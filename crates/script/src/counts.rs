//! Counts of a run that the connection does not keep.

use crate::run::clocks::Clocks;
use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_recovery::detect::Outcome as Judged;
use eifel_recovery::engine;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) segments_in: u64,
    pub(crate) segments_out: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) episodes: u64,
    pub(crate) spurious: u64,
    pub(crate) genuine: u64,
    /// Verdict on the last episode: 0 none, 1 spurious, 2 genuine.
    pub(crate) verdict: u64,
    /// When data, or a SYN, arrived last.
    pub(crate) last_arrival: Instant,
    /// Bytes of the longest segment that arrived.
    pub(crate) longest_in: u32,
    pub(crate) clocks: Clocks,
}

impl Counts {
    pub(crate) fn note_arrival(&mut self, now: Instant, segment: &Segment) {
        self.segments_in += 1;
        if segment.payload_len > 0 || segment.flags.has(Flags::SYN) {
            self.last_arrival = now;
            self.longest_in = self.longest_in.max(segment.payload_len);
        }
    }

    pub(crate) fn note(&mut self, event: &engine::Event) {
        match event {
            engine::Event::TimerExpired { .. } => self.timeouts += 1,
            engine::Event::EpisodeOpened { .. } => {
                self.episodes += 1;
                self.verdict = 0;
            }
            engine::Event::Judged { detector: 0, outcome: Judged::Spurious, .. } => {
                self.spurious += 1;
                self.verdict = 1;
            }
            engine::Event::Judged { detector: 0, outcome: Judged::Genuine, .. } => {
                self.genuine += 1;
                self.verdict = 2;
            }
            _ => {}
        }
    }
}
