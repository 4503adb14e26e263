//! Unexpected resets, SYNs and acknowledgements: RFC 9293, section 3.10.7.4, and RFC 5961.

use crate::talk::{Talk, ms, plain, read};
use eifel_base::time::Duration;
use eifel_tcp::settings::{ChallengeLimit, ReceiveKind, SackUse, TimeWait, TimestampSettings};
use eifel_tcp::{Event, Settings, State};

/// Connections in every synchronised state, each with RCV.NXT and the event of a reset.
fn synchronised() -> Vec<(Talk, u32, Event)> {
    let mut all = Vec::new();
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "S 0 win 5000 mss 1000");
    all.push((talk, 1, Event::Refused));
    let mut talk = Talk::connect(&plain());
    talk.sent();
    talk.gets(0, "S 0 win 5000 mss 1000");
    all.push((talk, 1, Event::Refused));
    all.push((Talk::open(&plain()), 1, Event::Reset));
    for steps in [&[][..], &["A 1 ack 2 win 9000"], &["FA 1 ack 1 win 9000"], &["FA 1 ack 2 win 9000"]] {
        let mut talk = Talk::open(&plain());
        talk.connection.shutdown_write();
        talk.sent();
        for step in steps {
            talk.gets(0, step);
        }
        let over = matches!(talk.connection.state(), State::TimeWait { .. });
        let nxt = if steps.iter().any(|step| step.starts_with('F')) { 2 } else { 1 };
        all.push((talk, nxt, if over { Event::Closed } else { Event::Reset }));
    }
    for closes in [false, true] {
        let mut talk = Talk::open(&plain());
        talk.gets(0, "FA 1 ack 1 win 9000");
        if closes {
            talk.connection.shutdown_write();
        }
        all.push((talk, 2, Event::Reset));
    }
    for (talk, ..) in &mut all {
        talk.sent();
        talk.events();
    }
    all
}

#[test]
fn the_cases_cover_all_states() {
    let names: Vec<String> = synchronised().iter().map(|(talk, ..)| format!("{:?}", talk.connection.state())).collect();
    let expected = [
        "SynReceived(Passive)",
        "SynReceived(Simultaneous)",
        "Established",
        "FinWait1",
        "FinWait2",
        "Closing",
        "TimeWait { until: 60s }",
        "CloseWait",
        "LastAck",
    ];
    assert_eq!(names, expected);
}

#[test]
fn an_exact_reset_ends_the_connection_in_every_state() {
    for (mut talk, nxt, event) in synchronised() {
        talk.gets(5, &format!("R {nxt}"));
        talk.says(&[]);
        talk.is(State::Closed);
        assert_eq!(talk.events(), [event]);
    }
}

#[test]
fn a_reset_in_the_window_is_challenged_and_one_outside_is_ignored() {
    for (mut talk, nxt, _) in synchronised() {
        let state = talk.connection.state();
        talk.gets(5, &format!("R {}", nxt + 1));
        let challenge = talk.sent();
        assert_eq!(challenge.len(), 1, "{state:?}");
        assert!(challenge[0].contains(&format!("ack {nxt}")), "{state:?} {challenge:?}");
        for outside in [nxt - 1, 10_002, 20_000] {
            talk.gets(5, &format!("R {outside}"));
            talk.says(&[]);
        }
        talk.is(state);
        assert_eq!(talk.events(), []);
    }
}

#[test]
fn a_syn_is_challenged_in_every_state() {
    for (mut talk, nxt, _) in synchronised() {
        let state = talk.connection.state();
        for syn in [format!("S {nxt}"), "S 500000".into(), format!("SA {nxt} ack 0")] {
            talk.gets(5, &syn);
            let challenge = talk.sent();
            assert_eq!(challenge.len(), 1, "{state:?}");
            assert!(challenge[0].starts_with('A') && challenge[0].contains(&format!("ack {nxt}")), "{challenge:?}");
        }
        talk.is(state);
    }
}

#[test]
fn challenges_are_limited() {
    let challenge = ChallengeLimit { acks: 3, interval: Duration::from_secs(5) };
    let mut talk = Talk::open(&Settings { challenge, ..plain() });
    let mut answers = |at| {
        (0..10)
            .map(|_| {
                talk.gets(at, "R 77");
                talk.sent().len()
            })
            .sum::<usize>()
    };
    let sent = [answers(1), answers(5000), answers(5001), answers(10_001)];
    assert_eq!(sent[1], 0);
    assert!([0, 2, 3].iter().all(|&interval| (2..=3).contains(&sent[interval])), "{sent:?}");
    let counts = talk.connection.counts();
    assert_eq!(counts.challenges, sent.iter().sum::<usize>() as u64);
    assert_eq!(counts.challenges + counts.withheld_challenges, 40);
}

