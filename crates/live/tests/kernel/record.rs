//! The packets of a command that `record` captures, and its report when it missed some.

use crate::behind_the_box::{SINK, SOURCE, folder};
use crate::rig::{allowed, has};
use crate::{PROGRAM, live};
use eifel_capture::frame::read::{Frame, Reader};
use std::path::Path;
use std::process::{Command, Output};

/// Sends as many datagrams of 1400 bytes over loopback as the first argument says. With a second
/// argument, the recorder is stopped meanwhile.
const BURST: &str = "
import os, signal, socket, sys
stopped = len(sys.argv) > 2
taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taker.bind((\"127.0.0.1\", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(taker.getsockname())
if stopped: os.kill(os.getppid(), signal.SIGSTOP)
for _ in range(int(sys.argv[1])): sender.send(bytes(1400))
if stopped: os.kill(os.getppid(), signal.SIGCONT)
";

/// Returns the packets of a capture: their lengths, and their times in nanoseconds since 1970.
fn packets(file: &Path) -> Vec<(u32, u64)> {
    let (mut reader, mut found) = (Reader::new(), Vec::new());
    reader.feed(&std::fs::read(file).unwrap());
    reader.each(&mut |frame: &Frame<'_>| found.push((frame.wire_len, frame.nanos))).unwrap();
    found
}

#[test]
fn a_commands_packets_are_captured() {
    if !allowed() || !has("python3") {
        return;
    }
    let folder = folder();
    let file = folder.join("flow.pcapng");
    let sink = format!("python3 -c \"{SINK}\"");
    let output = live()
        .args(["hiccup", "--peer", &sink, "--out", folder.join("box").to_str().unwrap()])
        .arg(folder.join("plain.toml"))
        .args(["--", PROGRAM, "live", "record", file.to_str().unwrap(), "--", "python3", "-c", SOURCE, "200000"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The recorder sees packets on the device before the box reads them from it.
    let data = |file: &Path| packets(file).into_iter().filter(|packet| packet.0 > 1000).collect::<Vec<_>>();
    let (seen, taken) = (data(&file), data(&folder.join("box").join("sender.pcapng")));
    assert_eq!(seen.len(), taken.len());
    for (seen, taken) in seen.iter().zip(&taken) {
        assert!(seen.0 == taken.0 && seen.1 <= taken.1, "{seen:?} and then {taken:?}");
    }
    let report = eifel_capture::files::analyze(&[file], &mut |_, _| Ok(())).unwrap();
    assert_eq!(report.connections.len(), 1);
    assert!(report.connections[0].directions[0].counts.bytes >= 200_000);
}

/// Records a burst in a namespace whose loopback device is up. Returns the program's output, and
/// how many of the burst's packets were seen.
fn burst(arguments: &[&str]) -> (Output, usize) {
    let folder = folder();
    let file = folder.join("burst.pcapng");
    let output = Command::new("unshare")
        .args(["--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh", PROGRAM, "live", "record"])
        .args([file.to_str().unwrap(), "--", "python3", "-c", BURST])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = packets(&file).iter().filter(|packet| packet.0 == 1428).count();
    (output, seen)
}

#[test]
fn a_burst_is_captured_without_a_missing_packet() {
    if !allowed() || !has("python3") || !has("ip") {
        return;
    }
    // Each packet is there twice, as it leaves and as it arrives.
    let (output, seen) = burst(&["5000"]);
    assert_eq!((seen, String::from_utf8_lossy(&output.stderr).as_ref()), (10_000, ""));
    // A recorder that continues after it was stopped finds a burst as well.
    let (output, seen) = burst(&["2000", "stopped"]);
    assert_eq!((seen, String::from_utf8_lossy(&output.stderr).as_ref()), (4000, ""));
}

#[test]
fn packets_missed_by_the_capture_are_counted() {
    if !allowed() || !has("python3") || !has("ip") {
        return;
    }
    let (output, seen) = burst(&["60000", "stopped"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let missed = said.strip_prefix("eifel live record: ").and_then(|rest| rest.split_once(" packets are not in "));
    let missed: usize = missed.unwrap_or_else(|| panic!("{said}")).0.parse().unwrap();
    assert_eq!(seen + missed, 120_000, "{said}");
    assert!(said.lines().count() == 1 && seen >= 4000, "{seen}: {said}");
}
