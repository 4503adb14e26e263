//! The program `eifel-sim`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("eifel-sim-{}-{name}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn run(arguments: &[&str], file: &Path) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_eifel-sim")).args(arguments).arg(file).output().unwrap();
    std::fs::remove_file(file).unwrap();
    output
}

#[test]
fn a_summary_as_json_is_one_line_a_repetition() {
    let file = file("rough", crate::common::ROUGH);
    let output = run(&["--json", "--checked", "--repetitions", "2"], &file);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].starts_with(r#"{"repetition": 1, "duration_s": "#), "{text}");
    assert!(lines[1].contains(r#""flow": "main", "completed": true"#), "{text}");
}

#[test]
fn a_bad_scenario_is_one_line_and_exit_code_2() {
    let file = file("bad", &crate::common::ROUGH.replace("duration_s", "duratoin_s"));
    let output = run(&[], &file);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains(&file.to_string_lossy().into_owned()) && text.contains("duratoin_s"), "{text}");
}

#[test]
fn bad_arguments_are_exit_code_2() {
    for arguments in [&["--colour"][..], &["--repetition", "one"], &["--repetition"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_eifel-sim")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
    }
}

#[test]
fn captures_go_into_a_folder_that_need_not_be_there() {
    let folder = std::env::temp_dir().join(format!("eifel-sim-{}-captures", std::process::id()));
    let captured = crate::common::ROUGH.replace("duration_s = 300", "duration_s = 300\ncaptures = [\"receiver\"]");
    let inside = folder.join("inside").to_string_lossy().into_owned();
    let arguments = ["--captures", inside.as_str()];
    let output = run(&arguments, &file("captures", &captured));
    let written = std::fs::read(folder.join("inside/receiver.0.pcapng"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success() && written.is_ok_and(|bytes| bytes.len() > 1000), "{output:?}");
    // A scenario without captures is refused.
    let output = run(&arguments, &file("no-captures", crate::common::ROUGH));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
