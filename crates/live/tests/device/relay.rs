//! The box between two devices.

use crate::cable::{Kept, cable, read};
use crate::packets::{data, udp};
use eifel_base::time::{Duration, Instant};
use eifel_live::hiccup::log::Log;
use eifel_live::hiccup::order::Trigger;
use eifel_live::hiccup::run::{Control, Relay, Report};
use eifel_live::hiccup::{Fate, Hiccup};
use eifel_live::system::clock::Clock;
use eifel_live::system::tun::Tun;
use eifel_sim::scenario::Scenario;
use eifel_testkit::Folder;
use std::os::unix::net::UnixDatagram;

/// Returns a box of 8 Mbit/s and 10 ms each way.
pub fn hiccup(triggers: &[&str]) -> Hiccup {
    let text = "duration_s = 60\n[point_to_point]\nrate_bps = 8_000_000\ndelay_ms = 10\n[[flow]]\nname = \"main\"\n\
                from = \"sender\"\nto = \"receiver\"\napplication = { kind = \"bulk\", bytes = 1000 }\n";
    let triggers = triggers.iter().map(|text| Trigger::parse(text).unwrap()).collect();
    Hiccup::new(&Scenario::parse(text, "test.toml".as_ref()).unwrap(), triggers).unwrap()
}

/// Returns the outer ends of the box's devices, near and far, and the box itself.
fn relay(control: Control, log: Option<Log>, clock: Clock) -> ([Tun; 2], Relay, [Kept; 2]) {
    let (([near, in_near], kept), ([far, in_far], also)) = (cable(false), cable(false));
    ([near, far], Relay::new(hiccup(&[]), [in_near, in_far], clock, control, log).keeping(), [kept, also])
}

/// Returns an IPv4 multicast packet, an IPv6 packet to a link-local address, and a packet of no IP
/// version. None passes the box.
fn not_unicast() -> [Vec<u8>; 3] {
    let mut v4 = udp(9, 60);
    v4[16] = 224;
    let mut v6 = vec![0; 60];
    (v6[0], v6[24], v6[25]) = (0x60, 0xfe, 0xbf);
    [v4, v6, vec![0x10; 40]]
}

/// Returns a log's lines without the columns that depend on the clock.
fn untimed(path: &str) -> Vec<String> {
    let timed = ["t_in", "t_out", "t_due"];
    let names: Vec<&str> = path.lines().next().unwrap().split(',').collect();
    let kept = |line: &str| {
        let cells = line.split(',').zip(&names).filter(|(_, name)| !timed.contains(name));
        cells.map(|(cell, _)| cell).collect::<Vec<_>>().join(",")
    };
    path.lines().map(kept).collect()
}

#[test]
fn every_packet_through_the_box_is_counted_logged_and_judged() {
    let (folder, clock) = (Folder::new(), Clock::start());
    let log = Log::create(&folder, clock).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2));
    let ([near, far], relay, _kept) = relay(Control::default(), Some(log), clock);
    let there = [data(1, 1000), data(1001, 500), data(1, 1000), udp(7, 200)];
    let back = udp(8, 300);
    not_unicast().iter().chain(&there).for_each(|packet| assert!(near.write(packet).unwrap()));
    assert!(far.write(&back).unwrap());
    let mut came = [Vec::new(), Vec::new()];
    let report = relay
        .run(|| {
            came[0].extend(read(&near));
            came[1].extend(read(&far));
            Ok(came[1].len() == there.len() && came[0].len() == 1)
        })
        .unwrap();
    assert_eq!(came, [vec![back], there.to_vec()]);
    let Report { counts, retransmissions, spurious, refused, origin, lasted, .. } = report;
    let all = counts.map(|one| [one.packets, one.bytes, one.delivered, one.copied, one.dropped]);
    let headers = 40;
    assert_eq!(all, [[4, 2700 + 3 * headers, 4, 0, 0], [1, 300, 1, 0, 0]]);
    assert_eq!((retransmissions, spurious, refused), (1, 1, 0));
    assert_eq!(report.judged.len(), 1);
    // One passage takes 10 ms and the transmission time. The box released no packet early.
    assert!(origin >= Instant::ZERO + Duration::from_millis(2) && lasted >= Duration::from_millis(12), "{lasted:?}");
    assert!(report.passages.iter().all(|passage| passage.fate == Fate::Delivered), "{:?}", report.passages);
    assert_eq!(report.passages.len(), 5);
    let path = std::fs::read_to_string(folder.join("path.csv")).unwrap();
    let mut lines = untimed(&path);
    lines[1..].sort_unstable();
    eifel_testkit::golden!("device_path.txt", lines.join("\n") + "\n");
    let truth = std::fs::read_to_string(folder.join("truth.csv")).unwrap();
    assert_eq!(truth.lines().count(), 2, "{truth}");
}

