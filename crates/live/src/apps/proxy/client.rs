//! A client of the proxy: a kernel socket on one side, an eifel connection on the other.

use super::request::{self, Dialect, Reply, Step, Target};
use crate::host::{Handle, Host};
use crate::station::Waits;
use eifel_base::time::{Duration, Instant};
use eifel_tcp::Connection;
use rustix::net::sockopt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;

/// Buffered bytes per direction at which reading stops. Further data stays in the socket or
/// connection that it comes from.
const ROOM: usize = 1 << 16;

/// The progress of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// It sends its request.
    Asking,
    /// It has asked for a target.
    Asked(Target),
    /// The name of its target is being resolved.
    Naming,
    /// Its connection is being opened.
    Connecting(Handle),
    /// Bytes go both ways.
    Open(Handle),
    /// It gets the bytes that are left for it, and nothing else moves.
    Ending,
}

/// Bytes that went each way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ByteCounts {
    /// To the target.
    pub sent: u64,
    /// From the target.
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
    /// Bytes written to the connection, and read from it.
    pub(super) moved: ByteCounts,
    /// Whether the client has closed its direction.
    client_closed: bool,
    /// Whether the connection was closed after the client closed its direction.
    passed_on: bool,
    /// Whether the peer has closed its direction.
    peer_closed: bool,
    /// Whether the client's socket has failed, as by a reset.
    pub(super) broken: bool,
    /// Whether the connection failed when it was open, so that the client must not see a clean end.
    cut: bool,
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
            moved: ByteCounts::default(),
            client_closed: false,
            passed_on: false,
            peer_closed: false,
            broken: false,
            cut: false,
        })
    }

    /// Returns how long the client has been asking; zero after its request.
    pub(super) fn asks_since(&self, now: Instant) -> Duration {
        if self.phase == Phase::Asking { now.since(self.since) } else { Duration::ZERO }
    }

    pub(super) fn handle(&self) -> Option<Handle> {
        match self.phase {
            Phase::Connecting(handle) | Phase::Open(handle) => Some(handle),
            _ => None,
        }
    }

    /// Returns the events that its socket waits for; `None` if there are none.
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

    /// Takes the address of the target's name; `None` if there is none.
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

    /// Ends the client because its connection failed. A client whose connection was not yet open is
    /// told why. Otherwise its socket is reset behind the bytes that are left.
    pub(super) fn fail(&mut self, why: Reply) {
        match self.phase {
            Phase::Open(_) => self.cut = true,
            Phase::Ending => {}
            _ => self.say(why),
        }
        self.phase = Phase::Ending;
    }

    /// Resets the client's socket if its connection is open, so that a transfer that was interrupted
    /// does not look complete.
    pub(super) fn interrupt(mut self) {
        self.cut |= matches!(self.phase, Phase::Open(_));
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

    /// Reads the data left in a connection that has ended.
    pub(super) fn take_rest(&mut self, connection: &mut Connection) {
        if matches!(self.phase, Phase::Open(_)) {
            while self.read_from(connection) > 0 {}
        }
    }

    /// Moves bytes both ways until there are none left or there is no room.
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
                    connection.shutdown_write();
                }
                if self.back.len() < ROOM {
                    moved += self.read_from(connection);
                }
            }
            moved += self.write_socket();
            if moved == 0 {
                break;
            }
        }
        // Only now: until here, the connection may have held data for which there was no room.
        if self.peer_closed && self.back.is_empty() && !self.cut {
            // The client may be gone.
            let _ = self.socket.shutdown(Shutdown::Write);
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
        count
    }

    /// Reads the client's greeting and request.
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

    /// Returns whether the client can be removed.
    pub(super) fn is_over(&self) -> bool {
        let quiet = self.back.is_empty();
        self.broken || (self.phase == Phase::Ending && quiet) || (self.peer_closed && self.passed_on && quiet)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.cut {
            // A socket that does not linger is reset when it is closed. The client may be gone.
            let _ = sockopt::set_socket_linger(&self.socket, Some(std::time::Duration::ZERO));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Config, HostEvent};
    use eifel_recovery::engine;
    use eifel_sim::pattern;
    use eifel_tcp::settings::{ReceiveKind, SendKind};
    use eifel_tcp::{Settings, State};
    use std::net::TcpListener;

    /// A program, its client in the proxy, and the hosts at both ends of a connection.
    struct Rig {
        outside: TcpStream,
        client: Client,
        near: Host,
        far: Host,
        now: Instant,
        /// The connection's handles at the two hosts.
        ends: [Handle; 2],
    }

    /// Returns the reply that the program gets when its connection is open.
    fn reply() -> Vec<u8> {
        request::reply(Dialect::Http, Reply::Connected)
    }

    fn host(number: u8) -> Host {
        let v4 = Some([10, 0, 0, number].into());
        Host::new(Config { v4, v6: None, mtu: 1500, secret: [number.into(), 2], most_connections: 8 })
    }

    impl Rig {
        /// Makes a rig whose sockets have small buffers.
        fn new() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            sockopt::set_socket_send_buffer_size(&listener, 16_384).unwrap();
            let outside = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            sockopt::set_socket_recv_buffer_size(&outside, 16_384).unwrap();
            outside.set_nonblocking(true).unwrap();
            let client = Client::new(listener.accept().unwrap().0, Instant::ZERO).unwrap();
            let (mut near, mut far) = (host(1), host(2));
            let settings = Settings {
                send: SendKind::Held { buffer: 1 << 20 },
                receive: ReceiveKind::Held,
                receive_window: 1 << 18,
                ..Settings::default()
            };
            let (sender, now) = (engine::Config::default(), Instant::ZERO);
            far.listen(80, 4, &settings, &sender).unwrap();
            let one = near.connect(now, "10.0.0.2:80".parse().unwrap(), &settings, &sender).unwrap();
            let mut rig = Self { outside, client, near, far, now, ends: [one; 2] };
            rig.run();
            let opened = std::iter::from_fn(|| rig.far.poll_event())
                .find_map(|(handle, news)| matches!(news, HostEvent::Opened { .. }).then_some(handle));
            rig.ends[1] = opened.unwrap();
            rig
        }

        fn open() -> Self {
            let mut rig = Self::new();
            rig.client.connected(rig.ends[0]);
            rig
        }

        /// Exchanges packets between the hosts for 500 ms.
        fn run(&mut self) {
            let mut packet = Vec::new();
            for _ in 0..50 {
                self.now += Duration::from_millis(10);
                self.near.handle_timeout(self.now);
                self.far.handle_timeout(self.now);
                let mut quiet = false;
                while !std::mem::replace(&mut quiet, true) {
                    while self.near.poll_packet(self.now, &mut packet) {
                        self.far.handle_packet(self.now, &packet);
                        quiet = false;
                    }
                    while self.far.poll_packet(self.now, &mut packet) {
                        self.near.handle_packet(self.now, &packet);
                        quiet = false;
                    }
                }
            }
        }

        /// Sends `bytes` from the far end's application.
        fn far_sends(&mut self, bytes: &[u8]) {
            assert_eq!(self.far.connection(self.ends[1]).unwrap().write(bytes), bytes.len());
            self.run();
        }

        /// Returns the bytes that the program reads, until there are `count` or the end comes.
        fn hears(&mut self, count: usize) -> Vec<u8> {
            let (mut heard, mut room) = (Vec::new(), vec![0; ROOM]);
            for _ in 0..10_000 {
                if heard.len() >= count {
                    break;
                }
                self.client.exchange(&mut self.near);
                match self.outside.read(&mut room) {
                    Ok(0) => break,
                    Ok(count) => heard.extend_from_slice(&room[..count]),
                    Err(_) => {
                        self.run();
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                }
            }
            heard
        }

        /// Returns whether the program's next read is the end.
        fn is_at_the_end(&mut self) -> bool {
            self.client.exchange(&mut self.near);
            std::thread::sleep(std::time::Duration::from_millis(10));
            matches!(self.outside.read(&mut [0]), Ok(0))
        }

        fn waits(&self) -> Option<(bool, bool)> {
            self.client.waits().map(|waits| (waits.to_read, waits.to_write))
        }
    }

    #[test]
    fn a_client_polls_only_for_events_that_it_can_use() {
        let mut rig = Rig::new();
        assert!(rig.client.socket.nodelay().unwrap());
        assert_eq!(rig.waits(), Some((true, false)));
        rig.client.connected(rig.ends[0]);
        assert_eq!(rig.waits(), Some((true, true)), "there is an answer to write");
        assert_eq!(rig.hears(reply().len()), reply());
        assert!(!rig.is_at_the_end());
        assert_eq!(rig.waits(), Some((true, false)));
        rig.outside.shutdown(Shutdown::Write).unwrap();
        rig.client.exchange(&mut rig.near);
        assert_eq!(rig.waits(), None, "it sends no more");
        let mut rig = Rig::new();
        rig.client.fail(Reply::Refused);
        assert_eq!(rig.waits(), Some((false, true)));
        rig.outside.write_all(b"more").unwrap();
        rig.client.exchange(&mut rig.near);
        assert_eq!((rig.waits(), rig.client.out.len()), (None, 0), "nobody wants to hear it");
    }

    #[test]
    fn a_client_reads_no_more_than_there_is_room_for() {
        const BYTES: usize = 400_000;
        let mut rig = Rig::new();
        let bytes = pattern::bytes(0, BYTES);
        let mut said = 0;
        rig.client.phase = Phase::Naming;
        for _ in 0..100 {
            said += rig.outside.write(&bytes[said..]).unwrap_or(0);
            rig.client.exchange(&mut rig.near);
        }
        assert!((ROOM..2 * ROOM).contains(&rig.client.out.len()), "{}", rig.client.out.len());
        assert_eq!(rig.waits(), None);
        rig.client.connected(rig.ends[0]);
        let (mut heard, mut room) = (Vec::new(), vec![0; ROOM]);
        for _ in 0..1000 {
            said += rig.outside.write(&bytes[said..]).unwrap_or(0);
            rig.client.exchange(&mut rig.near);
            assert!(rig.client.out.len() < 2 * ROOM);
            rig.run();
            let count = rig.far.connection(rig.ends[1]).unwrap().read(&mut room);
            heard.extend_from_slice(&room[..count]);
            if heard.len() == BYTES {
                break;
            }
        }
        assert!(heard == bytes);
        assert_eq!(rig.client.moved, ByteCounts { sent: BYTES as u64, received: 0 });
        rig.hears(reply().len());
        assert_eq!(rig.waits(), Some((true, false)));
    }

    #[test]
    fn a_client_that_does_not_read_gets_no_more_than_its_socket_buffer_and_later_everything() {
        let (mut rig, bytes) = (Rig::open(), pattern::bytes(0, 400_000));
        rig.far_sends(&bytes);
        for _ in 0..20 {
            rig.client.exchange(&mut rig.near);
            rig.run();
            assert!(rig.client.back.len() < 2 * ROOM, "{}", rig.client.back.len());
        }
        let expected = [reply(), bytes].concat();
        assert!(rig.hears(expected.len()) == expected && !rig.is_at_the_end());
        rig.client.peer_closes();
        assert!(rig.is_at_the_end());
        // The program may still send.
        assert!(!rig.client.is_over());
        assert_eq!(rig.client.moved, ByteCounts { sent: 0, received: 400_000 });
    }

    /// The buffer for the program is full, and the connection holds more, when the peer closes. The
    /// program still reads all bytes, in one go where the socket's buffer is large.
    #[test]
    fn data_of_a_peer_that_has_closed_is_read_to_the_last_byte() {
        for kept in [4096, 4 * ROOM] {
            let (mut rig, bytes) = (Rig::open(), pattern::bytes(0, 100_000));
            sockopt::set_socket_send_buffer_size(&rig.client.socket, kept).unwrap();
            rig.far_sends(&bytes);
            rig.far.connection(rig.ends[1]).unwrap().shutdown_write();
            rig.run();
            rig.client.back.resize(ROOM, 0);
            rig.client.peer_closes();
            let heard = rig.hears(ROOM + bytes.len());
            assert!(heard.len() == ROOM + bytes.len() && heard[ROOM..] == bytes, "{kept}: {}", heard.len());
            assert!(rig.is_at_the_end());
        }
    }

    #[test]
    fn the_remaining_data_of_an_open_connection_is_taken_whole() {
        for (phase_is_open, taken) in [(true, 100_000), (false, 0)] {
            let mut rig = Rig::open();
            rig.far_sends(&pattern::bytes(0, 100_000));
            if !phase_is_open {
                rig.client.end();
            }
            rig.client.take_rest(rig.near.connection(rig.ends[0]).unwrap());
            assert_eq!((rig.client.back.len(), rig.client.moved.received), (reply().len() + taken, taken as u64));
        }
    }

    #[test]
    fn a_client_ends_when_both_directions_are_closed_or_its_socket_fails() {
        for number in 0..32 {
            let [broken, ending, quiet, peer_closed, passed_on] = [0, 1, 2, 3, 4].map(|bit| number >> bit & 1 == 1);
            let mut rig = Rig::open();
            if ending {
                rig.client.end();
            }
            if quiet {
                rig.client.back.clear();
            }
            (rig.client.broken, rig.client.peer_closed, rig.client.passed_on) = (broken, peer_closed, passed_on);
            assert_eq!(rig.client.is_over(), broken || (quiet && (ending || (peer_closed && passed_on))), "{number}");
        }
    }

    /// A program that exits with unread data resets its socket.
    #[test]
    fn an_exited_program_is_noticed_when_reading_and_when_writing() {
        let mut rig = Rig::open();
        rig.client.exchange(&mut rig.near);
        drop(rig.outside);
        rig.client.exchange(&mut rig.near);
        assert!(rig.client.is_over(), "nothing can be read");
        let mut rig = Rig::open();
        rig.outside.shutdown(Shutdown::Write).unwrap();
        rig.client.exchange(&mut rig.near);
        assert!(!rig.client.is_over());
        drop(rig.outside);
        rig.client.back.extend([0; 100]);
        rig.client.exchange(&mut rig.near);
        assert!(rig.client.is_over(), "nothing can be written");
    }

    #[test]
    fn a_client_gets_an_error_reply_only_before_its_connection_is_open() {
        let mut rig = Rig::new();
        rig.client.fail(Reply::Unreachable);
        let said = request::reply(Dialect::Http, Reply::Unreachable);
        assert_eq!(rig.client.back, said);
        rig.client.fail(Reply::Refused);
        assert_eq!(rig.client.back, said, "once");
        let mut rig = Rig::open();
        rig.client.fail(Reply::Failed);
        assert_eq!((&rig.client.back, &rig.client.phase), (&reply(), &Phase::Ending));
    }

    #[test]
    fn a_client_that_shuts_down_writing_closes_its_connection_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let outside = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut client = Client::new(listener.accept().unwrap().0, Instant::ZERO).unwrap();
        let mut host = host(1);
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
