//! RACK-TLP, RFC 8985, step by step.

use eifel_recovery::engine::{Config, Event};
use eifel_recovery::registry::{Choice, Value};

use crate::script::{open, text};
use crate::talk::{Talk, at, config, eifel, start};

const NAME: &str = "rack-tlp";

/// The probe is sent 2 SRTT after the last ACK, at 300 ms. It is new data and restarts the timer.
pub fn spike(config: &Config) -> Talk {
    let mut talk = open(config);
    let (now, probe) = talk.expire();
    assert_eq!((now, text(&probe)), (300, "13".into()));
    let (now, again) = talk.expire();
    assert_eq!((now, text(&again)), (1300, "2r".into()));
    talk
}

/// 2 is lost twice. 15, which was sent after recovery had begun, is lost once. The ACK for 16 shows
/// both losses. The second loss of 2 halves the window at once. 15 is a separate loss, for which
/// the window is cut when recovery ends. By then 15 was already retransmitted, so it is not sent
/// once more.
#[test]
fn a_loss_above_the_recovery_point_is_repaired_at_once_and_cuts_the_window_after_recovery() {
    let mut talk = open(&config(NAME));
    for last in 3..=14 {
        talk.ack(98 + last, 1, &[(3, last)], 0);
    }
    assert_eq!(talk.engine.nxt(), start(19));
    assert_eq!(talk.events().len(), 1);
    assert_eq!(text(&talk.ack(210, 1, &[(16, 16), (3, 14)], 0)), "");
    assert_eq!((talk.cwnd(), talk.ssthresh(), talk.events().len()), (2750, 2750, 0));
    assert_eq!(text(&talk.ack(211, 1, &[(16, 17), (3, 14)], 0)), "2r");
    assert_eq!(text(&talk.ack(212, 1, &[(16, 18), (3, 14)], 0)), "15r");
    assert_eq!(text(&talk.ack(311, 14, &[(16, 18)], 211)), "19");
    assert_eq!((talk.cwnd(), talk.ssthresh()), (2000, 2000), "half of 15..=18");
    assert!(matches!(talk.events()[..], [Event::EpisodeClosed { .. }, Event::EpisodeOpened { .. }]));
    assert!(!text(&talk.ack(312, 18, &[], 212)).contains('r'));
}

/// Retransmissions of one window that are lost together are one more sign of congestion, not two.
/// With PRR there is no further cut.
#[test]
fn lost_retransmissions_cut_the_window_once() {
    let windows = |reduction: &str| {
        let recover = Choice::named(NAME).with("reduction", Value::Word(reduction.into()));
        let mut talk = open(&Config { recover, ..config(NAME) });
        // 2 and 3 are lost.
        let sent: Vec<_> = (4..=12).map(|last| text(&talk.ack(98 + last, 1, &[(4, last)], 0))).collect();
        let again = sent.join(" ");
        assert!(again.contains("2r") && again.contains("3r"), "{again}");
        let before = talk.cwnd();
        // Data sent after both retransmissions is SACKed.
        let nxt = (talk.engine.nxt() - 1) / 1000;
        talk.ack(230, 1, &[(nxt, nxt), (4, 12)], 0);
        (before, talk.cwnd())
    };
    assert_eq!(windows("at-once"), (5500, 2750));
    assert_eq!(windows("prr"), (5500, 5500));
}

fn deadline(talk: &Talk) -> u64 {
    talk.engine.deadline().as_nanos() / 1_000_000
}

/// One SACKed segment is below the threshold. So 2 gets the round trip plus a quarter of the
/// shortest round trip.
#[test]
fn a_segment_is_lost_when_the_reordering_window_expires() {
    let mut talk = open(&config(NAME));
    talk.ack(101, 1, &[(3, 3)], 0);
    assert_eq!(deadline(&talk), 126);
    let (_, sent) = talk.expire();
    assert_eq!(text(&sent), "2r");
    // One segment was sent by Limited Transmit, so ssthresh is half of eleven.
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
}

/// Once reordering was seen, three SACKed segments are not enough. A DSACK widens the window by
/// another quarter.
#[test]
fn reordering_and_dsacks_widen_the_window() {
    let mut talk = open(&config(NAME));
    talk.ack(101, 1, &[(3, 3)], 0);
    talk.ack(102, 3, &[], 0);
    // 5, 6 and 7 arrive before 4.
    for last in 5..=7 {
        talk.ack(98 + last, 3, &[(5, last)], 0);
    }
    // RACK.rtt is 105, plus a quarter of 100.
    assert_eq!(deadline(&talk), 130);
    talk.ack_with(106, 3, &[(5, 7)], 0, Some(1));
    assert_eq!(deadline(&talk), 155);
    // A second DSACK within the same round trip changes nothing.
    talk.ack_with(107, 3, &[(5, 7)], 0, Some(1));
    assert_eq!(deadline(&talk), 155);
    assert_eq!(text(&talk.expire().1), "4r");
}

/// Sixteen recoveries without a DSACK reset the window.
#[test]
fn sixteen_recoveries_reset_the_reordering_window() {
    let mut talk = open(&config(NAME));
    talk.ack_with(101, 1, &[], 0, Some(1));
    let mut now = 200;
    let mut una = 1;
    for recovery in 0..=16 {
        // Only one segment is SACKed, so the wait is the reordering window.
        let sent_at = now - 100;
        talk.ack(now, una, &[(una + 2, una + 2)], sent_at);
        let waits = deadline(&talk) - now;
        let wide = if recovery < 16 { 50 } else { 25 };
        assert!(waits <= wide && waits + 1 >= wide.min(waits + 1), "{recovery}: {waits}");
        talk.expire();
        assert!(talk.events().iter().any(|event| matches!(event, Event::EpisodeOpened { .. })), "{recovery}");
        now += 200;
        una = (talk.engine.nxt() - 1) / 1000;
        talk.ack(now, una, &[], now - 100);
        now += 100;
    }
}

