//! Parcels that are let through two links at once fare as they do with an event on each.

use crate::common::{MS, drop_tail, megabit, parcel};
use crate::properties::{any_link, any_traffic};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_path::config::{Capacity, LinkConfig};
use eifel_path::link::{Link, NextEvent};
use eifel_path::parcel::{DropCause, Labelled, Outcome, Parcel};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;
use proptest::prelude::*;

/// What comes out of the second of two links: nanoseconds and handle; and what either drops: nanoseconds, handle, cause.
#[derive(Debug, Default, PartialEq)]
struct Series {
    arrived: Vec<(u64, u32)>,
    dropped: Vec<(u64, u32, DropCause)>,
    /// How many crossed both at once.
    at_once: usize,
}

/// Two links, one behind the other, and what has come of them.
struct Driver {
    first: Link,
    second: Link,
    /// Parcels that the first has an event for.
    awaited: usize,
    last: Instant,
    at_once: bool,
    series: Series,
}

impl Driver {
    fn new(configs: [&LinkConfig; 2], at_once: bool) -> Self {
        let [first, second] = configs.map(|config| Link::new(config, "link", 1).unwrap());
        Self { first, second, awaited: 0, last: Instant::ZERO, at_once, series: Series::default() }
    }

    fn note(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) {
        for outcome in outcomes.drain(..) {
            let Outcome::Dropped { parcel, cause } = outcome else { panic!("nothing is doubled") };
            self.series.dropped.push((now.as_nanos(), parcel.handle, cause));
        }
        self.first.check().unwrap();
        self.second.check().unwrap();
    }

    fn offer(&mut self, now: Instant, one: Labelled) {
        let Self { first, second, awaited, last, at_once, series, .. } = self;
        let goes_on = |crosses: Instant| {
            let idle = *awaited == 0 && *at_once;
            let Some(arrives) = idle.then(|| second.cross(crosses, one.parcel.bytes, *last)).flatten() else {
                *awaited += 1;
                return false;
            };
            *last = arrives;
            series.at_once += 1;
            series.arrived.push((arrives.as_nanos(), one.parcel.handle));
            true
        };
        let mut outcomes = Vec::new();
        first.offer_through(now, one.parcel, goes_on, &mut outcomes);
        self.note(now, &mut outcomes);
    }

    fn advance(&mut self, until: Instant) {
        let mut outcomes = Vec::new();
        loop {
            let now = self.first.next_event().min(self.second.next_event());
            if now > until || now == Instant::NEVER {
                return;
            }
            if let Some(parcel) = self.second.advance(now, &mut outcomes) {
                self.series.arrived.push((now.as_nanos(), parcel.handle));
            }
            if let Some(parcel) = self.first.advance(now, &mut outcomes) {
                self.awaited -= 1;
                self.second.offer(now, parcel, || unreachable!("there are no elements"), &mut outcomes);
            }
            self.note(now, &mut outcomes);
        }
    }

    fn run(configs: [&LinkConfig; 2], traffic: &[(u64, Labelled)], at_once: bool) -> Series {
        let mut driver = Self::new(configs, at_once);
        for &(at, one) in traffic {
            driver.advance(Instant::from_nanos(at));
            driver.offer(Instant::from_nanos(at), one);
        }
        driver.advance(Instant::from_nanos(u64::MAX - 1));
        driver.series.arrived.sort_unstable();
        driver.series.dropped.sort_unstable();
        driver.series
    }
}

/// A link that may stand behind another.
fn any_plain() -> impl Strategy<Value = LinkConfig> {
    let capacity = prop_oneof![
        Just(Capacity::Unlimited),
        (9_000u64..50_000_000)
            .prop_map(|bps| Capacity::Rate { rate: Rate::from_bps(bps).unwrap(), changes: Vec::new() }),
    ];
    let queue = prop_oneof![
        Just(QueueConfig::Unlimited),
        (1u32..10).prop_map(|limit| QueueConfig::DropTail(DropTail::Packets(limit))),
        (1u64..5_000).prop_map(|limit| QueueConfig::DropTail(DropTail::Bytes(limit))),
    ];
    (capacity, 0u64..50, queue).prop_map(|(capacity, delay, queue)| LinkConfig {
        capacity,
        delay: Duration::from_millis(delay),
        queue,
        ..megabit()
    })
}

