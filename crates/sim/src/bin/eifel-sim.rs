//! `eifel-sim`: runs a scenario file and prints the results.
#![forbid(unsafe_code)]

use eifel_sim::record::Record;
use eifel_sim::scenario::{self, Scenario};
use eifel_sim::summary::{Number, Summary};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Runs a scenario and prints a summary of each flow.

usage: eifel-sim [options] SCENARIO.toml

  --repetition N   this repetition only, from 0
  --repetitions N  the number of repetitions, in place of the scenario's
  --json           one JSON object a line, a line a repetition
  --checked        verify the laws of the simulation after each event
  --captures DIR   write the captures that the scenario asks for to this folder, as pcapng
  --schema         print the JSON Schema of scenarios
  --version        print the version
  -h, --help       print this
";

#[derive(Default)]
struct Arguments {
    file: Option<PathBuf>,
    repetition: Option<u32>,
    repetitions: Option<u32>,
    captures: Option<PathBuf>,
    json: bool,
    checked: bool,
}

/// Information that is printed instead of running a scenario.
enum Instead {
    Usage,
    Schema,
    Version,
}

fn main() -> ExitCode {
    let done = match read_arguments(std::env::args_os().skip(1)) {
        Ok(Ok(arguments)) => run(&arguments),
        Ok(Err(Instead::Usage)) => print(USAGE),
        Ok(Err(Instead::Schema)) => print(&scenario::schema()),
        Ok(Err(Instead::Version)) => print(concat!("eifel-sim ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(problem) => Err(problem),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("eifel-sim: {problem}");
            ExitCode::from(2)
        }
    }
}

fn read_arguments(arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<Result<Arguments, Instead>, String> {
    let mut read = Arguments::default();
    let mut rest = arguments;
    while let Some(argument) = rest.next() {
        let mut value = |name: &str| rest.next().ok_or(format!("{name}: a value is missing"));
        let number = |name: &str, text: std::ffi::OsString| {
            let text = text.to_string_lossy().into_owned();
            text.parse::<u32>().map_err(|_| format!("{name}: {text} is not a number from 0 to {}", u32::MAX))
        };
        match argument.to_str() {
            Some("-h" | "--help") => return Ok(Err(Instead::Usage)),
            Some("--schema") => return Ok(Err(Instead::Schema)),
            Some("--version") => return Ok(Err(Instead::Version)),
            Some("--json") => read.json = true,
            Some("--checked") => read.checked = true,
            Some("--captures") => read.captures = Some(value("--captures")?.into()),
            Some("--repetition") => read.repetition = Some(number("--repetition", value("--repetition")?)?),
            Some("--repetitions") => read.repetitions = Some(number("--repetitions", value("--repetitions")?)?),
            Some(option) if option.starts_with("--") => return Err(format!("unknown option {option}; see --help")),
            _ if read.file.is_none() => read.file = Some(argument.into()),
            _ => return Err("more than one scenario file; see --help".to_owned()),
        }
    }
    Ok(Ok(read))
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let file = arguments.file.as_ref().ok_or("no scenario file; see --help")?;
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let scenario = Scenario::parse(&text, file).map_err(|error| error.to_string())?;
    let repetitions = match (arguments.repetition, arguments.repetitions) {
        (Some(one), _) => one..one.saturating_add(1),
        (None, many) => 0..many.unwrap_or(scenario.repetitions),
    };
    let mut record = Record::none();
    if let Some(folder) = &arguments.captures {
        if scenario.recording.captures.is_empty() {
            return Err(format!("--captures: {} names no node in `captures`", file.display()));
        }
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        record = scenario.recording.captures.iter().fold(record, |record, &node| record.capturing(node)).with_payload();
    }
    for repetition in repetitions {
        let options = eifel_sim::Options { record: record.clone(), checked: arguments.checked, ..Default::default() };
        let outcome = eifel_sim::run_with(&scenario, repetition, options).map_err(|error| error.to_string())?;
        if let Some(folder) = &arguments.captures {
            for capture in &outcome.captures {
                let path = folder.join(format!("{}.{repetition}.pcapng", capture.name.replace('/', "_")));
                std::fs::write(&path, &capture.pcapng).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        print(&match arguments.json {
            true => format!("{}\n", json(repetition, &outcome.summary)),
            false => text_of(repetition, &outcome.summary),
        })?;
    }
    Ok(())
}

fn json(repetition: u32, summary: &Summary) -> String {
    let object = summary.to_json();
    format!("{{\"repetition\": {repetition}, {}", object.trim_start_matches('{'))
}

fn text_of(repetition: u32, summary: &Summary) -> String {
    let mut text =
        format!("repetition {repetition}: {:.6} s simulated, {} events\n", summary.duration_s, summary.events);
    for flow in &summary.flows {
        let numbers: Vec<String> = flow
            .all_numbers()
            .filter(|(_, number)| !matches!(number, Number::Count(0) | Number::Flag(false)))
            .map(|(name, number)| match number {
                Number::Measure(measure) => format!("{name} {measure:.6}"),
                Number::Flag(_) => name.to_owned(),
                Number::Count(count) => format!("{name} {count}"),
            })
            .collect();
        text.push_str(&format!("  {}: {}\n", flow.flow, numbers.join(", ")));
    }
    text
}

/// Prints to standard output. A reader that closes it early is no error.
fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}
