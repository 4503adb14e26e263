//! `eifel-hunt`: see the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use eifel_hunt::climb::{Effort, search};
use eifel_hunt::liars::Liars;

const USAGE: &str = "\
Searches for the lying receiver that gains most against a sender, and prints it as a scenario.

usage: eifel-hunt liars [--sender TOML] [--loss RATE] [--runs N] [--seed S]

  --sender T   the inside of the scenario's table sender ('', the default sender)
  --loss R     the rate of random loss (0.01)
  --runs N     runs of the search (2000); 40 more judge each of the last candidates
  --seed S     the search's seed (1)
  -h, --help   print this

example: eifel-hunt liars --sender 'detect = \"dsack\"' --loss 0.001
";

/// What the command line asks for.
struct Arguments {
    sender: String,
    loss: f64,
    effort: Effort,
}

fn main() -> ExitCode {
    let arguments = match read_arguments(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("eifel-hunt: {problem}");
            return ExitCode::from(2);
        }
    };
    let Arguments { sender, loss, effort } = arguments;
    let liars = match Liars::new(&sender, loss, effort.glance + effort.judging) {
        Ok(liars) => liars,
        Err(problem) => {
            eprintln!("eifel-hunt: --sender: {problem}");
            return ExitCode::from(2);
        }
    };
    let mut told = 0;
    let found = search(&liars, &effort, |done| {
        if done / 200 > told {
            told = done / 200;
            eprintln!("{done} of {} runs", effort.runs);
        }
    });
    println!("# gain {:.3} over {} runs of seeds that were not searched with", found[0].judged, effort.judging);
    println!("# the next: {}", found[1..].iter().map(|other| format!("{:.3} ", other.judged)).collect::<String>());
    print!("{}", liars.scenario(&found[0].candidate));
    ExitCode::SUCCESS
}

fn read_arguments(mut rest: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let effort = Effort { runs: 2000, glance: 2, judging: 40, survivors: 8, seed: 1 };
    let mut read = Arguments { sender: String::new(), loss: 0.01, effort };
    match rest.next().as_deref() {
        Some("liars") => {}
        Some("-h" | "--help") | None => return Ok(None),
        Some(other) => return Err(format!("unknown claim {other:?}; allowed: liars")),
    }
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument}: a value is missing"));
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "--sender" => read.sender = value()?,
            "--loss" => {
                let text = value()?;
                let rate = text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
                read.loss = rate.ok_or(format!("--loss: {text} is not a rate from 0 to 1"))?;
            }
            "--runs" => {
                let text = value()?;
                let runs = text.parse().ok().filter(|&runs| runs > 0);
                read.effort.runs = runs.ok_or(format!("--runs: {text} is not a number of runs, 1 or more"))?;
            }
            "--seed" => {
                let text = value()?;
                read.effort.seed =
                    text.parse().map_err(|_| format!("--seed: {text} is not a whole number, 0 or more"))?;
            }
            other => return Err(format!("unknown option {other}; see --help")),
        }
    }
    Ok(Some(read))
}
