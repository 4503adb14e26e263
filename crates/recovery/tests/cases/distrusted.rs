//! Detectors that no longer trust their peer: this is reported once, and they do not judge again.

use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{Config, Event};
use eifel_recovery::fact::{Ack, Echo, Mark};
use eifel_recovery::registry::{Choice, Value};

use crate::judged::with;
use crate::script::spike;
use crate::talk::{Talk, at};

fn older() -> Choice {
    Choice::named("eifel-timestamps").with("proof", Value::Word("older".into()))
}

/// Returns the dismissed detectors, the judgements and the undos, in order.
fn told(talk: &mut Talk) -> Vec<String> {
    let events = talk.events().into_iter().filter_map(|event| match event {
        Event::Distrusted { detector, .. } => Some(format!("{detector} dismissed")),
        Event::Judged { detector, outcome: Outcome::Genuine, .. } => Some(format!("{detector} genuine")),
        Event::Judged { detector, outcome: Outcome::Spurious, .. } => Some(format!("{detector} spurious")),
        Event::Adjusted { .. } => Some("undone".into()),
        _ => None,
    });
    events.collect()
}

/// Sends an ACK that acknowledges nothing new and echoes a timestamp that was never sent.
fn forge(talk: &mut Talk, millis: u64) {
    let echo = Some(Echo::Forged);
    let cumulative = talk.engine.una();
    let ack = Ack { cumulative, sacks: &[], dsacks: &[], echo, mark: None, plain: false, ece: false };
    talk.engine.on_ack(at(millis), &ack);
}

/// One detector acts and one watches by timestamps. Another watches by marks and ignores the forged
/// echoes.
#[test]
fn three_forged_echoes_dismiss_every_detector_that_uses_timestamps() {
    let observers = vec![Choice::named("eifel-bit"), older()];
    let mut talk = spike(&Config { observers, ..with(older()) });
    talk.events();
    for millis in [2000, 2001, 2002] {
        assert_eq!(told(&mut talk), [""; 0]);
        forge(&mut talk, millis);
    }
    assert_eq!(told(&mut talk), ["0 genuine", "0 dismissed", "2 genuine", "2 dismissed"]);
    // The original's echo: only the detector that goes by marks still judges.
    talk.mark = Some(Mark::Original);
    talk.ack(3000, 2, &[], 0);
    assert_eq!(told(&mut talk), ["1 spurious"]);
}

/// Between episodes there is nothing to judge.
#[test]
fn a_detector_dismissed_between_episodes_judges_nothing() {
    let mut talk = spike(&with(older()));
    talk.ack(3000, 2, &[], 0);
    assert_eq!(told(&mut talk), ["0 spurious", "undone"]);
    for millis in 3001..3010 {
        forge(&mut talk, millis);
    }
    assert_eq!(told(&mut talk).last().map(String::as_str), Some("0 dismissed"));
    talk.expire();
    talk.ack(9000, 3, &[], 0);
    assert_eq!(told(&mut talk), [""; 0]);
}
