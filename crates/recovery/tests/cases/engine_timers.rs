//! What the engine makes of its deadline, and of episodes that end without a verdict.

use eifel_recovery::engine::{Config, Event, Kind, Offer};
use eifel_recovery::registry::Choice;

use crate::script::{UNSET, open, overtaken, spike, text};
use crate::talk::{Talk, at, config, eifel, start};

/// Nanoseconds before its time nothing happens, whatever the timer is for.
#[test]
fn a_timeout_that_comes_too_early_does_nothing() {
    let mut talk = open(&config("reno-sack"));
    talk.engine.on_timeout(at(1099));
    assert_eq!((text(&talk.send()), talk.engine.deadline(), talk.cwnd()), (String::new(), at(1100), 11_000));
    assert_eq!(talk.expire().0, 1100);

    // The peer's window is closed: the persist timer.
    let mut talk = Talk::new(&config("reno-sack"));
    talk.limit = start(3);
    assert_eq!(text(&talk.send()), "1 2");
    assert_eq!(text(&talk.ack(100, 2, &[], 0)), "");
    let due = talk.engine.deadline();
    assert_eq!(due, at(1100));
    talk.now = at(1099);
    talk.engine.on_timeout(talk.now);
    assert_eq!((text(&talk.send()), talk.engine.deadline()), (String::new(), due));
    assert_eq!(text(&talk.expire().1), "3p");
}

/// F-RTO has no question for a fast retransmit, so that the episode ends without a verdict: it stands for a loss, and an undo
/// after it takes ssthresh from the window then. Where there was none, ssthresh is what it was.
#[test]
fn a_loss_signal_without_a_verdict_stands_for_a_loss() {
    let config = Config { detect: Choice::named("f-rto"), ..eifel("reno-sack", "option-4-ssthresh") };
    let mut talk = spike(&config);
    talk.ack(3000, 2, &[], 0);
    talk.ack(3001, 3, &[], 0);
    assert_eq!(talk.ssthresh(), UNSET);

    let mut talk = overtaken(&config);
    talk.ack(203, 14, &[], 103);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
    assert!(talk.verdicts().is_empty());
    talk.expire();
    assert_eq!((talk.cwnd(), talk.ssthresh()), (1000, 2500));
    talk.ack(3000, 15, &[], 203);
    talk.ack(3001, 16, &[], 203);
    assert_eq!(talk.verdicts().len(), 1);
    assert_eq!(talk.ssthresh(), 5500, "the window when the timer expired");
}

/// The number of an episode tells it from all others.
#[test]
fn episodes_are_numbered() {
    let mut talk = overtaken(&config("reno-sack"));
    talk.ack(203, 14, &[], 103);
    talk.expire();
    let opened: Vec<_> = talk
        .events()
        .into_iter()
        .filter_map(|event| if let Event::EpisodeOpened(episode) = event { Some(episode.number) } else { None })
        .collect();
    assert_eq!(opened, [1, 2]);
}

/// Two segments of new data, in the place of what recovery would send; a room of nothing sends nothing.
#[test]
fn a_probe_of_new_data_is_two_segments() {
    let mut talk = spike(&Config { detect: Choice::named("f-rto"), ..eifel("reno-sack", "option-1") });
    // 13 is half a segment, and then there is no more.
    talk.end = start(13) + 500;
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13");
    let offer = Offer { end: talk.end, fin: false, limit: u64::MAX, stamp: None };
    assert!(talk.engine.poll_send(talk.now, &offer).is_none(), "the probe is under way");
    talk.end = start(20);
    let offer = Offer { end: talk.end, ..offer };
    let rest = talk.engine.poll_send(talk.now, &offer).expect("the rest of the two segments");
    assert_eq!((rest.start, rest.len, rest.kind), (start(13) + 500, 1000, Kind::New));
}
