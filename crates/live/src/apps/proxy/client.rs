//! A client of the proxy: a kernel socket on one side, an eifel connection on the other.

use super::request::{self, Dialect, Reply, Step, Target};
use crate::host::{Handle, Host};
use crate::system::ready_set::Change;
use eifel_tcp::Connection;
use rustix::net::sockopt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

/// The most bytes that are read at once for a client. Those that its socket does not take are kept.
const CHUNK: usize = 8 << 10;
/// Bytes that are read from a client beyond the room in its connection. They are kept, and the
/// connection reports when it has room for them.
const SPILL: usize = 512;

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

/// What the socket may do without blocking, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Ready {
    to_read: bool,
    to_write: bool,
}

/// A program's connection to the proxy, from its request to the end of both directions.
#[derive(Debug)]
pub(super) struct Client {
    socket: TcpStream,
    ready: Ready,
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
    pub(super) fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket,
            ready: Ready::default(),
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

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Notes what has become possible on its socket.
    pub(super) fn on_change(&mut self, change: &Change) {
        self.ready.to_read |= change.to_read;
        self.ready.to_write |= change.to_write;
        self.broken |= change.failed;
    }

    pub(super) fn handle(&self) -> Option<Handle> {
        match self.phase {
            Phase::Connecting(handle) | Phase::Open(handle) => Some(handle),
            _ => None,
        }
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

    /// Returns whether it has yet to take bytes of its connection.
    pub(super) fn has_rest(&self) -> bool {
        self.back.len() > CHUNK
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
            let (before, count) = (self.back.len(), connection.readable() as usize);
            self.back.resize(before + count, 0);
            let count = connection.read(&mut self.back[before..]);
            self.back.truncate(before + count);
            self.moved.received += count as u64;
        }
    }

    /// Moves bytes both ways until there are none left or there is no room. `buffer` is the size of
    /// the connection's send buffer, and `scratch` holds bytes on their way.
    pub(super) fn exchange(&mut self, host: &mut Host, buffer: usize, scratch: &mut [u8]) {
        let mut unread = false;
        while !self.broken {
            let mut moved = 0;
            if self.phase == Phase::Asking {
                let count = self.read_socket(&mut scratch[..CHUNK]);
                self.out.extend(&scratch[..count]);
                self.listen();
                moved += count;
            }
            moved += self.flush();
            if let Phase::Open(handle) = self.phase
                && let Some(connection) = host.connection(handle)
            {
                moved += self.send(connection, buffer, scratch) + self.deliver(connection, scratch);
                unread = connection.readable() > 0;
            }
            if moved == 0 {
                break;
            }
        }
        // Only now: until here, the connection may have held data for which there was no room.
        if self.peer_closed && self.back.is_empty() && !unread && !self.cut {
            // The client may be gone.
            let _ = self.socket.shutdown(Shutdown::Write);
        }
    }

    /// Moves bytes from the socket to the connection.
    fn send(&mut self, connection: &mut Connection, buffer: usize, scratch: &mut [u8]) -> usize {
        let mut moved = connection.write(&self.out);
        self.out.drain(..moved);
        if self.out.is_empty() {
            // A client that has nothing under way keeps no memory.
            self.out = Vec::new();
            let kept = connection.end().saturating_sub(connection.engine().una()) as usize;
            let most = scratch.len().min(buffer.saturating_sub(kept) + SPILL);
            let count = self.read_socket(&mut scratch[..most]);
            let taken = connection.write(&scratch[..count]);
            self.out.extend(&scratch[taken..count]);
            moved += taken;
        }
        self.moved.sent += moved as u64;
        if self.client_closed && self.out.is_empty() && !std::mem::replace(&mut self.passed_on, true) {
            connection.shutdown_write();
        }
        moved
    }

    /// Moves bytes from the connection to the socket.
    fn deliver(&mut self, connection: &mut Connection, scratch: &mut [u8]) -> usize {
        if !self.back.is_empty() || !self.ready.to_write {
            return 0;
        }
        let count = connection.read(&mut scratch[..CHUNK]);
        self.moved.received += count as u64;
        let written = self.write_socket(&scratch[..count]);
        self.back.extend(&scratch[written..count]);
        count
    }

    /// Writes the bytes that are kept for the socket.
    fn flush(&mut self) -> usize {
        let mut back = std::mem::take(&mut self.back);
        let written = self.write_socket(&back);
        if written < back.len() {
            back.drain(..written);
            self.back = back;
        }
        written
    }

    fn read_socket(&mut self, room: &mut [u8]) -> usize {
        if self.client_closed || !self.ready.to_read {
            return 0;
        }
        let read = self.socket.read(room);
        match &read {
            Ok(0) => self.client_closed = true,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.ready.to_read = false,
            Err(_) => self.broken = true,
        }
        read.unwrap_or(0)
    }

