//! Packets as values and as bytes, with and without header prediction: two runs over the same
//! network must not differ.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::registry::Choice;
use eifel_sctp::{Delivery, Event, Packet, Settings, TimestampChunk};

use crate::both_ends::hostile;
use crate::talk::{Dice, Fate, World, ms};

/// The visible part of a run: each packet with its time, sender and path; message lengths by
/// stream; events.
type Seen = (Vec<(Instant, usize, usize, Vec<u8>)>, Vec<(u16, usize)>, [Vec<Event>; 2]);

/// Draws settings from a seed, the same at both ends.
fn drawn(seed: u64) -> impl Fn(usize, &mut Settings) {
    move |_, settings| {
        let mut dice = Dice(seed ^ 0xabcd);
        settings.timestamp_chunk = if dice.once_in(2) { TimestampChunk::Agreed } else { TimestampChunk::Off };
        settings.retransmit_bit = dice.once_in(2);
        settings.nagle = dice.once_in(3);
        settings.sack_every = 1 + dice.below(3) as u32;
        settings.receive_buffer = [3000, 20_000, 200_000][dice.below(3) as usize];
        settings.pmtu = [600, 1500][dice.below(2) as usize];
        let detect = ["none", "eifel-cover-or-dsack", "dsack", "f-rto-sctp"][dice.below(4) as usize];
        settings.engine.path.detect = match detect {
            "eifel-cover-or-dsack" if settings.timestamp_chunk == TimestampChunk::Off => Choice::named("dsack"),
            other => Choice::named(other),
        };
        let retransmit = ["rfc9260", "all-to-alternate", "same-path", "largest-window"][dice.below(4) as usize];
        settings.engine.retransmit = Choice::named(retransmit);
    }
}

fn run(seed: u64, values: bool) -> Seen {
    let mut dice = Dice(seed);
    let (paths, loss) = (1 + dice.below(2) as usize, [0, 8, 30][dice.below(3) as usize]);
    let mut world = World::new(paths, drawn(seed), hostile(seed, loss, 20, 40));
    world.open();
    world.values = values;
    if values {
        (0..2).for_each(|end| world.end(end).unwrap().stop_predicting());
    }
    for _ in 0..40 {
        for end in 0..2 {
            for _ in 0..dice.below(6) * dice.below(2) {
                let (stream, unordered) = (dice.below(4) as u16, dice.once_in(4));
                let longest = [20, 1400, 9000][dice.below(3) as usize];
                let len = 1 + dice.below(longest) as usize;
                let delivery = Delivery { stream, unordered, ..Delivery::default() };
                let association = world.end(end).unwrap();
                // A full buffer refuses the message in both runs alike.
                let _ = match values {
                    true => association.send_zeros(delivery, len),
                    false => association.send(delivery, vec![0; len]),
                };
            }
        }
        world.run_for(ms(dice.below(400)));
    }
    world.run_for(Duration::from_secs(60));
    seen(world)
}

fn seen(world: World) -> Seen {
    let received = world.received.iter().flatten().map(|message| (message.stream, message.len)).collect();
    (world.log, received, world.events)
}

fn assert_same(seed: u64, one: &Seen, other: &Seen) {
    let differs = one.0.iter().zip(&other.0).position(|(one, other)| one != other);
    assert_eq!(differs, None, "seed {seed}: packets {:?}", differs.map(|at| (&one.0[at], &other.0[at])));
    assert_eq!(one.0.len(), other.0.len(), "seed {seed}");
    assert_eq!((&one.1, &one.2), (&other.1, &other.2), "seed {seed}");
}

#[test]
fn packets_as_values_and_as_bytes_have_the_same_outcome() {
    let mut packets = 0;
    for seed in 0..60 {
        // Values are zeros, and take the full path. Bytes take header prediction.
        let (bytes, values) = (run(seed, false), run(seed, true));
        assert_same(seed, &bytes, &values);
        packets += bytes.0.len();
    }
    assert!(packets > 10_000, "{packets}");
}

#[test]
fn a_packet_for_another_association_is_ignored() {
    let mut world = World::new(1, |_, _| {}, hostile(1, 0, 20, 40));
    world.open();
    world.run_for(ms(500));
    let (now, mut packet) = (world.now, Packet::default());
    world.caller.send_zeros(Delivery::default(), 100).unwrap();
    let outgoing = world.caller.poll_transmit(now, &mut packet).expect("a chunk may leave");
    let before = world.caller.poll_timeout();
    // The packet has the peer's tag, and this end's port as its source port.
    let addresses = *world.caller.addresses(&outgoing);
    world.caller.handle(now, &addresses.reversed(), &packet);
    assert_eq!(world.caller.poll_timeout(), before);
    assert_eq!(world.caller.poll_transmit(now, &mut Packet::default()), None);
    world.callee.as_mut().unwrap().handle(now, &addresses, &packet);
    assert_eq!(world.callee.as_ref().unwrap().buffered(), 100);
}

