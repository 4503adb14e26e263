//! Orders against a naive box that looks at its gates every millisecond.

use crate::packets::udp;
use crate::{MS, at, gone, hiccup};
use eifel_base::time::Duration;
use eifel_live::hiccup::order::{Directions, Order, Verb};
use eifel_live::hiccup::{Direction, Fate};
use eifel_path::stream::Stream;

const LENGTH: u64 = 400;
/// Milliseconds from a packet's entry to its arrival at the gate: 1000 bytes at 8 Mbit/s, and 10 ms
/// of delay.
const PASSAGE: u64 = 11;

/// The events of one millisecond: an order, and then at most one packet in each direction.
struct Moment {
    order: Option<Order>,
    takes: [bool; 2],
}

fn moments(seed: u64) -> Vec<Moment> {
    let mut draws = Stream::new(seed, &["orders"]);
    let mut moment = |_| {
        let verb = match draws.below(40) {
            0 => Some(Verb::Hold(None)),
            1..3 => Some(Verb::Hold(Some(MS * (1 + draws.below(40))))),
            3..5 => Some(Verb::Release),
            5..7 => Some(Verb::Toggle),
            7..10 => Some(Verb::Drop(1 + draws.below(3))),
            _ => None,
        };
        let ways = [Directions::Both, Directions::One(Direction::There), Directions::One(Direction::Back)]
            [draws.below(3) as usize];
        let takes = [(); 2].map(|()| draws.below(3) == 0);
        Moment { order: verb.map(|verb| Order { verb, ways }), takes }
    };
    (0..LENGTH).map(&mut moment).collect()
}

/// Returns when each packet of one direction comes out, in the order in which the packets come in.
/// `None` for a packet that is dropped, or held until the end.
fn naive(moments: &[Moment], direction: Direction) -> Vec<Option<u64>> {
    let (mut out, mut waiting, mut to_drop) = (Vec::new(), Vec::new(), 0);
    // When the gate opens; `None` if it is open.
    let mut closed: Option<u64> = None;
    let mut at_gate = vec![None; moments.len() + PASSAGE as usize];
    for now in 0..at_gate.len() as u64 {
        let open = |waiting: &mut Vec<usize>, out: &mut Vec<Option<u64>>| {
            waiting.drain(..).for_each(|place| out[place] = Some(now));
        };
        if closed.is_some_and(|until| until <= now) {
            closed = None;
            open(&mut waiting, &mut out);
        }
        if let Some(place) = at_gate[now as usize] {
            if closed.is_some() {
                waiting.push(place);
            } else {
                out[place] = Some(now);
            }
        }
        let Some(moment) = moments.get(now as usize) else { continue };
        if let Some(order) = moment.order.filter(|order| order.ways.cover(direction)) {
            match (order.verb, closed) {
                (Verb::Hold(length), _) => {
                    let until = length.map_or(u64::MAX, |length| now + length.as_nanos() / MS.as_nanos());
                    closed = Some(closed.unwrap_or(0).max(until));
                }
                (Verb::Toggle, None) => closed = Some(u64::MAX),
                (Verb::Release | Verb::Toggle, _) => {
                    closed = None;
                    open(&mut waiting, &mut out);
                }
                (Verb::Drop(count), _) => to_drop += count,
            }
        }
        if moment.takes[direction as usize] {
            if to_drop > 0 {
                to_drop -= 1;
            } else {
                at_gate[(now + PASSAGE) as usize] = Some(out.len());
            }
            out.push(None);
        }
    }
    out
}

/// The box is not run between packets and orders: each call has to handle all events that are due.
#[test]
fn orders_have_the_effect_of_a_naive_box() {
    let (mut held, mut dropped) = (0, 0);
    for seed in 0..100 {
        let moments = moments(seed);
        let mut hiccup = hiccup("", "", &[]);
        let mut taken = [0; 2];
        for (now, moment) in (0..).zip(&moments) {
            moment.order.iter().for_each(|&order| hiccup.obey(at(now), order));
            for direction in Direction::ALL.into_iter().filter(|&direction| moment.takes[direction as usize]) {
                hiccup.take(at(now), direction, udp(1, 1000));
                taken[direction as usize] += 1;
            }
        }
        // Packets held at the end have no fate.
        let gone = gone(&mut hiccup, at(LENGTH + PASSAGE - 1));
        for direction in Direction::ALL {
            let expected = naive(&moments, direction);
            assert_eq!(expected.len(), taken[direction as usize]);
            let mut found = vec![None; expected.len()];
            for passage in gone.iter().filter(|passage| passage.direction == direction) {
                let place = passage.seen.number as usize - 1;
                match passage.fate {
                    Fate::Ordered => dropped += 1,
                    _ => found[place] = Some(passage.due),
                }
                held += u32::from(passage.due.since(passage.entered) > MS * PASSAGE);
            }
            assert_eq!(found, expected.iter().map(|due| due.map(at)).collect::<Vec<_>>(), "seed {seed} {direction:?}");
        }
    }
    assert!(held > 1000 && dropped > 1000, "{held} {dropped}");
}

#[test]
fn a_second_hold_never_shortens_the_first() {
    let mut hiccup = hiccup("", "", &[]);
    for order in ["hold 0.5", "hold 0.1 there", "hold 0.9 back"] {
        hiccup.obey(at(0), Order::parse(order).unwrap());
    }
    Direction::ALL.into_iter().for_each(|direction| hiccup.take(at(0), direction, udp(1, 1000)));
    let due: Vec<Duration> = gone(&mut hiccup, at(2000)).iter().map(|one| one.due.since(at(0))).collect();
    assert_eq!(due, [MS * 500, MS * 900]);
}
