//! The replacement of an operating system: one connection, its sockets, and what it has sent.

use std::collections::{BTreeMap, VecDeque};

use super::end::Returned;
use super::wire::Origins;
use crate::script::{Call, Header, Packet};
use crate::variables::Counts;
use eifel_base::time::Instant;
use eifel_packet::segment::Segment;
use eifel_packet::seq::Seq;
use eifel_recovery::detect::Outcome as Judged;
use eifel_recovery::engine::{self, Engine, Kind};
use eifel_tcp::{Connection, Event, Ports, State};

/// Ports of this end and of the peer.
const PORTS: Ports = Ports { local: 8080, remote: 49_152 };

/// Segments and expired timers that a script may have. With more it would not end.
const BUDGET: u32 = 200_000;

/// The state of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Socket {
    Fresh,
    Listening,
    Connecting,
    /// The socket of the connection.
    Connected,
    /// The socket of the connection, whose close sends a reset.
    Lingering,
}

/// Whether the connection has been accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Acceptance {
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
    sockets: BTreeMap<i64, Socket>,
    acceptance: Acceptance,
    error: Option<&'static str>,
    budget: u32,
}

impl<'s> Host<'s> {
    pub(super) fn new(header: &'s Header) -> Self {
        Self {
            header,
            connection: None,
            counts: Counts::default(),
            departed: VecDeque::new(),
            sockets: BTreeMap::new(),
            acceptance: Acceptance::Nothing,
            error: None,
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

    /// Delivers a segment. Without a connection it is answered by a reset (RFC 9293, section 3.10.7.1).
    pub(super) fn arrive(&mut self, now: Instant, segment: &Segment) {
        self.counts.segments_in += 1;
        if let Some(connection) = &mut self.connection {
            connection.handle_segment(now, segment, &[]);
        } else if let Some(reset) = eifel_tcp::reset(segment) {
            self.counts.segments_out += 1;
            self.departed.push_back(Departed { at: now, packet: self.origins().leaving(&reset) });
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
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Connected => self.acceptance = Acceptance::Waiting,
                Event::Reset => self.error = Some("ECONNRESET"),
                Event::Refused => self.error = Some("ECONNREFUSED"),
                Event::Unreachable => self.error = Some("EHOSTUNREACH"),
                Event::TimedOut => self.error = Some("ETIMEDOUT"),
                Event::Recovery(event) => self.counts.note(&event),
                Event::Readable | Event::Writable | Event::PeerClosed | Event::Closed | Event::SoftError(_) => {}
            }
        }
    }

    /// Executes a call. `number` names a socket that the call creates.
    pub(super) fn call(&mut self, now: Instant, call: &Call, number: i64) -> Returned {
        let returned = match self.perform(now, call, number) {
            Ok(returned) => returned,
            Err(error) => Returned::Error(error),
        };
        self.pump(now);
        returned
    }

    fn perform(&mut self, now: Instant, call: &Call, number: i64) -> Result<Returned, &'static str> {
        match *call {
            Call::Socket => self.open(number, Socket::Fresh),
            Call::Bind { socket } | Call::Ignored { socket } => self.socket(socket).map(|_| Returned::Value(0)),
            Call::Listen { socket } => self.begin(socket, Socket::Listening),
            Call::Connect { socket } => self.connect(socket),
            Call::Accept { socket } => self.accept(socket, number),
            Call::Write { socket, count } => self.write(socket, count),
            Call::Read { socket, count } => self.read(socket, count),
            Call::Peek { socket, count } => match self.connected(socket)?.readable().min(count) {
                0 => self.read(socket, 0),
                waiting => Ok(Returned::Value(waiting.try_into().unwrap_or(i64::MAX))),
            },
            Call::Close { socket } => self.close(now, socket),
            Call::Shutdown { socket } => {
                self.connected(socket)?.close();
                Ok(Returned::Value(0))
            }
            Call::LingerZero { socket } => {
                let kind = self.socket(socket)?;
                self.sockets.insert(socket, if kind == Socket::Connected { Socket::Lingering } else { kind });
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
                let found = self.connected(socket)?.mss();
                if i64::from(found) == expected { Ok(Returned::Value(0)) } else { Err("another segment size") }
            }
            Call::TakeError { socket, ref expected } => {
                self.socket(socket)?;
                match self.error.take() {
                    None if expected == "0" => Ok(Returned::Value(0)),
                    Some(error) if error == expected => Ok(Returned::Value(0)),
                    Some(error) => Err(error),
                    None => Err("no error"),
                }
            }
            Call::Sctp { .. } => unreachable!("the parser reads these calls in a conversation over SCTP"),
        }
    }