/// An order applies to packets that come in after it.
#[test]
fn the_box_obeys_orders_sent_to_its_control_socket() {
    let (orders, heard) = UnixDatagram::pair().unwrap();
    heard.set_nonblocking(true).unwrap();
    let control = Control { keys: None, socket: Some(heard) };
    let ([near, far], relay, _kept) = relay(control, None, Clock::start());
    orders.send(b"drop 2 there\nnonsense").unwrap();
    let packets: Vec<_> = (1..=5).map(|port| udp(port, 100)).collect();
    let (mut came, mut sent) = (Vec::new(), 0);
    let report = relay
        .run(|| {
            came.extend(read(&far));
            // The first packet passes before the order is read.
            let more = if sent == 0 { 1 } else { 4 * came.len().min(1) };
            for packet in packets.iter().skip(sent).take(if sent < 5 { more } else { 0 }) {
                assert!(near.write(packet).unwrap());
                sent += 1;
            }
            Ok(came.len() == 3)
        })
        .unwrap();
    assert_eq!(came, [&packets[0], &packets[3], &packets[4]].map(Clone::clone));
    assert_eq!((report.counts[0].packets, report.counts[0].delivered, report.counts[0].dropped), (5, 3, 2));
    assert_eq!(report.passages.iter().filter(|passage| passage.fate != Fate::Delivered).count(), 2);
}

#[test]
fn packets_refused_by_a_device_and_packets_left_inside_are_counted() {
    let ([near, far], relay, _kept) = relay(Control::default(), None, Clock::start());
    let packet = udp(1, 1400);
    let mut markers = 0;
    assert!(far.write(&udp(2, 40)).unwrap());
    let report = relay
        .run(|| {
            // A marker that arrives causes the next one to be sent. Each takes at least 10 ms.
            for _ in read(&near) {
                markers += 1;
                assert!(far.write(&udp(2, 40)).unwrap());
            }
            for _ in 0..20 {
                // A packet without room on the way to the box is not counted.
                near.write(&packet).unwrap();
            }
            Ok(markers == 60)
        })
        .unwrap();
    let [there, back] = report.counts;
    let came = read(&far).len() as u64;
    assert!(report.refused > 0, "nobody has read");
    assert_eq!(came + report.refused, there.delivered);
    assert!(there.delivered < there.packets, "some are inside");
    assert_eq!((back.packets - back.delivered, markers), (u64::from(back.packets > markers), 60));
    let inside = report.passages.iter().filter(|passage| passage.fate == Fate::Inside).count() as u64;
    assert_eq!(inside, there.packets + back.packets - there.delivered - back.delivered);
}

