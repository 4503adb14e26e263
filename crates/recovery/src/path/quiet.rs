//! Processing of an ACK of new data on a path where nothing is lost, SACKed, suspected or held
//! back.
//!
//! Four steps are skipped. Detectors all wait for a retransmission. Loss recovery said that it
//! would change nothing. No episode is open, so there is no verdict, and the timer learns nothing
//! from one. There is no pacing. [`Path::is_quiet`] and the driver's own checks ensure this. The
//! other steps are those of the full processing, in its order: the sample, the timer, and the
//! growth of the window.

use super::Path;
use crate::congest::Progress;
use crate::fact::{Covered, Echo};
use crate::rto::{RestartedBy, Sample};
use eifel_base::time::Instant;

impl Path {
    /// Processes an ACK of new data, after the view was refreshed. `highest` is the highest segment
    /// that it covers to its end. `oldest` is when the oldest outstanding segment was last sent.
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
        if self.restarted_by != RestartedBy::Nothing {
            self.timer = expires.max(now);
        }
    }
}