    fn write_socket(&mut self, bytes: &[u8]) -> usize {
        if bytes.is_empty() || !self.ready.to_write {
            return 0;
        }
        let written = self.socket.write(bytes);
        match &written {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.ready.to_write = false,
            Err(_) => self.broken = true,
        }
        written.unwrap_or(0)
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
    use eifel_base::time::{Duration, Instant};
    use eifel_recovery::engine;
    use eifel_sim::pattern;
    use eifel_tcp::settings::{ReceiveKind, SendKind};
    use eifel_tcp::{Settings, State};
    use std::net::TcpListener;

    /// Bytes of the near host's send buffer.
    const BUFFER: usize = 1 << 20;

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
            let client = Client::new(listener.accept().unwrap().0).unwrap();
            let (mut near, mut far) = (host(1), host(2));
            let settings = Settings {
                send: SendKind::Held { buffer: BUFFER },
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

        /// Lets the client move its bytes, after its socket has reported all that it can do.
        fn exchange(&mut self) {
            self.client.on_change(&Change { number: 0, to_read: true, to_write: true, failed: false });
            self.client.exchange(&mut self.near, BUFFER, &mut vec![0; 1 << 16]);
        }

        /// Sends `bytes` from the far end's application.
        fn far_sends(&mut self, bytes: &[u8]) {
            assert_eq!(self.far.connection(self.ends[1]).unwrap().write(bytes), bytes.len());
            self.run();
        }

        /// Returns the bytes that the program reads, until there are `count` or the end comes.
        fn hears(&mut self, count: usize) -> Vec<u8> {
            let (mut heard, mut room) = (Vec::new(), vec![0; 1 << 16]);
            for _ in 0..10_000 {
                if heard.len() >= count {
                    break;
                }
                self.exchange();
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
            self.exchange();
            std::thread::sleep(std::time::Duration::from_millis(10));
            matches!(self.outside.read(&mut [0]), Ok(0))
        }
    }

    /// A socket is read and written only from the report that it can be until it would block.
    #[test]
    fn a_socket_without_a_report_is_left_alone() {
        let mut rig = Rig::new();
        assert!(rig.client.socket.nodelay().unwrap());
        rig.outside.write_all(b"CONNECT 10.0.0.2:80 HTTP/1.1\r\n\r\n").unwrap();
        rig.client.exchange(&mut rig.near, BUFFER, &mut vec![0; 1 << 16]);
        assert_eq!(rig.client.phase, Phase::Asking, "it has not been read");
        rig.exchange();
        assert_eq!(rig.client.asked(), Some(Target::Address("10.0.0.2:80".parse().unwrap())));
        assert_eq!(rig.client.ready, Ready { to_read: true, to_write: true }, "nothing is read while it is named");
        rig.client.connected(rig.ends[0]);
        assert_eq!(rig.hears(reply().len()), reply());
        assert_eq!(rig.client.ready, Ready { to_read: false, to_write: true });
        let mut rig = Rig::new();
        rig.client.fail(Reply::Refused);
        rig.outside.write_all(b"more").unwrap();
        rig.exchange();
        assert_eq!(rig.client.out.len(), 0, "nobody wants to hear it");
    }

    #[test]
    fn a_client_reads_no_more_than_there_is_room_for() {
        const BYTES: usize = 2 * BUFFER;
        let mut rig = Rig::new();
        let bytes = pattern::bytes(0, BYTES);
        let mut said = 0;
        rig.client.phase = Phase::Naming;
        let mut says = |rig: &mut Rig| {
            said += rig.outside.write(&bytes[said..]).unwrap_or(0);
            rig.exchange();
        };
        (0..100).for_each(|_| says(&mut rig));
        assert_eq!(rig.client.out.len(), 0);
        rig.client.connected(rig.ends[0]);
        // Nothing is acknowledged while the hosts exchange no packets.
        for _ in 0..10_000 {
            says(&mut rig);
            if rig.client.out.len() == SPILL {
                break;
            }
        }
        assert_eq!((rig.client.moved.sent as usize, rig.client.out.len()), (BUFFER, SPILL));
        let (mut heard, mut room) = (Vec::new(), vec![0; 1 << 16]);
        for _ in 0..1000 {
            says(&mut rig);
            assert!(rig.client.out.len() <= SPILL);
            rig.run();
            while let count @ 1.. = rig.far.connection(rig.ends[1]).unwrap().read(&mut room) {
                heard.extend_from_slice(&room[..count]);
            }
            if heard.len() == BYTES {
                break;
            }
        }
        assert!(heard == bytes);
        assert_eq!(rig.client.moved, ByteCounts { sent: BYTES as u64, received: 0 });
    }

    #[test]
    fn a_client_that_does_not_read_gets_no_more_than_its_socket_buffer_and_later_everything() {
        let (mut rig, bytes) = (Rig::open(), pattern::bytes(0, 400_000));
        rig.far_sends(&bytes);
        for _ in 0..20 {
            rig.exchange();
            rig.run();
            assert!(rig.client.back.len() <= CHUNK, "{}", rig.client.back.len());
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
        const ROOM: usize = 1 << 16;
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
        rig.exchange();
        drop(rig.outside);
        rig.client.on_change(&Change { number: 0, to_read: true, to_write: true, failed: false });
        rig.client.exchange(&mut rig.near, BUFFER, &mut vec![0; 1 << 16]);
        assert!(rig.client.is_over(), "nothing can be read");
        let mut rig = Rig::open();
        rig.outside.shutdown(Shutdown::Write).unwrap();
        rig.exchange();
        assert!(!rig.client.is_over());
        drop(rig.outside);
        rig.client.on_change(&Change { number: 0, to_read: true, to_write: true, failed: true });
        assert!(rig.client.is_over(), "its socket reports it");
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
        let mut client = Client::new(listener.accept().unwrap().0).unwrap();
        let change = Change { number: 0, to_read: true, to_write: true, failed: false };
        let mut host = host(1);
        let (peer, settings) = ("10.0.0.2:80".parse().unwrap(), Settings::default());
        let handle = host.connect(Instant::ZERO, peer, &settings, &engine::Config::default()).unwrap();
        client.connected(handle);
        let mut exchange = |host: &mut Host| {
            client.on_change(&change);
            client.exchange(host, BUFFER, &mut [0; 1 << 16]);
        };
        exchange(&mut host);
        assert_eq!(host.connection(handle).unwrap().state(), State::SynSent);
        outside.shutdown(Shutdown::Write).unwrap();
        exchange(&mut host);
        assert_eq!(host.connection(handle).unwrap().state(), State::Closed);
    }
}
