//! usrsctp as the other end, over UDP on loopback (RFC 6951).

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time;

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_recovery::registry::{Choice, Value};
use eifel_sctp::{
    Association, Delivery, Event, Failure, Listener, ListenerAction, Message, Phase, Ports, Settings, TimestampChunk,
};

use crate::talk::{Dice, parsed, polled};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Returns the peer's program, compiled once. Returns `None`, with a message on stderr, if usrsctp
/// is not installed.
fn peer() -> Option<&'static Path> {
    static PEER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/usrsctp/peer.c");
        let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join("usrsctp_peer");
        let mut command = Command::new("cc");
        command.args(["-O1", "-Wall", "-Werror", "-o"]).arg(&binary).arg(&source).args(["-lusrsctp", "-lpthread"]);
        let output = command.output();
        if output.as_ref().is_ok_and(|output| output.status.success()) {
            return Some(binary);
        }
        let complaint =
            output.map_or_else(|error| error.to_string(), |o| String::from_utf8_lossy(&o.stderr).into_owned());
        assert!(
            !complaint.contains("error:") || complaint.contains("usrsctp.h"),
            "the peer does not compile: {complaint}"
        );
        let line = "\n*** SKIPPED: usrsctp was not talked to: there is no C compiler, or no libusrsctp-dev ***\n";
        let _ = std::io::stderr().write_all(line.as_bytes());
        None
    };
    PEER.get_or_init(compile).as_deref()
}

/// A process of the peer. Ends with the test.
struct Peer {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Peer {
    fn start(arguments: &[String]) -> Option<Self> {
        let mut child = Command::new(peer()?)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was compiled");
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        Some(Self { child, lines })
    }

