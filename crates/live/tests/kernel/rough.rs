//! Paths that lose, duplicate, reorder and hold packets, or carry only shorter ones. And callers
//! without the rights that they need.

use crate::behind_the_box::{SINK, folder};
use crate::rig::{allowed, has};
use crate::{PROGRAM, live};
use serde_json::Value;
use std::process::{Command, Output};

/// 200 Mbit/s each way, with loss, duplication and reordering. Every four seconds all packets are
/// held for longer than the retransmission timeout.
const ROUGH: &str = "duration_s = 60
[[node]]
name = \"a\"
[[node]]
name = \"b\"
[[link]]
from = \"a\"
to = \"b\"
name = \"there\"
rate_bps = 200_000_000
delay_ms = 0.5
queue = { kind = \"drop-tail\", packets = 200 }
loss = { kind = \"random\", rate = 0.002 }
duplicate = { rate = 0.002 }
reorder = { rate = 0.002, length = 5 }
[[link]]
from = \"b\"
to = \"a\"
rate_bps = 200_000_000
delay_ms = 0.5
loss = { kind = \"random\", rate = 0.002 }
[[spike]]
links = [\"there\"]
holds = \"arriving\"
first_s = 0.5
length_s = 0.4
interval_s = 4.0
interval = \"start-to-start\"
[[flow]]
name = \"main\"
from = \"a\"
to = \"b\"
application = { kind = \"bulk\", bytes = 1000 }
[flow.tcp]
send_buffer_bytes = 1_000_000
[flow.sender]
detect = \"eifel-timestamps\"
respond = \"rfc4015\"
recover = \"rack-tlp\"
rto = { name = \"rfc6298\", minimum_ms = 200 }
";

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// An eifel sender is behind the kernel of one side. An eifel receiver is behind that of the other,
/// and compares every byte. The sender has the scenario's settings. `EIFEL_ROUGH=10G` makes it a
/// long test.
#[test]
fn every_byte_arrives_over_a_path_with_loss_reordering_and_duplicates() {
    if !allowed() {
        return;
    }
    let folder = folder();
    std::fs::write(folder.join("rough.toml"), ROUGH).unwrap();
    let bytes = std::env::var("EIFEL_ROUGH").unwrap_or_else(|_| "30M".to_owned());
    let receiver = format!(
        "{PROGRAM} live receive --address 10.86.0.2 --address6 fd86::2 --check --json 5001 >{}/read",
        folder.display()
    );
    let scenario = folder.join("rough.toml");
    let send = format!("{PROGRAM} live send --like {} --bytes {bytes} 10.86.0.2:5001 && sleep 1", scenario.display());
    let output = live()
        .args([
            "hiccup",
            "--json",
            "--expect",
            "there.dropped>0",
            "--expect",
            "needed>0",
            "--expect",
            "spurious>0",
            "--peer",
            &receiver,
        ])
        .arg(&scenario)
        .args(["--", "sh", "-c", &send])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers = &json(&output)["numbers"];
    assert!(numbers["there.copied"].as_f64() > Some(0.0) && numbers["needed"].as_f64() > Some(0.0), "{numbers:#}");
    let read: Value = serde_json::from_slice(&std::fs::read(folder.join("read")).unwrap()).unwrap();
    let expected = match bytes.strip_suffix('G') {
        Some(count) => count.parse::<u64>().unwrap() * 1_000_000_000,
        None => bytes.trim_end_matches('M').parse::<u64>().unwrap() * 1_000_000,
    };
    assert_eq!(read["streams"][0]["bytes"], expected);
}

#[test]
fn a_smaller_path_mtu_is_reported_by_icmp() {
    if !allowed() || !has("python3") {
        return;
    }
    let folder = folder();
    let out = folder.join("out");
    // The far kernel's device takes 1500 bytes, so its MSS is too large for the near kernel's
    // device, which takes 1300.
    let send = format!("ip link set hiccup0 mtu 1300 && {PROGRAM} live send --bytes 1M $EIFEL_PEER:5001");
    let output = live()
        .args(["hiccup", "--json", "--peer", &format!("python3 -c \"{SINK}\""), "--out"])
        .arg(&out)
        .arg(folder.join("plain.toml"))
        .args(["--", "sh", "-c", &send])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(json(&output)["numbers"]["there.bytes"].as_f64() > Some(1e6));
    let path = std::fs::read_to_string(out.join("path.csv")).unwrap();
    let bytes = |line: &str| line.split(',').nth(15).and_then(|field| field.parse::<u32>().ok());
    assert_eq!(path.lines().skip(1).filter_map(bytes).max(), Some(1300));
    // Both kernels were watched. Only the far one has the connection.
    for (side, word) in [("sender", "RtoMin"), ("receiver", "InSegs")] {
        let counters = std::fs::read_to_string(out.join(format!("{side}.counters.csv"))).unwrap();
        assert!(counters.contains(word), "{side}: {counters}");
    }
}

#[test]
fn a_user_namespace_is_enough_without_root() {
    let drops = ["--bounding-set=-sys_admin,-net_admin", "--inh-caps=-sys_admin,-net_admin"];
    let possible = || {
        let tried = Command::new("setpriv").args(drops).args(["unshare", "--user", "--map-root-user", "true"]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    if !allowed() || !has("python3") || !possible() {
        eprintln!("SKIPPED: no user namespaces, or no setpriv");
        return;
    }
    let output = Command::new("setpriv")
        .args(drops)
        .args([PROGRAM, "live", "send", "--bytes", "100K", "--json", "10.85.0.1:5001", "--", "python3", "-c", SINK])
        .output()
        .unwrap();
    assert_eq!(json(&output)["end"]["sum_sent"]["bytes"], 100_000);
}

/// Runs `send` behind `shell`, which ends in `exec`. Returns the exit code and the error output. If
/// this is not possible here, prints a line and returns `None`.
fn said_behind(outer: &[&str], shell: &str) -> Option<(Option<i32>, String)> {
    let send = format!("{shell} {PROGRAM} live send --bytes 1 10.85.0.1:5001 -- true");
    let possible = Command::new(outer[0]).args(&outer[1..]).args(["sh", "-c", &format!("{shell} true")]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {} cannot do this here", outer[0]);
        return None;
    }
    let output = Command::new(outer[0]).args(&outer[1..]).args(["sh", "-c", &send]).output().unwrap();
    Some((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn without_tun_devices_one_line_says_that_they_are_missing() {
    if !allowed() {
        return;
    }
    let hidden = said_behind(&["unshare", "--mount"], "mount -t tmpfs none /dev/net && exec");
    let Some((code, line)) = hidden else { return };
    assert_eq!(code, Some(1), "{line}");
    assert!(line.starts_with("eifel live: open /dev/net/tun: ") && line.lines().count() == 1, "{line}");
    assert!(line.contains("the kernel has no TUN devices, or this container hides them"), "{line}");
}

#[test]
fn without_privileges_one_line_says_how_to_get_them() {
    let shell = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all";
    let Some((code, line)) = said_behind(&["unshare", "--user", "--map-root-user"], shell) else { return };
    assert_eq!(code, Some(1), "{line}");
    assert!(line.starts_with("eifel live: ") && line.lines().count() == 1, "{line}");
    assert!(line.contains("run it as root") && line.contains("user namespaces are not allowed here"), "{line}");
}
