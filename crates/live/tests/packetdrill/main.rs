//! packetdrill's plugin, driven from C as packetdrill drives it; and packetdrill itself, where it is installed.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use eifel_testkit::{Folder, TextFile};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the plugin; `None`, with a line, if it is not built. `cargo test` without a choice of
/// targets builds it with the examples.
fn plugin() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_BIN_EXE_eifel")).parent().unwrap();
    let plugin = folder.join("examples/libpacketdrill.so");
    if !plugin.exists() {
        eprintln!("SKIPPED: {} is not built: cargo build -p eifel-live --example packetdrill", plugin.display());
    }
    plugin.exists().then_some(plugin)
}

fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success();
    if !found {
        eprintln!("SKIPPED: {program} is not here");
    }
    found
}

#[test]
fn a_c_program_drives_the_plugin() {
    let Some(plugin) = plugin() else { return };
    if !has("cc") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill/drive.c");
    let folder = Folder::new();
    let drive = folder.join("drive");
    let built = Command::new("cc").args(["-O1", "-Wall", "-o"]).arg(&drive).arg(&source).arg("-ldl").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let script = folder.join("settings.pkt");
    std::fs::write(&script, SETTINGS).unwrap();
    let run = Command::new(&drive).args([&plugin, &script]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.stdout, b"ok\n");
    assert!(String::from_utf8_lossy(&run.stderr).contains("give packetdrill --local_ip"));
}

/// A script with settings, which are comments to packetdrill.
const SETTINGS: &str = "\
//: mss = 700
//: timestamps = off
//: sack = off
//: window_scale = off
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
";

/// A conversation in packetdrill's grammar: a retransmission timeout, and the retransmission.
const SCRIPT: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+.1 < S 0:0(0) win 65535 <mss 1460>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 1000) = 1000
+0 > P. 1:1001(1000) ack 1
+1~+2 > P. 1:1001(1000) ack 1
+.1 < . 1:1(0) ack 1001 win 65535
";

#[test]
fn packetdrill_itself_runs_a_script_on_it() {
    let Some(plugin) = plugin() else { return };
    if !has("packetdrill") {
        return;
    }
    let script = TextFile::new(SCRIPT, ".pkt");
    let flags = ["--so_flags=local=192.168.0.1", "--local_ip=192.168.0.1", "--remote_ip=192.0.2.1"];
    let option = format!("--so_filename={}", plugin.display());
    let run = Command::new("packetdrill").arg(option).args(flags).arg(&*script).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
