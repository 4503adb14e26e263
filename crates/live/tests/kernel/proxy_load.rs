//! Many clients of the proxy, and clients and servers that do not read. Its memory stays bounded.

use crate::live;
use crate::rig::{allowed, has};
use eifel_live::system::allow_files;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel/servers.py");
/// The most memory that the proxy may ever have taken, in KiB.
const MOST_KIB: u64 = 64 << 10;
const ECHO: u16 = 80;
const DEAF: u16 = 81;
const ENDLESS: u16 = 82;

/// A proxy, and behind it the servers.
struct Running {
    proxy: Child,
    port: u16,
    /// Keeps the pipe open, into which the proxy and the servers write.
    _said: BufReader<std::process::ChildStderr>,
}

impl Running {
    /// Returns `None` if this machine does not let the tests make one.
    fn new() -> Option<Self> {
        if !allowed() || !has("python3") {
            return None;
        }
        allow_files(4096);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut proxy = live()
            .args(["proxy", &port.to_string(), "--", "python3", SERVERS])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(proxy.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert!(line.contains("listening at 127.0.0.1"), "{line}");
        Some(Self { proxy, port, _said: said })
    }

    /// Connects without asking.
    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        client.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        client
    }

    /// Opens a connection through the proxy.
    fn call(&self, port: u16) -> TcpStream {
        let mut client = self.connect();
        ask(&mut client, port);
        answered(&mut client);
        client
    }

    /// Returns the most memory that the proxy has ever taken, in KiB.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.proxy.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }

    fn assert_small(&self) {
        let peak = self.peak();
        eprintln!("the proxy has taken {peak} KiB at most");
        assert!(peak < MOST_KIB, "{peak} KiB");
    }

    /// Asserts that a client is served, whatever the others do.
    fn assert_serves(&self) {
        let (mut client, bytes) = (self.call(ECHO), vec![7; 100_000]);
        let mut other = client.try_clone().unwrap();
        let sent = bytes.clone();
        let sends = std::thread::spawn(move || {
            other.write_all(&sent).unwrap();
            other.shutdown(Shutdown::Write).unwrap();
        });
        let mut echoed = Vec::new();
        client.read_to_end(&mut echoed).unwrap();
        assert!(echoed == bytes, "{} bytes", echoed.len());
        sends.join().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.proxy.kill().unwrap();
        self.proxy.wait().unwrap();
    }
}

fn ask(client: &mut TcpStream, port: u16) {
    write!(client, "CONNECT 10.85.0.1:{port} HTTP/1.1\r\n\r\n").unwrap();
}

fn answered(client: &mut TcpStream) {
    let mut reply = [0; 19];
    client.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"HTTP/1.1 200 OK\r\n\r\n");
}

/// Writes until the socket takes nothing for a while. Returns the number of bytes.
fn fill(client: &TcpStream) -> usize {
    client.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
    let (mut client, mut count) = (client, 0);
    while let Ok(taken) = client.write(&[7; 1 << 16]) {
        count += taken;
    }
    count
}

#[test]
fn a_thousand_clients_at_a_time_are_served() {
    let Some(running) = Running::new() else { return };
    let mut clients: Vec<TcpStream> = (0..1000).map(|_| running.connect()).collect();
    clients.iter_mut().for_each(|client| ask(client, ECHO));
    clients.iter_mut().for_each(answered);
    // Each writes no more than its socket takes at once, and then reads it.
    for (number, client) in clients.iter_mut().enumerate() {
        client.write_all(&[number as u8; 10_000]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
    }
    for (number, client) in clients.iter_mut().enumerate() {
        let mut echoed = Vec::new();
        client.read_to_end(&mut echoed).unwrap();
        assert!(echoed == [number as u8; 10_000], "client {number}: {} bytes", echoed.len());
    }
    running.assert_small();
    drop(clients);
    running.assert_serves();
}

/// Some clients leave, others stay.
#[test]
fn a_server_that_never_reads_costs_bounded_memory() {
    let Some(running) = Running::new() else { return };
    let mut clients: Vec<TcpStream> = (0..600).map(|_| running.call(DEAF)).collect();
    let written: usize = clients.iter().map(fill).sum();
    assert!(written > 300_000_000, "the system's buffers are full: {written}");
    clients.truncate(300);
    running.assert_serves();
    running.assert_small();
}

#[test]
fn clients_that_never_read_cost_bounded_memory() {
    let Some(running) = Running::new() else { return };
    let clients: Vec<TcpStream> = (0..600).map(|_| running.call(ENDLESS)).collect();
    std::thread::sleep(Duration::from_secs(2));
    running.assert_serves();
    running.assert_small();
    // A client that reads late still gets data, and one that leaves is no burden.
    let mut client = &clients[599];
    let mut late = vec![1; 3_000_000];
    client.read_exact(&mut late).unwrap();
    assert!(late.iter().all(|&byte| byte == 0));
    drop(clients);
    running.assert_serves();
    running.assert_small();
}

/// More clients than the proxy takes at a time wait until others have left.
#[test]
fn clients_beyond_the_limit_are_served_later() {
    let Some(running) = Running::new() else { return };
    let mut clients: Vec<TcpStream> = (0..1100).map(|_| running.connect()).collect();
    clients[..1024].iter_mut().for_each(|client| {
        ask(client, DEAF);
        answered(client);
    });
    let last = clients.last_mut().unwrap();
    ask(last, ECHO);
    last.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert_eq!(last.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    last.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    for client in clients.drain(..100) {
        rustix::net::sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
    }
    answered(clients.last_mut().unwrap());
    running.assert_small();
}
