//! Random spikes.

use crate::common::{MS, S, megabit, offer, parcel, run};
use eifel_base::time::Instant;
use eifel_path::config::LinkConfig;
use eifel_path::draw::Draw;
use eifel_path::link::Link;
use eifel_path::spike::{DrawnSpikes, HoldsAt, Measured, Span, SpikeConfig, SpikeSource};
use eifel_path::stream::Stream;

fn constant(value_s: f64) -> Draw {
    Draw::Constant { value_s }
}

/// Returns the spikes of "Responding to Spurious Timeouts in TCP", section IV.
fn published() -> DrawnSpikes {
    DrawnSpikes {
        first: constant(5.0),
        length: Draw::Uniform { low_s: 3.0, high_s: 15.0 },
        interval: Draw::Uniform { low_s: 20.0, high_s: 40.0 },
        measured: Measured::StartToStart,
    }
}

fn link(name: &str, spikes: DrawnSpikes, seed: u64) -> Link {
    let source = SpikeSource::Drawn(spikes);
    let spikes = vec![SpikeConfig { name: "handover".to_owned(), holds: HoldsAt::Sending, source }];
    Link::new(&LinkConfig { spikes, ..megabit() }, name, seed).unwrap()
}

fn spans(link: &mut Link, until: u64) -> Vec<Span> {
    link.spikes(Instant::from_nanos(until)).flat_map(|(_, spans)| spans.to_vec()).collect()
}

fn seconds(spans: &[Span]) -> Vec<(f64, f64)> {
    spans.iter().map(|span| (span.start.as_secs_f64(), span.end.as_secs_f64())).collect()
}

#[test]
fn intervals_count_from_start_or_from_end() {
    let mut spikes =
        DrawnSpikes { first: constant(5.0), length: constant(3.0), interval: constant(10.0), ..published() };
    assert_eq!(seconds(&spans(&mut link("l", spikes.clone(), 1), 26 * S)), [(5.0, 8.0), (15.0, 18.0), (25.0, 28.0)]);
    spikes.measured = Measured::EndToStart;
    assert_eq!(seconds(&spans(&mut link("l", spikes, 1), 31 * S)), [(5.0, 8.0), (18.0, 21.0), (31.0, 34.0)]);
}

#[test]
fn a_spike_is_begun_at_its_start() {
    let mut link = link("l", published(), 1);
    assert_eq!(spans(&mut link, 5 * S - 1), []);
    assert_eq!(spans(&mut link, 5 * S).len(), 1);
    assert_eq!(link.spikes(Instant::ZERO).map(|(name, _)| name.to_owned()).collect::<Vec<_>>(), ["handover"]);
}

#[test]
fn drawn_lengths_and_intervals_are_those_asked_for() {
    let spans = spans(&mut link("l", published(), 3), 100_000 * S);
    let lengths: Vec<f64> = spans.iter().map(|span| span.end.since(span.start).as_secs_f64()).collect();
    let intervals: Vec<f64> = spans.windows(2).map(|pair| pair[1].start.since(pair[0].start).as_secs_f64()).collect();
    assert!(lengths.iter().all(|length| (3.0..=15.0).contains(length)));
    assert!(intervals.iter().all(|interval| (20.0..=40.0).contains(interval)));
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    assert!((mean(&lengths) - 9.0).abs() < 0.25, "{}", mean(&lengths));
    assert!((mean(&intervals) - 30.0).abs() < 0.4, "{}", mean(&intervals));
}

#[test]
fn the_same_source_holds_several_links_alike_and_traffic_does_not_matter() {
    let (mut there, mut back) = (link("there", published(), 7), link("back", published(), 7));
    let mut outcomes = Vec::new();
    // Busy, and far ahead of time: 3000 parcels of 8 ms, all offered at the beginning.
    (0..3000).for_each(|handle| offer(&mut there, Instant::ZERO, parcel(handle), &mut outcomes));
    let busy = spans(&mut there, 500 * S);
    assert_eq!(busy, spans(&mut back, 500 * S));
    assert!(busy.len() > 12);
    assert_ne!(busy, spans(&mut link("there", published(), 8), 500 * S));
    // The spikes are the same whether they are asked for little by little or at once.
    let mut asked = link("asked", published(), 7);
    (0..500).for_each(|second| drop(spans(&mut asked, second * S)));
    assert_eq!(spans(&mut asked, 500 * S), busy);
}

