//! The other timers in an engine with a Reno-SACK sender: when they are sampled, restarted and backed off. Microseconds.
//!
//! The first ACK comes with cwnd at 10 segments and ssthresh unset, so FLIGHT_E is 6 segments; after the losses cwnd or
//! ssthresh is 5.5 segments, and it is 6.5. ACKs of more than one segment have a gain of 2 / FLIGHT_E.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::script::{open, overtaken};
use crate::talk::{Talk, at, config};

/// SRTT, RTTVAR, RTO and deadline; 0 without an estimate.
type Timer = [u64; 4];

pub struct Expected {
    /// After the first sample, 100 ms.
    pub opened: Timer,
    /// Expiries in a spike that lasts until 2000 ms.
    pub expiries: &'static [u64],
    /// After the ACK of the oldest segment then, which gives a sample of 2000 ms.
    pub spike: Timer,
    /// The deadline of a fast retransmit at 103 ms, and the timer when at 203 ms everything is acknowledged by an echo
    /// of that.
    pub loss: (u64, Timer),
    /// After an overtaken segment gave a sample of 104 ms.
    pub reordering: Timer,
    /// After one ACK in the place of six gave 105 ms.
    pub lost_acks: Timer,
}

fn with(name: &str) -> Config {
    Config { rto: Choice::named(name), ..config("reno-sack") }
}

fn micros(nanos: u64) -> u64 {
    nanos / 1000
}

pub fn timer(talk: &Talk) -> Timer {
    let now = talk.engine.snapshot();
    let length = |duration: Option<eifel_recovery::time::Duration>| duration.map_or(0, |d| micros(d.as_nanos()));
    [length(now.srtt), length(now.rttvar), micros(now.rto.as_nanos()), micros(now.deadline.as_nanos())]
}

pub fn delay_spike(name: &str, expected: &Expected) {
    let mut talk = open(&with(name));
    let mut expiries = Vec::new();
    while talk.engine.deadline() < at(2000) {
        talk.expire();
        expiries.push(micros(talk.now.as_nanos()));
    }
    assert_eq!(expiries, expected.expiries);
    talk.ack(2000, 2, &[], 0);
    assert_eq!(timer(&talk), expected.spike);
}

pub fn genuine_loss(name: &str, expected: &Expected) {
    let mut talk = overtaken(&with(name));
    assert_eq!(micros(talk.engine.deadline().as_nanos()), expected.loss.0, "the fast retransmit starts it anew");
    talk.ack(203, 14, &[], 103);
    assert_eq!(timer(&talk), expected.loss.1);
}

pub fn reordering(name: &str, expected: &Expected) {
    let mut talk = overtaken(&with(name));
    talk.ack(104, 5, &[], 0);
    assert_eq!(timer(&talk), expected.reordering);
}

pub fn lost_acks(name: &str, expected: &Expected) {
    let mut talk = open(&with(name));
    talk.ack(105, 7, &[], 0);
    assert_eq!(timer(&talk), expected.lost_acks);
}

/// An ACK that acknowledges nothing new gives no sample and does not move the deadline.
pub fn duplicated_packet(name: &str, expected: &Expected) {
    let mut talk = open(&with(name));
    talk.ack_with(150, 1, &[], 0, Some(1));
    talk.ack_with(250, 1, &[], 0, Some(1));
    assert_eq!(timer(&talk), expected.opened);
}

macro_rules! conversations {
    ($module:ident, $name:literal, $expected:expr) => {
        pub mod $module {
            use super::*;

            const EXPECTED: Expected = $expected;

            pub const CASES: [fn(); 5] = [
                || delay_spike($name, &EXPECTED),
                || genuine_loss($name, &EXPECTED),
                || reordering($name, &EXPECTED),
                || lost_acks($name, &EXPECTED),
                || duplicated_packet($name, &EXPECTED),
            ];
        }
    };
}

// Within the first tick a round trip takes none, and two ticks are the minimum; 2000 ms are four ticks: RTTVAR 4 / 4,
// SRTT 4 / 8. All deadlines lie on ticks.
conversations!(
    lite,
    "lite",
    Expected {
        opened: [0, 0, 1_000_000, 1_000_000],
        expiries: &[1_000_000],
        spike: [250_000, 500_000, 2_000_000, 4_000_000],
        loss: (1_000_000, [0, 0, 1_000_000, 1_000_000]),
        reordering: [0, 0, 1_000_000, 1_000_000],
        lost_acks: [0, 0, 1_000_000, 1_000_000],
    }
);

// First RTTVAR 2 x 100 / 6, RTO 100 + 6 x 33 1/3, less the age of segment 2, sent at 0. Then gain 2 / 13, with cwnd 1 and
// ssthresh 5.5: RTTVAR 33 1/3 + 2/13 (1900 - 33 1/3), SRTT 100 + 2/13 x 1900, RTO SRTT + 6.5 RTTVAR, and segment 3 is to
// leave again now. Elsewhere gain 4 / 13, squared 16 / 169: RTTVAR 33 1/3 x 153 / 169 for 100 ms.
conversations!(
    eifel,
    "eifel",
    Expected {
        opened: [100_000, 33_333, 300_000, 300_000],
        expiries: &[300_000, 900_000],
        spike: [392_307, 320_512, 2_475_641, 4_475_641],
        loss: (403_000, [100_000, 30_177, 198_076, 401_076]),
        reordering: [101_230, 30_556, 200_538, 200_538],
        lost_acks: [101_538, 30_650, 201_153, 201_153],
    }
);

// The same times AGG = 1 - 0.05 / 37.5 at the first sample; at the second the window has shrunk from 10 segments, or
// is 11 segments and has not, which makes a cycle of 45.375.
conversations!(
    self_trained,
    "self-trained",
    Expected {
        opened: [100_000, 33_333, 299_600, 299_600],
        expiries: &[299_600, 898_800],
        spike: [392_307, 320_512, 2_469_043, 4_469_043],
        loss: (402_600, [100_000, 30_177, 197_549, 400_549]),
        reordering: [101_230, 30_556, 200_004, 200_004],
        lost_acks: [101_538, 30_650, 200_664, 200_664],
    }
);

// Four mean deviations are 200 ms at first, the minimum too. 2000 ms: SRTT 100 + 1900 / 8, mean deviation
// 50 + (1900 - 50) / 4, RTO SRTT + 2050. The largest deviation of the round trip keeps the RTO 200 ms above SRTT.
conversations!(
    linux,
    "linux",
    Expected {
        opened: [100_000, 50_000, 300_000, 400_000],
        expiries: &[400_000, 1_000_000],
        spike: [337_500, 512_500, 2_387_500, 4_387_500],
        loss: (403_000, [100_000, 50_000, 300_000, 503_000]),
        reordering: [100_500, 50_000, 300_500, 404_500],
        lost_acks: [100_625, 50_000, 300_625, 405_625],
    }
);

conversations!(
    fixed,
    "fixed",
    Expected {
        opened: [0, 0, 1_000_000, 1_100_000],
        expiries: &[1_100_000],
        spike: [0, 0, 1_000_000, 3_000_000],
        loss: (1_103_000, [0, 0, 1_000_000, 1_203_000]),
        reordering: [0, 0, 1_000_000, 1_104_000],
        lost_acks: [0, 0, 1_000_000, 1_105_000],
    }
);
