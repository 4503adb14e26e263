//! Checks the program's output for many cases.

use eifel_hostile::generate;
use eifel_hostile::hunt::hunt;
use std::process::Command;

#[test]
fn the_command_runs_the_cases_from_the_first_seed_on() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eifel-hostile"));
    let output = command.args(["--first", "7", "--count", "5", "--threads", "1"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let expected = format!("{}\n", hunt(generate::scenario, 7..12, Some(1), None, |_| {}).unwrap());
    let rest = said.strip_prefix(&expected);
    assert!(rest.is_some_and(|rest| rest.ends_with(" cases a second\n") && rest.lines().count() == 1), "{said}");
}
