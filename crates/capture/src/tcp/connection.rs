//! A connection: its two directions, the handshake, and the round trips to its ends.

use super::half::{Counts, Data, Half, Setting};
use super::trip::{Trip, Vantage};
use super::twin::Twins;
use super::{Way, When, path_mtu};
use crate::decode::{Packet, TooBig};
use crate::report::{End, Retransmission};
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Segment};
use serde::Serialize;

/// The state of one end: its offers on the SYN, and data from its later packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Side {
    /// Round trips from here to this end and back.
    pub(super) trip: Trip,
    pub(super) twins: Twins,
    shift: Option<u8>,
    /// The shift of its windows in bits; 0 until both ends have offered window scaling.
    scale: u8,
    sack: bool,
    /// Whether its SYN was seen.
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
        self.syn = true;
    }
}

/// The state of a connection.
#[derive(Debug)]
pub struct Connection {
    /// The direction from the end that was seen first to the other end.
    pub way: Way,
    /// Number of the connection in the capture, from 0. In one of several shares: its first frame.
    pub number: u64,
    /// When its first packet passed, in nanoseconds since 1970.
    pub first: u64,
    /// When its last packet passed, in nanoseconds since 1970.
    pub last: u64,
    /// Packets that the capture shows twice.
    pub twins: u64,
    pub(super) packets: u64,
    reset: bool,
    /// Whether both ends permit SACK, or one has sent SACK blocks.
    pub(super) sacks: bool,
    pub(super) sides: [Side; 2],
    /// The data of each end; `None` until its first byte, SYN or FIN.
    pub(super) halves: [Option<Box<Half>>; 2],
}

/// A transport protocol.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// RFC 9293.
    Tcp,
    /// RFC 9260.
    Sctp,
}

/// The results of a connection. Index 0 is the end that was seen first.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Number of the connection in the report, from 0.
    pub connection: u64,
    /// TCP, or SCTP.
    pub protocol: Protocol,
    /// The end that was seen first.
    pub client: super::Endpoint,
    /// The other end.
    pub server: super::Endpoint,
    /// Further addresses of the client and the server; empty unless an association uses several.
    pub other_addresses: [Vec<std::net::IpAddr>; 2],
    /// The tunnel of its packets; 0 outside of tunnels.
    pub tunnel: u32,
    /// Time of the first packet, in seconds since 1970.
    pub time_s: f64,
    /// Seconds from the first packet to the last.
    pub duration_s: f64,
    /// Packets, without those that the capture shows twice.
    pub packets: u64,
    /// Packets that the capture shows twice.
    pub twins: u64,
    /// The data of the client, and of the server.
    pub directions: [Direction; 2],
}

impl Summary {
    /// Returns the direction from the server to the client, or the reverse.
    pub fn way(&self, from_server: bool) -> Way {
        let (client, server, tunnel) = (self.client, self.server, self.tunnel);
        if from_server {
            Way { source: server, destination: client, tunnel }
        } else {
            Way { source: client, destination: server, tunnel }
        }
    }
}

/// The results of one direction of a connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Direction {
    /// The position of the capture point relative to this direction.
    pub vantage: Vantage,
    /// Shortest round trip from the capture point to the receiver and back, in milliseconds.
    pub rtt_ms_min: Option<f64>,
    /// Name of the model that explains the retransmissions best; `None` without retransmissions.
    pub model: Option<&'static str>,
    /// The cost of needless retransmissions.
    pub cost: Cost,
    #[serde(flatten)]
    pub counts: Counts,
}

/// The cost of needless retransmissions in one direction.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Cost {
    /// Bytes that were sent again needlessly.
    pub bytes_needless: u64,
    /// Bytes by which the flight size stayed below its earlier value after needless
    /// retransmissions, in the two round trips after their acknowledgement. The sum over all groups
    /// of them.
    pub window_lost_bytes: u64,
    /// The bytes left unsent because of the smaller flight size, as milliseconds of sending at the
    /// earlier flight size.
    pub held_back_ms: f64,
    /// New data over the duration of the connection, in bits per second.
    pub goodput_bps: f64,
    /// The goodput if the sender had not been held back, in bits per second.
    pub goodput_without_bps: f64,
}

