//! The heuristic in an engine: the smallest round trip is 100 ms, and 2 leaves again at 1100 ms.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::judged::{check, named, with};
use crate::script::{UNSET, overtaken, spike, text};

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

const NAME: &str = "min-rtt";
const SOONER: &str = "the ACK comes sooner than a round trip";
const LATE: &str = "the ACK comes as late as the retransmission's can";

pub fn half_srtt() -> Config {
    with(Choice::named(NAME).with("limit", Value::Word("half-srtt".into())))
}

/// A spike that ends soon after the timeout is seen, a longer one is not.
fn delay_spike() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1199, 2, &[], 0)), "13 14");
    check(&mut talk, &[("Spurious", SOONER)], (12_000, UNSET));

    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1200, 2, &[], 0)), "3r 4r");
    check(&mut talk, &[("Genuine", LATE)], (2000, 5500));

    // After a second expiry the ACK may be the first retransmission's.
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.expire().1), "2r");
    assert_eq!(text(&talk.ack(3101, 2, &[], 0)), "3r 4r");
    check(&mut talk, &[], (2000, 5500));
}

fn genuine_loss() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1210, 2, &[], 1100)), "3r 4r");
    check(&mut talk, &[("Genuine", LATE)], (2000, 5500));
}

/// A duplicate comes soon, whatever has become of 2; and a fast retransmit is no question.
fn reordering() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1110, 1, &[(3, 3)], 0)), "");
    check(&mut talk, &[], (1000, 5500));
    assert_eq!(text(&talk.ack(1111, 3, &[], 0)), "13 14 15");
    check(&mut talk, &[("Spurious", SOONER)], (12_000, UNSET));

    let mut talk = overtaken(&named(NAME));
    assert_eq!(text(&talk.ack(104, 5, &[], 0)), "");
    check(&mut talk, &[], (5500, 5500));
}

fn lost_acks() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1150, 12, &[], 0)), "13 14 15 16 17 18 19 20 21 22 23 24");
    check(&mut talk, &[("Spurious", SOONER)], (12_000, UNSET));
}

fn duplicated_packet() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack_with(1110, 1, &[], 0, Some(1))), "");
    check(&mut talk, &[], (1000, 5500));
}
