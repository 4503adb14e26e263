//! Multihoming: confirmation of addresses, failover and return (RFC 9260, sections 5.4, 6.4 and 8).

use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::{Chunk, DataFlags};
use eifel_recovery::registry::Choice;
use eifel_sctp::{Delivery, Event, Failure, Phase};

use crate::talk::{Dice, Sent, World, address, ms};

/// All packets take 10 ms. Packets to a dead address of the callee are lost.
fn dead(path: usize, from: Instant, until: Instant) -> crate::talk::Fate {
    Box::new(move |sent| if sent.path == path && (from..until).contains(&sent.now) { vec![] } else { vec![ms(10)] })
}

fn at(secs: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(secs)
}

fn kinds(bytes: &[u8]) -> Vec<u8> {
    let sent = Sent { now: Instant::ZERO, from: 0, path: 0, bytes };
    let kind = |chunk: &Chunk<'_>| match chunk {
        Chunk::Data(_) => 0,
        Chunk::Sack(_) => 3,
        Chunk::Heartbeat(_) => 4,
        Chunk::HeartbeatAck(_) => 5,
        _ => 255,
    };
    sent.chunks().iter().map(kind).collect()
}

#[test]
fn listed_addresses_are_confirmed_before_they_carry_data() {
    let mut world = World::still(3);
    world.open();
    world.run_for(Duration::from_secs(1));
    for end in 0..2 {
        let others: Vec<_> = (1..3).map(|path| Event::Active(address(1 - end, path))).collect();
        let confirmed: Vec<_> =
            world.events[end].iter().filter(|event| matches!(event, Event::Active(_))).cloned().collect();
        assert_eq!(confirmed, others);
    }
    for (_, _, path, bytes) in &world.log {
        // Packets to other addresses than the first carry only HEARTBEAT or HEARTBEAT ACK.
        assert!(*path == 0 || kinds(bytes).iter().all(|kind| matches!(kind, 4 | 5)));
    }
}

#[test]
fn data_fails_over_to_another_address_and_returns() {
    let mut world = World::new(2, |_, _| {}, dead(0, at(5), at(400)));
    world.open();
    world.run_for(Duration::from_secs(5));
    // Six timeouts, with back-off, make an address inactive.
    world.transfer(0, 200, 1000);
    assert!(world.now < at(70), "retransmissions go to the other address: {:?}", world.now);
    world.run_until(Duration::from_secs(300), |world| world.events[0].contains(&Event::Inactive(address(1, 0))));
    let before = world.log.len();
    world.transfer(0, 100, 1000);
    let data = |log: &[(Instant, usize, usize, Vec<u8>)], path: usize| {
        log.iter().filter(|(_, from, to, bytes)| *from == 0 && *to == path && kinds(bytes).contains(&0)).count()
    };
    assert_eq!(data(&world.log[before..], 0), 0, "nothing new goes to a dead address");
    world.run_until(Duration::from_secs(600), |world| world.events[0].contains(&Event::Active(address(1, 0))));
    assert!(world.now >= at(400));
    let before = world.log.len();
    world.transfer(0, 100, 1000);
    assert_eq!(data(&world.log[before..], 1), 0, "the primary is back");
}

/// [rfc8540:3.14]
#[test]
fn a_timed_out_chunk_goes_to_the_other_address_and_a_fast_retransmit_to_the_same() {
    for (lost, expected) in [(7u64, 0), (u64::MAX, 1)] {
        // Either a chunk in the middle is lost, or the last one.
        let mut world = World::still(2);
        world.open();
        world.run_for(Duration::from_secs(1));
        let mut seen = 0;
        let last = 40;
        world.fate(Box::new(move |sent| {
            let data = sent.from == 0 && sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Data(_)));
            if data {
                seen += 1;
            }
            let target = if lost == u64::MAX { last } else { lost };
            if data && seen == target { vec![] } else { vec![ms(10)] }
        }));
        let before = world.log.len();
        world.transfer(0, 40, 1400);
        let mut tsns = Vec::new();
        let mut again = Vec::new();
        for (_, from, path, bytes) in &world.log[before..] {
            let sent = Sent { now: Instant::ZERO, from: *from, path: *path, bytes };
            for chunk in sent.chunks() {
                if let Chunk::Data(data) = chunk
                    && *from == 0
                {
                    if tsns.contains(&data.tsn) {
                        again.push(*path);
                    }
                    tsns.push(data.tsn);
                }
            }
        }
        assert_eq!(again, [expected], "lost number {lost}");
    }
}

#[test]
fn an_association_fails_when_no_address_answers() {
    let fate: crate::talk::Fate = Box::new(|sent| if sent.now > at(5) { vec![] } else { vec![ms(10)] });
    let mut world = World::new(2, |_, _| {}, fate);
    world.open();
    world.run_for(Duration::from_secs(5));
    world.caller.send(Delivery::default(), *b"into the void").unwrap();
    world.run_until(Duration::from_secs(3600), |world| world.caller.phase() == Phase::Closed);
    world.settle();
    assert_eq!(world.events[0].last(), Some(&Event::Failed(Failure::Unreachable)));
}

