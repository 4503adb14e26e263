use super::*;
use eifel_base::time::Instant;

const MANNER: Manner =
    Manner { gentle: true, wait: false, unit: Unit::Packets, mean_packet_bytes: 1000, limit_packets: 50, ecn: false };
const CONFIG: RedConfig =
    RedConfig { minimum_packets: 5.0, maximum_packets: 15.0, maximum_probability: 0.1, weight: 0.25, manner: MANNER };

/// Makes RED in front of 1 Mbit/s: 125 packets per second.
fn red(config: RedConfig) -> Red {
    config.check().unwrap();
    Red::new(config, Rate::from_bps(1_000_000).unwrap(), Stream::new(1, &["red"]))
}

/// Makes an arrival that finds one parcel in transmission and `waiting` parcels behind it, all of
/// 1000 bytes.
fn behind(waiting: u32) -> Arrival {
    Arrival {
        now: Instant::ZERO,
        bytes: 1000,
        found: Occupancy { packets: waiting + 1, bytes: 1000 * u64::from(waiting + 1) },
        in_transmission: 1000,
        last_departure: Instant::ZERO,
    }
}

fn idle(since: Instant, now: Instant) -> Arrival {
    let found = Occupancy::default();
    Arrival { now, bytes: 1000, found, in_transmission: 0, last_departure: since }
}

#[test]
fn the_average_follows_the_queues_length() {
    let mut red = red(CONFIG);
    let averages = [4, 8, 8].map(|waiting| {
        red.admit(&behind(waiting)).unwrap();
        red.average
    });
    assert_eq!(averages, [1.0, 2.75, 4.0625]);
    assert_eq!(red.average_bytes(), 4062.5);
}

#[test]
fn the_average_decays_while_the_link_is_idle() {
    let mut red = red(CONFIG);
    red.average = 4.0625;
    // 24.9 ms are 3.1 packets of 8 ms: three empty arrivals, and this one.
    red.admit(&idle(Instant::from_nanos(1_000_000_000), Instant::from_nanos(1_024_900_000))).unwrap();
    assert_eq!(red.average, 4.0625 * 0.75 * 0.75 * 0.75 * 0.75);
}

#[test]
fn a_queue_in_bytes_counts_bytes() {
    let unit = Unit::Bytes;
    let mut red = red(RedConfig { manner: Manner { unit, mean_packet_bytes: 500, ..MANNER }, ..CONFIG });
    assert_eq!((red.minimum, red.maximum), (2500.0, 7500.0));
    red.admit(&behind(4)).unwrap();
    assert_eq!((red.average, red.average_bytes()), (1000.0, 1000.0));
    // 50 packets of 500 bytes are the limit: 25 of 1000 fill it.
    assert_eq!(red.admit(&behind(25)), Err(DropCause::Queue));
    // Twice the typical size, twice the probability: 3000 bytes are a count of 6.
    red.average = 5000.0;
    let probability = red.final_probability(Arrived { packets: 3, bytes: 3000 }, 1000);
    assert!((probability - 2.0 * 0.05 / (1.0 - 6.0 * 0.05)).abs() < 1e-12, "{probability}");
}

#[test]
fn probability_rises_with_the_average_and_gently_beyond_the_threshold() {
    let mut red = red(CONFIG);
    for (average, expected) in [(5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)] {
        red.average = average;
        assert!((red.probability() - expected).abs() < 1e-12, "{average}: {}", red.probability());
    }
}

#[test]
fn probability_rises_with_the_count() {
    let mut red = red(CONFIG);
    red.average = 10.0;
    let after = |red: &Red, packets| red.final_probability(Arrived { packets, bytes: 0 }, 1000);
    assert!((after(&red, 2) - 0.05 / 0.9).abs() < 1e-12);
    assert_eq!(after(&red, 20), 1.0);
    red.manner.wait = true;
    assert_eq!(after(&red, 19), 0.0);
    assert!((after(&red, 30) - 0.05 / 0.5).abs() < 1e-12);
    assert_eq!(after(&red, 40), 1.0);
}

/// Gaps between early drops of a queue whose average stays at 10, a probability of 0.05.
fn gaps(wait: bool) -> Vec<u32> {
    let mut red = red(RedConfig { weight: 1.0, manner: Manner { wait, ..MANNER }, ..CONFIG });
    let drops: Vec<u32> = (0..40_000).filter(|_| red.admit(&behind(10)) == Err(DropCause::Red)).collect();
    drops.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn gaps_between_drops_are_uniform() {
    let mean = |gaps: &[u32]| f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    // Hazards 1/19, 1/18, ..., 1: uniform from 1 to 19. With waiting: 1/20, 1/19, ...: uniform from 20 to 39.
    let near = gaps(false);
    assert_eq!((near.iter().min(), near.iter().max()), (Some(&1), Some(&19)));
    assert!((mean(&near) - 10.0).abs() < 0.4, "{}", mean(&near));
    let far = gaps(true);
    assert_eq!((far.iter().min(), far.iter().max()), (Some(&20), Some(&39)));
    assert!((mean(&far) - 29.5).abs() < 0.7, "{}", mean(&far));
}

#[test]
fn everything_is_dropped_beyond_the_ceiling_and_nothing_while_one_parcel_waits() {
    let mut gentle = red(RedConfig { weight: 1.0, ..CONFIG });
    // The first parcel above the lower threshold passes, whatever its probability. At the ceiling
    // it is dropped.
    assert_eq!(gentle.admit(&behind(29)), Ok(()));
    assert_eq!(gentle.admit(&behind(30)), Err(DropCause::Red));
    let mut steep = red(RedConfig { weight: 1.0, manner: Manner { gentle: false, ..MANNER }, ..CONFIG });
    assert_eq!(steep.admit(&behind(14)), Ok(()));
    assert_eq!(steep.admit(&behind(15)), Err(DropCause::Red));
    let mut long = red(RedConfig { weight: 0.001, ..CONFIG });
    long.average = 1000.0;
    assert_eq!(long.admit(&behind(1)), Ok(()));
    assert_eq!(long.admit(&behind(2)), Err(DropCause::Red));
    assert_eq!(long.admit(&behind(50)), Err(DropCause::Queue));
}

#[test]
fn powers_by_squaring() {
    assert_eq!((power(0.5, 0), power(0.5, 1), power(0.5, 10)), (1.0, 0.5, 0.000_976_562_5));
    assert_eq!(power(0.998, u64::MAX), 0.0);
}

#[test]
fn senseless_parameters_are_named() {
    let message = |config: RedConfig| config.check().unwrap_err().to_string();
    assert_eq!(
        message(RedConfig { maximum_packets: 5.0, ..CONFIG }),
        "queue.minimum_packets: thresholds 5 and 5; allowed: 0 < minimum < maximum"
    );
    assert_eq!(message(RedConfig { weight: 0.0, ..CONFIG }), "queue.weight: 0; allowed: above 0, up to 1");
    let manner = Manner { mean_packet_bytes: 0, ..MANNER };
    assert_eq!(message(RedConfig { manner, ..CONFIG }), "queue.mean_packet_bytes: 0; allowed: 1 or more");
}
