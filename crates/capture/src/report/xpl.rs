//! Time-sequence graphs for xplot, drawn as tcptrace draws them.
//!
//! Segments are white, ACKs green, the receiver's window yellow, and SACK blocks purple.
//! Retransmissions are red, with an "S" if they were spurious and an "R" otherwise.

use std::fmt::Write;
use std::net::IpAddr;

use crate::frame::decode::Packet;
use crate::frame::decode::sctp::{self, Chunk};
use crate::result::Retransmission;
use crate::result::Verdict;
use crate::result::{Flow, When};
use eifel_packet::segment::Flags;
use eifel_packet::seq::{Seq, unwrap};

/// The graph of one direction of a connection.
#[derive(Debug)]
pub struct Plot {
    flow: Flow,
    initial: Option<Seq>,
    nxt: u64,
    acknowledged: Option<(u64, u64, u64)>,
    shifts: [Option<u8>; 2],
    /// Frames and numbers of retransmissions, in order of frames, and whether each was spurious.
    retransmissions: Vec<(u64, u32, bool)>,
    /// Further addresses of the source and the destination.
    others: [Vec<IpAddr>; 2],
    text: String,
}

impl Plot {
    /// Returns an empty plot of the data that goes in direction `flow`.
    pub fn new<'a>(flow: Flow, retransmissions: impl Iterator<Item = &'a Retransmission>) -> Self {
        let spurious = |one: &Retransmission| one.verdict == Verdict::Spurious;
        let retransmissions = retransmissions.map(|one| (one.frame, one.number.value(), spurious(one))).collect();
        let title = format!("{}_==>_{} (time sequence graph)", flow.source, flow.destination);
        let text = format!("timeval unsigned\ntitle\n{title}\nxlabel\ntime\nylabel\nsequence number\n");
        Self {
            flow,
            initial: None,
            nxt: 0,
            acknowledged: None,
            shifts: [None; 2],
            retransmissions,
            others: Default::default(),
            text,
        }
    }

    /// Adds the further addresses of the source and the destination.
    pub fn with_addresses(self, others: [Vec<IpAddr>; 2]) -> Self {
        Self { others, ..self }
    }

    /// Draws a packet if it belongs to this connection.
    pub fn packet(&mut self, packet: &Packet, when: When) {
        let ports = (packet.segment.source_port, packet.segment.destination_port);
        let flow = Flow::new(&packet.addresses, ports, packet.tunnel);
        if flow == self.flow {
            self.data(packet, when);
        } else if flow.source == self.flow.destination && flow.destination == self.flow.source {
            self.ack(packet, when);
        }
    }

    /// Draws an SCTP packet if it belongs to this association. Positions count chunks, not bytes, so
    /// the receiver's window is left out.
    pub fn sctp(&mut self, packet: &sctp::Packet<'_>, when: When) {
        let [source, destination] = [0, 1].map(|end| self.is_at(end, packet.addresses.source(), packet.ports.0));
        let [from, to] = [0, 1].map(|end| self.is_at(end, packet.addresses.destination(), packet.ports.1));
        for chunk in packet.chunks() {
            match chunk {
                Chunk::Data { tsn, .. } if source && to => {
                    let place = self.retransmissions.partition_point(|(frame, ..)| *frame < when.frame);
                    let here = self.retransmissions[place..].iter().take_while(|(frame, ..)| *frame == when.frame);
                    let spurious = here.clone().find(|(_, number, _)| *number == tsn.0).map(|(.., spurious)| *spurious);
                    self.line((tsn, 1), spurious, when);
                }
                Chunk::Sack(sack) if destination && from => self.sack(&sack, when),
                _ => {}
            }
        }
    }

    /// Returns whether an address and a port are those of the source, 0, or the destination, 1.
    fn is_at(&self, end: usize, address: IpAddr, port: u16) -> bool {
        let known = if end == 0 { self.flow.source } else { self.flow.destination };
        known.port == port && (known.address == address || self.others[end].contains(&address))
    }

    fn sack(&mut self, sack: &sctp::Sack<'_>, when: When) {
        let Some(initial) = self.initial else { return };
        let (position, now) = (unwrap(self.nxt, initial, sack.cumulative) + 1, seconds(when.nanos));
        // Writing into a string cannot fail.
        if let Some((nanos, acknowledged, _)) = self.acknowledged {
            let then = seconds(nanos);
            let _ = writeln!(self.text, "green\nline {then} {acknowledged} {now} {acknowledged}");
            let _ = writeln!(self.text, "line {now} {acknowledged} {now} {position}");
        }
        for (first, last) in sack.gaps() {
            let [left, right] = [u64::from(first).saturating_sub(1), u64::from(last)].map(|offset| position + offset);
            let _ = write!(self.text, "purple\nline {now} {left} {now} {right}\n");
        }
        self.acknowledged = Some((when.nanos, position, position));
    }

    fn data(&mut self, packet: &Packet, when: When) {
        let segment = &packet.segment;
        if segment.flags.has(Flags::SYN) {
            self.shifts[0] = segment.options.window_scale;
        }
        if segment.payload_len == 0 {
            return;
        }
        let found = self.retransmissions.binary_search_by_key(&when.frame, |(frame, ..)| *frame);
        let spurious = found.ok().map(|place| self.retransmissions[place].2);
        self.line((segment.seq, segment.payload_len), spurious, when);
    }

    /// Draws a transmission. `spurious` is `None` for a first one.
    fn line(&mut self, (seq, len): (Seq, u32), spurious: Option<bool>, when: When) {
        let initial = *self.initial.get_or_insert(seq);
        let start = unwrap(self.nxt, initial, seq);
        let end = start + u64::from(len);
        self.nxt = self.nxt.max(end);
        let time = seconds(when.nanos);
        // Writing into a string cannot fail.
        let _ = match spurious {
            None => writeln!(self.text, "white"),
            Some(spurious) => write!(self.text, "red\natext {time} {end}\n{}\n", if spurious { "S" } else { "R" }),
        };
        let _ = write!(self.text, "darrow {time} {end}\nuarrow {time} {start}\nline {time} {start} {time} {end}\n");
    }

    fn ack(&mut self, packet: &Packet, when: When) {
        let segment = &packet.segment;
        if segment.flags.has(Flags::SYN) {
            self.shifts[1] = segment.options.window_scale;
            return;
        }
        let (Some(initial), true) = (self.initial, segment.flags.has(Flags::ACK)) else { return };
        let (before, position) = (self.acknowledged, unwrap(self.nxt, initial, segment.ack));
        let shift = if self.shifts[0].is_some() { self.shifts[1].unwrap_or(0).min(14) } else { 0 };
        let edge = position + (u64::from(segment.window) << shift);
        let now = seconds(when.nanos);
        if let Some((nanos, acknowledged, limit)) = before {
            let then = seconds(nanos);
            let _ = writeln!(self.text, "green\nline {then} {acknowledged} {now} {acknowledged}");
            let _ = match acknowledged == position {
                true => writeln!(self.text, "dtick {now} {position}"),
                false => writeln!(self.text, "line {now} {acknowledged} {now} {position}"),
            };
            let _ = write!(self.text, "yellow\nline {then} {limit} {now} {limit}\nline {now} {limit} {now} {edge}\n");
        }
        for (left, right) in segment.options.sack.as_slice() {
            let (left, right) = (unwrap(position, initial, *left), unwrap(position, initial, *right));
            let _ = write!(self.text, "purple\nline {now} {left} {now} {right}\n");
        }
        self.acknowledged = Some((when.nanos, position, edge));
    }

    /// Returns the text of the xplot file.
    pub fn finish(mut self) -> String {
        self.text.push_str("go\n");
        self.text
    }
}

