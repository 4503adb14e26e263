//! One capture from its frames to its connections and retransmissions.

use std::collections::BTreeMap;

use crate::association::Associations;
use crate::decode::common::{self, Common, Found};
use crate::decode::{self, Fragments, Held, Other, Packet, sctp};
use crate::flow::{self, Ahead, Connection, Summary, Table, Way, When};
use crate::read::{Frame, Sink};
use crate::report::Retransmission;
use crate::share::{Part, Share};

/// Analyses the frames of one capture, which may stand in several files, in the order in which they are handed in. Frames are
/// numbered through.
#[derive(Debug)]
pub struct Analyzer {
    share: Share,
    table: Table,
    associations: Associations,
    fragments: Fragments,
    ahead: Ahead,
    connections: u64,
    /// Of a share, the frames in which connections began.
    opened: Vec<u64>,
    found: Analysis,
    last: u64,
}

impl Default for Analyzer {
    fn default() -> Self {
        Self::of(Share::WHOLE)
    }
}

/// The findings in a capture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Analysis {
    /// Frames that were read.
    pub frames: u64,
    /// TCP segments among them.
    pub segments: u64,
    /// SCTP packets among them.
    pub sctp_packets: u64,
    /// Frames that hold neither, by the reason.
    pub others: BTreeMap<Other, u64>,
    /// How often a frame was older than the one before it.
    pub backwards: u64,
    /// Connections that had to make room for others before they were over.
    pub evicted: u64,
    /// Connections without any data, of which nothing else is kept.
    pub without_data: u64,
    /// Connections in which data went, in the order of their first packets.
    pub connections: Vec<Summary>,
    /// The retransmissions, in the order of frames.
    pub retransmissions: Vec<Retransmission>,
}

/// What a capture comes to while it is still read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SoFar {
    /// Frames that were read.
    pub frames: u64,
    /// Packets of TCP and SCTP among them.
    pub packets: u64,
    /// Connections of TCP, those that are over and those that last.
    pub connections: u64,
    /// Segments that sent something again, in both.
    pub retransmissions: u64,
}

impl Analyzer {
    /// Analyses the connections of a share only. See [`share`](crate::share).
    pub fn of(share: Share) -> Self {
        Self {
            share,
            table: Table::default(),
            associations: Associations::default(),
            fragments: Fragments::default(),
            ahead: Ahead::default(),
            connections: 0,
            opened: Vec::new(),
            found: Analysis::default(),
            last: 0,
        }
    }

