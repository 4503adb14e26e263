//! RFC 3708 in an engine: verdicts that come when the episode's data are acknowledged, and what they restore then.

use crate::judged::{check, named};
use crate::script::{UNSET, open, overtaken, spike, text};
use crate::talk::Talk;

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

const NAME: &str = "dsack";
const ALL: &str = "every retransmission has come back as a duplicate";
const NONE: &str = "later data are acknowledged, and no duplicate is reported";
const MIXED: &str = "of what was sent again some had been lost, and some had not";

/// After a spike 2..=6 were sent again before the ACK for everything: 13..=16 go.
fn went_back() -> Talk {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "5r 6r");
    assert_eq!(text(&talk.ack(3009, 12, &[], 0)), "13 14 15 16");
    check(&mut talk, &[], (4000, 5500));
    talk
}

/// The verdict comes with the last DSACK, a round trip after the retransmissions; four are outstanding of eleven.
fn delay_spike() {
    let mut talk = went_back();
    for (at, segment) in [(3090, 2), (3100, 3), (3101, 4), (3102, 5)] {
        assert_eq!(text(&talk.ack_with(at, 12, &[], 0, Some(segment))), "");
    }
    check(&mut talk, &[], (4000, 5500));
    assert_eq!(text(&talk.ack_with(3103, 12, &[], 0, Some(6))), "17 18 19 20 21 22 23");
    check(&mut talk, &[("Spurious", ALL)], (11_000, UNSET));
}

/// 2's retransmission was needed, and what was sent after it is acknowledged.
fn genuine_loss() {
    let mut talk = overtaken(&named(NAME));
    assert_eq!(text(&talk.ack(203, 14, &[], 103)), "15 16 17 18 19");
    check(&mut talk, &[], (5500, 5500));
    talk.ack(303, 15, &[], 203);
    check(&mut talk, &[("Genuine", NONE)], (5681, 5500));

    // Of 2, 3 and 4 only 3 was lost.
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    assert_eq!(text(&talk.ack_with(3050, 2, &[(5, 12)], 0, Some(2))), "");
    assert_eq!(text(&talk.ack(3100, 12, &[], 3000)), "13 14 15");
    assert_eq!(text(&talk.ack_with(3101, 12, &[], 3000, Some(4))), "");
    check(&mut talk, &[], (3000, 5500));
    talk.ack(3200, 13, &[], 3100);
    check(&mut talk, &[("Genuine", MIXED)], (4000, 5500));
}

/// The overtaken segment's second copy is reported.
fn reordering() {
    let mut talk = overtaken(&named(NAME));
    assert_eq!(text(&talk.ack(104, 5, &[], 0)), "");
    assert_eq!(text(&talk.ack_with(203, 5, &[], 0, Some(2)))[..2], *"15");
    check(&mut talk, &[("Spurious", ALL)], (11_000, UNSET));
}

/// Each DSACK is sent once: where one is lost, so is the verdict.
fn lost_acks() {
    let mut talk = went_back();
    for (at, segment) in [(3090, 2), (3100, 3), (3102, 5), (3103, 6)] {
        talk.ack_with(at, 12, &[], 0, Some(segment));
    }
    talk.ack(3110, 13, &[], 3009);
    check(&mut talk, &[("Genuine", MIXED)], (5000, 5500));
}

/// A duplicate of what was never sent again comes from the network, and so may any other.
fn duplicated_packet() {
    let mut talk = open(&named(NAME));
    assert_eq!(text(&talk.ack_with(101, 1, &[], 0, Some(1))), "");
    talk.expire();
    talk.ack(3000, 12, &[], 0);
    talk.ack_with(3100, 12, &[], 0, Some(2));
    talk.ack(3200, 14, &[], 3000);
    assert_eq!(talk.verdicts(), []);
    assert_eq!(talk.ssthresh(), 5500);
}

#[test]
fn a_segment_sent_again_twice_wants_two_duplicates() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.expire().1), "2r");
    talk.ack(4000, 12, &[], 0);
    talk.ack_with(4001, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), []);
    talk.ack_with(4002, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), [("Spurious".into(), ALL)]);
    // A third has nothing to speak for.
    talk.ack_with(4003, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), []);
}

#[test]
fn a_duplicate_of_a_part_of_the_retransmission_speaks_for_neither() {
    use eifel_recovery::engine::{Ack, Block};
    let mut talk = spike(&named(NAME));
    talk.ack(3000, 12, &[], 0);
    let part = Block { start: crate::talk::start(2), end: crate::talk::start(2) + 300 };
    let cumulative = crate::talk::start(13);
    let ack = Ack { cumulative, sacks: &[], dsack: Some(part), echo: None, mark: None, plain: true, ece: false };
    talk.engine.on_ack(talk.now, &ack);
    assert_eq!(talk.verdicts(), []);
    talk.ack_with(3001, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), [("Spurious".into(), ALL)]);
}

#[test]
fn a_late_duplicate_of_the_episode_before_is_not_the_network_s() {
    let mut talk = went_back();
    // The timer expires for 13 before the DSACKs come.
    let (now, again) = talk.expire();
    assert_eq!(text(&again), "13r");
    talk.ack_with(now + 1, 12, &[], 0, Some(3));
    talk.ack(now + 2, 16, &[], 3009);
    assert_eq!(talk.verdicts(), []);
    talk.ack_with(now + 90, 16, &[], 3009, Some(13));
    assert_eq!(talk.verdicts(), [("Spurious".into(), ALL)]);
}

#[test]
fn an_inverted_dsack_is_no_news() {
    use eifel_recovery::engine::{Ack, Block};
    let mut talk = spike(&named(NAME));
    let dsack = Some(Block { start: 5000, end: 4000 });
    let ack = Ack { cumulative: 1001, sacks: &[], dsack, echo: None, mark: None, plain: true, ece: false };
    talk.engine.on_ack(talk.now, &ack);
    talk.ack(3000, 12, &[], 0);
    talk.ack_with(3001, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), [("Spurious".into(), ALL)]);
}

/// Two of three: 5.5 and 3.67 of the 5.5 that were cut are 9.17, beyond 0.7 of 11.
#[test]
fn where_a_part_was_lost_a_response_may_give_part_of_it_back() {
    use eifel_recovery::engine::Config;
    use eifel_recovery::registry::Choice;
    let mixed = |respond: &str, grant: &str| {
        let (respond, grant) = (Choice::named(respond), Choice::named(grant));
        let mut talk = spike(&Config { respond, grant, ..named(NAME) });
        talk.ack(3000, 2, &[], 0);
        talk.ack_with(3050, 2, &[(5, 12)], 0, Some(2));
        talk.ack(3100, 12, &[], 3000);
        talk.ack_with(3101, 12, &[], 3000, Some(4));
        talk.ack(3200, 13, &[], 3100);
        let ssthresh = talk.ssthresh();
        check(&mut talk, &[("Genuine", MIXED)], (4000, ssthresh));
        ssthresh
    };
    assert_eq!(mixed("partial-credit", "always"), 7700);
    assert_eq!(mixed("partial-credit", "once-a-round-trip"), 7700);
    assert_eq!(mixed("option-1", "always"), 5500);
}
