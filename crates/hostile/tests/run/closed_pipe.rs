//! Closing standard output early, as `head` does, is no error.

use std::process::Command;

#[test]
fn a_closed_pipe_is_no_error() {
    for arguments in [["--seed", "1"].as_slice(), &["--seed", "1", "--print"], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_eifel-hostile"));
        let output = command.args(arguments).stdout(writer).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}