    /// Takes a frame in.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>) {
        Sink::frame(self, frame);
    }

    /// Takes in a common segment of a connection that was found not long ago, unless it has to go the long way.
    #[inline(always)]
    fn goes_straight<const STAMPED: bool>(&mut self, common: &Common<'_, STAMPED>, when: When) -> bool {
        let Some((connection, side, spare)) = self.table.between(common.ends()) else { return false };
        connection.on_common(common, (side, spare), when)
    }

    #[inline(never)]
    fn unstamped(&mut self, common: &Common<'_, false>, when: When) -> bool {
        self.goes_straight(common, when)
    }

    #[cold]
    #[inline(never)]
    fn slowly(&mut self, frame: &Frame<'_>, when: When) {
        match decode::plain(frame.link, frame.bytes) {
            Some(packet) => self.packet(&packet, when),
            None => self.any(frame, when),
        }
    }

    /// Takes in what is not TCP over plain IPv4.
    #[cold]
    #[inline(never)]
    fn any(&mut self, frame: &Frame<'_>, when: When) {
        match decode::held(frame.link, frame.bytes, frame.wire_len, &mut self.fragments) {
            Ok(Held::Tcp(packet)) => self.packet(&packet, when),
            _ if !self.share.is_first() => {}
            Ok(Held::Sctp(packet)) => self.sctp(&packet, when),
            Err(other) => *self.found.others.entry(other).or_default() += 1,
        }
    }

    #[inline]
    fn packet(&mut self, packet: &Packet, when: When) {
        self.found.segments += 1;
        if let Some((connection, side)) = self.table.same(packet)
            && !connection.is_reopened_by(packet, side)
        {
            return connection.on_packet(packet, side, when);
        }
        let ports = (packet.segment.source_port, packet.segment.destination_port);
        let way = Way::new(&packet.addresses, ports, packet.tunnel);
        if self.share.is_part() && !self.share.holds(flow::hash(&way)) {
            self.found.segments -= 1;
            return;
        }
        if let Some((connection, side)) = self.table.find(&way)
            && !connection.is_reopened_by(packet, side)
        {
            return connection.on_packet(packet, side, when);
        }
        self.open(way, packet, when);
    }

    /// Takes in the first packet of a connection.
    #[cold]
    #[inline(never)]
    fn open(&mut self, way: Way, packet: &Packet, when: When) {
        if let Some(over) = self.table.remove(&way) {
            self.end(over.is_without_data(), over.finish());
        }
        let mut connection = Connection::new(way, self.next_number(when), when);
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

    /// The number of a connection that begins now. The shares of a capture count together once they are joined: until then it is
    /// the frame.
    fn next_number(&self, when: When) -> u64 {
        if self.share.is_part() { when.frame } else { self.connections }
    }

    fn begin(&mut self, when: When) {
        self.connections += 1;
        if self.share.is_part() {
            self.opened.push(when.frame);
        }
    }

    fn end(&mut self, without_data: bool, (summary, mut again): (Summary, Vec<Retransmission>)) {
        let nothing = without_data && again.is_empty();
        self.found.retransmissions.append(&mut again);
        if nothing {
            self.found.without_data += 1;
        } else {
            self.found.connections.push(summary);
        }
    }

    /// Takes out the connections that have ended since the last call, and what was sent again in them, so that a long capture
    /// needs no memory for what is over. [`finish`](Self::finish) does not have them any more.
    pub fn take_ended(&mut self) -> (Vec<Summary>, Vec<Retransmission>) {
        (std::mem::take(&mut self.found.connections), std::mem::take(&mut self.found.retransmissions))
    }

    /// The capture has ended: the connections that lasted until then are handed out one by one, each with what was sent again
    /// in it. Those without data are left out.
    pub fn finish_each(mut self, mut take: impl FnMut(Vec<Summary>, Vec<Retransmission>)) -> Analysis {
        for connection in std::mem::take(&mut self.table).drain() {
            self.end(connection.is_without_data(), connection.finish());
            let (ended, again) = self.take_ended();
            take(ended, again);
        }
        for association in self.associations.drain() {
            self.end(association.is_without_data(), association.finish());
            let (ended, again) = self.take_ended();
            take(ended, again);
        }
        self.found
    }

    /// What the capture comes to so far.
    pub fn so_far(&self) -> SoFar {
        let Analysis { frames, segments, sctp_packets, connections, retransmissions, .. } = &self.found;
        let lasting = self.table.iter().map(Connection::retransmissions).sum::<u64>();
        SoFar {
            frames: *frames,
            packets: segments + sctp_packets,
            connections: (connections.len() + self.table.len()) as u64,
            retransmissions: retransmissions.len() as u64 + lasting,
        }
    }

    /// Time of the last frame, in nanoseconds since 1970.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The capture has ended. Returns the findings of a share.
    pub fn finish_part(mut self) -> Part {
        let opened = std::mem::take(&mut self.opened);
        Part { found: self.finish(), opened }
    }

    /// The capture has ended.
    pub fn finish(mut self) -> Analysis {
        self.found.connections.reserve_exact(self.table.len());
        for connection in std::mem::take(&mut self.table).drain() {
            self.end(connection.is_without_data(), connection.finish());
        }
        for association in self.associations.drain() {
            self.end(association.is_without_data(), association.finish());
        }
        self.found.connections.sort_by_key(|one| one.connection);
        self.found.retransmissions.sort_by_key(|one| one.frame);
        self.found
    }
}

impl Sink for Analyzer {
    fn looks_ahead(&self) -> bool {
        self.table.is_large()
    }

    #[inline(always)]
    fn comes_soon(&mut self, link: u32, bytes: &[u8]) {
        if let Some(ends) = common::ends(link, bytes) {
            self.ahead.add(ends);
        }
    }

    fn begins(&mut self) {
        self.ahead.load(&mut self.table);
    }

    #[inline(always)]
    fn frame(&mut self, frame: &Frame<'_>) {
        self.found.frames += 1;
        let when = When { nanos: frame.nanos, frame: self.found.frames };
        // Where a clock was set back, frames keep their times, and what is measured over that point took no time.
        if frame.nanos < self.last {
            self.found.backwards += 1;
        }
        self.last = frame.nanos;
        let straight = match common::read(frame.link, frame.bytes) {
            Some(Found::Stamped(common)) => self.goes_straight(&common, when),
            Some(Found::Unstamped(common)) => self.unstamped(&common, when),
            None => false,
        };
        if straight {
            self.found.segments += 1;
        } else {
            // A copy has an address, so that the fields of `frame` stay in registers on the usual way.
            let frame = *frame;
            self.slowly(&frame, when);
        }
    }
}

/// Finds the file of a frame that is numbered through several.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Frames before each file.
    before: Vec<u64>,
}

impl Frames {
    /// Frames of each file.
    pub fn new(frames: impl Iterator<Item = u64>) -> Self {
        let before = frames.scan(0, |sum, frames| {
            let before = *sum;
            *sum += frames;
            Some(before)
        });
        Self { before: before.collect() }
    }

    /// Number of the file, from 0, and of the frame in it, from 1.
    pub fn find(&self, frame: u64) -> (usize, u64) {
        let file = self.before.partition_point(|before| *before < frame).saturating_sub(1);
        (file, frame - self.before.get(file).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_their_files() {
        let frames = Frames::new([3, 0, 2].into_iter());
        assert_eq!([1, 3, 4, 5].map(|frame| frames.find(frame)), [(0, 1), (0, 3), (2, 1), (2, 2)]);
    }
}
