//! Properties of every link with any traffic.

use crate::common::{MS, Run, megabit, run_seeded, sized};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_path::config::{Capacity, DelayChange, LinkConfig, RateChange};
use eifel_path::draw::Draw;
use eifel_path::element::ElementConfig;
use eifel_path::element::gilbert_elliott::GilbertElliottConfig;
use eifel_path::element::jitter::JitterConfig;
use eifel_path::element::outage::OutageConfig;
use eifel_path::element::reorder::{Choice, ReorderConfig};
use eifel_path::parcel::{Label, Labelled, Parcel};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::adaptive_red::AdaptiveRedConfig;
use eifel_path::queue::codel::{CodelConfig, Law};
use eifel_path::queue::drop_tail::DropTail;
use eifel_path::queue::fq_codel::FqCodelConfig;
use eifel_path::queue::red::{Manner, RedConfig, Unit};
use eifel_path::spike::{DrawnSpikes, HoldsAt, Measured, SpikeConfig, SpikeSource};
use eifel_path::trace::Trace;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

fn any_capacity() -> impl Strategy<Value = Capacity> {
    let rate = |bps| Rate::from_bps(bps).unwrap();
    prop_oneof![
        (9_000u64..10_000_000, vec((1u64..5_000, 9_000u64..10_000_000), 0..4)).prop_map(move |(bps, mut changes)| {
            changes.sort_unstable();
            changes.dedup_by_key(|change| change.0);
            let change = |(at, bps)| RateChange { at: Instant::from_nanos(at * MS), rate: rate(bps) };
            Capacity::Rate { rate: rate(bps), changes: changes.into_iter().map(change).collect() }
        }),
        vec(0u32..200, 1..40).prop_map(|mut times| {
            times.push(200);
            times.sort_unstable();
            let lines: Vec<String> = times.iter().map(u32::to_string).collect();
            Capacity::Trace(Arc::new(Trace::parse(&lines.join("\n")).unwrap()))
        }),
    ]
}

fn any_queue() -> impl Strategy<Value = QueueConfig> {
    let manner = ([any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()], 100u32..1500, 1u32..60).prop_map(
        |([gentle, wait, bytes, ecn], mean_packet_bytes, limit_packets)| {
            let unit = if bytes { Unit::Bytes } else { Unit::Packets };
            Manner { gentle, wait, unit, mean_packet_bytes, limit_packets, ecn }
        },
    );
    let red = (manner.clone(), 1.0..10.0, 1.0..20.0, 0.0..1.0, 0.001..1.0).prop_map(
        |(manner, minimum_packets, span, maximum_probability, weight)| {
            let maximum_packets = minimum_packets + span;
            QueueConfig::Red(RedConfig { minimum_packets, maximum_packets, maximum_probability, weight, manner })
        },
    );
    let adaptive = (manner, 1u64..100).prop_map(|(manner, millis)| {
        QueueConfig::AdaptiveRed(AdaptiveRedConfig { target_delay: Duration::from_millis(millis), manner })
    });
    prop_oneof![
        Just(QueueConfig::Unlimited),
        (1u32..40).prop_map(|limit| QueueConfig::DropTail(DropTail::Packets(limit))),
        (1u64..40_000).prop_map(|limit| QueueConfig::DropTail(DropTail::Bytes(limit))),
        red,
        adaptive,
        any_codel(),
    ]
}

fn any_codel() -> impl Strategy<Value = QueueConfig> {
    let law = (1u64..50, 1u64..200, any::<bool>()).prop_map(|(target, interval, ecn)| Law {
        target: Duration::from_millis(target),
        interval: Duration::from_millis(interval),
        ecn,
    });
    (law, 1u32..60, 1u32..8, 1u32..3000, any::<bool>()).prop_map(|(law, limit_packets, queues, quantum_bytes, fair)| {
        match fair {
            true => QueueConfig::FqCodel(FqCodelConfig { law, limit_packets, queues, quantum_bytes }),
            false => QueueConfig::Codel(CodelConfig { law, limit_packets }),
        }
    })
}

fn any_source() -> impl Strategy<Value = SpikeSource> {
    (any::<bool>(), 0.0..1.0, 0.001..0.5).prop_map(|(from_end, first_s, mean_s)| {
        let measured = if from_end { Measured::EndToStart } else { Measured::StartToStart };
        SpikeSource::Drawn(DrawnSpikes {
            first: Draw::Constant { value_s: first_s },
            length: Draw::Exponential { mean_s },
            interval: Draw::Uniform { low_s: 0.0, high_s: 4.0 * mean_s },
            measured,
        })
    })
}

fn any_spike() -> impl Strategy<Value = SpikeConfig> {
    (any::<bool>(), any_source()).prop_map(|(arriving, source)| {
        let holds = if arriving { HoldsAt::Arriving } else { HoldsAt::Sending };
        SpikeConfig { name: "spike".to_owned(), holds, source }
    })
}

fn any_delay() -> impl Strategy<Value = (u64, Vec<DelayChange>)> {
    (0u64..300, vec((1u64..5_000, 0u64..300), 0..4)).prop_map(|(delay, mut changes)| {
        changes.sort_unstable();
        changes.dedup_by_key(|change| change.0);
        let change =
            |(at, delay)| DelayChange { at: Instant::from_nanos(at * MS), delay: Duration::from_millis(delay) };
        (delay, changes.into_iter().map(change).collect())
    })
}

