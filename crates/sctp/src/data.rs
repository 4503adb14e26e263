//! Processes DATA, SACK and FORWARD TSN (RFC 9260, sections 6.2 and 6.2.1; RFC 3758, section 3.6).

use core::ops::ControlFlow;

use eifel_base::time::Instant;
use eifel_packet::sctp::{Cause, Chunk, DataFlags, ForwardTsn, Sack, SackFlags};
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::association::{PathId, Sack as Acknowledged};
use eifel_recovery::fact::{Block, Mark};

use crate::association::{Association, Inbound};
use crate::event::Event;
use crate::input::Origin;
use crate::packet::Data;
use crate::state::State;

impl Inbound {
    /// Requests an immediate SACK if the window has grown by a quarter of the buffer since the last
    /// SACK (section 6.2) [rfc8540:3.28].
    #[inline]
    pub(crate) fn update_window(&mut self, buffer: usize) {
        let free = buffer.saturating_sub(self.reassembly.held());
        if free >= self.advertised + buffer / 4 {
            self.tracker.acknowledge_now();
        }
    }
}

impl Association {
    /// Processes a DATA chunk. `payload` is empty for zeros.
    pub(crate) fn on_data(&mut self, origin: &Origin, data: &Data, payload: &[u8]) -> ControlFlow<()> {
        if !self.state.takes_data() {
            return ControlFlow::Continue(());
        }
        if data.len == 0 {
            self.abort_for_violation(Cause::NoUserData(data.tsn), "DATA without user data");
            return ControlFlow::Break(());
        }
        let Some(inbound) = &mut self.inbound else { return ControlFlow::Continue(()) };
        if let Some(path) = origin.path {
            // Section 6.4: SACKs follow the newest DATA [rfc8540:3.29].
            inbound.answer_to = path;
        }
        if self.extensions.retransmit_bit && data.flags.has(DataFlags::SENT_AGAIN) {
            inbound.tracker.note_retransmission();
        }
        if let (Some(stamps), Some(stamp)) = (&mut self.stamps, self.stamp) {
            stamps.on_arrival(inbound.tracker.position(data.tsn), stamp.value);
        }
        let Some(position) = inbound.tracker.check(data.tsn, data.flags.has(DataFlags::IMMEDIATE)) else {
            return ControlFlow::Continue(());
        };
        if !make_room(inbound, position) {
            inbound.tracker.refuse();
            return ControlFlow::Continue(());
        }
        inbound.tracker.accept(position);
        if data.stream >= inbound.streams {
            // Section 6.5: the chunk is acknowledged, reported and dropped.
            self.report_error(origin, Cause::InvalidStream(data.stream));
            return ControlFlow::Continue(());
        }
        let readable = self.drained.is_some() || inbound.reassembly.is_readable();
        if inbound.reassembly.insert(position, data, payload).is_err() {
            self.abort_for_violation(
                Cause::ProtocolViolation(b"fragments contradict each other"),
                "contradictory fragments",
            );
            return ControlFlow::Break(());
        }
        if !readable && inbound.reassembly.is_readable() {
            self.events.push_back(Event::Readable);
        }
        ControlFlow::Continue(())
    }

    pub(crate) fn on_forward_tsn(&mut self, forward: &ForwardTsn<'_>) {
        let Some(inbound) = self.inbound.as_mut().filter(|_| self.state.takes_data()) else { return };
        let position = inbound.tracker.position(forward.cumulative) + 1;
        // A TSN more than a quarter of the number space ahead was never sent.
        if position > inbound.tracker.next() + (1 << 30) || !inbound.tracker.forward(position) {
            return;
        }
        let readable = self.drained.is_some() || inbound.reassembly.is_readable();
        inbound.reassembly.forward(position);
        for skipped in forward.skipped().filter(|skipped| skipped.stream < inbound.streams) {
            inbound.reassembly.skip(skipped.stream, skipped.ssn);
        }
        if !readable && inbound.reassembly.is_readable() {
            self.events.push_back(Event::Readable);
        }
    }

    pub(crate) fn report_forward_tsn(&mut self, origin: &Origin, forward: &ForwardTsn<'_>) {
        let mut bytes = Vec::new();
        Chunk::ForwardTsn(*forward).emit(&mut bytes);
        self.report_error(origin, Cause::UnrecognizedChunk(&bytes));
    }

    pub(crate) fn on_sack(&mut self, now: Instant, sack: &Sack<'_>) {
        if !self.state.sends_data() && !matches!(self.state, State::CookieEchoed { .. }) {
            return;
        }
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let Some(cumulative) = self.acknowledged(sack.cumulative) else { return };
        // Section 6.2.1, rule D i: an old SACK is dropped. A SACK of unsent data violates the
        // protocol.
        if cumulative < una {
            return;
        }
        if cumulative > nxt {
            return self
                .abort_for_violation(Cause::ProtocolViolation(b"TSN was never sent"), "SACK of what was never sent");
        }
        self.sacks_come = true;
        if self.is_predicted_sack(now, sack) {
            return;
        }
        // A block at distance 1 contradicts the cumulative TSN. Accepting it would hide losses: see
        // the attack s9.
        let blocks: Vec<Block> = sack
            .gaps
            .iter()
            .filter(|gap| gap.start > 1 && gap.start <= gap.end)
            .map(|gap| Block { start: cumulative + u64::from(gap.start) - 1, end: cumulative + u64::from(gap.end) })
            .filter(|block| block.end <= nxt)
            .collect();
        let duplicates: Vec<Block> = sack
            .duplicates()
            .map(|tsn| unwrap(cumulative, self.queue.initial(), tsn))
            .filter(|position| *position < nxt)
            .map(|position| Block { start: position, end: position + 1 })
            .collect();
        self.a_rwnd = sack.a_rwnd;
        let echo = self.stamps.as_ref().zip(self.stamp).and_then(|(stamps, stamp)| stamps.echo(now, stamp.echo));
        let mark = self
            .extensions
            .retransmit_bit
            .then(|| if sack.flags.has(SackFlags::ANSWERS_SENT_AGAIN) { Mark::Retransmission } else { Mark::Original });
        let sack = Acknowledged {
            cumulative,
            blocks: &blocks,
            duplicates: &duplicates,
            echo: echo.map(|(echo, _)| echo),
            echo_of: echo.and_then(|(_, path)| path),
            mark,
        };
        self.engine.on_sack(now, &sack);
        self.queue.acknowledge(cumulative);
        self.consider_forward_tsn(now);
        for path in (0..self.paths.len()).map(PathId) {
            if self.engine.delivered_on(path) {
                self.errors = 0;
                self.mark_active(path);
            }
        }
    }

    /// Returns the first position that a cumulative TSN does not acknowledge. `None` if the TSN
    /// precedes the first position.
    pub(crate) fn acknowledged(&self, cumulative: Seq) -> Option<u64> {
        let next = Seq(cumulative.0.wrapping_add(1));
        let position = unwrap(self.engine.una(), self.queue.initial(), next);
        // Positions do not go below 0: a TSN before the first one unwraps to a position far ahead.
        (position < self.engine.nxt() + (1 << 31)).then_some(position)
    }
}

/// Makes room for a chunk (section 6.2). With a closed window, only a chunk that fills a gap is
/// accepted, and the highest stored chunk is dropped for it.
fn make_room(inbound: &mut Inbound, position: u64) -> bool {
    if inbound.has_room {
        return true;
    }
    if position >= inbound.tracker.highest() {
        return false;
    }
    let Some(dropped) = inbound.reassembly.drop_highest(position) else { return false };
    inbound.tracker.drop_again(dropped);
    true
}
