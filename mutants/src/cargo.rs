//! Builds the tests of the copy, and finds the changes that do not compile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::tree::Planted;

/// A test program.
#[derive(Clone, Debug)]
pub struct Program {
    pub krate: String,
    pub name: String,
    pub path: PathBuf,
    /// The folder of its package, in which the program runs.
    pub folder: PathBuf,
}

/// The test programs, or the changes that do not compile.
pub enum Built {
    Programs(Vec<Program>),
    Faulty(BTreeSet<u32>),
}

/// Builds all tests.
///
/// # Errors
/// If something other than the changes does not compile.
pub fn build(tree: &Path, target: &Path, planted: &Planted) -> Result<Built, String> {
    let output = Command::new("cargo")
        .args(["test", "--locked", "--workspace", "--exclude", "eifel-python", "--no-run", "--lib", "--tests"])
        .args(["--no-fail-fast", "--message-format=json"])
        .args(["--profile", "mutants"])
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", target)
        // A left-out statement leaves names unused.
        .env("RUSTFLAGS", "--cap-lints=warn")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    let messages: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if output.status.success() {
        return Ok(Built::Programs(messages.iter().filter_map(|message| program(tree, message)).collect()));
    }
    let errors = messages.iter().filter(|message| message["message"]["level"] == "error");
    let (mut faulty, mut other) = (BTreeSet::new(), String::new());
    for error in errors {
        let before = faulty.len();
        faulty.extend(changes_at(&error["message"], planted));
        if faulty.len() == before {
            other.push_str(error["message"]["rendered"].as_str().unwrap_or_default());
        }
    }
    if faulty.is_empty() { Err(format!("the tests do not compile:\n{other}")) } else { Ok(Built::Faulty(faulty)) }
}

/// Returns the changes that overlap a place to which an error points.
fn changes_at(message: &Value, planted: &Planted) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for span in message["spans"].as_array().into_iter().flatten() {
        let at = |key: &str| span[key].as_u64().unwrap_or(0) as usize;
        let (file, start, end) = (span["file_name"].as_str().unwrap_or_default(), at("byte_start"), at("byte_end"));
        let there = planted
            .iter()
            .filter(|(_, (other, at))| Path::new(file).ends_with(other) && start < at.end && at.start < end);
        found.extend(there.map(|(id, _)| *id));
    }
    for child in message["children"].as_array().into_iter().flatten() {
        found.extend(changes_at(child, planted));
    }
    found
}

fn program(tree: &Path, message: &Value) -> Option<Program> {
    let path = PathBuf::from(message["executable"].as_str()?);
    message["profile"]["test"].as_bool().filter(|test| *test)?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let folder = manifest.parent()?.to_owned();
    let krate = folder.strip_prefix(tree.join("crates")).ok()?.to_str()?.to_owned();
    Some(Program { krate, name: message["target"]["name"].as_str()?.to_owned(), path, folder })
}
