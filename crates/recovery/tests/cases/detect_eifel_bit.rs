//! Eifel detection by one bit in an engine: the verdicts, their time and their reason.

use eifel_recovery::engine::Config;
use eifel_recovery::fact::Mark;
use eifel_recovery::registry::Choice;

use crate::script::{overtaken, spike, text};
use crate::talk::{Talk, eifel};

const SINCE: &str = "answers data sent since: the retransmission's ACK may have been lost";

fn bit() -> Config {
    Config { detect: Choice::named("eifel-bit"), ..eifel("reno-sack", "option-1") }
}

/// Sends an ACK with this mark. Its timestamp echo says the opposite, because the detector ignores
/// echoes.
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

#[test]
fn without_marks_every_episode_is_genuine() {
    let mut talk = spike(&bit());
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    check(&mut talk, &[("Genuine", "no marks agreed on")], (2000, 5500));
}

/// After a loss, the ACK of the retransmission is lost. The next ACK may answer segment 15, which
/// was sent after the retransmission. Duplicates up to segment 14 let 15 go under a cwnd of 5500.
#[test]
fn an_ack_of_data_sent_after_the_retransmission_says_nothing() {
    let mut talk = overtaken(&bit());
    let sent: Vec<_> = (6..=14).map(|top| ack(&mut talk, 100 + top, 1, &[(3, top)], Mark::Original)).collect();
    assert!(sent.iter().any(|sent| sent == "15"), "{sent:?}");
    ack(&mut talk, 210, 15, &[], Mark::Original);
    let window = (talk.cwnd(), talk.ssthresh());
    assert_eq!(window.1, 5500);
    check(&mut talk, &[("Genuine", SINCE)], window);
}

/// As above with a second hole: the next ACK stops at segment 6, and its block reports 15.
#[test]
fn a_sack_of_data_sent_after_the_retransmission_says_nothing() {
    let mut talk = overtaken(&bit());
    let sent: Vec<_> = (7..=14).map(|top| ack(&mut talk, 100 + top, 1, &[(3, 5), (7, top)], Mark::Original)).collect();
    assert!(sent.iter().any(|sent| sent.contains("15")), "{sent:?}");
    ack(&mut talk, 210, 5, &[(7, 15)], Mark::Original);
    let window = (talk.cwnd(), talk.ssthresh());
    assert_eq!(window.1, 5500);
    check(&mut talk, &[("Genuine", SINCE)], window);
}
