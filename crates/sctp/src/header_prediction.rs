//! Header prediction (Jacobson). Most packets hold one DATA chunk that is next in order, or a SACK
//! without gap ack blocks.
//!
//! An end handles such a packet as [`input`](crate::input) would, with fewer checks. Data must be
//! next in order, or be a duplicate. A SACK must be
//! [quiet](eifel_recovery::association::Engine::on_quiet_sack), or [acknowledge
//! nothing](eifel_recovery::association::Engine::on_repeated_sack). Otherwise nothing is changed,
//! and the packet takes the full path. An end sends such a packet if a few checks show that no other
//! chunk has to be sent. A test compares both paths.

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, DataFlags};
use eifel_recovery::association::PathId;

use crate::association::Association;
use crate::event::Event;
use crate::packet::{Data, Packet, Value};
use crate::state::State;

/// How an association has processed a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processed {
    /// One DATA chunk was predicted: there is no event, and only the timer of the SACK may be due
    /// earlier than before.
    Data,
    /// A SACK was predicted: there is no event, and nothing to read.
    Sack,
    /// The packet took the full path, or was ignored.
    Fully,
}

/// The result of [`Association::predict_departure`].
pub(crate) enum Departure {
    /// There is nothing to send now.
    Nothing,
    /// The packet is written, and leaves on this path. Says whether another may follow now.
    Written(PathId, bool),
    /// Any packet may have to be sent.
    Unpredicted,
}

impl Association {
    /// Decides whether header prediction may apply, after a setting has changed.
    pub(crate) fn choose_prediction(&mut self) {
        let settings = &self.settings;
        let rarely = self.extensions.retransmit_bit || settings.nagle || settings.concurrent_paths;
        let rarely = rarely || self.queue.has_lifetimes();
        self.predicts = self.stamps.is_none() && !rarely;
    }

    /// Lets all packets of an open association take the full path, for the test that compares both.
    #[doc(hidden)]
    pub fn stop_predicting(&mut self) {
        self.predicts = false;
    }

    /// Processes a packet if header prediction applies. Otherwise changes nothing.
    #[inline(always)]
    pub(crate) fn predict(&mut self, now: Instant, addresses: &Addresses, packet: &Packet) -> Processed {
        let header = &packet.header;
        let ours = header.verification_tag == self.local_tag
            && (header.destination_port, header.source_port) == (self.ports.local, self.ports.remote);
        if !self.predicts || !matches!(self.state, State::Established) || !ours {
            return Processed::Fully;
        }
        // With nothing stored, the receive buffer has room, and no part of a message is delivered.
        if self.inbound.as_ref().is_some_and(|inbound| inbound.reassembly.held() > 0) {
            return Processed::Fully;
        }
        match packet.only_value() {
            Some(Value::Data(data)) if self.is_predicted_data(now, addresses, (data, packet)) => Processed::Data,
            Some(Value::Sack(sack)) if self.is_predicted_sack(now, &sack) => Processed::Sack,
            _ => Processed::Fully,
        }
    }

    #[inline(always)]
    fn is_predicted_data(&mut self, now: Instant, addresses: &Addresses, (data, packet): (&Data, &Packet)) -> bool {
        let Some(path) = self.path_of(addresses.source()) else { return false };
        let Some(inbound) = self.inbound.as_mut().filter(|inbound| data.stream < inbound.streams) else { return false };
        let when = (self.settings.sack_every, self.settings.sack_delay);
        if !data.flags.has(DataFlags::WHOLE) || data.len == 0 {
            return false;
        }
        if !inbound.tracker.is_next(data.tsn) {
            let again = inbound.tracker.take_duplicate(now, when, data.tsn);
            inbound.answer_to = if again { path } else { inbound.answer_to };
            return again;
        }
        if let Some(drained) = &mut self.drained {
            if !inbound
                .reassembly
                .deliver_at_once(data.stream, (!data.flags.has(DataFlags::UNORDERED)).then_some(data.ssn))
            {
                return false;
            }
            *drained += u64::from(data.len);
        } else {
            // With nothing stored, no other fragment can contradict the chunk.
            let stored = inbound.reassembly.insert(inbound.tracker.next(), data, packet.payload(data));
            debug_assert!(stored.is_ok(), "{data:?} contradicts nothing");
            if inbound.reassembly.is_readable() {
                self.events.push_back(Event::Readable);
            }
        }
        inbound.answer_to = path;
        inbound.tracker.take_next(now, when, data.flags.has(DataFlags::IMMEDIATE));
        if self.drained.is_some() {
            inbound.update_window(self.settings.receive_buffer as usize);
        }
        true
    }

