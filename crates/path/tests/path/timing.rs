//! Exact instants at the far end of links with a rate, worked out by hand.

use crate::common::{MS, burst, drop_tail, megabit, offer, parcel, run, sized};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_path::config::{Capacity, DelayChange, LinkConfig, RateChange};
use eifel_path::link::{Link, QueueState};
use eifel_path::parcel::DropCause;
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;
use eifel_path::queue::red::{Manner, RedConfig, Unit};
use eifel_path::spike::{HoldsAt, Span, SpikeConfig, SpikeSource};

fn listed(holds: HoldsAt, spans: &[(u64, u64)]) -> SpikeConfig {
    let span = |&(start, end): &(u64, u64)| Span { start: Instant::from_nanos(start), end: Instant::from_nanos(end) };
    let source = SpikeSource::Listed(spans.iter().map(span).collect());
    SpikeConfig { name: "listed".to_owned(), holds, source }
}

fn spiked(spikes: Vec<SpikeConfig>) -> LinkConfig {
    LinkConfig { spikes, ..megabit() }
}

fn change(at_ms: u64, bps: u64) -> RateChange {
    RateChange { at: Instant::from_nanos(at_ms * MS), rate: Rate::from_bps(bps).unwrap() }
}

fn with_changes(changes: Vec<RateChange>) -> LinkConfig {
    LinkConfig { capacity: Capacity::Rate { rate: Rate::from_bps(1_000_000).unwrap(), changes }, ..megabit() }
}

#[test]
fn parcels_are_sent_one_after_the_other() {
    let mut offers = burst(0, 3);
    offers.push((50 * MS, sized(4, 40)));
    let result = run(&megabit(), &offers);
    assert_eq!(result.arrived, [(108 * MS, 1), (116 * MS, 2), (124 * MS, 3), (150 * MS + 320_000, 4)]);
}

#[test]
fn transmission_times_round_to_the_nanosecond_for_every_size() {
    // 3 Mbit/s: 1 byte takes 2666.67 ns, 9 bytes 24 us; sizes that share a place in the cache of times do not mix.
    let config = LinkConfig::plain(Rate::from_bps(3_000_000).unwrap(), Duration::ZERO);
    let sizes = [1, 9, 33, 1, 65, 33, 0];
    let offers: Vec<_> = (1..).zip(sizes).map(|(handle, bytes)| (0, sized(handle, bytes))).collect();
    let times = run(&config, &offers).times();
    assert_eq!(times, [2667, 26_667, 114_667, 117_334, 290_667, 378_667, 378_667]);
}

#[test]
fn unlimited_capacity_leaves_only_the_delay() {
    let config = LinkConfig { capacity: Capacity::Unlimited, ..megabit() };
    assert_eq!(run(&config, &burst(5, 2)).times(), [100 * MS + 5, 100 * MS + 5]);
}

#[test]
fn drop_tail_counts_the_parcel_in_transmission() {
    let config = LinkConfig { queue: drop_tail(3), ..megabit() };
    let mut offers = burst(0, 4);
    // One nanosecond before the first is transmitted there is no room; at that very instant there is.
    offers.push((8 * MS - 1, parcel(5)));
    offers.push((8 * MS, parcel(6)));
    let result = run(&config, &offers);
    assert_eq!(result.dropped, [(4, DropCause::Queue), (5, DropCause::Queue)]);
    assert_eq!(result.arrived, [(108 * MS, 1), (116 * MS, 2), (124 * MS, 3), (132 * MS, 6)]);
}

#[test]
fn drop_tail_by_bytes_takes_a_short_parcel_where_a_long_one_finds_no_room() {
    let config = LinkConfig { queue: QueueConfig::DropTail(DropTail::Bytes(2100)), ..megabit() };
    let mut offers = burst(0, 3);
    offers.push((0, sized(4, 100)));
    offers.push((0, sized(5, 1)));
    let result = run(&config, &offers);
    assert_eq!(result.dropped, [(3, DropCause::Queue), (5, DropCause::Queue)]);
    assert_eq!(result.times(), [108 * MS, 116 * MS, 116 * MS + 800_000]);
}

