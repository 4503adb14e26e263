//! An association's small worlds: exact totals, and failures that no world may have.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use core::ops::ControlFlow;

use eifel_recovery::registry::{Choice, Value};
use eifel_sctp::{Settings, TimestampChunk, TimestampValues};
use eifel_worlds::{AssociationQuestion, Failure, HeldUntil, Size, Tally, search_association};

/// Suffix of a detector's name: selects the paper's comparison of timestamps, and its clock.
const OLDER: &str = ", older";

/// NeedsFate about three chunks with fates, in a receive window that has room for no others, so that
/// only the timer detects losses.
fn question(detect: &str, paths: usize, late_ms: u32) -> AssociationQuestion {
    let (timestamp_chunk, receive_buffer) = (TimestampChunk::Agreed, 4400);
    let mut settings = Settings { timestamp_chunk, receive_buffer, retransmit_bit: true, ..Settings::default() };
    settings.engine.path.detect = Choice::named(detect);
    if let Some(name) = detect.strip_suffix(OLDER) {
        settings.timestamp_values = TimestampValues::Clock;
        settings.engine.path.detect = Choice::named(name);
        settings.engine.path.detect.parameters.push(("proof".into(), Value::Word("older".into())));
    }
    settings.engine.path.respond = Choice::named("rfc4015");
    AssociationQuestion { settings, paths, size: Size { segments: 3, before: 4, after: 4, late_ms, ..Size::default() } }
}

fn all(question: &AssociationQuestion) -> Tally {
    search_association(question, |_| ControlFlow::Continue(())).unwrap().unwrap()
}

const DETECTORS: [&str; 7] =
    ["none", "eifel-cover-timestamps", "eifel-cover-bit", "eifel-cover-or-dsack", "dsack", "f-rto-sctp", "min-rtt"];

fn counted(detect: &str, paths: usize, late_ms: u32) -> Vec<u64> {
    let tally = all(&question(detect, paths, late_ms));
    assert_eq!(tally.worlds, 4096, "{detect}");
    [vec![tally.with_loss, tally.with_episode, tally.undone], Failure::ALL.map(|one| tally.failed(one).worlds).into()]
        .concat()
}

/// 1 - (3/4)^3 of all worlds lose data. As many worlds have an episode as for TCP. F-RTO is the
/// planted fault: it mistakes late data for the original (RFC 5682, section 4), and the search
/// finds that.
#[test]
fn the_totals_of_three_chunks_are_exact() {
    let counted: Vec<_> = TOTALS
        .iter()
        .map(|&(detect, paths, late_ms, _)| (detect, paths, late_ms, counted(detect, paths, late_ms)))
        .collect();
    let expected = TOTALS.map(|(detect, paths, late_ms, totals)| (detect, paths, late_ms, totals.to_vec()));
    assert_eq!(counted, expected);
}

