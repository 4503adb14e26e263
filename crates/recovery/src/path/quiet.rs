//! What an ACK of new data does to a path on which nothing is lost, reported, suspected or held back.
//!
//! It skips the detectors, because all of them wait for a retransmission; loss recovery, which said that it would change
//! nothing; verdicts and what the timer learns from them, because there is no open episode; and pacing, because there is
//! none. [`Path::is_quiet`] and the driver's own questions establish that. What is left is what the full way does, in its
//! order: the sample, the timer with it, and the growth of the window.

use super::Path;
use crate::congest::Progress;
use crate::fact::{Covered, Echo};
use crate::rto::Sample;
use eifel_base::time::Instant;

impl Path {
    /// Takes in an ACK of new data, after the view was refreshed. `highest` is the highest segment that it covers to its
    /// end, `oldest` when the segment left that is outstanding the longest.
    #[inline(always)]
    pub(crate) fn on_quiet_ack(
        &mut self,
        (cumulative, echo): (u64, Option<Echo>),
        highest: Option<Covered>,
        oldest: Instant,
        progress: &Progress,
    ) {
        let now = self.watch.view().now;
        let expires = match self.watch.on_plain_ack(highest, cumulative, echo) {
            Some(rtt) => {
                let sample = Sample { rtt, acked: progress.acked, window: self.window };
                let started = self.rto.sample_and_start(&sample, self.watch.view(), oldest);
                self.watch.on_smoothed(started.srtt());
                started.expires
            }
            None => self.rto.expires(now, oldest),
        };
        self.grow(progress);
        self.timer = expires.max(now);
    }
}
