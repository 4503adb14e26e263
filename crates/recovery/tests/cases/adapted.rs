//! Senders that learn: how often a segment was retransmitted, that the network reorders, and that data arrives.

use eifel_recovery::congest::Window;
use eifel_recovery::engine::{Config, Event};
use eifel_recovery::registry::Value;

use crate::script::UNSET;
use crate::talk::{Out, Talk, at, config, eifel, twenty};

fn adjusted(talk: &mut Talk) -> Option<(u64, u64)> {
    talk.events().into_iter().find_map(|event| match event {
        Event::Adjusted { window: Window { cwnd, ssthresh }, .. } => Some((cwnd, ssthresh)),
        _ => None,
    })
}

/// Reports segments 3, 4 and 5 above segment 2, so that it is fast retransmitted.
fn three_duplicates(talk: &mut Talk) {
    for last in 3..=5 {
        let sent = talk.ack(197 + last, 1, &[(3, last)], 0);
        assert_eq!(sent.contains(&Out::Again(2)), last == 5, "{sent:?}");
    }
}

/// Returns the window after an undo of `timeouts`, with or without a fast retransmit before. The
/// original's ACK answers.
fn restored(fast: bool, timeouts: u32) -> Option<(u64, u64)> {
    let mut talk = twenty(&eifel("reno-sack", "by-retransmissions"));
    if fast {
        three_duplicates(&mut talk);
    }
    let (mut expired, _) = talk.expire();
    for _ in 1..timeouts {
        (expired, _) = talk.expire();
    }
    talk.events();
    talk.ack(expired + 10, 5, &[], 0);
    adjusted(&mut talk)
}

/// The 21 outstanding segments leave an ssthresh of 10.5.
#[test]
fn a_fast_retransmit_counts_as_a_retransmission_of_the_segment_whose_timer_expires() {
    assert_eq!(restored(false, 1), Some((21_000, UNSET)));
    assert_eq!(restored(false, 2), Some((10_500, 10_500)));
    assert_eq!(restored(true, 1), Some((10_500, 10_500)));
    assert_eq!(restored(true, 2), Some((1000, 10_500)));
}

/// Once the fast retransmit is acknowledged, the timer expires for another segment.
#[test]
fn a_fast_retransmit_of_another_segment_does_not_count() {
    let mut talk = twenty(&eifel("reno-sack", "by-retransmissions"));
    three_duplicates(&mut talk);
    talk.ack(310, 5, &[], 202);
    let before = talk.engine.snapshot();
    let (expired, _) = talk.expire();
    talk.events();
    talk.ack(expired + 10, 6, &[], 0);
    assert_eq!(adjusted(&mut talk), Some((before.cwnd, before.ssthresh)));
}

fn rising(word: &str) -> Talk {
    let base = eifel("rfc6675", "option-1");
    let recover = base.recover.clone().with("after_spurious_fast_retransmit", Value::Word(word.into()));
    twenty(&Config { recover, ..base })
}

/// Lets `length` segments overtake the one behind `una`, and then the ACK of all of them answers the original. Returns
/// the number of duplicates before the fast retransmit; 0 if there was none.
fn overtaken(talk: &mut Talk, begins: u64, una: u64, length: u64) -> u64 {
    let mut fast = 0;
    for more in 1..=length {
        let sent = talk.ack(begins + more, una, &[(una + 2, una + 1 + more)], 0);
        if fast == 0 && sent.contains(&Out::Again(una + 1)) {
            fast = more;
        }
    }
    talk.ack(begins + length + 1, una + 1 + length, &[], 0);
    fast
}

pub fn after_spurious_fast_retransmit() {
    for (word, second) in [("keep", 3), ("one-more", 4), ("above-length", 6)] {
        let mut talk = rising(word);
        assert_eq!(overtaken(&mut talk, 200, 1, 5), 3, "{word}");
        assert_eq!(talk.verdicts().last().map(|verdict| verdict.0.as_str()), Some("Spurious"));
        assert_eq!(overtaken(&mut talk, 210, 7, 7), second, "{word}");
    }
}

