//! A client of the proxy: a socket of the kernel on one side, a connection of ours on the other.

use super::request::{self, Dialect, Reply, Step, Target};
use crate::host::{Handle, Host};
use crate::station::Waits;
use eifel_base::time::{Duration, Instant};
use eifel_tcp::Connection;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;

/// Bytes that are kept of either direction; the rest waits where it comes from.
const ROOM: usize = 1 << 16;

/// How far a client is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// It says what it wants.
    Asking,
    /// It has asked for a target.
    Asked(Target),
    /// Its target's name is looked up.
    Naming,
    /// Its connection is being made.
    Connecting(Handle),
    /// Bytes go both ways.
    Open(Handle),
    /// It gets what is left, and no more.
    Ending,
}

/// Bytes that went each way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moved {
    /// To the target.
    pub sent: u64,
    /// From it.
    pub received: u64,
}

/// A program's connection to the proxy, from its request to the end of both directions.
#[derive(Debug)]
pub(super) struct Client {
    socket: TcpStream,
    since: Instant,
    pub(super) phase: Phase,
    dialect: Option<Dialect>,
    /// From the client, not yet written to the connection.
    out: Vec<u8>,
    /// For the client, not yet written to the socket.
    back: Vec<u8>,
    /// Bytes that its connection has taken, and that it has given.
    pub(super) moved: Moved,
    /// Whether the client sends no more.
    client_closed: bool,
    /// Whether the connection was closed in turn.
    passed_on: bool,
    /// Whether the peer sends no more.
    peer_closed: bool,
    broken: bool,
}

