//! The Eifel algorithm: RFC 3522's steps, the paper's responses, RFC 4015.

mod talk;

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use talk::{Out, Talk, again, eifel, new};

/// Sends ten segments at 0, with a round trip of 100 ms. Then everything is delayed, and the timer
/// expires at 1100 ms.
fn spike(config: &Config) -> Talk {
    let mut talk = Talk::new(config);
    assert_eq!(talk.send(), new(1..=10));
    assert_eq!(talk.ack(100, 1, &[], 0), new(11..=12));
    assert_eq!((talk.cwnd(), talk.rto()), (11_000, 1000));
    assert_eq!(talk.expire(), (1100, again(2..=2)));
    talk
}

/// [rfc4015:2] [rfc4015:3.1.8]
#[test]
fn a_spurious_timeout_resumes_with_the_next_unsent_segment_and_the_old_window() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    // The original of segment 2 was sent at 0. The window was 11 segments, ten are still
    // outstanding, and the ACK adds one.
    assert_eq!(talk.ack(3000, 2, &[], 0), new(13..=14));
    assert_eq!(talk.cwnd(), 12_000);
    assert_eq!(talk.ssthresh(), u64::MAX);
    assert_eq!(talk.verdicts(), [("Spurious".into(), "echo older than the first retransmission")]);
}

/// [rfc4015:3.1.7]
#[test]
fn an_echo_of_the_retransmission_goes_back_n() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    assert_eq!(talk.ack(1200, 2, &[], 1100), again(3..=4));
    assert_eq!(talk.cwnd(), 2000);
    assert_eq!(talk.verdicts(), [("Genuine".into(), "echo of the retransmission")]);
}

#[test]
fn only_the_first_retransmissions_timestamp_is_compared() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    assert_eq!(talk.expire(), (3100, again(2..=2)));
    // The first retransmission's own ACK, older than the second retransmission.
    assert_eq!(talk.ack(3200, 2, &[], 1100), again(3..=4));
    assert_eq!(talk.verdicts(), [("Genuine".into(), "echo of the retransmission")]);
}

#[test]
fn a_duplicate_ack_is_not_acceptable_and_gives_no_verdict() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    talk.ack(1150, 1, &[(3, 3)], 0);
    assert_eq!(talk.verdicts(), []);
    talk.ack(1200, 2, &[], 0);
    assert_eq!(talk.verdicts().len(), 1);
}

#[test]
fn a_dsack_on_the_first_acceptable_ack_means_that_the_retransmission_arrived() {
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    talk.ack_with(1200, 3, &[], 0, Some(2));
    assert_eq!(talk.verdicts(), [("Genuine".into(), "the first acceptable ACK carries a DSACK")]);
}

#[test]
fn all_acknowledged_at_once_may_be_lost_acks_unless_the_peer_is_known_to_send_dsacks() {
    let reason = "all acknowledged at once: ACKs may have been lost";
    let mut talk = spike(&eifel("reno-sack", "option-1"));
    talk.ack(1200, 12, &[], 0);
    assert_eq!(talk.verdicts(), [("Genuine".into(), reason)]);

    let mut talk = Talk::new(&eifel("reno-sack", "option-1"));
    talk.send();
    talk.ack_with(100, 1, &[], 0, Some(1));
    talk.expire();
    talk.ack(1200, 12, &[], 0);
    assert_eq!(talk.verdicts(), [("Spurious".into(), "echo older than the first retransmission")]);
}

#[test]
fn the_comparison_survives_the_wrap_of_the_timestamp_clock() {
    use eifel_base::units::Timestamp;
    use eifel_recovery::engine::{Ack, Echo};
    let mut talk = Talk::new(&eifel("reno-sack", "option-1"));
    talk.send();
    talk.ack(100, 1, &[], 0);
    talk.now = talk.engine.deadline();
    talk.engine.on_timeout(talk.now);
    let offer = talk.engine.offer(talk.end, u64::MAX, Some(Timestamp(3)));
    assert!(talk.engine.poll_send(talk.now, &offer).is_some());
    let echo = Some(Echo::Known { value: Timestamp(u32::MAX - 3), age: talk::ms(1100) });
    let cumulative = talk::start(3);
    talk.engine
        .on_ack(talk.now, &Ack { cumulative, sacks: &[], dsacks: &[], echo, mark: None, plain: true, ece: false });
    assert_eq!(talk.verdicts(), [("Spurious".into(), "echo older than the first retransmission")]);
}

#[test]
fn a_spurious_fast_retransmit_is_undone() {
    let mut talk = Talk::new(&eifel("reno-sack", "option-1"));
    talk.send();
    talk.ack(100, 1, &[], 0);
    // Three segments overtake segment 2.
    assert_eq!(talk.ack(101, 1, &[(3, 3)], 0), new(13..=13));
    assert_eq!(talk.ack(102, 1, &[(3, 4)], 0), new(14..=14));
    assert_eq!(talk.ack(103, 1, &[(3, 5)], 0), again(2..=2));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500), "half the flight of 11, without Limited Transmit's two");
    // Segment 2 arrives after all, and its ACK echoes the original.
    talk.ack(104, 5, &[], 0);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (12_000, u64::MAX));
}

