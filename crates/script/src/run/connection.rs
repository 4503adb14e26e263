//! A TCP connection as the end that a script talks to.

use super::compare;
use super::end::{End, Returned, Taken};
use super::host::{Departed, Host};
use super::stamps::Stamps;
use crate::outcome::Seen;
use crate::script::{Call, Header, Packet, TcpOption, Traffic};
use crate::variables::{self, Observed, Read, Variable};
use eifel_base::time::Instant;
use eifel_packet::segment::Flags;

/// Maximum number of segments that arrive as one packet of the script.
const MOST_TOGETHER: u32 = 1000;

/// The connection's host, and the translation of its timestamps.
pub(super) struct ConnectionEnd<'s> {
    header: &'s Header,
    host: Host<'s>,
    stamps: Stamps,
}

impl<'s> ConnectionEnd<'s> {
    pub(super) fn new(header: &'s Header) -> Self {
        Self { header, host: Host::new(header), stamps: Stamps::new(header) }
    }

    /// Shows a packet as the script would write it.
    fn shown(&self, departed: &Departed) -> Seen {
        let mut packet = departed.packet.clone();
        for option in packet.options.iter_mut().flatten() {
            if let TcpOption::Timestamps { value, .. } = option {
                *value = self.stamps.shown(*value);
            }
        }
        Seen { at: departed.at, text: format!("> {packet}") }
    }

    /// Delivers a packet of the peer. A packet longer than `arriving_mss` stands for several
    /// segments.
    fn segment_arrives(&mut self, now: Instant, packet: &Packet) -> Result<(), String> {
        let mut packet = packet.clone();
        for option in packet.options.iter_mut().flatten() {
            if let TcpOption::Timestamps { echo, .. } = option {
                *echo = if packet.flags.has(Flags::ACK) { self.stamps.echoed(*echo) } else { *echo };
            }
        }
        let ports = self.host.ports();
        let most = self.header.arriving_mss.unwrap_or(u32::MAX);
        if packet.len / most >= MOST_TOGETHER {
            return Err(format!("a packet that stands for more than {MOST_TOGETHER} segments"));
        }
        let mut segments = Vec::new();
        loop {
            let len = packet.len.min(most);
            let last = len == packet.len;
            let flags = if last { packet.flags } else { Flags(packet.flags.0 & !(Flags::FIN.0 | Flags::PSH.0)) };
            let segment = self.host.origins().arriving(&Packet { len, flags, ..packet.clone() }, ports);
            segments.push(segment.ok_or("a segment cannot have these options")?);
            if last {
                break;
            }
            (packet.seq, packet.len) = (packet.seq.wrapping_add(len), packet.len - len);
        }
        self.host.arrive(now, &segments);
        Ok(())
    }
}

impl End for ConnectionEnd<'_> {
    fn due(&self) -> Instant {
        self.host.due()
    }

    fn wake(&mut self, now: Instant) {
        self.host.wake(now);
    }

    fn is_exhausted(&self) -> bool {
        self.host.is_exhausted()
    }

    fn arrive(&mut self, now: Instant, packet: &Traffic) -> Result<(), String> {
        match packet {
            Traffic::Segment(packet) => self.segment_arrives(now, packet),
            Traffic::SegmentError(message) => {
                self.host.error_arrives(now, message);
                Ok(())
            }
            Traffic::Sctp(_) | Traffic::Icmp(_) => unreachable!("the parser reads segments in a conversation over TCP"),
        }
    }

    fn call(&mut self, now: Instant, call: &Call, number: i64) -> Returned {
        self.host.call(now, call, number)
    }

    fn read(&self, now: Instant, variable: &Variable) -> Option<i128> {
        let Some(connection) = &self.host.connection else {
            return variable.is_state().then_some(variables::CLOSED);
        };
        let observed = Observed { connection, counts: &self.host.counts, settings: &self.host.settings, now };
        match variable.read {
            Read::Connection(read) => Some(read(&observed)),
            Read::Association(_) => None,
        }
    }

    fn has_departed(&self) -> bool {
        !self.host.departed.is_empty()
    }

    fn take(&mut self, expected: &Traffic) -> Taken {
        let Traffic::Segment(expected) = expected else {
            unreachable!("the parser reads segments in a conversation over TCP")
        };
        let departed: Vec<_> = self.host.departed.iter().collect();
        let count = compare::joined(expected, &departed, self.header.strict_segments);
        let taken: Vec<Departed> = self.host.departed.drain(..count).collect();
        let together = compare::together(&taken).expect("something has departed");
        let differences = compare::differences(expected, &together, &mut self.stamps, self.header.profile);
        let seen = taken.iter().map(|departed| self.shown(departed)).collect();
        Taken { at: taken[0].at, seen, differences }
    }

    fn rest(&mut self) -> Vec<Seen> {
        let rest: Vec<Departed> = self.host.departed.drain(..).collect();
        rest.iter().map(|departed| self.shown(departed)).collect()
    }
}
