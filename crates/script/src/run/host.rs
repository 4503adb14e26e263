//! The replacement of an operating system: one connection, its sockets, and its departed segments.

use std::collections::VecDeque;

use super::end::Returned;
use super::sockets::{Result, Socket, Sockets};
use super::wire::Origins;
use crate::counts::Counts;
use crate::profile::Profile;
use crate::script::{Call, Header, Packet, SegmentError, Then};
use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Engine, Kind};
use eifel_tcp::{Connection, Event, IcmpError, Ports, Settings, State};

/// Ports of this end and of the peer.
const PORTS: Ports = Ports { local: 8080, remote: 49_152 };

/// Maximum number of segments and expired timers of a script. It stops scripts that would not end.
const BUDGET: u32 = 200_000;

/// Whether the connection has been accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Acceptance {
    /// No handshake is complete.
    Nothing,
    Waiting,
    Accepted,
}

/// A segment that has left.
#[derive(Clone, Debug)]
pub(super) struct Departed {
    pub(super) at: Instant,
    pub(super) packet: Packet,
}

/// One end with its connection and sockets.
pub(super) struct Host<'s> {
    header: &'s Header,
    pub(super) connection: Option<Connection>,
    pub(super) counts: Counts,
    /// Departed segments that no event has mentioned.
    pub(super) departed: VecDeque<Departed>,
    pub(super) sockets: Sockets,
    pub(super) acceptance: Acceptance,
    /// The error that the application gets if ICMP reports the peer unreachable.
    unreachable: &'static str,
    /// Whether the application has shut down reading. A read then does not wait.
    reads_no_more: bool,
    /// The settings with which a connection begins.
    pub(super) settings: Settings,
    /// The initial sequence number of the next connection.
    iss: Seq,
    budget: u32,
}

impl<'s> Host<'s> {
    pub(super) fn new(header: &'s Header) -> Self {
        Self {
            header,
            connection: None,
            counts: Counts::default(),
            departed: VecDeque::new(),
            sockets: Sockets::default(),
            acceptance: Acceptance::Nothing,
            unreachable: "EHOSTUNREACH",
            reads_no_more: false,
            settings: header.settings,
            iss: Seq(header.iss),
            budget: BUDGET,
        }
    }

    pub(super) fn origins(&self) -> Origins {
        Origins { iss: self.header.iss, irs: self.header.irs }
    }

    /// Returns the ports of an arriving packet.
    pub(super) fn ports(&self) -> (u16, u16) {
        (PORTS.remote, PORTS.local)
    }

    /// Returns whether the script has used up its budget.
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    /// Returns when the connection wants to be woken.
    pub(super) fn due(&self) -> Instant {
        self.connection.as_ref().map_or(Instant::NEVER, Connection::poll_timeout)
    }

    /// Handles the connection's timers.
    pub(super) fn wake(&mut self, now: Instant) {
        self.budget = self.budget.saturating_sub(1);
        if let Some(connection) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.pump(now);
    }

    /// Delivers segments that arrive together. Without a connection each is answered by a reset (RFC 9293, section 3.10.7.1).
    pub(super) fn arrive(&mut self, now: Instant, segments: &[Segment]) {
        for segment in segments {
            self.segment_arrives(now, segment);
        }
        self.pump(now);
    }

    fn segment_arrives(&mut self, now: Instant, segment: &Segment) {
        let syn_fin = segment.flags.has(Flags::SYN) && segment.flags.has(Flags::FIN);
        if self.header.drops_syn_fin && syn_fin {
            return;
        }
        self.counts.note_arrival(now, segment);
        self.make_way(segment);
        if let Some(connection) = &mut self.connection {
            connection.handle_segment(now, segment, &[]);
        } else if let Some(reset) = eifel_tcp::reset(segment) {
            self.counts.segments_out += 1;
            self.departed.push_back(Departed { at: now, packet: self.origins().leaving(&reset) });
        }
    }

    /// Listens again if the peer opens a new connection while this one is in TIME-WAIT.
    fn make_way(&mut self, segment: &Segment) {
        let Some(connection) = self.connection.as_ref().filter(|_| self.sockets.listens()) else { return };
        if let Some(isn) = connection.makes_way(segment, self.iss) {
            self.iss = isn;
            self.connection = self.new_connection(Socket::Listening).ok();
        }
    }

