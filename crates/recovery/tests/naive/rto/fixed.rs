//! A timer that does not measure.

use eifel_recovery::registry::Choice;

use super::pair::{BackOff, Naive, Taken, compare, milliseconds};

struct Fixed(BackOff);

impl Naive for Fixed {
    fn sample(&mut self, _: &Taken) {
        self.0.sampled();
    }
    fn reseed(&mut self, _: u64) {}
    fn reseed_at_least(&mut self, _: u64, _: u64, _: u64) {}
    fn back_off(&mut self) -> &mut BackOff {
        &mut self.0
    }
    fn rto(&self) -> f64 {
        self.0.rto(None)
    }
    fn estimate(&self) -> Option<(f64, f64)> {
        None
    }
}

#[test]
fn the_fixed_timer_ignores_samples() {
    compare(11, &mut |dice| {
        let (rto, maximum) = (1000 * dice.of_any_size(6), 1000 * dice.of_any_size(8));
        let choice = Choice::named("fixed").with("rto_ms", milliseconds(rto)).with("maximum_ms", milliseconds(maximum));
        (choice, Box::new(Fixed(BackOff::new(rto, rto, maximum))))
    });
}
