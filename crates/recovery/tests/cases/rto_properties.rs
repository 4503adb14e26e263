//! Properties of the timer that hold for any samples.

use eifel_base::time::Duration;
use eifel_recovery::rto::rfc6298::{Bounds, Ends, Rfc6298};
use eifel_recovery::rto::{Rto, TimerChange};
use eifel_recovery::rtt::RoundTrips;
use proptest::prelude::*;

use crate::script::{of, view};

/// Draws 1 us to 100 s, evenly over the orders of magnitude.
fn rtt() -> impl Strategy<Value = Duration> {
    (0u32..8, 1_000u64..10_000).prop_map(|(order, nanos)| Duration::from_nanos(nanos * 10u64.pow(order)))
}

/// Draws minimum, maximum, granularity, and an initial value between the bounds.
fn bounds() -> impl Strategy<Value = Bounds> {
    (0u64..2_000_000, 0u64..120_000_000, 0u64..600_000, 0u64..=100).prop_map(|(minimum, above, granularity, part)| {
        let (minimum, maximum) = (Duration::from_micros(minimum), Duration::from_micros(minimum + above + 1));
        let initial = minimum + (maximum - minimum) * part / 100;
        Bounds { initial, minimum, maximum, granularity: Duration::from_micros(granularity), slop: Duration::ZERO }
    })
}

#[derive(Clone, Debug)]
enum Step {
    Sample(Duration),
    BackOff,
    Change(TimerChange),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => rtt().prop_map(Step::Sample),
        3 => Just(Step::BackOff),
        1 => rtt().prop_map(|rtt| Step::Change(TimerChange::Reseed(rtt))),
        1 => Just(Step::Change(TimerChange::HoldBackOff)),
        1 => Just(Step::Change(TimerChange::ReleaseBackOff)),
    ]
}

proptest! {
    #[test]
    fn never_below_the_minimum_nor_above_the_maximum(
        bounds in bounds(),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut timer = Rfc6298::timer(bounds, Ends::Sample);
        let round_trips = RoundTrips::new(true);
        for step in steps {
            let before = timer.rto();
            match step {
                Step::Sample(rtt) => timer.sample(&of(rtt), &view(&round_trips)),
                Step::BackOff => {
                    timer.back_off();
                    prop_assert!(timer.rto() >= before, "monotone in back-off");
                    prop_assert_eq!(timer.rto(), (before * 2).min(bounds.maximum));
                }
                Step::Change(change) => timer.change(change),
            }
            prop_assert!(timer.rto() >= bounds.minimum);
            prop_assert!(timer.rto() <= bounds.maximum);
        }
    }

    #[test]
    fn any_number_of_expiries_stays_within_the_maximum(rtt in rtt(), expiries in 1usize..200) {
        let maximum = Duration::MAX;
        let bounds = Bounds { initial: rtt, minimum: Duration::ZERO, maximum, granularity: Duration::ZERO, slop: Duration::ZERO };
        let mut timer = Rfc6298::timer(bounds, Ends::Sample);
        timer.sample(&of(rtt), &view(&RoundTrips::new(true)));
        for _ in 0..expiries {
            let before = timer.rto();
            timer.back_off();
            prop_assert!(timer.rto() >= before);
        }
    }

    #[test]
    fn srtt_lies_between_the_samples_and_rttvar_below_the_largest(
        samples in prop::collection::vec(rtt(), 1..80),
    ) {
        let bounds = Bounds {
            initial: Duration::from_secs(1),
            minimum: Duration::ZERO,
            maximum: Duration::MAX,
            granularity: Duration::from_micros(1),
            slop: Duration::ZERO,
        };
        let mut timer = Rfc6298::timer(bounds, Ends::Sample);
        let (mut least, mut most) = (Duration::MAX, Duration::ZERO);
        for rtt in samples {
            (least, most) = (least.min(rtt), most.max(rtt));
            timer.sample(&of(rtt), &view(&RoundTrips::new(true)));
            let estimate = timer.estimate().expect("a sample");
            prop_assert!(estimate.srtt <= most);
            // Each step rounds down by less than a nanosecond, and the next step takes an eighth of
            // that back.
            prop_assert!(estimate.srtt + Duration::from_nanos(8) >= least);
            prop_assert!(estimate.rttvar <= most);
            prop_assert!(timer.rto() >= estimate.srtt + bounds.granularity);
        }
    }
}
