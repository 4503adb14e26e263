//! HyStart and HyStart++: a round trip of 100 ms that becomes 120 ms, worked out by hand. The naive
//! models cover everything else.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::script::UNSET;
use crate::talk::{Talk, at, config, eifel, start};

fn with(base: Config, (name, word): (&str, &str), segments: i64) -> Config {
    let congest = Choice::named(name)
        .with("grow", Value::Word("always".into()))
        .with("initial_window_segments", Value::Integer(segments))
        .with("slow_start", Value::Word(word.into()));
    Config { congest, ..base }
}

fn windows(talk: &Talk) -> (u64, u64) {
    (talk.cwnd(), talk.ssthresh())
}

/// Acknowledges 16 segments at 100 ms, and the first nine of the next 32 at 220 ms.
fn slower(config: &Config) -> Talk {
    let mut talk = Talk::new(config);
    talk.send();
    (1..=16).for_each(|segment| _ = talk.ack(100, segment, &[], 0));
    assert_eq!(windows(&talk), (32_000, UNSET));
    (17..=25).for_each(|segment| _ = talk.ack(220, segment, &[], 100));
    talk
}

/// A round trip above 112.5 ms is long. HyStart detects it at the ninth sample, before the window
/// of 40 segments grows. HyStart++ detects it at the eighth, after the window has grown. From then
/// on an ACK adds a quarter of a segment.
pub fn slow_start(name: &str) {
    for (word, expected) in
        [("standard", (41_000, UNSET)), ("hystart", (40_025, 40_000)), ("hystart++", (40_250, UNSET))]
    {
        assert_eq!(windows(&slower(&with(config("reno-sack"), (name, word), 16))), expected, "{name} {word}");
    }
}

/// ACKs no more than 2 ms apart are a train. It begins at 100 ms, with the first ACK, and is longer
/// than half the shortest round trip at 152 ms. Each ACK covers a segment that was sent 100 ms
/// before, so no round trip is long.
#[test]
fn a_train_of_half_a_round_trip_ends_slow_start() {
    let ends = |apart: u64| {
        let mut talk = Talk::new(&with(config("reno-sack"), ("reno", "hystart"), 64));
        (0..80).find_map(|index| {
            talk.limit = start(index + 2);
            talk.now = at(index * apart);
            talk.send();
            let since = (index * apart).checked_sub(100)?;
            talk.ack(index * apart, since / apart + 1, &[], 0);
            (talk.ssthresh() != UNSET).then(|| (index * apart, talk.ssthresh()))
        })
    };
    // 26 earlier ACKs have let 64 segments grow to 90.
    assert_eq!([2, 4].map(ends), [Some((152, 90_000)), None]);
}

/// A loss ends HyStart++ for good; a spurious loss signal does not.
#[test]
fn only_a_genuine_loss_ends_the_conservative_slow_start() {
    let mut talk = slower(&with(config("reno-sack"), ("reno", "hystart++"), 16));
    let (now, _) = talk.expire();
    talk.ack(now + 120, 26, &[], now);
    assert_eq!(talk.cwnd(), 2000, "a segment, not a quarter");

    let mut talk = slower(&with(eifel("reno-sack", "option-1"), ("reno", "hystart++"), 16));
    let (now, _) = talk.expire();
    talk.ack(now + 1, 26, &[], 100);
    assert_eq!(talk.verdicts()[0].0, "Spurious");
    let before = talk.cwnd();
    talk.ack(now + 2, 27, &[], 100);
    assert_eq!(talk.cwnd() - before, 250);
}
