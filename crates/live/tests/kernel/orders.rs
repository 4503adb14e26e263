//! Orders to a running box: over its socket, and typed.

use crate::behind_the_box::{SINK, SOURCE, folder};
use crate::live;
use crate::rig::allowed;
use std::io::{Read, Write};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

fn begun(folder: &Path, options: &[&str]) -> Child {
    let mut call = live();
    call.arg("hiccup").args(options).args(["--json", "--expect", "spurious>=1", "--expect", "needed==0"]);
    call.arg(folder.join("plain.toml")).args(["--peer", &format!("python3 -c \"{SINK}\""), "--"]);
    call.args(["python3", "-c", SOURCE, "1500000"]).arg(folder.join("connected"));
    call.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn within_a_minute(mut holds: impl FnMut() -> bool) -> bool {
    (0..3000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        holds()
    })
}

/// Holds packets for two seconds when the flow has just begun. Only then has its timer measured
/// nothing but short round trips. A timer that has measured a hold, of the SYN too, waits longer
/// than the next hold lasts.
fn ended(mut running: Child, folder: &Path, mut order: impl FnMut(&str)) {
    assert!(within_a_minute(|| folder.join("connected").exists()), "it does not connect");
    order("hold");
    std::thread::sleep(Duration::from_secs(2));
    order("release");
    assert!(within_a_minute(|| running.try_wait().unwrap().is_some()), "it does not end");
    let mut said = String::new();
    running.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(running.wait().unwrap().success(), "{said}");
}

#[test]
fn one_control_datagram_holds_packets_and_another_releases_them() {
    if !allowed() {
        return;
    }
    let folder = folder();
    let path = folder.join("control");
    // A box that was killed leaves its socket like this.
    drop(UnixDatagram::bind(&path).unwrap());
    let running = begun(&folder, &["--control", path.to_str().unwrap()]);
    let socket = UnixDatagram::unbound().unwrap();
    let said = within_a_minute(|| socket.send_to(b"dance", &path).is_ok());
    assert!(said, "what is no order is said, and changes nothing");
    ended(running, &folder, |order| drop(socket.send_to(order.as_bytes(), &path)));
    assert!(!path.exists(), "the socket is removed");
}

#[test]
fn a_regular_file_at_the_socket_path_is_not_removed() {
    if !allowed() {
        return;
    }
    let folder = folder();
    let path = folder.join("notes");
    std::fs::write(&path, "mine").unwrap();
    let mut call = live();
    call.args(["hiccup", "--control"]).arg(&path).arg(folder.join("plain.toml")).args(["--peer", "true", "--", "true"]);
    let output = call.output().unwrap();
    let line = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && line.ends_with("remove the file, or choose another\n"), "{line}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn the_enter_key_holds_and_releases() {
    if !allowed() {
        return;
    }
    let folder = folder();
    let mut running = begun(&folder, &["--keys"]);
    let mut keys = running.stdin.take().unwrap();
    // A pipe may deliver a line in parts.
    ended(running, &folder, |order| match order {
        "hold" => ["ho", "ld\n"].iter().for_each(|part| {
            keys.write_all(part.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }),
        _ => keys.write_all(b"\n").unwrap(),
    });
}