impl Cost {
    /// Adds the goodput of a connection that lasted `nanos` nanoseconds.
    pub(crate) fn over(mut self, counts: &Counts, nanos: u64) -> Self {
        let (bits, seconds) = ((counts.bytes - counts.bytes_again.min(counts.bytes)) as f64 * 8.0, nanos as f64 / 1e9);
        if seconds > 0.0 {
            self.goodput_bps = bits / seconds;
            // Keeps a tenth of the duration at least: beyond that the estimate is useless.
            self.goodput_without_bps = bits / (seconds - self.held_back_ms / 1e3).max(seconds / 10.0);
        }
        self
    }
}

impl Connection {
    /// Returns a connection that begins with the packet at `when`.
    pub fn new(way: Way, number: u64, when: When) -> Self {
        Self {
            way,
            number,
            first: when.nanos,
            last: when.nanos,
            twins: 0,
            packets: 0,
            reset: false,
            sacks: false,
            sides: Default::default(),
            halves: Default::default(),
        }
    }

    /// Returns the end that a packet with this way comes from; `None` if it belongs to another
    /// connection.
    #[inline]
    pub(super) fn side(&self, way: &Way) -> Option<usize> {
        if self.way.tunnel != way.tunnel {
            None
        } else if self.way.source == way.source && self.way.destination == way.destination {
            Some(0)
        } else if self.way.source == way.destination && self.way.destination == way.source {
            Some(1)
        } else {
            None
        }
    }

