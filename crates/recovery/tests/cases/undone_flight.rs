//! The flight that a loss signal counts, if the flight has grown only by the peer's SACK reports.
//! RFC 5681, section 3.1, equation 4 is a bound.

use eifel_recovery::engine::{Config, Event};
use eifel_recovery::registry::{Choice, Value};

use crate::script::{UNSET, overtaken};
use crate::talk::{Talk, again, at, config, eifel, new, start};

/// Continues after `overtaken`, which cuts cwnd from 11 segments to 5.5. Segment 2 stays
/// unacknowledged, and each SACKed segment lets another one go. Returns the last SACKed segment.
fn grown(config: &Config, reports: u64) -> (Talk, u64) {
    let mut talk = overtaken(config);
    for last in 6..6 + reports {
        talk.ack(98 + last, 1, &[(3, last)], 0);
    }
    (talk, 5 + reports)
}

/// The repair of 2 ends at its recovery point, and then 15 is reported missing. Half of FlightSize
/// would be 17 segments.
#[test]
fn a_loss_counts_at_most_cwnd_and_a_segment_of_the_flight() {
    let (mut talk, last) = grown(&config("rfc6675"), 40);
    talk.ack(200, 14, &[(16, last)], 0);
    assert_eq!((talk.engine.snapshot().flight, talk.cwnd()), (35_000, 5500));
    assert_eq!(talk.ack(201, 14, &[(16, last + 1)], 0)[..1], again(15..=15));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (3250, 3250), "half of cwnd and the segment across its end");
}

/// A timeout while 2 is being repaired, and a further timeout. Each counts the flight that counted
/// before the cut.
#[test]
fn data_sent_before_the_cut_counts_until_it_is_acknowledged() {
    let (mut talk, _) = grown(&config("rfc6675"), 40);
    assert_eq!(talk.engine.snapshot().flight, 48_000);
    talk.expire();
    assert_eq!((talk.cwnd(), talk.ssthresh()), (1000, 5500));
    talk.expire();
    assert_eq!((talk.cwnd(), talk.ssthresh()), (1000, 5500));
}

/// The fast retransmit of 2 was spurious, and the same ACK reports 3 missing. FlightSize is 47
/// segments when the verdict comes.
#[test]
fn after_an_undo_a_loss_counts_at_most_cwnd_and_a_segment() {
    let (mut talk, last) = grown(&eifel("rfc6675", "rfc4015"), 40);
    assert_eq!(talk.ack(200, 2, &[(4, last)], 0)[..1], again(3..=3));
    let undone = talk.events().into_iter().find_map(|event| match event {
        Event::Adjusted { window, .. } => Some((window.cwnd, window.ssthresh)),
        _ => None,
    });
    assert_eq!(undone, Some((11_000, UNSET)), "cwnd is no larger than before");
    assert_eq!((talk.cwnd(), talk.ssthresh()), (6000, 6000), "half of cwnd and the segment across its end");
}

/// cwnd is 21 segments, but the peer's window is ten. The fast retransmit of 2 is undone, and the
/// one of 3 was needed.
#[test]
fn a_cut_after_an_undo_uses_the_peers_window_of_that_time() {
    let congest = config("rfc6675").congest.with("initial_window_segments", Value::Integer(20));
    let congest = congest.with("ssthresh_from", Value::Word("window".into()));
    let detect = Choice::named("eifel-timestamps");
    let mut talk = Talk::new(&Config { detect, congest, ..eifel("rfc6675", "option-1") });
    for segment in 1..=10 {
        (talk.now, talk.limit) = (at(segment), start(segment + 1));
        assert_eq!(talk.send(), new(segment..=segment));
    }
    talk.limit = start(12);
    assert_eq!(talk.ack(100, 1, &[], 1), new(11..=11));
    assert_eq!(talk.ack(101, 1, &[(4, 4)], 1), []);
    assert_eq!(talk.ack(102, 1, &[(4, 5)], 1), []);
    assert_eq!(talk.ack(103, 1, &[(4, 6)], 1), again(2..=2));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5000, 5000));
    assert_eq!(talk.ack(104, 1, &[(4, 9)], 1), again(3..=3));
    talk.ack(105, 2, &[(4, 9)], 2);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (22_000, UNSET), "and a segment for the ACK");
    talk.ack(204, 11, &[], 104);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5000, 5000));
}