/// A box in which nothing moves waits for a packet, for an order, or for its next event.
#[test]
fn the_box_sleeps_while_no_packet_passes() {
    let ([near, far], relay, _kept) = relay(Control::default(), None, Clock::start());
    let clock = Clock::start();
    let (mut turns, mut came) = (0, 0);
    let mut turns_of_packets = 0;
    let report = relay
        .run(|| {
            turns += 1;
            let quiet = clock.now() < Instant::ZERO + Duration::from_millis(250);
            if quiet {
                return Ok(false);
            }
            if turns_of_packets == 0 {
                turns_of_packets = turns;
                assert!(near.write(&udp(1, 100)).unwrap());
            }
            came += read(&far).len();
            Ok(came == 1)
        })
        .unwrap();
    // It wakes ten times a second to look for a signal, and a loop that does not wait goes round thousands of times.
    assert!((2..20).contains(&turns_of_packets), "{turns_of_packets} turns while nothing came");
    assert!(turns - turns_of_packets < 20, "{} turns while a packet was inside for 10 ms", turns - turns_of_packets);
    assert_eq!(report.counts[0].delivered, 1);
    let late = report.lateness.longest();
    assert!(late < Duration::from_millis(90), "it does not sleep past what is due: {late:?}");
}

/// Orders are typed through a pipe, in pieces. The last line has no newline.
#[test]
fn the_box_obeys_typed_orders() {
    let (typed, keys) = std::io::pipe().map(|(read, write)| (write, read)).unwrap();
    let control = Control { keys: Some(keys.into()), socket: None };
    let ([near, far], relay, _kept) = relay(control, None, Clock::start());
    let mut typed = Some(typed);
    let mut step = 0;
    let mut came = Vec::new();
    let mut say = |text: &str, ends: bool| {
        use std::io::Write;
        typed.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        if ends {
            typed = None;
        }
    };
    let report = relay
        .run(|| {
            came.extend(read(&far));
            step += 1;
            match step {
                1 => say("drop 1 th", false),
                3 => say("ere\nnonsense\n", false),
                // The order is read at the end of the turn before.
                5 => [1, 2].into_iter().for_each(|port| assert!(near.write(&udp(port, 100)).unwrap())),
                _ if came.len() == 1 && step < 1000 => {
                    step = 1000;
                    say("drop 1", true);
                }
                1002 => [3, 4].into_iter().for_each(|port| assert!(near.write(&udp(port, 100)).unwrap())),
                _ => {}
            }
            Ok(came.len() == 2)
        })
        .unwrap();
    assert_eq!(came, [udp(2, 100), udp(4, 100)]);
    assert_eq!((report.counts[0].packets, report.counts[0].dropped), (4, 2));
}

/// A capture names the cause for each packet that was dropped as it came in, and for no other.
#[test]
fn captures_say_what_was_dropped_and_why() {
    let (folder, clock) = (Folder::new(), Clock::start());
    let log = Log::create(&folder, clock).unwrap();
    let (([near, in_near], _kept), ([far, in_far], _also)) = (cable(false), cable(false));
    let hiccup = hiccup(&["packet 2: drop 1 there", "packet 4: drop 2 there", "packet 4: drop 1 back"]);
    let relay = Relay::new(hiccup, [in_near, in_far], clock, Control::default(), Some(log));
    let there: Vec<_> = (0..6).map(|number| data(1 + 100 * number, 100)).collect();
    let back = [udp(8, 300), udp(8, 301)];
    let (mut came, mut sent) = ([0, 0], 0);
    let report = relay
        .run(|| {
            came[0] += read(&near).len();
            came[1] += read(&far).len();
            if sent < there.len() {
                assert!(near.write(&there[sent]).unwrap());
                if let Some(packet) = sent.checked_sub(4).and_then(|place| back.get(place)) {
                    assert!(far.write(packet).unwrap());
                }
                sent += 1;
            }
            Ok(came == [1, 3])
        })
        .unwrap();
    assert_eq!(report.counts.map(|one| (one.packets, one.dropped)), [(6, 3), (2, 1)]);
    let comments = |name: &str| {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        String::from_utf8_lossy(&bytes).matches("dropped: ordered").count()
    };
    assert_eq!(["sender.pcapng", "receiver.pcapng"].map(comments), [3, 1]);
}
