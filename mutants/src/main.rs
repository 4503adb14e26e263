//! Samples changes to the code, and finds those that a test notices:
//! `make mutants SAMPLE=100 SEED=1`.
//!
//! All changes of a sample are compiled together, each behind a switch. The test programs that
//! reach a change then test it. docs/internals/mutants.md lists the findings.

mod cargo;
mod change;
mod draw;
mod run;
mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cargo::Built;
use draw::{Dice, Drawn, draw};
use run::Usable;

const USAGE: &str = "usage: eifel-mutants --sample N --seed S [--crates NAME,NAME…]";
const CRATES: [&str; 15] = [
    "attacks", "base", "capture", "hostile", "hunt", "live", "packet", "path", "recovery", "script", "sctp", "sim",
    "tcp", "whatif", "worlds",
];
/// Test programs that build other programs, flood a host, or take minutes.
const LEFT_OUT: [&str; 6] = ["contributing", "embed", "flood", "many", "packetdrill", "tshark"];
/// The longest time of one program without a change, and of all programs together with one change.
const BASELINE: Duration = Duration::from_secs(120);
const LIMIT: Duration = Duration::from_secs(600);
/// The drawn sample is larger by one part in this number, since some changes do not compile.
const SPARE: usize = 2;
const ROUNDS: usize = 12;

struct Asked {
    sample: usize,
    seed: u64,
    crates: Vec<String>,
}

fn main() -> ExitCode {
    match asked(std::env::args().skip(1)).and_then(|asked| examine(&asked)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("eifel-mutants: {message}");
            ExitCode::from(2)
        }
    }
}

fn asked(mut arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked { sample: 100, seed: 1, crates: CRATES.map(str::to_owned).to_vec() };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        let bad = |expected: &str| format!("{name} {value}: expected {expected}\n{USAGE}");
        match name.as_str() {
            "--sample" => asked.sample = value.parse().map_err(|_| bad("a number of changes"))?,
            "--seed" => asked.seed = value.parse().map_err(|_| bad("a number"))?,
            "--crates" => asked.crates = value.split(',').map(str::to_owned).collect(),
            _ => return Err(USAGE.to_owned()),
        }
    }
    match asked.crates.iter().find(|one| !CRATES.contains(&one.as_str())) {
        Some(unknown) => Err(format!("--crates {unknown}: expected of {}", CRATES.join(", "))),
        None if asked.sample == 0 || asked.sample > 2000 => Err("--sample: expected 1 to 2000".to_owned()),
        None => Ok(asked),
    }
}

fn examine(asked: &Asked) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no repository")?.to_owned();
    let place = root.join("target").join("mutants-sample");
    let (tree, target) = (place.join("tree"), place.join("target"));
    let all = tree::all_of(&root, &asked.crates)?;
    let count: usize = all.values().flat_map(BTreeMap::values).map(Vec::len).sum();
    eprintln!("{count} changes in {} crates", all.len());
    let drawn = draw(&all, asked.sample + asked.sample / SPARE, &mut Dice(asked.seed));
    let mut sample: BTreeMap<u32, Drawn> = (1..).zip(drawn).collect();
    tree::copy(&root, &tree)?;
    let (programs, faulty) = compiled(&root, (&tree, &target), &mut sample, asked)?;
    while sample.len() > asked.sample {
        sample.pop_last();
    }
    eprintln!("{faulty} changes do not compile; {} are looked at", sample.len());
    let usable = usable(&programs, &place.join("reached"))?;
    let noticed = each(&sample, &usable)?;
    tell(&sample, &usable, &noticed);
    Ok(())
}

/// Compiles the changes, and drops those that do not compile. Returns the test programs, and the
/// number of dropped changes.
fn compiled(
    root: &Path,
    (tree, target): (&Path, &PathBuf),
    sample: &mut BTreeMap<u32, Drawn>,
    asked: &Asked,
) -> Result<(Vec<cargo::Program>, usize), String> {
    let drawn = sample.len();
    for _ in 0..ROUNDS {
        let planted = tree::plant(root, tree, sample, &asked.crates)?;
        match cargo::build(tree, target, &planted)? {
            Built::Programs(programs) => return Ok((programs, drawn - sample.len())),
            Built::Faulty(faulty) => sample.retain(|id, _| !faulty.contains(id)),
        }
    }
    Err(format!("the tests do not compile after {ROUNDS} rounds"))
}

/// Returns the programs that pass without a change, with the changes that they reach.
fn usable(programs: &[cargo::Program], scratch: &Path) -> Result<Vec<Usable>, String> {
    let mut usable = Vec::new();
    for program in programs.iter().filter(|program| !LEFT_OUT.contains(&program.name.as_str())) {
        match run::reach(program, scratch, BASELINE).map_err(|error| format!("{}: {error}", program.path.display()))? {
            Some(one) => usable.push(one),
            None => eprintln!(
                "left out, since it fails or takes too long without a change: {} of {}",
                program.name, program.krate
            ),
        }
    }
    let _ = fs::remove_dir_all(scratch);
    Ok(usable)
}

/// Returns the program that notices a change, for each noticed change.
fn each<'u>(sample: &BTreeMap<u32, Drawn>, usable: &'u [Usable]) -> Result<BTreeMap<u32, &'u cargo::Program>, String> {
    let changes: Vec<_> = sample.iter().collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Ok(BTreeMap::new())));
    let work = || {
        while let Some((id, drawn)) = changes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let noticed = run::noticed(**id, &drawn.krate, usable, LIMIT);
            let Ok(mut found) = found.lock() else { return };
            match (noticed, &mut *found) {
                (Ok(Some(program)), Ok(found)) => drop(found.insert(**id, program)),
                (Ok(None), Ok(_)) => {
                    eprintln!("{}:{}: {}: not noticed", drawn.file, drawn.change.line, drawn.change.kind.name())
                }
                (Err(error), found) => *found = Err(error.to_string()),
                (_, Err(_)) => return,
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    found.into_inner().map_err(|error| error.to_string())?
}

/// Prints a table by crate, and every unnoticed change.
fn tell(sample: &BTreeMap<u32, Drawn>, usable: &[Usable], noticed: &BTreeMap<u32, &cargo::Program>) {
    println!("| crate | changes | noticed |\n|---|---|---|");
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (id, drawn) in sample {
        let count = counts.entry(&drawn.krate).or_default();
        *count = (count.0 + 1, count.1 + usize::from(noticed.contains_key(id)));
    }
    for (krate, (changes, found)) in &counts {
        println!("| `{krate}` | {changes} | {found} |");
    }
    println!("| all | {} | {} |", sample.len(), noticed.len());
    for (id, drawn) in sample.iter().filter(|(id, _)| !noticed.contains_key(id)) {
        let reached = usable.iter().any(|one| one.reaches.contains(id));
        let (Drawn { file, change, .. }, how) = (drawn, if reached { "reached" } else { "not reached" });
        println!("\n{file}:{} {}, {how}\n  {}", change.line, change.kind.name(), change.instead.replace('\n', "\n  "));
    }
}
