//! The proxy between programs, which use kernel sockets, and a host in virtual time that echoes
//! their data.

use crate::pair::{Pair, held};
use eifel_base::time::{Duration, Instant};
use eifel_live::apps::proxy::{EndedConnection, Plan, Proxy};
use eifel_live::host::{Handle, HostEvent};
use eifel_live::station::{Application, Next};
use eifel_recovery::engine;
use eifel_recovery::registry::Choice;
use eifel_sim::pattern;
use eifel_tcp::Event;
use rustix::net::sockopt;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

const MS: Duration = Duration::from_millis(1);

/// A program that uses the proxy.
struct Program {
    socket: TcpStream,
    to_say: Vec<u8>,
    heard: Vec<u8>,
    /// Whether it closes its direction once it has sent everything.
    closes: bool,
    over: bool,
}

impl Program {
    fn new(proxy: SocketAddr, says: &[u8], closes: bool) -> Self {
        let socket = TcpStream::connect(proxy).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { socket, to_say: says.to_vec(), heard: Vec::new(), closes, over: false }
    }

    fn go_on(&mut self) {
        self.say();
        self.hear();
    }

    fn say(&mut self) {
        if !self.to_say.is_empty() {
            let count = self.socket.write(&self.to_say).unwrap_or(0);
            self.to_say.drain(..count);
            if self.to_say.is_empty() && self.closes {
                self.socket.shutdown(Shutdown::Write).unwrap();
            }
        }
    }

    fn hear(&mut self) {
        let mut room = vec![0; 1 << 16];
        while !self.over {
            match self.socket.read(&mut room) {
                Ok(0) => self.over = true,
                Ok(count) => self.heard.extend_from_slice(&room[..count]),
                Err(error) => {
                    self.over = error.kind() != ErrorKind::WouldBlock;
                    break;
                }
            }
        }
    }
}

/// The other host: it echoes data, and closes after its peer has closed.
#[derive(Default)]
struct Echo {
    open: BTreeSet<Handle>,
    closed: BTreeSet<Handle>,
    waiting: std::collections::BTreeMap<Handle, Vec<u8>>,
}

impl Echo {
    fn turn(&mut self, pair: &mut Pair) {
        while let Some((handle, happening)) = pair.b.poll_event() {
            match happening {
                HostEvent::Opened { .. } => drop(self.open.insert(handle)),
                HostEvent::Event(Event::PeerClosed) => drop(self.closed.insert(handle)),
                HostEvent::Ended(_) => drop(self.open.remove(&handle)),
                HostEvent::Event(_) => {}
            }
        }
        let mut room = vec![0; 1 << 14];
        for &handle in &self.open {
            let Some(connection) = pair.b.connection(handle) else { continue };
            let waiting = self.waiting.entry(handle).or_default();
            if waiting.is_empty() {
                let count = connection.read(&mut room);
                waiting.extend_from_slice(&room[..count]);
            }
            let count = connection.write(waiting);
            waiting.drain(..count);
            if waiting.is_empty() && connection.readable() == 0 && self.closed.remove(&handle) {
                connection.shutdown_write();
            }
        }
    }
}

/// The bytes that each program got, whether its socket has ended, and each connection that has
/// ended.
struct Heard {
    programs: Vec<(Vec<u8>, bool)>,
    passed: Vec<EndedConnection>,
    done: bool,
}

/// Runs programs that send these bytes through a proxy for `clients` clients, for at most `length`.
fn talk(says: &[(Vec<u8>, bool)], clients: Option<u64>, length: Duration) -> Heard {
    let mut pair = Pair::new();
    let (settings, sender) = (held(), engine::Config::default());
    pair.b.listen(80, 64, &settings, &sender).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let passed = RefCell::new(Vec::new());
    let told = Box::new(|one: &EndedConnection| passed.borrow_mut().push(*one));
    let mut proxy = Proxy::begin(listener, Plan { settings, sender, clients }, told).unwrap();
    let mut programs: Vec<Program> = says.iter().map(|(says, closes)| Program::new(at, says, *closes)).collect();
    let (mut echo, mut done) = (Echo::default(), false);
    let end = pair.now + length;
    while pair.now < end && !done {
        pair.run_for(MS);
        programs.iter_mut().for_each(Program::go_on);
        done = proxy.turn(pair.now, &mut pair.a).unwrap() == Next::Done;
        echo.turn(&mut pair);
        // Another thread resolves names, and gets a turn here.
        std::thread::yield_now();
    }
    drop(proxy);
    programs.iter_mut().for_each(Program::go_on);
    let programs = programs.into_iter().map(|program| (program.heard, program.over)).collect();
    Heard { programs, passed: passed.take(), done }
}

const GREETING: [u8; 3] = [5, 1, 0];
const WELCOME: [u8; 2] = [5, 0];