/// Sends `all` segments and acknowledges all but the last two, so that the highest one is probed.
fn tail(all: u64) -> Talk {
    let mut talk = Talk::new(&config(NAME));
    talk.end = start(all + 1);
    talk.send();
    talk.ack(100, all - 2, &[], 0);
    talk
}

/// 9 and 10 are lost. The SACK block for the probe shows the loss of 9, without a timeout.
#[test]
fn a_probe_finds_the_loss_of_a_tail() {
    let mut talk = tail(10);
    let (now, probe) = talk.expire();
    assert_eq!((now, text(&probe)), (300, "10r".into()));
    assert_eq!(deadline(&talk), 1300, "no second probe");
    // The probe took 100 ms, and 9 was sent 300 ms before it.
    assert_eq!(text(&talk.ack(400, 8, &[(10, 10)], 300)), "9r");
    assert_eq!((talk.cwnd(), talk.ssthresh()), (2000, 2000));
}

/// For a single segment the probe also waits for a delayed ACK.
#[test]
fn a_single_segment_may_wait_for_a_delayed_ack() {
    let with = |millis: u64| {
        let delay = Value::Duration(crate::talk::ms(millis));
        let recover = Choice::named(NAME).with("max_ack_delay_ms", delay);
        let mut talk = Talk::new(&Config { recover, ..config(NAME) });
        talk.end = start(11);
        talk.send();
        talk.ack(100, 9, &[], 0);
        deadline(&talk)
    };
    assert_eq!([with(200), with(0), with(500)], [500, 300, 800]);
}

pub fn max_ack_delay() {
    a_single_segment_may_wait_for_a_delayed_ack();
}

/// Section 7.4.2: only 10 was lost, and the probe has repaired it. Congestion control learns of the
/// loss all the same.
#[test]
fn a_loss_repaired_by_the_probe_cuts_the_window() {
    let mut talk = tail(10);
    talk.expire();
    talk.ack(400, 10, &[], 300);
    let cwnd = talk.cwnd();
    // The repair is known once data beyond the probe is acknowledged.
    talk.end = start(12);
    talk.now = at(450);
    assert_eq!(text(&talk.send()), "11");
    talk.ack(550, 11, &[], 450);
    assert!(talk.cwnd() < cwnd && talk.ssthresh() == 2000, "{} {}", talk.cwnd(), talk.ssthresh());
}

/// The original was only late. A DSACK or a duplicate ACK without a block says so.
#[test]
fn a_needless_probe_does_not_cut_the_window() {
    for dsack in [Some(10), None] {
        let mut talk = tail(10);
        talk.expire();
        talk.ack(310, 10, &[], 0);
        talk.ack_with(400, 10, &[], 300, dsack);
        talk.end = start(12);
        talk.now = at(450);
        talk.send();
        talk.ack(550, 11, &[], 450);
        assert_eq!(talk.ssthresh(), u64::MAX, "{dsack:?}");
    }
}

/// If the RTO would expire first, the probe takes the place of the timeout.
#[test]
fn the_probe_replaces_an_earlier_timeout() {
    let rto = Choice::named("rfc6298")
        .with("minimum_ms", Value::Duration(crate::talk::ms(1)))
        .with("granularity_ms", Value::Duration(crate::talk::ms(1)));
    let mut talk = Talk::new(&Config { rto, ..config(NAME) });
    talk.send();
    for segment in 1..=9 {
        talk.ack(100, segment, &[], 0);
    }
    assert!(deadline(&talk) < 300);
    let (_, sent) = talk.expire();
    assert!(text(&sent).split(' ').all(|word| !word.ends_with('r')), "{}", text(&sent));
    assert!(talk.events().is_empty());
    let (_, sent) = talk.expire();
    assert_eq!(text(&sent), "10r");
}

/// 13, below the recovery point of the timeout, is lost again, and data sent after it arrives. 13
/// is retransmitted once more. Only without the bugfix is this a further loss signal.
pub fn bugfix() {
    for (on, ssthresh) in [(true, 6000), (false, 2000)] {
        let recover = Choice::named(NAME).with("bugfix", Value::Switch(on));
        let mut talk = spike(&Config { recover, ..config(NAME) });
        assert_eq!(text(&talk.ack(1400, 11, &[], 1300)), "12r 13r");
        assert_eq!(text(&talk.ack(1500, 12, &[], 1400)), "14 15");
        assert_eq!(text(&talk.ack(1600, 12, &[(15, 15)], 1500))[..3], *"13r");
        assert_eq!(talk.ssthresh(), ssthresh, "{on}");
    }
}

pub fn below_recovery_point() {
    for (word, repaired) in [("allowed", true), ("blocked", false)] {
        let below = Value::Word(word.into());
        let recover = Choice::named(NAME).with("fast_retransmit_below_recovery_point", below);
        let mut talk = spike(&Config { recover, ..eifel(NAME, "option-1") });
        talk.ack(3000, 2, &[], 0);
        let sent: Vec<_> = (1..=3).map(|d| text(&talk.ack(3000 + d, 2, &[(4, 3 + d)], 0))).collect();
        assert_eq!(sent.concat().contains("3r"), repaired, "{word}: {sent:?}");
    }
}

pub fn after_spurious_timeout() {
    let go_back_n = Value::Word("go-back-n".into());
    let recover = Choice::named(NAME).with("after_spurious_timeout", go_back_n);
    let mut talk = spike(&Config { recover, ..eifel(NAME, "option-1") });
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r 5r 6r 7r 8r 9r 10r 11r 12r 13r 14");
}