#[test]
fn a_spike_that_starts_in_another_is_one_with_it() {
    let spikes = DrawnSpikes {
        first: constant(0.0),
        length: Draw::Uniform { low_s: 0.5, high_s: 1.0 },
        interval: Draw::Exponential { mean_s: 1.5 },
        measured: Measured::StartToStart,
    };
    let spans = spans(&mut link("l", spikes, 1), 10_000 * S);
    assert!(spans.windows(2).all(|pair| pair[0].end < pair[1].start));
    assert!(spans.iter().any(|span| span.end.since(span.start).as_secs_f64() > 1.0));
    // Lengths are U(0.5, 1) at a rate of 1/1.5. As in an M/G/infinity queue, the share of the time
    // that is held is about 1 - exp(-0.75/1.5).
    let held: f64 = spans.iter().map(|span| span.end.since(span.start).as_secs_f64()).sum();
    assert!((held / 10_000.0 - 0.3935).abs() < 0.02, "{held}");
}

#[test]
fn merged_spikes_end_at_the_later_end() {
    // Spikes start at 0, 2, 4, ... s and last 1 to 2.9 s, so about half of them are merged with the
    // next.
    let spikes = DrawnSpikes {
        first: constant(0.0),
        length: Draw::Uniform { low_s: 1.0, high_s: 2.9 },
        interval: constant(2.0),
        measured: Measured::StartToStart,
    };
    for span in spans(&mut link("l", spikes, 1), 5_000 * S) {
        assert_eq!(span.start.as_nanos() % (2 * S), 0);
        let beyond_last_start = (span.end.as_nanos() - span.start.as_nanos()) % (2 * S);
        // A merged spike ends less than 2 s after the start of the last spike in it.
        assert!(beyond_last_start > 0 || span.end.since(span.start).as_nanos() == 2 * S);
    }
}

#[test]
fn drawn_spikes_hold_traffic() {
    let spikes = DrawnSpikes { first: constant(0.01), length: constant(0.5), interval: constant(1.0), ..published() };
    let source = SpikeSource::Drawn(spikes);
    let config = |holds| {
        let spikes = vec![SpikeConfig { name: "x".to_owned(), holds, source: source.clone() }];
        LinkConfig { spikes, ..megabit() }
    };
    let offers = crate::common::burst(0, 3);
    assert_eq!(run(&config(HoldsAt::Sending), &offers).times(), [108 * MS, 116 * MS, 618 * MS]);
    assert_eq!(run(&config(HoldsAt::Arriving), &offers).times(), [510 * MS; 3]);
}

#[test]
fn spikes_without_an_end_are_refused() {
    let message = |spikes: DrawnSpikes| {
        let source = SpikeSource::Drawn(spikes);
        let spikes = vec![SpikeConfig { name: "x".to_owned(), holds: HoldsAt::Sending, source }];
        Link::new(&LinkConfig { spikes, ..megabit() }, "link", 1).unwrap_err().to_string()
    };
    assert_eq!(
        message(DrawnSpikes { interval: constant(9.0), ..published() }),
        "spike.interval: the mean, 9 s from start to start, is not above the mean length, 9 s"
    );
    assert_eq!(
        message(DrawnSpikes { interval: constant(0.0), measured: Measured::EndToStart, ..published() }),
        "spike.interval: the mean is 0 s; allowed: from 0.001 s"
    );
    assert_eq!(
        message(DrawnSpikes { length: constant(-1.0), ..published() }),
        "spike.length: the length is -1 s; allowed: 0 to 315360000 s"
    );
}

/// Draws starts and ends as the documentation says, and merges overlapping spikes: a model without
/// [`Link`].
fn merged_by_hand(spikes: &DrawnSpikes, seed: u64, count: usize) -> (Vec<(Instant, Instant)>, usize) {
    let mut stream = Stream::new(seed, &["spike", "handover"]);
    let mut start = Instant::ZERO + spikes.first.draw(&mut stream);
    let mut merged: Vec<(Instant, Instant)> = Vec::new();
    let mut contained = 0;
    for _ in 0..count {
        let end = start + spikes.length.draw(&mut stream);
        match merged.last_mut() {
            Some((_, last)) if start <= *last => {
                contained += usize::from(end < *last);
                *last = end.max(*last);
            }
            _ => merged.push((start, end)),
        }
        start += spikes.interval.draw(&mut stream);
    }
    // A further spike might still be merged with the last.
    merged.pop();
    (merged, contained)
}

#[test]
fn a_long_spike_that_contains_a_short_one_keeps_its_end() {
    let spikes = DrawnSpikes {
        first: constant(1.0),
        length: Draw::Uniform { low_s: 0.1, high_s: 7.0 },
        interval: constant(4.0),
        measured: Measured::StartToStart,
    };
    let (expected, contained) = merged_by_hand(&spikes, 1, 500);
    assert!(contained > 20, "{contained} spikes are inside another");
    let until = expected[expected.len() - 1].0;
    let spans = spans(&mut link("l", spikes, 1), until.as_nanos());
    let found: Vec<_> = spans.iter().map(|span| (span.start, span.end)).collect();
    assert_eq!(found, expected);
}
