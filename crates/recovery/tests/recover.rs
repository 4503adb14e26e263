//! Loss recovery, one algorithm after the other, by hand: genuine losses, reordering, lost ACKs, duplicates.

mod talk;

use eifel_recovery::engine::{Config, Kind, Negotiated};
use eifel_recovery::registry::{Choice, Value};
use talk::{MSS, Out, Talk, again, config, new, twenty};

const ALL: [&str; 6] = ["reno", "newreno", "reno-sack", "newreno-sack", "fack", "rfc6675"];

#[test]
fn limited_transmit_sends_one_new_segment_for_each_of_the_first_two_duplicates() {
    for name in ALL {
        let mut talk = twenty(&config(name));
        assert_eq!(talk.ack(101, 1, &[(3, 3)], 0), new(23..=23), "{name}");
        assert_eq!(talk.ack(102, 1, &[(3, 4)], 0), new(24..=24), "{name}");
        assert_eq!(talk.ack(103, 1, &[(3, 5)], 0), again(2..=2), "{name}");
        assert_eq!(talk.cwnd(), 10_500, "half of 21 outstanding, without Limited Transmit's two: {name}");
    }
}

#[test]
fn without_limited_transmit_the_first_two_duplicates_send_nothing() {
    for name in ALL {
        let recover = Choice::named(name).with("limited_transmit", Value::Switch(false));
        let mut talk = twenty(&Config { recover, ..config(name) });
        assert_eq!(talk.ack(101, 1, &[(3, 3)], 0), []);
        assert_eq!(talk.ack(102, 1, &[(3, 4)], 0), []);
        assert_eq!(talk.ack(103, 1, &[(3, 5)], 0), again(2..=2), "{name}");
    }
}

#[test]
fn two_reordered_segments_are_below_the_threshold() {
    for name in ALL {
        let mut talk = twenty(&config(name));
        talk.ack(101, 1, &[(3, 3)], 0);
        talk.ack(102, 1, &[(3, 4)], 0);
        talk.ack(103, 4, &[], 0);
        assert_eq!(talk.ssthresh(), u64::MAX, "{name}");
    }
}

#[test]
fn an_ack_with_data_or_another_window_is_no_duplicate() {
    use eifel_recovery::engine::Ack;
    let mut talk = twenty(&config("reno"));
    for _ in 0..5 {
        let cumulative = talk.engine.una();
        talk.engine.on_ack(
            talk.now,
            &Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: false, ece: false },
        );
    }
    assert_eq!(talk.send(), []);
}

#[test]
fn with_sack_only_acks_with_new_reports_are_duplicates() {
    let mut talk = twenty(&config("reno-sack"));
    for at in 101..110 {
        talk.ack(at, 1, &[(3, 3)], 0);
    }
    assert_eq!(talk.ssthresh(), u64::MAX, "the same block again is a duplicated packet, not a sign of loss");
}

#[test]
fn reno_inflates_by_duplicates_and_leaves_at_the_first_new_ack() {
    let mut talk = twenty(&config("reno"));
    // The duplicates for Limited Transmit's segments come a round trip later.
    let times = (101..=119).chain([201, 202]);
    let sent: Vec<_> = times.map(|at| talk.ack(at, 1, &[], 0).len()).collect();
    // Two segments by Limited Transmit, one retransmission, then one new segment for each duplicate
    // from the 14th on (10.5 + d > 23).
    assert_eq!(sent.iter().sum::<usize>(), 2 + 1 + 8);
    assert_eq!(sent[..4], [1, 1, 1, 0]);
    talk.ack(203, 2, &[], 103);
    assert_eq!(talk.cwnd(), 10_500);
}

