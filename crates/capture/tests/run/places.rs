//! Captures at several places of a path show which retransmissions were needed, and claim no more than
//! they show.

use eifel_capture::frame::read::Frame;
use eifel_capture::frame::source::frames_of;
use eifel_capture::places::{Fate, Place, Report, Retransmission, join};
use eifel_capture::result::{Confidence, Verdict};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::segment::{Flags, Segment, Timestamps};
use eifel_packet::seq::Seq;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const PLACES: [&str; 3] = ["sender", "between", "receiver"];
/// Recordings of a kernel by `eifel truth record`: over the box, and over a LAN with a router.
const RECORDINGS: [&str; 2] = ["mixed", "lan"];
const LINKTYPE_RAW: u32 = 101;

fn file(recording: &str, place: &str, ending: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/places").join(format!("{recording}.{place}.{ending}"))
}

/// A frame of a recording.
#[derive(Clone, Debug)]
struct Recorded {
    nanos: u64,
    link: u32,
    wire_len: u32,
    bytes: Vec<u8>,
}

fn frames(recording: &str, place: &str) -> Vec<Recorded> {
    let mut frames = Vec::new();
    let take = |one: &Frame<'_>| {
        frames.push(Recorded { nanos: one.nanos, link: one.link, wire_len: one.wire_len, bytes: one.bytes.to_vec() });
    };
    frames_of(&file(recording, place, "pcapng.gz"), take, |_| Ok(())).expect("recordings are whole");
    frames
}

fn joined(captures: &[(&str, &[Recorded])]) -> Report {
    let places = captures.iter().map(|(name, frames)| {
        let mut place = Place::new(name, name);
        for (number, one) in (1..).zip(*frames) {
            let Recorded { nanos, link, wire_len, .. } = *one;
            place.frame(&Frame { number, nanos, link, interface: 0, wire_len, bytes: &one.bytes });
        }
        place
    });
    join(places.collect())
}