    /// Returns the end that a packet comes from; `None` if it belongs to another connection.
    #[inline]
    pub(super) fn side_of(&self, packet: &Packet) -> Option<usize> {
        let (from, to) = (packet.segment.source_port, packet.segment.destination_port);
        let Way { source, destination, tunnel } = &self.way;
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

    /// Returns whether no payload was seen in either direction.
    pub fn is_without_data(&self) -> bool {
        self.halves.iter().flatten().all(|half| half.counts.segments == 0)
    }

    /// Returns the number of retransmitted segments so far, in both directions.
    pub fn retransmissions(&self) -> u64 {
        self.halves.iter().flatten().map(|half| half.counts.retransmissions).sum()
    }

    /// Returns whether both ends have sent a FIN, or one has sent a RST.
    pub fn is_over(&self) -> bool {
        self.reset || self.sides[0].fin && self.sides[1].fin
    }

    /// Returns whether this packet opens a new connection between the same ports.
    pub fn is_reopened_by(&self, packet: &Packet, side: usize) -> bool {
        let segment = &packet.segment;
        segment.flags.has(Flags::SYN)
            && !segment.flags.has(Flags::ACK)
            && self.halves[side].as_ref().and_then(|half| half.initial).is_some_and(|initial| initial != segment.seq)
            && (self.is_over() || self.sides[side].syn)
    }

    /// Handles a packet that comes from end `side`.
    #[inline]
    pub fn on_packet(&mut self, packet: &Packet, side: usize, when: When) {
        let [one, other] = &mut self.sides;
        let (from, to) = if side == 0 { (one, other) } else { (other, one) };
        let whole = || Some(from.trip.shortest()? + to.trip.shortest()?);
        if from.twins.knows(packet, when, whole) {
            self.twins += 1;
            return;
        }
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
            to.trip.passes(stamps.value, when);
            if flags.has(Flags::ACK)
                && let Some(took) = from.trip.returns(stamps.echo, when)
                && let Some(half) = &mut self.halves[side]
            {
                half.sample_of_sender(took);
            }
        }
        if flags.has(Flags::ACK) {
            self.sacks |= !segment.options.sack.is_empty();
            if self.halves[1 - side].is_some() {
                self.on_ack(segment, side, when);
            }
        }
        let ends = u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN));
        if segment.payload_len + ends > 0 && !flags.has(Flags::RST) {
            let setting = self.setting(side, when);
            let stamp = segment.options.timestamps.map(|stamps| Timestamp(stamps.value));
            let half = self.halves[side].get_or_insert_default();
            let left = half.left(stamp, &setting);
            let data = Data {
                seq: segment.seq,
                len: segment.payload_len + ends,
                payload: segment.payload_len,
                syn: flags.has(Flags::SYN),
                stamp,
                left,
                echo: segment.options.timestamps.filter(|_| flags.has(Flags::ACK)).map(|stamps| Timestamp(stamps.echo)),
            };
            half.on_data(&data, &setting);
        }
        self.sides[side].fin |= flags.has(Flags::FIN);
        self.reset |= flags.has(Flags::RST);
    }

    /// Handles a router's report that it dropped a segment of end `side`.
    pub fn on_too_big(&mut self, message: &TooBig, side: usize, when: When) {
        let setting = self.setting(side, when);
        if let Some(half) = &mut self.halves[side] {
            path_mtu::on_too_big(half, message, &setting);
        }
    }

    #[inline]
    fn on_ack(&mut self, segment: &Segment, side: usize, when: When) {
        let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.shift(side) };
        let setting = self.setting(1 - side, when);
        let window = u32::from(segment.window) << shift;
        if let Some(half) = &mut self.halves[1 - side]
            && let Some(took) = half.on_ack(segment, window, &setting)
        {
            self.sides[side].trip.sample(took);
        }
    }

    #[inline]
    pub(super) fn shift(&self, side: usize) -> u32 {
        u32::from(self.sides[side].scale)
    }

    fn setting(&self, side: usize, when: When) -> Setting {
        let [one, other] = &self.sides;
        let (to_sender, to_receiver) = if side == 0 { (&one.trip, &other.trip) } else { (&other.trip, &one.trip) };
        Setting { when, to_receiver: to_receiver.kept(), to_sender: to_sender.kept(), sack: self.sacks }
    }

    /// Ends the connection. Returns its results and its retransmissions in the order of frames.
    pub fn finish(mut self) -> (Summary, Vec<Retransmission>) {
        let mut again = Vec::new();
        let directions = [0, 1].map(|side| {
            let setting = self.setting(side, When { nanos: self.last, frame: 0 });
            let mut half = self.halves[side].take().unwrap_or_default();
            let lost_behind = half.trouble.as_ref().is_some_and(|trouble| trouble.lost_behind);
            let vantage = match setting.vantage() {
                Vantage::Receiver if lost_behind => Vantage::Between,
                found => found,
            };
            let mut cost = Cost::default();
            let model = half.trouble.take().and_then(|mut trouble| {
                let initial = half.initial.unwrap_or_default();
                let sender = if side == 0 { End::Client } else { End::Server };
                trouble.finish(&setting, (self.number, sender, initial), (&mut again, &mut cost))
            });
            Direction {
                vantage,
                rtt_ms_min: setting.receiver().map(|nanos| nanos as f64 / 1e6),
                model,
                cost: cost.over(&half.counts, self.last.saturating_sub(self.first)),
                counts: half.counts,
            }
        });
        again.sort_by_key(|one| one.frame);
        let summary = Summary {
            connection: self.number,
            protocol: Protocol::Tcp,
            other_addresses: Default::default(),
            client: self.way.source,
            server: self.way.destination,
            tunnel: self.way.tunnel,
            time_s: self.first as f64 / 1e9,
            duration_s: self.last.saturating_sub(self.first) as f64 / 1e9,
            packets: self.packets,
            twins: self.twins,
            directions,
        };
        (summary, again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_is_small() {
        // A capture may hold a hundred thousand of them.
        assert!(size_of::<Connection>() <= 248, "{}", size_of::<Connection>());
        assert!(size_of::<Half>() <= 200, "{}", size_of::<Half>());
    }
}
