//! The handshake and its negotiation, up to ESTABLISHED (RFC 9293, sections 3.5 and 3.10.7.2 to
//! 3.10.7.4).

use eifel_base::time::Instant;
use eifel_base::units::Timestamp;
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Marks, Options, Segment, Timestamps};
use eifel_packet::seq::{Seq, unwrap, wrap};
use eifel_recovery::engine::{Block, Engine, Negotiated};

use crate::connection::Connection;
use crate::delayed_ack::Due;
use crate::ecn::EcnState;
use crate::event::Event;
use crate::marks::Marking;
use crate::rare::HandshakeState;
use crate::receive::Receiver;
use crate::settings::{LARGEST_SHIFT, Ports, SackUse, Settings};
use crate::state::{Opening, State};
use crate::timestamps::Clock;
use crate::window::ReceiveWindow;

/// MSS of a peer without an MSS option, in bytes (RFC 9293, section 3.7.1, for IPv4).
pub(crate) const DEFAULT_MSS: u16 = 536;
/// Minimum MSS accepted from a peer, in bytes. Tiny segments cost this end more than the peer
/// (CVE-2019-11479).
const SMALLEST_MSS: u16 = 88;
/// Bytes of the timestamps option with its padding.
pub(crate) const TIMESTAMPS_LENGTH: u32 = 12;

impl Connection {
    /// Makes a connection that is established without a handshake, as in the one-way models of the
    /// literature. Both ends are at position 1. Options are negotiated as if `peer` were the
    /// settings of the other end. `isns` are this end's and the peer's initial sequence numbers.
    pub fn established(
        settings: &Settings,
        peer: &Settings,
        engine: Engine,
        ports: Ports,
        isns: (Seq, Seq),
        now: Instant,
    ) -> Self {
        let mut connection = Self::connect(settings, engine, ports, isns.0);
        // The current reading of the peer's clock: no later segment has an older timestamp.
        let stamp = peer.timestamps.map(|peer| Timestamps { value: Clock::new(&peer).value(now).0, echo: 0 });
        let syn = Segment {
            source_port: ports.remote,
            destination_port: ports.local,
            seq: isns.1,
            ack: Seq(0),
            flags: Flags::SYN,
            window: 0,
            options: Options { timestamps: stamp, ..peer.offer() },
            payload_len: 0,
            ecn: Ecn::NotEct,
        };
        connection.agree(now, &syn);
        connection.ecn = EcnState::between(settings, peer);
        let shift = settings.shift().zip(peer.shift()).map_or(0, |(_, peer)| peer);
        connection.peer.open(1, 0, shift, 0);
        let field = ReceiveWindow::new(peer.receive_window, 1, shift).field(1);
        connection.peer.update(1, 1, field);
        connection.set_state(State::Established);
        connection.engine.established(now, connection.negotiated());
        connection
    }

