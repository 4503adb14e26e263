//! Small sizes: exact totals, and comparisons of different ways of counting.

use core::ops::ControlFlow;
use std::sync::Mutex;

use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::Settings;
use eifel_tcp::settings::{Marks, TimestampSettings};
use eifel_worlds::{Failure, Fate, Fates, HeldUntil, Question, Size, Subject, Tally, draw, run, search, search_each};

const MSS: u16 = 1000;

/// RFC 3522, section 3.2, with a clock of 1 ms.
const PLAIN: &str = "eifel-timestamps, plain";

/// NeedsFate about three segments with a window of three.
fn question(detect: &str, late_ms: u32) -> Question {
    sized(detect, 3, 3, late_ms)
}

/// NeedsFate about `segments` segments with an initial window that equals ssthresh, and timestamps if
/// the detector needs them.
fn sized(detect: &str, segments: u32, window: u32, late_ms: u32) -> Question {
    let congest = Choice::named("reno")
        .with("initial_window_segments", Value::Integer(window.into()))
        .with("initial_ssthresh_bytes", Value::Integer(i64::from(window) * i64::from(MSS)));
    let timestamps = match detect {
        PLAIN => Some(TimestampSettings::default()),
        "eifel-timestamps" => Some(TimestampSettings::distinct([1, 2])),
        _ => None,
    };
    let mss = if timestamps.is_some() { MSS + 12 } else { MSS };
    let settings = Settings { mss, timestamps, marks: Some(Marks::Bits), ..Settings::default() };
    let detect = match detect {
        PLAIN => Choice::named("eifel-timestamps").with("proof", Value::Word("older".into())),
        _ => Choice::named(detect),
    };
    let sender = Config { detect, congest, ..Config::default() };
    Question { settings, sender, size: Size { segments, late_ms, ..Size::default() } }
}

fn all(question: &Question) -> Tally {
    search(question, |_| ControlFlow::Continue(())).expect("a question").expect("an answer")
}

const DETECTORS: [&str; 8] =
    ["eifel-timestamps", PLAIN, "eifel-bit", "f-rto", "f-rto-sack", "dsack", "dual-rtt", "min-rtt"];

fn counted(detect: &str, late_ms: u32) -> Vec<u64> {
    let tally = all(&question(detect, late_ms));
    assert_eq!((tally.worlds, tally.run), (4096, 13 * 13 * 13), "{detect}");
    [vec![tally.with_loss, tally.with_episode, tally.undone], Failure::ALL.map(|one| tally.failed(one).worlds).into()]
        .concat()
}

/// 1 - (3/4)^3 of all worlds lose data. `sharing_and_weights_change_nothing` compares five of the
/// columns with runs of all 4096 worlds one by one.
#[test]
fn the_totals_of_three_segments_are_exact() {
    let counted: Vec<_> =
        TOTALS.iter().map(|&(detect, late_ms, _)| (detect, late_ms, counted(detect, late_ms))).collect();
    assert_eq!(counted, TOTALS.map(|(detect, late_ms, totals)| (detect, late_ms, totals.to_vec())));
}

/// Worlds with loss, with an episode; episodes undone; worlds by failure.
const TOTALS: [(&str, u32, [u64; 11]); 11] = [
    ("eifel-timestamps", 10, [2368, 3592, 324, 0, 1572, 0, 0, 220, 0, 1120, 0]),
    ("eifel-timestamps", 60, [2368, 3592, 108, 0, 1788, 0, 0, 68, 0, 1184, 0]),
    ("none", 10, [2368, 3592, 0, 0, 0, 1896, 0, 0, 0, 1224, 0]),
    (PLAIN, 10, [2368, 3592, 382, 0, 1514, 0, 0, 248, 0, 1090, 0]),
    (PLAIN, 60, [2368, 3592, 118, 0, 1778, 0, 0, 72, 0, 1178, 0]),
    ("eifel-bit", 10, [2368, 3592, 423, 0, 1473, 0, 0, 248, 0, 1049, 0]),
    ("f-rto", 60, [2368, 3592, 422, 160, 338, 1296, 160, 104, 96, 1066, 0]),
    ("f-rto-sack", 60, [2368, 3592, 278, 144, 466, 1296, 144, 60, 80, 1150, 0]),
    ("dsack", 60, [2368, 3592, 141, 0, 783, 972, 0, 4, 0, 1087, 0]),
    ("dual-rtt", 60, [2368, 3592, 226, 96, 470, 1296, 96, 44, 140, 1138, 0]),
    ("min-rtt", 10, [2368, 3592, 423, 0, 177, 1296, 0, 248, 0, 1049, 0]),
];

/// Returns the fates that the base-4 digits of a number stand for.
fn fates(mut number: u32, segments: usize) -> Fates {
    let mut chosen = Vec::new();
    for place in 0..2 * segments {
        let subject = if place < segments { Subject::Segment(place) } else { Subject::Ack(place - segments) };
        chosen.push((subject, Fate::ALL[(number % 4) as usize]));
        number /= 4;
    }
    Fates::of(&chosen)
}

