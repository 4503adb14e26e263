//! The completions of the Debian package offer the commands and options that `--help` names.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

const CASES: [(&str, &[&str]); 7] = [
    ("", &["advise", "analyze", "counters", "live", "run", "script", "watch", "whatif"]),
    ("an", &["analyze"]),
    ("analyze --fai", &["--fail-if"]),
    ("analyze x.pcap --js", &["--json"]),
    ("run x.toml --repetitio", &["--repetition", "--repetitions"]),
    ("live se", &["send"]),
    ("live sctp send x --stre", &["--streams"]),
];

/// Runs a line of a shell that has read its completions, with the program on its path.
fn words(shell: &str, file: &str, line: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_eifel"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/completions");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let script = format!("source {}\n{line}", folder.join(file).display());
    let done = Command::new(shell).args(["-c", &script]).env("PATH", path).output().unwrap();
    assert!(done.status.success(), "{shell}: {}", String::from_utf8_lossy(&done.stderr));
    let mut words: Vec<String> =
        String::from_utf8(done.stdout).unwrap().lines().map(|word| word.trim().to_owned()).collect();
    words.sort_unstable();
    words
}

#[test]
fn bash_offers_what_the_help_names() {
    for (typed, expected) in CASES {
        let line = format!(
            "read -ra COMP_WORDS <<<'eifel {typed}'\n[[ '{typed}' ]] || COMP_WORDS+=('')\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             _eifel\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        assert_eq!(words("bash", "eifel.bash", &line), expected, "{typed}");
    }
    // A file may stand there, and the shell's own completion finds it.
    let line = "COMP_WORDS=(eifel analyze a) COMP_CWORD=2\n_eifel\necho ${#COMPREPLY[@]}";
    assert_eq!(words("bash", "eifel.bash", line), ["0"]);
}

#[test]
fn fish_offers_what_the_help_names() {
    if Command::new("fish").arg("--version").output().is_err() {
        eprintln!("SKIPPED: fish is not installed, so its completions were not tried");
        return;
    }
    for (typed, expected) in CASES.iter().filter(|(typed, _)| !typed.is_empty()) {
        assert_eq!(words("fish", "eifel.fish", &format!("complete -C 'eifel {typed}'")), *expected, "{typed}");
    }
}
