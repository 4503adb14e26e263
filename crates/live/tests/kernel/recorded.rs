//! What `--record` hands over: the tables of a run, its scenario and its numbers.

use crate::behind_the_box::SINK;
use crate::rig::{allowed, has};
use eifel_live::command::{self, Recorded};
use eifel_sim::End;

const SPIKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/live-spike.toml");
const SOURCE: &str = "import socket; socket.create_connection(('10.85.0.2', 5001)).sendall(bytes(300000))";

/// Runs a command against a program in Python, and returns its recordings.
fn recorded(words: &[&str], program: &str) -> Vec<Recorded> {
    let mut recorded = Vec::new();
    let words = [words, &["--", "python3", "-c", program]].concat();
    let arguments: Vec<_> = words.into_iter().map(Into::into).collect();
    assert_eq!(command::main(&[], &arguments, Some(&mut recorded)), 0);
    recorded
}

#[test]
fn a_recording_contains_its_scenario() {
    if !allowed() || !has("python3") {
        return;
    }
    let sent = ["send", "--bytes", "300K", "--record", "a", "10.85.0.1:5001"];
    let like = ["send", "--bytes", "300K", "--record", "b", "--like", SPIKE, "10.85.0.1:5001"];
    let [own, like] = [sent.as_slice(), &like].map(|words| match <[_; 1]>::try_from(recorded(words, SINK)) {
        Ok([one]) => one,
        Err(all) => panic!("{} recordings", all.len()),
    });
    assert_eq!((own.folder.as_str(), own.origin.as_str()), ("a", "eifel live send"));
    assert!(own.scenario.contains("bytes = 300000 }"), "{}", own.scenario);
    assert_eq!((like.folder.as_str(), like.origin.as_str()), ("b", SPIKE));
    assert_eq!(like.scenario, std::fs::read_to_string(SPIKE).unwrap());
    for one in [own, like] {
        assert!(one.summary.completed && one.summary.bytes == 300_000 && one.summary.flow == "main");
        assert!(one.tables.transmissions.len.iter().sum::<i64>() >= 300_000);
        assert!(!one.tables.acks.t_ns.is_empty() && one.tables.arrivals.t_ns.is_empty());
    }
}

#[test]
fn a_run_records_nothing_unless_asked_to() {
    if !allowed() || !has("python3") {
        return;
    }
    assert!(recorded(&["send", "--bytes", "1K", "10.85.0.1:5001"], SINK).is_empty());
}

#[test]
fn a_receiver_returns_its_recording() {
    if !allowed() || !has("python3") {
        return;
    }
    let found = recorded(&["receive", "--record", "c", "5001"], SOURCE);
    let [one] = &found[..] else { panic!("{} recordings", found.len()) };
    assert_eq!((one.folder.as_str(), one.origin.as_str()), ("c", "eifel live receive"));
    assert!(one.summary.completed && one.summary.bytes == 300_000);
    assert_eq!(one.tables.arrivals.new_bytes.iter().sum::<i64>(), 300_000);
    assert!(one.tables.transmissions.end.iter().all(|&end| end == End::To as u8));
}
