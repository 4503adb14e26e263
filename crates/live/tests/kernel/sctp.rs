//! SCTP against usrsctp, native and in UDP, and the error if no peer takes SCTP.

use crate::behind_the_box::folder;
use crate::live;
use crate::rig::allowed;
use eifel_capture::frame::read::Reader;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Returns the peer, compiled once. If there is no usrsctp, prints a line and returns `None`.
pub fn peer() -> Option<&'static Path> {
    static PEER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel/usrsctp.c");
        let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join("usrsctp_behind_tun");
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-Wall", "-Werror", "-o"]).arg(&binary).args([source, "-lusrsctp", "-lpthread"]);
        let compiled = compiler.output().ok().filter(|output| output.status.success());
        if compiled.is_none() {
            eprintln!("\n*** SKIPPED: usrsctp was not talked to: there is no C compiler, or no libusrsctp-dev ***\n");
        }
        compiled.map(|_| binary)
    };
    PEER.get_or_init(compile).as_deref()
}

fn sctp(words: &[&str], peer: &[&str]) -> Output {
    live().arg("sctp").args(words).arg("--json").arg("--").args(peer).output().unwrap()
}

fn found(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn usrsctp_takes_every_message() {
    let (true, Some(peer)) = (allowed(), peer()) else { return };
    let path = peer.to_str().unwrap();
    for (port, more) in [("0", &[][..]), ("9899", &["--udp", "9899"][..])] {
        let words =
            [&["send", "--bytes", "3000000", "--message", "5000", "--streams", "3", "10.85.0.1:7"], more].concat();
        let output = sctp(&words, &[path, "listen", port, "7"]);
        let document = found(&output);
        assert_eq!((&document["messages"], &document["bytes"]), (&600.into(), &3_000_000.into()), "{document:#}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("usrsctp took 3000000 bytes"), "port {port}");
    }
}

/// Each packet has an identification of its own (RFC 6864), the listener's answers too.
#[test]
fn ipv4_packets_get_consecutive_identifications() {
    let (true, Some(peer)) = (allowed(), peer()) else { return };
    let folder = folder();
    let file = folder.join("both.pcapng");
    let words = ["receive", "7", "--capture", file.to_str().unwrap()];
    found(&sctp(&words, &[peer.to_str().unwrap(), "call", "0", "10.85.0.2", "7", "50", "4000"]));
    let mut reader = Reader::new();
    reader.feed(&std::fs::read(&file).unwrap());
    let mut own = Vec::new();
    while let Some(frame) = reader.frame().unwrap() {
        let sent = frame.bytes[0] >> 4 == 4 && frame.bytes[12..16] == [10, 85, 0, 2];
        own.extend(sent.then(|| u16::from_be_bytes([frame.bytes[4], frame.bytes[5]])));
    }
    assert!(own.len() > 10 && own.iter().copied().eq(1..=own.len() as u16), "{own:?}");
}

#[test]
fn usrsctps_messages_arrive() {
    let (true, Some(peer)) = (allowed(), peer()) else { return };
    let path = peer.to_str().unwrap();
    for (port, more) in [("0", &[][..]), ("9899", &["--udp", "9899"][..])] {
        let words = [&["receive", "7"], more].concat();
        let document = found(&sctp(&words, &[path, "call", port, "10.85.0.2", "7", "500", "4000"]));
        assert_eq!((&document["messages"], &document["bytes"]), (&500.into(), &2_000_000.into()), "{document:#}");
    }
}

/// A peer with SCTP of its own has no TCP socket to wait for.
#[test]
#[expect(clippy::disallowed_methods, reason = "it measures real time")]
fn an_association_begins_as_soon_as_the_peer_calls_or_listens() {
    let (true, Some(peer)) = (allowed(), peer()) else { return };
    let path = peer.to_str().unwrap();
    for (port, more) in [("0", &[][..]), ("9899", &["--udp", "9899"][..])] {
        let receives = (["receive", "7"], vec![path, "call", port, "10.85.0.2", "7", "5", "4000"]);
        for (words, other) in [receives, (["send", "10.85.0.1:7"], vec![path, "listen", port, "7"])] {
            let begun = std::time::Instant::now();
            found(&sctp(&[&words, more].concat(), &other));
            let took = begun.elapsed();
            assert!(took < std::time::Duration::from_millis(1900), "{words:?} {more:?}: {took:?}");
        }
    }
}

#[test]
fn each_interval_prints_one_line() {
    let (true, Some(peer)) = (allowed(), peer()) else { return };
    let words = ["sctp", "send", "--interval", "0.01", "--bytes", "20M", "10.85.0.1:7", "--"];
    let output = live().args(words).arg(peer).args(["listen", "0", "7"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() > 3 && lines[0].starts_with("[ ID]  Interval") && lines[0].contains("Cwnd"), "{said}");
    assert!(lines[1..lines.len() - 1].iter().all(|line| line.starts_with("[  1]") && line.contains("bits/sec")));
    assert!(lines[lines.len() - 1].contains("20000000 bytes in "), "{said}");
}

#[test]
fn a_kernel_without_sctp_answers_by_icmp() {
    if !allowed() {
        return;
    }
    for (host, target) in [("10.85.0.1", "10.85.0.1:7"), ("fd85::1", "[fd85::1]:7")] {
        for more in [&[][..], &["--udp", "9899"][..]] {
            let output = sctp(&[&["send", target], more].concat(), &["sleep", "20"]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said, format!("eifel live: {host}: the host does not accept SCTP\n"), "{more:?}");
            assert_eq!(output.status.code(), Some(1));
        }
    }
}
