//! Eifel for SCTP: both signals on the wire, and verdicts on delay spikes, reordering and loss. The
//! detectors are those of the SCTP paper's figure 6.

use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::{Chunk, DataFlags, SackFlags};
use eifel_recovery::association::PathId;
use eifel_recovery::detect::Outcome;
use eifel_recovery::event::Event;
use eifel_recovery::registry::{Choice, Value};
use eifel_sctp::{Delivery, Settings, TimestampChunk, TimestampValues};

use crate::talk::{Fate, Sent, World, ms};

/// The detector, and the signal that it uses.
#[derive(Clone, Copy, PartialEq, Debug)]
enum With {
    Nothing,
    Timestamps,
    /// The paper's plain comparison of timestamps, with a clock.
    Clock,
    Bit,
    Duplicates,
    TimestampsOrDuplicates,
}

fn settings(with: With) -> impl Fn(usize, &mut Settings) {
    move |_, settings| {
        let name = match with {
            With::Nothing => "none",
            With::Timestamps | With::Clock => "eifel-cover-timestamps",
            With::Bit => "eifel-cover-bit",
            With::Duplicates => "dsack",
            With::TimestampsOrDuplicates => "eifel-cover-or-dsack",
        };
        settings.engine.path.detect = Choice::named(name);
        settings.engine.path.respond = Choice::named("rfc4015");
        if matches!(with, With::Timestamps | With::Clock | With::TimestampsOrDuplicates) {
            settings.timestamp_chunk = TimestampChunk::Agreed;
        }
        if with == With::Clock {
            settings.timestamp_values = TimestampValues::Clock;
            settings.engine.path.detect.parameters.push(("proof".into(), Value::Word("older".into())));
        }
        if with == With::Bit {
            settings.retransmit_bit = true;
        }
        settings.engine.retransmit = Choice::named("all-to-alternate");
    }
}

/// 100 ms each way at 1 Mbit/s. Packets that enter the callee's `path` between `start` and `end`
/// are held until `end`.
fn spike(path: usize, start: u64, end: u64) -> Fate {
    let mut free = [Instant::ZERO; 8];
    let (start, end) = (Instant::ZERO + ms(start), Instant::ZERO + ms(end));
    Box::new(move |sent| {
        let entry = if sent.path == path && (start..end).contains(&sent.now) { end } else { sent.now };
        let link = &mut free[sent.path * 2 + sent.from];
        *link = entry.max(*link) + Duration::from_micros((sent.bytes.len() as u64 + 20) * 8);
        vec![link.since(sent.now) + ms(100)]
    })
}

struct Told {
    /// Verdicts of the caller's active detector, with their paths.
    verdicts: Vec<(PathId, Outcome)>,
    /// Number of window restorations.
    adjusted: usize,
    /// Number of retransmitted DATA chunks.
    again: usize,
    /// Number of messages that have arrived.
    arrived: usize,
}

/// The caller sends without pause on one or two paths, up to the time `until` in milliseconds.
fn run(with: With, paths: usize, fate: Fate, until: u64) -> Told {
    let mut world = World::new(paths, settings(with), fate);
    world.open();
    world.run_for(ms(500));
    let mut told = Told { verdicts: Vec::new(), adjusted: 0, again: 0, arrived: 0 };
    let mut seen = std::collections::BTreeSet::new();
    let mut logged = 0;
    while world.now < Instant::ZERO + ms(until) {
        while world.caller.send_room() > 200_000 {
            world.caller.send(Delivery::default(), vec![1; 1436]).unwrap();
        }
        assert!(world.step());
        while let Some((path, event)) = world.caller.poll_engine_event() {
            match event {
                Event::Judged { detector: 0, outcome, .. } => told.verdicts.push((path, outcome)),
                Event::Adjusted { .. } => told.adjusted += 1,
                _ => {}
            }
        }
        for (_, from, path, bytes) in &world.log[logged..] {
            let sent = Sent { now: Instant::ZERO, from: *from, path: *path, bytes };
            for chunk in sent.chunks() {
                if let Chunk::Data(data) = chunk
                    && *from == 0
                    && !seen.insert(data.tsn.0)
                {
                    told.again += 1;
                }
            }
        }
        logged = world.log.len();
    }
    told.arrived = world.received[1].len();
    told
}

