//! Orders to a box that runs: over its socket, and typed.

use crate::behind_the_box::{SINK, SOURCE, folder};
use crate::rig::allowed;
use std::io::{Read, Write};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_eifel-live");

fn begun(folder: &Path, options: &[&str]) -> Child {
    let mut call = Command::new(PROGRAM);
    call.arg("hiccup").args(options).args(["--json", "--expect", "spurious>=1", "--expect", "needed==0"]);
    call.arg(folder.join("plain.toml")).args(["--peer", &format!("python3 -c \"{SINK}\""), "--"]);
    call.args(["python3", "-c", SOURCE, "1500000"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Holds and releases by turns until the run is over: nobody knows here when the flow has begun.
fn ended(mut running: Child, mut order: impl FnMut(&str)) {
    for orders in ["hold", "release"].iter().cycle().take(60) {
        order(orders);
        for _ in 0..if *orders == "hold" { 20 } else { 5 } {
            std::thread::sleep(Duration::from_millis(100));
            if let Some(status) = running.try_wait().unwrap() {
                let mut said = String::new();
                running.stdout.take().unwrap().read_to_string(&mut said).unwrap();
                assert!(status.success(), "{said}");
                return;
            }
        }
    }
    panic!("it does not end");
}

#[test]
fn a_datagram_holds_and_another_releases() {
    if !allowed() {
        return;
    }
    let folder = folder("control");
    let path = folder.join("control");
    // As one that was killed has left it.
    drop(UnixDatagram::bind(&path).unwrap());
    let running = begun(&folder, &["--control", path.to_str().unwrap()]);
    let socket = UnixDatagram::unbound().unwrap();
    let sent = |order: &str| {
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            socket.send_to(order.as_bytes(), &path).is_ok()
        })
    };
    assert!(sent("dance"), "what is no order is said, and changes nothing");
    ended(running, |order| drop(socket.send_to(order.as_bytes(), &path)));
    assert!(!path.exists(), "the socket is removed");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn enter_holds_and_releases() {
    if !allowed() {
        return;
    }
    let folder = folder("keys");
    let mut running = begun(&folder, &["--keys"]);
    let mut keys = running.stdin.take().unwrap();
    // It may have ended at this moment.
    ended(running, |_| drop(keys.write_all(b"\n")));
    std::fs::remove_dir_all(&folder).unwrap();
}
