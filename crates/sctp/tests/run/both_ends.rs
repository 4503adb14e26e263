//! Two ends over networks of all kinds.

use crate::talk::{Dice, Fate, World, ms};
use eifel_base::time::Duration;
use eifel_sctp::{Delivery, Event, Phase};

#[test]
fn four_packets_open_an_association() {
    let mut world = World::still(1);
    world.open();
    let kinds: Vec<u8> = world.log.iter().map(|(.., bytes)| bytes[12]).collect();
    assert_eq!(kinds, [1, 2, 10, 11]);
    assert_eq!(world.now.as_nanos(), ms(40).as_nanos());
    world.settle();
    assert_eq!(world.events, [vec![Event::Established], vec![Event::Established]]);
}

#[test]
fn messages_arrive_in_both_directions() {
    let mut world = World::still(1);
    world.open();
    world.transfer(0, 500, 1000);
    world.transfer(1, 500, 1000);
    world.transfer(0, 3, 200_000);
}

#[test]
fn a_shutdown_delivers_everything_first() {
    let mut world = World::still(1);
    world.open();
    for number in 0..50u8 {
        world.caller.send(Delivery::default(), vec![number; 3000]).unwrap();
    }
    world.caller.shutdown();
    world.run_until(Duration::from_secs(60), |world| world.caller.phase() == Phase::Closed);
    world.run_until(Duration::from_secs(60), |world| world.callee.as_ref().unwrap().phase() == Phase::Closed);
    assert_eq!(world.received[1].len(), 50);
    world.settle();
    assert_eq!(world.events[0], [Event::Established, Event::Closed]);
    assert_eq!(world.events[1].last(), Some(&Event::Closed));
}

/// Loses one packet in `loss`, duplicates one in `doubled`, and delays by 10 to 10 + `spread` ms.
pub fn hostile(seed: u64, loss: u64, doubled: u64, spread: u64) -> Fate {
    let mut dice = Dice(seed);
    Box::new(move |_| {
        let mut copies = Vec::new();
        if !dice.once_in(loss) {
            copies.push(ms(10 + dice.below(spread + 1)));
            if dice.once_in(doubled) {
                copies.push(ms(10 + dice.below(spread + 1)));
            }
        }
        copies
    })
}

#[test]
fn a_lossy_path_loses_no_message() {
    for seed in 0..40 {
        let mut world = World::new(1, |_, _| {}, hostile(seed, 10, 20, 30));
        world.open();
        world.transfer(0, 200, 1400);
        world.transfer(1, 30, 5000);
        world.caller.shutdown();
        world.run_until(Duration::from_secs(600), |world| world.caller.phase() == Phase::Closed);
        assert!(!world.events[0].iter().any(|event| matches!(event, Event::Failed(_))), "{:?}", world.events);
    }
}
