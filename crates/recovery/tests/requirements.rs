//! Every requirement of `docs/reference/requirements.md` has a mark, for example `[rfc6298:2.1]`, in the code
//! that meets it and in a test. Otherwise `docs/reference/deviations.md` lists it with a reason.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the ids in the first column of a table, and the rest of each row.
fn table(file: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| rfc"));
    let mut found = BTreeMap::new();
    for row in rows {
        let (id, rest) = row.split_once(" | ").unwrap_or_else(|| panic!("{file}: no second column: rfc{row}"));
        let before = found.insert(format!("rfc{}", id.trim()), rest.trim_end_matches(['|', ' ']).to_owned());
        assert!(before.is_none(), "{file}: rfc{id} stands there twice");
    }
    found
}

/// Marks in the code, and marks in tests.
#[derive(Default)]
struct Marks {
    code: BTreeSet<String>,
    tests: BTreeSet<String>,
}

impl Marks {
    fn read(&mut self, path: &Path) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.read(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "pkt") {
                self.note(&path, &fs::read_to_string(&path).unwrap());
            }
        }
    }

    fn note(&mut self, path: &Path, text: &str) {
        let script = path.extension().is_some_and(|extension| extension == "pkt");
        let only_tests =
            script || path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        let split = if only_tests { 0 } else { text.find("#[cfg(test)]").unwrap_or(text.len()) };
        self.code.extend(marks(&text[..split]));
        self.tests.extend(marks(&text[split..]));
    }
}

fn marks(text: &str) -> impl Iterator<Item = String> + '_ {
    let starts = text.match_indices("[rfc").map(|(at, _)| &text[at + 1..]);
    starts.filter_map(|rest| rest.split_once(']')).map(|(mark, _)| mark.to_owned()).filter(|mark| mark.contains(':'))
}

fn all_marks() -> Marks {
    let mut found = Marks::default();
    for folder in [
        "crates/recovery",
        "crates/packet",
        "crates/sctp",
        "crates/tcp",
        "crates/path",
        "crates/sim",
        "crates/script/scripts",
        "tests",
    ] {
        found.read(&root().join(folder));
    }
    found
}

#[test]
fn every_requirement_is_met_and_tested_or_explained() {
    let (requirements, deviations, found) =
        (table("docs/reference/requirements.md"), table("docs/reference/deviations.md"), all_marks());
    let mut open = Vec::new();
    for (id, says) in &requirements {
        let (code, test) = (found.code.contains(id), found.tests.contains(id));
        match (code && test, deviations.contains_key(id)) {
            (true, true) => open.push(format!("{id} is marked and a deviation at once")),
            (false, false) => open.push(format!("{id} has no mark in {}: {says}", missing(code, test))),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:#?}");
}

fn missing(code: bool, test: bool) -> &'static str {
    match (code, test) {
        (false, false) => "code and test",
        (false, true) => "the code",
        _ => "a test",
    }
}

#[test]
fn every_mark_and_every_deviation_names_a_requirement() {
    let (requirements, deviations, found) =
        (table("docs/reference/requirements.md"), table("docs/reference/deviations.md"), all_marks());
    let named = found.code.iter().chain(&found.tests).chain(deviations.keys());
    let unknown: Vec<&String> = named.filter(|id| !requirements.contains_key(*id)).collect();
    assert!(unknown.is_empty(), "not in docs/reference/requirements.md: {unknown:?}");
    assert!(deviations.values().all(|reason| reason.len() > 20), "a deviation needs its reason");
}

#[test]
fn every_rfc_is_there() {
    let requirements = table("docs/reference/requirements.md");
    for rfc in ["rfc3522:", "rfc4015:", "rfc6298:", "rfc8540:"] {
        assert!(requirements.keys().any(|id| id.starts_with(rfc)), "{rfc}");
    }
    for says in requirements.values() {
        let level = says.split(" | ").next().unwrap();
        assert!(["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "RECOMMENDED", "must"].contains(&level), "{says}");
    }
}