fn seconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000_000, nanos / 1000 % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_packet::ip::{Addresses, Ecn};
    use eifel_packet::segment::{Options, Segment};

    fn packet(from_server: bool, flags: Flags, (seq, ack): (u32, u32), len: u32, scale: Option<u8>) -> Packet {
        let there = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let (source_port, destination_port) = if from_server { (80, 1000) } else { (1000, 80) };
        let segment = Segment {
            source_port,
            destination_port,
            seq: Seq(seq),
            ack: Seq(ack),
            flags,
            window: 1000,
            options: Options { window_scale: scale, ..Options::default() },
            payload_len: len,
            ecn: Ecn::NotEct,
        };
        let addresses = if from_server { there.reversed() } else { there };
        Packet { addresses, identification: 1, hop_limit: 64, tunnel: 0, segment }
    }

    /// Returns the edges of the receiver's window if the ends offered these window scales. 500 and
    /// then 1000 bytes are acknowledged.
    fn edges(scales: [Option<u8>; 2]) -> Vec<String> {
        let data = packet(false, Flags::ACK, (1, 1), 1000, None);
        let flow = Flow::new(&data.addresses, (1000, 80), 0);
        let mut plot = Plot::new(flow, std::iter::empty());
        let frames = [
            packet(false, Flags::SYN, (0, 0), 0, scales[0]),
            packet(true, Flags::SYN.with(Flags::ACK), (0, 1), 0, scales[1]),
            data,
            packet(true, Flags::ACK, (1, 501), 0, None),
            packet(true, Flags::ACK, (1, 1001), 0, None),
        ];
        for (number, packet) in (1..).zip(&frames) {
            plot.packet(packet, When { nanos: number * 1_000_000_000, frame: number });
        }
        let text = plot.finish();
        let yellow = text.split("yellow\n").nth(1).unwrap();
        yellow.lines().take(2).map(str::to_owned).collect()
    }

    #[test]
    fn a_window_is_scaled_if_both_ends_offer_it() {
        let scaled = ["line 4.000000 4500 5.000000 4500", "line 5.000000 4500 5.000000 5000"];
        let plain = ["line 4.000000 1500 5.000000 1500", "line 5.000000 1500 5.000000 2000"];
        assert_eq!(edges([Some(7), Some(2)]), scaled);
        assert_eq!(edges([None, Some(2)]), plain);
        assert_eq!(edges([Some(7), None]), plain);
    }
}
