//! Parcels that cross a link without an event arrive and drop as they do with one.

use crate::common::{S, drop_tail, parcel};
use crate::properties::{any_link, any_traffic};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_path::config::LinkConfig;
use eifel_path::link::Link;
use eifel_path::parcel::{DropCause, Labelled, Outcome};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::red::Manner;
use proptest::prelude::*;

/// Arrivals from a link: nanoseconds and handle; and its drops: nanoseconds, handle and cause.
#[derive(Debug, Default, PartialEq)]
struct Series {
    arrived: Vec<(u64, u32)>,
    dropped: Vec<(u64, u32, DropCause)>,
    /// Number of parcels without an event.
    at_once: usize,
}

struct Driver {
    link: Link,
    at_once: bool,
    /// Whether the link is asked beforehand for room.
    asks: bool,
    series: Series,
}

impl Driver {
    fn note(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) {
        for outcome in outcomes.drain(..) {
            let Outcome::Dropped { parcel, cause } = outcome else { panic!("nothing is doubled") };
            self.series.dropped.push((now.as_nanos(), parcel.handle, cause));
        }
        self.link.check().unwrap();
    }

    fn offer(&mut self, now: Instant, one: Labelled) {
        let Self { link, at_once, asks, series } = self;
        let mut outcomes = Vec::new();
        let has_room = (*asks).then(|| link.has_room(now, one.parcel.bytes));
        match link.offer_through(now, one.parcel, &mut outcomes) {
            Some(entered) if *at_once => {
                series.at_once += 1;
                series.arrived.push((entered.arrives.as_nanos(), one.parcel.handle));
                link.deliver(now, entered);
            }
            Some(entered) => _ = link.keep(entered),
            None => {}
        }
        assert!(has_room.is_none_or(|has_room| has_room == outcomes.is_empty()), "{has_room:?} {outcomes:?}");
        self.note(now, &mut outcomes);
    }

    fn advance(&mut self, until: Instant) {
        let mut outcomes = Vec::new();
        loop {
            let now = self.link.next_event();
            if now > until || now == Instant::NEVER {
                return;
            }
            if let Some(parcel) = self.link.advance(now, &mut outcomes) {
                self.series.arrived.push((now.as_nanos(), parcel.handle));
            }
            self.note(now, &mut outcomes);
        }
    }

    fn run(link: Link, traffic: &[(u64, Labelled)], at_once: bool) -> Series {
        let asks = at_once && link.has_steady_limit();
        let mut driver = Self { link, at_once, asks, series: Series::default() };
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

fn red(queue: &mut QueueConfig) -> Option<&mut Manner> {
    match queue {
        QueueConfig::Red(red) => Some(&mut red.manner),
        QueueConfig::AdaptiveRed(red) => Some(&mut red.manner),
        _ => None,
    }
}

proptest! {
    #[test]
    fn offering_through_equals_handling_events(mut config in any_link(), traffic in any_traffic()) {
        let link = |config: &_| Link::new(config, "link", 1).unwrap();
        let marks = red(&mut config.queue).is_some_and(|manner| manner.ecn);
        let open = config.elements.is_empty() && !config.queue.decides_at_exit() && !marks;
        prop_assert_eq!(link(&config).is_open(), open);
        config.elements.clear();
        if let Some(manner) = red(&mut config.queue) {
            manner.ecn = false;
        }
        if config.queue.decides_at_exit() {
            config.queue = QueueConfig::Unlimited;
        }
        let by_events = Driver::run(link(&config), &traffic, false);
        let at_once = Driver::run(link(&config), &traffic, true);
        prop_assert_eq!(by_events.at_once, 0);
        prop_assert_eq!(at_once.at_once, at_once.arrived.len());
        prop_assert_eq!(by_events.arrived, at_once.arrived);
        prop_assert_eq!(by_events.dropped, at_once.dropped);
    }
}

/// A packet of 1000 bytes takes a second. A packet that leaves at this very instant makes room, and
/// is no longer in the queue.
#[test]
fn a_parcel_departs_before_another_enters_at_the_same_instant() {
    for at_once in [false, true] {
        let mut driver = Driver {
            link: Link::new(&steady(8000, 2), "link", 1).unwrap(),
            at_once,
            asks: false,
            series: Series::default(),
        };
        let second = |number: u64| Instant::from_nanos(number * S);
        for (at, packets) in [(0, 1), (0, 2), (0, 2), (1, 2), (1, 2), (2, 2), (4, 1)] {
            driver.advance(second(at));
            driver.offer(second(at), parcel(at as u32));
            assert_eq!(driver.link.queue(second(at)).packets, packets, "{at} {at_once}");
        }
        let dropped: Vec<u64> = driver.series.dropped.iter().map(|(at, ..)| at / S).collect();
        assert_eq!(dropped, [0, 1], "{at_once}");
        let left = [4, 5].map(|at| (driver.link.queue(second(at)).packets, driver.link.queue(second(at)).bytes));
        assert_eq!(left, [(1, 1000), (0, 0)], "{at_once}");
    }
}

/// Returns a link of `rate` bit/s and 10 ms, with a queue for this many packets.
fn steady(rate: u64, packets: u32) -> LinkConfig {
    let plain = LinkConfig::plain(Rate::from_bps(rate).unwrap(), Duration::from_millis(10));
    LinkConfig { queue: drop_tail(packets), ..plain }
}