/// Runs every world from its beginning, without clones, and counts each once.
#[test]
fn sharing_and_weights_change_nothing() {
    for (detect, late_ms) in [("eifel-timestamps", 10), (PLAIN, 10), ("f-rto", 60), ("dsack", 60), ("dual-rtt", 60)] {
        let question = question(detect, late_ms);
        let tally = all(&question);
        let mut one_by_one = [0; 5];
        for number in 0..4096 {
            let world = run(&question, &fates(number, 3)).expect("a question");
            let truth = world.truth();
            let wrong = |verdict, needed| {
                let is = |one: &eifel_worlds::Episode| one.verdict == verdict && one.needed == Some(needed);
                truth.episodes().iter().any(is)
            };
            one_by_one[0] += u64::from(truth.has_loss());
            one_by_one[1] += u64::from(wrong(Some(Outcome::Spurious), true));
            one_by_one[2] += u64::from(wrong(Some(Outcome::Genuine), false));
            one_by_one[3] += u64::from(truth.has_loss() && !truth.is_cut());
            one_by_one[4] += u64::from(!truth.has_loss() && truth.is_cut());
        }
        let searched = [Failure::FalseVerdict, Failure::Missed, Failure::Unpaid, Failure::NeedlessCut]
            .map(|failure| tally.failed(failure).worlds);
        assert_eq!(one_by_one[1..], searched, "{detect}");
        assert_eq!(one_by_one[0], tally.with_loss, "{detect}");
    }
}

#[test]
fn detectors_with_evidence_of_their_own_never_undo_falsely() {
    for detect in ["eifel-timestamps", PLAIN, "eifel-bit", "dsack", "min-rtt"] {
        for (held_until, late_ms) in [(HeldUntil::Timeout, 10), (HeldUntil::Timeout, 60), (HeldUntil::LossSignal, 10)] {
            let mut question = question(detect, late_ms);
            question.size.held_until = held_until;
            let tally = all(&question);
            assert_eq!(tally.failed(Failure::FalseUndo).smallest, None, "{detect}, {held_until:?}, {late_ms} ms");
        }
    }
}

/// RFC 5682, section 4: delayed data that the retransmission overtakes causes the ACK that F-RTO
/// expects of the original.
#[test]
fn f_rto_takes_an_ack_of_overtaken_data_for_one_of_the_original() {
    let question = sized("f-rto", 4, 4, 60);
    let smallest = all(&question).failed(Failure::FalseUndo).smallest.expect("it can be misled");
    assert_eq!(smallest.to_string(), "segment 1 lost, segment 4 delayed, ACK of 2 lost, ACK of 3 lost");
    let ladder = draw(&question, &smallest).expect("a question").to_string();
    let expected = [
        "   1000.0  1 again -->",
        "   1100.0  <-- ACK 4",
        "   1110.0  <-- ACK 5",
        "   1110.0  * episode 1 is spurious: the second ACK covers what was not sent again",
        "   1110.0  * undoes episode 1: cwnd 3.0, ssthresh 4.0 segments",
    ];
    for line in expected {
        assert!(ladder.lines().any(|one| one == line), "no line {line:?} in\n{ladder}");
    }
}

#[test]
fn no_world_is_stuck() {
    for detect in DETECTORS {
        assert_eq!(all(&question(detect, 110)).failed(Failure::Stuck).worlds, 0, "{detect}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_tally() {
    let question = question("dual-rtt", 60);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| all(&question))
    };
    assert_eq!(with(1), with(3));
}

/// The common part of all senders runs once. The results of each sender are the same as alone.
#[test]
fn responses_searched_together_equal_separate_searches() {
    let responses = ["none", "option-1", "option-2", "rfc4015", "rfc3708", "partial-credit"].map(Choice::named);
    for (detect, late_ms) in DETECTORS.iter().flat_map(|detect| [(detect, 10), (detect, 60)]) {
        let question = question(detect, late_ms);
        let together = search_each(&question, &responses, |_| ControlFlow::Continue(()));
        let apart = responses.iter().map(|respond| {
            let sender = Config { respond: respond.clone(), ..question.sender.clone() };
            all(&Question { sender, ..question.clone() })
        });
        let apart: Vec<Tally> = apart.collect();
        assert_eq!(together.expect("a question"), Some(apart), "{detect}, {late_ms}");
    }
}

/// The search replaces the question's response.
#[test]
fn the_searched_response_replaces_the_questions() {
    let question = question("eifel-timestamps", 10);
    let respond = Choice::named("none");
    assert_ne!(respond, question.sender.respond);
    let one = search_each(&question, std::slice::from_ref(&respond), |_| ControlFlow::Continue(()));
    let sender = Config { respond, ..question.sender.clone() };
    assert_eq!(one.expect("a question"), Some(vec![all(&Question { sender, ..question })]));
}

/// On one thread the counts come in order.
#[test]
fn progress_counts_every_world_and_stops_after_a_cancel() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let question = question("none", 10);
    let told = |most: usize| {
        let counts = Mutex::new(Vec::new());
        let found = pool.install(|| {
            search(&question, |count| {
                let mut counts = counts.lock().expect("one thread");
                counts.push(count);
                if counts.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        (counts.into_inner().expect("one thread"), found.expect("a question").is_some())
    };
    let (counts, complete) = told(usize::MAX);
    assert!(complete && counts.is_sorted_by(|one, next| one < next), "{counts:?}");
    assert_eq!(counts.last(), Some(&4096));
    assert_eq!(told(3), (counts[..3].to_vec(), false));
}

#[test]
fn a_search_can_be_cancelled() {
    let broken = search(&sized("none", 4, 4, 10), |_| ControlFlow::Break(()));
    assert!(broken.expect("a question").is_none());
}

#[test]
fn a_size_out_of_bounds_is_refused() {
    let mut question = sized("none", 9, 4, 10);
    let refused =
        |question: &Question| search(question, |_| ControlFlow::Break(())).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused(&question), "segments: 9 is out of bounds; allowed: 1 to 8");
    question.size = Size { late_ms: 0, ..Size::default() };
    assert_eq!(refused(&question), "late_ms: 0 is out of bounds; allowed: 1 to 10000");
    question.sender.detect = Choice::named("nothing");
    question.size = Size::default();
    assert!(refused(&question).contains("nothing"));
}
