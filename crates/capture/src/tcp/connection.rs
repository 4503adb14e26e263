//! A connection: its two directions, the handshake, and the round trips to its ends.

use super::direction::Direction;
use crate::cause::DirectionId;
use crate::frame::decode::{Packet, TooBig, vlans};
use crate::order::{AT_ONCE, CapturePoint, DuplicateFrames, RoundTrip};
use crate::result::{
    Cost, DirectionSummary, End, Flow, Number, Offered, Protocol, Retransmission, Summary, Vantage, When,
};
use crate::stream::{Data, stamp_and_echo};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::wrap;

/// No end repeats its SYN within this time after the connection was opened, in nanoseconds.
const SYN_TIMEOUT: u64 = 100_000_000;

/// The state of one end: its offers on the SYN, and data from its later packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    /// Round trips from here to this end and back.
    pub(crate) round_trip: RoundTrip,
    pub(crate) duplicates: DuplicateFrames,
    shift: Option<u8>,
    /// The shift of its windows in bits; 0 until both ends have offered window scaling.
    scale: u8,
    sack: bool,
    timestamps: bool,
    syn: bool,
    fin: bool,
}

impl Side {
    #[cold]
    #[inline(never)]
    fn on_syn(&mut self, packet: &Packet) {
        let options = &packet.segment.options;
        self.shift = options.window_scale;
        self.sack = options.sack_permitted;
        self.timestamps = options.timestamps.is_some();
        self.syn = true;
    }

    /// Returns the options of its SYN; `None` if that was not captured.
    fn offered(&self) -> Option<Offered> {
        self.syn.then_some(Offered { timestamps: self.timestamps, sack: self.sack })
    }
}

#[derive(Debug)]
pub(crate) struct Connection {
    /// The direction from the end that was seen first to the other end.
    pub(crate) flow: Flow,
    /// Number of the connection in the capture, from 0. In one of several shares: its first frame.
    pub(crate) number: u64,
    /// When its first packet passed, in nanoseconds since 1970.
    pub(crate) first: u64,
    /// When its last packet passed, in nanoseconds since 1970.
    pub(crate) last: u64,
    /// Packets that the capture shows twice.
    pub(crate) duplicates: u64,
    pub(crate) packets: u64,
    reset: bool,
    /// Whether both ends permit SACK, or one has sent SACK blocks.
    pub(crate) sacks: bool,
    pub(crate) sides: [Side; 2],
    /// The data of each end; `None` until its first byte, SYN or FIN.
    pub(crate) directions: [Option<Box<Direction>>; 2],
}

impl Connection {
    /// Returns a connection that begins with the packet at `when`.
    pub(crate) fn new(flow: Flow, number: u64, when: When) -> Self {
        Self {
            flow,
            number,
            first: when.nanos,
            last: when.nanos,
            duplicates: 0,
            packets: 0,
            reset: false,
            sacks: false,
            sides: Default::default(),
            directions: Default::default(),
        }
    }

    /// Returns the end that a packet with this flow comes from; `None` if it belongs to another
    /// connection.
    #[inline]
    pub(crate) fn side(&self, flow: &Flow) -> Option<usize> {
        if self.flow.tunnel != flow.tunnel {
            None
        } else if self.flow.source == flow.source && self.flow.destination == flow.destination {
            Some(0)
        } else if self.flow.source == flow.destination && self.flow.destination == flow.source {
            Some(1)
        } else {
            None
        }
    }

    /// Returns the end that a packet comes from; `None` if it belongs to another connection.
    #[inline]
    pub(crate) fn side_of(&self, packet: &Packet) -> Option<usize> {
        let (from, to) = (packet.segment.source_port, packet.segment.destination_port);
        let Flow { source, destination, tunnel } = &self.flow;
        if *tunnel != packet.tunnel {
            return None;
        }
        // Ports are compared first, because they differ between most connections.
        let addresses = &packet.addresses;
        if source.port == from && destination.port == to && source.address == addresses.source() {
            return (destination.address == addresses.destination()).then_some(0);
        }
        if source.port == to && destination.port == from && source.address == addresses.destination() {
            return (destination.address == addresses.source()).then_some(1);
        }
        None
    }

    /// Returns whether a packet from end `side` in another VLAN belongs to the connection: a mirrored port
    /// shows it a second time, or the two directions use different VLANs.
    pub(crate) fn extends_to(&self, packet: &Packet, side: usize, when: When) -> bool {
        let duplicates = &self.sides[side].duplicates;
        let answers = || {
            let other = self.directions[1 - side].as_ref();
            let ack = packet.segment.flags.has(Flags::ACK).then_some(&packet.segment);
            other.zip(ack).is_some_and(|(other, segment)| other.stream.is_acked_by(segment))
        };
        duplicates.is_mirrored(packet, when) || duplicates.is_empty() && answers()
    }

