//! RFC 3708 in an engine: verdicts that come when the episode's data is acknowledged, and the
//! windows that they restore then.

use eifel_recovery::registry::{Choice, Value};

use crate::judged::{check, named, with};
use crate::script::{spike, text};
use crate::talk::Talk;

const NAME: &str = "dsack";
const ALL: &str = "every retransmission has come back as a duplicate";
const MIXED: &str = "some retransmissions repaired a loss, and some were spurious";

/// After a spike, 2..=6 were retransmitted before the ACK for everything. Then 13..=16 are sent.
fn went_back() -> Talk {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "5r 6r");
    assert_eq!(text(&talk.ack(3009, 12, &[], 0)), "13 14 15 16");
    check(&mut talk, &[], (4000, 5500));
    talk
}

#[test]
fn a_segment_retransmitted_twice_needs_two_dsacks() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.expire().1), "2r");
    talk.ack(4000, 12, &[], 0);
    talk.ack_with(4001, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), []);
    talk.ack_with(4002, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), [("Spurious".into(), ALL)]);
    // A third duplicate has no retransmission to match.
    talk.ack_with(4003, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), []);
}

#[test]
fn a_dsack_of_a_part_of_the_retransmission_proves_neither_outcome() {
    use eifel_recovery::engine::{Ack, Block};
    let mut talk = spike(&named(NAME));
    talk.ack(3000, 12, &[], 0);
    let part = Block { start: crate::talk::start(2), end: crate::talk::start(2) + 300 };
    let cumulative = crate::talk::start(13);
    let ack = Ack { cumulative, sacks: &[], dsacks: &[part], echo: None, mark: None, plain: true, ece: false };
    talk.engine.on_ack(talk.now, &ack);
    assert_eq!(talk.verdicts(), []);
    talk.ack_with(3001, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), [("Spurious".into(), ALL)]);
}

#[test]
fn a_late_dsack_of_the_previous_episode_is_no_network_duplicate() {
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
fn an_inverted_dsack_is_ignored() {
    use eifel_recovery::engine::{Ack, Block};
    let mut talk = spike(&named(NAME));
    let dsacks = &[Block { start: 5000, end: 4000 }];
    let ack = Ack { cumulative: 1001, sacks: &[], dsacks, echo: None, mark: None, plain: true, ece: false };
    talk.engine.on_ack(talk.now, &ack);
    talk.ack(3000, 12, &[], 0);
    talk.ack_with(3001, 12, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), [("Spurious".into(), ALL)]);
}

/// 2 is retransmitted. Its DSACK comes when data that was sent a round trip after later data is
/// acknowledged.
pub fn waits() {
    for (word, then, late) in [("round-trip", Some("Genuine"), None), ("next-loss", None, Some("Spurious"))] {
        let mut talk = spike(&with(Choice::named(NAME).with("waits", Value::Word(word.into()))));
        talk.ack(3000, 12, &[], 0);
        talk.ack(3100, 13, &[], 3000);
        let sent_by_then = (talk.engine.nxt() - 1) / crate::talk::MSS;
        talk.ack(3200, sent_by_then, &[], 3100);
        assert_eq!(talk.verdicts().first().map(|verdict| verdict.0.as_str()), then, "{word}");
        talk.ack_with(3201, sent_by_then, &[], 3100, Some(2));
        assert_eq!(talk.verdicts().first().map(|verdict| verdict.0.as_str()), late, "{word}");
    }
}

/// Two of three retransmissions were needless: 5.5 plus 3.67 of the 5.5 segments that were cut is
/// 9.17, above 0.7 of 11.
#[test]
fn a_mixed_verdict_may_restore_a_part_of_the_window() {
    use eifel_recovery::engine::Config;
    let mixed = |respond: &str, grant: &str| {
        let (respond, grant) = (Choice::named(respond), Choice::named(grant));
        let mut talk = spike(&Config { respond, grant, ..named(NAME) });
        talk.ack(3000, 2, &[], 0);
        talk.ack_with(3050, 2, &[(5, 12)], 0, Some(2));
        talk.ack(3100, 12, &[], 3000);
        talk.ack_with(3101, 12, &[], 3000, Some(4));
        talk.ack(3200, 13, &[], 3100);
        assert_eq!(talk.verdicts(), [], "a DSACK may have been overtaken");
        let sent_by_then = (talk.engine.nxt() - 1) / crate::talk::MSS;
        talk.ack(3300, sent_by_then, &[], 3200);
        let ssthresh = talk.ssthresh();
        check(&mut talk, &[("Genuine", MIXED)], (5000, ssthresh));
        ssthresh
    };
    assert_eq!(mixed("partial-credit", "always"), 7700);
    assert_eq!(mixed("partial-credit", "once-a-round-trip"), 7700);
    assert_eq!(mixed("option-1", "always"), 5500);
}
