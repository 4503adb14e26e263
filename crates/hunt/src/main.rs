//! `eifel-hunt`: see the library.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use eifel_hunt::climb::Effort;
use eifel_hunt::liars::{Liars, best_liar, to_toml};
use eifel_sim::scenario::Scenario;

const USAGE: &str = "\
Searches for the lying receiver that gains most against the sender of a
scenario's first flow, and prints it as the tables of that flow.

usage: eifel-hunt liars SCENARIO.toml [--runs N] [--seed S]

  --runs N     runs of the search (2000); 40 more judge each of the last candidates
  --seed S     the search's seed (1)
  -h, --help   print this

example: eifel-hunt liars lossy.toml --runs 4000
";

struct Arguments {
    scenario: PathBuf,
    effort: Effort,
}

fn main() -> ExitCode {
    let told = match read_arguments(std::env::args().skip(1)) {
        Ok(Some(arguments)) => hunt(&arguments),
        Ok(None) => print(USAGE),
        Err(problem) => Err(problem),
    };
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("eifel-hunt: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Prints to standard output. A reader that closes it early is no error.
fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

fn hunt(Arguments { scenario, effort }: &Arguments) -> Result<(), String> {
    let name = scenario.display();
    let text = std::fs::read_to_string(scenario).map_err(|error| format!("{name}: {error}"))?;
    let scenario = Scenario::parse(&text, scenario).map_err(|error| error.to_string())?;
    let liars =
        Liars::new(&scenario, effort.glance + effort.judging).map_err(|problem| format!("{name}: {problem}"))?;
    let mut told = 0;
    let best = best_liar(&liars, effort, |done| {
        if done / 500 > told {
            told = done / 500;
            eprintln!("{done} of {} runs", effort.runs);
        }
    });
    print(&format!(
        "# goodput over an honest receiver's: {:.3}, in {} fresh runs\n{}",
        best.judged.value,
        effort.judging,
        to_toml(&best.candidate)
    ))
}

fn read_arguments(mut rest: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut effort = Effort { runs: 2000, glance: 2, judging: 40, survivors: 8, seed: 1, threads: None };
    let mut scenario = None;
    match rest.next().as_deref() {
        Some("liars") => {}
        Some("-h" | "--help") | None => return Ok(None),
        Some(other) => return Err(format!("unknown claim {other:?}; allowed: liars")),
    }
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument}: a value is missing"));
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "--runs" => {
                let text = value()?;
                let runs = text.parse().ok().filter(|&runs| runs > 0);
                effort.runs = runs.ok_or(format!("--runs: {text} is not a number of runs, 1 or more"))?;
            }
            "--seed" => {
                let text = value()?;
                effort.seed = text.parse().map_err(|_| format!("--seed: {text} is not a whole number, 0 or more"))?;
            }
            option if option.starts_with("--") => return Err(format!("unknown option {option}; see --help")),
            _ if scenario.is_none() => scenario = Some(PathBuf::from(argument)),
            _ => return Err("more than one scenario file; see --help".to_owned()),
        }
    }
    let scenario = scenario.ok_or("the scenario file is missing; see --help")?;
    Ok(Some(Arguments { scenario, effort }))
}
