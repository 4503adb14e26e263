//! Reads captures with Wireshark's dissectors.

use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Returns one row of fields per frame. Returns `None`, with a message on stderr, if tshark is not
/// installed.
pub fn rows(path: &Path, checks: &[&str], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-n", "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"]);
    for check in checks {
        command.args(["-o", check]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // The test harness hides the output of print macros in tests that pass.
            let line = "\n*** SKIPPED: captures were not read by Wireshark's dissectors: tshark is not installed ***\n";
            let _ = std::io::stderr().write_all(line.as_bytes());
            return None;
        }
        Err(error) => panic!("tshark does not run: {error}"),
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    // For "the file appears to be damaged": tshark does not always fail then.
    assert!(output.status.success() && !complaint.contains("appears"), "tshark: {complaint}");
    let text = String::from_utf8(output.stdout).expect("tshark writes UTF-8");
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}
