//! Properties of every timer of the registry that hold for any input: round trips from 1 us to 100
//! s, 1 to 10^6 segments.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::Window;
use eifel_recovery::detect::Outcome;
use eifel_recovery::registry::{Choice, Seam, Value, part};
use eifel_recovery::rto::{Rto, Sample, TimerChange};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;
use proptest::prelude::*;

use crate::rto_sequences::{build, word};

/// Draws 1 us to 100 s, evenly over the orders of magnitude.
fn rtt() -> impl Strategy<Value = Duration> {
    (0u32..8, 1_000u64..=10_000).prop_map(|(order, nanos)| Duration::from_nanos(nanos * 10u64.pow(order)))
}

/// Draws cwnd and ssthresh of 1 to 10^6 segments of 1000 bytes, or no threshold yet.
fn window() -> impl Strategy<Value = Window> {
    let segments = || (0u32..6, 1u64..=10).prop_map(|(order, digit)| 1000 * digit * 10u64.pow(order));
    let threshold = prop_oneof![4 => segments(), 1 => Just(u64::MAX)];
    (segments(), threshold).prop_map(|(cwnd, ssthresh)| Window { cwnd, ssthresh })
}

#[derive(Clone, Debug)]
enum Step {
    Sample(Duration, Window, u64),
    Settled(Outcome),
    BackOff,
    Change(TimerChange),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (rtt(), window(), 1u64..4).prop_map(|(rtt, window, acked)| Step::Sample(rtt, window, acked)),
        1 => prop_oneof![Just(Outcome::Spurious), Just(Outcome::Genuine)].prop_map(Step::Settled),
        2 => Just(Step::BackOff),
        1 => rtt().prop_map(|rtt| Step::Change(TimerChange::Reseed(rtt))),
        1 => rtt().prop_map(|rtt| Step::Change(TimerChange::RaiseMinimum(rtt))),
        1 => rtt().prop_map(|rtt| Step::Change(TimerChange::RaiseMinimumTo(rtt))),
        1 => Just(Step::Change(TimerChange::HalveMinimum)),
        1 => Just(Step::Change(TimerChange::ResetMinimum)),
        1 => Just(Step::Change(TimerChange::HoldBackOff)),
        1 => Just(Step::Change(TimerChange::ReleaseBackOff)),
    ]
}

fn all() -> impl Strategy<Value = Choice> {
    let names: Vec<_> = Seam::Rto.entries().iter().map(|entry| entry.name).collect();
    prop::sample::select(names).prop_map(Choice::named)
}

fn take(timer: &mut dyn Rto, now: Instant, rtt: Duration, window: Window, acked: u64) {
    let round_trips = RoundTrips::new(true);
    let view = View { now, una: 1, nxt: 1 + window.cwnd, mss: 1000, sack: true, round_trips };
    timer.sample(&Sample { rtt, acked: acked * 1000, window }, &view);
}

fn apply(timer: &mut dyn Rto, now: Instant, step: &Step) {
    match *step {
        Step::Sample(rtt, window, acked) => take(timer, now, rtt, window, acked),
        Step::Settled(outcome) => timer.on_verdict(outcome),
        Step::BackOff => timer.back_off(),
        Step::Change(change) => timer.change(change),
    }
}

fn exact_lite() -> Choice {
    Choice::named("lite").with("clock", word("exact")).with("granularity_ms", Value::Duration(Duration::from_micros(1)))
}

const TICK: Duration = Duration::from_millis(10);
const STEADY: Window = Window { cwnd: 10_000, ssthresh: 8000 };

