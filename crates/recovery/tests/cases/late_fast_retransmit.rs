//! Duplicate ACKs that come after the timeout of their segment.

use eifel_recovery::engine::{Config, Event};
use eifel_recovery::registry::{Choice, Value};

use crate::script::{UNSET, open, spike, text};
use crate::talk::{Talk, config, eifel};

/// The original Reno, in which every third duplicate begins a fast retransmit, with or without
/// suppression.
fn recover(suppress: bool) -> Choice {
    Choice::named("reno")
        .with("suppress_late_fast_retransmit", Value::Switch(suppress))
        .with("bugfix", Value::Switch(false))
        .with("limited_transmit", Value::Switch(false))
}

fn lite(suppress: bool) -> Config {
    Config { recover: recover(suppress), respond: Choice::named("option-1"), ..config("reno") }
}

fn duplicates(talk: &mut Talk, from: u64, count: u64) -> Vec<String> {
    (0..count).map(|d| text(&talk.ack(from + d, 1, &[], 0))).collect()
}

fn window(talk: &Talk) -> (u64, u64) {
    (talk.cwnd(), talk.ssthresh())
}

/// Segment 2 is lost, and only its timer retransmits it. The ACK of everything lets twelve segments
/// go.
#[test]
fn the_third_duplicate_after_the_timeout_restores_the_window() {
    let mut talk = spike(&lite(true));
    assert_eq!(window(&talk), (1000, 5500));
    assert_eq!(duplicates(&mut talk, 1200, 2), ["", ""]);
    assert_eq!(window(&talk), (1000, 5500));
    assert_eq!(duplicates(&mut talk, 1202, 8), [""; 8]);
    assert_eq!(window(&talk), (11_000, UNSET));
    assert_eq!(text(&talk.ack(1300, 12, &[], 1100)), "13 14 15 16 17 18 19 20 21 22 23 24");
    let adjusted = talk.events().into_iter().filter(|event| matches!(event, Event::Adjusted { .. })).count();
    assert_eq!(adjusted, 1);
}

/// Without a response, the timeout stays. Nor does the third duplicate begin a fast retransmit.
#[test]
fn the_response_decides_what_is_restored() {
    let mut talk = spike(&Config { recover: recover(true), ..config("reno") });
    assert_eq!(duplicates(&mut talk, 1200, 5), [""; 5]);
    assert_eq!(window(&talk), (1000, 5500));
}

/// The duplicates report a loss right after the first undo, so this grant refuses the second. The
/// sender goes back N, as after a genuine timeout.
#[test]
fn a_grant_that_refuses_leaves_the_window_of_the_timeout() {
    for (grant, restored) in [("always", true), ("unless-losses-follow", false)] {
        let mut talk = spike(&Config { grant: Choice::named(grant), ..lite(true) });
        duplicates(&mut talk, 1200, 3);
        assert_eq!(window(&talk), (11_000, UNSET), "{grant} grants the first");
        assert_eq!(text(&talk.ack(1300, 2, &[], 1100)), "13 14");
        let (expired, _) = talk.expire();
        let sent = (1..=3).flat_map(|d| talk.ack(expired + d, 2, &[], 1100)).collect::<Vec<_>>();
        assert_eq!(text(&sent), "", "{grant}");
        assert_eq!(talk.cwnd() > 1000, restored, "{grant}");
        let next = text(&talk.ack(expired + 100, 3, &[], 1100));
        assert_eq!(next.contains('r'), !restored, "{grant}: {next}");
    }
}

/// Without suppression, fast recovery competes with the timeout, and inflates a window that was
/// halved twice.
#[test]
fn without_suppression_the_third_duplicate_begins_a_fast_retransmit() {
    let mut talk = spike(&lite(false));
    assert_eq!(duplicates(&mut talk, 1200, 3), ["", "", "2r"]);
    assert_eq!(window(&talk), (5500, 5500));
}

/// As in figure 5-17: two duplicates, the timeout, and then the third.
#[test]
fn duplicates_before_the_timeout_count() {
    let mut talk = open(&lite(true));
    assert_eq!(duplicates(&mut talk, 1000, 2), ["", ""]);
    assert_eq!(talk.expire().0, 1100);
    assert_eq!(window(&talk), (1000, 5500));
    assert_eq!(duplicates(&mut talk, 1150, 1), [""]);
    assert_eq!(window(&talk), (11_000, UNSET));
}

#[test]
fn after_two_timeouts_duplicates_restore_nothing_and_retransmit_nothing() {
    let mut talk = spike(&lite(true));
    assert_eq!(talk.expire().0, 3100);
    assert_eq!(duplicates(&mut talk, 3200, 5), [""; 5]);
    assert_eq!(window(&talk), (1000, 5500));
    assert_eq!(text(&talk.ack(3300, 2, &[], 3100)), "3r 4r");
}

/// The fast retransmit was lost. Later duplicates of its segment change nothing.
#[test]
fn duplicates_after_a_fast_retransmit_and_its_timeout_restore_nothing() {
    let mut talk = open(&lite(true));
    assert_eq!(duplicates(&mut talk, 101, 3), ["", "", "2r"]);
    assert_eq!(talk.expire().0, 1103);
    let halved = window(&talk);
    assert_eq!(halved.0, 1000);
    assert_eq!(duplicates(&mut talk, 1200, 5), [""; 5]);
    assert_eq!(window(&talk), halved);
}

/// Segment 3 is lost as well: its own duplicates begin a fast retransmit.
#[test]
fn the_next_segments_duplicates_begin_a_fast_retransmit() {
    let mut talk = spike(&lite(true));
    duplicates(&mut talk, 1200, 3);
    assert_eq!(text(&talk.ack(1300, 2, &[], 1100)), "13 14");
    let sent: Vec<_> = (0..3).map(|d| text(&talk.ack(1301 + d, 2, &[], 1100))).collect();
    assert_eq!(sent, ["", "", "3r"]);
}

/// The detector's verdict comes later, and the episode is already settled.
#[test]
fn a_detectors_later_verdict_changes_nothing() {
    let mut talk = spike(&Config { recover: recover(true), ..eifel("reno", "option-1") });
    duplicates(&mut talk, 1200, 3);
    assert_eq!(window(&talk), (11_000, UNSET));
    assert_eq!(text(&talk.ack(1300, 6, &[], 0)), "13 14 15 16 17 18");
    assert_eq!(talk.verdicts().len(), 1);
    assert_eq!(window(&talk), (12_000, UNSET));
}

/// An ACK of new data resets the count of timeouts, so no duplicate is late.
#[test]
fn without_a_timeout_the_third_duplicate_begins_a_fast_retransmit() {
    let mut talk = open(&lite(true));
    assert_eq!(duplicates(&mut talk, 101, 3), ["", "", "2r"]);
    let mut talk = spike(&lite(true));
    assert_eq!(text(&talk.ack(1200, 3, &[], 1100)), "4r 5r");
    let after = (0..3).map(|d| text(&talk.ack(1201 + d, 3, &[], 1100))).collect::<Vec<_>>();
    assert_eq!(after, ["", "", "4r"]);
}