#[test]
fn each_option_restores_what_it_says() {
    // Saved: cwnd 11 000, ssthresh unset; reduced: 5500. The ACK then grows the restored window.
    let cases = [
        ("none", (2000, 5500)),
        ("option-1", (12_000, u64::MAX)),
        ("option-2", (5500 + 181, 5500)),
        ("option-3", (2000, 5500)),
        ("option-4", (11_000 + 90, 11_000)),
        ("option-4-ssthresh", (12_000, u64::MAX)),
        ("by-retransmissions", (12_000, u64::MAX)),
        // FlightSize 10 after the ACK, plus min(1, initial window) segments; this ACK changes no more. [rfc4015:3.4.b]
        ("rfc4015", (11_000, u64::MAX)),
    ];
    for (respond, expected) in cases {
        let mut talk = spike(&eifel("reno-sack", respond));
        talk.ack(3000, 2, &[], 0);
        assert_eq!((talk.cwnd(), talk.ssthresh()), expected, "{respond}");
    }
}

/// Further timeouts keep the state saved at the first. [rfc4015:3.1.b]
#[test]
fn the_original_rule_restores_less_after_each_further_retransmission() {
    for (expiries, cwnd) in [(1, 12_000), (2, 5500 + 181), (3, 2000), (4, 2000)] {
        let mut talk = Talk::new(&eifel("reno-sack", "by-retransmissions"));
        talk.send();
        talk.ack(100, 1, &[], 0);
        for _ in 0..expiries {
            talk.expire();
        }
        talk.ack(40_000, 2, &[], 0);
        assert_eq!(talk.cwnd(), cwnd, "{expiries} retransmissions");
    }
}

#[test]
fn option_4_gives_up_slow_start_once_a_loss_was_seen() {
    let mut talk = Talk::new(&eifel("reno-sack", "option-4-ssthresh"));
    talk.send();
    // A genuine loss of segment 2, repaired.
    for (at, last) in [(100, 3), (101, 4), (102, 5), (103, 6)] {
        talk.ack(at, 1, &[(3, last)], 0);
    }
    talk.ack(200, 14, &[], 103);
    let cwnd = talk.cwnd();
    talk.expire();
    talk.ack(5000, 15, &[], 200);
    assert_eq!(talk.ssthresh(), cwnd);
}

#[test]
fn rfc4015_does_not_restore_against_ecn_echo() {
    use eifel_base::units::Timestamp;
    use eifel_recovery::engine::{Ack, Echo};
    let mut talk = spike(&eifel("reno-sack", "rfc4015"));
    talk.now = talk::at(3000);
    let echo = Some(Echo::Known { value: Timestamp(0), age: talk::ms(3000) });
    let cumulative = talk::start(3);
    talk.engine
        .on_ack(talk.now, &Ack { cumulative, sacks: &[], dsacks: &[], echo, mark: None, plain: true, ece: true });
    // Nor does the ACK open the window (RFC 3168, section 6.1.2). The timeout's cut answers the echo.
    assert_eq!((talk.cwnd(), talk.ssthresh()), (1000, 5500));
    assert_eq!(talk.engine.reductions(), 1);
}

/// [rfc4015:3.1.11]
#[test]
fn rfc4015_reseeds_the_timer_from_the_first_sample_of_data_unsent_at_the_timeout() {
    let mut talk = spike(&eifel("reno-sack", "rfc4015"));
    // Segments up to 12 were sent at the timeout. The originals' samples count like any others.
    assert_eq!(talk.ack(3000, 2, &[], 0), new(13..=13));
    assert_eq!(talk.rto(), 3512);
    talk.ack(3010, 12, &[], 100);
    // Segment 13 was sent at 3000: SRTT = max(100 + 2 G, 150), RTTVAR = max(50, 75); 150 + 4 * 75
    // is below the minimum.
    talk.ack(3150, 13, &[], 3000);
    assert_eq!(talk.rto(), 1000);
    let Some(srtt) = talk.engine.snapshot().srtt else { panic!("there were samples") };
    assert_eq!(srtt, talk::ms(150));
    // Once only.
    talk.ack(3160, 14, &[], 3000);
    assert_eq!(talk.engine.snapshot().srtt.unwrap().as_nanos(), (150_000_000 * 7 + 160_000_000) / 8);
}

#[test]
fn the_timer_adaptations_of_table_4() {
    let after = |name: &str| {
        let mut talk = spike(&Config { after_spurious: Choice::named(name), ..eifel("reno-sack", "option-1") });
        talk.ack(3000, 2, &[], 0);
        talk.rto()
    };
    // RFC 6298: RTTVAR = 3/4 * 50 + 1/4 * 2900 = 762.5, SRTT = 7/8 * 100 + 1/8 * 3000 = 462.5; RTO = 3512.5.
    assert_eq!(after("none"), 3512);
    assert_eq!(after("reseed"), 9000);
    assert_eq!(after("back-off"), 7025);
    assert_eq!(after("min-plus-plus"), 3512, "the minimum of 2 s does not bind yet");
}