#[test]
fn the_queue_shows_what_is_not_yet_transmitted() {
    let mut link = Link::new(&megabit(), "link", 1).unwrap();
    let mut outcomes = Vec::new();
    for (at, parcel) in burst(0, 3) {
        offer(&mut link, Instant::from_nanos(at), parcel, &mut outcomes);
    }
    let state = |packets, bytes| QueueState { packets, bytes, average_bytes: None };
    assert_eq!(link.queue(Instant::ZERO), state(3, 3000));
    assert_eq!(link.queue(Instant::from_nanos(8 * MS - 1)), state(3, 3000));
    assert_eq!(link.queue(Instant::from_nanos(8 * MS)), state(2, 2000));
    assert_eq!(link.queue(Instant::from_nanos(24 * MS)), state(0, 0));
    assert_eq!(link.counts().inside().unwrap().parcels, 3);
}

#[test]
fn nothing_arrives_before_its_time() {
    let mut link = Link::new(&megabit(), "link", 1).unwrap();
    let mut outcomes = Vec::new();
    assert_eq!(link.next_event(), Instant::NEVER);
    assert_eq!(link.advance(Instant::from_nanos(5), &mut outcomes), None);
    offer(&mut link, Instant::from_nanos(5), parcel(1), &mut outcomes);
    assert_eq!(link.advance(Instant::from_nanos(108 * MS + 4), &mut outcomes), None);
    assert_eq!(link.next_event(), Instant::from_nanos(108 * MS + 5));
    assert_eq!(link.advance(Instant::from_nanos(108 * MS + 5), &mut outcomes), Some(parcel(1).parcel));
    assert_eq!(link.next_event(), Instant::NEVER);
}

#[test]
fn a_rate_applies_to_transmissions_that_begin_with_it_or_later() {
    // Begins: 0, 8 (before the change at 10, so sent fast), 16 (slow: 80 ms), 96 (after both changes at 90 and 96: 4 ms).
    let config = with_changes(vec![change(10, 100_000), change(90, 10_000), change(96, 2_000_000)]);
    assert_eq!(run(&config, &burst(0, 4)).times(), [108 * MS, 116 * MS, 196 * MS, 200 * MS]);
}

#[test]
fn a_change_while_the_link_is_idle_is_not_missed() {
    let config = with_changes(vec![change(10, 100_000), change(20, 500_000)]);
    assert_eq!(run(&config, &[(30 * MS, parcel(1))]).times(), [146 * MS]);
}

#[test]
fn a_sending_spike_finishes_what_it_has_begun_and_holds_the_rest() {
    // The first is transmitted from 0 to 8; the second would begin at 8, within the spike from 3 to
    // 1000.
    let config = spiked(vec![listed(HoldsAt::Sending, &[(3 * MS, 1000 * MS)])]);
    let mut offers = burst(0, 2);
    offers.push((999 * MS, parcel(3)));
    offers.push((1008 * MS, parcel(4)));
    let result = run(&config, &offers);
    assert_eq!(result.times(), [108 * MS, 1108 * MS, 1116 * MS, 1124 * MS]);
}

#[test]
fn a_spike_includes_its_start_and_excludes_its_end() {
    let config = spiked(vec![listed(HoldsAt::Sending, &[(8 * MS, 20 * MS), (28 * MS, 30 * MS)])]);
    // Begins: 0; 8 is held until 20; 28 is held until 30.
    assert_eq!(run(&config, &burst(0, 3)).times(), [108 * MS, 128 * MS, 138 * MS]);
}

