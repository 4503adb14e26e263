//! Whole counts, drawings and lies of small worlds.

use core::ops::ControlFlow;
use std::fmt::Write;

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use eifel_sctp::{TimestampChunk, TimestampValues};
use eifel_tcp::Settings;
use eifel_tcp::settings::{Marks, TimestampSettings};
use eifel_testkit::{digest, golden};
use eifel_worlds::{
    AssociationQuestion, Fate, Fates, HeldUntil, Question, Size, Subject, draw, draw_lies, search, search_association,
    search_lies,
};

const DETECTORS: [&str; 6] = ["none", "eifel-timestamps", "eifel-bit", "dsack", "f-rto", "min-rtt"];
const HELD: [HeldUntil; 2] = [HeldUntil::Timeout, HeldUntil::LossSignal];

fn question(detect: &str, size: Size) -> Question {
    let settings = Settings {
        mss: 1012,
        timestamps: Some(TimestampSettings::distinct([1, 2])),
        marks: Some(Marks::Bits),
        ..Settings::default()
    };
    let sender = Config {
        detect: Choice::named(detect),
        respond: Choice::named("rfc4015"),
        congest: Choice::named("reno").with("initial_window_segments", Value::Integer(10)),
        ..Config::default()
    };
    Question { settings, sender, size }
}

#[test]
fn tallies_of_connections_match_their_golden() {
    let mut text = String::new();
    for detect in DETECTORS {
        for held_until in HELD {
            for (before, after, late_ms) in [(2, 6, 10), (1, 0, 60), (5, 3, 300)] {
                let size = Size { segments: 2, before, after, held_until, late_ms };
                let tally = search(&question(detect, size), |_| ControlFlow::Continue(())).unwrap().unwrap();
                writeln!(text, "{detect} {size:?}: {tally:?}").unwrap();
            }
        }
    }
    golden!("connections.txt", text);
}

#[test]
fn tallies_of_associations_match_their_golden() {
    let mut text = String::new();
    for detect in ["eifel-cover-timestamps", "eifel-cover-or-dsack", "dsack"] {
        for held_until in HELD {
            for (paths, late_ms) in [(1, 10), (2, 60)] {
                let mut settings = eifel_sctp::Settings {
                    timestamp_chunk: TimestampChunk::Agreed,
                    timestamp_values: TimestampValues::Clock,
                    receive_buffer: 4400,
                    retransmit_bit: true,
                    ..Default::default()
                };
                settings.engine.path.detect = Choice::named(detect);
                settings.engine.path.respond = Choice::named("rfc4015");
                let size = Size { segments: 2, before: 3, after: 2, held_until, late_ms };
                let question = AssociationQuestion { settings, paths, size };
                let tally = search_association(&question, |_| ControlFlow::Continue(())).unwrap().unwrap();
                writeln!(text, "{detect} {paths} {size:?}: {tally:?}").unwrap();
            }
        }
    }
    golden!("associations.txt", text);
}

/// Returns the fates that a number stands for: two bits for each of three segments and of their
/// ACKs.
fn fates(number: u32) -> Fates {
    let fate = |place: u32| Fate::ALL[(number >> (2 * place) & 3) as usize];
    let of = |segment: u32| {
        let place = segment as usize;
        [(Subject::Segment(place), fate(segment)), (Subject::Ack(place), fate(3 + segment))]
    };
    Fates::of(&(0..3).flat_map(of).collect::<Vec<_>>())
}

#[test]
fn drawings_of_worlds_match_their_golden() {
    let (mut whole, mut digests) = (String::new(), String::new());
    for (place, detect) in DETECTORS.into_iter().enumerate() {
        let size = Size { segments: 3, before: 2, after: 4, held_until: HELD[place % 2], late_ms: 10 };
        let question = question(detect, size);
        for number in (place as u32 * 5..4096).step_by(37) {
            let fates = fates(number);
            let drawn = draw(&question, &fates).unwrap().to_string();
            if number % 13 == 0 && whole.len() < 15_000 {
                writeln!(whole, "{detect}, {fates}\n{drawn}").unwrap();
            }
            writeln!(digests, "{detect} {number}: {}", digest(drawn)).unwrap();
        }
    }
    golden!("drawn.txt", whole);
    golden!("drawn_digests.txt", digests);
}

#[test]
fn tallies_of_lies_match_their_golden() {
    let mut text = String::new();
    for (detect, segments, altered) in [("none", 3, 1), ("eifel-timestamps", 4, 1), ("dsack", 3, 2), ("f-rto", 4, 1)] {
        let size = Size { segments, before: 1, after: 2, ..Size::default() };
        let found =
            search_lies(&question(detect, size), Some(altered), |_| ControlFlow::Continue(())).unwrap().unwrap();
        for lied in &found {
            let shown = format!("{lied:?}");
            if let Some(smallest) = lied.smallest.as_ref().filter(|_| lied.pays()) {
                let drawn = draw_lies(&question(detect, size), &lied.losses, smallest).unwrap();
                writeln!(text, "{drawn}").unwrap();
            }
            // The number of states depends on the memory of algorithms, and not on the results of
            // lies.
            let (shown, _) = shown.rsplit_once(", states: ").unwrap();
            writeln!(text, "{detect} {altered}, {}: {shown} }}", lied.losses).unwrap();
        }
    }
    golden!("lies.txt", text);
}

#[test]
fn default_questions_match_their_golden() {
    let mut text = format!("{:#?}\n", Size::default());
    for (segments, distinct) in [(3, false), (6, true)] {
        writeln!(text, "{:#?}", Question::of_lies(Choice::named("dsack"), segments, distinct)).unwrap();
    }
    golden!("questions.txt", text);
}
