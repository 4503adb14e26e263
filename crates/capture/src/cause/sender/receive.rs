//! Delivers the waiting ACKs to the models and detectors once the sender receives them.

use super::{MOST_RANGES, SenderModel, Waiting};
use crate::cause::detectors;
use crate::cause::model::AckReceived;
use crate::order::has_received;
use crate::stream::{Acknowledgement, Reports};
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use eifel_recovery::fact::Ack;

impl SenderModel {
    /// Delivers the ACKs that the sender received by `now`. The timestamp that it echoes shows
    /// which ACK it received last; without timestamps, only the time does.
    #[inline(never)]
    pub(crate) fn receive_until(&mut self, now: u64, echo: Option<Timestamp>) {
        while let Some(first) = self.waiting.front() {
            if !has_received(first.soonest, first.stamp, now, echo, 0) {
                self.last_echo = echo.filter(|_| first.stamp.is_some());
                return;
            }
            // The sender's previous segment shows that it had not received this ACK by then.
            let soonest = if first.stamp.is_some() && echo.is_some() { self.last_sent.min(now) } else { 0 };
            let una = self.una;
            self.receive_next();
            self.last_ack = self.last_ack.clamp(soonest, now);
            if self.una > una {
                self.timer_since = self.timer_since.clamp(soonest, now);
            }
        }
        self.last_echo = echo;
    }

    pub(crate) fn receive_next(&mut self) {
        let Some(one) = self.waiting.pop_front() else { return };
        let reports = if one.reports { self.reports.pop_front() } else { None };
        if self.models.is_idle() && reports.is_none() && one.cumulative > self.una && self.sacked.is_empty() {
            self.receive_new(&one);
        } else {
            self.receive_fully(&one.with(reports), one.due, one.sack);
        }
        if let Some(detectors) = &mut self.detectors.current {
            let facts = Ack {
                cumulative: one.cumulative,
                sacks: reports.as_ref().map_or(&[], Reports::sacks),
                dsacks: reports.as_ref().map_or(&[], |reports| reports.dsack.as_slice()),
                echo: None,
                mark: None,
                plain: one.plain,
                ece: false,
            };
            let (now, frame, echo, stamp) = (one.due, one.when.frame, one.detector_echo, one.stamp);
            detectors.on_ack(&detectors::ReceivedAck { now, frame, ack: facts, echo, stamp, chunk_bytes: None });
        }
    }

    /// Delivers an ACK of new data without reports that no model would react to.
    #[inline]
    fn receive_new(&mut self, ack: &Waiting) {
        if !ack.sack {
            self.suspected.on_ack(&ack.with(None), self.nxt, false, None);
        }
        if let Some(rack) = &mut self.rack {
            rack.on_delivered(Block { start: self.una, end: ack.cumulative }, ack.due, ack.detector_echo);
        }
        self.models.triggers.on_delivered(Block { start: self.una, end: ack.cumulative }, self.rack.as_ref());
        if let Some(rack) = &mut self.rack {
            rack.remove_below(ack.cumulative);
        }
        self.una = ack.cumulative;
        self.nxt = self.nxt.max(self.una);
        if !self.retransmitted.is_empty() {
            self.retransmitted.remove_below(self.una, |_| {});
        }
        self.duplicates = 0;
        self.timer_since = ack.due;
        self.last_ack = ack.due;
    }

    #[inline(never)]
    fn receive_fully(&mut self, ack: &Acknowledgement, due: u64, sack: bool) {
        self.suspected.on_ack(ack, self.nxt, sack, self.sacked.highest());
        let advances = ack.cumulative > self.una;
        let (lowest, reported) = self.report(ack, advances, due);
        // Away from the sender, the data that it repeats the ACK for may pass later.
        let outstanding = self.nxt > self.una || due > ack.when.nanos;
        let duplicate = !advances && ack.cumulative == self.una && outstanding && (ack.plain || reported > 0);
        if advances {
            self.una = ack.cumulative;
            self.nxt = self.nxt.max(self.una);
            if let Some(rack) = &mut self.rack {
                rack.remove_below(self.una);
            }
            self.sacked.remove_below(self.una, |_| {});
            self.retransmitted.remove_below(self.una, |_| {});
            self.duplicates = 0;
            self.timer_since = due;
        } else if duplicate {
            self.duplicates += 1;
        }
        self.last_ack = due;
        let ack = AckReceived {
            now: due,
            una: self.una,
            nxt: self.nxt,
            advances,
            duplicate: if sack { reported > 0 || duplicate } else { duplicate },
            original_below: lowest,
            echo: ack.echo,
            sacks: ack.reports.sacks,
            dsack: ack.reports.dsack,
            sack,
        };
        self.models.on_ack(&ack);
    }

    /// Marks the data that an ACK covers as received. Returns the lowest newly covered position
    /// that was sent once, and the number of bytes that SACK blocks newly report.
    pub(crate) fn report(&mut self, ack: &Acknowledgement, advances: bool, due: u64) -> (Option<u64>, u64) {
        let (mut lowest, mut reported): (Option<u64>, u64) = (None, 0);
        let (retransmitted, rack, triggers) = (&self.retransmitted, &mut self.rack, &mut self.models.triggers);
        let mut once = |gap: Block, echo| {
            if let Some(rack) = rack {
                rack.on_delivered(gap, due, echo);
            }
            triggers.on_delivered(gap, rack.as_ref());
            let start = retransmitted.containing(gap.start).map_or(gap.start, |range| range.end);
            if start < gap.end {
                lowest = Some(lowest.map_or(start, |lowest| lowest.min(start)));
            }
        };
        if advances {
            // Data that SACK reported before are no news (RFC 5682, section 3.1).
            self.sacked.insert(Block { start: self.una, end: ack.cumulative }, |gap| once(gap, ack.echo));
        }
        for block in ack.reports.sacks() {
            if self.sacked.count() < MOST_RANGES && block.start > self.una {
                self.sacked.insert(*block, |gap| {
                    reported += gap.end - gap.start;
                    once(gap, None);
                });
            }
        }
        (lowest, reported)
    }
}