#[test]
fn in_a_time_wait_that_may_end_syns_are_challenged_within_the_limit_and_fins_answered_always() {
    let mut talk = Talk::open(&Settings { time_wait_rule: TimeWait::Reopens, ..plain() });
    talk.connection.shutdown_write();
    talk.sent();
    talk.gets(1, "FA 1 ack 2 win 10000");
    talk.says(&["A 2 ack 2 win 9999"]);
    let mut answers = |segment: &str| {
        (0..20)
            .map(|_| {
                talk.gets(2, segment);
                talk.sent().len()
            })
            .sum::<usize>()
    };
    assert_eq!(answers("FA 1 ack 2 win 10000"), 20);
    assert!((5..=10).contains(&answers("SA 1 ack 2 win 10000")));
    let counts = talk.connection.counts();
    assert_eq!(counts.challenges + counts.withheld_challenges, 20);
}

#[test]
fn empty_segments_outside_the_window_are_answered_within_the_limit() {
    let mut talk = Talk::open(&plain());
    let mut answers = |segment: &str| {
        (0..20)
            .map(|_| {
                talk.gets(1, segment);
                talk.sent().len()
            })
            .sum::<usize>()
    };
    assert!((5..=10).contains(&answers("A 0 ack 1 win 10000")));
    // A segment with data is always answered.
    assert_eq!(answers("A 0..1 ack 1 win 10000"), 20);
}

#[test]
fn acknowledgements_of_unsent_or_long_acknowledged_data_are_refused() {
    let settings = Settings {
        timestamps: Some(TimestampSettings::default()),
        sack: SackUse::WithDuplicates,
        receive: ReceiveKind::Counted,
        ..plain()
    };
    let mut talk = Talk::open(&settings);
    for round in 0..20 {
        talk.connection.write_counted(1000);
        talk.sent();
        talk.gets(1, &format!("A 1 ack {} win 10000 ts 100/1", 1001 + round * 1000));
    }
    for ack in [20_002i64, 25_000, 1_000_000_000, 10_000, -2_000_000_000] {
        talk.gets(1, &format!("A 1..101 ack {ack} win 10000 ts 5000/0"));
        assert_eq!(talk.connection.received(), 0);
        talk.says(&["A 20001 ack 1 win 10000 ts 1/100"]);
    }
    assert_eq!(talk.connection.counts().refused_acks, 5);
    // An old acknowledgement within the largest window: the data counts.
    talk.gets(1, "A 1..101 ack 10001 win 10000 ts 101/0");
    assert_eq!(talk.connection.received(), 100);
}

#[test]
fn a_segment_without_acknowledgement_is_dropped() {
    let mut talk = Talk::open(&plain());
    talk.gets(1, "P 1..101 win 10000");
    talk.says(&[]);
    assert_eq!(talk.connection.received(), 0);
}

#[test]
fn a_million_blind_segments_change_nothing() {
    let settings = Settings {
        timestamps: Some(TimestampSettings::default()),
        sack: SackUse::WithDuplicates,
        receive: ReceiveKind::Counted,
        ..plain()
    };
    let mut talk = Talk::open(&settings);
    let mut random = 1u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % below
    };
    // In-window resets that do not match RCV.NXT, SYNs, and data with blind acknowledgement numbers
    // outside the sent range.
    for _ in 0..1 << 20 {
        let mut segment = match draw(3) {
            0 => read("R 0"),
            1 => read("S 0"),
            _ => read("A 1..101 ack 0 win 1 ts 99999/1"),
        };
        segment.seq.0 = segment.seq.0.wrapping_add(2 + draw(9_000) as u32);
        segment.ack.0 = segment.ack.0.wrapping_add(2 + draw((1 << 32) - 20_000) as u32);
        talk.connection.handle_segment(ms(10), &segment, &[]);
    }
    talk.sent();
    talk.is(State::Established);
    talk.gets(11, "A 1..101 ack 1 win 10000 ts 101/0");
    assert_eq!(talk.connection.received(), 100);
    assert_eq!(talk.connection.peer_window(), 10_000);
}
