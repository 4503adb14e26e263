//! SCTP on two devices, with or without the box between them.

use crate::cable::cable;
use crate::relay::hiccup;
use eifel_base::time::Duration;
use eifel_capture::frame::read::Reader;
use eifel_live::capture::Capture;
use eifel_live::hiccup::run::{Control, Relay};
use eifel_live::messenger::{Carrier, Messenger, Outcome, Task};
use eifel_live::system::Error;
use eifel_live::system::clock::Clock;
use eifel_live::system::tun::Tun;
use eifel_packet::checksum::Sum;
use eifel_packet::icmp;
use eifel_packet::ip::{self, Addresses, Header, Version};
use eifel_packet::sctp;
use eifel_packet::udp::{self, Ports as UdpPorts};
use eifel_sctp::{Association, Listener, ListenerAction, Packet, Ports, Settings};
use eifel_testkit::Folder;
use std::net::IpAddr;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

const SEND: Task = Task::Send { bytes: 300_500, message: 5000, streams: 3 };

fn address(version: Version, number: u8) -> IpAddr {
    match version {
        Version::V4 => [10, 0, 0, number].into(),
        Version::V6 => [0xfd00, 0, 0, 0, 0, 0, 0, number.into()].into(),
    }
}

fn settings(version: Version, number: u8, in_udp: bool) -> Settings {
    let addresses = vec![address(version, number)];
    Settings { addresses, udp: in_udp, secret: [number.into(), 7], ..Settings::default() }
}

/// The port that the second end listens at.
const PORT: u16 = 7;

/// Returns the end with this number on its device, over IPv4.
fn end(number: u8, tun: Tun, in_udp: bool) -> Messenger {
    end_over(Version::V4, number, tun, in_udp)
}

/// Returns the end with this number on its device: the first calls, the second listens.
fn end_over(version: Version, number: u8, tun: Tun, in_udp: bool) -> Messenger {
    let clock = Clock::start();
    let settings = settings(version, number, in_udp);
    // The listener learns the peer's UDP port from the packets that it gets.
    let carrier = match (in_udp, number) {
        (false, _) => Carrier::Native,
        (true, 1) => Carrier::Udp(UdpPorts { source: 9899, destination: 9900 }),
        (true, _) => Carrier::Udp(UdpPorts { source: 9900, destination: 1 }),
    };
    let ports = Ports { local: 5001, remote: PORT };
    let (end, task) = match number {
        1 => (Ok(Association::connect(clock.now(), &settings, ports, &[address(version, 2)], 0).unwrap()), SEND),
        _ => (Err(Listener::new(settings, PORT).unwrap()), Task::Receive),
    };
    Messenger::new((tun, clock, vec![address(version, number)]), carrier, end, task)
}

fn nobody() -> Result<(), Error> {
    Err(Error::new("the peer", &"it is gone", ""))
}

/// Runs the listener on a thread of its own.
fn listen(tun: Tun, in_udp: bool) -> thread::JoinHandle<Outcome> {
    thread::spawn(move || end(2, tun, in_udp).run(|| Ok(())).unwrap())
}

/// Returns the identifications of all packets from this address in a capture.
fn identifications(file: &Path, from: u8) -> Vec<u16> {
    let mut reader = Reader::new();
    reader.feed(&std::fs::read(file).unwrap());
    let mut found = Vec::new();
    while let Some(frame) = reader.frame().unwrap() {
        if frame.bytes[12..16] == [10, 0, 0, from] {
            found.push(u16::from_be_bytes([frame.bytes[4], frame.bytes[5]]));
        }
    }
    found
}

