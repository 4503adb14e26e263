//! Captures of a run, read by tshark.

use crate::common::{ROUGH, scenario};
use eifel_sim::record::Record;
use eifel_sim::{Outcome, run};
use eifel_testkit::Folder;
use std::process::Command;

fn captured(ip: &str) -> Outcome {
    let scenario = scenario(&format!("ip = \"{ip}\"\n{ROUGH}"));
    run(&scenario, 0, Record::all().capturing(0).capturing(1).with_payload()).unwrap()
}

#[test]
fn both_ends_have_a_capture() {
    let outcome = captured("ipv4");
    let names: Vec<&str> = outcome.captures.iter().map(|capture| capture.name.as_str()).collect();
    assert_eq!(names, ["sender", "receiver"]);
    for capture in &outcome.captures {
        assert_eq!(capture.pcapng[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    }
}

#[test]
fn tshark_reads_them_without_complaint() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("SKIPPED: tshark is not installed, captures are not verified");
        return;
    }
    for ip in ["ipv4", "ipv6"] {
        read(&captured(ip), ip);
    }
}

/// Reads the captures with tshark, and compares every packet with the run.
fn read(outcome: &Outcome, ip: &str) {
    let folder = Folder::new();
    for (capture, name) in outcome.captures.iter().zip(["sender", "receiver"]) {
        let file = folder.join(format!("{name}.pcapng"));
        std::fs::write(&file, &capture.pcapng).unwrap();
        let checks = ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE"];
        let fields = [
            "tcp.srcport",
            "tcp.len",
            "tcp.checksum.status",
            "ip.checksum.status",
            "_ws.malformed",
            "frame.cap_len",
            "frame.len",
            "ip.src",
            "ipv6.src",
        ];
        let mut command = Command::new("tshark");
        command.arg("-r").arg(&file).args(["-T", "fields", "-E", "separator=,"]);
        command.args(checks.iter().flat_map(|check| ["-o", check]));
        command.args(fields.iter().flat_map(|field| ["-e", field]));
        let read = command.output().unwrap();
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        let text = String::from_utf8(read.stdout).unwrap();
        let mut data = 0;
        for line in text.lines() {
            let fields: Vec<&str> = line.split(',').collect();
            // 1 is "good". Nothing is malformed or cut off. The IPv6 header has no checksum.
            let (version, checksum) = if ip == "ipv4" { (7, "1") } else { (8, "") };
            assert_eq!(fields[2..5], ["1", checksum, ""], "{line}");
            assert_eq!(fields[5], fields[6], "{line}");
            let node = if fields[0] == "49152" { 0 } else { 1 };
            assert_eq!(
                fields[version],
                [["10.0.0.1", "10.0.0.2"], ["fd00::1", "fd00::2"]][version - 7][node],
                "{line}"
            );
            assert_eq!(fields[15 - version], "", "{line}");
            data += u64::from(fields[0] == "49152" && fields[1] != "0");
        }
        if name == "sender" {
            assert_eq!(data, outcome.summary.flows[0].segments_sent);
        } else {
            assert!(data > 600, "{data}");
        }
    }
}

/// Returns the packets of a pcapng file, in ascending order of their bytes.
fn packets(pcapng: &[u8]) -> Vec<Vec<u8>> {
    let number = |at: usize| u32::from_le_bytes(pcapng[at..at + 4].try_into().unwrap()) as usize;
    let (mut found, mut at) = (Vec::new(), 0);
    while at < pcapng.len() {
        // An enhanced packet block.
        if number(at) == 6 {
            found.push(pcapng[at + 28..at + 28 + number(at + 20)].to_vec());
        }
        at += number(at + 4);
    }
    found.sort();
    found
}

#[test]
fn a_router_has_the_same_packets_as_the_sender_with_every_byte() {
    let mut text = String::from("duration_s = 20\n");
    for node in ["a", "b", "c"] {
        text += &format!("[[node]]\nname = \"{node}\"\n");
    }
    for (from, to) in [("a", "b"), ("b", "c")] {
        text += &format!("[[link]]\nname = \"{from}{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\nboth = true\n");
        text += "rate_bps = 8_000_000\ndelay_ms = 5\n";
    }
    text += "[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"c\"\napplication = { kind = \"bulk\", bytes = 100_000 }\n";
    let record = Record::none().capturing(0).capturing(1).capturing(2).with_payload();
    let outcome = run(&scenario(&text), 0, record).unwrap();
    assert!(outcome.summary.flows[0].completed);
    let [sender, router, receiver] = [0, 1, 2].map(|node| packets(&outcome.captures[node].pcapng));
    let bytes: usize = sender.iter().map(Vec::len).sum();
    assert!(bytes > 100_000 && sender == router && sender == receiver, "{bytes}");
}
