//! Eifel detection in an engine: what is judged, when, and why.

use crate::script::{UNSET, open, overtaken, spike, text};
use crate::talk::{Talk, eifel};

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

const OLDER: &str = "echo older than the first retransmission";
const RETRANSMISSION: &str = "echo of the retransmission";
const ALL: &str = "all acknowledged at once: ACKs may have been lost";
const DSACK: &str = "the first acceptable ACK carries a DSACK";

fn check(talk: &mut Talk, verdicts: &[(&str, &str)], window: (u64, u64)) {
    let found = talk.verdicts();
    let found: Vec<_> = found.iter().map(|(outcome, reason)| (outcome.as_str(), *reason)).collect();
    assert_eq!(found, verdicts);
    assert_eq!((talk.cwnd(), talk.ssthresh()), window);
}

/// Two spikes, each with its own episode and its own window to go back to.
fn delay_spike() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13 14");
    check(&mut talk, &[("Spurious", OLDER)], (12_000, UNSET));
    // RTO is 3512.5 ms; 3's original left at 0, 4's as well.
    assert_eq!(talk.expire().0, 6512);
    check(&mut talk, &[], (1000, 6000));
    assert_eq!(text(&talk.ack(7000, 3, &[], 0)), "15 16");
    check(&mut talk, &[("Spurious", OLDER)], (13_000, UNSET));
    assert_eq!(text(&talk.ack(7001, 4, &[], 0)), "17 18");
    check(&mut talk, &[], (14_000, UNSET));
}

/// A fast retransmit and a timeout, both needed; then fast retransmit and timeout of one segment in one window.
fn genuine_loss() {
    let mut talk = overtaken(&eifel("reno-sack", "option-1"));
    assert_eq!(text(&talk.ack(203, 14, &[], 103)), "15 16 17 18 19");
    check(&mut talk, &[("Genuine", RETRANSMISSION)], (5500, 5500));
    assert_eq!(talk.expire().0, 1203);
    assert_eq!(text(&talk.ack(1303, 15, &[], 1203)), "16r 17r");
    check(&mut talk, &[("Genuine", RETRANSMISSION)], (2000, 2500));

    let mut talk = overtaken(&eifel("reno-sack", "option-1"));
    // The timer began anew with the fast retransmit; 13 outstanding are halved, for Limited Transmit's count now.
    assert_eq!(talk.expire().0, 1103);
    check(&mut talk, &[], (1000, 6500));
    assert_eq!(text(&talk.ack(1203, 2, &[], 1103)), "3r 4r");
    check(&mut talk, &[("Genuine", RETRANSMISSION)], (2000, 6500));
}

/// The echo is the original's, and the fast retransmit is undone; an overtaking by two is no episode.
fn reordering() {
    let mut talk = overtaken(&eifel("reno-sack", "option-1"));
    assert_eq!(text(&talk.ack(104, 5, &[], 0)), "15 16 17");
    check(&mut talk, &[("Spurious", OLDER)], (12_000, UNSET));

    let mut talk = open(&eifel("reno-sack", "option-1"));
    talk.ack(101, 1, &[(3, 3)], 0);
    talk.ack(102, 1, &[(3, 4)], 0);
    assert_eq!(text(&talk.ack(103, 4, &[], 0)), "15 16");
    check(&mut talk, &[], (12_000, UNSET));
}

/// The ACK of everything settles for loss; one of a part, or one for a part of the segment, does not have to.
fn lost_acks() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    assert_eq!(text(&talk.ack(3000, 12, &[], 0)), "13 14");
    check(&mut talk, &[("Genuine", ALL)], (2000, 5500));

    let mut talk = spike(&eifel("reno-sack", "option-1"));
    assert_eq!(text(&talk.ack(3000, 11, &[], 0)), "13 14 15 16 17 18 19 20 21 22 23");
    check(&mut talk, &[("Spurious", OLDER)], (12_000, UNSET));
}

/// A duplicate of segment 1 is no acceptable ACK; a duplicate of 2 on the first acceptable ACK stands for the
/// retransmission; on a later one it changes nothing.
fn duplicated_packet() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    assert_eq!(text(&talk.ack_with(1150, 1, &[], 0, Some(1))), "");
    check(&mut talk, &[], (1000, 5500));
    assert_eq!(text(&talk.ack_with(3000, 3, &[], 0, Some(2))), "4r 5r");
    check(&mut talk, &[("Genuine", DSACK)], (2000, 5500));

    let mut talk = spike(&eifel("reno-sack", "option-1"));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13 14");
    assert_eq!(text(&talk.ack_with(3001, 2, &[], 0, Some(2))), "");
    check(&mut talk, &[("Spurious", OLDER)], (12_000, UNSET));
}