    /// Returns whether no payload was seen in either direction.
    pub(crate) fn is_without_data(&self) -> bool {
        self.directions.iter().flatten().all(|one| one.stream.counts.segments == 0)
    }

    /// Returns the number of retransmitted segments so far, in both directions.
    pub(crate) fn retransmissions(&self) -> u64 {
        self.directions.iter().flatten().map(|one| one.stream.counts.retransmissions).sum()
    }

    /// Returns whether both ends have sent a FIN, or one has sent a RST.
    pub(crate) fn is_over(&self) -> bool {
        self.reset || self.sides[0].fin && self.sides[1].fin
    }

    /// Returns whether this packet opens a new connection between the same ports.
    pub(crate) fn is_reopened_by(&self, packet: &Packet, side: usize) -> bool {
        let segment = &packet.segment;
        segment.flags.has(Flags::SYN)
            && !segment.flags.has(Flags::ACK)
            && self.directions[side]
                .as_ref()
                .and_then(|one| one.stream.initial)
                .is_some_and(|initial| initial != segment.seq)
            && (self.is_over() || self.sides[side].syn)
    }

    /// Returns whether its last packet is more than `silence` nanoseconds old.
    pub(crate) fn is_outlasted_by(&self, silence: u64, when: When) -> bool {
        when.nanos.saturating_sub(self.last) > silence
    }

