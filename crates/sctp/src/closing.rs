//! Orderly shutdown of an association (RFC 9260, section 9.2).

use eifel_base::time::Instant;
use eifel_packet::sctp::{Cause, Chunk};
use eifel_packet::seq::Seq;

use crate::association::Association;
use crate::event::Event;
use crate::input::Origin;
use crate::state::{Repeated, State};

impl Association {
    /// Continues a shutdown that waited for outstanding data, if none is left.
    pub(crate) fn advance_shutdown(&mut self) {
        if !self.queue.is_empty() {
            return;
        }
        let repeated = Repeated::on(self.data_path());
        match self.state {
            State::ShutdownPending => self.state = State::ShutdownSent(repeated),
            State::ShutdownReceived => self.state = State::ShutdownAckSent(repeated),
            _ => {}
        }
    }

    pub(crate) fn on_shutdown(&mut self, now: Instant, cumulative: Seq) {
        let Some(position) = self.acknowledged(cumulative) else { return };
        if position > self.engine.nxt() {
            let cause = Cause::ProtocolViolation(b"TSN was never sent");
            return self.abort_for_violation(cause, "SHUTDOWN with a TSN that was never sent");
        }
        match self.state {
            State::Established | State::ShutdownPending => {
                self.state = State::ShutdownReceived;
                self.events.push_back(Event::PeerShutsDown);
            }
            // A repeated SHUTDOWN also acknowledges data [rfc8540:3.2].
            State::ShutdownReceived => {}
            State::ShutdownSent(_) => {
                // Both ends shut down at the same time.
                self.state = State::ShutdownAckSent(Repeated::on(self.data_path()));
                return;
            }
            _ => return,
        }
        if position > self.engine.una() {
            let sack = eifel_recovery::association::Sack {
                cumulative: position,
                blocks: &[],
                duplicates: &[],
                echo: None,
                echo_of: None,
                mark: None,
            };
            self.engine.on_sack(now, &sack);
            self.queue.acknowledge(position);
            self.consider_forward_tsn(now);
        }
    }

    pub(crate) fn on_shutdown_ack(&mut self, origin: &Origin) {
        match self.state {
            State::ShutdownSent(_) | State::ShutdownAckSent(_) => {
                self.reply(origin.back, self.peer_tag, &Chunk::ShutdownComplete { reflected: false });
                self.finish();
            }
            _ => {}
        }
    }

    /// Ends the association after an orderly shutdown.
    pub(crate) fn finish(&mut self) {
        self.state = State::Closed;
        self.events.push_back(Event::Closed);
    }
}
