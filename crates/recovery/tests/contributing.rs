//! Follows CONTRIBUTING.md's recipe for an algorithm to the letter, in a copy of the sources.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use choices::{around, choices};

#[path = "golden/choices.rs"]
mod choices;
#[path = "naive/dice.rs"]
#[expect(dead_code, reason = "the models draw numbers of any size, too")]
mod dice;

/// A program that uses the recipe's algorithm: a detector, built by name with its parameter set, in
/// a list and an engine. It also uses the copies of an association's algorithms. It prints the sender
/// of each choice's first case in the golden files.
const USE: &str = r#"
use eifel_base::time::Duration;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Seam, Value, part};

mod choices;
#[expect(dead_code)]
mod dice;

fn main() {
    assert!(Seam::Detect.entries().iter().any(|entry| entry.name == "NAME"), "it is not in the list");
    let detect = Choice::named("NAME").with("PARAMETER", Value::Duration(Duration::from_millis(5)));
    Config { detect, ..Config::default() }.check().unwrap();
    for seam in [Seam::Retransmit, Seam::Credit] {
        assert!(seam.association_entries().iter().any(|entry| entry.name == "copied"), "{seam:?} does not list it");
    }
    assert!(part::retransmit(&Choice::named("copied")).is_ok());
    assert!(part::credit(&Choice::named("copied")).is_ok());
    for (seam, choice) in choices::choices() {
        println!("{}: {:?}", choices::name(seam, &choice), choices::around(seam, &choice, &mut choices::dice(seam, &choice, 0)));
    }
}
"#;

/// Algorithms of the seams that only an association has: seam, file, name. The test adds each a
/// second time by the same steps.
const COPIED: [(&str, &str, &str); 2] =
    [("retransmit", "same_path", "same-path"), ("credit", "unambiguous", "unambiguous")];

/// The recipe: the file's path and text, the word, and the list's path.
struct Recipe {
    path: String,
    text: String,
    word: String,
    list: String,
}

/// Returns the text between two marks, and the text after the second.
fn between<'a>(text: &'a str, open: &str, close: &str) -> (&'a str, &'a str) {
    let from = text.find(open).unwrap_or_else(|| panic!("CONTRIBUTING.md has no {open:?}")) + open.len();
    let rest = &text[from..];
    let to = rest.find(close).unwrap_or_else(|| panic!("CONTRIBUTING.md has no {close:?} after {open:?}"));
    (&rest[..to], &rest[to + close.len()..])
}

impl Recipe {
    fn read(contributing: &str) -> Self {
        let (_, rest) = between(contributing, "## Add an algorithm", "\n");
        let (path, rest) = between(rest, "1. Write `", "`");
        let (block, rest) = between(rest, "```rust\n", "   ```");
        let (word, rest) = between(rest, "2. Add the word `", "`");
        let (list, _) = between(rest, "in `", "`");
        let text = block.lines().map(|line| format!("{}\n", line.strip_prefix("   ").unwrap_or(line))).collect();
        Self { path: path.into(), text, word: word.into(), list: list.into() }
    }

    /// Returns the value of the first string after `key`.
    fn literal(&self, key: &str) -> &str {
        between(between(&self.text, key, "\"").1, "", "\"").0
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let from = entry?.path();
        let to = to.join(from.file_name().unwrap_or_default());
        if from.is_dir() { copy(&from, &to)? } else { write(&to, &read(&from))? }
    }
    Ok(())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}

