//! One capture from its frames to its connections and retransmissions.

use std::collections::BTreeMap;

use crate::decode::{self, Fragments, Other, Packet};
use crate::flow::{Connection, Summary, Table, Way, When};
use crate::read::Frame;
use crate::report::Retransmission;

/// Analyses the frames of one capture, in the order in which they are handed in.
#[derive(Debug, Default)]
pub struct Analyzer {
    table: Table,
    fragments: Fragments,
    connections: u64,
    found: Analysis,
    last: u64,
}

/// What was found in a capture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Analysis {
    /// Frames that were read.
    pub frames: u64,
    /// TCP segments among them.
    pub segments: u64,
    /// Frames that hold no TCP segment to analyse, by the reason.
    pub others: BTreeMap<Other, u64>,
    /// How often a frame was older than the one before it.
    pub backwards: u64,
    /// Connections that had to make room for others before they were over.
    pub evicted: u64,
    /// Connections, in the order in which they ended.
    pub connections: Vec<Summary>,
    /// What was sent again, in the order of frames.
    pub retransmissions: Vec<Retransmission>,
}

impl Analyzer {
    /// Takes a frame in.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.found.frames += 1;
        // Where a clock was set back, time stands still until it has caught up.
        if frame.nanos < self.last {
            self.found.backwards += 1;
        }
        self.last = frame.nanos;
        match decode::packet(frame.link, frame.bytes, frame.wire_len, &mut self.fragments) {
            Ok(packet) => self.packet(&packet, When { nanos: frame.nanos, frame: frame.number }),
            Err(other) => *self.found.others.entry(other).or_default() += 1,
        }
    }

    fn packet(&mut self, packet: &Packet, when: When) {
        self.found.segments += 1;
        let ports = (packet.segment.source_port, packet.segment.destination_port);
        let way = Way::new(&packet.addresses, ports, packet.tunnel);
        if let Some((connection, side)) = self.table.find(&way) {
            if !connection.is_reopened_by(packet, side) {
                return connection.on_packet(packet, side, when);
            }
            if let Some(over) = self.table.remove(&way) {
                self.end(*over);
            }
        }
        let mut connection = Connection::new(way, self.connections, when);
        self.connections += 1;
        connection.on_packet(packet, 0, when);
        if let Some(evicted) = self.table.insert(connection) {
            self.found.evicted += u64::from(!evicted.is_over());
            self.end(*evicted);
        }
    }

    fn end(&mut self, connection: Connection) {
        let (summary, mut again) = connection.finish();
        self.found.retransmissions.append(&mut again);
        self.found.connections.push(summary);
    }

    /// The capture has ended.
    pub fn finish(mut self) -> Analysis {
        let rest: Vec<_> = self.table.drain().collect();
        for connection in rest {
            self.end(*connection);
        }
        self.found.connections.sort_by_key(|one| one.connection);
        self.found.retransmissions.sort_by_key(|one| one.frame);
        self.found
    }
}
