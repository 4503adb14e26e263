//! The sender of RFC 5681 alone: no verdict ever, and every loss signal counts as a loss.

use eifel_recovery::engine::Config;

use crate::script::{open, overtaken, spike, text};
use crate::talk::{Talk, eifel};

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

/// A response that would restore everything, if it were asked.
fn blind() -> Config {
    Config { detect: eifel_recovery::registry::Choice::named("none"), ..eifel("reno-sack", "option-1") }
}

fn judged_nothing(mut talk: Talk, window: (u64, u64)) {
    assert_eq!((talk.cwnd(), talk.ssthresh()), window);
    assert_eq!(talk.verdicts(), []);
}

fn delay_spike() {
    let mut talk = spike(&blind());
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    judged_nothing(talk, (2000, 5500));
}

fn genuine_loss() {
    let mut talk = overtaken(&blind());
    assert_eq!(text(&talk.ack(203, 14, &[], 103)), "15 16 17 18 19");
    judged_nothing(talk, (5500, 5500));
}

fn reordering() {
    let mut talk = overtaken(&blind());
    assert_eq!(text(&talk.ack(104, 5, &[], 0)), "");
    judged_nothing(talk, (5500, 5500));
}

fn lost_acks() {
    let mut talk = spike(&blind());
    assert_eq!(text(&talk.ack(3000, 7, &[], 0)), "8r 9r");
    judged_nothing(talk, (2000, 5500));
}

fn duplicated_packet() {
    let mut talk = open(&blind());
    assert_eq!(text(&talk.ack_with(101, 1, &[], 0, Some(1))), "");
    talk.expire();
    assert_eq!(text(&talk.ack_with(3000, 2, &[], 0, Some(2))), "3r 4r");
    judged_nothing(talk, (2000, 5500));
}
