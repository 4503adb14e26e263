//! Analyses captures from the command line, without Python: `cargo run --release -p eifel-capture -- FILE…`.

use std::path::PathBuf;
use std::process::ExitCode;

use eifel_capture::{score, source, text};

const USAGE: &str = "usage: eifel-capture [--json | --csv | --score TRUTH.csv | --annotate OUT.pcapng | --xpl FOLDER] FILE…\n\
                     - is standard input";

enum Output {
    Text,
    Json,
    Csv,
    Score(String),
    Annotate(PathBuf),
    Plots(PathBuf),
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("eifel-capture: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut output = Output::Text;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => output = Output::Json,
            "--csv" => output = Output::Csv,
            "--score" => output = Output::Score(arguments.next().ok_or(USAGE)?),
            "--annotate" => output = Output::Annotate(arguments.next().ok_or(USAGE)?.into()),
            "--xpl" => output = Output::Plots(arguments.next().ok_or(USAGE)?.into()),
            _ if argument.starts_with("--") => return Err(USAGE.into()),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    if files.is_empty() {
        return Err(USAGE.into());
    }
    let report = source::analyze(&files, &mut |_, _| Ok(()))?;
    match output {
        Output::Text => print!("{}", text::summary(&report)),
        Output::Json => println!("{}", report.json()),
        Output::Csv => print!("{}", report.csv()),
        Output::Annotate(file) => source::annotate(&report, &file)?,
        Output::Plots(folder) => source::plot(&report, &folder)?,
        Output::Score(file) => {
            let truth = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
            let truth = score::read_truth(&truth).map_err(|error| format!("{file}: {error}"))?;
            println!("{}", score::score(&truth, &report.retransmissions).json());
        }
    }
    Ok(())
}