    /// Processes a SACK without gap ack blocks, if the engine has little to do. Otherwise returns
    /// `false`, with nothing changed.
    #[inline(always)]
    pub(crate) fn is_predicted_sack(&mut self, now: Instant, sack: &sctp::Sack<'_>) -> bool {
        if !self.predicts || !sack.gaps.0.is_empty() {
            return false;
        }
        let Some(cumulative) = self.acknowledged(sack.cumulative) else { return false };
        let quiet = if sack.duplicates.is_empty() { self.engine.on_quiet_sack(now, cumulative) } else { None };
        if let Some(path) = quiet {
            self.queue.acknowledge(cumulative);
            self.errors = 0;
            self.mark_active(path);
        } else if !self.engine.on_repeated_sack(cumulative) {
            return false;
        }
        self.sacks_come = true;
        self.a_rwnd = sack.a_rwnd;
        true
    }

    /// Returns the time of the next SACK, or [`Instant::NEVER`] if none is due. `None` if a packet
    /// may have to be sent earlier.
    #[inline]
    pub fn silent_until(&self, now: Instant) -> Option<Instant> {
        let (State::Established, Some(inbound)) = (&self.state, &self.inbound) else { return None };
        let due = inbound.tracker.deadline();
        let silent = self.queue.is_empty() && self.replies.waiting.is_empty() && self.control.is_empty();
        (silent && due > now).then_some(due)
    }

    /// Writes the next packet to send now, if it has only a SACK, or one new chunk that fills it.
    #[inline(always)]
    pub(crate) fn predict_departure(&mut self, now: Instant, packet: &mut Packet) -> Departure {
        let (State::Established, Some(inbound), true) = (&self.state, &self.inbound, self.predicts) else {
            return Departure::Unpredicted;
        };
        if !self.replies.waiting.is_empty() || !self.control.is_empty() {
            return Departure::Unpredicted;
        }
        if self.queue.is_empty() {
            if !inbound.tracker.is_due(now) {
                return Departure::Nothing;
            }
            let path = self.confirmed(inbound.answer_to);
            packet.begin(self.header(self.peer_tag));
            self.write_sack(self.engine.pmdcs(path) as usize, packet);
            // The SACK answers everything that has arrived.
            return Departure::Written(path, false);
        }
        if inbound.tracker.is_pending() {
            return Departure::Unpredicted;
        }
        self.predict_data(now, packet)
    }

    #[inline(always)]
    fn predict_data(&mut self, now: Instant, packet: &mut Packet) -> Departure {
        let path = self.data_path();
        let Some(size) = self.queue.next() else { return Departure::Unpredicted };
        match self.engine.quiet_room(now, path, size, u64::from(self.a_rwnd)) {
            None => return Departure::Unpredicted,
            Some(false) => return Departure::Nothing,
            // Another chunk of minimum size would fit the packet.
            Some(true) if size.wire + sctp::Data::HEADER_LEN as u32 + 4 <= self.engine.pmdcs(path) => {
                return Departure::Unpredicted;
            }
            Some(true) => {}
        }
        let transmission = self.engine.send_quiet(now, path, size);
        packet.begin(self.header(self.peer_tag));
        let (data, payload) = self.queue.advance();
        packet.push_data(data, payload);
        self.transmissions.push(transmission);
        self.postpone_heartbeat(now, path);
        Departure::Written(path, self.engine.has_quiet_room(path))
    }
}