#[test]
fn the_handshakes_round_trip_bounds_what_duplicates_may_release() {
    use eifel_recovery::engine::{Ack, Engine};
    use talk::at;
    let ack = |cumulative| Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
    let none = Negotiated { mss: MSS as u32, sack: false, timestamps: false };
    let mut talk = Talk::with(&config("newreno"), none);
    talk.engine = Engine::new(&config("newreno")).unwrap();
    talk.now = at(0);
    assert!(talk.engine.poll_handshake(talk.now, None).is_some());
    talk.engine.on_ack(at(100), &ack(1));
    talk.engine.established(at(100), none);
    talk.now = at(100);
    assert_eq!(talk.send(), new(1..=10));
    // 1 and 4 are lost. The ACK of 1 to 3 comes 202 ms after 3 was sent, because it had to wait for
    // 1.
    let sent: Vec<_> = (200..=207).map(|at| talk.ack(at, 0, &[], 0)).collect();
    assert_eq!(sent.concat(), [Out::New(11), Out::New(12), Out::Again(1), Out::New(13)]);
    assert_eq!(talk.ack(302, 3, &[], 0), [Out::Again(4), Out::New(14)]);
    // The duplicates for 11 to 13, a round trip after they were sent.
    assert_eq!((305..=307).flat_map(|at| talk.ack(at, 3, &[], 0)).collect::<Vec<_>>(), new(15..=17));
}

#[test]
fn forged_duplicates_release_at_most_a_window_per_round_trip() {
    for name in ["reno", "newreno", "reno-sack", "newreno-sack"] {
        let mut talk = Talk::with(&config(name), Negotiated { mss: 1000, sack: false, timestamps: false });
        talk.send();
        talk.ack(100, 10, &[], 0);
        let before = talk.engine.nxt();
        for at in 200..400 {
            for _ in 0..50 {
                talk.ack(at, 10, &[], 0);
            }
        }
        // Ten segments of cwnd after twenty, in each of two round trips; two by Limited Transmit.
        let sent = (talk.engine.nxt() - before) / 1000;
        assert!(sent <= 10 + 10 + 2, "{name} {sent}");
    }
}

#[test]
fn reno_needs_three_more_duplicates_for_a_second_loss_and_the_bugfix_denies_them() {
    for (bugfix, repaired) in [(true, false), (false, true)] {
        let recover = Choice::named("reno").with("bugfix", Value::Switch(bugfix));
        let mut talk = twenty(&Config { recover, ..config("reno") });
        for at in 101..=110 {
            talk.ack(at, 1, &[], 0);
        }
        talk.ack(200, 4, &[], 103);
        let sent: Vec<_> = (201..=205).flat_map(|at| talk.ack(at, 4, &[], 103)).collect();
        assert_eq!(sent.contains(&Out::Again(5)), repaired, "bugfix {bugfix}");
    }
}

#[test]
fn newreno_repairs_one_loss_a_round_trip_and_ends_without_a_burst() {
    let mut talk = twenty(&config("newreno"));
    for at in 101..=119 {
        talk.ack(at, 1, &[], 0);
    }
    // Segments 2 and 5 were lost.
    assert!(talk.ack(200, 4, &[], 103).contains(&Out::Again(5)));
    let nxt = (talk.engine.nxt() - 1) / MSS;
    talk.ack(300, nxt, &[], 200);
    assert!(talk.cwnd() <= 2 * MSS, "min(ssthresh, FlightSize + MSS) with nothing outstanding");
}

#[test]
fn newreno_restarts_the_timer_only_on_the_first_partial_ack() {
    let mut talk = twenty(&config("newreno"));
    for at in 101..=119 {
        talk.ack(at, 1, &[], 0);
    }
    talk.ack(200, 4, &[], 103);
    let deadline = talk.engine.deadline();
    assert_eq!(deadline, talk::at(1200));
    talk.ack(300, 8, &[], 200);
    assert_eq!(talk.engine.deadline(), deadline);
}

/// Loses all of 2..=22 except the last three. The receiver SACKs those three and Limited Transmit's
/// segments.
fn large_hole(name: &str) -> (Talk, Vec<Out>) {
    let mut talk = twenty(&config(name));
    let mut sent = Vec::new();
    for (at, last) in [(101, 20), (102, 21), (103, 22), (201, 23), (202, 24)] {
        sent.extend(talk.ack(at, 1, &[(20, last)], 0));
    }
    (talk, sent)
}

#[test]
fn reno_sack_cannot_fill_a_large_hole_because_it_counts_it_as_under_way() {
    let (_, sent) = large_hole("reno-sack");
    assert_eq!(sent, [Out::New(23), Out::New(24), Out::Again(2)]);
}

