//! Finds the connections and retransmissions of one capture from its frames.

mod found;
mod networks;
pub mod shard;
mod single;

pub use found::{Analysis, Frames, Totals};
pub use single::{Known, Single};

use crate::frame::decode::common::{self, Common, Found};
use crate::frame::decode::{self, Content, Fragments, Packet, Skipped, TooBig, sctp};
use crate::frame::read::{Frame, Sink};
use crate::result::{Flow, Retransmission, Summary, When};
use crate::sctp::Associations;
use crate::tcp::{Connection, Preload, Table, hash};
use networks::Networks;
use shard::{Shard, ShardResults};

/// The longest time without a packet that a connection outlasts, in nanoseconds: five days, as in
/// Linux's connection tracking.
const LONGEST_SILENCE: u64 = 5 * 86_400 * 1_000_000_000;

/// Analyses the frames of one capture, in the order in which they are passed in. The capture may
/// consist of several files; frames are then numbered across all of them.
#[derive(Debug)]
pub struct Analyzer {
    shard: Shard,
    table: Table,
    networks: Networks,
    associations: Associations,
    fragments: Fragments,
    preload: Preload,
    connections: u64,
    /// The frames in which connections began; filled only for one of several shards.
    opened: Vec<u64>,
    found: Analysis,
    last: u64,
}

impl Default for Analyzer {
    fn default() -> Self {
        Self::of(Shard::WHOLE)
    }
}

impl Analyzer {
    /// Returns an analyser for the connections of one shard only. See [`shard`].
    pub fn of(shard: Shard) -> Self {
        Self {
            shard,
            table: Table::default(),
            networks: Networks::default(),
            associations: Associations::default(),
            fragments: Fragments::default(),
            preload: Preload::default(),
            connections: 0,
            opened: Vec::new(),
            found: Analysis::default(),
            last: 0,
        }
    }

    /// Handles a frame that is older than the one before it, or much newer.
    #[cold]
    #[inline(never)]
    fn on_clock_jump(&mut self, nanos: u64) {
        if nanos < self.last {
            self.found.backwards += 1;
        } else if self.last > 0 {
            // No connection lasts through such a silence.
            self.end_all(|_| {});
        }
    }

