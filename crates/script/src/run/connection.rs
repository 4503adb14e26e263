//! A TCP connection as the end that a script talks to.

use super::compare;
use super::end::{End, Returned, Taken};
use super::host::{Departed, Host};
use super::stamps::Stamps;
use crate::outcome::Seen;
use crate::script::{Call, Header, Packet, TcpOption, Traffic};
use crate::variables::{Observed, Read, Variable};
use eifel_base::time::Instant;
use eifel_packet::segment::Flags;

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

    fn segment(packet: &Traffic) -> &Packet {
        match packet {
            Traffic::Segment(packet) => packet,
            Traffic::Sctp(_) | Traffic::Icmp(_) => unreachable!("the parser reads segments in a conversation over TCP"),
        }
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
        let mut packet = Self::segment(packet).clone();
        for option in packet.options.iter_mut().flatten() {
            if let TcpOption::Timestamps { echo, .. } = option {
                *echo = if packet.flags.has(Flags::ACK) { self.stamps.echoed(*echo) } else { *echo };
            }
        }
        let ports = self.host.ports();
        let segment = self.host.origins().arriving(&packet, ports);
        let segment = segment.ok_or("these options are none that a segment can have")?;
        self.host.arrive(now, &segment);
        Ok(())
    }

    fn call(&mut self, now: Instant, call: &Call, number: i64) -> Returned {
        self.host.call(now, call, number)
    }

    fn read(&self, variable: &Variable) -> Option<i128> {
        let observed = Observed { connection: self.host.connection.as_ref()?, counts: &self.host.counts };
        match variable.read {
            Read::Connection(read) => Some(read(&observed)),
            Read::Association(_) => None,
        }
    }

    fn has_departed(&self) -> bool {
        !self.host.departed.is_empty()
    }

    fn take(&mut self, expected: &Traffic) -> Taken {
        let expected = Self::segment(expected);
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
