//! DualRTT in an engine: MinRTT is 100 ms, and tau 0.1, so that NRTT has to be below 10 ms.

use eifel_recovery::detect::dual_rtt::Tau;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::judged::{check, with};
use crate::script::{UNSET, overtaken, spike, text};
use crate::talk::ms;

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

const BELOW: &str = "NRTT is below tau MinRTT";
const NEVER: &str = "NRTT was never below tau MinRTT";

pub fn fixed(thousandths: i64) -> Config {
    let fixed = Choice::named("dual-rtt").with("tau", Value::Word("fixed".into()));
    with(fixed.with("tau_thousandths", Value::Integer(thousandths)))
}

/// 2's NRTT is 1900 ms. 3 and 4 leave again at 3000; the ACK of 3's original comes 9 ms later.
fn delay_spike() {
    let mut talk = spike(&fixed(100));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    check(&mut talk, &[], (2000, 5500));
    assert_eq!(text(&talk.ack(3009, 3, &[], 0)), "13 14 15");
    check(&mut talk, &[("Spurious", BELOW)], (12_000, UNSET));

    // 10 ms are not less than 10 ms, and 4's NRTT is 11 ms; 5's and 6's are none.
    let mut talk = spike(&fixed(100));
    talk.ack(3000, 2, &[], 0);
    assert_eq!(text(&talk.ack(3010, 3, &[], 0)), "5r 6r");
    assert_eq!(text(&talk.ack(3011, 4, &[], 0)), "7r 8r");
    check(&mut talk, &[], (4000, 5500));
    talk.ack(3012, 5, &[], 0);
    check(&mut talk, &[("Spurious", BELOW)], (12_000, UNSET));
}

/// Each retransmission takes a round trip.
fn genuine_loss() {
    let mut talk = spike(&fixed(100));
    assert_eq!(text(&talk.ack(1200, 2, &[], 1100)), "3r 4r");
    assert_eq!(text(&talk.ack(1300, 4, &[], 1200)), "5r 6r 7r");
    assert_eq!(text(&talk.ack(1400, 7, &[], 1300)), "8r 9r 10r 11r");
    assert_eq!(text(&talk.ack(1500, 11, &[], 1400)), "12r 13 14 15 16");
    check(&mut talk, &[], (5000, 5500));
    talk.ack(1600, 12, &[], 1500);
    check(&mut talk, &[("Genuine", NEVER)], (6000, 5500));
}

/// A fast retransmit is no question, though its ACK follows after 1 ms.
fn reordering() {
    let mut talk = overtaken(&fixed(100));
    assert_eq!(text(&talk.ack(104, 5, &[], 0)), "");
    check(&mut talk, &[], (5500, 5500));
}

/// The highest segment covered counts: 7 was not sent again, 9 was.
fn lost_acks() {
    let mut talk = spike(&fixed(100));
    assert_eq!(text(&talk.ack(3000, 7, &[], 0)), "8r 9r");
    check(&mut talk, &[], (2000, 5500));
    assert_eq!(text(&talk.ack(3005, 9, &[], 0)), "13 14 15 16 17 18 19 20 21");
    check(&mut talk, &[("Spurious", BELOW)], (12_000, UNSET));

    let mut talk = spike(&fixed(100));
    assert_eq!(text(&talk.ack(3000, 12, &[], 0)), "13 14");
    check(&mut talk, &[("Genuine", NEVER)], (2000, 5500));
}

/// An ACK that covers nothing new has no NRTT.
fn duplicated_packet() {
    let mut talk = spike(&fixed(100));
    assert_eq!(text(&talk.ack_with(1101, 1, &[], 0, Some(1))), "");
    check(&mut talk, &[], (1000, 5500));
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
    // It would be negative: the least that was tried.
    let tau = Tau::of_path(1e6, 30.0, 1500);
    assert!(exceeds(tau, 99) && !exceeds(tau, 100));
}

/// A round trip's bytes are B: 12 000 to 100 000 of them in 100 ms are of the same order in the logarithm.
#[test]
fn the_model_takes_over_once_a_round_trip_was_measured() {
    // Before: 0.1, as the fixed threshold.
    let mut talk = spike(&with(Choice::named("dual-rtt")));
    talk.ack(3000, 2, &[], 0);
    talk.ack(3010, 3, &[], 0);
    assert_eq!(talk.verdicts(), []);

    // 1..=10 and 11..=20: ten segments a round trip, 800 kbit/s; D = 50 ms, M = 1040: tau is 0.284.
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
