//! Time-sequence graphs for xplot, as tcptrace draws them: segments white, ACKs green, the receiver's window yellow, SACK blocks
//! purple; what was sent again is red with an "S" where it was spurious, and with an "R" otherwise.

use std::fmt::Write;

use crate::decode::Packet;
use crate::flow::{Way, When};
use crate::report::Retransmission;
use crate::verdict::Verdict;
use eifel_packet::segment::Flags;
use eifel_packet::seq::{Seq, unwrap};

/// One direction of a connection.
#[derive(Debug)]
pub struct Plot {
    way: Way,
    initial: Option<Seq>,
    nxt: u64,
    acknowledged: Option<(u64, u64, u64)>,
    shifts: [Option<u8>; 2],
    /// Frames that send something again, and whether that was spurious.
    again: Vec<(u64, bool)>,
    text: String,
}

impl Plot {
    /// A plot of the data that goes this way.
    pub fn new<'a>(way: Way, again: impl Iterator<Item = &'a Retransmission>) -> Self {
        let again = again.map(|one| (one.frame, one.verdict == Verdict::Spurious)).collect();
        let title = format!("{}_==>_{} (time sequence graph)", way.source, way.destination);
        let text = format!("timeval unsigned\ntitle\n{title}\nxlabel\ntime\nylabel\nsequence number\n");
        Self { way, initial: None, nxt: 0, acknowledged: None, shifts: [None; 2], again, text }
    }

    /// Draws a packet, if it is one of this connection.
    pub fn packet(&mut self, packet: &Packet, when: When) {
        let ports = (packet.segment.source_port, packet.segment.destination_port);
        let way = Way::new(&packet.addresses, ports, packet.tunnel);
        if way == self.way {
            self.data(packet, when);
        } else if way.source == self.way.destination && way.destination == self.way.source {
            self.ack(packet, when);
        }
    }

    fn data(&mut self, packet: &Packet, when: When) {
        let segment = &packet.segment;
        if segment.flags.has(Flags::SYN) {
            self.shifts[0] = segment.options.window_scale;
        }
        if segment.payload_len == 0 {
            return;
        }
        let initial = *self.initial.get_or_insert(segment.seq);
        let start = unwrap(self.nxt, initial, segment.seq);
        let end = start + u64::from(segment.payload_len);
        self.nxt = self.nxt.max(end);
        let again =
            self.again.binary_search_by_key(&when.frame, |(frame, _)| *frame).ok().map(|place| self.again[place].1);
        let time = seconds(when.nanos);
        // Writing into a string cannot fail.
        let _ = match again {
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

    /// The file.
    pub fn finish(mut self) -> String {
        self.text.push_str("go\n");
        self.text
    }
}

fn seconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000_000, nanos / 1000 % 1_000_000)
}
