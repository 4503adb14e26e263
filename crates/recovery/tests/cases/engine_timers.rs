//! The engine's deadline, and episodes that end without a verdict.

use eifel_recovery::engine::{Config, Event, Kind};
use eifel_recovery::registry::{Choice, Value};

use crate::script::{UNSET, open, overtaken, spike, text};
use crate::talk::{MSS, Out, Talk, at, config, eifel, start};

/// A millisecond before the deadline nothing happens.
#[test]
fn a_timeout_that_comes_too_early_does_nothing() {
    let mut talk = open(&config("reno-sack"));
    talk.engine.on_timeout(at(1099));
    assert_eq!((text(&talk.send()), talk.engine.deadline(), talk.cwnd()), (String::new(), at(1100), 11_000));
    assert_eq!(talk.expire().0, 1100);
}

/// Each ACK acknowledges a segment in time, and new data stays outstanding. The standard timer starts
/// anew with each ACK, and the other one runs on.
#[test]
fn a_timer_that_acks_never_restart_expires_while_acks_come() {
    let deadlines = |name: &str| {
        let rto = Choice::named(name).with("minimum_ms", Value::Duration(crate::talk::ms(200)));
        let mut talk = open(&Config { rto, ..config("reno-sack") });
        let begun = talk.engine.deadline();
        for segment in 2..=6 {
            talk.ack(100 + 10 * segment, segment, &[], 0);
            talk.send();
        }
        (begun, talk.engine.deadline())
    };
    let (begun, restarted) = deadlines("rfc6298");
    assert!(restarted > begun, "{restarted:?} {begun:?}");
    let (begun, running) = deadlines("never-restarted");
    assert_eq!(running, begun);
}

/// F-RTO does not judge a fast retransmit, so the episode ends without a verdict and counts as a
/// loss. A later undo then sets ssthresh to the window at the timeout. Without a loss before, the
/// undo restores the old ssthresh.
#[test]
fn a_loss_signal_without_a_verdict_counts_as_a_loss() {
    let config = Config { detect: Choice::named("f-rto"), ..eifel("reno-sack", "option-4-ssthresh") };
    let mut talk = spike(&config);
    talk.ack(3000, 2, &[], 0);
    talk.ack(3001, 3, &[], 0);
    assert_eq!(talk.ssthresh(), UNSET);

    let mut talk = overtaken(&config);
    talk.ack(203, 14, &[], 103);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
    assert!(talk.verdicts().is_empty());
    // In congestion avoidance cwnd grows beyond ssthresh, so the test can tell which of the two is
    // restored.
    for segment in 15..=18 {
        talk.ack(303, segment, &[], 203);
    }
    let window = talk.cwnd();
    assert!(window > 6000 && talk.ssthresh() == 5500);
    talk.expire();
    talk.ack(3000, 19, &[], 303);
    talk.ack(3001, 20, &[], 303);
    assert_eq!(talk.verdicts().len(), 1);
    assert_eq!(talk.ssthresh(), window, "the window when the timer expired");
}

/// Each episode has a unique number.
#[test]
fn episodes_are_numbered() {
    let mut talk = overtaken(&config("reno-sack"));
    talk.ack(203, 14, &[], 103);
    talk.expire();
    let opened: Vec<_> = talk
        .events()
        .into_iter()
        .filter_map(|event| if let Event::EpisodeOpened { episode, .. } = event { Some(episode.number) } else { None })
        .collect();
    assert_eq!(opened, [1, 2]);
}

