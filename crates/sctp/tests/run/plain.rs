//! Packets as values and as bytes: two runs over the same network must not differ.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::registry::Choice;
use eifel_sctp::{Delivery, Event, Leaving, Next, Plain, Settings, Single, TimestampChunk};

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
        settings.brain.path.detect = match detect {
            "eifel-cover-or-dsack" if settings.timestamp_chunk == TimestampChunk::Off => Choice::named("dsack"),
            other => Choice::named(other),
        };
        let retransmit = ["rfc9260", "all-to-alternate", "same-path", "largest-window"][dice.below(4) as usize];
        settings.brain.retransmit = Choice::named(retransmit);
    }
}

fn run(seed: u64, values: bool) -> Seen {
    let mut dice = Dice(seed);
    let (paths, loss) = (1 + dice.below(2) as usize, [0, 8, 30][dice.below(3) as usize]);
    let mut world = World::new(paths, drawn(seed), hostile(seed, loss, 20, 40));
    world.open();
    world.values = values;
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
                    true => association.send_counted(delivery, len),
                    false => association.send(delivery, vec![0; len]),
                };
            }
        }
        world.run_for(ms(dice.below(400)));
    }
    world.run_for(Duration::from_secs(60));
    let received = world.received.iter().flatten().map(|message| (message.stream, message.len)).collect();
    (world.log, received, world.events)
}

#[test]
fn what_is_carried_as_values_is_what_is_carried_as_bytes() {
    let mut packets = 0;
    for seed in 0..60 {
        let (bytes, values) = (run(seed, false), run(seed, true));
        let differs = bytes.0.iter().zip(&values.0).position(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed}: packets {:?}", differs.map(|at| (&bytes.0[at], &values.0[at])));
        assert_eq!(bytes.0.len(), values.0.len(), "seed {seed}");
        assert_eq!((&bytes.1, &bytes.2), (&values.1, &values.2), "seed {seed}");
        packets += bytes.0.len();
    }
    assert!(packets > 10_000, "{packets}");
}

#[test]
fn values_for_another_association_are_no_input() {
    let mut world = World::new(1, |_, _| {}, hostile(1, 0, 20, 40));
    world.open();
    world.run_for(ms(500));
    let (now, mut plain) = (world.now, Plain::default());
    world.caller.send_counted(Delivery::default(), 100).unwrap();
    let Next::Plain(outgoing) = world.caller.poll_plain(now, || &mut plain) else { panic!("a chunk may leave") };
    let before = world.caller.poll_timeout();
    // The packet has the peer's tag, and this end's port as its source port.
    world.caller.handle_plain(now, &outgoing.addresses.reversed(), &plain);
    assert_eq!(world.caller.poll_timeout(), before);
    assert_eq!(world.caller.poll_plain(now, || unreachable!("nothing leaves")), Next::Nothing);
    world.callee.as_mut().unwrap().handle_plain(now, &outgoing.addresses, &plain);
    assert_eq!(world.callee.as_ref().unwrap().buffered(), 100);
}

#[test]
fn a_window_that_opens_while_nothing_is_outstanding_is_told_by_the_shortcut() {
    let mut world = World::new(1, |_, settings| settings.receive_buffer = 4000, hostile(1, 0, 20, 40));
    world.open();
    world.run_for(ms(500));
    let (now, mut plain) = (world.now, Plain::default());
    world.caller.send_counted(Delivery::default(), 1400).unwrap();
    let Next::Plain(outgoing) = world.caller.poll_plain(now, || &mut plain) else { panic!("a chunk may leave") };
    let callee = world.callee.as_mut().unwrap();
    callee.handle_plain(now, &outgoing.addresses, &plain);
    let Leaving::Sack(first, _) = callee.poll_single(now) else { panic!("the first chunk is acknowledged at once") };
    callee.receive().unwrap();
    let Leaving::Sack(update, _) = callee.poll_single(now) else { panic!("the window has opened") };
    assert!(!world.caller.take_bare(now, &first), "it acknowledges all that is outstanding");
    world.caller.handle_single(now, &outgoing.addresses.reversed(), &Single::Sack(first));
    assert!(world.caller.peer_window() < 3000);
    assert!(world.caller.take_bare(now, &update));
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
fn bulk(seed: u64, values: bool, shortcuts: &mut [usize; 4]) -> Seen {
    let mut dice = Dice(seed);
    let settings = |end: usize, settings: &mut Settings| {
        drawn(seed)(end, settings);
        (settings.timestamp_chunk, settings.retransmit_bit, settings.nagle) = (TimestampChunk::Off, false, false);
        settings.brain.path.detect = Choice::named("none");
        (settings.pmtu, settings.receive_buffer) = (1500, settings.receive_buffer.max(20_000));
    };
    let (paths, loss) = (1 + dice.below(2) as usize, [0, 200, 50][dice.below(3) as usize]);
    let mut world = World::new(paths, settings, link(seed, loss, [0, 0, 60][dice.below(3) as usize]));
    world.open();
    (world.values, world.reads_at_once) = (values, true);
    for _ in 0..40 {
        for _ in 0..dice.below(40) {
            let delivery = Delivery { stream: dice.below(3) as u16, unordered: dice.once_in(5), ..Delivery::default() };
            let len = 1452 - 900 * dice.below(2) as usize * usize::from(dice.once_in(9));
            let _ = match values {
                true => world.caller.send_counted(delivery, len),
                false => world.caller.send(delivery, vec![0; len]),
            };
        }
        world.run_for(ms(dice.below(400)));
    }
    world.run_for(Duration::from_secs(60));
    shortcuts.iter_mut().zip(world.shortcuts).for_each(|(all, some)| *all += some);
    let received = world.received.iter().flatten().map(|message| (message.stream, message.len)).collect();
    // Messages on the fast path are read without an event.
    world.events.iter_mut().for_each(|events| events.retain(|event| *event != Event::Readable));
    (world.log, received, world.events)
}

#[test]
fn packets_that_take_the_shortcut_do_what_their_bytes_do() {
    let (mut packets, mut shortcuts) = (0, [0; 4]);
    for seed in 0..60 {
        let (bytes, values) = (bulk(seed, false, &mut [0; 4]), bulk(seed, true, &mut shortcuts));
        let differs = bytes.0.iter().zip(&values.0).position(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed}: packets {:?}", differs.map(|at| (&bytes.0[at], &values.0[at])));
        assert_eq!(bytes.0.len(), values.0.len(), "seed {seed}");
        assert_eq!((&bytes.1, &bytes.2), (&values.1, &values.2), "seed {seed}");
        packets += bytes.0.len();
    }
    // Both kinds of packets take the fast path: data chunks and the SACKs that answer them.
    // Duplicates are rarer.
    let [read, again, quiet, repeated] = shortcuts;
    assert!(read.min(quiet) > packets / 10 && again.min(repeated) > packets / 200, "{shortcuts:?} of {packets}");
}
