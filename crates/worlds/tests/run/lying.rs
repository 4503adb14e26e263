//! Lies about a few segments: none spares the default sender a cut. The same search finds lies that
//! pay against other senders.

use core::ops::ControlFlow;
use std::sync::Mutex;

use eifel_recovery::registry::{Choice, Value};
use eifel_sim::liar::schedule::{Answer, Echoed};
use eifel_worlds::{Fate, Fates, LieTally, Question, Subject, draw_lies, search_lies, search_lies_about};

const PLAIN: &str = "eifel-timestamps, plain";

fn all(question: &Question, altered: Option<usize>) -> Vec<LieTally> {
    search_lies(question, altered, |_| ControlFlow::Continue(())).expect("a question").expect("an answer")
}

fn question(detect: &str, segments: u32) -> Question {
    match detect {
        // RFC 3522, section 3.2, with a clock of 1 ms.
        PLAIN => {
            let older = Choice::named("eifel-timestamps").with("proof", Value::Word("older".into()));
            Question::of_lies(older, segments, false)
        }
        _ => Question::of_lies(Choice::named(detect), segments, true),
    }
}

fn lost(numbers: &[usize]) -> Fates {
    Fates::of(&numbers.iter().map(|number| (Subject::Segment(*number), Fate::Lost)).collect::<Vec<_>>())
}

/// Detector, number of lies, and number of loss patterns for which a lie spares the sender the cut.
type Row = (&'static str, u64, usize);

fn row(detect: &'static str, segments: u32, altered: Option<usize>) -> Row {
    let found = all(&question(detect, segments), altered);
    assert_eq!(found.len(), (1 << segments) - 1, "every pattern of losses");
    assert_eq!(found.iter().map(|lied| lied.stuck).sum::<u64>(), 0, "{detect}");
    (detect, found.iter().map(|lied| lied.lies).sum(), found.iter().filter(|lied| lied.pays()).count())
}

fn rows(expected: &[Row], segments: u32, altered: Option<usize>) {
    let found: Vec<Row> = expected.iter().map(|&(detect, ..)| row(detect, segments, altered)).collect();
    assert_eq!(found, expected);
}

#[test]
fn two_lies_about_six_segments_gain_nothing_against_the_default() {
    let expected = [
        ("eifel-timestamps", 50_321, 0),
        ("eifel-or-f-rto", 50_321, 0),
        ("f-rto-sack", 52_206, 0),
        ("none", 50_321, 0),
        (PLAIN, 38_914, 12),
    ];
    rows(&expected, 6, Some(2));
}

/// The search finds the lies that are known to pay.
#[test]
fn every_lie_about_three_segments() {
    let expected = [("eifel-timestamps", 8196, 0), ("eifel-or-f-rto", 7667, 0), (PLAIN, 4008, 1), ("dsack", 8404, 3)];
    rows(&expected, 3, None);
}

#[test]
fn every_lie_about_four_segments() {
    rows(&[("eifel-timestamps", 631_416, 0), ("eifel-or-f-rto", 491_223, 0)], 4, None);
}

#[test]
fn the_unaltered_answers_are_the_honest_receiver() {
    let found = all(&question("eifel-timestamps", 4), Some(0));
    assert!(found.iter().all(|lied| lied.lies == 1 && (lied.uncut == 0) == lied.honest_is_cut));
    assert!(found.iter().any(|lied| lied.honest_is_cut));
}

/// RFC 3522's plain comparison believes any older timestamp: one altered answer is enough.
#[test]
fn the_smallest_lie_against_the_plain_comparison_echoes_an_older_timestamp() {
    let found = all(&question(PLAIN, 6), Some(1));
    let smallest = found.iter().find_map(|lied| lied.smallest.as_ref().filter(|_| lied.pays())).expect("one pays");
    let altered: Vec<_> = smallest.iter().filter(|answer| **answer != Answer::default()).collect();
    assert_eq!(altered.len(), 1);
    assert_ne!(altered[0].echoed, Echoed::Due);
}

/// A spurious timeout interrupts the repair of a genuine loss: the receiver has the data that is
/// sent again, and withholds its acknowledgements. FlightSize still counts data sent before the
/// cut, and RFC 4015, section 3.1, step 0, would save it. Of all lies about five segments, those
/// about this loss paid; each altered at least six answers.
#[test]
fn a_timeout_during_recovery_does_not_save_the_window_before_the_cut() {
    let lied = search_lies_about(&question("eifel-timestamps", 5), lost(&[1]), None).expect("a question");
    assert_eq!((lied.honest_is_cut, lied.lies, lied.uncut, lied.stuck), (true, 16_633_263, 0, 0));
}

/// The other losses take minutes: `examples/lies.rs` tries all.
#[test]
fn every_lie_about_the_fifth_of_six_segments() {
    let lied = search_lies_about(&question("eifel-timestamps", 6), lost(&[4]), None).expect("a question");
    assert_eq!((lied.honest_is_cut, lied.lies, lied.uncut, lied.stuck), (true, 1_521_713_445, 0, 0));
    assert!(lied.states < 100_000, "{} states", lied.states);
}

#[test]
fn a_drawing_shows_the_lie() {
    let question = question(PLAIN, 6);
    let found = all(&question, Some(1));
    let pays = found.iter().find(|lied| lied.pays()).expect("one pays");
    let drawn = draw_lies(&question, &pays.losses, pays.smallest.as_deref().expect("it pays")).expect("a question");
    assert!(drawn.to_string().contains("is spurious: echo older than the first retransmission"), "{drawn}");
    let honest = draw_lies(&question, &pays.losses, &[]).expect("a question");
    assert!(honest.to_string().contains("is genuine"), "{honest}");
}

/// On one thread the counts come in order.
#[test]
fn progress_counts_every_lie_and_stops_after_a_cancel() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let told = |most: usize| {
        let counts = Mutex::new(Vec::new());
        let found = pool.install(|| {
            search_lies(&question("none", 3), Some(1), |count| {
                let mut counts = counts.lock().expect("one thread");
                counts.push(count);
                if counts.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        (counts.into_inner().expect("one thread"), found.expect("a question"))
    };
    let (counts, found) = told(usize::MAX);
    assert!(counts.is_sorted_by(|one, next| one < next), "{counts:?}");
    let lies: u64 = found.expect("an answer").iter().map(|lied| lied.lies).sum();
    assert_eq!(counts.last(), Some(&lies));
    assert_eq!(told(3), (counts[..3].to_vec(), None));
}

#[test]
fn a_search_can_be_cancelled() {
    let broken = search_lies(&question("none", 3), None, |_| ControlFlow::Break(()));
    assert!(broken.expect("a question").is_none());
}