fn socks(target: &[u8], port: u16) -> Vec<u8> {
    [&GREETING, [5, 1, 0].as_slice(), target, &port.to_be_bytes()].concat()
}

fn answered(code: u8) -> Vec<u8> {
    [&WELCOME, [5, code, 0, 1, 0, 0, 0, 0, 0, 0].as_slice()].concat()
}

/// Bytes of a body: more than the proxy buffers per direction.
const LONG: usize = 400_000;
/// The longest run: TIME-WAIT takes 60 s.
const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn the_proxy_echoes_each_programs_data_over_socks_and_http() {
    let body = pattern::bytes(0, LONG);
    let v4 = [1, 10, 0, 0, 2];
    let name = [&[3, 8], b"10.0.0.2".as_slice()].concat();
    let v6 = [[4].as_slice(), &"fd00::2".parse::<std::net::Ipv6Addr>().unwrap().octets()].concat();
    let connect = b"CONNECT 10.0.0.2:80 HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
    let asks = [socks(&v4, 80), socks(&name, 80), socks(&v6, 80), connect];
    let answers = [answered(0), answered(0), answered(0), b"HTTP/1.1 200 OK\r\n\r\n".to_vec()];
    let says: Vec<_> = asks.iter().map(|ask| ([ask.as_slice(), &body].concat(), true)).collect();
    let heard = talk(&says, Some(4), HOUR);
    for (number, ((got, over), answer)) in heard.programs.iter().zip(&answers).enumerate() {
        assert!(*got == [answer.as_slice(), &body].concat(), "program {number} heard {} bytes", got.len());
        assert!(over, "program {number}");
    }
    assert!(heard.done, "the proxy has served all of its clients");
    let mut targets: Vec<SocketAddr> = Vec::new();
    for passed in &heard.passed {
        assert_eq!((passed.moved.sent, passed.moved.received), (LONG as u64, LONG as u64), "{passed:?}");
        assert!(passed.opened && passed.spurious == 0 && passed.tally.retransmissions == 0, "{passed:?}");
        assert!(passed.tally.segments >= 274, "{passed:?}");
        // Six windows of 64 KiB and a TIME-WAIT of 60 s take at least this long.
        assert!(passed.lasted > Duration::from_secs(60) && passed.lasted < Duration::from_secs(70), "{passed:?}");
        targets.push(passed.target);
    }
    targets.sort_unstable();
    let [v4, v6] = ["10.0.0.2:80", "[fd00::2]:80"].map(|target| target.parse().unwrap());
    assert_eq!(targets, [v4, v4, v4, v6]);
}

