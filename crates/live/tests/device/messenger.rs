//! SCTP on two devices, with or without the box between them.

use crate::cable::{cable, folder, read};
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
use eifel_packet::ip::{self, Addresses, Header};
use eifel_packet::udp::Ports as UdpPorts;
use eifel_sctp::{Association, Listener, Ports, Settings};
use std::net::IpAddr;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

const SEND: Task = Task::Send { bytes: 300_500, message: 5000, streams: 3 };

fn address(number: u8) -> IpAddr {
    [10, 0, 0, number].into()
}

/// Returns the end with this number on its device: the first calls, the second listens.
fn end(number: u8, tun: Tun, in_udp: bool) -> Messenger {
    let clock = Clock::start();
    let settings =
        Settings { addresses: vec![address(number)], udp: in_udp, secret: [number.into(), 7], ..Settings::default() };
    // The listener learns the peer's UDP port from the packets that it gets.
    let carrier = match (in_udp, number) {
        (false, _) => Carrier::Native,
        (true, 1) => Carrier::Udp(UdpPorts { source: 9899, destination: 9900 }),
        (true, _) => Carrier::Udp(UdpPorts { source: 9900, destination: 1 }),
    };
    let ports = Ports { local: 5001, remote: 7 };
    let (end, task) = match number {
        1 => (Ok(Association::connect(clock.now(), &settings, ports, &[address(2)], 0).unwrap()), SEND),
        _ => (Err(Listener::new(settings, 7).unwrap()), Task::Receive),
    };
    Messenger::new((tun, clock, vec![address(number)]), carrier, end, task)
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
        let (mut caller, folder) = (end(1, one, in_udp), folder(&format!("messenger-{in_udp}")));
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
        std::fs::remove_dir_all(&folder).unwrap();
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

/// Returns an ICMP message "destination unreachable" with this code from the second end to the first.
fn unreachable(code: u8, quoted: &[u8]) -> Vec<u8> {
    let addresses = Addresses::V4 { source: [10, 0, 0, 2].into(), destination: [10, 0, 0, 1].into() };
    let mut message = [&[3, code, 0, 0, 0, 0, 0, 0], quoted].concat();
    let checksum = Sum::default().bytes(&message).finish();
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let mut packet = Vec::new();
    ip::emit(&Header::new(addresses), icmp::PROTOCOL_V4, message.len(), &mut packet).unwrap();
    packet.extend(message);
    packet
}

/// The peer's kernel reports by ICMP that it has no such protocol, or for SCTP in UDP no such port, and
/// quotes the INIT.
#[test]
fn a_connection_to_a_host_without_sctp_fails() {
    for (code, in_udp) in [(2, false), (3, true)] {
        let ([one, other], _kept) = cable(false);
        // A message that quotes nothing may come from anybody, and ends nothing.
        assert!(other.write(&unreachable(code, &[])).unwrap());
        let caller = thread::spawn(move || end(1, one, in_udp).run(|| Ok(())).unwrap_err().to_string());
        let init = std::iter::repeat_with(|| read(&other)).find_map(|mut packets| packets.pop()).unwrap();
        assert!(other.write(&unreachable(code, &init)).unwrap());
        assert_eq!(caller.join().unwrap(), "10.0.0.2: the host does not accept SCTP");
    }
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
