//! Processes arriving segments (RFC 9293, section 3.10.7; RFC 5961; RFC 7323, section 5).

use core::ops::ControlFlow;
use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::unwrap;
use eifel_recovery::fact::{Ack, Block, Echo};

use crate::connection::Connection;
use crate::event::Event;
use crate::handshake::length;
use crate::receive::Arrival;
use crate::sack_option::Reported;
use crate::state::{Opening, State};
use crate::tail::Tail;

const SYN_OR_RST: u16 = Flags::SYN.0 | Flags::RST.0;

impl Connection {
    /// Processes an arriving segment. `payload` has `segment.payload_len` bytes, or none if this
    /// end does not store bytes. If this end stores bytes, it ignores a segment without its
    /// payload.
    #[inline]
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment, payload: &[u8]) {
        if !self.plain || !self.plain_arrival(now, segment, payload) {
            self.any_arrival(now, segment, payload);
        }
    }

    #[inline(never)]
    fn any_arrival(&mut self, now: Instant, segment: &Segment, payload: &[u8]) {
        match self.state {
            State::Closed => self.reset_back(segment),
            State::Listen => self.listening_arrival(now, segment),
            _ if self.receiver.holds_bytes() && payload.len() as u64 != u64::from(segment.payload_len) => {}
            State::SynSent => self.calling_arrival(now, segment, payload),
            State::TimeWait { .. } if self.is_late(segment) => self.late_arrival(now, segment),
            _ => self.synchronised_arrival(now, segment, payload),
        }
    }

    fn synchronised_arrival(&mut self, now: Instant, segment: &Segment, payload: &[u8]) {
        let start = self.receiver.position(segment.seq);
        let mut block = Block { start, end: start + length(segment) };
        if block.end > block.start {
            self.marks.on_segment(segment);
        }
        if segment.flags.0 & SYN_OR_RST != 0 {
            if self.handle_control(now, segment, &mut block).is_break() {
                return;
            }
        } else if self.check_timestamp(now, segment, block).is_break() {
            return;
        } else if !self.receiver.accepts(block.start, block.end) {
            self.take_acknowledgement_of_old(now, segment, block);
            return self.refuse(now, segment, block);
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if self.take_acknowledgement(now, segment, block).is_break() {
            return;
        }
        if block.end > block.start {
            if self.ecn.is_agreed() {
                self.ecn.on_segment(segment);
            }
            self.take_data(now, segment, block, payload);
        }
    }

    /// Drops an old segment, or one without the negotiated timestamps: PAWS (RFC 7323, sections 3.2
    /// and 5.3, R1).
    #[inline]
    fn check_timestamp(&mut self, now: Instant, segment: &Segment, block: Block) -> ControlFlow<()> {
        let Some(stamps) = &self.stamps else { return ControlFlow::Continue(()) };
        match segment.options.timestamps {
            Some(stamp) if !stamps.is_old(now, stamp.value) => ControlFlow::Continue(()),
            Some(_) => {
                self.rare.counted().old_timestamps += 1;
                self.answer_unacceptable(now, block);
                ControlFlow::Break(())
            }
            None if !stamps.are_required() => ControlFlow::Continue(()),
            None => {
                self.rare.counted().missing_timestamps += 1;
                ControlFlow::Break(())
            }
        }
    }

    /// Processes a segment with SYN or RST in a synchronised state (RFC 5961, sections 3.2 and
    /// 4.2). Its timestamp is not checked, because a reset may carry none or a wrong one.
    fn handle_control(&mut self, now: Instant, segment: &Segment, block: &mut Block) -> ControlFlow<()> {
        if segment.flags.has(Flags::RST) {
            if block.start == self.receiver.nxt {
                let event = match self.state {
                    State::SynReceived(_) => Event::Refused,
                    State::TimeWait { .. } => Event::Closed,
                    _ => Event::Reset,
                };
                self.fail(event);
            } else if (self.receiver.nxt..self.receiver.window.edge).contains(&block.start) {
                self.challenge(now);
            } else {
                self.rare.counted().outside_window += 1;
            }
            return ControlFlow::Break(());
        }
        // The SYN-ACK of a simultaneous open repeats the peer's SYN.
        let acks_syn = segment.flags.has(Flags::ACK) && unwrap(1, self.iss, segment.ack) == 1;
        if matches!(self.state, State::SynReceived(_)) && block.start == 0 && acks_syn {
            block.start = 1;
            self.receiver.due.now();
            return self.check_timestamp(now, segment, *block);
        }
        // The peer repeats its SYN because the SYN-ACK was lost. The peer is in SYN-SENT, so a
        // challenge ACK would not help.
        if self.state == State::SynReceived(Opening::Passive) && block.start == 0 && !segment.flags.has(Flags::ACK) {
            self.ecn.on_repeated_syn(segment);
            if self.may_answer(now) {
                self.engine.repeat_handshake();
            }
            return ControlFlow::Break(());
        }
        self.challenge(now);
        ControlFlow::Break(())
    }

    /// Drops a segment that is not acceptable, and answers it (RFC 9293, section 3.10.7.4, first
    /// check).
    fn refuse(&mut self, now: Instant, segment: &Segment, block: Block) {
        self.rare.counted().outside_window += 1;
        let duplicate = block.end <= self.receiver.nxt;
        if let (true, Some(stamps), Some(stamp)) = (duplicate, &mut self.stamps, segment.options.timestamps) {
            stamps.duplicate(now, stamp.value);
        }
        if let State::TimeWait { .. } = self.state
            && segment.flags.has(Flags::FIN)
        {
            self.set_state(State::TimeWait { until: now + self.rare.open_settings.time_wait });
        }
        self.answer_unacceptable(now, block);
    }

    /// Processes the acknowledgement of a segment without data below the window, although the
    /// segment is not acceptable. RFC 9293, section 3.10.7.4, asks for this allowance. Another
    /// segment overtook it, or the peer does not know that its window probe was accepted. If this
    /// happened to both ends at once, neither would make progress otherwise.
    #[cold]
    fn take_acknowledgement_of_old(&mut self, now: Instant, segment: &Segment, block: Block) {
        let behind = block.start == block.end && block.end < self.receiver.nxt;
        if behind && segment.flags.has(Flags::ACK) && !matches!(self.state, State::SynReceived(_)) {
            // The rest of this segment is ignored, whatever the outcome.
            _ = self.take_acknowledgement(now, segment, block);
        }
    }

    /// Answers an unacceptable segment. A segment with data is always answered, so that its sender
    /// learns the cumulative ACK. Other answers are limited, so that two ends do not answer each
    /// other for ever.
    pub(crate) fn answer_unacceptable(&mut self, now: Instant, block: Block) {
        if block.end > block.start { self.receiver.answer_unacceptable(block) } else { self.challenge(now) }
    }

    /// Processes the acknowledgement field, with the window and the options.
    #[inline]
    fn take_acknowledgement(&mut self, now: Instant, segment: &Segment, block: Block) -> ControlFlow<()> {
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let ack = unwrap(una, self.iss, segment.ack);
        let handshake = matches!(self.state, State::SynReceived(_));
        if ack > nxt || ack + self.peer.largest() < una || handshake && ack <= una {
            self.rare.counted().refused_acks += 1;
            if handshake {
                self.reset_back(segment)
            } else {
                self.challenge(now)
            }
            return ControlFlow::Break(());
        }
        // Options are used only after this check: a valid acknowledgement field is no blind guess
        // (RFC 5961, section 5.2). A segment without anything new does not change TS.Recent.
        if let (Some(stamps), Some(stamp), true) =
            (&mut self.stamps, segment.options.timestamps, block.end >= self.receiver.nxt)
        {
            stamps.accept(now, stamp.value, block.start, self.receiver.last_ack_sent);
        }
        if ack < una {
            self.take_report(now, segment, ack, false);
            return ControlFlow::Continue(());
        }
        self.take_current_acknowledgement(now, segment, block, ack);
        if handshake {
            let early = self.rare.handshake_mut().early.take();
            self.become_established(now);
            if let Some(arrival) = early {
                self.receiver.schedule_ack(now, arrival);
                self.acknowledge_quickly(now);
                self.tell_arrival(now, segment, arrival);
            }
        }
        if self.state == State::Closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Processes an acceptable acknowledgement that is not below SND.UNA: updates the window, then
    /// the engine.
    #[inline(always)]
    pub(crate) fn take_current_acknowledgement(&mut self, now: Instant, segment: &Segment, block: Block, ack: u64) {
        let outstanding = self.engine.nxt() > self.engine.una();
        let window_changed = self.peer.update(block.start, ack, segment.window);
        // The answer to a window probe is no duplicate ACK: a closed window has no room for a
        // retransmission.
        let plain = block.start == block.end && !window_changed && !self.peer.is_closed();
        if !outstanding {
            self.take_report(now, segment, ack, plain);
        } else {
            self.acknowledge_to_engine(now, ack, segment, plain);
            if self.peer.is_closed() {
                // The connection stays open as long as the peer answers probes (RFC 9293, section 3.8.6.1).
                self.user_timeout.forgiven_timeouts = self.engine.consecutive_timeouts();
            }
        }
    }

    /// Passes an acceptable acknowledgement to the engine, while data is outstanding.
    #[inline(never)]
    pub(crate) fn acknowledge_to_engine(&mut self, now: Instant, cumulative: u64, segment: &Segment, plain: bool) {
        let una = self.engine.una();
        let echo = self.valid_echo(now, segment);
        let ack = Ack {
            cumulative,
            sacks: &[],
            dsacks: &[],
            echo,
            mark: self.marks.read(segment),
            plain,
            ece: self.ecn.has_ece(segment),
        };
        if self.reports(segment) {
            self.report_to_engine(now, &Ack { ..ack }, segment);
        } else {
            self.engine.on_ack(now, &ack);
        }
        if cumulative > una {
            self.after_progress(now, cumulative);
        }
    }

    /// Passes an acknowledgement with SACK blocks to the engine.
    #[inline(never)]
    fn report_to_engine(&mut self, now: Instant, ack: &Ack<'_>, segment: &Segment) {
        let reported = self.read_report(segment, ack.cumulative);
        if self.is_copied(segment, reported.dsack) && ack.cumulative == self.engine.una() {
            return;
        }
        self.engine.on_ack(now, &Ack { sacks: reported.blocks(), dsacks: reported.dsack.as_slice(), ..*ack });
    }

    /// Passes the report of an acceptable ACK to the engine if it acknowledges nothing: `ack` is
    /// below SND.UNA, or no data is outstanding. Most DSACKs arrive this way (RFC 3708, section 3),
    /// and so do answers to tail loss probes (RFC 8985, section 7.4.2).
    #[cold]
    fn take_report(&mut self, now: Instant, segment: &Segment, ack: u64, plain: bool) {
        self.on_probe_answered();
        let mut report =
            Ack { cumulative: self.engine.una(), sacks: &[], dsacks: &[], echo: None, mark: None, plain, ece: false };
        let reported;
        if self.reports(segment) {
            reported = self.read_report(segment, ack);
            if self.is_copied(segment, reported.dsack) {
                return;
            }
            report.sacks = reported.blocks();
            report.dsacks = reported.dsack.as_slice();
        } else if !plain || !self.engine.awaits_duplicates() {
            return;
        }
        self.engine.on_ack(now, &report);
    }

    /// Returns whether a segment has SACK blocks, and SACK was negotiated.
    #[inline(always)]
    fn reports(&self, segment: &Segment) -> bool {
        !segment.options.sack.is_empty() && self.receiver.agreed_on_sack()
    }

    /// Reads the SACK blocks of a segment with the cumulative ACK `ack`.
    fn read_report(&mut self, segment: &Segment, ack: u64) -> Reported {
        let reported = Reported::read(&segment.options.sack, self.iss, ack, self.engine.nxt());
        if reported.ignored > 0 {
            self.rare.counted().ignored_sack_blocks += u64::from(reported.ignored);
        }
        reported
    }

    /// Returns whether the previous ACK with a DSACK reported the same duplicate with the same
    /// timestamp. If so, the network has duplicated the ACK, and no second copy of the data has
    /// arrived.
    fn is_copied(&mut self, segment: &Segment, dsack: Option<Block>) -> bool {
        let told = dsack.zip(segment.options.timestamps.map(|stamps| stamps.value));
        let Some(told) = told else { return false };
        let again = self.rare.reported.as_deref() == Some(&told);
        self.rare.reported = Some(Box::new(told));
        again
    }

    /// Returns the meaning of a segment's timestamp echo. `None` without timestamps, or for an
    /// unknown value.
    #[inline(always)]
    fn valid_echo(&mut self, now: Instant, segment: &Segment) -> Option<Echo> {
        let stamp = segment.options.timestamps?;
        let echo = self.stamps.as_mut()?.classify_echo(now, stamp.echo, self.engine.scoreboard());
        match echo {
            Some(Echo::Known { .. }) => {}
            Some(Echo::Forged) => self.rare.counted().forged_echoes += 1,
            None => self.rare.counted().ignored_echoes += 1,
        }
        echo
    }

    /// Frees acknowledged data in the send buffer, and restarts the user timeout. Closes this
    /// direction if the FIN is acknowledged.
    #[inline]
    fn after_progress(&mut self, now: Instant, una: u64) {
        let end = self.stream.end();
        // Segments of this size get through, so an ICMP message that claimed a smaller path MTU was wrong.
        self.claimed_payload = None;
        self.user_timeout.forgiven_timeouts = 0;
        if self.tail == Tail::Push {
            self.push_after_progress();
        }
        if self.stream.release(una.saturating_sub(1)) {
            self.events.push_back(Event::Writable);
        }
        self.user_timeout.until = if una == end { Instant::NEVER } else { now + self.user_timeout.length };
        if una == end && self.stream.is_finished() {
            let time_wait_end = now + self.rare.open_settings.time_wait;
            self.enter(self.state.after_fin_acknowledged(time_wait_end));
            if self.state == State::FinWait2 && self.rare.send_options.has_left() {
                self.user_timeout.until = now + self.rare.open_settings.fin_wait_2;
            }
        }
    }

    /// Makes the acknowledgement of a data segment due now, if it is one of the first segments.
    fn acknowledge_quickly(&mut self, now: Instant) {
        if self.rare.quick.on_arrival(now) {
            self.receiver.due.now();
            self.set_state(self.state);
        }
    }

    /// Processes an acceptable segment's data and FIN.
    pub(crate) fn take_data(&mut self, now: Instant, segment: &Segment, block: Block, payload: &[u8]) {
        let arrival = self.receiver.take(now, block, segment.flags.has(Flags::FIN), payload);
        self.acknowledge_quickly(now);
        self.tell_arrival(now, segment, arrival);
    }

    #[inline(never)]
    pub(crate) fn tell_arrival(&mut self, now: Instant, segment: &Segment, arrival: Arrival) {
        match arrival {
            Arrival::Nothing => {}
            Arrival::Readable | Arrival::Finished { readable: true } if self.rare.send_options.has_left() => {
                self.reset_back(segment);
                self.enter(State::Closed);
            }
            Arrival::Readable => self.events.push_back(Event::Readable),
            Arrival::Finished { readable } => {
                if readable {
                    self.events.push_back(Event::Readable);
                }
                self.events.push_back(Event::PeerClosed);
                if self.state == State::FinWait2 {
                    self.user_timeout.until = Instant::NEVER;
                }
                let time_wait_end = now + self.rare.open_settings.time_wait;
                self.enter(self.state.after_fin_received(time_wait_end));
            }
        }
    }

    /// Sends a challenge ACK, within the limit.
    pub(crate) fn challenge(&mut self, now: Instant) {
        if self.may_answer(now) {
            self.receiver.due.now();
        }
    }

    /// Takes a challenge ACK from the limit and counts the outcome. Returns whether it may be sent.
    fn may_answer(&mut self, now: Instant) -> bool {
        let may = self.rare.challenges.take(now);
        let counts = self.rare.counted();
        *if may { &mut counts.challenges } else { &mut counts.withheld_challenges } += 1;
        may
    }
}
