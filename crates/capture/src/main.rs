//! Analyses captures from the command line, without Python: `cargo run --release -p eifel-capture
//! -- FILE…`.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use eifel_capture::files;
use eifel_capture::report::{score, text};
use eifel_capture::result::{Retransmission, Summary};
use serde::Serialize;

const USAGE: &str = "usage: eifel-capture [--json | --lines | --csv | --score TRUTH.csv | --annotate OUT.pcapng | --xpl FOLDER] FILE…\n\
                     - is standard input";

enum Output {
    Text,
    Json,
    Lines,
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
    let mut paths = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => output = Output::Json,
            "--lines" => output = Output::Lines,
            "--csv" => output = Output::Csv,
            "--score" => output = Output::Score(arguments.next().ok_or(USAGE)?),
            "--annotate" => output = Output::Annotate(arguments.next().ok_or(USAGE)?.into()),
            "--xpl" => output = Output::Plots(arguments.next().ok_or(USAGE)?.into()),
            _ if argument.starts_with("--") => return Err(USAGE.into()),
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    if paths.is_empty() {
        return Err(USAGE.into());
    }
    if let (Output::Lines, [file]) = (&output, paths.as_slice()) {
        return lines(file);
    }
    let report = files::analyze(&paths, &mut |_, _| Ok(()))?;
    match output {
        Output::Text => print(&text::summary(&report))?,
        Output::Json => print(&format!("{}\n", report.json()))?,
        Output::Lines => return Err("--lines: expected one file".into()),
        Output::Csv => print(&report.csv())?,
        Output::Annotate(file) => files::annotate(&report, &file)?,
        Output::Plots(folder) => files::plot(&report, &folder)?,
        Output::Score(file) => {
            let truth = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
            let truth = score::read_truth(&truth).map_err(|error| format!("{file}: {error}"))?;
            print(&format!("{}\n", score::score(&truth, &report.retransmissions).json()))?;
        }
    }
    Ok(())
}

/// A JSON object with one field. The field's name tells the kind of the object in it.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Line<'a> {
    Connection(&'a Summary),
    Retransmission(&'a Retransmission),
}

/// Writes one JSON object per line as soon as it is known: connections and retransmissions first,
/// the rest of the report at the end.
fn lines(file: &Path) -> Result<(), String> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut failed = Ok(());
    let mut take = |ended: Vec<Summary>, retransmissions: Vec<Retransmission>| {
        let lines = ended.iter().map(Line::Connection).chain(retransmissions.iter().map(Line::Retransmission));
        for line in lines {
            if failed.is_ok() {
                failed = serde_json::to_writer(&mut out, &line).map_err(Into::into).and_then(|()| writeln!(out));
            }
        }
    };
    let report = files::stream(file, &mut |_, _| Ok(()), &mut take)?;
    written(failed.and_then(|()| writeln!(out, "{}", report.rest_json())).and_then(|()| out.flush()))
}

fn print(text: &str) -> Result<(), String> {
    written(std::io::stdout().write_all(text.as_bytes()))
}

/// Returns why standard output could not be written. A reader that closes it early is no error.
fn written(result: std::io::Result<()>) -> Result<(), String> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}