/// Detector, paths, lateness; worlds with loss, with an episode; episodes undone; worlds by failure.
const TOTALS: [(&str, usize, u32, [u64; 11]); 26] = [
    ("none", 1, 10, [2368, 3592, 0, 0, 0, 1904, 0, 0, 0, 1224, 0]),
    ("eifel-cover-timestamps, older", 1, 10, [2368, 3592, 1139, 0, 749, 8, 0, 392, 16, 477, 0]),
    ("eifel-cover-bit", 1, 10, [2368, 3592, 1139, 0, 761, 8, 0, 392, 16, 477, 0]),
    ("eifel-cover-or-dsack, older", 1, 10, [2368, 3592, 1636, 0, 0, 260, 0, 608, 16, 196, 0]),
    ("dsack", 1, 10, [2368, 3592, 1008, 0, 328, 568, 0, 216, 0, 432, 0]),
    ("f-rto-sctp", 1, 10, [2368, 3592, 374, 0, 1514, 496, 0, 112, 0, 962, 0]),
    ("min-rtt", 1, 10, [2368, 3592, 1095, 0, 721, 88, 0, 376, 0, 505, 0]),
    ("eifel-cover-timestamps, older", 1, 60, [2368, 3592, 119, 0, 1769, 8, 0, 72, 0, 1177, 0]),
    ("eifel-cover-or-dsack, older", 1, 60, [2368, 3592, 560, 0, 0, 1336, 0, 128, 0, 792, 0]),
    ("dsack", 1, 60, [2368, 3592, 488, 0, 712, 704, 0, 56, 0, 792, 0]),
    ("f-rto-sctp", 1, 60, [2368, 3592, 478, 272, 1682, 440, 272, 64, 208, 1082, 0]),
    ("eifel-cover-timestamps, older", 2, 10, [2368, 3592, 612, 0, 1284, 0, 0, 0, 0, 612, 0]),
    ("eifel-cover-bit", 2, 10, [2368, 3592, 612, 0, 1284, 0, 0, 0, 0, 612, 0]),
    ("eifel-cover-or-dsack, older", 2, 10, [2368, 3592, 1008, 0, 0, 888, 0, 0, 0, 216, 0]),
    ("f-rto-sctp", 2, 10, [2368, 3592, 138, 92, 1850, 0, 92, 0, 92, 1178, 0]),
    ("eifel-cover-timestamps, older", 2, 60, [2368, 3592, 4, 0, 1892, 0, 0, 0, 0, 1220, 0]),
    ("eifel-cover-or-dsack, older", 2, 60, [2368, 3592, 304, 0, 0, 1592, 0, 0, 0, 920, 0]),
    ("min-rtt", 2, 60, [2368, 3592, 0, 0, 672, 1224, 0, 0, 0, 1224, 0]),
    ("eifel-cover-timestamps", 1, 10, [2368, 3592, 972, 0, 928, 8, 0, 364, 0, 624, 0]),
    ("eifel-cover-or-dsack", 1, 10, [2368, 3592, 1584, 0, 0, 320, 0, 580, 0, 228, 0]),
    ("eifel-cover-timestamps", 1, 60, [2368, 3592, 108, 0, 1796, 8, 0, 68, 0, 1184, 0]),
    ("eifel-cover-or-dsack", 1, 60, [2368, 3592, 556, 0, 0, 1348, 0, 124, 0, 792, 0]),
    ("eifel-cover-timestamps", 2, 10, [2368, 3592, 423, 0, 1473, 0, 0, 0, 0, 801, 0]),
    ("eifel-cover-or-dsack", 2, 10, [2368, 3592, 976, 0, 0, 920, 0, 0, 0, 248, 0]),
    ("eifel-cover-timestamps", 2, 60, [2368, 3592, 1, 0, 1895, 0, 0, 0, 0, 1223, 0]),
    ("eifel-cover-or-dsack", 2, 60, [2368, 3592, 304, 0, 0, 1592, 0, 0, 0, 920, 0]),
];

/// These detectors need evidence of the original itself, so no world restores the window after a
/// needed retransmission.
#[test]
fn eifel_and_reports_of_duplicates_never_undo_falsely() {
    for detect in ["eifel-cover-timestamps", "eifel-cover-bit", "eifel-cover-or-dsack", "dsack"] {
        for paths in [1, 2] {
            for held_until in [HeldUntil::Timeout, HeldUntil::LossSignal] {
                let mut question = question(detect, paths, 10);
                question.size.held_until = held_until;
                let tally = all(&question);
                assert_eq!(tally.failed(Failure::FalseUndo).smallest, None, "{detect}, {paths}, {held_until:?}");
            }
        }
    }
}

#[test]
fn no_world_is_stuck() {
    for detect in DETECTORS {
        for paths in [1, 2] {
            assert_eq!(all(&question(detect, paths, 110)).failed(Failure::Stuck).worlds, 0, "{detect}, {paths}");
        }
    }
}

#[test]
fn a_search_can_be_cancelled() {
    assert!(search_association(&question("none", 1, 10), |_| ControlFlow::Break(())).unwrap().is_none());
}
