//! The program `eifel-hunt`.

use eifel_testkit::TextFile;
use std::process::Command;

const SCENARIO: &str = r#"
    duration_s = 60
    [point_to_point]
    rate_bps = 1_000_000
    delay_ms = 50
    loss = { kind = "random", rate = 0.1 }
    [[flow]]
    name = "main"
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", bytes = 5000 }
"#;

#[test]
fn progress_is_reported_once_every_five_hundred_runs() {
    let file = TextFile::new(SCENARIO, ".toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_eifel-hunt"));
    let output = command.arg("liars").arg(&*file).args(["--runs", "1100"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(found.starts_with("# goodput over an honest receiver's: "), "{found}");
    let told = String::from_utf8(output.stderr).unwrap();
    let done = told.lines().map(|line| line.strip_suffix(" of 1100 runs").unwrap().parse().unwrap());
    assert_eq!(done.map(|done: u32| done / 500).collect::<Vec<_>>(), [1, 2], "{told}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_eifel-hunt")).arg("--help").stdout(writer).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
