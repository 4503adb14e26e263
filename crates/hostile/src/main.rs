//! `eifel-hostile`: random transfers over hostile paths; see the library.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "the clock on the wall, to tell how fast it goes")]

use eifel_hostile::hunt::{case, hunt};
use eifel_hostile::{generate, judge};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "\
Runs random transfers over hostile paths with every checker on, and shrinks the first that fails.

usage: eifel-hostile [--count N] [--first SEED] [--threads N]
       eifel-hostile --seed SEED [--print]
       eifel-hostile SCENARIO.toml

  --count N    the number of cases (1000000)
  --first S    the first seed (0)
  --threads N  as many threads (one a core)
  --seed S     this case alone
  --print      its scenario, in place of running it
  -h, --help   print this
";

/// The parsed command line.
struct Arguments {
    count: u64,
    first: u64,
    threads: Option<usize>,
    seed: Option<u64>,
    prints: bool,
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = match read_arguments(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return printed(USAGE, ExitCode::SUCCESS),
        Err(problem) => return refused(&problem),
    };
    match (arguments.seed, &arguments.file) {
        (Some(seed), _) if arguments.prints => printed(&generate::scenario(seed).to_string(), ExitCode::SUCCESS),
        (Some(seed), _) => told(case(generate::scenario, seed, None).map(|summary| summary.to_json())),
        (None, Some(file)) => one_file(file),
        (None, None) => told(many(&arguments)),
    }
}

fn told<E: std::fmt::Display>(result: Result<String, E>) -> ExitCode {
    match result {
        Ok(text) => printed(&format!("{text}\n"), ExitCode::SUCCESS),
        Err(failure) => printed(&format!("{failure}\n"), ExitCode::FAILURE),
    }
}

/// Prints to standard output, and returns `code`. A reader that closes the pipe early is no error.
fn printed(text: &str, code: ExitCode) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => refused(&format!("standard output: {error}")),
        _ => code,
    }
}

fn refused(problem: &str) -> ExitCode {
    eprintln!("eifel-hostile: {problem}");
    ExitCode::from(2)
}

fn one_file(file: &Path) -> ExitCode {
    match std::fs::read_to_string(file) {
        Ok(text) => told(judge::judge(&text, None).map(|summary| summary.to_json())),
        Err(error) => refused(&format!("{}: {error}", file.display())),
    }
}

fn many(arguments: &Arguments) -> Result<String, String> {
    let began = Instant::now();
    let seeds = arguments.first..arguments.first.saturating_add(arguments.count);
    let mut told_at = Instant::now();
    let progress = |done: u64| {
        if told_at.elapsed() > Duration::from_secs(5) {
            told_at = Instant::now();
            eprintln!("{done} of {}, {:.0} a second", arguments.count, done as f64 / began.elapsed().as_secs_f64());
        }
    };
    let tally =
        hunt(generate::scenario, seeds, arguments.threads, None, progress).map_err(|failure| failure.to_string())?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(format!("{tally}\n{:.1} s, {:.0} cases a second", seconds, tally.cases as f64 / seconds))
}

fn read_arguments(mut rest: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut read = Arguments { count: 1_000_000, first: 0, threads: None, seed: None, prints: false, file: None };
    while let Some(argument) = rest.next() {
        let mut number = |name: &str| {
            let text = rest.next().ok_or(format!("{name}: a value is missing"))?;
            text.parse::<u64>().map_err(|_| format!("{name}: {text} is not a number from 0 to {}", u64::MAX))
        };
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "--count" => read.count = number("--count")?,
            "--first" => read.first = number("--first")?,
            "--seed" => read.seed = Some(number("--seed")?),
            "--threads" => read.threads = Some(number("--threads")?.clamp(1, 1024) as usize),
            "--print" => read.prints = true,
            option if option.starts_with("--") => return Err(format!("unknown option {option}; see --help")),
            _ if read.file.is_none() => read.file = Some(argument.into()),
            _ => return Err("more than one scenario file; see --help".to_owned()),
        }
    }
    Ok(Some(read))
}
