//! A copy of the repository that contains the changes, each behind a switch.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::change::changes;
use crate::draw::{All, Drawn};

const SWITCH: &str = include_str!("switch.rs");

/// Finds every possible change in these crates' libraries.
pub fn all_of(root: &Path, crates: &[String]) -> Result<All, String> {
    let mut all = All::new();
    for file in files(root)? {
        let Some((krate, rest)) = file.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/")) else {
            continue;
        };
        let of_tests = rest.ends_with("tests.rs") || rest.contains("tests/");
        let of_binary = rest == "main.rs" || rest.starts_with("bin/");
        if !crates.iter().any(|one| one == krate) || !rest.ends_with(".rs") || of_tests || of_binary {
            continue;
        }
        let found = changes(&read(&root.join(&file))?).ok_or_else(|| format!("{file}: does not parse"))?;
        for change in found {
            let drawn = Drawn { krate: krate.to_owned(), file: file.clone(), change };
            all.entry(krate.to_owned()).or_default().entry(drawn.change.kind).or_default().push(drawn);
        }
    }
    Ok(all)
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn files(root: &Path) -> Result<Vec<String>, String> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?.stdout;
    Ok(String::from_utf8_lossy(&listed).split_terminator('\0').map(str::to_owned).collect())
}

/// Copies the files of the repository. Unchanged files keep their time, so that cargo does not
/// rebuild them.
pub fn copy(root: &Path, tree: &Path) -> Result<(), String> {
    for file in files(root)? {
        let bytes = fs::read(root.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        write(&tree.join(&file), &bytes)?;
    }
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    if fs::read(file).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, bytes))
        .map_err(|error| format!("{}: {error}", file.display()))
}

/// The place of each change in the copy, by id.
pub type Planted = BTreeMap<u32, (PathBuf, Range<usize>)>;

/// Puts these changes into the copy, and removes all others.
pub fn plant(root: &Path, tree: &Path, sample: &BTreeMap<u32, Drawn>, crates: &[String]) -> Result<Planted, String> {
    let mut by_file: BTreeMap<String, Vec<(u32, &Drawn)>> = BTreeMap::new();
    for krate in crates {
        by_file.entry(format!("crates/{krate}/src/lib.rs")).or_default();
        write(&tree.join(format!("crates/{krate}/src/switch.rs")), SWITCH.as_bytes())?;
    }
    for (id, drawn) in sample {
        by_file.entry(drawn.file.clone()).or_default().push((*id, drawn));
    }
    let mut planted = Planted::new();
    // A file without changes gets its original text back.
    copy_but(root, tree, &by_file)?;
    for (file, mut changes) in by_file {
        let text = read(&root.join(&file))?;
        changes.sort_by_key(|(_, drawn)| drawn.change.at.start);
        let (mut made, mut done) = (String::new(), 0);
        for (id, drawn) in changes {
            let at = &drawn.change.at;
            made.push_str(&text[done..at.start]);
            let start = made.len();
            made.push_str(&drawn.change.planted(&text[at.clone()], id));
            planted.insert(id, (PathBuf::from(&file), start..made.len()));
            done = at.end;
        }
        made.push_str(&text[done..]);
        if file.ends_with("/src/lib.rs") && file.matches('/').count() == 3 {
            made.push_str("\nmod switch;\n");
        }
        write(&tree.join(&file), made.as_bytes())?;
    }
    Ok(planted)
}

fn copy_but(root: &Path, tree: &Path, changed: &BTreeMap<String, Vec<(u32, &Drawn)>>) -> Result<(), String> {
    for file in files(root)?.into_iter().filter(|file| file.ends_with(".rs") && !changed.contains_key(file)) {
        write(&tree.join(&file), read(&root.join(&file))?.as_bytes())?;
    }
    Ok(())
}
