//! Every script of the folder passes.

use std::fs;
use std::path::{Path, PathBuf};

use eifel_base::time::Duration;
use eifel_script::{parse, run};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")
}

/// Returns all scripts below a folder, in the order of their names.
pub fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "pkt") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_script_passes() {
    let mut failed = Vec::new();
    for path in scripts(&root()) {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        match parse(&fs::read_to_string(&path).unwrap(), &name) {
            Err(error) => failed.push(error.to_string()),
            Ok(script) => {
                let outcome = run(&script);
                if !outcome.passed() {
                    failed.push(outcome.to_string());
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_script_has_exact_times_and_a_title() {
    for path in scripts(&root()) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("// "), "{}", path.display());
        assert_eq!(parse(&text, "").unwrap().tolerance(), Duration::ZERO, "{}", path.display());
    }
}