#[test]
fn sctp_counts_every_message_at_both_ends_and_numbers_every_packet() {
    for in_udp in [false, true] {
        let ([one, other], _kept) = cable(false);
        let listener = listen(other, in_udp);
        let (mut caller, folder) = (end(1, one, in_udp), Folder::new());
        let file = folder.join("sender.pcapng");
        caller.captured(Capture::create(&file, Clock::start()).unwrap()).unwrap();
        let (tells, told) = mpsc::channel();
        let watch = move |interval: &eifel_live::apps::meter::Interval| {
            tells.send((interval.start, interval.end, interval.bytes)).unwrap();
        };
        caller.watched(Duration::from_micros(300), Box::new(watch));
        let sent = caller.run(|| Ok(())).unwrap();
        let received = listener.join().unwrap();
        assert_eq!((sent.messages, sent.bytes), (61, 300_500), "udp: {in_udp}");
        assert_eq!((received.messages, received.bytes), (61, 300_500));
        assert_eq!((received.chunks, received.retransmissions), (0, 0));
        // Each message of 5000 bytes takes four chunks, the last one of 500 bytes one.
        assert_eq!(sent.chunks - sent.retransmissions, 60 * 4 + 1);
        assert!(sent.lasted > Duration::ZERO && received.lasted > Duration::ZERO);
        let intervals: Vec<_> = told.iter().collect();
        assert!(intervals.len() > 1, "{intervals:?}");
        assert_eq!(intervals.iter().map(|interval| interval.2).sum::<u64>(), 300_500);
        assert!(intervals.windows(2).all(|pair| pair[0].1 == pair[1].0), "{intervals:?}");
        let own = identifications(&file, 1);
        assert!(own.len() > 200 && own.iter().copied().eq(1..=own.len() as u16), "{own:?}");
        assert!(!identifications(&file, 2).is_empty());
    }
}

#[test]
fn data_dropped_by_the_box_is_retransmitted() {
    let (([near, in_near], _kept), ([far, in_far], _also)) = (cable(false), cable(false));
    let listener = listen(far, false);
    let caller = thread::spawn(move || end(1, near, false).run(|| Ok(())).unwrap());
    let hiccup = hiccup(&["packet 9: drop 2 there"]);
    let relay = Relay::new(hiccup, [in_near, in_far], Clock::start(), Control::default(), None);
    let report = relay.run(|| Ok(caller.is_finished() && listener.is_finished())).unwrap();
    let (sent, received) = (caller.join().unwrap(), listener.join().unwrap());
    assert_eq!((received.messages, received.bytes), (61, 300_500));
    assert_eq!(sent.chunks - sent.retransmissions, 241);
    assert!(sent.retransmissions > 0, "{sent:?}");
    assert_eq!(report.counts[0].dropped, 2);
}

/// Returns an ICMP message with this type and code from the second end to the first.
fn complaint(version: Version, [kind, code]: [u8; 2], quoted: &[u8]) -> Vec<u8> {
    let addresses = Addresses::new(address(version, 2), address(version, 1)).unwrap();
    let mut message = [&[kind, code, 0, 0, 0, 0, 0, 0], quoted].concat();
    let (protocol, sum) = match version {
        Version::V4 => (icmp::PROTOCOL_V4, Sum::default()),
        Version::V6 => {
            let [source, destination] = [addresses.source(), addresses.destination()].map(|address| match address {
                IpAddr::V4(_) => unreachable!("both are of one version"),
                IpAddr::V6(address) => address.octets(),
            });
            let sum = Sum::default().bytes(&source).bytes(&destination);
            (icmp::PROTOCOL_V6, sum.double_word(message.len() as u32).double_word(icmp::PROTOCOL_V6.into()))
        }
    };
    let checksum = sum.bytes(&message).finish();
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let mut packet = Vec::new();
    ip::emit(&Header::new(addresses), protocol, message.len(), &mut packet).unwrap();
    packet.extend(message);
    packet
}

/// The answers of a host without SCTP: no such protocol, and for SCTP in UDP no such port. Over IPv6,
/// the former is an unrecognised next header.
const WITHOUT_SCTP: [(Version, [u8; 2], bool); 4] = [
    (Version::V4, [3, 2], false),
    (Version::V4, [3, 3], true),
    (Version::V6, [4, 1], false),
    (Version::V6, [1, 4], true),
];

/// Returns the next packet, for which it waits ten seconds at most.
fn next(tun: &Tun) -> Vec<u8> {
    let mut room = vec![0; 65_535];
    let mut look = |_| {
        let length = tun.read(&mut room).unwrap();
        if length.is_none() {
            thread::sleep(std::time::Duration::from_millis(1));
        }
        length.map(|length| room[..length].to_vec())
    };
    (0..10_000).find_map(&mut look).expect("a packet comes")
}

