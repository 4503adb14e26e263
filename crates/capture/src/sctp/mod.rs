//! SCTP associations of a capture.
//!
//! A packet belongs to the association in which its verification tag was chosen, independent of its
//! addresses, because an association may have several. The tags of both ends are known from the
//! handshake, or are joined by the addresses of the first packets.

mod chunks;
mod detector_feed;
mod table;

pub(crate) use table::Associations;

use crate::frame::decode::sctp::{Chunk, Packet};
use crate::order::{CapturePoint, RoundTrip};
use crate::result::{DirectionSummary, End, Endpoint, Protocol, Retransmission, Summary, When};
use chunks::Chunks;
use eifel_packet::seq::Seq;
use std::net::IpAddr;

/// The number of addresses remembered per end.
const MOST_ADDRESSES: usize = 16;
/// The time within which the second copy of a packet follows, in nanoseconds.
const AT_ONCE: u64 = 1_000_000;

#[derive(Debug)]
pub(crate) struct Association {
    number: u64,
    first: When,
    last: When,
    tunnel: u32,
    packets: u64,
    duplicates: u64,
    over: bool,
    ends: [Side; 2],
    chunks: [Chunks; 2],
}

/// The state of one end, as seen in its packets.
#[derive(Debug)]
struct Side {
    port: u16,
    addresses: Vec<IpAddr>,
    /// The verification tag in packets to this end; `None` until it is known.
    tag: Option<u32>,
    /// Round trips from here to this end and back.
    round_trip: RoundTrip,
    /// When the pending request to this end passed, in nanoseconds, and the request.
    pending: Option<(u64, Request)>,
    /// The hash of the last packet, and when it passed, in nanoseconds.
    fingerprint: (u64, u64),
}

/// A chunk that the other end answers at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Request {
    Init,
    InitAck,
    CookieEcho,
    Heartbeat(u64),
}

impl Side {
    fn new(address: IpAddr, port: u16) -> Self {
        Self {
            port,
            addresses: vec![address],
            tag: None,
            round_trip: RoundTrip::default(),
            pending: None,
            fingerprint: (0, 0),
        }
    }

    fn add_address(&mut self, address: IpAddr) {
        if !self.addresses.contains(&address) && self.addresses.len() < MOST_ADDRESSES {
            self.addresses.push(address);
        }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint { address: self.addresses[0], port: self.port }
    }
}

impl Association {
    fn new(packet: &Packet<'_>, number: u64, when: When) -> Self {
        let (source, destination) = (packet.addresses.source(), packet.addresses.destination());
        Self {
            number,
            first: when,
            last: when,
            tunnel: packet.tunnel,
            packets: 0,
            duplicates: 0,
            over: false,
            ends: [Side::new(source, packet.ports.0), Side::new(destination, packet.ports.1)],
            chunks: Default::default(),
        }
    }

    /// Handles a packet that comes from end `side`.
    fn on_packet(&mut self, packet: &Packet<'_>, side: usize, when: When) {
        let fingerprint = fingerprint(packet);
        let (known, seen) = self.ends[side].fingerprint;
        if known == fingerprint && when.nanos.saturating_sub(seen) < AT_ONCE {
            // Each packet has one duplicate: a third equal packet is a new one.
            self.ends[side].fingerprint = (!fingerprint, when.nanos);
            self.duplicates += 1;
            return;
        }
        self.ends[side].fingerprint = (fingerprint, when.nanos);
        self.last = when;
        self.packets += 1;
        self.ends[side].add_address(packet.addresses.source());
        self.ends[1 - side].add_address(packet.addresses.destination());
        if packet.tag != 0 {
            self.ends[1 - side].tag = Some(packet.tag);
        }
        for chunk in packet.chunks() {
            self.on_chunk(&chunk, side, when);
        }
    }

