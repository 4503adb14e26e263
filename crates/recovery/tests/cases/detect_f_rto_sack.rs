//! RFC 5682, section 3.1, in an engine: each branch, and what leaves for it.

use eifel_recovery::engine::Negotiated;

use crate::judged::{check, named};
use crate::script::{UNSET, overtaken, spike, text};
use crate::talk::{Talk, start};

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

const NAME: &str = "f-rto-sack";
const SPURIOUS: &str = "what was outstanding arrives before the new data";
const ABOVE: &str = "the new data are reported before what was outstanding";
const ALL: &str = "the first ACK covers everything outstanding";
const NO_NEWS: &str = "a duplicate ACK without news answers the new data";

/// Steps 2b and 3b, by a cumulative ACK and by a block below the recovery point.
fn delay_spike() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13 14");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "15");
    check(&mut talk, &[("Spurious", SPURIOUS)], (12_000, UNSET));

    // 3 was lost in the spike: 4 says that 2's timeout was spurious all the same.
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13 14");
    talk.ack(3001, 2, &[(4, 4)], 0);
    check(&mut talk, &[("Spurious", SPURIOUS)], (11_000, UNSET));
}

/// Step 3a: the new data arrive, and nothing that was outstanding has.
fn genuine_loss() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1200, 2, &[], 1100)), "13 14");
    assert_eq!(text(&talk.ack(1300, 2, &[(13, 13)], 1100)), "3r 4r");
    check(&mut talk, &[("Genuine", ABOVE)], (3000, 5500));

    // Only 2 was lost; 3..=12 had arrived, and 13 has too.
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1200, 12, &[], 1100)), "13 14");
    check(&mut talk, &[("Genuine", ALL)], (2000, 5500));

    let mut talk = overtaken(&named(NAME));
    assert_eq!(text(&talk.ack(203, 14, &[], 103)), "15 16 17 18 19");
    check(&mut talk, &[], (5500, 5500));
}

/// Duplicates before the first ACK that advances only tell what has arrived: where the basic form gives up.
fn reordering() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 1, &[(3, 3)], 0)), "");
    check(&mut talk, &[], (1000, 5500));
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "13 14");
    assert_eq!(text(&talk.ack(3002, 4, &[], 0)), "15 16");
    check(&mut talk, &[("Spurious", SPURIOUS)], (12_000, UNSET));

    let mut talk = overtaken(&named(NAME));
    assert_eq!(text(&talk.ack(104, 5, &[], 0)), "");
    check(&mut talk, &[], (5500, 5500));
}

fn lost_acks() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 7, &[], 0)), "13 14");
    assert_eq!(text(&talk.ack(3001, 9, &[], 0)), "15 16 17 18 19 20 21");
    check(&mut talk, &[("Spurious", SPURIOUS)], (12_000, UNSET));

    // The next ACK covers the new data as well: they were reported no later than the rest.
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 7, &[], 0)), "13 14");
    assert_eq!(text(&talk.ack(3100, 13, &[], 0)), "15 16");
    check(&mut talk, &[("Genuine", ABOVE)], (3000, 5500));
}

/// A duplicate in the place of an answer, and old blocks beside a DSACK.
fn duplicated_packet() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13 14");
    assert_eq!(text(&talk.ack_with(3001, 2, &[(8, 9)], 0, Some(1))), "3r");
    check(&mut talk, &[("Genuine", NO_NEWS)], (3000, 5500));

    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack_with(1150, 1, &[], 0, Some(1))), "");
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13 14");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "15");
    check(&mut talk, &[("Spurious", SPURIOUS)], (12_000, UNSET));
}

#[test]
fn without_new_data_or_room_for_it_recovery_goes_on_as_ever() {
    for limits in [|talk: &mut Talk| talk.end = start(13), |talk: &mut Talk| talk.limit = start(13)] {
        let mut talk = spike(&named(NAME));
        limits(&mut talk);
        assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
        check(&mut talk, &[("Genuine", "there is no new data to send")], (2000, 5500));
    }
}

#[test]
fn without_sack_it_does_not_ask() {
    let mut talk = Talk::with(&named(NAME), Negotiated { mss: 1000, sack: false, timestamps: true });
    talk.send();
    talk.ack(100, 1, &[], 0);
    talk.expire();
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "5r 6r");
    check(&mut talk, &[], (3000, 5500));
}

#[test]
fn a_timeout_during_recovery_from_another_is_no_question() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1200, 2, &[], 1100)), "13 14");
    assert_eq!(text(&talk.ack(1300, 2, &[(13, 13)], 1100)), "3r 4r");
    talk.events();
    assert_eq!(text(&talk.expire().1), "3r");
    assert_eq!(text(&talk.ack(9000, 3, &[], 1300)), "4r 5r");
    assert_eq!(talk.verdicts(), []);
}
