//! Eifel detection by one bit in an engine: what is judged, when, and why.

use eifel_recovery::engine::Config;
use eifel_recovery::fact::Mark;
use eifel_recovery::registry::Choice;

use crate::script::{UNSET, open, overtaken, spike, text};
use crate::talk::{Talk, eifel};

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

const ORIGINAL: &str = "answers an original";
const RETRANSMISSION: &str = "answers a retransmission";
const SINCE: &str = "acknowledges data sent since: the retransmission's ACK may have been lost";

fn bit() -> Config {
    Config { detect: Choice::named("eifel-bit"), ..eifel("reno-sack", "option-1") }
}

/// The echoes are of no matter, so they say the opposite.
fn ack(talk: &mut Talk, millis: u64, segment: u64, sacks: &[(u64, u64)], mark: Mark) -> String {
    talk.mark = Some(mark);
    let echo = if mark == Mark::Original { millis } else { 0 };
    text(&talk.ack(millis, segment, sacks, echo))
}

fn check(talk: &mut Talk, verdicts: &[(&str, &str)], window: (u64, u64)) {
    let found = talk.verdicts();
    let found: Vec<_> = found.iter().map(|(outcome, reason)| (outcome.as_str(), *reason)).collect();
    assert_eq!(found, verdicts);
    assert_eq!((talk.cwnd(), talk.ssthresh()), window);
}

/// The window is 11 again, and 12 for the ACK; without marks there is no knowing.
fn delay_spike() {
    let mut talk = spike(&bit());
    assert_eq!(ack(&mut talk, 3000, 2, &[], Mark::Original), "13 14");
    check(&mut talk, &[("Spurious", ORIGINAL)], (12_000, UNSET));

    let mut talk = spike(&bit());
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    check(&mut talk, &[("Genuine", "no marks agreed on")], (2000, 5500));
}

fn genuine_loss() {
    let mut talk = overtaken(&bit());
    assert_eq!(ack(&mut talk, 203, 14, &[], Mark::Retransmission), "15 16 17 18 19");
    check(&mut talk, &[("Genuine", RETRANSMISSION)], (5500, 5500));
}

fn reordering() {
    let mut talk = overtaken(&bit());
    assert_eq!(ack(&mut talk, 104, 5, &[], Mark::Original), "15 16 17");
    check(&mut talk, &[("Spurious", ORIGINAL)], (12_000, UNSET));
}

/// All ACKs of the originals: what comes back answers the retransmission. Some of them: the next one speaks as well. The
/// retransmission's own, after a loss: the next may answer segment 15, which left after it.
fn lost_acks() {
    let mut talk = spike(&bit());
    assert_eq!(ack(&mut talk, 3000, 12, &[], Mark::Retransmission), "13 14");
    check(&mut talk, &[("Genuine", RETRANSMISSION)], (2000, 5500));

    let mut talk = spike(&bit());
    assert_eq!(ack(&mut talk, 3000, 11, &[], Mark::Original), "13 14 15 16 17 18 19 20 21 22 23");
    check(&mut talk, &[("Spurious", ORIGINAL)], (12_000, UNSET));

    // Seven more duplicates: 13 are in flight and 3..=12 reported; cwnd is 5500, so a fifth and a sixth may leave.
    let mut talk = overtaken(&bit());
    let sent: Vec<_> = (6..=14).map(|top| ack(&mut talk, 100 + top, 1, &[(3, top)], Mark::Original)).collect();
    assert!(sent.iter().any(|sent| sent == "15"), "{sent:?}");
    ack(&mut talk, 210, 15, &[], Mark::Original);
    let window = (talk.cwnd(), talk.ssthresh());
    assert_eq!(window.1, 5500);
    check(&mut talk, &[("Genuine", SINCE)], window);
}

/// A duplicate of segment 1 is no acceptable ACK; the answer to the retransmission, once its original has settled the
/// question, changes nothing: it is a duplicate ACK, by which Limited Transmit sends 15.
fn duplicated_packet() {
    let mut talk = open(&bit());
    assert_eq!(talk.expire().0, 1100);
    assert_eq!(ack(&mut talk, 1150, 1, &[], Mark::Original), "");
    check(&mut talk, &[], (1000, 5500));
    assert_eq!(ack(&mut talk, 3000, 2, &[], Mark::Original), "13 14");
    assert_eq!(ack(&mut talk, 3001, 2, &[], Mark::Retransmission), "15");
    check(&mut talk, &[("Spurious", ORIGINAL)], (12_000, UNSET));
}
