//! Lies told to a few segments: none spares the default sender a cut, and the same search finds those that pay elsewhere.

use core::ops::ControlFlow;

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use eifel_sim::liar::schedule::{Answer, Echoed};
use eifel_tcp::Settings;
use eifel_tcp::settings::TimestampSettings;
use eifel_worlds::{Fate, Fates, Lied, Question, Size, Subject, draw_lies, search_lies, search_lies_about};

const MSS: u16 = 1000;
const PLAIN: &str = "eifel-timestamps, plain";

fn question(detect: Choice, segments: u32, distinct: bool) -> Question {
    let congest = Choice::named("reno")
        .with("initial_window_segments", Value::Integer(segments.into()))
        .with("initial_ssthresh_bytes", Value::Integer(i64::from(segments) * i64::from(MSS)));
    let timestamps = if distinct { TimestampSettings::distinct([1, 2]) } else { TimestampSettings::default() };
    let settings = Settings { mss: MSS + 12, timestamps: Some(timestamps), ..Settings::default() };
    let sender = Config { detect, congest, ..Config::default() };
    Question { settings, sender, size: Size { segments, after: 2, ..Size::default() } }
}

fn all(question: &Question, altered: usize) -> Vec<Lied> {
    search_lies(question, altered, |_| ControlFlow::Continue(())).expect("a question").expect("an answer")
}

fn by_name(detect: &str) -> (Choice, bool) {
    match detect {
        // RFC 3522, section 3.2, with a clock of 1 ms.
        PLAIN => (Choice::named("eifel-timestamps").with("proof", Value::Word("older".into())), false),
        _ => (Choice::named(detect), true),
    }
}

/// Detector, lies, and loss patterns of which some lie spares the sender the cut.
type Row = (&'static str, u64, usize);

fn row(detect: &'static str, segments: u32, altered: usize) -> Row {
    let (choice, distinct) = by_name(detect);
    let found = all(&question(choice, segments, distinct), altered);
    assert_eq!(found.len(), (1 << segments) - 1, "every pattern of losses");
    assert_eq!(found.iter().map(|lied| lied.stuck).sum::<u64>(), 0, "{detect}");
    (detect, found.iter().map(|lied| lied.lies).sum(), found.iter().filter(|lied| lied.pays()).count())
}

fn rows(expected: &[Row], segments: u32, altered: usize) {
    let found: Vec<Row> = expected.iter().map(|&(detect, ..)| row(detect, segments, altered)).collect();
    assert_eq!(found, expected);
}

#[test]
fn two_altered_answers_to_six_segments_spare_the_default_nothing() {
    let expected = [
        ("eifel-timestamps", 50_321, 0),
        ("eifel-or-f-rto", 50_321, 0),
        ("f-rto-sack", 52_206, 0),
        ("none", 50_321, 0),
        (PLAIN, 38_914, 12),
    ];
    rows(&expected, 6, 2);
}

/// The search finds what is known to pay.
#[test]
fn every_lie_about_three_segments() {
    let expected = [("eifel-timestamps", 8196, 0), ("eifel-or-f-rto", 7667, 0), (PLAIN, 4008, 1), ("dsack", 8404, 3)];
    rows(&expected, 3, usize::MAX);
}

#[test]
fn every_lie_about_four_segments() {
    rows(&[("eifel-timestamps", 631_416, 0), ("eifel-or-f-rto", 491_223, 0)], 4, usize::MAX);
}

#[test]
fn an_honest_receiver_is_the_one_that_alters_nothing() {
    let (choice, distinct) = by_name("eifel-timestamps");
    let found = all(&question(choice, 4, distinct), 0);
    assert!(found.iter().all(|lied| lied.lies == 1 && (lied.uncut == 0) == lied.honest_is_cut));
    assert!(found.iter().any(|lied| lied.honest_is_cut));
}

/// RFC 3522's plain comparison believes any older timestamp: one altered answer is enough.
#[test]
fn the_smallest_lie_against_the_plain_comparison_echoes_an_older_timestamp() {
    let (choice, distinct) = by_name(PLAIN);
    let found = all(&question(choice, 6, distinct), 1);
    let smallest = found.iter().find_map(|lied| lied.smallest.as_ref().filter(|_| lied.pays())).expect("one pays");
    let altered: Vec<_> = smallest.iter().filter(|answer| **answer != Answer::default()).collect();
    assert_eq!(altered.len(), 1);
    assert_ne!(altered[0].echoed, Echoed::Due);
}

/// A timeout interrupts the repair of a genuine loss, and is spurious: the receiver has what it sends again, and holds its
/// acknowledgements back. FlightSize still counts what left before the cut, and RFC 4015, section 3.1, step 0, would save it.
/// All 76 354 166 lies about five segments were told once; of the losses, this one left six altered answers that paid.
#[test]
fn a_timeout_in_a_repair_saves_no_more_than_the_cut_left() {
    let (choice, distinct) = by_name("eifel-timestamps");
    let second = Fates::of(&[(Subject::Segment(1), Fate::Lost)]);
    let found = search_lies_about(&question(choice, 5, distinct), second, 6).expect("a question");
    assert_eq!((found.honest_is_cut, found.lies, found.uncut, found.stuck), (true, 805_855, 0, 0));
}

#[test]
fn a_lie_is_drawn() {
    let (choice, distinct) = by_name(PLAIN);
    let question = question(choice, 6, distinct);
    let found = all(&question, 1);
    let pays = found.iter().find(|lied| lied.pays()).expect("one pays");
    let drawn = draw_lies(&question, &pays.losses, pays.smallest.as_deref().expect("it pays")).expect("a question");
    assert!(drawn.to_string().contains("is spurious: echo older than the first retransmission"), "{drawn}");
    let honest = draw_lies(&question, &pays.losses, &[]).expect("a question");
    assert!(honest.to_string().contains("is genuine"), "{honest}");
}

#[test]
fn it_can_be_broken_off() {
    let (choice, distinct) = by_name("none");
    let broken = search_lies(&question(choice, 3, distinct), 9, |_| ControlFlow::Break(()));
    assert!(broken.expect("a question").is_none());
}
