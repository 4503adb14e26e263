//! A kernel's sender behind a router whose next link takes shorter packets than its own.

use crate::rig::allowed;
use eifel_base::time::Duration;
use eifel_capture::analysis::Analyzer;
use eifel_capture::frame::read::Frame;
use eifel_capture::result::Cause;
use eifel_capture::result::Retransmission;
use eifel_capture::result::Verdict;
use eifel_live::host::{Config, Happening, Host};
use eifel_live::system::clock::Clock;
use eifel_live::system::namespace::Namespace;
use eifel_live::system::tun::Tun;
use eifel_packet::icmp;
use eifel_packet::ip::{self, Header};
use eifel_recovery::engine;
use eifel_tcp::{Event, Settings};
use std::io::Write;
use std::net::{IpAddr, TcpStream};

const MTU: usize = 1400;
const BYTES: usize = 60_000;

/// The router, a host of ours behind it, and a capture of all that passes.
struct Router {
    tun: Tun,
    host: Host,
    clock: Clock,
    analyzer: Analyzer,
    frames: u64,
    /// Packets that were too big.
    dropped: u64,
}

impl Router {
    fn passes(&mut self, bytes: &[u8]) {
        self.frames += 1;
        let (nanos, wire_len) = (self.clock.unix_nanos(self.clock.now()), bytes.len() as u32);
        self.analyzer.frame(&Frame { number: self.frames, nanos, link: 101, interface: 0, wire_len, bytes });
    }

    fn send(&mut self, bytes: &[u8]) {
        assert!(self.tun.write(bytes).unwrap());
        self.passes(bytes);
    }

    /// Reports a packet to its sender, as if from the host.
    fn report(&mut self, packet: &[u8]) {
        let addresses = ip::parse(packet).unwrap().header.addresses.reversed();
        let mut message = Vec::new();
        icmp::emit_too_big(&Header::new(addresses), MTU as u32, &packet[..packet.len().min(500)], &mut message)
            .unwrap();
        self.dropped += 1;
        self.send(&message);
    }

    /// Passes packets on until the host has read `BYTES` and the end.
    fn run(&mut self) {
        let (mut room, mut data, mut read, mut over) = (vec![0; 1 << 16], vec![0; 1 << 16], 0, false);
        let limit = self.clock.now() + Duration::from_secs(20);
        let mut handle = None;
        while !over || read < BYTES {
            assert!(self.clock.now() < limit, "{read} bytes after 20 s");
            while let Some(len) = self.tun.read(&mut room).unwrap() {
                let packet = &room[..len];
                self.passes(packet);
                if len > MTU {
                    self.report(packet);
                } else {
                    self.host.handle_packet(self.clock.now(), packet);
                }
            }
            self.host.handle_timeout(self.clock.now());
            while let Some((from, happening)) = self.host.poll_event() {
                handle = handle.or(matches!(happening, Happening::Opened { .. }).then_some(from));
                over |= matches!(happening, Happening::Event(Event::PeerClosed));
            }
            if let Some(connection) = handle.and_then(|handle| self.host.connection(handle)) {
                read += connection.read(&mut data);
            }
            let mut packet = Vec::new();
            while self.host.poll_packet(self.clock.now(), &mut packet) {
                self.send(&packet);
            }
            std::thread::yield_now();
        }
    }
}

/// Returns the retransmissions of a kernel that sends over IPv4 or IPv6, and how many packets were too big.
fn sent_again(v6: bool) -> (Vec<Retransmission>, u64) {
    let namespace = Namespace::new().unwrap();
    let tun = namespace.within(|| Tun::create("tun0")).unwrap();
    namespace
        .configure(
            "link set tun0 addrgenmode none up\naddr add 10.9.0.1 peer 10.9.0.2 dev tun0\n\
             addr add fd09::1 peer fd09::2 dev tun0 nodad\n",
        )
        .unwrap();
    let peer: IpAddr = if v6 { "fd09::2" } else { "10.9.0.2" }.parse().unwrap();
    namespace.wait_for_route(peer).unwrap();
    let (v4_of, v6_of) = ([10, 9, 0, 2].into(), "fd09::2".parse().unwrap());
    let mut host =
        Host::new(Config { v4: Some(v4_of), v6: Some(v6_of), mtu: 1500, secret: [1, 2], most_connections: 2 });
    let settings = Settings { receive_window: 1 << 16, ..crate::rig::shared() };
    host.listen(5001, 2, &settings, &engine::Config::default()).unwrap();
    let sender = std::thread::spawn(move || {
        namespace.within(|| {
            let mut stream = TcpStream::connect((peer, 5001)).unwrap();
            stream.write_all(&vec![7; BYTES]).unwrap();
            Ok(())
        })
    });
    let (clock, analyzer) = (Clock::start(), Analyzer::default());
    let mut router = Router { tun, host, clock, analyzer, frames: 0, dropped: 0 };
    router.run();
    sender.join().unwrap().unwrap();
    (router.analyzer.finish().retransmissions, router.dropped)
}

#[test]
fn segments_that_are_too_long_for_the_path_are_needed_again() {
    if !allowed() {
        return;
    }
    for v6 in [false, true] {
        let (found, dropped) = sent_again(v6);
        assert!(dropped > 0 && found.len() as u64 >= dropped, "{dropped}, {found:?}");
        for one in &found {
            assert_eq!((one.cause, one.verdict), (Cause::PathMtu, Verdict::Needed), "{one:?}");
        }
    }
}