    /// Processes a segment in LISTEN (RFC 9293, section 3.10.7.2).
    pub(crate) fn listening_arrival(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            self.reset_back(segment);
        } else if segment.flags.has(Flags::SYN) {
            self.agree(now, segment);
            self.ecn.on_syn(&self.rare.handshake().settings, segment);
            self.set_state(State::SynReceived(Opening::Passive));
        }
    }

    /// Processes a segment in SYN-SENT (RFC 9293, section 3.10.7.3).
    pub(crate) fn calling_arrival(&mut self, now: Instant, segment: &Segment, payload: &[u8]) {
        let has_ack = segment.flags.has(Flags::ACK);
        let acks_syn = has_ack && unwrap(1, self.iss, segment.ack) == 1 && self.engine.nxt() == 1;
        if has_ack && !acks_syn {
            if !segment.flags.has(Flags::RST) {
                self.reset_back(segment);
            }
            return;
        }
        if segment.flags.has(Flags::RST) {
            if acks_syn {
                self.fail(Event::Refused);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.agree(now, segment);
        let block = Block { start: 1, end: length(segment) };
        let has_data = block.end > block.start;
        if acks_syn {
            self.acknowledge_to_engine(now, 1, segment, false);
            self.ecn.on_syn_ack(segment);
            self.become_established(now);
            self.receiver.due.now();
            if has_data {
                self.take_data(now, segment, block, payload);
            }
        } else {
            if has_data {
                // The data is acknowledged and reported to the application once the connection is
                // open.
                let early = self.receiver.take(now, block, segment.flags.has(Flags::FIN), payload);
                self.rare.handshake_mut().early = Some(early);
                self.receiver.due = Due::NOTHING;
            }
            // Simultaneous open: the SYN is repeated, with an acknowledgement.
            self.receiver.window.advance(self.receiver.nxt, self.receiver.unread());
            self.ecn.on_syn(&self.rare.handshake().settings, segment);
            self.set_state(State::SynReceived(Opening::Simultaneous));
            let stamp = self.stamps.as_mut().map(|stamps| stamps.value(now));
            let again = self.syn(stamp);
            self.reply = Some(Box::new(again));
        }
    }

    /// Opens the connection after the peer has acknowledged this end's SYN and sent its own.
    pub(crate) fn become_established(&mut self, now: Instant) {
        self.set_state(State::Established);
        self.engine.established(now, self.negotiated());
        self.events.push_back(Event::Connected);
        if self.stream.is_finished() {
            self.set_state(self.state.after_close());
        }
    }

    /// Returns the negotiated options for the engine.
    fn negotiated(&self) -> Negotiated {
        Negotiated { mss: self.mss, sack: self.receiver.agreed_on_sack(), timestamps: self.stamps.is_some() }
    }

    /// Processes the peer's SYN: its initial sequence number, window and options.
    fn agree(&mut self, now: Instant, syn: &Segment) {
        let HandshakeState { settings, offer, .. } = self.rare.handshake_mut();
        let options = &syn.options;
        let stamp = options.timestamps.filter(|_| self.stamps.is_some());
        let scales = settings.shift().zip(options.window_scale.map(|shift| shift.min(LARGEST_SHIFT)));
        let (shift, peer_shift) = scales.unwrap_or((0, 0));
        let sack = if options.sack_permitted { settings.sack } else { SackUse::Off };
        let peer_mss = options.mss.unwrap_or(DEFAULT_MSS).max(SMALLEST_MSS);
        let length = u32::from(settings.mss.min(peer_mss));
        // A retransmission may carry a timestamp that its original did not have, and must still
        // fit.
        let marks = options.marks.filter(|marks| settings.offered_marks() == Some(*marks));
        let stamped = stamp.is_some() || marks == Some(Marks::Timestamps);
        let mss = if stamped { length.saturating_sub(TIMESTAMPS_LENGTH).max(1) } else { length.max(1) };
        self.mss = mss;
        self.receiver = Receiver::new(settings, syn.seq, mss, shift, sack);
        self.peer.open(1, syn.window, peer_shift, 0);
        // The answer to this SYN confirms only options that it offered.
        offer.window_scale = scales.map(|(own, _)| own);
        offer.sack_permitted = sack != SackUse::Off;
        offer.marks = marks;
        self.marks = Marking::agreed(marks);
        match (&mut self.stamps, stamp) {
            (Some(stamps), Some(stamp)) => stamps.accept(now, stamp.value, 0, 1),
            _ => self.stamps = None,
        }
    }

    /// Returns the SYN, with the options of the settings. After the peer's SYN has arrived, returns
    /// the SYN-ACK, with the negotiated options.
    pub(crate) fn syn(&mut self, stamp: Option<Timestamp>) -> Segment {
        let HandshakeState { settings, offer, .. } = self.rare.handshake();
        let (flags, ack) = match self.state {
            State::SynSent => (Flags::SYN.with(self.ecn.syn(settings)), Seq(0)),
            _ => {
                let flags = Flags::SYN.with(Flags::ACK).with(self.ecn.syn_ack(settings));
                (flags, wrap(1, self.receiver.irs))
            }
        };
        Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: self.iss,
            ack,
            flags,
            window: self.receiver.window.field_on_syn(),
            options: Options { timestamps: self.timestamps(stamp), ..*offer },
            payload_len: 0,
            ecn: Ecn::NotEct,
        }
    }

    /// Answers a segment that belongs to no connection with a reset.
    pub(crate) fn reset_back(&mut self, segment: &Segment) {
        if let Some(reset) = reset(segment) {
            self.reply = Some(Box::new(reset));
        }
    }
}

/// Returns the answer to a segment that belongs to no connection (RFC 9293, section 3.5.2, group
/// 1). It echoes the segment's timestamp (RFC 7323, section 5.2). `None` if there is none.
pub fn reset(segment: &Segment) -> Option<Segment> {
    if segment.flags.has(Flags::RST) {
        return None;
    }
    let (seq, ack, flags) = match segment.flags.has(Flags::ACK) {
        true => (segment.ack, Seq(0), Flags::RST),
        false => (Seq(0), wrap(length(segment), segment.seq), Flags::RST.with(Flags::ACK)),
    };
    Some(Segment {
        source_port: segment.destination_port,
        destination_port: segment.source_port,
        seq,
        ack,
        flags,
        window: 0,
        options: Options {
            timestamps: segment.options.timestamps.map(|stamps| Timestamps { value: 0, echo: stamps.value }),
            ..Options::default()
        },
        payload_len: 0,
        ecn: Ecn::NotEct,
    })
}

/// Returns the number of positions of a segment: its payload bytes, and one each for SYN and FIN.
pub(crate) fn length(segment: &Segment) -> u64 {
    let controls = u64::from(segment.flags.has(Flags::SYN)) + u64::from(segment.flags.has(Flags::FIN));
    u64::from(segment.payload_len) + controls
}