#[test]
fn the_queue_fills_in_a_sending_spike() {
    let config = LinkConfig { queue: drop_tail(4), ..spiked(vec![listed(HoldsAt::Sending, &[(5 * MS, 1000 * MS)])]) };
    let offers: Vec<_> = (1..=8).map(|n| (u64::from(n - 1) * 8 * MS, parcel(n))).collect();
    let result = run(&config, &offers);
    assert_eq!(result.handles(), [1, 2, 3, 4, 5]);
    assert_eq!(result.dropped.iter().map(|drop| drop.0).collect::<Vec<_>>(), [6, 7, 8]);
    assert_eq!(result.times()[1..], [1108 * MS, 1116 * MS, 1124 * MS, 1132 * MS]);
}

#[test]
fn an_arriving_spike_releases_everything_at_its_end_in_order() {
    let config = spiked(vec![listed(HoldsAt::Arriving, &[(110 * MS, 400 * MS)])]);
    let mut offers = burst(0, 3);
    offers.push((292 * MS, parcel(4)));
    let result = run(&config, &offers);
    assert_eq!(result.arrived, [(108 * MS, 1), (400 * MS, 2), (400 * MS, 3), (400 * MS, 4)]);
}

#[test]
fn an_arriving_spike_does_not_change_the_queue() {
    let config = LinkConfig { queue: drop_tail(1), ..spiked(vec![listed(HoldsAt::Arriving, &[(MS, 4000 * MS)])]) };
    let offers: Vec<_> = (1..=8).map(|n| (u64::from(n) * 8 * MS, parcel(n))).collect();
    let result = run(&config, &offers);
    assert_eq!(result.times(), [4000 * MS; 8]);
    assert_eq!(result.dropped, []);
}

#[test]
fn spikes_of_several_sources_hold_together() {
    let config = spiked(vec![
        listed(HoldsAt::Sending, &[(10 * MS, 50 * MS)]),
        listed(HoldsAt::Sending, &[(5 * MS, 12 * MS), (50 * MS, 60 * MS)]),
        listed(HoldsAt::Arriving, &[(168 * MS, 169 * MS)]),
    ]);
    // The second is due at 8: held to 12, so to 50, so to 60; it arrives at 168, held to 169. The third at 176.
    assert_eq!(run(&config, &burst(0, 3)).times(), [108 * MS, 169 * MS, 176 * MS]);
}

#[test]
fn a_rate_change_in_a_spike_applies_after_it() {
    let mut config = with_changes(vec![change(20, 100_000)]);
    config.spikes = vec![listed(HoldsAt::Sending, &[(4 * MS, 30 * MS)])];
    assert_eq!(run(&config, &burst(0, 2)).times(), [108 * MS, 210 * MS]);
}

#[test]
fn a_spike_without_an_end_keeps_the_parcel_that_it_holds() {
    let config = spiked(vec![listed(HoldsAt::Sending, &[(4 * MS, u64::MAX)])]);
    let mut link = Link::new(&config, "link", 1).unwrap();
    let mut outcomes = Vec::new();
    offer(&mut link, Instant::ZERO, parcel(1), &mut outcomes);
    offer(&mut link, Instant::ZERO, parcel(2), &mut outcomes);
    assert_eq!(link.advance(Instant::from_nanos(108 * MS), &mut outcomes), Some(parcel(1).parcel));
    assert_eq!(link.next_event(), Instant::NEVER);
    assert_eq!(link.queue(Instant::from_nanos(1 << 60)).packets, 1);
    link.check().unwrap();
}

/// Returns RED on packets of 1000 bytes. The current length has a weight of 0.5 in the average.
fn red() -> QueueConfig {
    let manner = Manner {
        gentle: true,
        wait: true,
        unit: Unit::Packets,
        mean_packet_bytes: 1000,
        limit_packets: 50,
        ecn: false,
    };
    QueueConfig::Red(RedConfig {
        minimum_packets: 5.0,
        maximum_packets: 15.0,
        maximum_probability: 0.1,
        weight: 0.5,
        manner,
    })
}

