//! RFC 6298 without section 5.3: "When an ACK is received that acknowledges new data, restart the
//! retransmission timer" is left out.

use eifel_base::time::Duration;
use eifel_recovery::registry::{Choice, Value, part};
use eifel_recovery::rto::{RestartedBy, Rto};

use super::rfc6298::{Naive, bounds, sample, with_view};
use crate::dice::Dice;

#[test]
fn a_timer_that_is_never_restarted_computes_the_standard_rto() {
    let mut dice = Dice::new(3);
    for _ in 0..2000 {
        let mut bounds = bounds(&mut dice);
        let least = |time: Duration, least: u64| time.max(Duration::from_nanos(least));
        bounds.slop = Duration::ZERO;
        bounds.initial = least(bounds.initial, 1000);
        bounds.maximum = least(bounds.maximum, 1000);
        bounds.granularity = least(bounds.granularity, 1000);
        let given = [
            ("initial_ms", bounds.initial),
            ("minimum_ms", bounds.minimum),
            ("maximum_ms", bounds.maximum),
            ("granularity_ms", bounds.granularity),
        ];
        let named = Choice::named("never-restarted");
        let choice = given.into_iter().fold(named, |choice, (name, time)| choice.with(name, Value::Duration(time)));
        let mut timer: Box<dyn Rto> = part::rto(&choice).unwrap();
        let mut naive = Naive::new(&bounds);
        assert_eq!(timer.restarted_by(), RestartedBy::Nothing);
        let magnitude = 1 + dice.below(11) as u32;
        for _ in 0..50 {
            if dice.once_in(4) {
                timer.back_off();
                naive.doublings += 1;
            } else {
                let r = dice.of_any_size(magnitude) - 1;
                with_view(|view| timer.sample(&sample(r), view));
                naive.sample(r.into());
            }
            assert_eq!(u128::from(timer.rto().as_nanos()), naive.rto());
        }
    }
}