    /// Delivers an ICMP message.
    pub(super) fn error_arrives(&mut self, now: Instant, message: &SegmentError) {
        let Some(error) = message.error.filter(|e| !self.header.ignores_hard_errors || *e != IcmpError::Hard) else {
            return;
        };
        let refused = message.refused || self.header.profile == Profile::FreeBsd;
        self.unreachable = if refused { "ECONNREFUSED" } else { "EHOSTUNREACH" };
        if let Some(connection) = &mut self.connection {
            connection.handle_icmp(error, Seq(message.seq.wrapping_add(self.header.iss)));
        }
        self.pump(now);
    }

    /// Collects departed segments and events.
    fn pump(&mut self, now: Instant) {
        let origins = self.origins();
        let Some(connection) = &mut self.connection else { return };
        let mut segment = Segment::default();
        while self.budget > 0
            && let Some(outgoing) = connection.poll_transmit(now, &mut segment)
        {
            self.budget -= 1;
            self.counts.segments_out += 1;
            let again = outgoing.transmission.is_some_and(|t| matches!(t.kind, Kind::Retransmission(_)));
            self.counts.retransmissions += u64::from(again);
            self.departed.push_back(Departed { at: now, packet: origins.leaving(&segment) });
        }
        self.counts.clocks.set(now, connection);
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Connected => self.acceptance = Acceptance::Waiting,
                Event::Reset => self.sockets.error = Some("ECONNRESET"),
                Event::Refused => self.sockets.error = Some("ECONNREFUSED"),
                Event::Unreachable => self.sockets.error = Some(self.unreachable),
                Event::TimedOut => self.sockets.error = Some("ETIMEDOUT"),
                Event::Recovery(event) => self.counts.note(&event),
                Event::Readable | Event::Writable | Event::PeerClosed | Event::Closed | Event::SoftError(_) => {}
            }
        }
    }

    /// Executes a call. `number` names a socket that the call creates.
    pub(super) fn call(&mut self, now: Instant, call: &Call, number: i64) -> Returned {
        let returned = self.perform(now, call, number).unwrap_or_else(Returned::Error);
        self.pump(now);
        returned
    }

    fn perform(&mut self, now: Instant, call: &Call, number: i64) -> Result<Returned> {
        match *call {
            Call::Socket => self.sockets.open(number, Socket::Fresh),
            Call::Bind { socket } | Call::Ignored { socket } => self.sockets.state(socket).map(|_| Returned::Value(0)),
            Call::Listen { socket } => self.begin(socket, Socket::Listening),
            Call::Connect { socket } => self.connect(socket),
            Call::Accept { socket } => self.accept(socket, number),
            Call::Write { socket, count, then } => self.write(socket, count, then),
            Call::Read { socket, count, unread } => self.read_and_tell(socket, count, unread),
            Call::Peek { socket, count } => match self.connected(socket)?.readable().min(count) {
                0 => self.read(socket, 0),
                waiting => Ok(Returned::Value(waiting.try_into().unwrap_or(i64::MAX))),
            },
            Call::Close { socket } => self.close(now, socket),
            Call::Shutdown { socket, read, write } => {
                self.reads_no_more |= read;
                let connection = self.connected(socket)?;
                if write {
                    connection.shutdown_write();
                }
                Ok(Returned::Value(0))
            }
            Call::SetOption { socket, option } => self.set_option(now, socket, option),
            Call::LingerZero { socket } => {
                let kind = self.sockets.state(socket)?;
                self.sockets.set(socket, if kind == Socket::Connected { Socket::Lingering } else { kind });
                Ok(Returned::Value(0))
            }
            Call::CountUnread { socket, expected } => {
                let found = self.connected(socket)?.readable();
                if found == expected { Ok(Returned::Value(0)) } else { Err("another number of bytes") }
            }
            Call::CountUnacknowledged { socket, expected } => {
                let connection = self.connected(socket)?;
                let found = connection.end().saturating_sub(connection.engine().una().max(1));
                if found == expected { Ok(Returned::Value(0)) } else { Err("another number of bytes") }
            }
            Call::SegmentSize { socket, expected } => {
                let found = self.segment_size(socket)?;
                if i64::from(found) == expected { Ok(Returned::Value(0)) } else { Err("another segment size") }
            }
            Call::TakeError { socket, ref expected } => self.sockets.take_error(socket, expected),
            Call::Sctp { .. } => unreachable!("the parser reads these calls in a conversation over SCTP"),
        }
    }

    pub(super) fn connected(&mut self, socket: i64) -> Result<&mut Connection> {
        self.sockets.is_joined(socket)?;
        self.connection.as_mut().ok_or("ENOTCONN")
    }

    /// Opens the connection.
    fn begin(&mut self, socket: i64, kind: Socket) -> Result<Returned> {
        if self.sockets.state(socket)? != Socket::Fresh || self.connection.is_some() {
            return Err("a script has one connection");
        }
        self.connection = Some(self.new_connection(kind)?);
        self.sockets.set(socket, kind);
        Ok(Returned::Value(0))
    }

    /// Makes the connection of a socket that listens or connects.
    pub(super) fn new_connection(&self, kind: Socket) -> Result<Connection> {
        let engine = Engine::new(&self.header.config).map_err(|_| "no such algorithms")?;
        let begin = if kind == Socket::Listening { Connection::listen } else { Connection::connect };
        Ok(begin(&self.settings, engine, PORTS, self.iss))
    }

    fn connect(&mut self, socket: i64) -> Result<Returned> {
        match self.sockets.state(socket)? {
            Socket::Fresh => {
                self.begin(socket, Socket::Connecting)?;
                Ok(Returned::WouldBlock("EINPROGRESS"))
            }
            Socket::Connecting => self.sockets.connect_again(socket, self.acceptance != Acceptance::Nothing),
            _ => Err("EISCONN"),
        }
    }

    fn accept(&mut self, socket: i64, number: i64) -> Result<Returned> {
        match (self.sockets.state(socket)?, self.acceptance) {
            (Socket::Listening, Acceptance::Waiting) => {
                self.acceptance = Acceptance::Accepted;
                self.sockets.open(number, Socket::Connected)
            }
            (Socket::Listening, _) => Ok(Returned::WouldBlock("EAGAIN")),
            _ => Err("EINVAL"),
        }
    }

    fn write(&mut self, socket: i64, count: u64, then: Then) -> Result<Returned> {
        self.connected(socket)?;
        self.sockets.report()?;
        let connection = self.connected(socket)?;
        let written = connection.write_counted(count);
        if written == 0 && count > 0 {
            return Err("EPIPE");
        }
        match then {
            Then::Nothing => {}
            Then::More => connection.more_follows(),
            Then::EndOfRecord => connection.end_record(),
        }
        Ok(Returned::Value(written.try_into().unwrap_or(i64::MAX)))
    }

    /// Reads, and checks the number of bytes that are unread afterwards. A direction that the peer
    /// has closed counts as one more byte.
    fn read_and_tell(&mut self, socket: i64, count: u64, unread: Option<u64>) -> Result<Returned> {
        let returned = self.read(socket, count)?;
        let connection = self.connected(socket)?;
        let found = connection.readable() + u64::from(is_over(connection));
        match unread {
            Some(expected) if expected != found => Err("another number of unread bytes"),
            _ => Ok(returned),
        }
    }

    fn read(&mut self, socket: i64, count: u64) -> Result<Returned> {
        let connection = self.connected(socket)?;
        if let State::SynSent | State::SynReceived(_) = connection.state() {
            // The application gets data on a SYN once the connection is open (RFC 9293, section
            // 3.10.7.3).
            return Ok(Returned::WouldBlock("EAGAIN"));
        }
        let read = connection.skip(count);
        if read > 0 || count == 0 {
            return Ok(Returned::Value(read.try_into().unwrap_or(i64::MAX)));
        }
        let over = is_over(connection) || self.reads_no_more;
        self.sockets.report()?;
        Ok(if over { Returned::Value(0) } else { Returned::WouldBlock("EAGAIN") })
    }

    fn close(&mut self, now: Instant, socket: i64) -> Result<Returned> {
        let kind = self.sockets.close(socket)?;
        match (&mut self.connection, kind) {
            (Some(connection), Socket::Lingering) => connection.abort(),
            // The connection can no longer be accepted.
            (Some(connection), Socket::Listening) if self.acceptance != Acceptance::Accepted => connection.abort(),
            (Some(connection), Socket::Connecting | Socket::Connected) => connection.close(now),
            _ => {}
        }
        Ok(Returned::Value(0))
    }
}

/// Returns whether the peer has closed its direction, or the connection is closed.
fn is_over(connection: &Connection) -> bool {
    matches!(
        connection.state(),
        State::CloseWait | State::LastAck | State::Closing | State::TimeWait { .. } | State::Closed
    )
}
