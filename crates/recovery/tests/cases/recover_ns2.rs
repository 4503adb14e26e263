//! `follows = "ns-2"`: where ns-2.35 and the source of an algorithm differ.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::script::{open, overtaken, spike, text};
use crate::talk::{Talk, config, start};

fn following(name: &str, whom: &str) -> Config {
    Config { recover: Choice::named(name).with("follows", Value::Word(whom.into())), ..config(name) }
}

/// Tests the parameter for each algorithm. In ns-2's go-back-N a duplicate lets a retransmission
/// go, SACKed or not. ns-2's FACK begins fast recovery as soon as 5 is SACKed.
pub fn follows(name: &str) {
    let of_ns2 = if name == "fack" { ["", "2r", "3r"] } else { ["3r", "4r", ""] };
    for (whom, sent) in [("source", ["", "", ""]), ("ns-2", of_ns2)] {
        let mut talk = spike(&following(name, whom));
        let duplicates = [4, 5, 6].map(|last| text(&talk.ack(1146 + last, 1, &[(4, last)], 0)));
        assert_eq!(duplicates, sent, "{name}, {whom}");
    }
}

/// Segments 2 and 8 are lost. All of 3 to 7 and 9 to 12 are SACKed while no more data may be sent.
fn two_losses(whom: &str) -> Talk {
    let mut talk = open(&following("newreno", whom));
    talk.limit = start(13);
    for segment in [3, 4, 5, 6, 7, 9, 10, 11, 12] {
        talk.ack(100 + segment, 1, &[(segment, segment)], 0);
    }
    talk.limit = start(100);
    talk
}

/// cwnd is 5.5 segments, plus 9 for the duplicates, less 6, plus 1. With 5 outstanding there is
/// room for 4.
#[test]
fn a_partial_ack_sends_one_new_segment_or_two_in_ns_2() {
    for (whom, sent, cwnd) in [("source", "8r 13", 2000), ("ns-2", "8r 13 14", 5681)] {
        let mut talk = two_losses(whom);
        assert_eq!(text(&talk.ack(203, 7, &[], 103)), sent, "{whom}");
        // RFC 6582: one segment more than the flight. ns-2: ssthresh, and growth by 1/5.5.
        talk.ack(303, 12, &[], 203);
        assert_eq!(talk.cwnd(), cwnd, "{whom}");
    }
}

/// Three duplicates, and a partial ACK of 6: ns-2 subtracts 3 segments from cwnd for good, and cwnd
/// grows by one at the end.
#[test]
fn a_partial_acks_deflation_is_permanent_in_ns_2() {
    let mut talk = open(&following("newreno", "ns-2"));
    talk.limit = start(13);
    for segment in [3, 4, 5] {
        talk.ack(100 + segment, 1, &[(3, segment)], 0);
    }
    assert_eq!(text(&talk.ack(203, 7, &[], 103)), "8r");
    talk.ack(303, 12, &[], 203);
    assert_eq!(talk.cwnd(), 3500);
}

/// 13 segments are outstanding at the third duplicate. Pipe is 10, and 11 with the fast retransmit, under a cwnd of 5.5.
#[test]
fn ns_2s_pipe_does_not_count_the_fast_retransmit() {
    for (name, whom, silent) in [
        ("reno-sack", "source", 6),
        ("reno-sack", "ns-2", 5),
        ("newreno-sack", "source", 6),
        ("newreno-sack", "ns-2", 5),
    ] {
        let mut talk = overtaken(&following(name, whom));
        let sent = (6..=14).map(|last| talk.ack(98 + last, 1, &[(3, last)], 0).is_empty());
        assert_eq!(sent.take_while(|nothing| *nothing).count(), silent, "{name}, {whom}");
    }
}

/// An ACK that reports nothing new is no duplicate.
#[test]
fn ns_2_counts_only_duplicates_with_new_sack_reports() {
    let mut talk = spike(&following("reno-sack", "ns-2"));
    assert_eq!(text(&talk.ack(1150, 1, &[], 0)), "");
}

/// 2 is lost. ns-2 sends t_seqno while it is at most fack + cwnd - retran_data: 13 <= 9 + 5 - 1.
#[test]
fn ns_2s_fack_begins_with_one_segment() {
    let mut talk = open(&following("fack", "ns-2"));
    let sent: Vec<_> = (3..=10).map(|last| text(&talk.ack(98 + last, 1, &[(3, last)], 0))).collect();
    assert_eq!(sent, ["", "", "2r", "", "", "", "13", "14 15"]);
    // ssthresh is 5.5 segments: five ACKs have opened the window to 6, and each of the next adds a sixth of one.
    talk.ack(203, 12, &[], 103);
    talk.ack(304, 14, &[], 204);
    assert_eq!(talk.cwnd(), 6000 + 1_000_000 / 6000 + 1_000_000 / 6166);
}

/// Any ACK with blocks far enough ahead begins fast recovery, even below the recovery point.
#[test]
fn ns_2s_fack_begins_within_go_back_n() {
    for (whom, sent) in [("source", "3r 4r"), ("ns-2", "3r")] {
        let mut talk = spike(&following("fack", whom));
        assert_eq!(text(&talk.ack(1200, 2, &[(7, 9)], 1100)), sent, "{whom}");
    }
}