fn of_recording(recording: &str, places: &[&'static str]) -> Report {
    let frames: Vec<_> = places.iter().map(|place| frames(recording, place)).collect();
    let captures: Vec<_> = places.iter().copied().zip(frames.iter().map(Vec::as_slice)).collect();
    joined(&captures)
}

/// Returns the columns of a truth file by frame.
fn rows(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a truth has a header").split(',').collect();
    let row = |line: &str| -> BTreeMap<String, String> {
        names.iter().zip(line.split(',')).map(|(name, value)| ((*name).to_owned(), value.to_owned())).collect()
    };
    lines.map(|line| (line.split(',').next().unwrap_or_default().to_owned(), row(line))).collect()
}

#[test]
fn the_truth_by_the_captures_is_that_of_the_box() {
    for recording in RECORDINGS {
        for places in [&PLACES[..], &["sender", "receiver"]] {
            let report = of_recording(recording, places);
            for (number, place) in places.iter().enumerate() {
                let box_log = std::fs::read_to_string(file(recording, place, "truth.csv")).unwrap();
                let (expected, found) = (rows(&box_log), rows(&report.truth(number)));
                assert_eq!(
                    found.keys().collect::<Vec<_>>(),
                    expected.keys().collect::<Vec<_>>(),
                    "{recording} {place}"
                );
                for (frame, expected) in expected {
                    let found = &found[&frame];
                    let said = format!("{recording} {place} frame {frame}");
                    for column in ["seq", "len", "nth", "spurious", "orig_known", "segments", "traced"] {
                        // A lost segment of a frame with several is no segment further on.
                        assert_eq!(found[column], expected[column], "{said}: {column}");
                    }
                    assert_eq!(found["fate"] == "ok", expected["fate"] == "ok", "{said}");
                }
            }
        }
    }
}

#[test]
fn packets_are_lost_where_the_queue_is() {
    let report = of_recording("lan", &PLACES);
    for one in &report.connections {
        let [there, back] = &one.directions;
        assert!(there.lost > 0 && back.lost == 0 && there.unknown == 0);
        let hops: Vec<_> =
            there.lost_between.iter().map(|hop| (hop.from.as_str(), hop.to.as_str(), hop.lost)).collect();
        // The router captures what its queue lets out.
        assert_eq!(hops, [("sender", "between", there.lost)]);
    }
}

/// A connection, by the end that sent, the time and the sequence number.
type Key = (bool, u64, u32);

fn verdicts(report: &Report) -> BTreeMap<Key, Retransmission> {
    report.retransmissions.iter().map(|one| ((one.from_sender, one.nanos, one.seq), one.clone())).collect()
}

/// Fails if an answer differs from that of whole captures, but for those that say that they do not
/// know, or that they are not certain.
fn expect_no_other_answer(whole: &Report, part: &Report) -> Result<(), TestCaseError> {
    let whole = verdicts(whole);
    for (key, one) in verdicts(part) {
        let unsure = one.verdict == Verdict::Undecidable || one.confidence != Confidence::Certain;
        let Some(known) = whole.get(&key) else {
            // The whole captures show that it is the first copy.
            prop_assert!(unsure, "{one:?}");
            continue;
        };
        prop_assert!(unsure || one.verdict == known.verdict, "{one:?} instead of {known:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn frames_that_a_capture_misses_change_no_answer_but_to_unknown(
        recording in 0..RECORDINGS.len(),
        missing in proptest::collection::vec((0..2_usize, 0.0..1.0_f64), 1..60),
    ) {
        let ends = ["sender", "receiver"];
        let whole = ends.map(|place| frames(RECORDINGS[recording], place));
        let mut part = whole.clone();
        for (end, share) in missing {
            let at = (share * part[end].len() as f64) as usize;
            part[end].remove(at);
        }
        let report = |frames: &[Vec<Recorded>; 2]| joined(&[(ends[0], &frames[0]), (ends[1], &frames[1])]);
        expect_no_other_answer(&report(&whole), &report(&part))?;
    }

    #[test]
    fn captures_that_begin_late_or_end_early_change_no_answer_but_to_unknown(
        recording in 0..RECORDINGS.len(),
        cuts in proptest::array::uniform4(0.0..0.5_f64),
    ) {
        let ends = ["sender", "receiver"];
        let whole = ends.map(|place| frames(RECORDINGS[recording], place));
        let cut = |frames: &Vec<Recorded>, begin: f64, end: f64| {
            let share = |part: f64| (part * frames.len() as f64) as usize;
            frames[share(begin)..frames.len() - share(end)].to_vec()
        };
        let part = [cut(&whole[0], cuts[0], cuts[1]), cut(&whole[1], cuts[2], cuts[3])];
        let report = |frames: &[Vec<Recorded>; 2]| joined(&[(ends[0], &frames[0]), (ends[1], &frames[1])]);
        expect_no_other_answer(&report(&whole), &report(&part))?;
    }

    #[test]
    fn another_clock_changes_no_answer(ahead_s in -1000_i64..1000, drift_ppm in -80.0..80.0_f64) {
        let ends = ["sender", "receiver"];
        let mut captures = ends.map(|place| frames("mixed", place));
        let whole = joined(&[(ends[0], &captures[0]), (ends[1], &captures[1])]);
        let begin = captures[1][0].nanos;
        for one in &mut captures[1] {
            let drifted = (one.nanos - begin) as f64 * drift_ppm / 1e6;
            one.nanos = one.nanos.wrapping_add_signed(ahead_s * 1_000_000_000 + drifted as i64);
        }
        let other = joined(&[(ends[0], &captures[0]), (ends[1], &captures[1])]);
        let answers = |report: &Report| -> Vec<_> {
            report.retransmissions.iter().filter(|one| one.from_sender).map(|one| (one.seq, one.copy, one.verdict, one.fate)).collect()
        };
        prop_assert_eq!(answers(&whole), answers(&other));
        let clock = |report: &Report| report.connections[0].clocks[0].clone();
        let (before, after) = (clock(&whole), clock(&other));
        let moved = after.ahead_ms.unwrap() - before.ahead_ms.unwrap() - ahead_s as f64 * 1e3;
        prop_assert!(moved.abs() <= before.off_by_ms.unwrap() + after.off_by_ms.unwrap(), "{moved} {before:?} {after:?}");
        prop_assert!(after.least_drift_ppm.unwrap() <= drift_ppm && drift_ppm <= after.most_drift_ppm.unwrap());
    }

    #[test]
    fn any_bytes_at_any_place_are_joined_without_a_panic(
        changes in proptest::collection::vec((0..2_usize, any::<u16>(), 0..60_usize, any::<u8>()), 0..200),
        swaps in proptest::collection::vec((0..2_usize, any::<u16>(), any::<u16>()), 0..50),
    ) {
        let mut captures = ["sender", "receiver"].map(|place| frames("mixed", place));
        for (end, frame, at, byte) in changes {
            let count = captures[end].len();
            if let Some(place) = captures[end][usize::from(frame) % count].bytes.get_mut(at) {
                *place = byte;
            }
        }
        for (end, one, other) in swaps {
            let count = captures[end].len();
            captures[end].swap(usize::from(one) % count, usize::from(other) % count);
        }
        let report = joined(&[("sender", &captures[0]), ("receiver", &captures[1])]);
        let _ = (report.json(), report.text(), report.truth(0), report.truth(1));
        let most = [captures[0].len() as u64, captures[1].len() as u64];
        for passed in report.retransmissions.iter().flat_map(|one| one.frames.iter().zip(most)) {
            prop_assert!(passed.0.is_none_or(|one| (1..=passed.1).contains(&one.frame)));
        }
    }
}

/// A segment of a small connection, with its time in milliseconds and its identification.
#[derive(Clone, Copy)]
struct Sent {
    ms: u64,
    back: bool,
    flags: Flags,
    seq: u32,
    len: u32,
    identification: u16,
    ack: u32,
}

fn captured(sent: &[Sent], later_ms: [u64; 2]) -> Vec<Recorded> {
    let mut frames: Vec<Recorded> = sent
        .iter()
        .map(|one| {
            let ends = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
            let (source, destination) = if one.back { (ends.1, ends.0) } else { ends };
            let header =
                Header { identification: one.identification, ..Header::new(Addresses::V4 { source, destination }) };
            let mut segment = Segment {
                source_port: if one.back { 2 } else { 1 },
                destination_port: if one.back { 1 } else { 2 },
                seq: Seq(one.seq),
                ack: Seq(one.ack),
                flags: one.flags,
                payload_len: one.len,
                ..Segment::EMPTY
            };
            segment.options.timestamps = Some(Timestamps { value: 7, echo: 7 });
            if one.flags.has(Flags::SYN) {
                segment.options.mss = Some(1012);
            }
            let mut bytes = Vec::new();
            datagram::emit(&header, &segment, &vec![0; one.len as usize], &mut bytes).expect("the segment is valid");
            let nanos = (1000 + one.ms + later_ms[usize::from(one.back)]) * 1_000_000;
            Recorded { nanos, link: LINKTYPE_RAW, wire_len: bytes.len() as u32, bytes }
        })
        .collect();
    frames.sort_by_key(|one| one.nanos);
    frames
}

fn data(ms: u64, seq: u32, len: u32, identification: u16) -> Sent {
    Sent { ms, back: false, flags: Flags::ACK, seq, len, identification, ack: 501 }
}

fn ack(ms: u64, ack: u32) -> Sent {
    Sent { ms, back: true, flags: Flags::ACK, seq: 501, len: 0, identification: 0, ack }
}

/// The handshake, of which each packet takes 10 ms.
fn handshake() -> Vec<Sent> {
    let syn = Sent { flags: Flags::SYN, ack: 0, ..data(0, 100, 0, 1) };
    let syn_ack = Sent { flags: Flags::SYN.with(Flags::ACK), seq: 500, ..ack(10, 101) };
    vec![syn, syn_ack, data(20, 101, 0, 2)]
}

#[test]
fn pieces_of_large_segments_are_found_where_devices_cut_and_join_them() {
    // Four segments leave as one frame with identifications 3 to 6. The third is lost, the last two of
    // the first part arrive joined, and all are sent again.
    let end = [data(200, 5101, 1, 9)];
    let sent =
        [handshake(), vec![data(30, 101, 4000, 3), data(130, 2101, 1000, 7), data(140, 101, 2000, 8)], end.to_vec()]
            .concat();
    let arrived =
        [handshake(), vec![data(30, 101, 2000, 3), data(31, 3101, 1000, 6), data(130, 2101, 1000, 7)], end.to_vec()]
            .concat();
    let acks = [ack(41, 2101), ack(42, 2101), ack(141, 4101)];
    let capture = |packets: &[Sent], later| captured(&[packets, &acks[..]].concat(), later);
    let report = joined(&[("sender", &capture(&sent, [0, 10])), ("receiver", &capture(&arrived, [10, 0]))]);
    let there = &report.connections[0].directions[0];
    assert_eq!((there.segments, there.arrived, there.lost, there.unknown), (8, 5, 3, 0), "{report:#?}");
    let found: Vec<_> = report.retransmissions.iter().map(|one| (one.seq, one.copy, one.verdict, one.fate)).collect();
    assert_eq!(
        found,
        [
            (2101, 2, Verdict::Needed, Fate::Arrived),
            (101, 2, Verdict::Spurious, Fate::Lost),
            (1101, 2, Verdict::Spurious, Fate::Lost),
        ]
    );
}

#[test]
fn data_that_the_receiver_reports_without_a_frame_were_missed_by_its_capture() {
    let first = data(30, 101, 1000, 3);
    let again = data(130, 101, 1000, 4);
    let sent = [handshake(), vec![first, again, data(200, 1101, 1, 5)]].concat();
    let arrived = [handshake(), vec![again, data(200, 1101, 1, 5)]].concat();
    let capture = |packets: &[Sent], acks: &[Sent], later| captured(&[packets, acks].concat(), later);
    // The receiver had the data before the retransmission could arrive.
    let acks = [ack(41, 1101)];
    let report =
        joined(&[("sender", &capture(&sent, &acks, [0, 10])), ("receiver", &capture(&arrived, &acks, [10, 0]))]);
    let one = &report.retransmissions[0];
    assert_eq!((one.verdict, one.confidence), (Verdict::Spurious, Confidence::Certain));
    assert_eq!(report.connections[0].directions[0].captures.not_at_receiver, 1);
    // It had them only then, and the capture misses nothing.
    let acks = [ack(141, 1101)];
    let report =
        joined(&[("sender", &capture(&sent, &acks, [0, 10])), ("receiver", &capture(&arrived, &acks, [10, 0]))]);
    let one = &report.retransmissions[0];
    // The receiver does not report duplicates, so a copy that came after the retransmission may be missed.
    assert_eq!((one.verdict, one.confidence, one.fate), (Verdict::Needed, Confidence::Likely, Fate::Arrived));
}

#[test]
fn without_packets_back_no_report_is_certainly_too_early() {
    // Both captures last together for less than two milliseconds.
    let part = |place: &str, from: usize, to: usize| frames("lan", place)[from..to].to_vec();
    let report = joined(&[("sender", &part("sender", 0, 233)), ("receiver", &part("receiver", 195, 405))]);
    assert_eq!(report.connections.last().unwrap().clocks[0].ahead_ms, None);
    let certain: Vec<_> = report.retransmissions.iter().filter(|one| one.confidence == Confidence::Certain).collect();
    assert!(certain.is_empty(), "{certain:#?}");
}

#[test]
fn a_copy_by_the_network_is_not_the_original() {
    // Nothing tells the transmissions apart but the times. The original is lost, and the network
    // copies its retransmission.
    let [first, again] = [30, 130].map(|ms| data(ms, 101, 1000, 0));
    let beside = [data(31, 1101, 1000, 0), data(129, 2101, 1000, 0), data(131, 3101, 1000, 0)];
    let sent = [handshake(), vec![first, again], beside.to_vec()].concat();
    let copy = |one: Sent| Sent { ms: one.ms + 2, ..one };
    let arrived = |copied: &[Sent]| [handshake(), vec![again, copy(again)], beside.to_vec(), copied.to_vec()].concat();
    let report = |copied: &[Sent]| {
        let sides = [captured(&sent, [0, 10]), captured(&arrived(copied), [10, 0])];
        joined(&[("sender", &sides[0]), ("receiver", &sides[1])])
    };
    let found = |report: &Report| report.retransmissions.iter().map(|one| (one.seq, one.verdict)).collect::<Vec<_>>();
    let copying = report(&[copy(beside[0])]);
    assert_eq!(found(&copying), [(101, Verdict::Needed)], "{copying:#?}");
    assert_eq!(copying.connections[0].directions[0].copies, 2);
    // The network copies nothing else, so both transmissions arrived. Which of the two frames is the
    // retransmission, nobody knows: the original may be late.
    let both = report(&[]);
    assert_eq!(found(&both), [(101, Verdict::Spurious)]);
    assert_eq!((both.retransmissions[0].fate, both.retransmissions[0].frames[1]), (Fate::Arrived, None));
}
