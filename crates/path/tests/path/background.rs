//! Background traffic takes the same room and time as parcels that are followed one by one.

use crate::common::{MS, Run, drive, drop_tail, megabit, offer, parcel, sized};
use crate::properties::{any_link, any_traffic};
use eifel_base::time::Instant;
use eifel_path::background::Source;
use eifel_path::config::{Capacity, LinkConfig};
use eifel_path::link::Link;
use eifel_path::parcel::{DropCause, Labelled, Outcome};
use eifel_path::queue::QueueConfig;
use proptest::prelude::*;

const BYTES: u32 = 500;

/// Parcels at listed times.
struct Listed(Vec<Instant>);

impl Source for Listed {
    fn due(&self) -> Instant {
        self.0.first().copied().unwrap_or(Instant::NEVER)
    }

    fn step(&mut self) {
        self.0.remove(0);
    }
}

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

#[test]
fn background_traffic_takes_transmission_time_and_queue_space() {
    let mut config = megabit();
    config.queue = drop_tail(2);
    let mut link = Link::new(&config, "link", 1).unwrap();
    let source = link.accompany(BYTES);
    let mut outcomes = Vec::new();
    // 4 ms for the datagram, then 8 ms for the parcel, which arrives 100 ms later.
    assert_eq!(link.offer_background(at(0), source), Ok(()));
    offer(&mut link, at(MS), parcel(1), &mut outcomes);
    assert_eq!(link.offer_background(at(2 * MS), source), Err(DropCause::Queue));
    assert_eq!((link.queue(at(2 * MS)).packets, link.queue(at(2 * MS)).bytes), (2, 1500));
    // The first datagram has left.
    assert_eq!((link.queue(at(4 * MS)).packets, link.queue(at(4 * MS)).bytes), (1, 1000));
    assert_eq!(link.offer_background(at(4 * MS), source), Ok(()));
    assert_eq!(link.next_event(), at(112 * MS));
    // Delivered at 104 and 116 ms.
    let counts = |now: u64| link.background(source, at(now * MS));
    assert_eq!(counts(103).delivered.parcels, 0);
    assert_eq!((counts(104).delivered.parcels, counts(104).delivered.bytes), (1, 500));
    assert_eq!(counts(116).delivered.parcels, 2);
    assert_eq!((counts(116).offered.parcels, counts(116).dropped.parcels), (3, 1));
    link.check().unwrap();
}

#[test]
fn the_memory_for_background_traffic_is_what_is_on_the_link() {
    let mut link = Link::new(&megabit(), "link", 1).unwrap();
    let source = link.accompany(BYTES);
    for number in 0..100_000 {
        link.offer_background(at(number * 4 * MS), source).unwrap();
    }
    assert!(link.queue(at(99_999 * 4 * MS)).packets == 1);
    assert_eq!(link.background(source, at(99_999 * 4 * MS)).delivered.parcels, 99_974);
    link.check().unwrap();
}

/// Drives a link with two flows. The second flow is background traffic, or parcels with the handle
/// `u32::MAX`.
fn run(config: &LinkConfig, traffic: &[(u64, Labelled)], times: &[u64], background: bool) -> (Run, u64, u64) {
    let mut link = Link::new(config, "link", 1).unwrap();
    let source = link.accompany(BYTES);
    let mut result = Run::default();
    let mut listed = Listed(times.iter().map(|&time| at(time)).collect());
    let mut others = times.iter().copied().peekable();
    let mut outcomes = Vec::new();
    let parcel = sized(u32::MAX, BYTES);
    let mut refused = 0;
    for &(time, followed) in traffic {
        if background {
            // Background traffic runs before each arrival, as drivers have to do it.
            while link.next_event() <= at(time) {
                let next = link.next_event();
                link.run_background(source, &mut listed, next);
                drive(&mut link, next, &mut result);
            }
            link.run_background(source, &mut listed, at(time));
        } else {
            while let Some(other) = others.next_if(|&other| other <= time) {
                drive(&mut link, at(other), &mut result);
                offer(&mut link, at(other), parcel, &mut outcomes);
            }
            drive(&mut link, at(time), &mut result);
        }
        offer(&mut link, at(time), followed, &mut outcomes);
        for outcome in outcomes.drain(..) {
            if let Outcome::Dropped { parcel, cause } = outcome {
                match parcel.handle {
                    u32::MAX => refused += 1,
                    handle => result.dropped.push((handle, cause)),
                }
            }
        }
        link.check().unwrap();
    }
    let end = traffic.last().map_or(0, |last| last.0);
    let arrived = result.arrived.iter().filter(|&&(time, handle)| handle == u32::MAX && time <= end).count() as u64;
    result.arrived.retain(|&(_, handle)| handle != u32::MAX);
    let counts = link.background(source, at(end));
    if background { (result, counts.dropped.parcels, counts.delivered.parcels) } else { (result, refused, arrived) }
}

fn is_red(queue: &QueueConfig) -> bool {
    matches!(queue, QueueConfig::Red(_) | QueueConfig::AdaptiveRed(_))
}

proptest! {
    #[test]
    fn background_traffic_equals_parcels_offered_one_by_one(
        mut config in any_link(), traffic in any_traffic(), mut times in prop::collection::vec(0u64..3000 * MS, 0..300),
    ) {
        config.elements.clear();
        if config.queue.decides_at_exit() {
            config.queue = drop_tail(20);
        }
        // If several parcels leave at one opportunity, RED cannot tell which of them is in
        // transmission.
        if matches!(config.capacity, Capacity::Trace(_)) && is_red(&config.queue) {
            config.queue = drop_tail(20);
        }
        times.sort_unstable();
        prop_assert_eq!(run(&config, &traffic, &times, true), run(&config, &traffic, &times, false));
    }
}