#[test]
fn reno_sack_ends_such_a_hole_in_a_timeout_where_newreno_sack_goes_on() {
    // pipe is 23 - 3 - 2 + 1 = 19 segments under a cwnd of 10.5; a partial ACK takes two.
    let (mut talk, _) = large_hole("reno-sack");
    assert_eq!(talk.ack(203, 2, &[(20, 24)], 103), []);
    let (mut talk, sent) = large_hole("newreno-sack");
    assert_eq!(sent, [Out::New(23), Out::New(24), Out::Again(2)]);
    assert_eq!(talk.ack(203, 2, &[(20, 24)], 103), again(3..=3));
    assert_eq!(talk.ack(303, 3, &[(20, 24)], 203), again(4..=4));
}

#[test]
fn newreno_sack_can_be_limited_to_spurious_timeouts() {
    let recover = Choice::named("newreno-sack").with("when", Value::Word("after-spurious".into()));
    let mut talk = twenty(&Config { recover: recover.clone(), ..config("newreno-sack") });
    for (at, last) in [(101, 20), (102, 21), (103, 22)] {
        talk.ack(at, 1, &[(20, last)], 0);
    }
    assert_eq!(talk.ack(203, 2, &[(20, 22)], 103), [], "no timeout came before");

    let mut talk = twenty(&Config { recover, ..talk::eifel("newreno-sack", "option-1") });
    talk.expire();
    assert!(talk.ack(3000, 2, &[], 0).contains(&Out::New(23)), "spurious");
    for (at, last) in [(3001, 20), (3002, 21), (3003, 22)] {
        talk.ack(at, 2, &[(20, last)], 0);
    }
    assert_eq!(talk.ack(3103, 3, &[(20, 22)], 3003), again(4..=4), "below the spurious timeout's recovery point");
}

#[test]
fn fack_deems_the_whole_hole_lost_and_fills_it_at_once() {
    let mut talk = twenty(&config("fack"));
    // 19 segments below the first block: more than three, so FACK does not wait for duplicates.
    // awnd = 22 - 20 = 2.
    let sent = talk.ack(101, 1, &[(20, 20)], 0);
    assert_eq!(sent, again(2..=9), "cwnd 10.5 less the two under way, less what each retransmission adds");
    assert_eq!(talk.cwnd(), 10_500);
}

#[test]
fn rfc6675_fills_holes_below_enough_sacked_blocks() {
    let (_, sent) = large_hole("rfc6675");
    assert_eq!(sent[..3], [Out::New(23), Out::New(24), Out::Again(2)]);
    // With three segments' bytes above, 2..=19 are lost. pipe is 1 + 2, and each SACK lets more go.
    assert!(sent[3..].starts_with(&again(3..=8)), "{sent:?}");
}

#[test]
fn a_single_loss_is_repaired_once_and_fast_recovery_ends_at_the_recovery_point() {
    for name in ALL {
        let mut talk = twenty(&config(name));
        let mut sent = Vec::new();
        for (at, last) in (101..).zip(3..=22) {
            sent.extend(talk.ack(at, 1, &[(3, last)], 0));
        }
        assert_eq!(sent.iter().filter(|out| matches!(out, Out::Again(_))).count(), 1, "{name}: {sent:?}");
        let nxt = (talk.engine.nxt() - 1) / MSS;
        talk.ack(250, nxt, &[], 200);
        assert!(talk.cwnd() <= 10_500, "{name}");
        assert_eq!(talk.ssthresh(), 10_500, "{name}");
    }
}

#[test]
fn a_timeout_goes_back_n_in_slow_start_and_skips_what_arrives() {
    for name in ALL {
        let mut talk = twenty(&config(name));
        assert_eq!(talk.expire(), (1100, again(2..=2)), "{name}");
        assert_eq!(talk.cwnd(), MSS, "{name}");
        assert_eq!(talk.ack(1200, 2, &[], 1100), again(3..=4), "{name}");
        assert_eq!(talk.ack(1300, 8, &[], 1200), again(9..=11), "{name}: the originals of 5 to 8 had arrived");
        assert_eq!(talk.ack(1301, 22, &[], 1200)[..1], new(23..=23), "{name}");
    }
}

