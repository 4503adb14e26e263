//! This kernel's CUBIC with another undo.

use crate::rig::{allowed, has};
use crate::{PROGRAM, live};
use eifel_testkit::Folder;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// `off` switches all rules of the machine, and the list of congestion controls is one for all: so one
/// test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A spike that is longer than the timer, in congestion avoidance.
const PATH: &str = r#"
title = "a spike"
seed = 1
duration_s = 60

[point_to_point]
rate_bps = 10_000_000
delay_ms = 20
queue = { kind = "drop-tail", packets = 500 }

[[spike]]
links = ["bottleneck"]
holds = "arriving"
at = [{ start_s = 0.8, end_s = 1.8 }]

[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", endless = true }
"#;
const SINK: &str = r#"
import socket
listener = socket.create_server(("0.0.0.0", 5001))
connection, _ = listener.accept()
while connection.recv(65536):
    pass
connection.sendall(b"x")
"#;
/// Runs its arguments once it is connected, and prints the congestion control.
const SOURCE: &str = r#"
import os, socket, subprocess, sys
connection = socket.create_connection((os.environ["EIFEL_PEER"], 5001))
if sys.argv[1:]:
    subprocess.run(sys.argv[1:], check=True)
print(connection.getsockopt(6, 13, 16).strip(b"\0").decode(), flush=True)
connection.sendall(bytes(2_000_000))
connection.shutdown(socket.SHUT_WR)
connection.recv(64)
"#;

/// A folder of its own, and the right to run alone. `None` if this machine does not let the test run.
struct Rig {
    folder: Folder,
    _alone: MutexGuard<'static, ()>,
}

impl Rig {
    fn new() -> Option<Self> {
        if !allowed() || !has("python3") {
            return None;
        }
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = live().args(["undo", "full", "--", "true"]).output().unwrap();
        if !tried.status.success() {
            eprintln!("SKIPPED: {}", stderr_of(&tried));
            return None;
        }
        let folder = Folder::new();
        for (name, text) in [("path.toml", PATH), ("sink.py", SINK), ("source.py", SOURCE)] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        Some(Self { folder, _alone: alone })
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    /// Runs the source under a rule, behind the box. Returns what was said, and the undos.
    fn run(&self, rule: &[&str], source: &[&str]) -> (String, Vec<BTreeMap<String, i64>>) {
        let (sink, out) = (format!("python3 {}", self.file("sink.py")), self.file("undos.csv"));
        let mut command = live();
        command.args(["hiccup", "--out", &self.file("box"), "--peer", &sink, &self.file("path.toml"), "--", PROGRAM]);
        command.args(["live", "undo", "--out", &out]).args(rule).args(["--", "python3", &self.file("source.py")]);
        let output = command.args(source).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr_of(&output);
        assert!(output.status.success(), "{said}");
        (said, rows(Path::new(&out)))
    }
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Reads a table of whole numbers, without its first column.
fn rows(path: &Path) -> Vec<BTreeMap<String, i64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').skip(1));
    let names: Vec<&str> = lines.next().unwrap().collect();
    lines
        .map(|line| names.iter().map(|name| (*name).to_owned()).zip(line.map(|word| word.parse().unwrap())).collect())
        .collect()
}

/// The windows that a rule sets: cwnd and ssthresh, from the columns of an undo.
type Expected = fn(&dyn Fn(&str) -> i64) -> [i64; 2];

#[test]
fn each_rule_sets_the_window_that_it_names() {
    let Some(rig) = Rig::new() else { return };
    let rules: [(&str, Expected); 4] = [
        ("full", |of| {
            let three_quarters = of("lost_cwnd") / 2 + of("lost_cwnd") / 4;
            [of("lost_cwnd"), of("lost_ssthresh").max(three_quarters)]
        }),
        // The spike makes the timer expire, so cwnd is not bounded by that at the loss signal.
        ("rfc4015", |of| [of("flight") + of("acked").min(10), of("lost_flight").max(of("lost_ssthresh"))]),
        ("as-carried", |of| {
            let cwnd = (of("flight") + of("acked").min(2)).min(of("lost_cwnd"));
            [cwnd, of("lost_flight").min(of("lost_cwnd")).max(of("reduced"))]
        }),
        ("none", |of| [of("cwnd_before"), of("ssthresh_before")]),
    ];
    for (rule, expected) in rules {
        let (said, undos) = rig.run(&[rule], &[]);
        assert!(said.contains("of 1 connection\n") && said.starts_with("eifel"), "{rule}: {said}");
        let first = undos.first().unwrap_or_else(|| panic!("{rule}: the spike is undone: {said}"));
        let of = |name: &str| first[name];
        assert_eq!((of("timeout"), of("remote_port")), (1, 5001), "{rule}: {first:?}");
        assert!(of("lost_cwnd") > 10 && of("cwnd_before") < of("lost_cwnd") / 2, "{rule}: {first:?}");
        assert_eq!([of("cwnd"), of("ssthresh")], expected(&of), "{rule}: {first:?}");
        assert_eq!(of("epoch"), 0, "{rule}: Linux begins a new epoch: {first:?}");
    }
}

#[test]
fn the_epoch_is_restored_where_that_is_asked_for() {
    let Some(rig) = Rig::new() else { return };
    for rule in ["full", "rfc4015", "as-carried"] {
        let (said, undos) = rig.run(&["--restore-epoch", rule], &[]);
        let first = undos.first().unwrap_or_else(|| panic!("{rule}: the spike is undone: {said}"));
        let of = |name: &str| first[name];
        assert!(of("lost_epoch") > 0, "{rule}: there is a curve to restore: {first:?}");
        // The time since the loss signal does not count: a few hundred ticks, of 100 to 1000 in a second.
        let stood = of("epoch") - of("lost_epoch");
        assert!((10..2000).contains(&stood) && of("w_max") == of("lost_w_max"), "{rule}: {first:?}");
    }
}

#[test]
fn a_rule_that_is_off_leaves_the_undo_to_the_kernel() {
    let Some(rig) = Rig::new() else { return };
    // The connection is open when the rule is switched off.
    let (said, undos) = rig.run(&["none"], &[PROGRAM, "live", "undo", "off"]);
    assert!(said.contains("1 switched off\n") && said.contains("0 undos of 1 connection\n"), "{said}");
    assert!(undos.is_empty());
    let counters = std::fs::read_to_string(rig.folder.join("box/sender.counters.csv")).unwrap();
    let undone = |line: &str| line.contains(",TCPLossUndo,") && !line.ends_with(",0");
    assert!(counters.lines().any(undone), "the kernel undid: {counters}");
    let (said, undos) =
        rig.run(&["none"], &["sh", "-c", &format!("{PROGRAM} live undo off && {PROGRAM} live undo on")]);
    assert!(said.contains("1 switched on\n") && said.contains("1 undo of 1 connection\n"), "{said}");
    assert_eq!(undos.len(), 1);
    let nothing = live().args(["undo", "off"]).output().unwrap();
    assert_eq!(
        (nothing.status.code(), stderr_of(&nothing)),
        (Some(2), "eifel live undo: no rule is there to switch off\n".to_owned())
    );
}

#[test]
fn only_connections_to_the_prefix_come_under_the_rule() {
    let Some(rig) = Rig::new() else { return };
    for (prefix, count) in
        [("10.77.0.0/16", "1 connection\n"), ("192.0.2.0/24", "0 connections\n"), ("2001:db8::/32", "0 connections\n")]
    {
        let (said, _) = rig.run(&["--to", prefix, "full"], &[]);
        assert!(said.contains(count), "{prefix}: {said}");
        assert_eq!(said.starts_with("eifel"), count.starts_with('1'), "{prefix}: {said}");
    }
}

fn congestion_controls() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    text.split_whitespace().filter(|name| name.starts_with("eifel")).map(ToOwned::to_owned).collect()
}

/// Waits for two seconds at most.
fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        holds()
    })
}

