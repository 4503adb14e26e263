//! Partial reliability (RFC 3758): messages with lifetimes over networks that lose and reorder.

use std::collections::{BTreeMap, BTreeSet};

use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::Chunk;
use eifel_recovery::registry::Choice;
use eifel_sctp::{Delivery, Event, Phase, TimestampChunk};

use crate::both_ends::hostile;
use crate::talk::{Dice, Sent, World, ms};

/// A message that was written.
struct Written {
    delivery: Delivery,
    len: usize,
}

impl Written {
    fn draw(dice: &mut Dice, now: Instant, number: u32) -> Self {
        let expires = (!dice.once_in(3)).then(|| now + ms(dice.below(900)));
        let stream = dice.below(4) as u16;
        let delivery =
            Delivery { stream, ppid: number.to_be_bytes(), unordered: dice.once_in(4), immediate: false, expires };
        let len = [1, 100, 1400, 1452, 5000][dice.below(5) as usize];
        Self { delivery, len }
    }
}

fn messages(event: &Event) -> usize {
    if let Event::Expired { messages, .. } = event { *messages } else { 0 }
}

/// Writes messages in bursts over a hostile path, shuts the association down, and checks what was
/// received, what was given up, and when each chunk left.
fn run(seed: u64) {
    let mut dice = Dice(seed);
    let paths = 1 + dice.below(2) as usize;
    let detect = ["none", "dsack", "eifel-cover-timestamps", "f-rto-sctp", "eifel-cover-bit"][dice.below(5) as usize];
    let by_time = dice.once_in(3);
    let set = |_: usize, settings: &mut eifel_sctp::Settings| {
        settings.engine.path.detect = Choice::named(detect);
        settings.retransmit_bit = detect.ends_with("-bit");
        if detect.ends_with("-timestamps") {
            settings.timestamp_chunk = TimestampChunk::Agreed;
        }
        if by_time {
            settings.engine.path.recover = Choice::named("rack-tlp");
        }
        settings.association_max_retransmits = 1000;
        settings.path_max_retransmits = 1000;
    };
    let mut world = World::new(paths, set, hostile(seed, 4 + dice.below(20), 20, dice.below(80)));
    world.open();
    let mut written: BTreeMap<u32, Written> = BTreeMap::new();
    for _ in 0..20 {
        for _ in 0..dice.below(12) {
            let number = written.len() as u32;
            let message = Written::draw(&mut dice, world.now, number);
            if world.caller.send(message.delivery, vec![number as u8; message.len]).is_ok() {
                written.insert(number, message);
            }
        }
        world.run_for(ms(dice.below(400)));
    }
    world.caller.shutdown();
    world.run_until(Duration::from_secs(20_000), |world| world.caller.phase() == Phase::Closed);
    assert!(!world.events[0].iter().any(|event| matches!(event, Event::Failed(_))), "seed {seed}: {:?}", world.events);

    let mut received: BTreeSet<u32> = BTreeSet::new();
    let mut newest: BTreeMap<u16, u32> = BTreeMap::new();
    for message in world.received[1].iter().filter(|message| message.ends && !message.given_up) {
        let number = u32::from_be_bytes(message.ppid);
        let Written { delivery, len } = &written[&number];
        assert!(received.insert(number), "seed {seed}: {number} is received once");
        assert_eq!(
            (message.stream, &message.bytes),
            (delivery.stream, &vec![number as u8; *len]),
            "seed {seed}: {number}"
        );
        if !delivery.unordered {
            let before = newest.insert(delivery.stream, number);
            assert!(before.is_none_or(|before| before < number), "seed {seed}: {number} after {before:?}");
        }
    }
    let missing: Vec<u32> = written.keys().filter(|number| !received.contains(number)).copied().collect();
    for number in &missing {
        assert!(written[number].delivery.expires.is_some(), "seed {seed}: {number} was reliable");
    }
    let given_up: usize = world.events[0].iter().map(messages).sum();
    assert!(missing.len() <= given_up, "seed {seed}: {missing:?} are missing, {given_up} were reported");

    for (now, from, path, bytes) in world.log.iter().filter(|(_, from, ..)| *from == 0) {
        let sent = Sent { now: *now, from: *from, path: *path, bytes };
        for chunk in sent.chunks() {
            let Chunk::Data(data) = chunk else { continue };
            let number = u32::from_be_bytes(data.ppid);
            let expires = written[&number].delivery.expires.unwrap_or(Instant::NEVER);
            assert!(*now < expires, "seed {seed}: {number} leaves at {now:?}, and expired at {expires:?}");
        }
    }
}

#[test]
fn what_does_not_arrive_had_a_lifetime_and_was_reported() {
    (0..400).for_each(run);
}
