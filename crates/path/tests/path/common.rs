//! Drives one link in virtual time and checks its counts after every step.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_path::config::LinkConfig;
use eifel_path::link::Link;
use eifel_path::parcel::{DropCause, Label, Labelled, Mark, Outcome, Parcel};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// The results of a run.
#[derive(Debug, Default, PartialEq)]
pub struct Run {
    /// Arrivals at the far end: nanoseconds and handle.
    pub arrived: Vec<(u64, u32)>,
    /// Drops: handle and cause.
    pub dropped: Vec<(u32, DropCause)>,
    /// Handles that were doubled.
    pub doubled: Vec<u32>,
    /// Handles whose ECN field was changed.
    pub marked: Vec<(u32, Mark)>,
}

impl Run {
    pub fn times(&self) -> Vec<u64> {
        self.arrived.iter().map(|&(at, _)| at).collect()
    }

    pub fn handles(&self) -> Vec<u32> {
        self.arrived.iter().map(|&(_, handle)| handle).collect()
    }

    fn note(&mut self, outcomes: &mut Vec<Outcome>) {
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Dropped { parcel, cause } => self.dropped.push((parcel.handle, cause)),
                Outcome::Duplicated { parcel } => self.doubled.push(parcel.handle),
                Outcome::Marked { parcel, mark } => self.marked.push((parcel.handle, mark)),
            }
        }
    }
}

/// Returns a plain link of 1 Mbit/s (8 us a byte, 8 ms for 1000 bytes) and 100 ms.
pub fn megabit() -> LinkConfig {
    LinkConfig::plain(Rate::from_bps(1_000_000).unwrap(), Duration::from_millis(100))
}

pub fn drop_tail(limit: u32) -> QueueConfig {
    QueueConfig::DropTail(DropTail::Packets(limit))
}

/// Returns parcel `handle` of flow 0: 1000 bytes, segment `handle`.
pub fn parcel(handle: u32) -> Labelled {
    sized(handle, 1000)
}

/// Returns a parcel like [`parcel`] of `bytes` bytes.
pub fn sized(handle: u32, bytes: u32) -> Labelled {
    let label = Label { flow: 0, copy: 0, segment: u64::from(handle), takes_marks: false };
    Labelled { parcel: Parcel { handle, bytes }, label }
}

/// Offers a parcel to a link.
pub fn offer(link: &mut Link, at: Instant, one: Labelled, outcomes: &mut Vec<Outcome>) {
    link.offer(at, one.parcel, || one.label, outcomes);
}

/// Returns `count` parcels, numbered from 1, all offered at `at` nanoseconds.
pub fn burst(at: u64, count: u32) -> Vec<(u64, Labelled)> {
    (1..=count).map(|handle| (at, parcel(handle))).collect()
}

/// Returns `count` parcels, numbered from 1, one every `gap` nanoseconds.
pub fn steady(gap: u64, count: u32) -> Vec<(u64, Labelled)> {
    (1..=count).map(|handle| (gap * u64::from(handle), parcel(handle))).collect()
}

/// Offers the parcels at their times to a new link and drives it until nothing is under way.
pub fn run(config: &LinkConfig, offers: &[(u64, Labelled)]) -> Run {
    run_seeded(config, offers, 1)
}

pub fn run_seeded(config: &LinkConfig, offers: &[(u64, Labelled)], seed: u64) -> Run {
    let mut link = Link::new(config, "link", seed).unwrap();
    let mut result = Run::default();
    for &(at, parcel) in offers {
        drive(&mut link, Instant::from_nanos(at), &mut result);
        let mut outcomes = Vec::new();
        offer(&mut link, Instant::from_nanos(at), parcel, &mut outcomes);
        result.note(&mut outcomes);
        link.check().unwrap();
    }
    drive(&mut link, Instant::from_nanos(u64::MAX - 1), &mut result);
    result
}

/// Processes all events that are due by `until`.
pub fn drive(link: &mut Link, until: Instant, result: &mut Run) {
    let mut outcomes = Vec::new();
    while link.next_event() <= until {
        let now = link.next_event();
        if let Some(parcel) = link.advance(now, &mut outcomes) {
            result.arrived.push((now.as_nanos(), parcel.handle));
        }
        assert!(link.next_event() >= now, "time goes back");
        link.check().unwrap();
        result.note(&mut outcomes);
    }
}