impl Client {
    pub(super) fn new(socket: TcpStream, since: Instant) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket,
            since,
            phase: Phase::Asking,
            dialect: None,
            out: Vec::new(),
            back: Vec::new(),
            moved: Moved::default(),
            client_closed: false,
            passed_on: false,
            peer_closed: false,
            broken: false,
        })
    }

    /// How long it has been asking.
    pub(super) fn asks_since(&self, now: Instant) -> Duration {
        if self.phase == Phase::Asking { now.since(self.since) } else { Duration::ZERO }
    }

    pub(super) fn handle(&self) -> Option<Handle> {
        match self.phase {
            Phase::Connecting(handle) | Phase::Open(handle) => Some(handle),
            _ => None,
        }
    }

    /// Returns the events for which its socket waits; `None` for none.
    pub(super) fn waits(&self) -> Option<Waits<'_>> {
        let to_read = !self.client_closed && self.out.len() < ROOM && self.phase != Phase::Ending;
        let to_write = !self.back.is_empty();
        (to_read || to_write).then(|| Waits { descriptor: self.socket.as_fd(), to_read, to_write })
    }

    /// Returns the target that it has asked for, once.
    pub(super) fn asked(&mut self) -> Option<Target> {
        let Phase::Asked(target) = &self.phase else { return None };
        let target = target.clone();
        self.phase = Phase::Naming;
        Some(target)
    }

    /// Its target's name has this address, or none.
    pub(super) fn named(&mut self, address: Option<SocketAddr>) {
        match address {
            Some(address) => self.phase = Phase::Asked(Target::Address(address)),
            None => self.fail(Reply::Unreachable),
        }
    }

    pub(super) fn connected(&mut self, handle: Handle) {
        self.say(Reply::Connected);
        self.phase = Phase::Open(handle);
    }

    /// Its connection has failed: before it was open the client hears why.
    pub(super) fn fail(&mut self, why: Reply) {
        if !matches!(self.phase, Phase::Open(_) | Phase::Ending) {
            self.say(why);
        }
        self.phase = Phase::Ending;
    }

    pub(super) fn peer_closes(&mut self) {
        self.peer_closed = true;
    }

    pub(super) fn end(&mut self) {
        self.phase = Phase::Ending;
    }

    fn say(&mut self, reply: Reply) {
        self.back.extend(request::reply(self.dialect.unwrap_or(Dialect::Http), reply));
    }

    /// Takes what a connection that has ended had not handed out.
    pub(super) fn take_rest(&mut self, connection: &mut Connection) {
        if matches!(self.phase, Phase::Open(_)) {
            while self.read_from(connection) > 0 {}
        }
    }

    /// Moves as many bytes as there are and there is room for, both ways.
    pub(super) fn exchange(&mut self, host: &mut Host) {
        loop {
            let mut moved = self.read_socket();
            if self.phase == Phase::Asking {
                self.listen();
            }
            if let Phase::Open(handle) = self.phase
                && let Some(connection) = host.connection(handle)
            {
                let count = connection.write(&self.out);
                self.out.drain(..count);
                self.moved.sent += count as u64;
                moved += count;
                if self.client_closed && self.out.is_empty() && !std::mem::replace(&mut self.passed_on, true) {
                    connection.close();
                }
                if self.back.len() < ROOM {
                    moved += self.read_from(connection);
                }
            }
            moved += self.write_socket();
            if moved == 0 {
                return;
            }
        }
    }

    fn read_from(&mut self, connection: &mut Connection) -> usize {
        let before = self.back.len();
        self.back.resize(before + ROOM, 0);
        let count = connection.read(&mut self.back[before..]);
        self.back.truncate(before + count);
        self.moved.received += count as u64;
        count
    }

    fn read_socket(&mut self) -> usize {
        if self.client_closed || self.out.len() >= ROOM || self.phase == Phase::Ending {
            return 0;
        }
        let before = self.out.len();
        self.out.resize(before + ROOM, 0);
        let read = self.socket.read(&mut self.out[before..]);
        let count = *read.as_ref().unwrap_or(&0);
        self.out.truncate(before + count);
        match read {
            Ok(0) => self.client_closed = true,
            Ok(_) => {}
            Err(error) => self.broken |= error.kind() != io::ErrorKind::WouldBlock,
        }
        count
    }

    fn write_socket(&mut self) -> usize {
        let written = if self.back.is_empty() { Ok(0) } else { self.socket.write(&self.back) };
        let count = *written.as_ref().unwrap_or(&0);
        self.broken |= written.is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock);
        self.back.drain(..count);
        if self.peer_closed && self.back.is_empty() {
            // The client may be gone.
            let _ = self.socket.shutdown(Shutdown::Write);
        }
        count
    }

    /// Reads what the client asks for.
    fn listen(&mut self) {
        match request::read(&self.out, self.dialect) {
            Ok(Step::More) if self.client_closed => self.broken = true,
            Ok(Step::More) => {}
            Ok(Step::Answer { taken, dialect, answer }) => {
                self.out.drain(..taken);
                self.dialect = Some(dialect);
                self.back.extend(answer);
                self.listen();
            }
            Ok(Step::Asked { taken, dialect, target }) => {
                self.out.drain(..taken);
                self.dialect = Some(dialect);
                self.phase = Phase::Asked(target);
            }
            Err(answer) => {
                self.back.extend(answer);
                self.phase = Phase::Ending;
            }
        }
    }

    /// Whether nothing more is to be done for it.
    pub(super) fn is_over(&self) -> bool {
        let quiet = self.back.is_empty();
        self.broken || (self.phase == Phase::Ending && quiet) || (self.peer_closed && self.passed_on && quiet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Config;
    use eifel_recovery::engine;
    use eifel_tcp::{Settings, State};
    use std::net::TcpListener;

    #[test]
    fn a_client_that_sends_no_more_closes_its_connection_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let outside = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut client = Client::new(listener.accept().unwrap().0, Instant::ZERO).unwrap();
        let v4 = Some([10, 0, 0, 1].into());
        let mut host = Host::new(Config { v4, v6: None, mtu: 1500, secret: [1, 2], most_connections: 8 });
        let (peer, settings) = ("10.0.0.2:80".parse().unwrap(), Settings::default());
        let handle = host.connect(Instant::ZERO, peer, &settings, &engine::Config::default()).unwrap();
        client.connected(handle);
        client.exchange(&mut host);
        assert_eq!(host.connection(handle).unwrap().state(), State::SynSent);
        outside.shutdown(Shutdown::Write).unwrap();
        client.exchange(&mut host);
        assert_eq!(host.connection(handle).unwrap().state(), State::Closed);
    }
}