#[test]
fn red_averages_what_waits_behind_the_transmitter_and_decays_when_that_is_idle() {
    let mut link = Link::new(&LinkConfig { queue: red(), ..megabit() }, "link", 1).unwrap();
    let mut outcomes = Vec::new();
    let mut average_after = |at: u64| {
        offer(&mut link, Instant::from_nanos(at), parcel(1), &mut outcomes);
        link.queue(Instant::from_nanos(at)).average_bytes.unwrap()
    };
    // Behind the parcel in transmission wait: none (idle), 0, 1, 2; and 1 when the first has left.
    assert_eq!([0, 0, 0, 0].map(&mut average_after), [0.0, 0.0, 500.0, 1250.0]);
    assert_eq!(average_after(16 * MS), 1125.0);
    // All have left at 40; 16.5 ms later two more packets of 8 ms could have left, and one comes.
    assert_eq!(average_after(56 * MS + 500_000), 1125.0 / 8.0);
}

#[test]
fn senseless_settings_are_refused_by_name() {
    let message = |config: LinkConfig| Link::new(&config, "link", 1).unwrap_err().to_string();
    assert_eq!(
        message(with_changes(vec![change(20, 1), change(20, 2)])),
        "rate_changes: a change at 0.02s follows one at 0.02s; allowed: rising times"
    );
    assert_eq!(message(LinkConfig { queue: drop_tail(0), ..megabit() }), "queue.packets: 0; allowed: 1 or more");
    assert_eq!(
        message(spiked(vec![listed(HoldsAt::Sending, &[(5, 5)])])),
        "spike.at: one from 0.000000005s to 0.000000005s; allowed: an end after its start"
    );
    assert_eq!(
        message(LinkConfig { queue: red(), capacity: Capacity::Unlimited, ..megabit() }),
        "queue: an early drop on a link of unlimited capacity; allowed: a link with a rate or a trace"
    );
    let overlapping = message(spiked(vec![listed(HoldsAt::Sending, &[(0, 2000 * MS), (1000 * MS, 3000 * MS)])]));
    assert_eq!(overlapping, "spike.at: one starts at 1s, before the one listed earlier ends, 2s");
}

#[test]
fn a_delay_applies_to_transmissions_that_end_with_it_or_later_and_nothing_overtakes() {
    let change = |at: u64, delay| DelayChange { at: Instant::from_nanos(at), delay: Duration::from_millis(delay) };
    // Transmissions end at 8, 16, 24 … ms.
    let with = |delay_changes| LinkConfig { delay_changes, ..megabit() };
    let longer = run(&with(vec![change(16 * MS, 150), change(24 * MS + 1, 200)]), &burst(0, 4));
    assert_eq!(longer.times(), [108, 166, 174, 232].map(|at| at * MS));
    // From 100 to 10 ms at 16 ms: the second would arrive at 26 ms. All wait for the first, at 108 ms.
    let shorter = run(&with(vec![change(16 * MS, 10)]), &burst(0, 14));
    assert_eq!(shorter.times()[..12], [108 * MS; 12]);
    assert_eq!(shorter.times()[12..], [114 * MS, 122 * MS]);
    // Before the change nothing was sent, so there is nothing to wait for.
    let unused = run(&with(vec![change(4 * MS, 10)]), &burst(0, 2));
    assert_eq!(unused.times(), [18 * MS, 26 * MS]);
    let refused = Link::new(&with(vec![change(2, 1), change(2, 3)]), "link", 1).unwrap_err().to_string();
    assert!(refused.starts_with("delay_changes: a change at "), "{refused}");
}

/// A parcel that begins at the instant of a change has the new rate.
#[test]
fn a_change_applies_to_transmissions_that_begin_with_it() {
    // Each takes 8 ms before the change, and 4 ms after it.
    let times = |at_ms| run(&with_changes(vec![change(at_ms, 2_000_000)]), &burst(0, 2)).times();
    assert_eq!(times(8), [108 * MS, 112 * MS]);
    let later = with_changes(vec![change(8, 2_000_000)]);
    assert_eq!(run(&later, &[(8 * MS, sized(1, 1000))]).times(), [112 * MS]);
}
