//! The program `eifel`: its commands, its exit codes, and output whose reader goes away.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn capture() -> String {
    crates().join("capture/tests/faults/ack_at_once_nots.pcap").display().to_string()
}

fn called(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eifel")).args(words).output().unwrap()
}

#[test]
fn each_command_ends_with_its_code() {
    let script = crates().join("script/scripts/rfc3522").display().to_string();
    let capture = capture();
    let scenario = crates().parent().unwrap().join("examples/spike.toml").display().to_string();
    for (words, code, said) in [
        (&["--help"][..], 0, "usage: eifel advise"),
        (&["--version"], 0, concat!("eifel ", env!("CARGO_PKG_VERSION"))),
        (&[], 2, "no command"),
        (
            &["fly"],
            2,
            "\"fly\" is no command; expected advise, analyze, counters, live, run, script, watch, whatif; see --help",
        ),
        (&["anlyze"], 2, "\"anlyze\" is no command; nearest: analyze; expected"),
        (&["help"], 0, "usage: eifel advise"),
        (&["help", "whatif"], 0, "example: eifel whatif"),
        (&["help", "live", "send"], 0, "usage: eifel live send"),
        (&["analyze", "-v", &capture], 2, "unknown option -v; see --help"),
        (&["analyze", &capture], 0, "6 of 9 retransmissions were needless"),
        (&["analyze", &capture, "--fail-if", "spurious>5"], 1, "fails because of --fail-if 'spurious>5'"),
        (&["analyze", "/nowhere.pcap"], 2, "No such file"),
        (&["advise", "--help"], 0, "example: eifel advise"),
        (&["advise", &capture], 0, "Open loop"),
        (&["advise", "/nowhere.pcap"], 2, "No such file"),
        (&["counters", "--help"], 0, "example: nstat -az | eifel counters -"),
        (&["analyze", "--help"], 0, "example: eifel analyze"),
        (
            &["analyze", "--report", "x.html", &capture],
            2,
            "--report: only the Python package's eifel has it; see --help",
        ),
        (&["run", "--help"], 0, "example: eifel run"),
        (&["run", &scenario, "--seed", "7"], 0, "spurious_timeouts"),
        (&["run", &capture], 2, "not a text file in UTF-8"),
        (&["script", &script], 0, " passed\n"),
        (&["script", &capture], 2, "not a text file in UTF-8"),
        (&["whatif", "--help"], 0, "example: eifel whatif"),
        (&["whatif", "/nowhere.pcap", "--set", "sender.detect=none"], 2, "No such file"),
        (&["whatif", &capture, "--set", "sender.detect=none"], 1, "what you can do: "),
        (&["live", "--help"], 0, "usage: eifel live advise"),
        (&["live", "fly"], 2, "no such command"),
    ] {
        let output = called(words);
        let text = [&output.stdout[..], &output.stderr].concat();
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        assert!(String::from_utf8_lossy(&text).contains(said), "{words:?}: {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn json_has_the_versions_of_the_published_schemas() {
    let folder = crates().parent().unwrap().join("docs/reference/schemas");
    let script = crates().join("script/scripts/rfc3522").display().to_string();
    let capture = capture();
    let scenario = crates().parent().unwrap().join("examples/spike.toml").display().to_string();
    for (name, words) in [
        ("analyze", &["analyze", "--json", &capture][..]),
        ("run", &["run", "--json", "--repetitions", "2", &scenario]),
        ("script", &["script", "--json", &script]),
        ("whatif", &["whatif", "--json", "--set=sender.detect=none", &capture]),
    ] {
        let found: serde_json::Value = serde_json::from_slice(&called(words).stdout).unwrap();
        let schema = std::fs::read(folder.join(format!("{name}.schema.json"))).unwrap();
        let schema: serde_json::Value = serde_json::from_slice(&schema).unwrap();
        for key in ["schema", "version"] {
            assert_eq!(found[key], schema["properties"][key]["const"], "{name}: {key}");
        }
        let required = schema["required"].as_array().unwrap();
        assert!(required.iter().all(|key| found.get(key.as_str().unwrap()).is_some()), "{name}");
    }
}

#[test]
fn a_closed_pipe_is_no_error_and_a_full_disk_is_one_line() {
    let capture = capture();
    for words in [
        &["analyze", &capture][..],
        &["analyze", "--json", &capture],
        &["analyze", "--lines", &capture],
        &["analyze", "--csv", "-", &capture],
        &["--help"],
        &["script", "--help"],
        &["whatif", "--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_eifel")).args(words).stdout(writer).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_eifel")).args(words).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{words:?}: {said}");
        assert!(said.contains("standard output: "), "{said}");
    }
}
