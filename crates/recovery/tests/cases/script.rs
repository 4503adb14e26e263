//! The opening situations of the cases, and helpers to compare their results.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::{Progress, Window};
use eifel_recovery::engine::Config;
use eifel_recovery::rto::Sample;
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::talk::{Out, Talk, again, new};

pub const UNSET: u64 = u64::MAX;

/// Sends segments 1..=10 at 0 and acknowledges the first at 100 ms. Then cwnd is 11 segments,
/// 2..=12 are outstanding, SRTT is 100 ms, RTTVAR 50 ms, and the timer expires at 1100 ms.
pub fn open(config: &Config) -> Talk {
    let mut talk = Talk::new(config);
    assert_eq!(talk.send(), new(1..=10));
    assert_eq!(talk.ack(100, 1, &[], 0), new(11..=12));
    assert_eq!(talk.cwnd(), 11_000);
    talk
}

/// Delays everything from 100 ms on. The timer expires at 1100 ms, and segment 2 is retransmitted.
pub fn spike(config: &Config) -> Talk {
    let mut talk = open(config);
    assert_eq!(talk.expire(), (1100, again(2..=2)));
    talk
}

/// Segments 3, 4 and 5 arrive before 2. Limited Transmit sends two new segments, then 2 is
/// retransmitted at 103 ms.
pub fn overtaken(config: &Config) -> Talk {
    let mut talk = open(config);
    assert_eq!(talk.ack(101, 1, &[(3, 3)], 0), new(13..=13));
    assert_eq!(talk.ack(102, 1, &[(3, 4)], 0), new(14..=14));
    assert_eq!(talk.ack(103, 1, &[(3, 5)], 0)[..1], again(2..=2));
    talk
}

/// Returns the sent segments as text, for example "2r 3r 13 14".
pub fn text(out: &[Out]) -> String {
    let words: Vec<_> = out
        .iter()
        .map(|out| match out {
            Out::New(segment) => segment.to_string(),
            Out::Again(segment) => format!("{segment}r"),
        })
        .collect();
    words.join(" ")
}

/// Returns a sample in congestion avoidance: the ACK of one segment, with ssthresh and cwnd of 10
/// segments.
pub fn of(rtt: Duration) -> Sample {
    Sample { rtt, acked: 1000, window: Window { cwnd: 10_000, ssthresh: 10_000 } }
}

/// Returns an ACK of `acked` bytes. `flight` bytes were outstanding before it.
pub fn progress(acked: u64, flight: u64) -> Progress {
    Progress { acked, sacked: 0, delivered: acked, flight }
}

/// Returns a view for algorithms that are called without an engine, with segments of 1000 bytes.
pub fn view(round_trips: &RoundTrips) -> View {
    View { now: Instant::ZERO, una: 1, nxt: 11_001, mss: 1000, sack: true, round_trips: *round_trips }
}
