//! Logs of QUIC stacks whose packets went through a relay that dropped, held and reordered them, and
//! logs that stacks publish.
//!
//! `truth.csv` has a row for each packet declared lost. It arrived if the whole log of the other end
//! has it, which agrees with the relay; the logs here are shortened copies.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod mutations;
mod readings;

use eifel_capture::quic::{LossVerdict, Losses, analyse};
use eifel_capture::result::{Confidence, StackReaction};
use eifel_testkit::Folder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

/// Logs of both ends, without "_server" and "_client".
pub(crate) const PAIRS: [(&str, &str); 9] = [
    ("aioquic_mix", "qlog"),
    ("multipath", "qlog"),
    ("noq_ranges", "qlog"),
    ("picoquic_us", "qlog"),
    ("quic_go_clean", "sqlog"),
    ("quic_go_mix", "sqlog"),
    ("quic_go_reorder", "sqlog"),
    ("quic_go_size", "sqlog"),
    ("quinn_pair", "sqlog"),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/stack_logs")
}

pub(crate) fn log(name: &str) -> String {
    let file = std::fs::File::open(folder().join("logs").join(format!("{name}.gz"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

pub(crate) fn judge(names: &[&str]) -> Losses {
    let texts: Vec<_> = names.iter().map(|name| log(name)).collect();
    analyse(&names.iter().copied().zip(texts.iter().map(String::as_str)).collect::<Vec<_>>()).unwrap()
}

/// Returns whether each packet declared lost in a file arrived.
fn truth(file: &str) -> BTreeMap<u64, bool> {
    let text = std::fs::read_to_string(folder().join("truth.csv")).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter(|row| row[0] == file).map(|row| (row[1].parse().unwrap(), row[2] == "1")).collect()
}

/// Compares the verdicts on a file's losses with the truth. Returns the number of packets, and of
/// those that are undecidable.
fn compare(losses: &Losses, file: &str) -> (usize, usize) {
    let truth = truth(file);
    let of_file: Vec<_> = losses.packets.iter().filter(|one| losses.traces[one.trace].file == file).collect();
    assert_eq!(
        of_file.iter().map(|one| one.packet_number).collect::<Vec<_>>(),
        truth.keys().copied().collect::<Vec<_>>()
    );
    for one in &of_file {
        let right = if truth[&one.packet_number] { LossVerdict::Spurious } else { LossVerdict::Genuine };
        assert!([right, LossVerdict::Undecidable].contains(&one.verdict), "{file}: {one:?}");
    }
    (of_file.len(), of_file.iter().filter(|one| one.verdict == LossVerdict::Undecidable).count())
}

#[test]
fn every_decided_packet_is_right_and_few_are_undecidable_with_both_logs() {
    for (pair, end) in PAIRS {
        let (server, client) = (format!("{pair}_server.{end}"), format!("{pair}_client.{end}"));
        for files in [[&*server, &*client], [&*client, &*server]] {
            let found = judge(&files);
            assert_eq!(found.traces.iter().map(|one| one.other_end).collect::<Vec<_>>(), [Some(1), Some(0)], "{pair}");
            let (all, undecidable) = compare(&found, &server);
            assert!(undecidable * 10 <= all, "{pair}: {undecidable} of {all}");
        }
    }
}

#[test]
fn every_packet_decided_by_the_senders_log_is_right() {
    for (pair, undecidable) in [("picoquic_us", 2), ("noq_ranges", 0), ("quinn_pair", 13), ("aioquic_mix", 0)] {
        let end = PAIRS.iter().find(|(name, _)| *name == pair).unwrap().1;
        let server = format!("{pair}_server.{end}");
        assert_eq!(compare(&judge(&[&server]), &server).1, undecidable, "{pair}");
    }
    let [quic_go, aioquic, multipath] =
        ["quic_go_mix_server.sqlog", "aioquic_mix_server.qlog", "multipath_server.qlog"];
    for server in [quic_go, aioquic, multipath] {
        let (all, undecidable) = compare(&judge(&[server]), server);
        assert!(undecidable * 5 <= all, "{server}: {undecidable} of {all}");
    }
}

/// Names differ, or packets do: a server's log is never joined with another connection's.
#[test]
fn logs_of_different_connections_are_never_joined() {
    let ends: Vec<_> =
        PAIRS.iter().map(|(pair, end)| (format!("{pair}_server.{end}"), format!("{pair}_client.{end}"))).collect();
    for (one, (server, _)) in ends.iter().enumerate() {
        for (other, (_, client)) in ends.iter().enumerate().filter(|(other, _)| *other != one) {
            let found = judge(&[server, client]);
            assert_eq!(found.traces[0].other_end, None, "{one} {other}");
        }
    }
    let (server, client) = ("two_connections_A_server.sqlog", "two_connections_B_client.sqlog");
    let found = judge(&[server, client]);
    assert_eq!(found.count(LossVerdict::Spurious), 0);
    compare(&found, server);
    assert!(found.traces.iter().all(|one| one.notes.iter().any(|note| note.contains("different connections"))));
    // Each finds its own end among all of them.
    let names: Vec<&str> = ends.iter().flat_map(|(server, client)| [&**server, &**client]).collect();
    let found = judge(&names);
    for (place, trace) in found.traces.iter().enumerate() {
        assert_eq!(trace.other_end, Some(place ^ 1), "{}", trace.file);
    }
}

#[test]
fn contradictory_ranges_are_recognised_and_give_nothing_certain() {
    for files in [&["noq_ranges_server.qlog"][..], &["noq_ranges_server.qlog", "noq_ranges_client.qlog"]] {
        let found = judge(files);
        assert!(found.packets.iter().all(|one| one.confidence != Confidence::Certain), "{:?}", found.packets);
        assert!(found.traces[0].notes.iter().any(|note| note.contains("acknowledged ranges end before")));
    }
    // The same log with inclusive ends, but for one range that is adjacent to the next.
    let log = r#"{"qlog_version": "0.3", "traces": [{"vantage_point": {"type": "server"}, "events": [EVENTS]}]}"#;
    let packet = |number: u64| format!(r#"{{"header": {{"packet_type": "1RTT", "packet_number": {number}}}"#);
    let sent = (0..9)
        .map(|number| format!(r#"{{"time": {number}, "name": "quic:packet_sent", "data": {}}}}}"#, packet(number)));
    let mut events: Vec<String> = sent.collect();
    events.push(format!(r#"{{"time": 20, "name": "quic:packet_lost", "data": {}}}}}"#, packet(3)));
    for (time, ranges) in [(20, "[[0], [4, 8]]"), (30, "[[0, 2], [3, 8]]")] {
        let frames = format!(r#""frames": [{{"frame_type": "ack", "acked_ranges": {ranges}}}]"#);
        events.push(format!(
            r#"{{"time": {time}, "name": "quic:packet_received", "data": {}, {frames}}}}}"#,
            packet(time)
        ));
    }
    let found = analyse(&[("server.qlog", &log.replace("EVENTS", &events.join(",")))]).unwrap();
    assert_eq!((found.packets[0].verdict, found.packets[0].confidence), (LossVerdict::Spurious, Confidence::Weak));
    assert!(found.traces[0].notes[0].contains("cannot be true"));
}

#[test]
fn logs_without_names_are_joined_by_packets_and_give_nothing_certain() {
    let found = judge(&["quinn_pair_server.sqlog", "quinn_pair_client.sqlog"]);
    assert_eq!((found.count(LossVerdict::Spurious), found.count(LossVerdict::Genuine)), (6, 7));
    assert!(found.packets.iter().all(|one| one.confidence == Confidence::Likely));
    assert_eq!(
        found.traces.iter().map(|one| one.vantage.as_deref()).collect::<Vec<_>>(),
        [Some("server"), Some("client")]
    );
    // Rules wait for late ACKs, which these logs do not show.
    assert!(found.events.iter().all(|event| event.rules.is_empty()));
    let alone = judge(&["quinn_pair_server.sqlog"]);
    assert!(alone.packets.iter().all(|one| one.reason.contains("no acknowledged ranges")));
}

/// aioquic has no undo, and writes the old window between a loss and the reduction.
#[test]
fn a_window_is_restored_only_after_it_was_smaller() {
    for file in ["aioquic_no_undo_server.qlog", "aioquic_mix_server.qlog"] {
        let found = judge(&[file]);
        assert!(found.events.iter().all(|event| event.restored_ms.is_none()), "{file}");
        assert!(found.events.iter().any(|event| event.stack_noticed == StackReaction::NotUndone), "{file}");
    }
    let found = judge(&["quic_go_reorder_server.sqlog"]);
    assert_eq!(found.events[0].stack_noticed, StackReaction::Undone);
}

#[test]
fn an_undo_although_packets_were_really_lost_is_harmful() {
    let found = judge(&["picoquic_us_server.qlog", "picoquic_us_client.qlog"]);
    let event = &found.events[0];
    assert_eq!((event.stack_noticed, event.lost, event.late), (StackReaction::Harmful, 4, 1));
    assert!((253.0..255.0).contains(&event.restored_ms.unwrap()), "{event:?}");
}

/// quiche counts its losses, and names none.
#[test]
fn losses_that_are_only_counted_are_reported_with_their_windows() {
    let found = judge(&["quiche_no_packet_lost_server.sqlog", "quiche_no_packet_lost_client.sqlog"]);
    assert_eq!((found.traces[0].lost, found.traces[0].unnamed, found.packets.len()), (4, 4, 0));
    let [event] = found.events.as_slice() else { panic!("{:?}", found.events) };
    assert_eq!((event.lost, event.unnamed, event.cwnd_before, event.cwnd_after), (4, 4, Some(82_350), Some(57_644)));
    assert!((273.0..274.0).contains(&event.time_ms));
    assert!(found.traces[0].notes[0].contains("does not name them"));
    let found = judge(&["quiche_undoes_server.sqlog"]);
    let undone = found.events.iter().filter(|event| event.stack_noticed == StackReaction::Undone).count();
    assert_eq!((found.traces[0].lost, found.events.len(), undone), (57, 22, 19));
}

#[test]
fn packets_with_ack_frames_only_begin_no_congestion_event() {
    let found = judge(&["ack_only.qlog"]);
    assert_eq!((found.packets.len(), found.events.len()), (19, 0));
    for one in &found.packets {
        assert_eq!((one.verdict, one.event), (LossVerdict::Undecidable, None));
        assert!(one.reason.contains("only ACK frames") && one.bytes > 0, "{one:?}");
    }
}

#[test]
fn rules_decide_as_their_stacks_do() {
    let found = judge(&["rules.qlog"]);
    let of = |event: usize, stack: &str| {
        let rule = found.events[event].rules.iter().find(|rule| rule.stacks.contains(stack)).unwrap();
        (rule.takes_back, rule.time_ms)
    };
    // The first event was wholly spurious; in the second, packet 21 was really lost.
    for stack in ["noq", "quic-go", "msquic", "neqo", "quiche", "picoquic"] {
        assert_eq!(of(0, stack), (1.0, Some(62.0)), "{stack}");
    }
    for stack in ["noq", "quic-go", "msquic", "neqo"] {
        assert_eq!(of(1, stack), (0.0, None), "{stack}");
    }
    for stack in ["quiche", "picoquic"] {
        assert_eq!(of(1, stack).0, 1.0, "{stack}");
    }
    for stack in ["quinn 0.11", "quicly", "aioquic"] {
        assert_eq!((of(0, stack).0, of(1, stack).0), (0.0, 0.0), "{stack}");
    }
    assert!(found.rules.iter().all(|rule| !rule.source.is_empty()));
}

/// What the stack did in its own log is what its rule says.
#[test]
fn a_rule_agrees_with_the_log_of_its_stack() {
    for (file, stack) in [
        ("quic_go_mix_server.sqlog", "quic-go"),
        ("quic_go_reorder_server.sqlog", "quic-go"),
        ("quic_go_size_server.sqlog", "quic-go"),
    ] {
        for event in judge(&[file]).events {
            let rule = event.rules.iter().find(|rule| rule.stacks.contains(stack)).unwrap();
            assert_eq!(rule.time_ms.is_some(), event.restored_ms.is_some(), "{file}: {event:?}");
        }
    }
}

#[test]
fn published_logs_are_read_whole() {
    let logs = [
        ("picoquic_app_msg_overflow_ref.qlog", 1, 0),
        ("picoquic_binlog_ref.qlog", 1, 77),
        ("picoquic_qlog_trace_ecn_ref.txt", 1, 20),
        ("picoquic_qlog_trace_ref.txt", 1, 20),
        ("qvis_doublevantage_100ms.qlog", 2, 432),
        ("qvis_spin_bit.qlog", 1, 10),
    ];
    for (name, traces, sent) in logs {
        let found = judge(&[name]);
        assert_eq!(found.traces.len(), traces, "{name}");
        assert_eq!(found.traces.iter().map(|one| one.sent).sum::<u64>(), sent, "{name}");
        assert!(found.traces.iter().all(|one| one.damaged == 0), "{name}");
    }
}

#[test]
fn files_that_are_no_qlog_are_named_for_what_they_are() {
    let files = [
        ("", "empty file"),
        (" \n", "empty file"),
        ("var log = {\"traces\": []};", "JavaScript"),
        ("<!DOCTYPE html><html></html>", "HTML or XML"),
        ("export default {traces: []}", "JavaScript"),
        (r#"{"connections": [{"vantagepoint": "server", "fields": ["time"], "events": []}]}"#, "before draft 00"),
        (r#"{"constants": {"logEventTypes": {}}, "events": []}"#, "NetLog of Chromium"),
        (r#"{"events": []}"#, "a trace by itself"),
        (r#"{"traces": []}"#, "no trace has a list \"events\""),
        (r#"{"file_schema": "x", "traces": [{"error_description": "no space"}]}"#, "no trace has a list \"events\""),
        (r#"{"other": 1}"#, "expected a list \"traces\""),
    ];
    for (text, what) in files {
        let message = analyse(&[("x.qlog", text)]).unwrap_err();
        assert!(message.starts_with("x.qlog: not qlog: ") && message.contains(what), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
    let folder = Folder::new();
    let empty = folder.join("empty.qlog");
    std::fs::write(&empty, "").unwrap();
    let found = eifel_capture::files::analyze(std::slice::from_ref(&empty), &mut |_, _| Ok(()));
    assert!(found.unwrap_err().ends_with("not qlog: empty file"));
}
