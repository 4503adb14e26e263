//! Checks that every algorithm of the registry has a transcription here, found by its name.

use eifel_recovery::registry::{Entry, entries};
use std::fs;
use std::path::Path;

/// Returns whether an algorithm has its own file, `<seam>/<name>.rs`, which its folder's `mod.rs`
/// lists, or its seam has one file, `<seam>.rs`, for all its algorithms.
fn is_transcribed(entry: &Entry) -> bool {
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/naive").join(name);
    let [seam, name] = [entry.seam.name(), entry.name].map(|name| name.replace('-', "_"));
    let all = fs::read_to_string(file(&format!("{seam}.rs")));
    // A file for a whole seam iterates over the registry itself, so it cannot miss an algorithm.
    let walks = all.is_ok_and(|text| text.contains(".entries()"));
    let listed = fs::read_to_string(file(&format!("{seam}/mod.rs")))
        .is_ok_and(|text| text.lines().any(|line| line.trim_start_matches("pub ") == format!("mod {name};")));
    walks || listed && file(&format!("{seam}/{name}.rs")).is_file()
}

#[test]
fn every_algorithm_has_a_naive_model() {
    // A detector that never answers has nothing to transcribe.
    let without: Vec<_> = entries()
        .filter(|entry| entry.name != "none" && !is_transcribed(entry))
        .map(|entry| format!("{} {}", entry.seam.name(), entry.name))
        .collect();
    assert!(without.is_empty(), "no naive model in tests/naive: {}", without.join(", "));
}
