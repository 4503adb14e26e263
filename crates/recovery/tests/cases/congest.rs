//! Reno's windows in an engine.

use crate::script::{UNSET, open, overtaken, spike, text};
use crate::talk::config;

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

/// One segment and half the flight; then slow start by a segment an ACK, however many it acknowledges, until ssthresh is
/// passed.
fn delay_spike() {
    let mut talk = spike(&config("reno-sack"));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (1000, 5500));
    let mut windows = Vec::new();
    for (millis, segment) in [(1200, 2), (1300, 4), (1310, 6), (1320, 8), (1330, 10), (1340, 12)] {
        talk.ack(millis, segment, &[], 1100);
        windows.push(talk.cwnd());
    }
    assert_eq!(windows, [2000, 3000, 4000, 5000, 6000, 6166]);
    assert_eq!(talk.ssthresh(), 5500);
}

/// Half the flight without what Limited Transmit sent; then a segment a round trip, no byte of the division lost:
/// 181.8, 176.8, 171.5, 166.4, 161.8.
fn genuine_loss() {
    let mut talk = overtaken(&config("reno-sack"));
    talk.ack(203, 14, &[], 103);
    let mut windows = vec![talk.cwnd()];
    for segment in 15..=19 {
        talk.ack(288 + segment, segment, &[], 203);
        windows.push(talk.cwnd());
    }
    assert_eq!(windows, [5500, 5681, 5857, 6028, 6194, 6355]);
    assert_eq!(talk.ssthresh(), 5500);
}

/// Overtaking by two changes nothing, by three it halves; what fast recovery sees acknowledged grows nothing.
fn reordering() {
    let mut talk = open(&config("reno-sack"));
    talk.ack(101, 1, &[(3, 3)], 0);
    talk.ack(102, 1, &[(3, 4)], 0);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (11_000, UNSET));
    talk.ack(103, 4, &[], 0);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (12_000, UNSET));

    let mut talk = overtaken(&config("reno-sack"));
    talk.ack(104, 5, &[], 0);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
}

/// An ACK in the place of ten grows the window as one (RFC 5681, equation 2).
fn lost_acks() {
    let mut talk = open(&config("reno-sack"));
    assert_eq!(text(&talk.ack(101, 11, &[], 0)), "13 14 15 16 17 18 19 20 21 22 23");
    assert_eq!(talk.cwnd(), 12_000);
}

fn duplicated_packet() {
    let mut talk = open(&config("reno-sack"));
    for at in 101..=105 {
        talk.ack_with(at, 1, &[], 0, Some(1));
    }
    assert_eq!((talk.cwnd(), talk.ssthresh()), (11_000, UNSET));
}
