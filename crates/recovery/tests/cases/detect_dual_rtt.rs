//! DualRTT in an engine: MinRTT is 100 ms and tau is 0.1, so NRTT must be below 10 ms.

use eifel_recovery::detect::dual_rtt::Tau;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::judged::with;
use crate::script::{spike, text};
use crate::talk::ms;

const BELOW: &str = "NRTT is below tau MinRTT";

pub fn fixed(thousandths: i64) -> Config {
    let fixed = Choice::named("dual-rtt").with("tau", Value::Word("fixed".into()));
    with(fixed.with("tau_thousandths", Value::Integer(thousandths)))
}

/// Equation 3 with equation 6: 8.022e-3 ln B - 5.803e-2 ln D + 1.463e-6 M.
#[test]
fn tau_of_the_model() {
    let exceeds = |tau: Tau, nrtt| tau.exceeds(ms(nrtt), ms(10_000));
    // 0.178603 of 10 s.
    let tau = Tau::of_path(31_200.0, 0.2, 1500);
    assert!(exceeds(tau, 1786) && !exceeds(tau, 1787));
    // 0.209669.
    let tau = Tau::of_path(1.5e6, 0.2, 1500);
    assert!(exceeds(tau, 2096) && !exceeds(tau, 2097));
    // 0.067582.
    let tau = Tau::of_path(46_800.0, 1.4, 576);
    assert!(exceeds(tau, 675) && !exceeds(tau, 676));
    // tau would be negative, so it is the smallest value that was tried.
    let tau = Tau::of_path(1e6, 30.0, 1500);
    assert!(exceeds(tau, 99) && !exceeds(tau, 100));
}

/// B comes from the bytes of a round trip. In the logarithm, 12 000 to 100 000 bytes in 100 ms are
/// of the same order.
#[test]
fn the_model_takes_over_once_a_round_trip_was_measured() {
    // Before a measurement tau is 0.1, as in the fixed threshold.
    let mut talk = spike(&with(Choice::named("dual-rtt")));
    talk.ack(3000, 2, &[], 0);
    talk.ack(3010, 3, &[], 0);
    assert_eq!(talk.verdicts(), []);

    // 1..=10 and 11..=20 are ten segments per round trip, or 800 kbit/s. With D = 50 ms and M =
    // 1040, tau is 0.284.
    let mut talk = crate::talk::Talk::new(&with(Choice::named("dual-rtt")));
    talk.send();
    for round in 1..=3 {
        talk.ack(100 * round, 10 * round, &[], 100 * (round - 1));
    }
    let (now, _) = talk.expire();
    let first = talk.ack(now + 2000, 31, &[], 300);
    assert_eq!(text(&first), "32r 33r");
    talk.ack(now + 2029, 32, &[], 300);
    assert_eq!(talk.verdicts(), []);
    talk.ack(now + 2029 + 28, 34, &[], 300);
    assert_eq!(talk.verdicts(), [("Spurious".into(), BELOW)]);
}