#[test]
fn nothing_is_left_of_a_process_that_is_killed() {
    let Some(_rig) = Rig::new() else { return };
    let before = congestion_controls();
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", PROGRAM, "live", "undo", "full", "--", "sleep", "1234"]).stderr(Stdio::null());
    let mut running = unshare.spawn().unwrap();
    let is_there = || congestion_controls().len() > before.len();
    assert!(eventually(is_there), "it registers: {:?}", congestion_controls());
    let sleeps = || {
        std::fs::read_dir("/proc").unwrap().any(|entry| {
            let command = std::fs::read(entry.unwrap().path().join("cmdline")).unwrap_or_default();
            command == b"sleep\x001234\0"
        })
    };
    assert!(eventually(sleeps), "it runs the command");
    // SIGKILL.
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(eventually(|| congestion_controls() == before), "{:?}", congestion_controls());
    assert!(eventually(|| !sleeps()), "the command ends with it");
    assert!(eventually(|| live().args(["undo", "off"]).output().unwrap().status.code() == Some(2)), "no map is left");
}

#[test]
fn missing_rights_and_types_are_said_in_a_line() {
    let Some(_rig) = Rig::new() else { return };
    let rule = ["live", "undo", "full", "--", "true"];
    let mut powerless = Command::new("setpriv");
    let denied = powerless.args(["--bounding-set", "-all", "--inh-caps", "-all", PROGRAM]).args(rule).output().unwrap();
    assert_eq!(denied.status.code(), Some(1));
    let line = stderr_of(&denied);
    assert!(
        line.ends_with("run it as root\n") && line.starts_with("eifel live: ") && line.lines().count() == 1,
        "{line}"
    );
    let hidden = "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"";
    let mut unshare = Command::new("unshare");
    let output = unshare.args(["--mount", "sh", "-c", hidden, "sh", PROGRAM]).args(rule).output().unwrap();
    let line = stderr_of(&output);
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert!(line.starts_with("eifel live: read /sys/kernel/btf/vmlinux: ") && line.lines().count() == 1, "{line}");
}

#[test]
fn a_wrong_rule_or_prefix_is_refused() {
    for (words, expected) in [
        (
            &["undo", "ful", "--", "true"][..],
            "ful: no such rule; nearest: full; allowed: full, rfc4015, as-carried, none",
        ),
        (&["undo", "full"], "RULE -- COMMAND ... are needed; see --help"),
        (&["undo", "off", "--to", "::1", "--", "true"], "off: no such rule"),
        (
            &["undo", "full", "--to", "10.0.0.0/33", "--", "true"],
            "--to 10.0.0.0/33: expected an address or a prefix, as 192.0.2.0/24",
        ),
    ] {
        let output = live().args(words).output().unwrap();
        let line = stderr_of(&output);
        assert!(line.starts_with(&format!("eifel live: {expected}")) && line.lines().count() == 1, "{line}");
        assert_eq!(output.status.code(), Some(2), "{line}");
    }
}