#[test]
fn an_idle_link_is_crossed_at_once_and_a_busy_one_is_not() {
    let slow = LinkConfig {
        capacity: Capacity::Rate { rate: Rate::from_bps(500_000).unwrap(), changes: Vec::new() },
        queue: drop_tail(2),
        ..megabit()
    };
    let traffic: Vec<_> =
        [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (200, 6)].map(|(at, handle)| (at * MS, parcel(handle))).into();
    let series = Driver::run([&megabit(), &slow], &traffic, true);
    // At the second link at 108, 116, 124, 132, 140 and 308 ms, each taking 16 ms: the fourth finds two in the queue.
    let arrived = [(224, 1), (240, 2), (256, 3), (272, 5), (424, 6)].map(|(at, handle)| (at * MS, handle));
    assert_eq!(series.arrived, arrived);
    assert_eq!(series.dropped, [(132 * MS, 4, DropCause::Queue)]);
    // The first, and the last, which comes when all others are gone.
    assert_eq!(series.at_once, 2);
}

#[test]
fn what_would_overtake_or_finds_no_room_does_not_cross_at_once() {
    let config = LinkConfig { queue: QueueConfig::DropTail(DropTail::Bytes(999)), ..megabit() };
    let mut link = Link::new(&config, "link", 1).unwrap();
    let at = Instant::from_nanos(50 * MS);
    assert_eq!(link.cross(at, 1000, Instant::ZERO), None);
    let small = 125;
    let arrives = Instant::from_nanos(151 * MS);
    assert_eq!(link.cross(at, small, arrives + Duration::from_nanos(1)), None);
    assert_eq!(link.queue(at).packets, 0);
    assert_eq!(link.cross(at, small, arrives), Some(arrives));
    assert_eq!(link.cross(at, small, arrives), None);
    // The transmission that is not over takes room.
    assert_eq!((link.queue(at).packets, link.queue(at).bytes), (1, 125));
    assert_eq!(link.queue(at + Duration::from_millis(1)).packets, 0);
    let mut outcomes = Vec::new();
    assert_eq!(link.offer(at, Parcel { handle: 3, bytes: 875 }, Default::default, &mut outcomes), NextEvent::Same);
    assert_eq!(outcomes.len(), 1);
    assert_eq!(link.offer(at, Parcel { handle: 4, bytes: 874 }, Default::default, &mut outcomes), NextEvent::First);
    assert_eq!(outcomes.len(), 1);
    link.check().unwrap();
}

#[test]
fn what_can_hold_draw_or_change_is_not_plain() {
    assert!(Link::new(&megabit(), "link", 1).unwrap().is_plain());
    let mut link = Link::new(&megabit(), "link", 1).unwrap();
    link.accompany(100);
    assert!(!link.is_plain() && link.is_open());
}

proptest! {
    #[test]
    fn whether_at_once_or_by_events_is_the_same(
        mut first in any_link(),
        second in any_plain(),
        traffic in any_traffic(),
    ) {
        first.elements.clear();
        let configs = [&first, &second];
        let by_events = Driver::run(configs, &traffic, false);
        let at_once = Driver::run(configs, &traffic, true);
        prop_assert_eq!(by_events.at_once, 0);
        prop_assert_eq!(by_events.arrived, at_once.arrived);
        prop_assert_eq!(by_events.dropped, at_once.dropped);
    }

    #[test]
    fn a_link_that_is_not_plain_says_so(config in any_link()) {
        let link = Link::new(&config, "link", 1).unwrap();
        let steady = matches!(&config.capacity, Capacity::Rate { changes, .. } if changes.is_empty());
        let simple = matches!(config.queue, QueueConfig::Unlimited | QueueConfig::DropTail(_));
        prop_assert_eq!(link.is_open(), config.elements.is_empty());
        prop_assert_eq!(link.is_plain(), config.elements.is_empty() && config.spikes.is_empty() && steady && simple);
    }
}

#[test]
fn a_parcel_that_crosses_later_is_in_the_queue_from_when_it_comes_until_it_has_left() {
    let mut link = Link::new(&megabit(), "link", 1).unwrap();
    // 1000 bytes take 8 ms, and 100 ms to the far end.
    let comes = Instant::from_nanos(50 * MS);
    assert_eq!(link.cross(comes, 1000, Instant::ZERO), Some(Instant::from_nanos(158 * MS)));
    let queue = |at: u64| {
        let queue = link.queue(Instant::from_nanos(at));
        (queue.packets, queue.bytes)
    };
    assert_eq!([queue(0), queue(50 * MS - 1)], [(0, 0); 2], "not there yet");
    assert_eq!([queue(50 * MS), queue(58 * MS - 1)], [(1, 1000); 2]);
    assert_eq!(queue(58 * MS), (0, 0), "transmitted");
}