    fn on_chunk(&mut self, chunk: &Chunk<'_>, side: usize, when: When) {
        match *chunk {
            Chunk::Data { tsn, len } => {
                let point = self.point(side, when);
                self.chunks[side].on_data(tsn, len, &point);
            }
            Chunk::Sack(sack) => {
                let point = self.point(1 - side, when);
                if let Some(took) = self.chunks[1 - side].on_sack(&sack, &point) {
                    self.ends[side].round_trip.sample(took);
                }
            }
            Chunk::Shutdown(cumulative) | Chunk::ForwardTsn(cumulative) => {
                let from = if matches!(chunk, Chunk::Shutdown(_)) { 1 - side } else { side };
                let point = self.point(from, when);
                self.chunks[from].abandon(cumulative, &point);
            }
            Chunk::Init { tag, tsn } => self.on_init(side, (tag, tsn), Request::Init, when),
            Chunk::InitAck { tag, tsn } => {
                self.sample_answer(side, |pending| pending == Request::Init, when);
                self.on_init(side, (tag, tsn), Request::InitAck, when);
            }
            Chunk::CookieEcho => {
                self.sample_answer(side, |pending| pending == Request::InitAck, when);
                self.ends[1 - side].pending = Some((when.nanos, Request::CookieEcho));
            }
            Chunk::CookieAck => self.sample_answer(side, |pending| pending == Request::CookieEcho, when),
            Chunk::Heartbeat(digest) => self.ends[1 - side].pending = Some((when.nanos, Request::Heartbeat(digest))),
            Chunk::HeartbeatAck(digest) => {
                self.sample_answer(side, |pending| pending == Request::Heartbeat(digest), when)
            }
            Chunk::Over => self.over = true,
            Chunk::Other => {}
        }
    }

    /// Records the tag and the initial TSN that an end announces.
    fn on_init(&mut self, side: usize, (tag, tsn): (u32, Seq), pending: Request, when: When) {
        self.ends[side].tag = Some(tag);
        self.ends[1 - side].pending = Some((when.nanos, pending));
        self.chunks[side].begin(tsn);
    }

    /// Samples the round round_trip to end `side` if its pending request is one that `fits`.
    fn sample_answer(&mut self, side: usize, fits: impl Fn(Request) -> bool, when: When) {
        let end = &mut self.ends[side];
        if let Some((since, _)) = end.pending.take_if(|(_, pending)| fits(*pending)) {
            end.round_trip.sample(when.nanos.saturating_sub(since));
        }
    }

    fn point(&self, side: usize, when: When) -> CapturePoint {
        let [to_receiver, to_sender] = [1 - side, side].map(|side| self.ends[side].round_trip.stored());
        CapturePoint { when, to_receiver, to_sender, sack: true }
    }

    pub(crate) fn is_without_data(&self) -> bool {
        self.chunks.iter().all(|chunks| chunks.counts.segments == 0)
    }

    /// Ends the association. Returns its results and its retransmissions in the order of frames.
    pub(crate) fn finish(mut self) -> (Summary, Vec<Retransmission>) {
        let mut retransmissions = Vec::new();
        let directions = [0, 1].map(|side| {
            let point = self.point(side, self.last);
            let sender = if side == 0 { End::Client } else { End::Server };
            let cost =
                self.chunks[side].finish((&point, self.first.nanos), (self.number, sender), &mut retransmissions);
            let nanos = self.last.nanos.saturating_sub(self.first.nanos);
            DirectionSummary {
                vantage: point.vantage(),
                rtt_ms_min: point.receiver_rtt().map(|nanos| nanos as f64 / 1e6),
                offered: None,
                reordered_ms_max: None,
                reports_duplicates: None,
                model: (self.chunks[side].counts.retransmissions > 0).then_some("rfc9260"),
                cost: cost.over(&self.chunks[side].counts, nanos),
                counts: self.chunks[side].counts,
            }
        });
        retransmissions.sort_by_key(|one| one.frame);
        let others = |side: usize| self.ends[side].addresses[1..].to_vec();
        let summary = Summary {
            connection: self.number,
            protocol: Protocol::Sctp,
            client: self.ends[0].endpoint(),
            server: self.ends[1].endpoint(),
            other_addresses: [others(0), others(1)],
            tunnel: self.tunnel,
            vlans: Vec::new(),
            time_s: self.first.nanos as f64 / 1e9,
            duration_s: self.last.nanos.saturating_sub(self.first.nanos) as f64 / 1e9,
            packets: self.packets,
            twins: self.duplicates,
            directions,
        };
        (summary, retransmissions)
    }
}

/// Returns a hash that is equal for packets which a capture shows twice.
fn fingerprint(packet: &Packet<'_>) -> u64 {
    let tags = u64::from(packet.tag) << 32 | u64::from(packet.checksum);
    // A network card may fill in the checksum later, so it does not stand for the chunks.
    let rest = u64::from(packet.identification) << 48 ^ packet.digest();
    (tags ^ rest.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}
