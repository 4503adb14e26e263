//! Whether an undo is granted: the same evidence twice, within a round trip and later.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::script::{UNSET, overtaken, spike, text};
use crate::talk::{Talk, eifel};

fn with(grant: &str) -> Config {
    Config { grant: Choice::named(grant), ..eifel("reno-sack", "option-1") }
}

fn windows(talk: &Talk) -> (u64, u64) {
    (talk.cwnd(), talk.ssthresh())
}

/// Two spikes far apart are two undos.
fn delay_spike(grant: &str) {
    let mut talk = spike(&with(grant));
    talk.ack(3000, 2, &[], 0);
    assert_eq!(windows(&talk), (12_000, UNSET));
    assert_eq!(talk.expire().0, 6512);
    talk.ack(7000, 3, &[], 0);
    assert_eq!(windows(&talk), (13_000, UNSET));
}

fn genuine_loss(grant: &str) {
    let mut talk = overtaken(&with(grant));
    talk.ack(203, 14, &[], 103);
    assert_eq!(windows(&talk), (5500, 5500));
}

/// SRTT is 100 ms at the undo of 3000; a fast retransmit at 3012, and one at 3112, prove as spurious. Where it is refused
/// 12 outstanding stay halved, and the repair goes on.
fn reordering(grant: &str, soon: (u64, u64)) {
    let again = |at: u64| {
        let mut talk = spike(&with(grant));
        talk.ack(3000, 2, &[], 0);
        for d in 0..3 {
            talk.ack(at + d, 2, &[(4, 4 + d)], 0);
        }
        assert_eq!(windows(&talk), (6000, 6000));
        talk.ack(at + 3, 6, &[], 0);
        windows(&talk)
    };
    assert_eq!(again(3010), soon);
    assert_eq!(again(3110), (13_000, UNSET));
}

fn lost_acks(grant: &str) {
    let mut talk = spike(&with(grant));
    assert_eq!(text(&talk.ack(3000, 7, &[], 0)), "13 14 15 16 17 18 19");
    assert_eq!(windows(&talk), (12_000, UNSET));
}

/// Nothing is asked for.
fn duplicated_packet(grant: &str) {
    let mut talk = spike(&with(grant));
    talk.ack_with(3000, 3, &[], 0, Some(2));
    assert_eq!(windows(&talk), (2000, 5500));
}

macro_rules! grant {
    ($module:ident, $name:literal, $soon:expr) => {
        pub mod $module {
            use super::*;

            pub const CASES: [fn(); 5] = [
                || delay_spike($name),
                || genuine_loss($name),
                || reordering($name, $soon),
                || lost_acks($name),
                || duplicated_packet($name),
            ];
        }
    };
}

grant!(always, "always", (13_000, UNSET));
// 6000 and 1 000 000 / 6000.
grant!(once_a_round_trip, "once-a-round-trip", (6000, 6000));
