//! Limits of size for the source of every crate, with a list of exceptions that can only shrink.
//!
//! A file has at most 400 lines of code, one of an algorithm 300, and a function 70. A function
//! takes 5 arguments beside `self`, a struct has 12 fields, and a trait 7 methods. At most 5 files of
//! a crate import each other in a circle. Tests have no limits. Where a whole is better than its
//! parts, the limit gives way: `exceptions.txt` says how far, and why.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod circles;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use circles::Modules;
use source::{Measured, masked, measured, without_tests};

const LIMITS: [(&str, usize); 6] =
    [("lines", 400), ("function", 70), ("arguments", 5), ("fields", 12), ("methods", 7), ("circle", 5)];
/// Lines of code of a file in a folder of algorithms.
const ALGORITHM: usize = 300;
/// The folders of `recovery` in which a file is an algorithm.
const SEAMS: [&str; 9] = ["detect", "respond", "grant", "rto", "recover", "congest", "pace", "retransmit", "credit"];

/// The size beyond a limit at a place: a file, its part, and the limit.
type Sizes = BTreeMap<String, usize>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the source files below a folder, apart from those of tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let tests = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !tests {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") && !tests {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the place and size of what exceeds its limit in a file.
fn beyond(file: &str, code: &str) -> Sizes {
    let algorithm = SEAMS.iter().any(|seam| file.starts_with(&format!("crates/recovery/src/{seam}/")));
    let most = |measured: &Measured| match measured.limit {
        "lines" if algorithm => ALGORITHM,
        limit => LIMITS.iter().find(|(name, _)| *name == limit).unwrap().1,
    };
    let place = |Measured { limit, name, size }: Measured| (format!("{file} {limit} {name}").trim().to_owned(), size);
    measured(code).into_iter().filter(|measured| measured.size > most(measured)).map(place).collect()
}

/// Returns everything that exceeds its limit, in all crates.
fn all_beyond() -> Sizes {
    let mut sizes = Sizes::new();
    let mut crates: Vec<_> = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap()).collect();
    crates.sort_by_key(|entry| entry.file_name());
    for entry in crates {
        let source = entry.path().join("src");
        let mut modules = BTreeMap::new();
        for file in files(&source) {
            let code = without_tests(&masked(&fs::read_to_string(&file).unwrap()));
            let inside = file.strip_prefix(&source).unwrap().with_extension("");
            let name = format!("crates/{}/src/{}.rs", entry.file_name().display(), inside.display());
            sizes.extend(beyond(&name, &code));
            let mut module: Vec<String> = inside.iter().map(|part| part.display().to_string()).collect();
            module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
            // The registry names every algorithm, and every algorithm declares its entry for it.
            if !name.starts_with("crates/recovery/src/registry/") {
                modules.insert(module, code);
            }
        }
        let circle = Modules::new(modules).largest_circle();
        if circle.len() > LIMITS[5].1 {
            sizes.insert(format!("crates/{} circle", entry.file_name().display()), circle.len());
        }
    }
    sizes
}

/// Compares what exceeds its limit with the exceptions. Each has a line: place, a colon, size, a
/// colon, and the reason.
fn complaints(exceptions: &str, sizes: &Sizes) -> Vec<String> {
    let mut found = Vec::new();
    let mut excepted = Sizes::new();
    for line in exceptions.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut parts = line.splitn(3, ": ");
        let (place, size, why) = (parts.next().unwrap(), parts.next(), parts.next());
        match (size.and_then(|size| size.parse().ok()), why) {
            (Some(size), Some(why)) if !why.trim().is_empty() => drop(excepted.insert(place.to_owned(), size)),
            _ => found.push(format!("{line:?} has no size or no reason")),
        }
    }
    for (place, size) in sizes {
        match excepted.remove(place) {
            None => found.push(format!("{place}: {size} is beyond the limit")),
            Some(most) if *size > most => found.push(format!("{place}: {size} has grown from {most}")),
            Some(most) if *size < most => found.push(format!("{place}: {size} has shrunk from {most}: write it down")),
            Some(_) => {}
        }
    }
    found.extend(excepted.into_keys().map(|place| format!("{place}: needs no exception any more")));
    found
}