/// The peer's kernel reports by ICMP that it has no SCTP, and quotes the INIT.
#[test]
fn a_connection_to_a_host_without_sctp_fails() {
    for (version, kind, in_udp) in WITHOUT_SCTP {
        let ([one, other], _kept) = cable(false);
        let caller = thread::spawn(move || end_over(version, 1, one, in_udp).run(|| Ok(())).unwrap_err().to_string());
        let init = next(&other);
        assert!(other.write(&complaint(version, kind, &init)).unwrap());
        let host = address(version, 2);
        assert_eq!(caller.join().unwrap(), format!("{host}: the host does not accept SCTP"));
    }
}

/// A peer that is driven packet by packet.
struct Peer<'a> {
    version: Version,
    in_udp: bool,
    tun: &'a Tun,
    clock: Clock,
    listener: Listener,
}

impl<'a> Peer<'a> {
    fn new(version: Version, in_udp: bool, tun: &'a Tun) -> Self {
        let listener = Listener::new(settings(version, 2, in_udp), PORT).unwrap();
        Self { version, in_udp, tun, clock: Clock::start(), listener }
    }

    /// Returns where SCTP begins in its packets.
    fn start(&self) -> usize {
        self.version.header_len() as usize + if self.in_udp { udp::HEADER_LEN } else { 0 }
    }

    fn addresses(&self) -> Addresses {
        Addresses::new(address(self.version, 2), address(self.version, 1)).unwrap()
    }

    fn send(&self, bytes: &[u8]) {
        let (addresses, mut packet) = (self.addresses(), Vec::new());
        let header = Header::new(addresses);
        if self.in_udp {
            let ports = UdpPorts { source: 9900, destination: 9899 };
            ip::emit(&header, udp::PROTOCOL, udp::HEADER_LEN + bytes.len(), &mut packet).unwrap();
            udp::emit(ports, bytes, &addresses, &mut packet).unwrap();
        } else {
            ip::emit(&header, sctp::PROTOCOL, bytes.len(), &mut packet).unwrap();
            packet.extend(bytes);
        }
        assert!(self.tun.write(&packet).unwrap());
    }

    fn parsed(&self, packet: &[u8]) -> Packet {
        Packet::parse(&packet[self.start()..]).unwrap()
    }

    /// Takes a call. `meanwhile` gets the INIT and the COOKIE ECHO before they are answered. Returns the
    /// association, and the first packet with data.
    fn accept(&mut self, mut meanwhile: impl FnMut(&[u8])) -> (Association, Vec<u8>) {
        let from = self.addresses().reversed();
        let init = next(self.tun);
        meanwhile(&init);
        let init = self.parsed(&init);
        let ListenerAction::Reply(_, answer) = self.listener.handle(self.clock.now(), &from, &init) else {
            panic!("it answers an INIT")
        };
        self.send(&answer.to_bytes());
        let cookie_echo = next(self.tun);
        meanwhile(&cookie_echo);
        let cookie_echo = self.parsed(&cookie_echo);
        let accepted = self.listener.handle(self.clock.now(), &from, &cookie_echo);
        let ListenerAction::Accepted(mut association) = accepted else { panic!("it knows its cookie") };
        self.answer(&mut association);
        (*association, next(self.tun))
    }

    /// Sends what the association has to send.
    fn answer(&self, association: &mut Association) {
        let mut leaving = Packet::default();
        while association.poll_transmit(self.clock.now(), &mut leaving).is_some() {
            self.send(&leaving.to_bytes());
        }
    }
}