proptest! {
    /// Nothing overflows or becomes NaN, which would make the RTO 0. Every timer expires in the
    /// future. A timer for an older segment does not expire later.
    #[test]
    fn every_rto_is_positive_and_finite(choice in all(), steps in prop::collection::vec((step(), rtt()), 1..60)) {
        let mut timer = part::rto(&choice).unwrap();
        let mut now = Instant::ZERO + Duration::from_secs(100);
        for (step, pause) in &steps {
            now += *pause;
            apply(&mut *timer, now, step);
            prop_assert!(timer.rto() >= Duration::from_micros(2), "{step:?}: {:?}", timer.rto());
            prop_assert!(timer.rto() < Duration::from_secs(1_000_000_000), "{step:?}: {:?}", timer.rto());
            let expires = timer.expires(now, now);
            prop_assert!(now < expires && expires <= now + timer.rto(), "{:?} {expires:?}", now);
            let older = timer.expires(now, Instant::from_nanos(now.as_nanos() - 7_000_000));
            prop_assert!(older <= expires);
        }
    }

    #[test]
    fn an_expiry_never_shortens_the_rto(choice in all(), steps in prop::collection::vec(step(), 0..30), times in 1..80) {
        let mut timer = part::rto(&choice).unwrap();
        for step in &steps {
            apply(&mut *timer, Instant::ZERO, step);
        }
        for _ in 0..times {
            let before = timer.rto();
            timer.back_off();
            prop_assert!(timer.rto() >= before);
        }
    }

    /// Thesis, section 5.4.4.
    #[test]
    fn rto_e_is_two_ticks_above_the_latest_sample(samples in prop::collection::vec((rtt(), window(), 1u64..4), 1..80)) {
        let mut eifel = build(&Choice::named("eifel"));
        for (rtt, window, acked) in samples {
            take(&mut *eifel, Instant::ZERO, rtt, window, acked);
            prop_assert!(eifel.rto() >= rtt + TICK * 2, "{:?}", eifel.rto());
        }
    }

    /// Thesis, section 5.4.1: when the round trip falls below SRTT_E, RTTVAR_E stays constant and
    /// the RTO does not rise. This fall may raise RTO_L (section 5.3.1).
    #[test]
    fn a_falling_round_trip_never_raises_rto_e(high in rtt(), count in 1usize..60, part in 1u64..100) {
        let mut eifel = build(&Choice::named("eifel"));
        take(&mut *eifel, Instant::ZERO, high, STEADY, 1);
        for _ in 0..count {
            let (before, estimate) = (eifel.rto(), eifel.estimate().unwrap());
            take(&mut *eifel, Instant::ZERO, high * part / 100, STEADY, 1);
            prop_assert!(eifel.rto() <= before);
            // Until SRTT has reached the round trip.
            if estimate.srtt > high * part / 100 + Duration::from_nanos(2) {
                prop_assert_eq!(eifel.estimate().unwrap().rttvar, estimate.rttvar);
            }
        }
    }

    /// Of two samples the longer makes the longer RTO, if both are below SRTT_E or both are not.
    /// Across SRTT_E this need not hold: just above SRTT_E, RTTVAR_E falls, and just below, it
    /// stays constant.
    #[test]
    fn a_longer_sample_makes_a_longer_rto(before in prop::collection::vec(rtt(), 1..30), a in rtt(), b in rtt()) {
        for choice in [Choice::named("eifel"), Choice::named("self-trained")] {
            let after = |last: Option<Duration>| {
                let mut timer = build(&choice);
                for rtt in before.iter().copied().chain(last) {
                    take(&mut *timer, Instant::ZERO, rtt, STEADY, 1);
                }
                (timer.rto(), timer.estimate().unwrap().srtt)
            };
            let srtt = after(None).1;
            if (a < srtt) == (b < srtt) {
                prop_assert!(after(Some(a.min(b))).0 <= after(Some(a.max(b))).0 + Duration::from_nanos(1));
            }
        }
    }

    /// RTO_L and Linux's RTO converge on a constant round trip: no stall on the way, however small the gain.
    #[test]
    fn a_constant_round_trip_brings_the_rto_down_to_it(rtt in rtt()) {
        let mut lite = build(&exact_lite());
        let mut linux = build(&Choice::named("linux"));
        for round in 0..400 {
            take(&mut *lite, Instant::ZERO, rtt, STEADY, 1);
            let view = View { now: Instant::ZERO, una: 2 + round * 100, nxt: 102 + round * 100, mss: 1000, sack: true,
                round_trips: RoundTrips::new(true) };
            linux.sample(&Sample { rtt, acked: 1000, window: STEADY }, &view);
        }
        let slack = Duration::from_micros(2) + Duration::from_nanos(100);
        prop_assert!(lite.rto() <= rtt + slack, "{:?}", lite.rto());
        prop_assert!(linux.rto() <= rtt + Duration::from_millis(200) + slack, "{:?}", linux.rto());
    }

    /// A large flight has a small gain. Within three flights of samples, RTO_E comes down all the
    /// same.
    #[test]
    fn rto_e_does_not_stall_at_large_flights(rtt in rtt(), order in 0u32..4) {
        let flight = 10u64.pow(order);
        let window = Window { cwnd: 2000 * flight, ssthresh: 1000 * flight };
        let mut eifel = build(&Choice::named("eifel"));
        take(&mut *eifel, Instant::ZERO, rtt * 3, window, 1);
        let high = eifel.estimate().unwrap().srtt;
        for _ in 0..3 * flight {
            take(&mut *eifel, Instant::ZERO, rtt, window, 1);
        }
        let left = eifel.estimate().unwrap().srtt.saturating_sub(rtt).as_nanos() as f64;
        // (1 - 1 / (n + 1))^3n is at most 1/8 and at least e^-3.
        prop_assert!(left <= (high - rtt).as_nanos() as f64 / 7.9 + 1.0);
    }

    /// AGG stays in (0, 1]: RTO_AGG never exceeds RTO_E.
    #[test]
    fn rto_agg_is_at_most_rto_e(steps in prop::collection::vec(step(), 1..60)) {
        let mut plain = build(&Choice::named("eifel"));
        let mut trained = build(&Choice::named("self-trained").with("k_per_mille", Value::Integer(999)));
        for step in &steps {
            apply(&mut *plain, Instant::ZERO, step);
            apply(&mut *trained, Instant::ZERO, step);
            prop_assert!(trained.rto() <= plain.rto(), "{:?} {:?}", trained.rto(), plain.rto());
        }
    }
}