#[test]
fn a_genuine_timeout_ends_the_held_back_off() {
    let config = Config { after_spurious: Choice::named("back-off"), ..eifel("reno-sack", "option-1") };
    let mut talk = spike(&config);
    talk.ack(3000, 2, &[], 0);
    for (at, segment) in (3010..3100).step_by(10).zip(3..) {
        talk.ack(at, segment, &[], 2990);
    }
    assert!(talk.rto() > 2000, "still doubled: {}", talk.rto());
    let (expired, _) = talk.expire();
    talk.ack(expired + 100, 13, &[], expired);
    assert_eq!(talk.verdicts().last().unwrap().0, "Genuine");
    talk.ack(expired + 200, 15, &[], expired + 100);
    assert!(talk.rto() < 2000, "{}", talk.rto());
}

#[test]
fn a_genuine_timeout_resets_the_raised_minimum() {
    let config = Config { after_spurious: Choice::named("min-plus-plus"), ..eifel("reno-sack", "option-1") };
    let mut talk = spike(&config);
    talk.ack(3000, 2, &[], 0);
    for at in (3010..9000).step_by(10) {
        talk.ack(at, 3 + (at - 3010) / 10, &[], at - 10);
    }
    assert_eq!(talk.rto(), 2000);
    let (expired, sent) = talk.expire();
    let Out::Again(lost) = sent[0] else { panic!("{sent:?}") };
    talk.ack(expired + 10, lost, &[], expired);
    talk.ack(expired + 20, lost + 1, &[], expired + 10);
    assert_eq!(talk.verdicts().last().unwrap().0, "Genuine");
    assert!(talk.rto() < 2000);
}

#[test]
fn the_minimum_rises_by_a_step_per_verdict_or_per_expiry() {
    for (per, expected) in [("verdict", 2000), ("expiry", 4000)] {
        let after_spurious = Choice::named("min-plus-plus").with("per", Value::Word(per.into()));
        let mut talk = Talk::new(&Config { after_spurious, ..eifel("reno-sack", "option-1") });
        talk.send();
        talk.ack(100, 1, &[], 0);
        for _ in 0..3 {
            talk.expire();
        }
        talk.ack(8000, 2, &[], 0);
        for at in (8010..13_000).step_by(10) {
            talk.ack(at, 3 + (at - 8010) / 10, &[], at - 10);
        }
        assert_eq!(talk.rto(), expected, "{per}");
    }
}

/// [rfc4015:4]
#[test]
fn fast_retransmit_below_the_recovery_point_is_allowed_or_blocked() {
    let run = |word: &str| {
        let recover = Choice::named("reno").with("fast_retransmit_below_recovery_point", Value::Word(word.into()));
        let mut talk = spike(&Config { recover, ..eifel("reno", "option-1") });
        talk.ack(3000, 2, &[], 0);
        // Segment 3 was lost in the spike; the others of the old flight arrive.
        let sent: Vec<_> = (3001..3005).flat_map(|at| talk.ack(at, 2, &[], 0)).collect();
        sent.contains(&Out::Again(3))
    };
    assert!(run("allowed"));
    assert!(!run("blocked"));
}

#[test]
fn without_the_detector_go_back_n_ends_in_a_spurious_fast_retransmit_unless_the_bugfix_is_on() {
    for (bugfix, expected) in [(true, false), (false, true)] {
        let recover = Choice::named("reno").with("bugfix", Value::Switch(bugfix));
        let mut talk = spike(&Config { recover, ..talk::config("reno") });
        let mut sent = Vec::new();
        for (at, segment) in (3000..).zip(2..=12) {
            sent.extend(talk.ack(at, segment, &[], 0));
        }
        assert!(sent.contains(&Out::Again(12)), "go-back-N repeats all that was outstanding");
        // The receiver acknowledges each needless copy at once.
        let later: Vec<_> = (3100..3104).flat_map(|at| talk.ack(at, 12, &[], 0)).collect();
        assert_eq!(later.contains(&Out::Again(13)), expected, "bugfix {bugfix}: {later:?}");
    }
}

#[test]
fn forged_echoes_cause_at_most_two_windows_of_retransmissions_in_a_round_trip() {
    let congest = talk::config("rfc6675").congest.with("initial_window_segments", Value::Integer(200));
    let mut talk = Talk::new(&Config { congest, ..eifel("rfc6675", "rfc4015") });
    talk.send();
    talk.ack(100, 1, &[], 0);
    // At 200 ms every other segment is SACKed. Then a SACK report begins a recovery, and an ACK of
    // one more segment undoes it with an older echo, again and again.
    let mut again = 0;
    let mut count = |sent: Vec<Out>| again += sent.iter().filter(|out| matches!(out, Out::Again(_))).count();
    for segment in (101..200).step_by(2) {
        count(talk.ack(200, 1, &[(segment, segment)], 0));
    }
    for turn in 0..30 {
        count(talk.ack(201, 2 + turn, &[(102 + 2 * turn, 102 + 2 * turn)], 0));
        count(talk.ack(201, 3 + turn, &[], 0));
    }
    assert!(again <= 400, "{again} segments sent again");
}
