//! Captures of Linux on which an order of the packets that only the time shows is wrong: reordered
//! originals, retransmissions within one tick of the clock, and copies that the network made. And
//! captures in which its sender reacts otherwise than a plain reading of the RFCs says.
//!
//! The truth is the kernel's: each CSV file has one row for each retransmission.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use eifel_capture::report::Report;
use eifel_capture::result::{Confidence, Retransmission, StackReaction, Vantage, Verdict};
use eifel_testkit::random::Random;
use proptest::prelude::*;

/// The captures in which the IP identification shows the order.
const COUNTED: [&str; 9] = [
    "lan_reorder_between",
    "lan_reorder_nots",
    "lan_reorder_ts",
    "lan_reorder_ts_nosack",
    "netdup_between",
    "reorder_nots_between",
    "reorder_nots_certain",
    "reorder_nots_receiver",
    "retransmission_same_tick",
];

/// The captures next to a sender that never waited for its retransmission timer.
const WITHOUT_TIMEOUTS: [&str; 5] =
    ["ack_at_once_nots", "newreno_prr", "nosack_dupacks", "rack_lost_again", "rack_timer"];

/// In the first, RACK finds that retransmissions of go-back-N were lost, and fast recovery replaces
/// go-back-N. In the second, next to the receiver, the original of the segment that the timer repeated was
/// lost before the capture point, and so few duplicate ACKs follow that no fast retransmission can. In another one,
/// between the ends, all of the first window but its last segment was lost before the capture point: the timer's
/// retransmission looks like new data, F-RTO sends new data next, and go-back-N follows.
const WITH_TIMEOUTS: [&str; 3] = ["rack_ends_go_back", "timeout_of_the_first", "timeout_unseen"];

fn read(file: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faults");
    std::fs::read(folder.join(file)).unwrap()
}

fn found(capture: &[u8]) -> Vec<Retransmission> {
    Report::of_bytes("x.pcap", capture).unwrap().retransmissions
}

/// Returns the rows of the truth: frame, sequence number, copy, whether it was spurious, cause.
fn rows(name: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(read(&format!("{name}.truth.csv"))).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
}

/// Returns the frames of the true retransmissions, and whether each was spurious.
fn truth(name: &str) -> Vec<(u64, bool)> {
    rows(name).iter().map(|fields| (fields[0].parse().unwrap(), fields[3] == "1")).collect()
}

#[test]
fn identifications_show_exactly_the_true_retransmissions() {
    for name in COUNTED {
        let (found, truth) = (found(&read(&format!("{name}.pcap"))), truth(name));
        let frames: Vec<_> = found.iter().map(|one| one.frame).collect();
        assert_eq!(frames, truth.iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), "{name}");
        for (one, (frame, spurious)) in found.iter().zip(truth) {
            assert_eq!(one.verdict == Verdict::Spurious, spurious, "{name}, frame {frame}");
        }
    }
}

/// The captures next to a sender in which a plain reading of the evidence decides wrongly. One DSACK reports one of
/// three transmissions that a fourth overtook. A duplicate ACK reports the next hole, without SACK. The handshake waited in
/// the queue of other connections, so that every later round trip is shorter: with timestamps, without, and with SACK.
/// The ACK that refuses an original has a slightly larger window. ACKs with a SACK block were lost. A retransmission
/// was lost itself, so that nothing reports it as a duplicate of an earlier one.
const LEFT_OPEN: [&str; 8] = [
    "late_among_four",
    "lost_again_nots",
    "next_hole_nosack",
    "queued_handshake",
    "queued_handshake_nots",
    "queued_handshake_sack",
    "refused_with_a_larger_window",
    "sack_left_out",
];

#[test]
fn evidence_with_two_readings_decides_nothing_wrongly() {
    for name in LEFT_OPEN {
        let found: BTreeMap<_, _> =
            found(&read(&format!("{name}.pcap"))).iter().map(|one| (one.frame, one.verdict)).collect();
        let mut decided = 0;
        for (frame, spurious) in truth(name) {
            let truth = if spurious { Verdict::Spurious } else { Verdict::Needed };
            assert!(
                [truth, Verdict::Undecidable].contains(&found[&frame]),
                "{name}, frame {frame}: {:?}",
                found[&frame]
            );
            decided += usize::from(found[&frame] == truth);
        }
        // Without timestamps, nothing tells when these originals came.
        assert!(decided > 0 || name.starts_with("queued_handshake_"), "{name}");
    }
}

