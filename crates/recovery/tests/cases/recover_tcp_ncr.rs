//! Extended Limited Transmit (RFC 4653), by hand. 21 segments are in flight, from the second on.

use eifel_recovery::engine::{Ack, Block, Config};
use eifel_recovery::registry::Value;

use crate::script::{spike, text};
use crate::talk::{Talk, again, config, eifel, new, start, twenty};

fn ncr(base: Config, parameter: &str, word: &str) -> Config {
    let recover = base.recover.clone().with(parameter, Value::Word(word.into()));
    Config { recover, ..base }
}

fn careful() -> Talk {
    twenty(&config("tcp-ncr"))
}

/// Takes an ACK with ECN-Echo, of everything up to and including `segment`.
fn ece(talk: &mut Talk, segment: u64, sacks: &[(u64, u64)]) {
    let sacks: Vec<_> = sacks.iter().map(|&(a, b)| Block { start: start(a), end: start(b + 1) }).collect();
    let cumulative = start(segment + 1);
    let ack = Ack { cumulative, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: true, ece: true };
    talk.engine.on_ack(talk.now, &ack);
}

/// Step (E.2): pipe and Skipped together leave room for a segment below the 21.
pub fn extended_limited_transmit() {
    for (word, sent) in [("careful", [1, 0, 1, 0, 1]), ("aggressive", [1, 1, 1, 1, 1])] {
        let mut talk = twenty(&ncr(config("tcp-ncr"), "extended_limited_transmit", word));
        let all = (3..=7).map(|last| talk.ack(98 + last, 1, &[(3, last)], 0).len());
        assert_eq!(all.collect::<Vec<_>>(), sent, "{word}");
    }
}

/// Segment 3 is lost in a spike. Of 12 in flight, 11 of 17 have to be reported.
pub fn below_recovery_point() {
    for (word, repaired) in [("allowed", true), ("blocked", false)] {
        let mut talk = spike(&ncr(eifel("tcp-ncr", "option-1"), "fast_retransmit_below_recovery_point", word));
        talk.ack(3000, 2, &[], 0);
        let sent: Vec<_> = (1..=11).map(|d| text(&talk.ack(3000 + d, 2, &[(4, 3 + d)], 0))).collect();
        assert_eq!(sent.concat().contains("3r"), repaired, "{word}: {sent:?}");
    }
}

/// Step (E.5): as many segments leave as one ACK allows.
#[test]
fn one_ack_releases_a_segment_for_every_second_one_that_it_reports() {
    assert_eq!(careful().ack(101, 1, &[(3, 3)], 0), new(23..=23));
    assert_eq!(careful().ack(101, 1, &[(3, 4)], 0), new(23..=23));
    assert_eq!(careful().ack(101, 1, &[(3, 5)], 0), new(23..=24));
    assert_eq!(careful().ack(101, 1, &[(3, 6)], 0), new(23..=24));
}

/// Step (T.4): FlightSizePrev stays, and Skipped is 0 again.
#[test]
fn an_ack_of_new_data_with_reports_restarts_it() {
    let mut talk = careful();
    assert_eq!(talk.ack(101, 1, &[(3, 4)], 0), new(23..=23));
    // 19 are outstanding, of which 2 are reported: 17, 1 and 18, 2 are below 21.
    assert_eq!(talk.ack(102, 4, &[(6, 7)], 0), new(24..=25));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (20_000, 21_000), "(T.1), (T.2)");
    // 18 are outstanding.
    assert_eq!(talk.ack(103, 7, &[], 0), new(26..=26));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (19_000, 21_000));
    // It is over: the window grows again.
    talk.ack(104, 8, &[], 0);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (20_000, 21_000));
}

/// Section 3.1: an ACK of new data without SACK information has to come first.
#[test]
fn after_loss_recovery_three_reports_suffice_until_an_ack_without_them() {
    for (recovered, sacks, lost) in [(201, vec![(24, 24)], true), (201, vec![], false)] {
        let mut talk = careful();
        // 20 of 21 segments: half of the 21 is 10.5, of which the retransmission is one.
        let sent = talk.ack(101, 1, &[(3, 22)], 0);
        assert_eq!((&sent[..1], &sent[1..]), (&again(2..=2)[..], &new(23..=31)[..]));
        talk.ack(recovered, 22, &sacks, 101);
        assert!(!talk.ack(202, 22, &[(24, 25)], 101).contains(&again(23..=23)[0]));
        assert_eq!(talk.ack(203, 22, &[(24, 26)], 101).contains(&again(23..=23)[0]), lost, "{sacks:?}");
    }
}

/// Section 3.4: half of what was in flight before it.
#[test]
fn a_loss_halves_the_flight_before_it() {
    let mut talk = careful();
    let sent: Vec<_> = (3..=22).flat_map(|last| talk.ack(98 + last, 1, &[(3, last)], 0)).collect();
    // Two thirds of 31: 20 segments and one more than 19 2/3 lie above the hole with the last ACK.
    assert_eq!((&sent[..10], &sent[10..]), (&new(23..=32)[..], &again(2..=2)[..]));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (10_500, 10_500));
}

/// A timeout ends it. Go-back-N begins with one segment.
#[test]
fn a_timeout_ends_it() {
    let mut talk = careful();
    talk.ack(101, 1, &[(3, 3)], 0);
    let (_, sent) = talk.expire();
    assert_eq!(sent, again(2..=2));
    assert_eq!(talk.cwnd(), 1000);
}

/// RFC 4653 says nothing about ECN. The window that an ECN-Echo leaves stands.
#[test]
fn an_ecn_echo_replaces_the_flight_before_it() {
    let mut talk = careful();
    assert_eq!(talk.ack(101, 1, &[(3, 3)], 0), new(23..=23));
    ece(&mut talk, 1, &[(3, 4)]);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (10_500, 10_500), "half of the 21 that cwnd allows");
    assert_eq!(talk.send(), []);
    assert_eq!(talk.ack(103, 4, &[], 0), []);
    assert_eq!(talk.ssthresh(), 10_500);
    assert!(talk.cwnd() < 12_000, "{}", talk.cwnd());
}

#[test]
fn the_flight_before_it_is_no_larger_than_a_window_that_was_cut() {
    let mut talk = careful();
    ece(&mut talk, 1, &[]);
    let cut = talk.cwnd();
    assert_eq!(cut, 10_500);
    assert_eq!(talk.ack(102, 1, &[(3, 3)], 0), []);
    assert_eq!(talk.ack(103, 5, &[], 0), []);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (cut, cut));
}