#[test]
fn a_shorter_reordering_keeps_a_raised_threshold() {
    let mut talk = rising("above-length");
    assert_eq!(overtaken(&mut talk, 200, 1, 5), 3);
    assert_eq!(overtaken(&mut talk, 210, 7, 5), 0, "as long as the one before");
    assert_eq!(overtaken(&mut talk, 220, 13, 6), 6);
}

#[test]
fn a_timeout_resets_a_raised_threshold() {
    let mut talk = rising("above-length");
    assert_eq!(overtaken(&mut talk, 200, 1, 5), 3);
    let (expired, _) = talk.expire();
    let last = (talk.engine.nxt() - 1) / 1000;
    talk.ack(expired + 100, last, &[], expired);
    assert_eq!(overtaken(&mut talk, expired + 200, last, 3), 3);
}

fn fack(off: bool) -> Talk {
    let base = eifel("fack", "option-1");
    let recover = base.recover.clone().with("off_when_reordered", Value::Switch(off));
    twenty(&Config { recover, ..base })
}

/// Four segments above the hole are enough for FACK at once, and three duplicates for NewReno-SACK.
pub fn off_when_reordered() {
    for off in [false, true] {
        let mut talk = fack(off);
        assert!(talk.ack(200, 1, &[(3, 6)], 0).contains(&Out::Again(2)));
        talk.ack(201, 6, &[], 0);
        assert_eq!(talk.verdicts().last().map(|verdict| verdict.0.as_str()), Some("Spurious"));
        assert_eq!(talk.ack(202, 6, &[(8, 11)], 0).contains(&Out::Again(7)), !off);
        if off {
            assert!(!talk.ack(203, 6, &[(8, 12)], 0).contains(&Out::Again(7)));
            assert!(talk.ack(204, 6, &[(8, 13)], 0).contains(&Out::Again(7)));
            // NewReno-SACK retransmits the next hole at a partial ACK.
            assert_eq!(talk.ack(310, 13, &[(15, 15)], 204).first(), Some(&Out::Again(14)));
        }
    }
}

#[test]
fn a_spurious_timeout_does_not_switch_fack_off() {
    let mut talk = fack(true);
    let (expired, _) = talk.expire();
    talk.ack(expired + 10, 2, &[], 0);
    assert_eq!(talk.verdicts().last().map(|verdict| verdict.0.as_str()), Some("Spurious"));
    assert!(talk.ack(expired + 11, 2, &[(4, 7)], 0).contains(&Out::Again(3)));
}

pub fn restarted_by() {
    for (word, deadline) in [("new-data", 1100), ("duplicates", 1201)] {
        let base = config("reno-sack");
        let rto = base.rto.clone().with("restarted_by", Value::Word(word.into()));
        let mut talk = twenty(&Config { rto, ..base });
        assert_eq!(talk.engine.deadline(), at(1100));
        talk.ack(200, 1, &[(3, 3)], 0);
        talk.ack(201, 1, &[(3, 4)], 0);
        assert_eq!(talk.engine.deadline(), at(deadline), "{word}");
        // An ACK without news is no duplicate of data that has arrived.
        talk.ack(202, 1, &[(3, 4)], 0);
        assert_eq!(talk.engine.deadline(), at(deadline), "{word}");
    }
}

pub fn decay() {
    let ssthresh = |on: bool| {
        let base = eifel("reno-sack", "rfc4015");
        let respond = base.respond.clone().with("decay", Value::Switch(on));
        let congest = base.congest.clone().with("initial_ssthresh_bytes", Value::Integer(22_000));
        let mut talk = twenty(&Config { respond, congest, ..base });
        talk.expire();
        let (expired, _) = talk.expire();
        talk.ack(expired + 10, 5, &[], 0);
        talk.ssthresh()
    };
    // More than the 21 segments that were outstanding, and half of it after the second timeout.
    assert_eq!([ssthresh(false), ssthresh(true)], [22_000, 11_000]);
}
