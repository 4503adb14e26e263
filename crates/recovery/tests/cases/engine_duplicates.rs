//! The deliveries that duplicate ACKs stand for without SACK, seen in a window that grows by all
//! deliveries.

use eifel_recovery::engine::{Config, Negotiated};
use eifel_recovery::registry::{Choice, Value};

use crate::talk::{MSS, Talk, config, new, start};

/// Returns the segments by which cwnd grows. `first` segments are outstanding when the duplicates
/// come, `later` segments are sent after them, and one ACK acknowledges all.
fn grown(first: u64, duplicates: u64, later: u64) -> u64 {
    let linux = Choice::named("reno").with("counting", Value::Word("linux".into()));
    let linux = linux.with("grow", Value::Word("always".into()));
    let config = Config { congest: linux, ..config("newreno") };
    let mut talk = Talk::with(&config, Negotiated { mss: MSS as u32, sack: false, timestamps: false });
    let before = talk.cwnd();
    talk.end = start(first + 1);
    assert_eq!(talk.send(), new(1..=first));
    for at in 0..duplicates {
        assert_eq!(talk.ack(100 + at, 0, &[], 0), []);
    }
    talk.end = start(first + later + 1);
    assert_eq!(talk.send(), new(first + 1..=first + later));
    talk.ack(200, first + later, &[], 0);
    (talk.cwnd() - before) / MSS
}

/// RFC 6937, section 3: a duplicate ACK delivers a segment, and an ACK of everything delivers those
/// that no duplicate stood for. The segment that the ACKs ask for has not arrived, so a single
/// outstanding segment causes no duplicates.
#[test]
fn duplicate_acks_count_no_more_segments_than_may_have_arrived() {
    for first in 1..=5 {
        for duplicates in 0..=2 {
            for later in 0..=3 {
                let delivered = first + later - duplicates.min(first - 1);
                assert_eq!(grown(first, duplicates, later), delivered, "{first} {duplicates} {later}");
            }
        }
    }
}