#[test]
fn a_proxys_client_gets_the_reply_for_its_failed_connection() {
    let nobody = |port| socks(&[1, 10, 0, 0, 2], port);
    let says = [
        (nobody(81), false),
        (b"CONNECT 10.0.0.2:81 HTTP/1.1\r\n\r\n".to_vec(), false),
        // A method that asks for a password, a command that binds, and no request at all.
        (vec![5, 1, 2], false),
        ([&GREETING, [5, 2, 0, 1, 10, 0, 0, 2, 0, 80].as_slice()].concat(), false),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), false),
        // A name with a zero byte does not exist.
        (socks(&[&[3, 3], b"a\0b".as_slice()].concat(), 80), false),
    ];
    let heard = talk(&says, Some(says.len() as u64), Duration::from_secs(100));
    let got: Vec<String> =
        heard.programs.iter().map(|(got, over)| format!("{over} {}", String::from_utf8_lossy(got))).collect();
    let said = |bytes: &[u8]| format!("true {}", String::from_utf8_lossy(bytes));
    assert_eq!(got[0], said(&answered(5)));
    assert_eq!(got[1], said(b"HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    assert_eq!(got[2], said(&[5, 0xff]));
    assert_eq!(got[3], said(&answered(7)));
    assert!(got[4].starts_with("true HTTP/1.1 4"), "{}", got[4]);
    assert_eq!(got[5], said(&answered(4)));
    assert!(heard.done);
    // Two connections were tried, and neither was ever open.
    assert_eq!(heard.passed.len(), 2);
    for passed in &heard.passed {
        assert!(!passed.opened && passed.moved.sent == 0 && passed.moved.received == 0, "{passed:?}");
        assert!(passed.lasted < MS * 50 && passed.target.port() == 81, "{passed:?}");
    }
}

/// A client without a request is dropped after 30 s. A client that closes in the middle of its
/// request is dropped at once.
#[test]
fn a_client_that_sends_no_request_is_closed_after_the_timeout() {
    let silent = |length| talk(&[(Vec::new(), false)], Some(1), length);
    // The client is accepted in the first turn, 1 ms after the beginning.
    assert!(!silent(Duration::from_secs(30) + MS).done, "30 s are not over");
    let heard = silent(Duration::from_secs(30) + MS * 2);
    assert_eq!((heard.done, &heard.programs[0]), (true, &(Vec::new(), true)));
    let heard = talk(&[(GREETING[..2].to_vec(), true)], Some(1), Duration::from_secs(1));
    assert_eq!((heard.done, heard.programs[0].1), (true, true));
    assert!(heard.passed.is_empty());
}

#[test]
fn a_proxy_ends_after_the_requested_number_of_clients() {
    let ask = (socks(&[1, 10, 0, 0, 2], 81), false);
    let heard = talk(&[ask.clone(), ask.clone(), ask.clone()], Some(2), Duration::from_secs(2));
    let answers: Vec<usize> = heard.programs.iter().map(|(got, _)| got.len()).collect();
    assert_eq!(answers, [12, 12, 0], "the third is not taken");
    assert!(heard.done);
    assert_eq!(heard.passed.len(), 2);
    let heard = talk(&[ask.clone(), ask], None, Duration::from_secs(2));
    assert_eq!((heard.done, heard.passed.len()), (false, 2), "without a limit it goes on");
}

/// Stopping the proxy ends its connections, and then the proxy is done.
#[test]
fn a_proxy_that_is_stopped_ends_its_connections() {
    let mut pair = Pair::new();
    let (settings, sender) = (held(), engine::Config::default());
    pair.b.listen(80, 64, &settings, &sender).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let passed = RefCell::new(Vec::new());
    let told = Box::new(|one: &EndedConnection| passed.borrow_mut().push(*one));
    let mut proxy = Proxy::begin(listener, Plan { settings, sender, clients: None }, told).unwrap();
    let mut program = Program::new(at, &socks(&[1, 10, 0, 0, 2], 80), false);
    let mut echo = Echo::default();
    let mut go_on = |pair: &mut Pair, proxy: &mut Proxy<'_>, program: &mut Program| {
        let mut next = Next::Turn(Instant::NEVER);
        for _ in 0..100 {
            pair.run_for(MS);
            program.go_on();
            next = proxy.turn(pair.now, &mut pair.a).unwrap();
            echo.turn(pair);
        }
        next
    };
    assert_ne!(go_on(&mut pair, &mut proxy, &mut program), Next::Done);
    assert_eq!((program.heard.as_slice(), proxy.waits().len()), (answered(0).as_slice(), 1));
    proxy.stop(pair.now, &mut pair.a);
    // A client that connects now is not accepted.
    let _late = Program::new(at, &[], false);
    assert_eq!(go_on(&mut pair, &mut proxy, &mut program), Next::Done);
    assert!(program.over);
    assert_eq!((pair.a.connections(), pair.b.connections()), (0, 0));
    assert_eq!((passed.borrow().len(), passed.borrow()[0].opened, proxy.waits().len()), (1, true, 1));
}

/// A connection outlives its client by TIME-WAIT, a minute. Beyond 1024 connections, the oldest of
/// these end at once.
#[test]
fn connections_without_a_client_end_when_there_are_too_many() {
    const CLIENTS: usize = 1030;
    let mut pair = Pair::new();
    let (settings, sender) = (held(), engine::Config::default());
    pair.b.listen(80, 64, &settings, &sender).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let passed = RefCell::new(Vec::new());
    let told = Box::new(|one: &EndedConnection| passed.borrow_mut().push(*one));
    let mut proxy = Proxy::begin(listener, Plan { settings, sender, clients: None }, told).unwrap();
    let (mut echo, ask) = (Echo::default(), [&socks(&[1, 10, 0, 0, 2], 80), b"hello".as_slice()].concat());
    for number in 0..CLIENTS {
        let mut program = Program::new(at, &ask, true);
        while !program.over {
            pair.run_for(MS * 2);
            program.go_on();
            proxy.turn(pair.now, &mut pair.a).unwrap();
            echo.turn(&mut pair);
            assert!(pair.now < Instant::ZERO + Duration::from_secs(60), "client {number}");
        }
        assert!(program.heard.ends_with(b"hello"), "client {number}");
    }
    pair.run_for(MS * 2);
    proxy.turn(pair.now, &mut pair.a).unwrap();
    assert_eq!((pair.a.connections(), passed.borrow().len()), (1024, CLIENTS - 1024));
}

/// A proxy for one client, a program that sends a body and closes, and an echo.
struct One<'a> {
    pair: Pair,
    proxy: Proxy<'a>,
    program: Program,
    echo: Echo,
    /// A listener that belongs to no proxy.
    elsewhere: TcpListener,
}