    /// Handles a packet that comes from end `side`.
    #[inline]
    pub(crate) fn on_packet(&mut self, packet: &Packet, side: usize, when: When) {
        let [one, other] = &mut self.sides;
        let (from, to) = if side == 0 { (one, other) } else { (other, one) };
        let whole = || Some(from.round_trip.shortest()? + to.round_trip.shortest()?);
        if from.duplicates.is_duplicate(packet, when, whole) {
            self.duplicates += 1;
            return;
        }
        if packet.segment.flags.has(Flags::SYN) && !self.takes_syn(packet, side, when) {
            return;
        }
        let [one, other] = &mut self.sides;
        let (from, to) = if side == 0 { (one, other) } else { (other, one) };
        self.last = when.nanos;
        self.packets += 1;
        let segment = &packet.segment;
        let flags = segment.flags;
        if flags.has(Flags::SYN) {
            from.on_syn(packet);
            self.sacks |= from.sack && to.sack;
            // RFC 7323, section 2.2: both ends have to offer window scaling.
            let scales = from.shift.zip(to.shift).map_or((0, 0), |(from, to)| (from.min(14), to.min(14)));
            (from.scale, to.scale) = scales;
        }
        if let Some(stamps) = segment.options.timestamps {
            to.round_trip.on_packet_to(stamps.value, when);
            if flags.has(Flags::ACK)
                && let Some(took) = from.round_trip.on_packet_from(stamps.echo, when)
                && let Some(direction) = &mut self.directions[side]
            {
                direction.stream.order.sample(took);
            }
        }
        let mut took = None;
        if flags.has(Flags::ACK) {
            self.sacks |= !segment.options.sack.is_empty();
            if let Some(direction) = &mut self.directions[1 - side] {
                direction.on_numbered_ack(self.sides[side].duplicates.skips(packet.identification), when);
                took = self.on_ack(segment, side, when);
                if took.is_none() && flags.has(Flags::FIN) {
                    took = self.directions[1 - side].as_ref().and_then(|direction| direction.repeated_took(when));
                }
            }
        }
        let ends = u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN));
        if segment.payload_len + ends > 0 && !flags.has(Flags::RST) {
            let point = self.point(side, when);
            let (stamp, echo) = stamp_and_echo(segment.options.timestamps);
            let direction = self.directions[side].get_or_insert_default();
            let shortest = self.sides[side].round_trip.shortest().unwrap_or(0);
            let data = Data {
                seq: segment.seq,
                len: segment.payload_len + ends,
                payload: segment.payload_len,
                syn: flags.has(Flags::SYN),
                answers: segment.payload_len == 0 && took.is_some_and(|took| took < shortest + AT_ONCE),
                stamp,
                identification: packet.identification,
                number: self.sides[side].duplicates.number(packet.identification),
                numbered: self.sides[side].duplicates.counts(),
                follows: self.sides[side].duplicates.follows(packet.identification),
                left: direction.stream.order.departure(stamp, &point),
                echo: echo.filter(|_| flags.has(Flags::ACK)),
            };
            direction.on_data(&data, &point);
        }
        self.sides[side].fin |= flags.has(Flags::FIN);
        self.reset |= flags.has(Flags::RST);
    }

    /// Returns whether a SYN belongs to the connection, first or repeated. Otherwise it is a copy that the
    /// network made, or it has another sequence number than the one before it.
    #[cold]
    #[inline(never)]
    fn takes_syn(&mut self, packet: &Packet, side: usize, when: When) -> bool {
        let point = self.point(side, when);
        let answers = self.sides[1 - side].syn && packet.segment.flags.has(Flags::ACK);
        let Some(direction) = &mut self.directions[side] else { return true };
        if direction.stream.is_midstream() {
            if answers {
                // The data before it belong to an older connection.
                self.directions[side] = None;
            }
            return answers;
        }
        if direction.stream.initial == Some(packet.segment.seq) {
            let copy = when.nanos.saturating_sub(self.first) < SYN_TIMEOUT;
            self.duplicates += u64::from(copy);
            return !copy;
        }
        direction.on_other_syn(packet.segment.seq, &point);
        false
    }

    /// Handles a router's report that it dropped a segment of end `side`.
    pub(crate) fn on_too_big(&mut self, message: &TooBig, side: usize, when: When) {
        let point = self.point(side, when);
        if let Some(direction) = &mut self.directions[side] {
            direction.on_too_big(message, &point);
        }
    }

    /// Handles the ACK on a packet from end `side`. Returns the time since the newest data that it covers
    /// passed here, in nanoseconds, if they were sent once.
    #[inline]
    fn on_ack(&mut self, segment: &Segment, side: usize, when: When) -> Option<u64> {
        let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.shift(side) };
        let point = self.point(1 - side, when);
        let window = u32::from(segment.window) << shift;
        let took = self.directions[1 - side].as_mut()?.on_ack(segment, window, &point)?;
        self.sides[side].round_trip.sample(took);
        Some(took)
    }

    #[inline]
    pub(crate) fn shift(&self, side: usize) -> u32 {
        u32::from(self.sides[side].scale)
    }

    fn point(&self, side: usize, when: When) -> CapturePoint {
        let [one, other] = &self.sides;
        let (to_sender, to_receiver) =
            if side == 0 { (&one.round_trip, &other.round_trip) } else { (&other.round_trip, &one.round_trip) };
        CapturePoint { when, to_receiver: to_receiver.stored(), to_sender: to_sender.stored(), sack: self.sacks }
    }

    /// Ends the connection. Returns its results and its retransmissions in the order of frames.
    pub(crate) fn finish(mut self) -> (Summary, Vec<Retransmission>) {
        let mut retransmissions = Vec::new();
        let copies = self
            .directions
            .iter()
            .flatten()
            .filter_map(|one| one.losses.as_ref())
            .map(|losses| losses.copies)
            .sum::<u64>();
        let directions = [0, 1].map(|side| {
            let point = self.point(side, When { nanos: self.last, frame: 0 });
            let Direction { stream, losses } = *self.directions[side].take().unwrap_or_default();
            let lost_behind = losses.as_ref().is_some_and(|losses| losses.retransmissions.evidence.lost_behind);
            let vantage = match point.vantage() {
                Vantage::Receiver if lost_behind => Vantage::Between,
                found => found,
            };
            let mut cost = Cost::default();
            let initial = stream.initial.unwrap_or_default();
            let id = DirectionId {
                connection: self.number,
                sender: if side == 0 { End::Client } else { End::Server },
                number: |position| Number::Seq(wrap(position, initial).0),
            };
            let late = losses.as_ref().and_then(|losses| losses.latest);
            let midstream = stream.is_midstream().then_some(self.first);
            let reports_duplicates = losses.as_ref().and_then(|losses| losses.retransmissions.evidence.reporting());
            let counts = stream.final_counts();
            let model = losses.and_then(|mut losses| {
                losses.finish((&point, stream.una, midstream, &counts), &id, (&mut retransmissions, &mut cost))
            });
            DirectionSummary {
                vantage,
                rtt_ms_min: point.receiver_rtt().map(|nanos| nanos as f64 / 1e6),
                offered: self.sides[side].offered(),
                reordered_ms_max: late.map(|nanos| nanos as f64 / 1e6),
                reports_duplicates,
                model,
                cost: cost.over(&stream.counts, self.last.saturating_sub(self.first)),
                counts,
            }
        });
        retransmissions.sort_by_key(|one| one.frame);
        let summary = Summary {
            connection: self.number,
            protocol: Protocol::Tcp,
            other_addresses: Default::default(),
            client: self.flow.source,
            server: self.flow.destination,
            tunnel: self.flow.tunnel,
            vlans: vlans(self.flow.tunnel).collect(),
            time_s: self.first as f64 / 1e9,
            duration_s: self.last.saturating_sub(self.first) as f64 / 1e9,
            packets: self.packets - copies,
            twins: self.duplicates + copies,
            directions,
        };
        (summary, retransmissions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_takes_at_most_248_bytes() {
        // A capture may hold a hundred thousand of them.
        assert!(size_of::<Connection>() <= 248, "{}", size_of::<Connection>());
        assert!(size_of::<Direction>() <= 200, "{}", size_of::<Direction>());
    }
}
