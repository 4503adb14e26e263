//! RFC 5682, section 3.1, in an engine: each branch, and the segments sent on it.

use eifel_recovery::engine::Negotiated;

use crate::judged::{check, named};
use crate::script::{spike, text};
use crate::talk::{Talk, start};

const NAME: &str = "f-rto-sack";

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
fn f_rto_sack_asks_for_no_probe_without_sack() {
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