/// Copies this crate and its dependencies, without the dependencies of tests.
fn copy_sources(scratch: &Path) -> io::Result<()> {
    for part in ["base", "recovery", "testkit"] {
        let [from, to] = [&root(), scratch].map(|folder| folder.join("crates").join(part));
        // An algorithm that an earlier run has added must not stay.
        if to.join("src").exists() {
            fs::remove_dir_all(to.join("src"))?;
        }
        copy(&from.join("src"), &to.join("src"))?;
        let manifest = read(&from.join("Cargo.toml"));
        let (needed, _) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
        // What the test kit's features switch on needs more crates than these.
        let features = "[features]\nconnections = []\nfiles = []\n";
        let without = needed.split_once("[features]").map(|(before, _)| before.to_owned() + features);
        write(&to.join("Cargo.toml"), without.as_deref().unwrap_or(needed))?;
    }
    for file in ["golden/choices.rs", "naive/dice.rs"].map(Path::new) {
        let from = root().join("crates/recovery/tests").join(file);
        write(&scratch.join("embedder/src").join(file.file_name().unwrap_or_default()), &read(&from))?;
    }
    let workspace = read(&root().join("Cargo.toml"));
    let (_, rest) = between(&workspace, "members = [", "]");
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"embedder\"]";
    write(&scratch.join("Cargo.toml"), &(members.to_owned() + &rest.replace("exclude = [\"fuzz\"]", "")))?;
    write(&scratch.join("Cargo.lock"), &read(&root().join("Cargo.lock")))?;
    write(
        &scratch.join("embedder/Cargo.toml"),
        "[package]\nname = \"embedder\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         eifel-base.workspace = true\neifel-recovery.workspace = true\neifel-testkit.workspace = true\n",
    )
}

/// Adds a word to a seam's list, after `mark`.
fn list(path: &Path, mark: &str, word: &str) {
    let list = read(path);
    assert!(list.contains(mark), "{} has no {mark:?}", path.display());
    write(path, &list.replacen(mark, &format!("{mark} {word},"), 1))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

#[test]
fn an_algorithm_is_one_file_and_one_word_and_changes_no_other_algorithms_cases() {
    let recipe = Recipe::read(&read(&root().join("CONTRIBUTING.md")));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    copy_sources(&scratch).unwrap();

    assert!(!scratch.join(&recipe.path).exists(), "{} is there already", recipe.path);
    write(&scratch.join(&recipe.path), &recipe.text).unwrap();
    list(&scratch.join(&recipe.list), "algorithms! {", &recipe.word);
    for (seam, file, name) in COPIED {
        let folder = scratch.join("crates/recovery/src").join(seam);
        let text = read(&folder.join(format!("{file}.rs")));
        let renamed = text.replace(&format!("name: \"{name}\""), "name: \"copied\"");
        assert_ne!(renamed, text, "{seam}/{file}.rs has another name than {name}");
        write(&folder.join("copied.rs"), &renamed).unwrap();
        list(&folder.join("mod.rs"), "association:", "copied");
    }

    let main = USE.replace("NAME", recipe.literal("name: ")).replace("PARAMETER", recipe.literal("milliseconds("));
    write(&scratch.join("embedder/src/main.rs"), &main).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--package", "embedder"])
        .current_dir(&scratch)
        .env("CARGO_TARGET_DIR", scratch.join("target"))
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let printed = String::from_utf8_lossy(&output.stdout);
    let after: Vec<&str> = printed.lines().collect();
    let before = choices().into_iter().map(|(seam, choice)| {
        let name = choices::name(seam, &choice);
        format!("{name}: {:?}", around(seam, &choice, &mut choices::dice(seam, &choice, 0)))
    });
    let changed: Vec<String> = before.filter(|sender| !after.contains(&sender.as_str())).collect();
    assert!(changed.is_empty(), "an added algorithm has changed these: {changed:#?}");
    assert!(after.iter().any(|sender| sender.starts_with(&format!("detect {}: ", recipe.literal("name: ")))));
}

/// Every source path that CONTRIBUTING.md names in code marks exists.
#[test]
fn every_path_in_the_recipes_exists() {
    let contributing = read(&root().join("CONTRIBUTING.md"));
    let added = Recipe::read(&contributing).path;
    let quoted = contributing.split('`').skip(1).step_by(2);
    let folders = ["crates/", "docs/", "python/", "tests/", "fuzz/"];
    let paths = quoted.filter(|quoted| folders.iter().any(|folder| quoted.starts_with(folder)));
    let missing: Vec<_> =
        paths.filter(|path| !path.contains(['<', ' ']) && **path != added && !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