/// A stranger does not know at once the addresses, the ports and the tag. Each message here is about
/// a packet that differs in one byte from the caller's, or is cut off before its tag's last byte.
#[test]
fn a_message_about_a_packet_that_the_association_has_not_sent_ends_nothing() {
    for (version, kind, in_udp) in WITHOUT_SCTP {
        let ([one, other], _kept) = cable(false);
        let caller = thread::spawn(move || end_over(version, 1, one, in_udp).run(|| Ok(())).unwrap_err().to_string());
        let mut peer = Peer::new(version, in_udp, &other);
        let (carrier, start) = (version.header_len() as usize, peer.start());
        let source = carrier - 1 - if version == Version::V4 { 4 } else { 16 };
        let (tag, body) = (start + 7, start + sctp::HEADER_LEN);
        let mut forged = 0;
        let (_, data) = peer.accept(|packet| {
            let mut places = vec![source, carrier - 1, carrier + 1, carrier + 3, start + 1, start + 3, tag];
            if packet[body] == 1 {
                // An INIT: the Initiate Tag, and the type of the chunk.
                places.extend([body + 7, body]);
            }
            for place in places {
                let mut changed = packet.to_vec();
                changed[place] ^= 1;
                assert!(other.write(&complaint(version, kind, &changed)).unwrap());
                forged += 1;
            }
            for end in [0, carrier, start, tag] {
                assert!(other.write(&complaint(version, kind, &packet[..end])).unwrap());
            }
        });
        assert_eq!((forged, data[body]), (16, 0), "the association is open");
        assert!(other.write(&complaint(version, kind, &data)).unwrap());
        assert!(caller.join().unwrap().ends_with(": the host does not accept SCTP"));
    }
}

/// While nothing is acknowledged, the intervals have no bytes, though the buffer takes them all.
#[test]
fn a_senders_intervals_count_acknowledged_bytes() {
    let ([one, other], _kept) = cable(false);
    let (tells, told) = mpsc::channel();
    let caller = thread::spawn(move || {
        let mut caller = end(1, one, false);
        let watch = move |interval: &eifel_live::apps::meter::Interval| tells.send(interval.bytes).unwrap();
        caller.watched(Duration::from_millis(1), Box::new(watch));
        caller.run(|| Ok(())).unwrap_err().to_string()
    });
    let mut peer = Peer::new(Version::V4, false, &other);
    let (mut association, data) = peer.accept(|_| {});
    let silent: Vec<u64> = (0..20).map(|_| told.recv().unwrap()).collect();
    assert_eq!(silent, [0; 20]);
    // Every second packet is acknowledged at once. Each has a chunk of 1500 - 20 - 12 - 16 bytes.
    for packet in [data.clone(), next(&other)] {
        association.handle(peer.clock.now(), &peer.addresses().reversed(), &peer.parsed(&packet));
    }
    peer.answer(&mut association);
    assert_eq!(told.iter().find(|bytes| *bytes > 0), Some(2 * 1452));
    assert!(other.write(&complaint(Version::V4, [3, 2], &data)).unwrap());
    assert!(caller.join().unwrap().ends_with(": the host does not accept SCTP"));
}

/// Before the first call, the listener checks whether a caller may still come. It ignores packets
/// to other addresses.
#[test]
fn a_listener_checks_whether_a_caller_can_still_come() {
    let ([one, other], _kept) = cable(false);
    let mut packet = Vec::new();
    let addresses = Addresses::V4 { source: [10, 0, 0, 2].into(), destination: [10, 0, 0, 9].into() };
    ip::emit(&Header::new(addresses), icmp::PROTOCOL_V4, 8, &mut packet).unwrap();
    packet.extend([3, 3, 0, 0, 0, 0, 0, 0]);
    assert!(one.write(&packet).unwrap());
    assert_eq!(end(2, other, false).run(nobody).unwrap_err().to_string(), "the peer: it is gone");
}

/// A listener that gets no packets sleeps between two checks.
#[test]
#[expect(clippy::disallowed_methods, reason = "it waits for real time")]
fn a_listener_without_packets_sleeps_between_two_checks() {
    let ([_one, other], _kept) = cable(false);
    let (begun, mut asked) = (std::time::Instant::now(), 0);
    let ended = end(2, other, false).run(|| {
        asked += 1;
        if begun.elapsed() < std::time::Duration::from_millis(300) { Ok(()) } else { nobody() }
    });
    assert_eq!(ended.unwrap_err().to_string(), "the peer: it is gone");
    // It wakes ten times a second to look for a signal.
    assert!((2..20).contains(&asked), "{asked}");
}
