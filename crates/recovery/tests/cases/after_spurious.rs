//! What the timer is after one spurious timeout, after two in a row, and after a genuine one.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::script::{open, overtaken, spike};
use crate::talk::{Talk, again, eifel, ms, new};

/// RTOs in microseconds.
pub struct Expected {
    /// Right after a spike of 3 s, and after a second that delays segment 3 by 15 s.
    pub spikes: [u64; 2],
    /// Long after both, when every round trip takes 10 ms.
    pub after_spikes: u64,
    /// After a spike and then a genuine timeout.
    pub genuine: u64,
    /// Long after a spike and then a spurious fast retransmit.
    pub after_reordering: u64,
    /// After a spike, when everything was acknowledged at once by a peer that sends DSACKs; and long after.
    pub all_at_once: [u64; 2],
}

fn with(name: &str) -> Config {
    let rto = Choice::named("rfc6298").with("maximum_ms", Value::Duration(ms(1_000_000)));
    Config { after_spurious: Choice::named(name), rto, ..eifel("reno-sack", "option-1") }
}

fn rto(talk: &Talk) -> u64 {
    talk.engine.snapshot().rto.as_nanos() / 1000
}

/// 600 round trips of 10 ms: SRTT is 10 ms and RTTVAR nothing.
fn settled(mut talk: Talk) -> u64 {
    let start = talk.now.as_nanos() / 1_000_000;
    let first = (talk.engine.una() - 1) / 1000 + 1;
    for (at, segment) in (start + 10..).step_by(10).zip(first..first + 600) {
        talk.ack(at, segment, &[], at - 10);
    }
    rto(&talk)
}

/// The first delayed sample is 3 s: RTTVAR (3 * 50 + 2900) / 4 = 762.5, SRTT (7 * 100 + 3000) / 8 = 462.5, RTO 3512.5.
/// The second is 15 s: 4206.25, 2279.6875, 19 104.6875.
pub fn delay_spike(name: &str, expected: &Expected) {
    let mut talk = spike(&with(name));
    assert_eq!(talk.ack(3000, 2, &[], 0), new(13..=14));
    assert_eq!(rto(&talk), expected.spikes[0]);
    assert_eq!(talk.expire(), (3000 + expected.spikes[0] / 1000, again(3..=3)));
    talk.ack(15_000, 3, &[], 0);
    assert_eq!(talk.verdicts().len(), 2);
    assert_eq!(rto(&talk), expected.spikes[1]);
    assert_eq!(settled(talk), expected.after_spikes);
}

/// A spike, then segment 3 is really lost: its retransmission's round trip takes 100 ms. From 762.5 and 462.5:
/// RTTVAR (2287.5 + 362.5) / 4 = 662.5, SRTT (3237.5 + 100) / 8 = 417.1875. A spike after that counts as the first.
pub fn genuine_loss(name: &str, expected: &Expected) {
    let mut talk = spike(&with(name));
    talk.ack(3000, 2, &[], 0);
    let (expired, _) = talk.expire();
    talk.ack(expired + 100, 3, &[], expired);
    assert_eq!(talk.verdicts().last().expect("a verdict").0, "Genuine");
    assert_eq!(rto(&talk), expected.genuine);
    assert_eq!(settled(talk), 1_000_000);
}

/// A fast retransmit that was spurious says nothing of the timer: 104 ms make RTO 1 s. It does not undo a spike either.
pub fn reordering(name: &str, expected: &Expected) {
    let mut talk = overtaken(&with(name));
    talk.ack(104, 5, &[], 0);
    assert_eq!(talk.verdicts()[0].0, "Spurious");
    assert_eq!(rto(&talk), 1_000_000);
    assert_eq!(settled(talk), 1_000_000);

    let mut talk = spike(&with(name));
    talk.ack(3000, 2, &[], 0);
    for d in 1..=3 {
        talk.ack(3000 + d, 2, &[(4, 3 + d)], 0);
    }
    talk.ack(3005, 6, &[], 0);
    assert_eq!(talk.verdicts().len(), 2);
    assert_eq!(settled(talk), expected.after_reordering);
}

/// Where only the last ACK arrives the timeout counts as genuine and teaches nothing but the sample itself.
pub fn lost_acks(name: &str) {
    let mut talk = spike(&with(name));
    talk.ack(3000, 12, &[], 0);
    assert_eq!(talk.verdicts()[0].0, "Genuine");
    assert_eq!(rto(&talk), 3_512_500);
    assert_eq!(settled(talk), 1_000_000);
}

/// A DSACK teaches the timer nothing, but lets the detector judge an ACK of everything.
pub fn duplicated_packet(name: &str, expected: &Expected) {
    let mut talk = open(&with(name));
    talk.ack_with(101, 1, &[], 0, Some(1));
    assert_eq!(rto(&talk), 1_000_000);
    talk.expire();
    talk.ack(3000, 12, &[], 0);
    assert_eq!(rto(&talk), expected.all_at_once[0]);
    assert_eq!(settled(talk), expected.all_at_once[1]);
}

macro_rules! after_spurious {
    ($module:ident, $name:literal, $expected:expr) => {
        pub mod $module {
            use super::*;

            const EXPECTED: Expected = $expected;

            pub const CASES: [fn(); 5] = [
                || delay_spike($name, &EXPECTED),
                || genuine_loss($name, &EXPECTED),
                || reordering($name, &EXPECTED),
                || lost_acks($name),
                || duplicated_packet($name, &EXPECTED),
            ];
        }
    };
}

after_spurious!(
    none,
    "none",
    Expected {
        spikes: [3_512_500, 19_104_687],
        after_spikes: 1_000_000,
        genuine: 3_067_187,
        after_reordering: 1_000_000,
        all_at_once: [3_512_500, 1_000_000],
    }
);

// 3 * 3 s, 3 * 15 s. From 3 s and 1.5 s the genuine one's 100 ms make 2637.5 + 4 * 1850.
after_spurious!(
    reseed,
    "reseed",
    Expected {
        spikes: [9_000_000, 45_000_000],
        after_spikes: 1_000_000,
        genuine: 10_037_500,
        after_reordering: 1_000_000,
        all_at_once: [9_000_000, 1_000_000],
    }
);

// Twice and four times what the samples say.
after_spurious!(
    back_off,
    "back-off",
    Expected {
        spikes: [7_025_000, 76_418_750],
        after_spikes: 4_000_000,
        genuine: 3_067_187,
        after_reordering: 2_000_000,
        all_at_once: [7_025_000, 2_000_000],
    }
);

// The minimum is 2 s, then 3 s.
after_spurious!(
    min_plus_plus,
    "min-plus-plus",
    Expected {
        spikes: [3_512_500, 19_104_687],
        after_spikes: 3_000_000,
        genuine: 3_067_187,
        after_reordering: 2_000_000,
        all_at_once: [3_512_500, 2_000_000],
    }
);
