//! Third-party programs, through the proxy.

use crate::live;
use crate::rig::{allowed, has};
use eifel_testkit::Folder;
use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn curl_gets_a_document_over_socks_and_over_http() {
    if !allowed() || !has("curl") || !has("python3") {
        return;
    }
    let folder = Folder::new();
    let document: Vec<u8> = (0..2_000_000_u32).flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(folder.join("document"), &document).unwrap();
    // A port that is free now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut proxy = live()
        .args([
            "proxy",
            &port.to_string(),
            "--clients",
            "3",
            "--json",
            "--",
            "python3",
            "-m",
            "http.server",
            "--directory",
        ])
        .arg(&*folder)
        .arg("80")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("listening at 127.0.0.1")));
    let rest = std::thread::spawn(move || lines.for_each(drop));
    let curl = |way: &[&str], path: &str| {
        let url = format!("http://10.85.0.1{path}");
        Command::new("curl").args(["--silent", "--max-time", "60"]).args(way).arg(url).output().unwrap()
    };
    let (socks, http) = (format!("socks5h://127.0.0.1:{port}"), format!("http://127.0.0.1:{port}"));
    assert!(curl(&["--proxy", &socks], "/document").stdout == document);
    assert!(curl(&["--proxytunnel", "--proxy", &http], "/document").stdout == document);
    // Nothing listens there, and the proxy tells curl so (97: refused by SOCKS).
    assert_eq!(curl(&["--proxy", &socks], ":81/").status.code(), Some(97));
    let output = proxy.wait_with_output().unwrap();
    assert!(output.status.success(), "after three clients it is done");
    let passed: Vec<Value> =
        output.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let opened: Vec<_> =
        passed.iter().map(|one| (one["target"].as_str().unwrap(), one["opened"].as_bool().unwrap())).collect();
    assert_eq!(opened, [("10.85.0.1:80", true), ("10.85.0.1:80", true), ("10.85.0.1:81", false)]);
    for one in &passed[..2] {
        let (sent, received) = (one["bytes_sent"].as_u64().unwrap(), one["bytes_received"].as_u64().unwrap());
        // The request has some lines. The answer is a header and the document.
        assert!((60..400).contains(&sent) && (8_000_100..8_001_000).contains(&received), "{one}");
    }
    rest.join().unwrap();
}

#[test]
fn the_error_names_a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = live().args(["proxy", &port.to_string()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.lines().count() == 1 && said.ends_with("choose another port\n"), "{said}");
}

/// Resets the first connection after 1000 bytes, and prints how the second one ends.
const SERVER: &str = r#"
import socket, struct, sys
listener = socket.create_server(("10.85.0.1", 80))
first, _ = listener.accept()
first.sendall(bytes(1000))
first.recv(1)
first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
first.close()
second, _ = listener.accept()
second.sendall(b"k")
try:
    while second.recv(1000):
        pass
    print("ended", file=sys.stderr, flush=True)
except ConnectionResetError:
    print("was reset", file=sys.stderr, flush=True)
"#;

/// Without it, a transfer without a length that was cut looks complete.
#[test]
fn a_reset_is_passed_on_both_ways() {
    if !allowed() || !has("python3") {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut proxy = live()
        .args(["proxy", &port.to_string(), "--clients", "3", "--json", "--", "python3", "-c", SERVER])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("listening at 127.0.0.1")));
    let connect = || {
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        client.write_all(b"CONNECT 10.85.0.1:80 HTTP/1.1\r\n\r\n").unwrap();
        let mut reply = Vec::new();
        while !reply.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).unwrap();
            reply.extend(byte);
        }
        assert!(reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&reply));
        client
    };
    let mut client = connect();
    let mut document = [1; 1000];
    client.read_exact(&mut document).unwrap();
    assert_eq!(document, [0; 1000]);
    client.write_all(b"k").unwrap();
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let mut client = connect();
    client.read_exact(&mut [0]).unwrap();
    rustix::net::sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
    drop(client);
    assert_eq!(lines.map(Result::unwrap).find(|line| line == "was reset" || line == "ended").unwrap(), "was reset");
    proxy.kill().unwrap();
    proxy.wait().unwrap();
}