/// A probe is two segments of new data, in place of recovery's retransmissions. Without new data,
/// nothing is sent.
#[test]
fn a_probe_of_new_data_is_two_segments() {
    let mut talk = spike(&Config { detect: Choice::named("f-rto"), ..eifel("reno-sack", "option-1") });
    // 13 is half a segment, and there is no more data.
    talk.end = start(13) + 500;
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13");
    let offer = |talk: &Talk| talk.engine.offer(talk.end, u64::MAX, None);
    assert!(talk.engine.poll_send(talk.now, &offer(&talk)).is_none(), "the probe is under way");
    talk.end = start(20);
    let offer = offer(&talk);
    let rest = talk.engine.poll_send(talk.now, &offer).expect("the rest of the two segments");
    assert_eq!((rest.start, rest.len, rest.kind), (start(13) + 500, 1000, Kind::New));
}

/// An ACK on the peer's data acknowledges nothing new, so the count of timeouts stays.
#[test]
fn an_ack_of_nothing_new_leaves_the_timer() {
    let mut talk = open(&config("reno-sack"));
    talk.expire();
    talk.expire();
    talk.ack(4000, 1, &[], 0);
    assert_eq!(talk.engine.consecutive_timeouts(), 2);
    talk.ack(4001, 2, &[], 0);
    assert_eq!(talk.engine.consecutive_timeouts(), 0);
}

/// After an episode with a partial loss, a response may restore a part of the window. A response
/// that does not leaves the window unchanged.
#[test]
fn a_mixed_verdict_changes_no_window_if_the_response_restores_nothing() {
    for (respond, adjusted) in [("option-1", 0), ("partial-credit", 1)] {
        let mut talk = spike(&Config { detect: Choice::named("dsack"), ..eifel("reno-sack", respond) });
        talk.ack(3000, 2, &[], 0);
        talk.ack_with(3050, 2, &[(5, 12)], 0, Some(2));
        talk.ack(3100, 12, &[], 3000);
        talk.ack_with(3101, 12, &[], 3000, Some(4));
        talk.ack(3200, 13, &[], 3100);
        let sent_by_then = (talk.engine.nxt() - 1) / MSS;
        talk.ack(3300, sent_by_then, &[], 3200);
        let events = talk.events();
        assert!(events.iter().any(|event| matches!(event, Event::Judged { .. })), "{respond}");
        let found = events.iter().filter(|event| matches!(event, Event::Adjusted { .. })).count();
        assert_eq!(found, adjusted, "{respond}");
    }
}

/// Without news F-RTO stays undecided, and only the probe is sent: 5 was SACKed before.
#[test]
fn a_probe_continues_over_an_ack_without_news() {
    let mut talk = spike(&Config { detect: Choice::named("f-rto-sack"), ..eifel("reno-sack", "option-1") });
    assert_eq!(text(&talk.ack(3000, 1, &[(5, 5)], 0)), "");
    assert_eq!(text(&talk.ack(3001, 2, &[(5, 5)], 0)), "13 14");
    assert_eq!(text(&talk.ack(3002, 2, &[(5, 5)], 0)), "");
    assert!(talk.verdicts().is_empty());
    talk.ack(3003, 3, &[(5, 5)], 0);
    assert_eq!(talk.verdicts()[0].0, "Spurious");
}

/// A refused probe settles the episode as genuine. The timer learns this and releases the back-off
/// that a spurious timeout has held.
#[test]
fn the_timer_learns_from_a_probe_that_is_refused() {
    let rto_with = |after_spurious: &str| {
        let after_spurious = Choice::named(after_spurious);
        let detect = Choice::named("f-rto");
        let mut talk = spike(&Config { detect, after_spurious, ..eifel("reno-sack", "option-1") });
        talk.ack(3000, 2, &[], 0);
        talk.ack(3001, 3, &[], 0);
        assert_eq!(talk.verdicts()[0].0, "Spurious");
        // 4 and later segments are late too, and there is no new data.
        talk.end = start((talk.engine.nxt() - 1) / 1000 + 1);
        talk.expire();
        talk.ack(20_000, 4, &[], 3000);
        assert_eq!(talk.verdicts()[0].0, "Genuine");
        talk.rto()
    };
    assert_eq!(rto_with("back-off"), rto_with("none"));
}