impl<'a> One<'a> {
    /// Makes the rig. If `kept` is given, the sockets have buffers of `kept` bytes.
    fn new(body: &[u8], kept: Option<usize>, passed: &'a RefCell<Vec<EndedConnection>>) -> Self {
        let mut pair = Pair::new();
        let sender = engine::Config { observers: vec![Choice::named("f-rto")], ..engine::Config::default() };
        pair.b.listen(80, 64, &held(), &sender).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let told = Box::new(|one: &EndedConnection| passed.borrow_mut().push(*one));
        if let Some(kept) = kept {
            sockopt::set_socket_send_buffer_size(&listener, kept).unwrap();
        }
        let proxy = Proxy::begin(listener, Plan { settings: held(), sender, clients: Some(1) }, told).unwrap();
        let program = Program::new(at, &[&socks(&[1, 10, 0, 0, 2], 80), body].concat(), true);
        if let Some(kept) = kept {
            sockopt::set_socket_recv_buffer_size(&program.socket, kept).unwrap();
        }
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { pair, proxy, program, echo: Echo::default(), elsewhere }
    }

    /// Runs for `millis` milliseconds. Returns whether the proxy is done.
    fn step(&mut self, millis: u64) -> bool {
        self.pair.run_for(MS * millis);
        self.program.say();
        let next = self.proxy.turn(self.pair.now, &mut self.pair.a).unwrap();
        self.echo.turn(&mut self.pair);
        next == Next::Done
    }
}

/// The program reads nothing until its connection has ended. At its end, the connection holds bytes
/// that the program's socket had no room for.
#[test]
fn a_program_that_reads_late_gets_all_data() {
    let (passed, body) = (RefCell::new(Vec::new()), pattern::bytes(0, 60_000));
    let mut one = One::new(&body, Some(4096), &passed);
    while passed.borrow().is_empty() {
        assert!(!one.step(20) && one.pair.now < Instant::ZERO + Duration::from_secs(200));
    }
    let moved = passed.borrow()[0].moved;
    assert_eq!((moved.sent, moved.received), (60_000, 60_000));
    while !one.step(1) {
        one.program.hear();
    }
    // The kernel still has some of the data.
    for _ in 0..10_000 {
        if one.program.over {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        one.program.hear();
    }
    assert!(one.program.over && one.program.heard == [answered(0), body].concat(), "{}", one.program.heard.len());
}

/// Packets under way are held once, for longer than the retransmission timeout.
#[test]
fn a_spurious_timeout_of_a_connection_is_counted_once() {
    for (spike, expected) in [(false, 0), (true, 1)] {
        let passed = RefCell::new(Vec::new());
        let mut one = One::new(&pattern::bytes(0, LONG), None, &passed);
        let mut held = !spike;
        while !one.step(2) {
            one.program.hear();
            if !held && one.program.heard.len() > 100_000 {
                one.pair.under_way.iter_mut().for_each(|(arrival, ..)| *arrival += Duration::from_millis(2500));
                held = true;
            }
            assert!(one.pair.now < Instant::ZERO + Duration::from_secs(200));
        }
        let [only] = passed.borrow()[..] else { panic!("one connection") };
        assert_eq!((only.spurious, only.moved.received), (expected, LONG as u64));
        assert_eq!(only.tally.retransmissions > 0, spike, "{only:?}");
    }
}

/// The program exits without reading its answer, which resets its socket.
#[test]
fn a_program_that_exits_closes_its_connection() {
    let passed = RefCell::new(Vec::new());
    let mut one = One::new(b"hello", None, &passed);
    one.program.closes = false;
    for _ in 0..100 {
        assert!(!one.step(1));
    }
    assert_eq!((one.pair.b.connections(), one.echo.open.len()), (1, 1));
    one.program = Program::new(one.elsewhere.local_addr().unwrap(), &[], false);
    while !one.step(10) {
        assert!(one.pair.now < Instant::ZERO + Duration::from_secs(200));
    }
    let [only] = passed.borrow()[..] else { panic!("one connection") };
    assert_eq!((only.moved.sent, only.moved.received), (5, 5));
    assert_eq!((one.pair.a.connections(), one.echo.open.len()), (0, 0));
}

/// The peer does not answer, so the connection is not open yet when the program goes.
#[test]
fn a_program_that_exits_early_closes_its_connection() {
    let passed = RefCell::new(Vec::new());
    let mut one = One::new(b"", None, &passed);
    one.program.closes = false;
    let step = |one: &mut One<'_>| {
        one.pair.under_way.clear();
        one.step(1)
    };
    for _ in 0..10 {
        assert!(!step(&mut one));
    }
    assert_eq!((one.pair.a.connections(), one.pair.b.connections()), (1, 0));
    one.program = Program::new(one.elsewhere.local_addr().unwrap(), &[], false);
    assert!((0..10).any(|_| step(&mut one)), "the proxy is done at once");
    let [only] = passed.borrow()[..] else { panic!("one connection") };
    assert!(!only.opened && only.lasted < MS * 20 && one.pair.a.connections() == 0, "{only:?}");
}