    fn socket(&self, socket: i64) -> Result<Socket, &'static str> {
        self.sockets.get(&socket).copied().ok_or("EBADF")
    }

    fn connected(&mut self, socket: i64) -> Result<&mut Connection, &'static str> {
        match self.socket(socket)? {
            Socket::Connecting | Socket::Connected | Socket::Lingering => self.connection.as_mut().ok_or("ENOTCONN"),
            Socket::Fresh | Socket::Listening => Err("ENOTCONN"),
        }
    }

    fn open(&mut self, number: i64, kind: Socket) -> Result<Returned, &'static str> {
        if number < 0 || self.sockets.contains_key(&number) {
            return Err("a socket of that number is open");
        }
        self.sockets.insert(number, kind);
        Ok(Returned::Value(number))
    }

    /// Opens the connection.
    fn begin(&mut self, socket: i64, kind: Socket) -> Result<Returned, &'static str> {
        if self.socket(socket)? != Socket::Fresh || self.connection.is_some() {
            return Err("a script has one connection");
        }
        let engine = Engine::new(&self.header.config).map_err(|_| "no such algorithms")?;
        let begin = if kind == Socket::Listening { Connection::listen } else { Connection::connect };
        self.connection = Some(begin(&self.header.settings, engine, PORTS, Seq(self.header.iss)));
        self.sockets.insert(socket, kind);
        Ok(Returned::Value(0))
    }

    fn connect(&mut self, socket: i64) -> Result<Returned, &'static str> {
        match self.socket(socket)? {
            Socket::Fresh => {
                self.begin(socket, Socket::Connecting)?;
                Ok(Returned::WouldBlock("EINPROGRESS"))
            }
            Socket::Connecting if self.acceptance != Acceptance::Nothing => {
                self.sockets.insert(socket, Socket::Connected);
                Ok(Returned::Value(0))
            }
            Socket::Connecting => match self.error.take() {
                Some(error) => Err(error),
                None => Ok(Returned::WouldBlock("EALREADY")),
            },
            _ => Err("EISCONN"),
        }
    }

    fn accept(&mut self, socket: i64, number: i64) -> Result<Returned, &'static str> {
        match (self.socket(socket)?, self.acceptance) {
            (Socket::Listening, Acceptance::Waiting) => {
                self.acceptance = Acceptance::Accepted;
                self.open(number, Socket::Connected)
            }
            (Socket::Listening, _) => Ok(Returned::WouldBlock("EAGAIN")),
            _ => Err("EINVAL"),
        }
    }

    fn write(&mut self, socket: i64, count: u64) -> Result<Returned, &'static str> {
        self.connected(socket)?;
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let connection = self.connected(socket)?;
        let written = connection.write_counted(count);
        if written == 0 && count > 0 {
            return Err("EPIPE");
        }
        Ok(Returned::Value(written.try_into().unwrap_or(i64::MAX)))
    }

    fn read(&mut self, socket: i64, count: u64) -> Result<Returned, &'static str> {
        let connection = self.connected(socket)?;
        if let State::SynSent | State::SynReceived(_) = connection.state() {
            // Data on a SYN are the application's once the connection is open (RFC 9293, section 3.10.7.3).
            return Ok(Returned::WouldBlock("EAGAIN"));
        }
        let read = connection.skip(count);
        if read > 0 || count == 0 {
            return Ok(Returned::Value(read.try_into().unwrap_or(i64::MAX)));
        }
        let over = matches!(
            connection.state(),
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait { .. } | State::Closed
        );
        match self.error.take() {
            Some(error) => Err(error),
            None if over => Ok(Returned::Value(0)),
            None => Ok(Returned::WouldBlock("EAGAIN")),
        }
    }

    fn close(&mut self, now: Instant, socket: i64) -> Result<Returned, &'static str> {
        let kind = self.socket(socket)?;
        self.sockets.remove(&socket);
        match (&mut self.connection, kind) {
            (Some(connection), Socket::Lingering) => connection.abort(),
            // Nobody will accept the caller any more.
            (Some(connection), Socket::Listening) if self.acceptance != Acceptance::Accepted => connection.abort(),
            (Some(connection), Socket::Connecting | Socket::Connected) => connection.leave(now),
            _ => {}
        }
        Ok(Returned::Value(0))
    }
}

impl Counts {
    fn note(&mut self, event: &engine::Event) {
        match event {
            engine::Event::TimerExpired { .. } => self.timeouts += 1,
            engine::Event::EpisodeOpened { .. } => {
                self.episodes += 1;
                self.verdict = 0;
            }
            engine::Event::Judged { detector: 0, outcome: Judged::Spurious, .. } => {
                self.spurious += 1;
                self.verdict = 1;
            }
            engine::Event::Judged { detector: 0, outcome: Judged::Genuine, .. } => {
                self.genuine += 1;
                self.verdict = 2;
            }
            _ => {}
        }
    }
}