/// SRTT 100 ms, RTTVAR 20 ms and GAIN 1/10: a sample of 99.9 ms takes 0.01 ms from the RTO of 300
/// ms. A sample of 100.1 ms, whose DELTA is below RTTVAR, adds 0.01 ms to SRTT and takes a tenth of
/// 19.9 ms from ten times RTTVAR.
#[test]
fn just_above_srtt_e_the_rto_falls_further_than_just_below() {
    let after = |micros| {
        let mut eifel = build(&Choice::named("eifel"));
        let window = Window { cwnd: 10_000, ssthresh: 9000 };
        take(&mut *eifel, Instant::ZERO, Duration::from_millis(100), window, 1);
        take(&mut *eifel, Instant::ZERO, Duration::from_micros(micros), window, 1);
        eifel.rto().as_nanos() / 1000
    };
    assert_eq!((after(99_900), after(100_100)), (299_990, 298_020));
}

/// After a spike SRTT_E falls towards the round trip from above, so DELTA_E stays negative.
/// RTTVAR_E must not stay constant forever because of that. With a flight of 9 segments, (1 -
/// 1/100)^n of RTTVAR_E is left after n samples.
#[test]
fn rto_e_comes_down_after_a_spike() {
    let mut eifel = build(&Choice::named("eifel"));
    for rtt in [100, 100, 5000, 5000].into_iter().chain([100; 4000]) {
        take(&mut *eifel, Instant::ZERO, Duration::from_millis(rtt), Window { cwnd: 10_000, ssthresh: 9000 }, 1);
    }
    assert_eq!(eifel.rto(), Duration::from_millis(120));
}

/// With a million segments in flight, the memory of one round trip lasts a million samples.
#[test]
fn rto_e_follows_at_a_flight_of_a_million() {
    let window = Window { cwnd: 2_000_000_000, ssthresh: 1_000_000_000 };
    let mut eifel = build(&Choice::named("eifel"));
    take(&mut *eifel, Instant::ZERO, Duration::from_secs(100), window, 1);
    for _ in 0..3_000_000 {
        take(&mut *eifel, Instant::ZERO, Duration::from_secs(1), window, 1);
    }
    let srtt = eifel.estimate().unwrap().srtt.as_secs_f64();
    // 1 + 99 e^-3.
    assert!((srtt - 5.9289).abs() < 1e-3, "{srtt}");
}