#[test]
fn no_timer_is_so_short_that_it_repeats_what_a_lan_copies() {
    // Over IPv6, half a millisecond behind the original, on a path whose round trip is shorter.
    let found: Vec<_> = found(&read("netdup_lan_v6.pcap")).iter().map(|one| one.frame).collect();
    assert_eq!(found, truth("netdup_lan_v6").iter().map(|(frame, _)| *frame).collect::<Vec<_>>());
}

#[test]
fn copies_that_follow_sooner_than_any_reaction_are_copies() {
    // Over IPv6 without timestamps: 1.3 ms behind their originals, where a round trip takes 156 ms.
    assert!(found(&read("copies_fast_v6.pcap")).is_empty());
    // The link takes 3.3 ms for a segment, and the handshake's round trip was shorter than that.
    assert!(found(&read("copy_behind_v6.pcap")).is_empty());
}

#[test]
fn the_first_packets_of_a_path_that_reorders_are_late_originals() {
    // Their identifications count, which shows at the third packet only.
    assert!(found(&read("late_before_the_count_is_known.pcap")).is_empty());
    // Over IPv6 without timestamps, the link takes 0.5 ms for a segment, and the handshake's round trip was half of that.
    assert!(found(&read("swapped_on_a_slow_link_v6.pcap")).is_empty());
}

#[test]
fn what_passes_after_its_repair_was_answered_and_without_a_pause_is_late() {
    // Over IPv6 without timestamps, 270 ms after repairs that were answered at once, where a round trip takes 170 ms.
    let found: Vec<_> = found(&read("late_long_after_its_repair_v6.pcap")).iter().map(|one| one.frame).collect();
    assert_eq!(found, [66, 72, 92, 94, 111]);
}

#[test]
fn data_that_pass_again_long_after_their_ack_are_late_originals() {
    // Over IPv6 without timestamps, 300 ms after the ACK of their retransmission, where a round trip takes 96 ms.
    let found = found(&read("late_after_ack_v6.pcap"));
    let found: Vec<_> = found.iter().map(|one| (one.frame, one.verdict)).collect();
    assert_eq!(found, [(19, Verdict::Undecidable), (21, Verdict::Undecidable), (27, Verdict::Needed)]);
}

#[test]
fn copies_that_come_in_the_middle_of_a_recovery_are_copies() {
    // The path copies two retransmissions 2 ms behind them, a fiftieth of a round trip: their timestamps are
    // equal. On a LAN without timestamps, it has shown before that it copies packets.
    let cases = [("copied_retransmission_v6", &[120, 122][..], 2), ("copies_lan_v6", &[256], 7)];
    for (name, frames, copies) in cases {
        let report = Report::of_bytes(name, &read(&format!("{name}.pcap"))).unwrap();
        let found: Vec<_> = report.retransmissions.iter().map(|one| (one.frame, one.verdict)).collect();
        assert_eq!(found.iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), frames, "{name}");
        assert!(found.iter().all(|(_, verdict)| *verdict == Verdict::Needed), "{name}");
        assert!(report.retransmissions.iter().all(|one| one.confidence == Confidence::Likely), "{name}");
        assert_eq!(report.connections.iter().map(|one| one.twins).sum::<u64>(), copies, "{name}");
    }
}

/// Returns the frames whose cause the truth names otherwise, or that are no retransmissions in it.
fn wrong_causes(found: &[Retransmission], rows: &[Vec<String>]) -> Vec<(u64, String)> {
    let causes: BTreeMap<u64, &str> = rows.iter().map(|row| (row[0].parse().unwrap(), row[4].as_str())).collect();
    let wrong = |one: &&Retransmission| causes.get(&one.frame) != Some(&one.cause.name());
    found.iter().filter(wrong).map(|one| (one.frame, one.cause.name().into())).collect()
}

#[test]
fn linux_next_to_the_capture_is_named_with_the_kernels_causes() {
    for name in WITHOUT_TIMEOUTS {
        let (found, rows) = (found(&read(&format!("{name}.pcap"))), rows(name));
        assert_eq!(found.len(), rows.len(), "{name}");
        assert_eq!(wrong_causes(&found, &rows), [], "{name}");
        for (one, (_, spurious)) in found.iter().zip(truth(name)) {
            let opposite = if spurious { Verdict::Needed } else { Verdict::Spurious };
            assert!(one.verdict != opposite, "{name}: {one:?}");
        }
        // A truth with another cause is found to differ.
        let mut planted = rows.clone();
        planted[0][4] = "rto".into();
        assert_eq!(wrong_causes(&found, &planted).len(), 1, "{name}");
    }
}

