//! Each command that takes packets, while a stranger sends it what a stranger can send.

use crate::behind_the_box::folder;
use crate::live;
use crate::rig::{allowed, has};
use crate::sctp;
use eifel_live::system::namespace::Namespace;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Output, Stdio};

const STRANGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel/stranger.py");

fn able() -> bool {
    allowed() && has("python3")
}

/// Runs a command of `eifel live` with this command of the shell behind it.
fn call(words: &[&str], peer: &str) -> Output {
    let mut command = live();
    command.args(words).args(["--json", "--", "sh", "-c", peer]);
    command.output().unwrap()
}

/// Returns the JSON document of a command that has not failed.
fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn a_receiver_survives_a_stranger() {
    if !able() {
        return;
    }
    let received = document(&call(&["receive", "5001"], &format!("exec python3 {STRANGER} source 5001")));
    assert_eq!(received["streams"][0]["bytes"], 1_000_000, "{received:#}");
}

#[test]
fn a_sender_survives_a_stranger() {
    if !able() {
        return;
    }
    let sink = format!("exec python3 {STRANGER} sink 5001");
    let sent = document(&call(&["send", "--bytes", "3000000", "10.85.0.1:5001"], &sink));
    assert_eq!(sent["end"]["sum_received"]["bytes"], 3_000_000, "{sent:#}");
}

#[test]
fn an_association_survives_a_stranger() {
    let (true, Some(peer)) = (able(), sctp::peer()) else { return };
    let peer = peer.display();
    for (port, more) in [("0", &[][..]), ("9899", &["--udp", "9899"][..])] {
        let calls = format!(
            "python3 {STRANGER} only 7 5001 && (python3 {STRANGER} keep 7 5001 & exec {peer} call {port} 10.85.0.2 7 500 4000)"
        );
        let received = document(&call(&[&["sctp", "receive", "7"], more].concat(), &calls));
        assert_eq!(received["bytes"], 2_000_000, "{more:?}: {received:#}");
        let listens = format!("python3 {STRANGER} keep 5001 7 & exec {peer} listen {port} 7");
        let words = [&["sctp", "send", "--bytes", "3000000", "10.85.0.1:7"], more].concat();
        let sent = document(&call(&words, &listens));
        assert_eq!(sent["bytes"], 3_000_000, "{more:?}: {sent:#}");
    }
}

#[test]
fn a_proxy_survives_a_stranger() {
    if !able() {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut proxy = live()
        .args(["proxy", &port.to_string(), "--", "python3", STRANGER, "sink", "80"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("listening at 127.0.0.1")));
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.write_all(b"CONNECT 10.85.0.1:80 HTTP/1.1\r\n\r\n").unwrap();
    client.write_all(&[7; 1_000_000]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut reply = String::new();
    client.read_to_string(&mut reply).unwrap();
    assert_eq!(reply, "HTTP/1.1 200 OK\r\n\r\n1000000");
    // It would wait for the end of TIME-WAIT.
    assert_eq!(proxy.try_wait().unwrap(), None);
    proxy.kill().unwrap();
    proxy.wait().unwrap();
}

#[test]
fn the_box_survives_a_stranger() {
    if !able() {
        return;
    }
    let folder = folder();
    let scenario = folder.join("plain.toml");
    let sink = format!("exec python3 {STRANGER} sink 5001");
    let words = ["hiccup", scenario.to_str().unwrap(), "--peer", &sink];
    let counts = document(&call(&words, &format!("exec python3 {STRANGER} source 5001")));
    assert!(counts["numbers"]["there.packets"].as_f64().unwrap() > 1000.0, "{counts:#}");
}

#[test]
fn a_recorder_survives_a_stranger() {
    if !able() {
        return;
    }
    let folder = folder();
    let file = folder.join("all.pcapng");
    let recorded = Namespace::new().unwrap().within(|| {
        let mut command = live();
        command.arg("record").arg(&file).args(["--", "python3", STRANGER, "only", "7", "5001"]);
        for name in ["EIFEL_ADDRESS", "EIFEL_PEER"] {
            command.env(name, "127.0.0.1").env(format!("{name}6"), "::1");
        }
        Ok(command.output().unwrap())
    });
    let output = recorded.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::metadata(&file).unwrap().len() > 20_000);
}
