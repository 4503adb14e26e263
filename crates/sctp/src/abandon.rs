//! Partial reliability at the sender: messages that expire, and FORWARD TSN (RFC 3758, sections 3.5
//! and 4.1).

use eifel_base::time::Instant;
use eifel_packet::sctp::{Chunk, ForwardTsn, HEADER_LEN, Skipped};
use eifel_packet::seq::wrap;
use eifel_recovery::association::{PacketContents, PacketToSend, PathId};

use crate::association::Association;
use crate::event::Event;
use crate::packet::Packet;
use crate::send_queue::{Expired, ForwardState, Fragments};

/// Bytes of a FORWARD TSN without streams.
const LEAST_FORWARD_TSN: usize = 8;

impl Association {
    /// Gives up what has expired: messages without a TSN, and messages of which a chunk is marked for
    /// retransmission (rules TR3 and TR4).
    pub(crate) fn give_up_expired(&mut self, now: Instant) {
        if !self.queue.has_lifetimes() {
            return;
        }
        let mut changed = false;
        let mut from = 0;
        while let Some(position) = self.engine.lost_from(from) {
            changed |= self.give_up_sent(now, position);
            from = position + 1;
        }
        while let Some(expired) = self.queue.drop_expired(now) {
            match expired {
                Expired::Unsent { stream, messages } => {
                    self.events.push_back(Event::Expired { stream, messages, begun: false });
                }
                // The peer could not be told, so the message has to be completed.
                Expired::Begun { .. } if !self.extensions.forward_tsn => break,
                Expired::Begun { stream } => {
                    let begun = self.queue.newest_message();
                    self.abandon(now, stream, begun);
                }
            }
            changed = true;
        }
        if changed {
            self.consider_forward_tsn(now);
            self.advance_shutdown();
        }
    }

    /// Gives up the message of a sent chunk if it has expired, and the peer can be told. Returns
    /// whether it did.
    fn give_up_sent(&mut self, now: Instant, position: u64) -> bool {
        let gives_up = self.extensions.forward_tsn && self.queue.has_expired(now, position);
        if gives_up {
            let stream = self.queue.chunk(position).0.stream;
            let message = self.queue.message_at(position);
            self.abandon(now, stream, message);
        }
        gives_up
    }

    /// Abandons the outstanding chunks of a message (rule A3), of which the last may never have been
    /// sent.
    fn abandon(&mut self, now: Instant, stream: u16, message: Fragments) {
        message.positions.for_each(|position| self.engine.abandon(position));
        if !message.complete {
            self.queue.end_begun();
            self.engine.abandon_unsent(now, self.data_path());
        }
        self.events.push_back(Event::Expired { stream, messages: 1, begun: true });
    }

    /// Decides, after a SACK or when chunks were abandoned, whether a FORWARD TSN is to be sent
    /// (rules C2 and C3). One that tells nothing new waits for a round trip after the last (rule F2).
    pub(crate) fn consider_forward_tsn(&mut self, now: Instant) {
        let point = self.engine.peer_ack_point();
        let path = self.data_path();
        let Some(forward) = &mut self.queue.forward else { return };
        let repeats = || now.since(forward.sent_at) >= self.engine.round_trip(path);
        forward.pending = point > self.engine.una() && (point > forward.point || repeats());
    }

    /// Repeats the FORWARD TSN, because a retransmission timer has expired (rule A5).
    pub(crate) fn repeat_forward_tsn(&mut self) {
        if let Some(forward) = &mut self.queue.forward {
            forward.pending = self.engine.peer_ack_point() > self.engine.una();
        }
    }

    /// Returns the path of the FORWARD TSN that has to be sent now.
    pub(crate) fn forward_path(&self) -> Option<PathId> {
        self.queue.forward.filter(|forward| forward.pending && self.state.sends_data()).map(|_| self.data_path())
    }

    /// Writes the FORWARD TSN that has to be sent, if this packet's path is its own and has room.
    pub(crate) fn write_forward_tsn(&mut self, now: Instant, (path, pmdcs): (PathId, usize), packet: &mut Packet) {
        let room = (HEADER_LEN + pmdcs).saturating_sub(packet.len());
        if self.forward_path() != Some(path) || room < LEAST_FORWARD_TSN + size_of::<[u8; 4]>() {
            return;
        }
        let most = (room - LEAST_FORWARD_TSN) / size_of::<[u8; 4]>();
        let (point, skipped) = self.skipped(most);
        let streams: Vec<[u8; 4]> = skipped.into_iter().map(Skipped::to_bytes).collect();
        let cumulative = wrap(point - 1, self.queue.initial());
        packet.push_chunk(&Chunk::ForwardTsn(ForwardTsn { cumulative, streams: &streams }));
        self.queue.forward = Some(ForwardState { pending: false, point, sent_at: now });
        self.engine.on_forward_tsn(now, path);
    }

    /// Returns the first position that a FORWARD TSN does not skip, and the last skipped message of
    /// each stream, of which there are at most `most` (rule C4).
    fn skipped(&self, most: usize) -> (u64, Vec<Skipped>) {
        let mut skipped: Vec<Skipped> = Vec::new();
        for position in self.engine.una()..self.engine.peer_ack_point() {
            let Some((stream, ssn)) = self.queue.order_of(position) else { continue };
            if let Some(skipped) = skipped.iter_mut().find(|skipped| skipped.stream == stream) {
                skipped.ssn = ssn;
            } else if skipped.len() < most {
                skipped.push(Skipped { stream, ssn });
            } else {
                return (position, skipped);
            }
        }
        (self.engine.peer_ack_point(), skipped)
    }

    /// Returns whether a packet would only repeat a chunk of an expired message, which is then
    /// abandoned (rule TR4). Other retransmissions were looked at before.
    pub(crate) fn probes_expired(&mut self, now: Instant, go: &PacketToSend) -> bool {
        let PacketContents::TailLossProbe { position } = go.contents else { return false };
        let given_up = self.queue.has_lifetimes() && self.give_up_sent(now, position);
        if given_up {
            self.consider_forward_tsn(now);
        }
        given_up
    }
}