    /// Adds the next frame.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>) {
        Sink::frame(self, frame);
    }

    /// Handles a common segment of a recently used connection on the fast path. Returns `false`,
    /// without any effect, if the segment needs the full path.
    #[inline(always)]
    fn take_fast_path<const STAMPED: bool>(&mut self, common: &Common<'_, STAMPED>, when: When) -> bool {
        let Some((connection, side, spare)) = self.table.recently_used(common.ends()) else { return false };
        connection.on_common(common, (side, spare), when)
    }

    #[inline(never)]
    fn unstamped(&mut self, common: &Common<'_, false>, when: When) -> bool {
        self.take_fast_path(common, when)
    }

    #[cold]
    #[inline(never)]
    fn full_path(&mut self, frame: &Frame<'_>, when: When) {
        match decode::plain(frame.link, frame.bytes) {
            Some(packet) => self.packet(&packet, when),
            None => self.other_frame(frame, when),
        }
    }

    /// Handles a frame that is not TCP over plain IPv4.
    #[cold]
    #[inline(never)]
    fn other_frame(&mut self, frame: &Frame<'_>, when: When) {
        let mut fragments = std::mem::take(&mut self.fragments);
        decode::each(frame.link, frame.bytes, frame.wire_len, &mut fragments, |content| match content {
            Ok(Content::Tcp(packet)) => self.packet(&packet, when),
            Ok(Content::TooBig(message)) => self.too_big(&message, when),
            _ if !self.shard.is_first() => {}
            Ok(Content::Sctp(packet)) => self.sctp(&packet, when),
            Err(other) => *self.found.others.entry(other).or_default() += 1,
        });
        self.fragments = fragments;
    }

    /// Hands a report about a segment to the connection of the segment.
    fn too_big(&mut self, message: &TooBig, when: When) {
        if self.shard.is_first() {
            *self.found.others.entry(Skipped::NotTcp).or_default() += 1;
        }
        let flow = Flow::new(&message.addresses, message.ports, message.tunnel);
        if let Some((connection, side)) = self.table.find(&flow) {
            connection.on_too_big(message, side, when);
        }
    }

    #[inline]
    fn packet(&mut self, packet: &Packet, when: When) {
        self.found.segments += 1;
        match self.networks.other(packet) {
            Some(tunnel) => self.packet_in_network(&Packet { tunnel, ..*packet }, when),
            None => self.packet_in_network(packet, when),
        }
    }

    #[inline]
    fn packet_in_network(&mut self, packet: &Packet, when: When) {
        if let Some((connection, side)) = self.table.last_used(packet)
            && !connection.is_reopened_by(packet, side)
            && !connection.is_outlasted_by(LONGEST_SILENCE, when)
        {
            return connection.on_packet(packet, side, when);
        }
        let ports = (packet.segment.source_port, packet.segment.destination_port);
        let flow = Flow::new(&packet.addresses, ports, packet.tunnel);
        if self.shard.is_one_of_several() && !self.shard.holds(hash(&flow)) {
            self.found.segments -= 1;
            return;
        }
        match self.table.find(&flow) {
            Some((connection, side))
                if !connection.is_reopened_by(packet, side) && !connection.is_outlasted_by(LONGEST_SILENCE, when) =>
            {
                return connection.on_packet(packet, side, when);
            }
            Some(_) => {}
            None => {
                if let Some(tunnel) = self.networks.on_unknown(packet, &flow, &self.table, when) {
                    return self.packet_in_network(&Packet { tunnel, ..*packet }, when);
                }
            }
        }
        self.open(flow, packet, when);
    }

    /// Opens a connection with its first packet.
    #[cold]
    #[inline(never)]
    fn open(&mut self, flow: Flow, packet: &Packet, when: When) {
        if let Some(over) = self.table.remove(&flow) {
            self.end(over.is_without_data(), over.finish());
        }
        let mut connection = Connection::new(flow, self.next_number(when), when);
        self.begin(when);
        connection.on_packet(packet, 0, when);
        if let Some(evicted) = self.table.insert(connection) {
            self.found.evicted += u64::from(!evicted.is_over());
            self.end(evicted.is_without_data(), evicted.finish());
        }
    }

    fn sctp(&mut self, packet: &sctp::Packet<'_>, when: When) {
        self.found.sctp_packets += 1;
        let number = self.next_number(when);
        let mut next = number;
        let evicted = self.associations.on_packet(packet, when, &mut next);
        if next != number {
            self.begin(when);
        }
        if let Some(evicted) = evicted {
            self.found.evicted += 1;
            self.end(evicted.is_without_data(), evicted.finish());
        }
    }

    /// Returns the number of a connection that begins now. In one of several shards it is the
    /// frame, because connections are counted over all shards when these are joined.
    fn next_number(&self, when: When) -> u64 {
        if self.shard.is_one_of_several() { when.frame } else { self.connections }
    }

    fn begin(&mut self, when: When) {
        self.connections += 1;
        if self.shard.is_one_of_several() {
            self.opened.push(when.frame);
        }
    }

    fn end(&mut self, without_data: bool, (summary, mut retransmissions): (Summary, Vec<Retransmission>)) {
        let nothing = without_data && retransmissions.is_empty();
        self.found.retransmissions.append(&mut retransmissions);
        if nothing {
            self.found.without_data += 1;
        } else {
            self.found.connections.push(summary);
        }
    }

    /// Removes and returns the connections that have ended since the last call, and their
    /// retransmissions. A caller that does so keeps the memory for a long capture bounded.
    /// [`finish`](Self::finish) does not return them again.
    pub fn take_ended(&mut self) -> (Vec<Summary>, Vec<Retransmission>) {
        (std::mem::take(&mut self.found.connections), std::mem::take(&mut self.found.retransmissions))
    }

    /// Ends all connections, and calls `each` after each of them.
    fn end_all(&mut self, mut each: impl FnMut(&mut Self)) {
        for connection in std::mem::take(&mut self.table).drain() {
            self.end(connection.is_without_data(), connection.finish());
            each(self);
        }
        for association in self.associations.drain() {
            self.end(association.is_without_data(), association.finish());
            each(self);
        }
    }

    /// Ends the capture. Passes the remaining connections to `take` one by one, each with its
    /// retransmissions; connections without data are left out.
    pub fn finish_each(mut self, mut take: impl FnMut(Vec<Summary>, Vec<Retransmission>)) -> Analysis {
        self.end_all(|analyzer| {
            let (ended, retransmissions) = analyzer.take_ended();
            take(ended, retransmissions);
        });
        self.found
    }

    /// Returns the totals of the capture so far.
    pub fn totals(&self) -> Totals {
        let Analysis { frames, segments, sctp_packets, connections, retransmissions, .. } = &self.found;
        let lasting = self.table.iter().map(Connection::retransmissions).sum::<u64>();
        Totals {
            frames: *frames,
            packets: segments + sctp_packets,
            connections: (connections.len() + self.table.len()) as u64,
            retransmissions: retransmissions.iter().filter(|one| !one.repairs_nothing()).count() as u64 + lasting,
        }
    }

    /// Returns the time of the last frame, in nanoseconds since 1970.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Ends the capture and returns the results of one shard.
    pub fn finish_shard(mut self) -> ShardResults {
        let opened = std::mem::take(&mut self.opened);
        ShardResults { found: self.finish(), opened }
    }

    /// Ends the capture and returns its results.
    pub fn finish(mut self) -> Analysis {
        self.found.connections.reserve_exact(self.table.len());
        self.end_all(|_| {});
        self.found.connections.sort_by_key(|one| one.connection);
        self.found.retransmissions.sort_by_key(|one| one.frame);
        self.found
    }
}

impl Sink for Analyzer {
    fn wants_announcements(&self) -> bool {
        self.table.is_large()
    }

    #[inline(always)]
    fn on_announced(&mut self, link: u32, bytes: &[u8]) {
        if let Some(ends) = common::ends(link, bytes) {
            self.preload.add(ends);
        }
    }

    fn on_announcements_end(&mut self) {
        self.preload.load(&mut self.table);
    }

    #[inline(always)]
    fn frame(&mut self, frame: &Frame<'_>) {
        self.found.frames += 1;
        let when = When { nanos: frame.nanos, frame: self.found.frames };
        // If the clock was set back, frames keep their times. Durations across that point count as
        // zero.
        if frame.nanos.wrapping_sub(self.last) > LONGEST_SILENCE {
            self.on_clock_jump(frame.nanos);
        }
        self.last = frame.nanos;
        let fast = match common::read(frame.link, frame.bytes) {
            Some(Found::Stamped(common)) => self.take_fast_path(&common, when),
            Some(Found::Unstamped(common)) => self.unstamped(&common, when),
            None => false,
        };
        if fast {
            self.found.segments += 1;
        } else {
            // The slow path takes a copy. So `frame` needs no address, and its fields stay in
            // registers on the usual path.
            let frame = *frame;
            self.full_path(&frame, when);
        }
    }
}
