//! The commands, called as a user calls them, against third-party peers.

use crate::behind_the_box::SINK;
use crate::live;
use crate::rig::{allowed, has};
use eifel_testkit::Folder;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

const SPIKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/spike.toml");

fn call(arguments: &[&str]) -> Output {
    live().args(arguments).output().unwrap()
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn an_unmodified_iperf3_takes_what_is_sent() {
    if !allowed() || !has("iperf3") {
        return;
    }
    let arguments = ["send", "--bytes", "20M", "--json", "iperf3://10.85.0.1", "--", "iperf3", "-s", "-1"];
    let document = json(&call(&arguments));
    // As in iperf3's own documents, the same members hold the same values.
    assert_eq!(document["end"]["sum_sent"]["bytes"], 20_000_000);
    let bytes: u64 =
        document["intervals"].as_array().unwrap().iter().map(|one| one["sum"]["bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, 20_000_000);
    assert!(document["end"]["streams"][0]["sender"]["max_snd_cwnd"].as_u64().unwrap() > 10_000);
}

#[test]
fn an_http_server_returns_a_document() {
    if !allowed() || !has("python3") {
        return;
    }
    let folder = Folder::new();
    std::fs::write(folder.join("document"), vec![b'x'; 3_000_000]).unwrap();
    let served = folder.to_string_lossy().into_owned();
    let server = ["--", "python3", "-m", "http.server", "--directory", served.as_str(), "80"];
    let output = call(&[&["receive", "--json", "http://10.85.0.1/document"], &server[..]].concat());
    assert!(json(&output)["end"]["sum_received"]["bytes"].as_u64().unwrap() > 3_000_000);
    let output = call(&[&["receive", "http://10.85.0.1/nothing"], &server[..]].concat());
    // The server logs to the same stream.
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("\neifel live: 10.85.0.1:80: HTTP status 404\n"));
    assert_eq!(output.status.code(), Some(1));
}

/// Python's server knows no PUT: it answers at once, and resets the connection behind its answer.
#[test]
fn an_http_server_that_refuses_a_body_is_quoted() {
    if !allowed() || !has("python3") {
        return;
    }
    let server = ["--", "python3", "-m", "http.server", "80"];
    let output = call(&[&["send", "--bytes", "20M", "http://10.85.0.1/document"], &server[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.ends_with("\neifel live: 10.85.0.1:80: HTTP status 501\n"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_impossible_request_prints_one_line() {
    let said = |arguments: &[&str]| {
        let output = call(arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let cases = [
        (&["send"][..], "one TARGET is needed"),
        (&["send", "--bytes", "1", "--seconds", "1", "10.0.0.1:5"], "--bytes contradicts --seconds"),
        (&["send", "--speed", "1", "10.0.0.1:5"], "unknown option --speed"),
        (&["receive", "0"], "0: expected a PORT from 1 to 65535, or http://"),
        (&["hiccup", "nowhere.toml", "--", "true"], "nowhere.toml: No such file"),
        (
            &["hiccup", SPIKE, "--expect", "drops<=0", "--", "true"],
            "--expect: drops: no such number; allowed: there.packets",
        ),
        (&["hiccup", SPIKE, "--on", "packet 0: hold", "--", "true"], "\"0\": expected a whole number, 1 or more"),
        (&["hiccup", SPIKE, "--mtu", "100", "--", "true"], "--mtu 100: expected 1280 to 65535"),
        (&["sctp", "send", "--streams", "0", "10.0.0.1:5"], "--streams 0: expected a number from 1 to 65535"),
        (&["sctp", "send", "--streams", "65536", "10.0.0.1:5"], "--streams 65536: expected a number from 1 to 65535"),
        (&["send", "--record", "x", "--bytes", "1", "10.0.0.1:5"], "--record: only `eifel live` can write the tables"),
        (&["receive", "--record", "x", "5001"], "--record: only `eifel live` can write the tables"),
        (&["dance"], "no such command"),
    ];
    for (arguments, expected) in &cases {
        let (code, line) = said(arguments);
        assert!(code == Some(2) && line.lines().count() == 1 && line.contains(expected), "{arguments:?}: {line}");
    }
    if allowed() {
        let (code, line) = said(&["send", "--bytes", "1", "10.85.0.1:5", "--", "sleep", "9"]);
        assert_eq!(
            (code, line.as_str()),
            (Some(1), "eifel live: 10.85.0.1:5: connection refused; nothing listens at this port\n")
        );
        for over in [&["receive"][..], &["sctp", "receive"]] {
            let (code, line) = said(&[over, &["5001", "--", "true"]].concat());
            assert_eq!(
                (code, line.as_str()),
                (Some(1), "eifel live: the command behind --: it has ended, and nothing is connected\n")
            );
        }
        let (code, line) = said(&["send", "--device", "lo", "--bytes", "1", "10.85.0.1:5", "--", "true"]);
        assert!(code == Some(1) && line.lines().count() == 1 && line.ends_with("choose another\n"), "{line}");
        let (code, line) = said(&["send", "--buffer", "0", "10.85.0.1:5", "--", "true"]);
        assert_eq!((code, line.as_str()), (Some(2), "eifel live: --buffer 0: expected at least 1 byte\n"));
    }
}

#[test]
fn a_command_behind_the_box_gets_all_its_arguments() {
    if !allowed() {
        return;
    }
    let folder = Folder::new();
    let file = folder.join("words");
    let said = format!("echo \"$0 $1 $2\" > {}", file.display());
    let output = call(&["hiccup", SPIKE, "--", "sh", "-c", &said, "one", "two", "three"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one two three\n");
}

#[test]
fn a_call_that_is_stopped_before_an_answer_says_so() {
    if !allowed() {
        return;
    }
    // No host has this address, so no answer comes.
    let arguments = ["send", "--bytes", "1", "192.0.2.1:5", "--", "sleep", "60"];
    let mut running = live().args(arguments).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(running.try_wait().unwrap(), None);
    kill_process(Pid::from_child(&running), Signal::TERM).unwrap();
    let output = running.wait_with_output().unwrap();
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), &*line),
        (Some(1), "eifel live: 192.0.2.1:5: stopped before the peer had answered\n")
    );
}

/// Ctrl-C at a terminal goes to the server behind `--` too, which then ends the test.
#[test]
fn an_interrupted_iperf3_server_has_ended_the_test() {
    if !allowed() || !has("iperf3") {
        return;
    }
    let mut command = live();
    command.args(["send", "--seconds", "60", "iperf3://10.85.0.1", "--", "iperf3", "-s", "-1"]);
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut said = BufReader::new(running.stdout.take().unwrap());
    // The heading, and the first interval.
    for _ in 0..2 {
        said.read_line(&mut String::new()).unwrap();
    }
    kill_process_group(Pid::from_child(&running), Signal::INT).unwrap();
    let output = running.wait_with_output().unwrap();
    let line = String::from_utf8_lossy(&output.stderr);
    assert!(line.ends_with("eifel live: 10.85.0.1:5201: the server has ended the test\n"), "{line}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_closed_output_pipe_does_not_end_the_run() {
    if !allowed() || !has("python3") {
        return;
    }
    let folder = Folder::new();
    let file = folder.join("taken");
    let counts = format!(
        "import socket; taker, _ = socket.create_server(('', 5001)).accept(); count = 0\n\
         while got := taker.recv(65536): count += len(got)\n\
         open({file:?}, 'w').write(str(count))"
    );
    let arguments = ["send", "--bytes", "3M", "--interval", "0.01", "10.85.0.1:5001", "--", "python3", "-c", &counts];
    let mut running = live().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    let output = running.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    // The peer may still be writing.
    let taken = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty())
    });
    assert_eq!(taken.as_deref(), Some("3000000"));
}

/// Exits with 0 if the host answers a call, by taking or refusing it, within a second.
const CALLS_AT_ONCE: &str = "import socket, sys, time
begun = time.monotonic()
try: socket.create_connection(('10.85.0.2', int(sys.argv[1])), 5).close()
except ConnectionRefusedError: pass
assert time.monotonic() - begun < 1, 'it took %.3f s' % (time.monotonic() - begun)";

/// A command that only calls never listens. Another calls before it listens.
#[test]
fn a_host_answers_before_anything_listens_in_the_namespace() {
    if !allowed() || !has("python3") {
        return;
    }
    let output = call(&["receive", "5001", "--json", "--", "python3", "-c", CALLS_AT_ONCE, "5001"]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    let late = format!("python3 -c \"{CALLS_AT_ONCE}\" 99 && exec python3 -c \"{SINK}\"");
    let output = call(&["send", "--bytes", "1M", "10.85.0.1:5001", "--", "sh", "-c", &late]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_sender_prints_cwnd_and_a_receiver_does_not() {
    if !allowed() || !has("python3") {
        return;
    }
    let source =
        "import socket\ns = socket.create_connection(('10.85.0.2', 5001))\ns.sendall(b'x' * 3000000)\ns.close()";
    let cases: [(&[&str], &[&str], bool); 2] = [
        (&["receive", "5001"], &["python3", "-c", source], false),
        (&["send", "--bytes", "3M", "10.85.0.1:5001"], &["python3", "-c", SINK], true),
    ];
    for (own, other, sends) in cases {
        let output = call(&[own, &["--"], other].concat());
        let said = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = said.lines().collect();
        assert!(output.status.success() && lines.len() >= 3, "{own:?}: {said}");
        assert_eq!(lines[0].contains("Cwnd"), sends, "{said}");
        let end = if sends { "  sender" } else { " s" };
        assert!(lines[lines.len() - 1].ends_with(end), "{said}");
    }
}