#[test]
fn a_further_timeout_of_the_same_segment_holds_ssthresh_or_halves_it_as_configured() {
    for (word, expected) in [("hold", 10_500), ("reduce", 10_500)] {
        let congest = config("reno").congest.with("repeated_timeout", Value::Word(word.into()));
        let mut talk = twenty(&Config { congest, ..config("reno") });
        talk.expire();
        talk.expire();
        assert_eq!(talk.ssthresh(), expected, "{word}: half of FlightSize, which is still 21");
    }
    let congest = config("reno")
        .congest
        .with("repeated_timeout", Value::Word("reduce".into()))
        .with("ssthresh_from", Value::Word("window".into()));
    let mut talk = twenty(&Config { congest, ..config("reno") });
    talk.expire();
    assert_eq!(talk.ssthresh(), 10_000, "21 segments halved in whole segments");
    talk.expire();
    assert_eq!(talk.ssthresh(), 2 * MSS, "ns-2's collapse: half of a window of one");
}

#[test]
fn the_back_off_doubles_and_a_sample_ends_it() {
    let mut talk = twenty(&config("reno"));
    let expiries: Vec<_> = (0..7).map(|_| talk.expire().0).collect();
    assert_eq!(expiries, [1100, 3100, 7100, 15_100, 31_100, 63_100, 123_100], "1, 2, 4 ... 60 s");
    talk.ack(123_200, 2, &[], 123_100);
    assert_eq!(talk.rto(), 1000);
}

#[test]
fn without_timestamps_a_retransmitted_segment_gives_no_sample() {
    let mut talk = Talk::with(&config("reno"), Negotiated { mss: 1000, sack: false, timestamps: false });
    talk.send();
    talk.ack(100, 1, &[], 0);
    assert_eq!(talk.engine.snapshot().samples, 1);
    talk.expire();
    talk.ack(1200, 2, &[], 0);
    assert_eq!(talk.engine.snapshot().samples, 1);
    assert_eq!(talk.rto(), 2000, "Karn: still backed off");
}

/// The peer closes its window while two segments are outstanding.
#[test]
fn probing_a_closed_window_leaves_cwnd() {
    let mut talk = Talk::new(&config("reno"));
    talk.limit = talk::start(3);
    assert_eq!(talk.send(), new(1..=2));
    talk.limit = 1;
    assert_eq!(talk.ack(100, 0, &[], 0), []);
    let cwnd = talk.cwnd();
    for (millis, copy) in [(1000, 1), (3000, 2)] {
        talk.now = talk.engine.deadline();
        assert_eq!(talk.now, talk::at(millis));
        assert!(talk.engine.on_timeout(talk.now));
        let probe = talk.engine.probe_window(talk.now, 1, None);
        assert_eq!((probe.start, probe.len, probe.kind, probe.copy), (1, 1, Kind::WindowProbe, copy));
        assert_eq!(talk.send(), []);
    }
    assert_eq!(talk.cwnd(), cwnd);
    assert!(talk.events().is_empty());
}

#[test]
fn a_burst_limit_bounds_the_segments_sent_for_one_ack() {
    let pace = Choice::named("burst-limit").with("segments", Value::Integer(3));
    let mut talk = Talk::new(&Config { pace, ..config("reno") });
    assert_eq!(talk.send(), new(1..=3));
    assert_eq!(talk.ack(100, 1, &[], 0), new(4..=6));
}

#[test]
fn pacing_spreads_the_window_over_the_round_trip() {
    let pace = Choice::named("pacing").with("slow_start_percent", Value::Integer(100));
    let mut talk = Talk::new(&Config { pace, ..config("reno") });
    assert_eq!(talk.send(), new(1..=10));
    // cwnd 11 000 over 100 ms: a segment every 9.09 ms.
    assert_eq!(talk.ack(100, 1, &[], 0), new(11..=11));
    let next = talk.engine.deadline();
    assert_eq!(next.as_nanos(), 100_000_000 + 9_090_909);
    talk.now = next;
    talk.engine.on_timeout(next);
    assert_eq!(talk.send(), new(12..=12));
}

#[test]
fn idle_longer_than_the_timer_restarts_from_the_initial_window() {
    let mut talk = Talk::new(&config("reno"));
    talk.end = talk::start(21);
    talk.send();
    for segment in 1..=20 {
        talk.ack(100 + segment, segment, &[], 100);
    }
    assert_eq!(talk.cwnd(), 30_000);
    talk.end = talk::start(100);
    talk.now = talk::at(10_000);
    assert_eq!(talk.send().len(), 10);
}
