//! The heuristic in an engine: the smallest round trip is 100 ms, and 2 is retransmitted at 1100
//! ms.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::judged::{check, named, with};
use crate::script::{UNSET, overtaken, spike, text};

const NAME: &str = "min-rtt";
const SOONER: &str = "the ACK comes sooner than a round trip";

pub fn half_srtt() -> Config {
    with(Choice::named(NAME).with("limit", Value::Word("half-srtt".into())))
}

#[test]
fn after_a_second_timeout_an_early_ack_may_answer_the_first_retransmission() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.expire().1), "2r");
    assert_eq!(text(&talk.ack(3101, 2, &[], 0)), "3r 4r");
    check(&mut talk, &[], (2000, 5500));
}

/// A duplicate ACK comes soon, whether 2 arrived or not.
#[test]
fn a_duplicate_ack_gives_no_verdict() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1110, 1, &[(3, 3)], 0)), "");
    check(&mut talk, &[], (1000, 5500));
    assert_eq!(text(&talk.ack(1111, 3, &[], 0)), "13 14 15");
    check(&mut talk, &[("Spurious", SOONER)], (12_000, UNSET));
}

#[test]
fn a_fast_retransmit_is_not_judged() {
    let mut talk = overtaken(&named(NAME));
    assert_eq!(text(&talk.ack(104, 5, &[], 0)), "");
    check(&mut talk, &[], (5500, 5500));
}
