//! Links that follow a recording, worked out by hand.

use crate::common::{MS, drop_tail, megabit, run, sized};
use eifel_base::time::{Duration, Instant};
use eifel_path::config::{Capacity, LinkConfig};
use eifel_path::parcel::{DropCause, Labelled};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::codel::{CodelConfig, Law};
use eifel_path::spike::{HoldsAt, Span, SpikeConfig, SpikeSource};
use eifel_path::trace::Trace;
use std::sync::Arc;

/// Returns a link without delay, so that arrivals are departures.
fn recorded(text: &str) -> LinkConfig {
    let trace = Arc::new(Trace::parse(text).unwrap());
    LinkConfig { capacity: Capacity::Trace(trace), delay: Duration::ZERO, ..megabit() }
}

fn offers(sizes: &[(u64, u32)]) -> Vec<(u64, Labelled)> {
    (1..).zip(sizes).map(|(handle, &(at, bytes))| (at, sized(handle, bytes))).collect()
}

fn times_ms(text: &str, sizes: &[(u64, u32)]) -> Vec<u64> {
    run(&recorded(text), &offers(sizes)).times().iter().map(|at| at / MS).collect()
}

#[test]
fn an_opportunity_carries_several_small_parcels() {
    assert_eq!(times_ms("10\n20\n", &[(0, 500), (0, 500), (0, 500), (0, 1)]), [10, 10, 10, 20]);
}

#[test]
fn a_large_parcel_takes_several_opportunities_and_leaves_the_rest_of_the_last() {
    // 10: 1500 of 4000; 10 again: 1500 more; 25: the last 1000, and 500 of the second; 40: its other 100.
    assert_eq!(times_ms("10\n10\n25\n40\n", &[(0, 4000), (0, 600)]), [25, 40]);
}

#[test]
fn an_opportunitys_unused_bytes_lapse() {
    // The second comes when 1000 bytes of the opportunity at 10 are left: just before it has room, at 10 no more.
    assert_eq!(times_ms("10\n20\n", &[(0, 500), (10 * MS - 1, 1000)]), [10, 10]);
    assert_eq!(times_ms("10\n20\n", &[(0, 500), (10 * MS, 1000)]), [10, 20]);
}

#[test]
fn a_repeated_line_is_one_more_opportunity_in_its_millisecond() {
    assert_eq!(times_ms("10\n10\n20\n", &[(0, 1500), (0, 1500), (0, 1500)]), [10, 10, 20]);
    // Both are gone at 10.
    assert_eq!(times_ms("10\n10\n20\n", &[(10 * MS, 1500)]), [20]);
}

#[test]
fn the_recording_begins_again_at_its_end() {
    // Laps of 20 ms: opportunities at 0 5 20 | 20 25 40 | 40 45 60. The one at 0 is gone for a parcel offered at 0.
    let five = [(0, 1500), (0, 1500), (0, 1500), (0, 1500), (0, 1500)];
    assert_eq!(times_ms("0\n5\n20\n", &five), [5, 20, 20, 25, 40]);
    // Far ahead, after idle laps: 20 000 000 s is the boundary of two laps, both of whose opportunities have gone.
    let late = 20_000_000 * crate::common::S;
    assert_eq!(times_ms("0\n5\n20\n", &[(late, 1500), (late, 1500)]), [20_000_000_005, 20_000_000_020]);
    assert_eq!(times_ms("0\n5\n20\n", &[(late - 1, 3000)]), [20_000_000_000]);
}

#[test]
fn drop_tail_holds_before_a_recorded_link_too() {
    let config = LinkConfig { queue: drop_tail(2), ..recorded("10\n20\n") };
    let result = run(&config, &offers(&[(0, 1500), (0, 1500), (0, 1500), (10 * MS, 1500)]));
    assert_eq!(result.handles(), [1, 2, 4]);
    assert_eq!(result.times(), [10 * MS, 20 * MS, 30 * MS]);
}

#[test]
fn codel_keeps_a_parcel_before_a_recorded_link_until_its_opportunity() {
    let law = Law { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false };
    let queue = QueueConfig::Codel(CodelConfig { law, limit_packets: 1 });
    let config = LinkConfig { queue, ..recorded("10\n20\n") };
    // The first parcel waits from 15 to 20, so the second finds no room; the third does at 25.
    let result = run(&config, &offers(&[(15 * MS, 1500), (16 * MS, 1500), (25 * MS, 1500)]));
    assert_eq!(result.arrived, [(20 * MS, 1), (30 * MS, 3)]);
    assert_eq!(result.dropped, [(2, DropCause::Queue)]);
}

#[test]
fn opportunities_in_a_spike_lapse() {
    let span = Span { start: Instant::from_nanos(20 * MS), end: Instant::from_nanos(40 * MS) };
    let source = SpikeSource::Listed(vec![span]);
    let spikes = vec![SpikeConfig { name: "spike".to_owned(), holds: HoldsAt::Sending, source }];
    let config = LinkConfig { spikes, ..recorded("10\n20\n30\n40\n") };
    // 10: 1500 of 2000 bytes; 20 and 30 are in the spike; 40: the rest, and 1000 of the second; 50: its last 200.
    let result = run(&config, &offers(&[(0, 2000), (0, 1200)]));
    assert_eq!(result.times(), [40 * MS, 50 * MS]);
}

#[test]
fn delay_and_arriving_spike_follow_the_recording() {
    let span = Span { start: Instant::from_nanos(115 * MS), end: Instant::from_nanos(400 * MS) };
    let spikes = vec![SpikeConfig {
        name: "spike".to_owned(),
        holds: HoldsAt::Arriving,
        source: SpikeSource::Listed(vec![span]),
    }];
    let config = LinkConfig { spikes, delay: Duration::from_millis(100), ..recorded("10\n20\n") };
    assert_eq!(run(&config, &offers(&[(0, 1500), (0, 1500)])).times(), [110 * MS, 400 * MS]);
}
