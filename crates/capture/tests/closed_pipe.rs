//! Closing standard output before everything is written, as `head` does, is no error.
#![cfg(feature = "files")]

use std::process::Command;

/// An empty pcap file: microseconds, packets of at most 65 535 bytes, raw IP.
const PCAP: [u8; 24] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0];

#[test]
fn a_closed_pipe_is_no_error() {
    let file = std::env::temp_dir().join(format!("eifel-closed-pipe-{}.pcap", std::process::id()));
    std::fs::write(&file, PCAP).unwrap();
    let outputs = [None, Some("--json"), Some("--csv"), Some("--lines")].map(|option| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_eifel-capture"));
        command.args(option).arg(&file).stdout(writer).output().unwrap()
    });
    std::fs::remove_file(&file).unwrap();
    for output in outputs {
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}