#[test]
fn an_idle_address_gets_a_heartbeat_every_thirty_seconds() {
    let mut world = World::still(1);
    world.open();
    let before = world.log.len();
    world.run_for(Duration::from_secs(600));
    let asked = world.log[before..].iter().filter(|(_, from, _, bytes)| *from == 0 && kinds(bytes) == [4]).count();
    // HB.interval plus an RTO of one second, with a jitter of 50 %.
    assert!((18..=20).contains(&asked), "{asked}");
    assert!(!world.events[0].iter().any(|event| matches!(event, Event::Inactive(_))));
}

/// Loss, reordering, duplication, delay spikes, and one path that fails for a while.
fn storm(seed: u64, paths: u64) -> crate::talk::Fate {
    let mut dice = Dice(seed);
    let (loss, spread, doubled) = (5 + dice.below(40), dice.below(80), 10 + dice.below(50));
    let spikes: Vec<(Instant, Instant)> = (0..4)
        .map(|_| {
            let start = Instant::ZERO + ms(dice.below(20_000));
            (start, start + ms(500 + dice.below(8000)))
        })
        .collect();
    let (dying, death) = (dice.below(paths) as usize, Instant::ZERO + ms(dice.below(10_000)));
    let revival = death + ms(dice.below(30_000));
    Box::new(move |sent| {
        if paths > 1 && sent.path == dying && (death..revival).contains(&sent.now) {
            return vec![];
        }
        let mut copies = Vec::new();
        for _ in 0..if dice.once_in(doubled) { 2 } else { 1 } {
            if !dice.once_in(loss) {
                let held = spikes.iter().find(|(start, end)| (*start..*end).contains(&sent.now));
                let base = held.map_or(Duration::ZERO, |(_, end)| end.since(sent.now));
                copies.push(base + ms(10 + dice.below(spread + 1)));
            }
        }
        copies
    })
}

#[test]
fn every_message_arrives_once_and_in_order_within_its_stream() {
    for seed in 0..150 {
        let mut dice = Dice(seed ^ 0xabcd);
        let paths = 1 + dice.below(3);
        // Every detector that holds chunks back or puts them in flight again, with every
        // retransmission policy.
        let detect = ["none", "f-rto-sctp", "dsack", "eifel-cover-or-dsack"][dice.below(4) as usize];
        let retransmit = ["rfc9260", "all-to-alternate", "same-path", "largest-window"][dice.below(4) as usize];
        let change = |_: usize, settings: &mut eifel_sctp::Settings| {
            settings.engine.path.detect = Choice::named(detect);
            settings.engine.retransmit = Choice::named(retransmit);
            settings.data_with_cookie = seed % 2 == 0;
            settings.association_max_retransmits = 100;
            settings.max_init_retransmits = 100;
            settings.receive_buffer = 8000 + (seed as u32 % 7) * 9000;
        };
        let mut world = World::new(paths as usize, change, storm(seed, paths));
        world.open();
        // Numbered messages of all sizes on four streams, some unordered, in both directions.
        let count = 150;
        let mut left = [count; 2];
        world.run_until(Duration::from_secs(20_000), |world| {
            for (end, left) in left.iter_mut().enumerate() {
                while *left > 0 {
                    let number = (count - *left) as u32;
                    let sizes = [10, 1000, 1452, 4000, 20_000];
                    let size = sizes[dice.below(5) as usize];
                    let stream = dice.below(4) as u16;
                    let unordered = dice.once_in(5);
                    let delivery = Delivery { stream, ppid: number.to_be_bytes(), unordered, ..Delivery::default() };
                    let bytes = vec![number as u8; size];
                    if world.end(end).expect("open").send(delivery, bytes).is_err() {
                        break;
                    }
                    *left -= 1;
                }
            }
            world.settle();
            world.received.iter().all(|all| all.iter().filter(|message| message.ends).count() >= count)
        });
        world.run_for(Duration::from_secs(100));
        for received in &world.received {
            let mut seen: Vec<u32> = received.iter().map(|message| u32::from_be_bytes(message.ppid)).collect();
            for stream in 0..4 {
                let of_stream = received.iter().filter(|message| message.stream == stream && !message.unordered);
                assert!(of_stream.clone().is_sorted_by_key(|m| u32::from_be_bytes(m.ppid)), "seed {seed}");
            }
            for message in received {
                let number = u32::from_be_bytes(message.ppid);
                assert!(message.bytes.iter().all(|byte| *byte == number as u8), "seed {seed}");
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..count as u32).collect::<Vec<_>>(), "seed {seed}");
        }
    }
}

/// [rfc8540:3.45.a] and, by the time of the answer, [rfc8540:3.45.b].
#[test]
fn the_i_bit_is_set_on_the_last_fragment_if_the_user_asks() {
    let mut world = World::still(1);
    world.open();
    world.transfer(0, 1, 100);
    let before = world.now;
    let delivery = Delivery { immediate: true, ..Delivery::default() };
    world.caller.send(delivery, vec![1; 5000]).unwrap();
    world.run_until(Duration::from_secs(1), |world| world.caller.engine().una() == world.caller.engine().nxt());
    assert!(world.now.since(before) < ms(100), "no delayed SACK");
    let immediate = world.log.iter().filter(|(_, from, path, bytes)| {
        let sent = Sent { now: Instant::ZERO, from: *from, path: *path, bytes };
        sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Data(data) if data.flags.has(DataFlags::IMMEDIATE)))
    });
    assert_eq!(immediate.count(), 1);
}