/// There is no new data, but lost segments are retransmitted when pacing allows: not earlier, and
/// not at the RTO.
#[test]
fn retransmissions_are_paced_if_there_is_no_new_data() {
    let mut talk = Talk::new(&Config { pace: Choice::named("pacing"), ..config("fack") });
    talk.end = start(11);
    assert_eq!(text(&talk.send()), "1 2 3 4 5 6 7 8 9 10");
    assert_eq!(text(&talk.ack(100, 1, &[], 0)), "");
    assert_eq!(text(&talk.ack(101, 1, &[(6, 10)], 0)), "2r");
    // The rate is 4.5 segments per round trip of 100 ms, times 1.2, so the second is due soon.
    let (now, sent) = talk.expire();
    assert!(now < 130, "{now}");
    assert_eq!(text(&sent), "3r");
}

/// Takes a `talk` that repairs segment 2 and has sent 14. For five round trips the peer SACKs all
/// that is sent, which lets more segments go, while the cumulative ACK stands still. Then the timer
/// expires.
fn hears_without_end(talk: &mut Talk) {
    let mut last = 14;
    for round in 2..=6 {
        if let Some(Out::New(segment)) = talk.ack(100 * round + 50, 1, &[(3, last)], 0).pop() {
            last = segment;
        }
    }
    let due = talk.expire().0;
    assert!((700..2000).contains(&due), "{due}");
}

/// RFC 5681, section 3.1: ssthresh is at most half of FlightSize, which includes SACKed data that
/// is not acknowledged. A receiver that only SACKs must not raise ssthresh by waiting for the timer
/// before the repair has ended.
#[test]
fn a_timeout_during_fast_recovery_does_not_raise_ssthresh() {
    for recover in ["rfc6675", "reno-sack", "rack-tlp"] {
        let mut talk = overtaken(&config(recover));
        let cut = talk.ssthresh();
        hears_without_end(&mut talk);
        assert!(talk.engine.snapshot().flight > 2 * cut, "{recover}");
        // RACK-TLP cuts once more, for a lost retransmission.
        assert!(talk.ssthresh() <= cut, "{recover}: {}", talk.ssthresh());
    }
}

/// An undone cut does not limit ssthresh later: the flight was sent under a window that no loss has
/// cut. This also holds in congestion avoidance, where ssthresh was below the cut cwnd.
#[test]
fn a_timeout_after_an_undo_sets_ssthresh_from_the_flight() {
    for ssthresh in [UNSET, 4000] {
        let config = eifel("reno-sack", "option-1");
        let initial = if ssthresh == UNSET { 0 } else { ssthresh as i64 };
        let congest = config.congest.clone().with("initial_ssthresh_bytes", Value::Integer(initial));
        let mut talk = Talk::new(&Config { congest, ..config });
        talk.send();
        for last in 2..=4 {
            talk.ack(99 + last, 0, &[(2, last)], 0);
        }
        assert_eq!(talk.ssthresh(), 5000);
        talk.ack(104, 1, &[(2, 4)], 0);
        assert!(talk.cwnd() >= 10_000 && talk.ssthresh() == ssthresh, "undone");
        talk.expire();
        let half = talk.engine.snapshot().flight / 2;
        assert!(half > 5000 && talk.ssthresh() == half, "{} of {half}", talk.ssthresh());
    }
}

/// After the repair has ended, a timeout is the first sign of new congestion.
#[test]
fn a_timeout_after_fast_recovery_sets_ssthresh_from_the_flight() {
    let mut talk = overtaken(&config("reno-sack"));
    let cut = talk.ssthresh();
    let mut last = 14;
    for round in 2..=90 {
        if let Some(Out::New(segment)) = talk.ack(100 * round + 50, last, &[], 0).pop() {
            last = segment;
        }
    }
    talk.expire();
    let flight = talk.engine.snapshot().flight;
    assert!(flight / 2 > cut);
    assert_eq!(talk.ssthresh(), flight / 2);
}