fn any_element() -> impl Strategy<Value = ElementConfig> {
    let probability = 0.0..1.0;
    let chain = [probability.clone(), probability.clone(), probability.clone(), probability.clone()];
    prop_oneof![
        (0.0..0.3).prop_map(|rate| ElementConfig::RandomLoss { rate }),
        (0.0..0.3).prop_map(|rate| ElementConfig::Duplicate { rate }),
        chain.prop_map(|[good_to_bad, bad_to_good, loss_in_good, loss_in_bad]| {
            ElementConfig::GilbertElliott(GilbertElliottConfig { good_to_bad, bad_to_good, loss_in_good, loss_in_bad })
        }),
        (0.0..0.5, 1u32..8, 1u64..400).prop_map(|(rate, length, millis)| {
            let longest_wait = Duration::from_millis(millis);
            ElementConfig::Reorder(ReorderConfig { choice: Choice::Rate(rate), length, longest_wait })
        }),
        (0.0..0.1, any::<bool>()).prop_map(|(high_s, keeps_order)| {
            ElementConfig::Jitter(JitterConfig { delay: Draw::Uniform { low_s: 0.0, high_s }, keeps_order })
        }),
        any_source().prop_map(|source| ElementConfig::Outage(OutageConfig { name: "outage".to_owned(), source })),
    ]
}

pub fn any_traffic() -> impl Strategy<Value = Vec<(u64, Labelled)>> {
    vec((0u64..20 * MS, 40u32..1600, 0u32..3, any::<bool>()), 1..300).prop_map(|gaps| {
        let mut now = 0;
        let number = (1..).zip(gaps);
        let parcels = number.map(|(handle, (gap, bytes, flow, takes_marks))| {
            now += gap;
            let one = sized(handle, bytes);
            (now, Labelled { label: Label { flow, takes_marks, ..one.label }, ..one })
        });
        parcels.collect()
    })
}

pub fn any_link() -> impl Strategy<Value = LinkConfig> {
    let elements =
        (vec(any_element(), 0..4), prop_oneof![Just(Instant::NEVER), (0..6_000 * MS).prop_map(Instant::from_nanos)]);
    (any_capacity(), any_delay(), any_queue(), vec(any_spike(), 0..3), elements).prop_map(
        |(capacity, (delay, delay_changes), queue, spikes, (elements, elements_until))| LinkConfig {
            capacity,
            delay: Duration::from_millis(delay),
            delay_changes,
            queue,
            spikes,
            elements,
            elements_until,
        },
    )
}

/// Returns how often a handle arrived or was dropped.
fn out(result: &Run, handle: u32) -> usize {
    let arrived = result.arrived.iter().filter(|&&(_, other)| other == handle).count();
    arrived + result.dropped.iter().filter(|&&(other, _)| other == handle).count()
}

proptest! {
    /// The driver itself checks the counts and the order after every step. Here each parcel comes
    /// out once, and once more for each duplication.
    #[test]
    fn every_parcel_is_delivered_or_dropped_once(config in any_link(), traffic in any_traffic(), seed: u64) {
        let result = run_seeded(&config, &traffic, seed);
        for &(_, parcel) in &traffic {
            let doubled = result.doubled.iter().filter(|&&other| other == parcel.parcel.handle).count();
            prop_assert_eq!(out(&result, parcel.parcel.handle), 1 + doubled);
        }
    }

    #[test]
    fn the_same_seed_is_the_same_run(config in any_link(), traffic in any_traffic(), seed: u64) {
        prop_assert_eq!(run_seeded(&config, &traffic, seed), run_seeded(&config, &traffic, seed));
    }

    /// Without elements that reorder, parcels arrive in order, and never before the shortest delay has passed.
    #[test]
    fn first_in_first_out(mut config in any_link(), traffic in any_traffic(), seed: u64) {
        config.elements.retain(|element| match element {
            ElementConfig::RandomLoss { .. } | ElementConfig::Outage(_) => true,
            ElementConfig::Jitter(jitter) => jitter.keeps_order && config.elements_until == Instant::NEVER,
            _ => false,
        });
        if matches!(config.queue, QueueConfig::FqCodel(_)) {
            config.queue = QueueConfig::Unlimited;
        }
        let shortest = config.delay_changes.iter().map(|change| change.delay).fold(config.delay, Duration::min);
        let result = run_seeded(&config, &traffic, seed);
        prop_assert!(result.arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
        for &(at, handle) in &result.arrived {
            prop_assert!(at >= traffic[handle as usize - 1].0 + shortest.as_nanos());
        }
    }

    /// The link computes departures in advance; a naive transmitter that steps through time must agree.
    #[test]
    fn departures_agree_with_a_transmitter_that_steps_through_time(
        bps in 9_000u64..10_000_000, limit in 1usize..20, traffic in any_traffic(),
    ) {
        let rate = Rate::from_bps(bps).unwrap();
        let queue = QueueConfig::DropTail(DropTail::Packets(limit as u32));
        let config = LinkConfig { queue, ..LinkConfig::plain(rate, megabit().delay) };
        let mut expected = Vec::new();
        let (mut waiting, mut free_at) = (std::collections::VecDeque::<Parcel>::new(), 0u64);
        let mut serve = |until: u64, waiting: &mut std::collections::VecDeque<Parcel>, since: &mut u64| {
            while let Some(first) = waiting.front() {
                let end = *since + rate.time_for(first.bytes).as_nanos();
                if end > until { break; }
                expected.push((end + megabit().delay.as_nanos(), first.handle));
                waiting.pop_front();
                *since = end;
            }
        };
        for &(at, parcel) in &traffic {
            serve(at, &mut waiting, &mut free_at);
            if waiting.is_empty() { free_at = at; }
            if waiting.len() < limit { waiting.push_back(parcel.parcel); }
        }
        serve(u64::MAX, &mut waiting, &mut free_at);
        prop_assert_eq!(run_seeded(&config, &traffic, 1).arrived, expected);
    }
}