#[test]
fn go_back_n_of_linux_is_told_from_fast_retransmissions() {
    for name in WITH_TIMEOUTS {
        let (found, rows) = (found(&read(&format!("{name}.pcap"))), rows(name));
        assert!(rows.len() - found.len() <= 1, "{name}");
        assert_eq!(wrong_causes(&found, &rows), [], "{name}");
        let mut planted = rows.clone();
        planted.last_mut().unwrap()[4] = "rto".into();
        assert_eq!(wrong_causes(&found, &planted).len(), 1, "{name}");
    }
}

/// A reading that the capture rules out was near another ruled-out one.
#[test]
fn next_to_linux_no_cause_is_doubted_that_the_capture_shows() {
    for name in ["rack_ends_go_back", "rack_lost_again"] {
        let doubted: Vec<_> =
            found(&read(&format!("{name}.pcap"))).into_iter().filter_map(|one| one.other_cause).collect();
        assert_eq!(doubted, [], "{name}");
    }
}

/// The kernel undid nothing: the counters of undos stayed 0. With PRR it halved a flight of 27 segments, in a
/// round trip.
#[test]
fn a_reduction_that_the_flight_size_does_not_show_yet_is_no_undo() {
    for (name, lost) in [("noticed_prr", Some(11 * 1460)), ("noticed_window_limited", None)] {
        let found = found(&read(&format!("{name}.pcap")));
        assert!(found.iter().any(|one| one.verdict == Verdict::Spurious), "{name}");
        for one in found {
            assert!(one.stack_noticed != StackReaction::Undone, "{name}: {one:?}");
            assert!([None, lost].contains(&one.effect.window_lost_bytes), "{name}: {one:?}");
        }
    }
}

/// Returns where the data of the client were captured.
fn place(name: &str) -> Vantage {
    let report = Report::of_bytes("x.pcap", &read(&format!("{name}.pcap"))).unwrap();
    report.connections[0].directions[0].vantage
}

#[test]
fn a_receiver_that_refuses_an_overtaken_original_is_still_next_to_the_capture() {
    assert_eq!(place("place_paws"), Vantage::Receiver);
}

#[test]
fn microseconds_do_not_tell_the_place_of_a_capture() {
    assert_eq!(["place_sender_lan", "place_sender_lan_ts"].map(place), [Vantage::Unknown; 2]);
}

#[test]
fn without_identifications_a_reordered_original_is_never_certain() {
    let found = found(&read("lan_reorder_v6.pcap"));
    assert!(found.iter().all(|one| one.confidence != Confidence::Certain), "{found:?}");
}

/// Returns a pcap file of packets over IPv4 with other identifications.
fn with_identifications(capture: &[u8], mut identification: impl FnMut() -> u16) -> Vec<u8> {
    const FILE_HEADER: usize = 24;
    const RECORD_HEADER: usize = 16;
    let mut capture = capture.to_vec();
    let link = u32::from_le_bytes(*capture[20..].first_chunk().unwrap());
    let ip = if link == 1 { 14 } else { 0 };
    let mut at = FILE_HEADER;
    while at < capture.len() {
        let len = u32::from_le_bytes(*capture[at + 8..].first_chunk().unwrap()) as usize;
        let header = at + RECORD_HEADER + ip;
        assert_eq!(capture[header], 0x45);
        capture[header + 4..header + 6].copy_from_slice(&identification().to_be_bytes());
        at += RECORD_HEADER + len;
    }
    capture
}

proptest! {
    #[test]
    fn without_identifications_no_certain_verdict_is_the_opposite(name in prop::sample::select(&COUNTED[..]), seed in any::<u64>()) {
        let capture = read(&format!("{name}.pcap"));
        let with = found(&capture);
        let mut random = Random(seed);
        let zero = with_identifications(&capture, || 0);
        let drawn = with_identifications(&capture, || random.below(1 << 16) as u16);
        for other in [zero, drawn] {
            for one in found(&other).iter().filter(|one| one.confidence == Confidence::Certain) {
                let same = with.iter().find(|with| with.frame == one.frame);
                // The identifications show that it was sent again, and nothing to the contrary.
                let agrees = same.is_some_and(|same| [one.verdict, Verdict::Undecidable].contains(&same.verdict));
                prop_assert!(agrees, "{}: {:?}", name, one);
            }
        }
    }
}
