//! What keeps packetdrill from running a script of this project, as docs/reference/scripts.md says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::folder::{root, scripts};

/// Returns the reason why packetdrill refuses a script, or cannot run it; `None` if it runs it.
fn obstacle(text: &str) -> Option<&'static str> {
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let has = |word: &str| lines().any(|line| line.contains(word));
    if has("IPPROTO_SCTP") {
        Some("SCTP")
    } else if has("marks bits") || has("marks timestamps") {
        Some("The option `marks`")
    } else if has(" ...(") {
        Some("A packet without numbers")
    } else if has("%{") {
        Some("A block of assertions")
    } else {
        None
    }
}

/// Returns lines that this project reads and packetdrill does not.
fn unpadded_or_unremarked(text: &str) -> Vec<&str> {
    let options = |line: &str| {
        let mut bytes = 0;
        for option in line.rsplit_once('<')?.1.trim_end().strip_suffix('>')?.split(',') {
            bytes += match option.split(' ').next()? {
                "mss" => 4,
                "sackOK" => 2,
                "TS" => 10,
                "wscale" => 3,
                "sack" => 2 + 8 * (option.split(' ').count() - 1),
                "nop" | "eol" => 1,
                _ => return None,
            };
        }
        Some(bytes)
    };
    let wrong = |line: &&str| {
        let error = line.split(" = -1 E").nth(1);
        options(line).is_some_and(|bytes| bytes % 4 != 0) || error.is_some_and(|name| !name.contains('('))
    };
    text.lines().filter(|line| !line.starts_with("//")).filter(wrong).collect()
}

#[test]
fn the_page_counts_what_packetdrill_cannot_run() {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for path in scripts(&root()) {
        let text = fs::read_to_string(&path).unwrap();
        *found.entry(obstacle(&text).unwrap_or("None")).or_default() += 1;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scripts.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("## In packetdrill itself").nth(1).unwrap().split("\n## ").next().unwrap();
    for (reason, count) in &found {
        let row = format!("| {reason} | {count} |");
        assert!(section.contains(&row), "{row}");
    }
}

#[test]
fn packetdrill_reads_the_options_and_errors_of_all_scripts() {
    for path in scripts(&root()) {
        let text = fs::read_to_string(&path).unwrap();
        if obstacle(&text) != Some("SCTP") {
            assert!(
                unpadded_or_unremarked(&text).is_empty(),
                "{}: {:?}",
                path.display(),
                unpadded_or_unremarked(&text)
            );
        }
    }
    assert_eq!(unpadded_or_unremarked("+0 < S 0:0(0) win 9 <mss 1,sackOK>\n+0 connect(3) = -1 EINTR\n").len(), 2);
    assert!(unpadded_or_unremarked("+0 < S 0:0(0) win 9 <mss 1,nop,nop,sackOK>\n+0 read(3) = -1 EIO (x)\n").is_empty());
}

#[test]
fn a_blocking_socket_is_not_expected_to_return_at_once() {
    for path in scripts(&root()) {
        let text = fs::read_to_string(&path).unwrap();
        let at_once = text.contains("= -1 EINPROGRESS") || text.contains("= -1 EAGAIN");
        if at_once && obstacle(&text) != Some("SCTP") {
            assert!(text.contains("NONBLOCK") || text.contains("MSG_DONTWAIT"), "{}", path.display());
        }
    }
}