#[test]
fn every_crate_keeps_the_limits_or_its_shrinking_exceptions() {
    let exceptions = fs::read_to_string(root().join("crates/testkit/tests/limits/exceptions.txt")).unwrap();
    let complaints = complaints(&exceptions, &all_beyond());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Repeats a piece of code with the numbers from 0 up.
fn repeated(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

#[test]
fn each_planted_excess_is_found_and_the_limit_itself_is_allowed() {
    let made = |excess: usize| {
        let lines = repeated(70 + excess, |n| format!("    let _ = \"{{ // {n}\"; // a comment does not count\n\n"));
        let arguments = repeated(5 + excess, |n| format!("a{n}: &[(u8, Vec<Option<u8>>)], "));
        let fields =
            repeated(12 + excess, |n| format!("    /// A field: documented.\n    f{n}: std::ops::Range<u8>,\n"));
        let methods = repeated(7 + excess, |n| format!("    fn m{n}(&self) {{ drop(|x: u8| x) }}\n"));
        let code = format!(
            "fn long() {{\n{lines}}}\nfn wide<T: Fn(u8, u8)>(&mut self, {arguments}) -> u8;\n\
             struct Many<'a> {{\n{fields}}}\ntrait Broad: Send {{\n{methods}}}\n"
        );
        let left = 400 + excess - code.lines().filter(|line| !line.trim().is_empty() && !line.contains("///")).count();
        let tests = "#[cfg(test)]\nmod tests {\n    fn not_measured() {}\n}\n";
        beyond("x.rs", &without_tests(&masked(&(code + &"use a;\n".repeat(left) + tests))))
    };
    assert_eq!(made(0), Sizes::new());
    let found = [
        ("x.rs arguments wide", 6),
        ("x.rs fields Many", 13),
        ("x.rs function long", 71),
        ("x.rs lines", 401),
        ("x.rs methods Broad", 8),
    ];
    assert_eq!(made(1), found.map(|(place, size)| (place.to_owned(), size)).into());
    assert_eq!(beyond("crates/recovery/src/rto/x.rs", &"use a;\n".repeat(301)).len(), 1);
}

#[test]
fn a_circle_is_found_through_exports_and_trees_and_paths() {
    let circle = |first: &str| {
        let modules = [
            ("", "pub mod a;\npub mod b;\npub use a::deep::Deep;\n"),
            ("a", "use crate::b::Thing;\n"),
            ("a::deep", first),
            ("b", "use crate::{\n    Deep,\n    c::{self, D},\n};\npub struct Thing;\n"),
            ("c", "fn f() { crate::a::g(); }\n"),
        ];
        let path = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Modules::new(modules.map(|(name, code)| (path(name), code.to_owned())).into()).largest_circle()
    };
    assert_eq!(circle("use super::Other;\n"), ["a", "b", "c"]);
    assert_eq!(circle("use super::super::b;\n"), ["a", "a::deep", "b", "c"]);
}

#[test]
fn exceptions_only_shrink() {
    let sizes = |size| Sizes::from([("x.rs lines".to_owned(), size)]);
    let say = |line: &str, sizes: &Sizes| complaints(&format!("# a comment\n\n{line}"), sizes).join("\n");
    assert_eq!(say("x.rs lines: 500: one table", &sizes(500)), "");
    assert_eq!(say("", &sizes(500)), "x.rs lines: 500 is beyond the limit");
    assert_eq!(say("x.rs lines: 500: one table", &sizes(501)), "x.rs lines: 501 has grown from 500");
    assert_eq!(say("x.rs lines: 500: one table", &sizes(499)), "x.rs lines: 499 has shrunk from 500: write it down");
    assert_eq!(say("x.rs lines: 500: one table", &Sizes::new()), "x.rs lines: needs no exception any more");
    assert!(say("x.rs lines: 500", &sizes(500)).contains("no reason"));
}
