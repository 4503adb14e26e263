//! A timer driven over a series: the timeout that each segment ran against, and the effect of a
//! spurious timeout.

use eifel_recovery::congest::Window;
use eifel_recovery::registry::{Choice, Value};
use eifel_recovery::rto::Sample;
use eifel_recovery::rto::series::{Arrival, Point, Settings, drive};
use eifel_recovery::rtt::Sampling;

use crate::rto_sequences::{build, word};
use crate::talk::{at, ms};

/// Drives the timer over ACKs of one segment at these instants, with these round trips, in
/// milliseconds.
fn over(choice: &Choice, detected: bool, series: &[(u64, u64)]) -> Vec<Point> {
    let mut timer = build(choice);
    let arrivals = series.iter().map(|&(now, rtt)| Arrival {
        now: at(now),
        sample: Sample { rtt: ms(rtt), acked: 1000, window: Window { cwnd: 4000, ssthresh: 3000 } },
        flight: 4000,
    });
    let settings = Settings { mss: 1000, sampling: Sampling::EachAck, detected };
    drive(&mut *timer, &settings, arrivals).collect()
}

fn millis(points: &[Point]) -> Vec<u64> {
    points.iter().map(|point| point.rexmt.as_nanos() / 1_000_000).collect()
}

/// The RTO is 300 ms after the first sample. The segment that was sent at 25 ms is acknowledged at
/// 125; the ACK at 100 ms grants it another 300 ms, or 300 ms since it was sent.
#[test]
fn the_timer_counts_from_the_transmission() {
    let exact = Choice::named("lite").with("clock", word("exact")).with("granularity_ms", Value::Duration(ms(1)));
    let series = [(100, 100), (125, 100)];
    assert_eq!(millis(&over(&exact, false, &series)), [3000, 75 + 300]);
    assert_eq!(millis(&over(&exact.with("restart", word("age")), false, &series)), [3000, 300]);
}

/// A segment sent after the last ACK was in flight alone, so its timer was started when it was
/// sent.
#[test]
fn a_later_segment_has_a_full_rto() {
    let points = over(&Choice::named("fixed"), false, &[(100, 100), (5000, 100), (9000, 3000)]);
    assert_eq!(millis(&points), [1000, 1000, 1000]);
    assert_eq!(points.iter().map(|point| point.expired).collect::<Vec<_>>(), [false, false, true]);
}

/// The sample is 800 ms, against an RTO of 300 x 11 / 12. The verdict moves AGG half-way to 1,
/// before the sample takes 1/12 of it.
#[test]
fn a_detected_spurious_timeout_trains_the_self_trained_timer() {
    let trained = Choice::named("self-trained").with("k_per_mille", Value::Integer(500));
    let after = |detected| {
        let points = over(&trained, detected, &[(100, 100), (1000, 800)]);
        assert!(points[1].expired);
        points[1].rto.as_nanos() as f64 / 1e6
    };
    // DELTA 700, GAIN 1/4: SRTT 275, RTTVAR 50 + 650 / 4, fourfold; AGG 23/24 or 11/12, times 11/12.
    assert!((after(true) - 1125.0 * 23.0 / 24.0 * 11.0 / 12.0).abs() < 1e-3);
    assert!((after(false) - 1125.0 * 11.0 / 12.0 * 11.0 / 12.0).abs() < 1e-3);
}

/// An ACK at the very instant of the expiry is in time: 1000 ms after the transmission, with a
/// fixed timer.
#[test]
fn an_ack_at_the_last_instant_is_in_time() {
    let expired = |rtt: u64| over(&Choice::named("fixed"), false, &[(5000, rtt)])[0].expired;
    assert_eq!([expired(1000), expired(1001)], [false, true]);
}

/// Linux's timer lowers its deviation once per round trip. Four segments are in flight behind the
/// acknowledged one, so round trips end with the sixth and the eleventh ACK. The latter takes a
/// quarter of the difference between 800 ms and the minimum.
#[test]
fn a_round_trip_ends_when_its_flight_is_acknowledged() {
    let series: Vec<_> = (0..12).map(|at| (1000 + 50 * at, 400)).collect();
    let points = over(&Choice::named("linux"), false, &series);
    let rto: Vec<_> = points.iter().map(|point| point.rto.as_nanos() / 1_000_000).collect();
    assert_eq!(rto[..10], [1200; 10]);
    assert_eq!(rto[10..], [1050; 2]);
}