    /// Returns the peer's last line. Answers its packets until it exits, also out of the blue,
    /// because this end's last packet may be lost.
    fn last_line(&mut self, wire: &mut Wire) -> String {
        wire.run_until(|_| self.child.try_wait().expect("it can be asked").is_some());
        self.line()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("it writes lines");
        line
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Faults on this side of the socket.
struct Harm {
    dice: Dice,
    /// One packet in this number is lost, in either direction; 0 for none.
    loss: u64,
    /// One packet in this number is held back until the next one has passed.
    reorder: u64,
    held: [Option<Vec<u8>>; 2],
}

impl Harm {
    fn none() -> Self {
        Self { dice: Dice(1), loss: 0, reorder: 0, held: [None, None] }
    }

    fn some(seed: u64) -> Self {
        Self { dice: Dice(seed), loss: 25, reorder: 25, held: [None, None] }
    }

    /// Returns the packets that continue in place of this one.
    fn apply(&mut self, direction: usize, packet: Vec<u8>) -> Vec<Vec<u8>> {
        if self.dice.once_in(self.loss) {
            return Vec::new();
        }
        if self.dice.once_in(self.reorder) && self.held[direction].is_none() {
            self.held[direction] = Some(packet);
            return Vec::new();
        }
        std::iter::once(packet).chain(self.held[direction].take()).collect()
    }
}

/// This end, on a socket.
struct Wire {
    socket: UdpSocket,
    remote: u16,
    started: time::Instant,
    listener: Option<Listener>,
    association: Option<Association>,
    harm: Harm,
    events: Vec<Event>,
    received: Vec<Message>,
}

#[expect(clippy::disallowed_methods, reason = "the peer lives in real time")]
fn clock() -> time::Instant {
    time::Instant::now()
}

fn settings() -> Settings {
    Settings { addresses: vec![LOCALHOST], udp: true, secret: [5, 6], ..Settings::default() }
}

impl Wire {
    fn new(harm: Harm) -> Self {
        let socket = UdpSocket::bind((LOCALHOST, 0)).expect("loopback");
        socket.set_read_timeout(Some(time::Duration::from_millis(2))).expect("a timeout");
        Self {
            socket,
            remote: 0,
            started: clock(),
            listener: None,
            association: None,
            harm,
            events: Vec::new(),
            received: Vec::new(),
        }
    }

    fn port(&self) -> u16 {
        self.socket.local_addr().expect("it is bound").port()
    }

    fn now(&self) -> Instant {
        Instant::from_nanos((clock() - self.started).as_nanos() as u64)
    }

    fn emit(&mut self, packet: Vec<u8>) {
        for packet in self.harm.apply(0, packet) {
            self.socket.send_to(&packet, (LOCALHOST, self.remote)).expect("loopback");
        }
    }

    fn turn(&mut self) {
        let addresses = Addresses::new(LOCALHOST, LOCALHOST).expect("one version");
        let mut bytes = [0; 65_536];
        if let Ok((len, from)) = self.socket.recv_from(&mut bytes) {
            self.remote = from.port();
            for packet in self.harm.apply(1, bytes[..len].to_vec()) {
                let now = self.now();
                match (&mut self.association, &mut self.listener) {
                    (Some(association), _) if association.phase() != Phase::Closed => {
                        association.handle(now, &addresses, &parsed(&packet));
                    }
                    (_, Some(listener)) => match listener.handle(now, &addresses, &parsed(&packet)) {
                        ListenerAction::Nothing => {}
                        ListenerAction::Reply(_, answer) => self.emit(answer.to_bytes()),
                        ListenerAction::Accepted(association) => self.association = Some(*association),
                    },
                    _ => {}
                }
            }
        }
        let now = self.now();
        let Some(association) = &mut self.association else { return };
        if association.poll_timeout() <= now {
            association.handle_timeout(now);
        }
        self.received.extend(std::iter::from_fn(|| association.receive()));
        self.events.extend(std::iter::from_fn(|| association.poll_event()));
        let packets: Vec<_> = std::iter::from_fn(|| polled(association, now)).collect();
        packets.into_iter().for_each(|(_, packet)| self.emit(packet));
    }

    fn run_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let started = clock();
        while !done(self) {
            self.turn();
            assert!(clock() - started < time::Duration::from_secs(60), "{:?}", self.events);
        }
    }

    fn association(&mut self) -> &mut Association {
        self.association.as_mut().expect("there is one")
    }

    /// Echoes arriving messages until the association ends.
    fn echo(&mut self) {
        self.echo_until(|wire| wire.association.as_ref().is_some_and(|one| one.phase() == Phase::Closed));
    }

    /// Echoes arriving messages until `done`.
    fn echo_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let mut waiting: std::collections::VecDeque<Message> = std::collections::VecDeque::new();
        self.run_until(|wire| {
            // A part of a message waits for the rest.
            for message in std::mem::take(&mut wire.received) {
                if message.begins {
                    waiting.push_back(message);
                } else {
                    let begun = waiting.iter_mut().rfind(|begun| !begun.ends).expect("it has begun");
                    begun.bytes.extend(message.bytes);
                    begun.ends = message.ends;
                }
            }
            let Some(association) = &mut wire.association else { return done(wire) };
            while let Some(message) = waiting.front().filter(|message| message.ends) {
                let delivery = Delivery { stream: message.stream, ppid: message.ppid, ..Delivery::default() };
                if association.send(delivery, message.bytes.clone()).is_err() {
                    break;
                }
                waiting.pop_front();
            }
            done(wire)
        });
    }
}

/// Calls usrsctp, sends messages on several streams, and gets each back.
fn call(harm: Harm, count: usize, size: usize) -> Option<String> {
    call_with(&settings(), harm, count, size)
}

fn call_with(settings: &Settings, harm: Harm, count: usize, size: usize) -> Option<String> {
    // A port that is free now.
    let port = UdpSocket::bind((LOCALHOST, 0)).expect("loopback").local_addr().expect("bound").port();
    let mut peer = Peer::start(&["listen".into(), port.to_string(), "7".into()])?;
    assert_eq!(peer.line(), "ready\n");
    let mut wire = Wire::new(harm);
    wire.remote = port;
    let ports = Ports { local: 40_000, remote: 7 };
    wire.listener = Some(Listener::new(settings.clone(), ports.local).expect("known names"));
    let association = Association::connect(Instant::ZERO, settings, ports, &[LOCALHOST], 0);
    wire.association = Some(association.expect("known names"));
    let mut next = 0;
    wire.run_until(|wire| {
        while next < count {
            let delivery =
                Delivery { stream: (next % 5) as u16, ppid: (next as u32).to_be_bytes(), ..Delivery::default() };
            if wire.association().send(delivery, vec![next as u8; size]).is_err() {
                break;
            }
            next += 1;
        }
        wire.received.iter().filter(|message| message.ends).count() == count
    });
    let mut numbers: [Vec<u32>; 5] = Default::default();
    for message in wire.received.iter().filter(|message| message.ends) {
        numbers[usize::from(message.stream)].push(u32::from_be_bytes(message.ppid));
    }
    for (stream, numbers) in numbers.iter().enumerate() {
        let expected: Vec<u32> = (0..count as u32).filter(|number| *number as usize % 5 == stream).collect();
        assert_eq!(*numbers, expected, "in order within stream {stream}");
    }
    assert_eq!(wire.received.iter().map(|message| message.bytes.len()).sum::<usize>(), count * size);
    wire.association().shutdown();
    wire.run_until(|wire| wire.association().phase() == Phase::Closed);
    assert_eq!(wire.events.last(), Some(&Event::Closed));
    Some(peer.last_line(&mut wire))
}

/// Finds a UDP port for usrsctp, which needs one of its own.
fn free_port() -> u16 {
    UdpSocket::bind((LOCALHOST, 0)).expect("loopback").local_addr().expect("bound").port()
}

/// Returns the arguments of a calling process. It calls UDP port `to` from `from`, sends `count`
/// messages of `size` bytes, and closes as `end` says.
fn caller(from: u16, to: u16, (count, size): (usize, usize), end: &str) -> Vec<String> {
    let numbers = [from.to_string(), to.to_string(), "7".into(), count.to_string(), size.to_string(), "4".into()];
    std::iter::once("call".to_owned()).chain(numbers).chain(std::iter::once(end.to_owned())).collect()
}

/// Lets usrsctp call, and echoes its messages.
fn answer(harm: Harm, count: usize, size: usize, end: &str) -> Option<(String, Vec<Event>)> {
    let mut wire = Wire::new(harm);
    wire.listener = Some(Listener::new(settings(), 7).expect("known names"));
    let mut peer = Peer::start(&caller(free_port(), wire.port(), (count, size), end))?;
    wire.echo();
    Some((peer.line(), wire.events))
}

fn counted(line: &str, count: usize, size: usize) {
    let start = format!("messages={count} bytes={} ", count * size);
    assert!(line.starts_with(&start) && line.ends_with("bad_checksums=0\n"), "{line}");
}

#[test]
fn we_call_usrsctp_and_it_echoes() {
    let Some(line) = call(Harm::none(), 500, 1000) else { return };
    counted(&line, 500, 1000);
}

#[test]
fn usrsctp_skips_our_timestamp_chunk_and_our_offer_of_the_bit() {
    let settings = Settings { timestamp_chunk: TimestampChunk::Always, retransmit_bit: true, ..settings() };
    let Some(line) = call_with(&settings, Harm::some(3), 100, 1000) else { return };
    counted(&line, 100, 1000);
}

#[test]
fn usrsctp_gets_all_messages_without_a_lifetime() {
    const COUNT: u32 = 400;
    let port = free_port();
    let Some(mut peer) = Peer::start(&["listen".into(), port.to_string(), "7".into()]) else { return };
    assert_eq!(peer.line(), "ready\n");
    let mut settings = settings();
    let short = |milliseconds| Value::Duration(crate::talk::ms(milliseconds));
    settings.engine.path.rto = Choice::named("rfc9260").with("minimum_ms", short(50)).with("initial_ms", short(200));
    let mut wire = Wire::new(Harm { loss: 12, ..Harm::some(5) });
    wire.remote = port;
    let ports = Ports { local: 40_000, remote: 7 };
    wire.listener = Some(Listener::new(settings.clone(), ports.local).expect("known names"));
    let association = Association::connect(Instant::ZERO, &settings, ports, &[LOCALHOST], 0);
    wire.association = Some(association.expect("known names"));
    let mut next = 0;
    let is_reliable = |number: u32| number.is_multiple_of(4);
    wire.run_until(|wire| {
        // A message begins to leave at once, so its lifetime ends only if a fragment is lost.
        while next < COUNT && !wire.association().has_waiting() {
            let expires = (!is_reliable(next)).then(|| wire.now() + crate::talk::ms(2 + u64::from(next) % 10));
            let delivery =
                Delivery { stream: (next % 5) as u16, ppid: next.to_be_bytes(), expires, ..Delivery::default() };
            if wire.association().send(delivery, vec![next as u8; 3000]).is_err() {
                break;
            }
            next += 1;
        }
        let ended = wire.received.iter().filter(|message| message.ends);
        ended.filter(|message| is_reliable(u32::from_be_bytes(message.ppid))).count() == COUNT as usize / 4
    });
    wire.association().shutdown();
    wire.run_until(|wire| wire.association().phase() == Phase::Closed);
    assert_eq!(wire.events.last(), Some(&Event::Closed));
    let begun = |event: &Event| matches!(event, Event::Expired { begun: true, .. });
    assert!(wire.events.iter().any(begun), "a FORWARD TSN was needed");
    assert!(peer.last_line(&mut wire).ends_with("bad_checksums=0\n"));
}

#[test]
fn large_messages_go_both_ways() {
    let Some(line) = call(Harm::none(), 10, 150_000) else { return };
    counted(&line, 10, 150_000);
}

#[test]
fn usrsctp_calls_and_we_echo() {
    let Some((line, events)) = answer(Harm::none(), 500, 1000, "close") else { return };
    counted(&line, 500, 1000);
    assert_eq!(events.first(), Some(&Event::Established));
    assert_eq!(events.last(), Some(&Event::Closed));
}

#[test]
fn usrsctp_dies_and_calls_again_and_the_association_restarts() {
    let mut wire = Wire::new(Harm::none());
    wire.listener = Some(Listener::new(settings(), 7).expect("known names"));
    let (from, to) = (free_port(), wire.port());
    let Some(mut first) = Peer::start(&caller(from, to, (100, 1000), "crash")) else { return };
    wire.echo_until(|_| first.child.try_wait().expect("it can be asked").is_some());
    counted(&first.line(), 100, 1000);
    assert_eq!(wire.association().phase(), Phase::Established);
    let Some(mut second) = Peer::start(&caller(from, to, (100, 1000), "close")) else { return };
    wire.echo();
    counted(&second.line(), 100, 1000);
    assert_eq!(wire.events.iter().filter(|event| **event == Event::Restarted).count(), 1, "{:?}", wire.events);
    assert_eq!(wire.events.last(), Some(&Event::Closed));
}

#[test]
fn usrsctp_aborts() {
    let Some((line, events)) = answer(Harm::none(), 10, 100, "abort") else { return };
    counted(&line, 10, 100);
    assert!(matches!(events.last(), Some(Event::Failed(Failure::Aborted { .. }))), "{events:?}");
}

#[test]
fn loss_and_reordering_in_between_lose_nothing() {
    for seed in 0..2 {
        let Some(line) = call(Harm::some(seed), 200, 2000) else { return };
        counted(&line, 200, 2000);
        let Some((line, _)) = answer(Harm::some(seed + 10), 200, 2000, "close") else { return };
        counted(&line, 200, 2000);
    }
}

#[test]
fn we_abort() {
    let port = UdpSocket::bind((LOCALHOST, 0)).expect("loopback").local_addr().expect("bound").port();
    let Some(mut peer) = Peer::start(&["listen".into(), port.to_string(), "7".into()]) else { return };
    assert_eq!(peer.line(), "ready\n");
    let mut wire = Wire::new(Harm::none());
    wire.remote = port;
    let ports = Ports { local: 40_001, remote: 7 };
    let association = Association::connect(Instant::ZERO, &settings(), ports, &[LOCALHOST], 0);
    wire.association = Some(association.expect("known names"));
    wire.run_until(|wire| wire.association().phase() == Phase::Established);
    wire.association().send(Delivery::default(), *b"the only one").expect("it is open");
    wire.run_until(|wire| wire.received.len() == 1);
    wire.association().abort(b"enough");
    wire.turn();
    assert!(peer.last_line(&mut wire).starts_with("messages=1 "), "usrsctp ends when it is aborted");
    assert_eq!(wire.events.last(), Some(&Event::Failed(Failure::AbortedHere)));
}