const SPURIOUS: [(PathId, Outcome); 1] = [(PathId(0), Outcome::Spurious)];

#[test]
fn a_spike_is_detected_by_either_signal_before_much_is_sent_again() {
    // Figures 2b and 8: one timeout, one path.
    let plain = run(With::Nothing, 1, spike(0, 5000, 6800), 15_000);
    assert!(plain.again > 20 && plain.adjusted == 0, "{} sent again", plain.again);
    for with in [With::Timestamps, With::Clock, With::Bit, With::TimestampsOrDuplicates] {
        let eifel = run(with, 1, spike(0, 5000, 6800), 15_000);
        assert_eq!(eifel.verdicts, SPURIOUS, "{with:?}");
        assert!(eifel.adjusted == 1 && eifel.again <= 2, "{with:?}: {} sent again", eifel.again);
        assert!(eifel.arrived > plain.arrived, "{with:?}: {} and {}", eifel.arrived, plain.arrived);
    }
    let duplicates = run(With::Duplicates, 1, spike(0, 5000, 6800), 15_000);
    assert_eq!(duplicates.verdicts, SPURIOUS);
    assert_eq!(duplicates.again, plain.again, "duplicates tell only after everything was sent again");
}

#[test]
fn an_original_overtaken_on_another_path_is_detected_by_its_duplicate_tsn_alone() {
    // Figure 10, b, d and f: the spike is longer than the RTO and the alternate's round trip.
    let [eifel, both, duplicates] = [With::Timestamps, With::TimestampsOrDuplicates, With::Duplicates]
        .map(|with| run(with, 2, spike(0, 5000, 9000), 20_000));
    assert!(!eifel.verdicts.contains(&SPURIOUS[0]), "{:?}", eifel.verdicts);
    assert!(both.verdicts.contains(&SPURIOUS[0]), "{:?}", both.verdicts);
    assert!(duplicates.verdicts.contains(&SPURIOUS[0]), "{:?}", duplicates.verdicts);
}

#[test]
fn a_packet_that_is_late_is_detected_after_its_fast_retransmit() {
    // Figures 2a and 7: one packet of many takes 60 ms more.
    for with in [With::Timestamps, With::Clock, With::Bit, With::Duplicates] {
        let mut number = 0;
        let mut path = spike(0, 0, 0);
        let fate: Fate = Box::new(move |sent| {
            number += usize::from(sent.from == 0);
            let mut fates = path(sent);
            if number == 120 {
                fates[0] = fates[0] + ms(80);
            }
            fates
        });
        let told = run(with, 1, fate, 10_000);
        assert_eq!((told.verdicts, told.again), (SPURIOUS.to_vec(), 1), "{with:?}");
    }
}

#[test]
fn genuine_losses_are_not_called_spurious() {
    for with in [With::Timestamps, With::Clock, With::Bit, With::Duplicates, With::TimestampsOrDuplicates] {
        let mut number = 0;
        let mut path = spike(0, 0, 0);
        let fate: Fate = Box::new(move |sent| {
            number += usize::from(sent.from == 0);
            if number % 150 == 0 && sent.from == 0 { vec![] } else { path(sent) }
        });
        let told = run(with, 1, fate, 20_000);
        assert!(told.again >= 3, "{with:?}: {} sent again", told.again);
        assert!(told.verdicts.iter().all(|(_, outcome)| *outcome == Outcome::Genuine), "{with:?}: {:?}", told.verdicts);
    }
}

