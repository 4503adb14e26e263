//! Runs the targets on the committed corpus and on every input that ever failed. Known failures are
//! found again without a fuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use eifel_fuzzing::{TARGETS, canary};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Returns the entries of a folder, ordered by name; none if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

fn names(folder: &Path) -> BTreeSet<String> {
    entries(folder).iter().map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect()
}

/// Files of `folder` on which `target` panics.
fn failures(folder: &Path, target: fn(&[u8])) -> Vec<PathBuf> {
    let fails = |path: &PathBuf| catch_unwind(|| target(&fs::read(path).expect("readable"))).is_err();
    entries(folder).into_iter().filter(fails).collect()
}

#[test]
fn every_corpus_input_passes() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        let corpus = fuzz().join("corpus").join(name);
        assert!(entries(&corpus).len() > 3, "{name} has no corpus");
        failed.extend(failures(&corpus, *target));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_past_failure_passes() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        failed.extend(failures(&fuzz().join("regressions").join(name), *target));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_target_has_a_fuzz_program_and_every_folder_a_target() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&fuzz().join("corpus")), targets);
    assert!(names(&fuzz().join("regressions")).is_subset(&targets));
    let mut handed = names(&fuzz().join("fuzz_targets"));
    assert!(handed.remove("canary"));
    assert_eq!(handed, targets);
}

#[test]
fn a_planted_failure_is_reported() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("canary");
    fs::create_dir_all(&folder).expect("writable");
    fs::write(folder.join("found"), "eifel").expect("writable");
    fs::write(folder.join("quiet"), "tower").expect("writable");
    assert_eq!(failures(&folder, canary), [folder.join("found")]);
}

/// Returns the names that begin with `eifel-` in a list of a manifest or a lock, one per line.
fn ours<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let names = lines.filter_map(|line| line.trim_start_matches([' ', '"']).split([' ', '"', '.', '=']).next());
    names.filter(|name| name.starts_with("eifel-")).map(str::to_owned).collect()
}

/// The fuzz targets have their own lock file. `cargo --locked` fails if it lacks a crate's
/// dependency.
#[test]
fn the_fuzz_lock_file_lists_every_crates_dependencies() {
    let lock = fs::read_to_string(fuzz().join("Cargo.lock")).expect("readable");
    let packages: Vec<&str> = lock.split("[[package]]").collect();
    let mut compared = 0;
    for folder in entries(&fuzz().join("../crates")) {
        let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let name = format!("eifel-{}", folder.file_name().expect("a name").to_string_lossy());
        let Some(package) = packages.iter().find(|package| package.contains(&format!("name = \"{name}\"\n"))) else {
            continue;
        };
        let locked = ours(package.lines().skip_while(|line| !line.starts_with("dependencies")));
        let section = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
        let section: Vec<&str> = section.take_while(|line| !line.starts_with('[')).collect();
        let needed = ours(section.iter().copied().filter(|line| !line.contains("optional = true")));
        assert!(needed.is_subset(&locked) && locked.is_subset(&ours(section.into_iter())), "{name}: {locked:?}");
        compared += 1;
    }
    assert!(compared > 8, "{compared}");
}