#[test]
fn a_sack_reports_a_window_that_opens_while_nothing_is_outstanding() {
    let mut world = World::new(1, |_, settings| settings.receive_buffer = 4000, hostile(1, 0, 20, 40));
    world.open();
    world.run_for(ms(500));
    let (now, mut packet) = (world.now, Packet::default());
    world.caller.send_zeros(Delivery::default(), 1400).unwrap();
    let outgoing = world.caller.poll_transmit(now, &mut packet).expect("a chunk may leave");
    let callee = world.callee.as_mut().unwrap();
    let addresses = *world.caller.addresses(&outgoing);
    callee.handle(now, &addresses, &packet);
    let back = addresses.reversed();
    callee.poll_transmit(now, &mut packet).expect("the first chunk is acknowledged at once");
    world.caller.handle(now, &back, &packet);
    assert!(world.caller.peer_window() < 3000);
    let callee = world.callee.as_mut().unwrap();
    callee.receive().unwrap();
    callee.poll_transmit(now, &mut packet).expect("the window has opened");
    world.caller.handle(now, &back, &packet);
    assert_eq!(world.caller.peer_window(), 4000);
}

/// 1 Mbit/s and 20 ms each way. One packet in `loss` is lost, and one in `late` overtaken. With an
/// even seed, one packet in 300 starts a delay spike of two seconds.
fn link(seed: u64, loss: u64, late: u64) -> Fate {
    let (mut dice, mut free) = (Dice(seed), [Instant::ZERO; 4]);
    Box::new(move |sent| {
        let link = &mut free[sent.path * 2 + sent.from];
        let spike = if seed.is_multiple_of(2) && dice.once_in(300) { ms(2000) } else { Duration::ZERO };
        *link = sent.now.max(*link) + spike + Duration::from_micros((sent.bytes.len() as u64 + 20) * 8);
        let delay = link.since(sent.now) + ms(if dice.once_in(late) { 80 } else { 20 });
        if dice.once_in(loss) { vec![] } else { vec![delay] }
    })
}

/// Sends messages that fill packets, one way, in bursts. The reader takes them at once.
fn bulk(seed: u64, predicts: bool) -> (Seen, [usize; 2]) {
    let mut dice = Dice(seed);
    let settings = |end: usize, settings: &mut Settings| {
        drawn(seed)(end, settings);
        (settings.timestamp_chunk, settings.retransmit_bit, settings.nagle) = (TimestampChunk::Off, false, false);
        settings.engine.path.detect = Choice::named("none");
        (settings.pmtu, settings.receive_buffer) = (1500, settings.receive_buffer.max(20_000));
    };
    let (paths, loss) = (1 + dice.below(2) as usize, [0, 200, 50][dice.below(3) as usize]);
    let mut world = World::new(paths, settings, link(seed, loss, [0, 0, 60][dice.below(3) as usize]));
    world.open();
    (world.values, world.reads_at_once) = (true, true);
    if !predicts {
        (0..2).for_each(|end| world.end(end).unwrap().stop_predicting());
    }
    for _ in 0..40 {
        for _ in 0..dice.below(40) {
            let delivery = Delivery { stream: dice.below(3) as u16, unordered: dice.once_in(5), ..Delivery::default() };
            let len = 1452 - 900 * dice.below(2) as usize * usize::from(dice.once_in(9));
            // A full buffer refuses the message in both runs alike.
            let _ = world.caller.send_zeros(delivery, len);
        }
        world.run_for(ms(dice.below(400)));
    }
    world.run_for(Duration::from_secs(60));
    let predicted = world.predicted;
    (seen(world), predicted)
}

#[test]
fn header_prediction_changes_no_outcome() {
    let (mut packets, mut predicted) = (0, [0; 2]);
    for seed in 0..60 {
        let (fully, _) = bulk(seed, false);
        let (quickly, counts) = bulk(seed, true);
        assert_same(seed, &fully, &quickly);
        packets += fully.0.len();
        predicted = [0, 1].map(|kind: usize| predicted[kind] + counts[kind]);
    }
    // Both kinds are predicted: data chunks, and the SACKs that answer them.
    assert!(predicted.iter().all(|count| *count > packets / 10), "{predicted:?} of {packets}");
}