/// Returns the largest window of the alternate path. A spike on the primary causes retransmissions
/// on the alternate, and none of them arrives.
fn overgrown(credit: &str, with: With) -> u64 {
    let mut path = spike(0, 5000, 6800);
    // The alternate fails after its address was confirmed.
    let dead = Instant::ZERO + ms(1000);
    let fate: Fate = Box::new(move |sent| if sent.path == 1 && sent.now > dead { vec![] } else { path(sent) });
    let change = move |end: usize, all: &mut Settings| {
        settings(with)(end, all);
        all.engine.credit = Choice::named(credit);
        all.engine.path.detect = Choice::named("none");
    };
    let mut world = World::new(2, change, fate);
    world.open();
    let mut largest = 0;
    while world.now < Instant::ZERO + ms(9000) {
        while world.caller.send_room() > 200_000 {
            world.caller.send(Delivery::default(), vec![1; 1436]).unwrap();
        }
        assert!(world.step());
        if world.now > dead {
            largest = largest.max(world.caller.engine().window(PathId(1)).cwnd);
        }
    }
    largest
}

#[test]
fn rfc9260_lets_the_alternates_window_overgrow_and_evidence_does_not() {
    // Section 4 and figure 3. The initial window is 4404 bytes.
    assert!(overgrown("last-path", With::Nothing) > 15_000);
    assert_eq!(overgrown("unambiguous", With::Nothing), 4404);
    assert_eq!(overgrown("evidence", With::Timestamps), 4404);
    assert_eq!(overgrown("evidence", With::Bit), 4404);
}

#[test]
fn the_retransmit_bit_is_set_on_retransmissions_and_on_their_sacks() {
    let mut number = 0;
    let fate: Fate = Box::new(move |sent| {
        number += usize::from(sent.from == 0);
        if number == 20 && sent.from == 0 { vec![] } else { vec![ms(50)] }
    });
    let mut world = World::new(1, settings(With::Bit), fate);
    world.open();
    world.transfer(0, 40, 1400);
    let (mut seen, mut marked, mut answers) = (Vec::new(), 0, 0);
    for (_, from, path, bytes) in &world.log {
        let sent = Sent { now: Instant::ZERO, from: *from, path: *path, bytes };
        for chunk in sent.chunks() {
            match chunk {
                Chunk::Data(data) => {
                    let again = seen.contains(&data.tsn);
                    assert_eq!(data.flags.has(DataFlags::SENT_AGAIN), again);
                    marked += usize::from(again);
                    seen.push(data.tsn);
                }
                Chunk::Sack(sack) => answers += usize::from(sack.flags.has(SackFlags::ANSWERS_SENT_AGAIN)),
                _ => {}
            }
        }
    }
    assert_eq!((marked, answers), (1, 1));
}

#[test]
fn a_peer_that_does_not_agree_gets_neither_retransmit_bits_nor_timestamps() {
    for (with, always) in [(With::Bit, false), (With::Timestamps, false), (With::Timestamps, true)] {
        let change = |end: usize, all: &mut Settings| {
            if end == 0 {
                settings(with)(end, all);
            }
            if end == 0 && always {
                all.timestamp_chunk = TimestampChunk::Always;
            }
        };
        let mut number = 0;
        let fate: Fate = Box::new(move |_| {
            number += 1;
            if number == 25 { vec![] } else { vec![ms(20)] }
        });
        let mut world = World::new(1, change, fate);
        world.open();
        world.transfer(0, 50, 1400);
        let mut stamps = 0;
        for (_, from, path, bytes) in &world.log {
            let sent = Sent { now: Instant::ZERO, from: *from, path: *path, bytes };
            for chunk in sent.chunks() {
                match chunk {
                    Chunk::Data(data) => assert!(!data.flags.has(DataFlags::SENT_AGAIN)),
                    Chunk::Timestamp(_) => stamps += 1,
                    _ => {}
                }
            }
        }
        assert_eq!(stamps > 0, always, "{with:?}");
    }
}

#[test]
fn the_signal_of_the_combination_can_be_chosen() {
    let mut choice = Choice::named("eifel-cover-or-dsack");
    choice.parameters.push(("signal".into(), Value::Word("bit".into())));
    assert!(eifel_recovery::registry::part::detector(&choice).is_ok());
}
