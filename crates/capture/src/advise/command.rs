//! The command `advise` of the program `eifel`.

use super::{Advised, Asked, Curve, Knob, Resent, Settings, advise, of_report, of_watch, text};
use crate::files;
use crate::frame::source::{STANDARD_INPUT, plain};
use crate::result::MOST_REPORTS;
use eifel_command::page::Screen;
use eifel_command::{BAD_INPUT, CommandLine, Declared, FAILED, Kind, OK, Options, unless_closed};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The command line.
pub const ADVISE: CommandLine = CommandLine {
    name: "advise",
    summary: "Says what another setting of the sender would have done to the retransmissions that left: which needless ones\n\
              would be gone, and which needed ones would have left later.",
    words: (
        "FILE ...",
        "a capture, a qlog, or the lines of eifel watch --json; captures may be compressed by gzip or zstd",
    ),
    options: &[
        Declared::switch("--json", "print JSON to standard output"),
        Declared::new(
            "--csv",
            "FILE",
            Kind::File("CSV"),
            "write the points of all curves as CSV, - to standard output",
        ),
        Declared::new(
            "--now",
            "KEY=VALUE",
            Kind::Repeated,
            "a setting that the sender had, if it is not Linux's default: rto_min_ms=200 or tcp_recovery=0",
        ),
        Declared::new(
            "--value",
            "KEY=VALUE",
            Kind::Repeated,
            "judge this value in place of those that the input suggests: rto_min_ms=400, tcp_reordering=10, or \
             reo_wnd_quarters=2 (RACK's window)",
        ),
        Declared::new("--plot", "FILE", Kind::FileByEnding(&["SVG", "PNG", "PDF"]), "draw the curves").python(),
    ],
    python: "--plot, which draws the curves.",
    example: "eifel advise capture.pcapng",
};

/// The version of the schema of `--json`.
const VERSION: u32 = 1;
/// Bytes of a file that tell whether it is the record of a watch.
const FIRST: u64 = 4096;

/// Runs the command with its `words`, and returns the exit code. Results go to `out` as they fit `screen`, and
/// what is wrong to `err`.
pub fn main(words: &[String], screen: Screen, (out, err): (&mut dyn Write, &mut dyn Write)) -> u8 {
    let (code, printed, notes) = match run(words, screen) {
        Ok((printed, notes)) => (OK, printed, notes),
        Err((code, what)) => (code, String::new(), vec![what]),
    };
    let written = unless_closed(out.write_all(printed.as_bytes()));
    // Standard error may be closed; then nobody can be told.
    notes.iter().for_each(|note| _ = writeln!(err, "eifel: {note}"));
    match written {
        Ok(()) => code,
        Err(error) => {
            _ = writeln!(err, "eifel: standard output: {error}");
            FAILED
        }
    }
}

type Failure = (u8, String);

fn refused(what: impl Into<String>) -> Failure {
    (BAD_INPUT, what.into())
}

/// Returns what is printed, and notes.
fn run(words: &[String], screen: Screen) -> Result<(String, Vec<String>), Failure> {
    let read = ADVISE.read(words).map_err(|usage| refused(usage.0))?;
    let Some(options) = read else { return Ok((ADVISE.usage(), Vec::new())) };
    let settings = settings(&options)?;
    let asked = asked(&options, &settings)?;
    let paths: Vec<PathBuf> = options.rest.iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        return Err(refused("advise: no file; see --help"));
    }
    if let Some(folder) = paths.iter().find(|path| path.is_dir()).map(|path| path.display()) {
        return Err(refused(format!("{folder}: a folder; expected its files, as {folder}/*.pcap")));
    }
    let is_output = |name: &str| {
        let output = Path::new(name).canonicalize();
        output.is_ok_and(|output| paths.iter().any(|path| path.canonicalize().is_ok_and(|input| input == output)))
    };
    if let Some(name) = options.text("--csv").filter(|name| is_output(name)) {
        return Err(refused(format!("--csv {name}: the file that is read; expected another name")));
    }
    let (resent, notes) = read_all(&paths).map_err(refused)?;
    let advised = advise(&resent, settings, &asked);
    let mut printed = String::new();
    match options.text("--csv") {
        Some("-") => printed = text::csv(&advised),
        Some(file) => {
            std::fs::write(file, text::csv(&advised)).map_err(|error| (FAILED, format!("{file}: {}", plain(&error))))?
        }
        None => {}
    }
    if options.has("--json") {
        printed = json(&advised, &options.rest);
    } else if printed.is_empty() {
        printed = text::text(&advised, screen);
    }
    Ok((printed, notes))
}

/// Reads all files: those of watches by themselves, and the others as `eifel analyze` does.
fn read_all(paths: &[PathBuf]) -> Result<(Vec<Resent>, Vec<String>), String> {
    let (watched, others): (Vec<PathBuf>, Vec<PathBuf>) = paths.iter().cloned().partition(|path| is_watch(path));
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    if !others.is_empty() {
        let report = files::analyze(&others, &mut |_, _| Ok(()))?;
        notes.extend(report.captures.iter().filter_map(|capture| capture.error.clone()));
        all = of_report(&report);
    }
    for (name, lines) in files::texts(&watched)? {
        let first = all.iter().filter(|one: &&Resent| !one.is_quic).map(|one| one.sender + 1).max().unwrap_or(0);
        let read = of_watch(&lines).map_err(|what| format!("{name}: {what}"))?;
        let place = all.len();
        all.extend(read.into_iter().map(|one| Resent { sender: first + one.sender, place: place + one.place, ..one }));
    }
    Ok((all, notes))
}

/// Returns whether a file begins as the lines of `eifel watch --json` do.
fn is_watch(path: &Path) -> bool {
    if path.as_os_str() == STANDARD_INPUT {
        return false;
    }
    let first = files::first(path, FIRST);
    let line = first.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let line = String::from_utf8_lossy(line.unwrap_or_default()).replace(' ', "");
    line.contains("\"schema\":\"watch\"") || line.contains("\"schema\":\"watch-summary\"")
}

fn settings(options: &Options) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for given in options.all("--now") {
        let wrong = |expected: &str| refused(format!("--now {given}: expected {expected}"));
        let (key, value) = given.split_once('=').ok_or_else(|| wrong("KEY=VALUE, as rto_min_ms=40"))?;
        match key {
            "rto_min_ms" => {
                let ms = value.parse().ok().filter(|ms: &f64| (1.0..=120_000.0).contains(ms));
                settings.rto_min_ms = ms.ok_or_else(|| wrong("milliseconds from 1 to 120000"))?;
            }
            "tcp_recovery" => {
                let flags: u32 = value.parse().map_err(|_| wrong("the flags of net.ipv4.tcp_recovery, from 0"))?;
                settings.rack = flags & 1 != 0;
            }
            _ => return Err(wrong("rto_min_ms or tcp_recovery")),
        }
    }
    Ok(settings)
}

fn asked(options: &Options, settings: &Settings) -> Result<Asked, Failure> {
    let mut asked = Asked::new();
    for given in options.all("--value") {
        let wrong = |expected: &str| refused(format!("--value {given}: expected {expected}"));
        let (key, value) = given.split_once('=').ok_or_else(|| wrong("KEY=VALUE, as rto_min_ms=400"))?;
        // Below these the sender would have sent what the input does not show.
        let (knob, least, most) = match key {
            "rto_min_ms" => (Knob::SmallestRto, settings.rto_min_ms.ceil() as u64, 120_000),
            "tcp_reordering" => (Knob::DuplicateThreshold, 3, MOST_REPORTS as u64),
            "reo_wnd_quarters" => (Knob::ReorderingWindow, 1, 1_000),
            _ => return Err(wrong("rto_min_ms, tcp_reordering or reo_wnd_quarters")),
        };
        let value = value.parse().ok().filter(|value| (least..=most).contains(value));
        let expected = format!("a whole number from {least}, the sender's own, to {most}");
        asked.insert(knob, value.ok_or_else(|| wrong(&expected))?);
    }
    Ok(asked)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    schema: &'static str,
    version: u32,
    files: &'a [String],
    retransmissions: usize,
    settings: Settings,
    curves: Vec<Described<'a>>,
}

/// A curve in words too.
#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    curve: &'a Curve,
    title: &'static str,
    unit: &'static str,
    sentence: String,
    exactness: &'static str,
}

fn json(advised: &Advised, files: &[String]) -> String {
    let described = |curve| {
        let &Curve { knob, .. } = curve;
        let (title, unit, exactness) = (knob.title(), knob.unit(), knob.exactness());
        Described { curve, title, unit, sentence: curve.sentence(), exactness }
    };
    let printed = Printed {
        schema: ADVISE.name,
        version: VERSION,
        files,
        retransmissions: advised.retransmissions,
        settings: advised.settings,
        curves: advised.curves.iter().map(described).collect(),
    };
    format!("{}\n", serde_json::to_string_pretty(&printed).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::Folder;

    fn said(words: &[&str]) -> (u8, String, String) {
        eifel_testkit::command::answer(words, |words, out, err| main(words, Screen::default(), (out, err)))
    }

    #[test]
    fn a_wrong_command_line_is_refused_in_one_line() {
        for (words, expected) in [
            (&[][..], "advise: no file; see --help"),
            (&["--plot", "x.svg", "x"], "--plot: only the Python package's eifel has it; see --help"),
            (&["--now", "x", "y"], "--now x: expected KEY=VALUE, as rto_min_ms=40"),
            (&["--now", "x=1", "y"], "--now x=1: expected rto_min_ms or tcp_recovery"),
            (&["--now", "rto_min_ms=0", "y"], "--now rto_min_ms=0: expected milliseconds from 1 to 120000"),
            (&["--now", "rto_min_ms=NaN", "y"], "--now rto_min_ms=NaN: expected milliseconds from 1 to 120000"),
            (
                &["--now=tcp_recovery=x", "y"],
                "--now tcp_recovery=x: expected the flags of net.ipv4.tcp_recovery, from 0",
            ),
            (&["--value", "x", "y"], "--value x: expected KEY=VALUE, as rto_min_ms=400"),
            (&["--value", "frto=2", "y"], "--value frto=2: expected rto_min_ms, tcp_reordering or reo_wnd_quarters"),
            (
                &["--now", "rto_min_ms=300", "--value", "rto_min_ms=200", "y"],
                "--value rto_min_ms=200: expected a whole number from 300, the sender's own, to 120000",
            ),
            (
                &["--value", "tcp_reordering=999", "y"],
                "--value tcp_reordering=999: expected a whole number from 3, the sender's own, to 300",
            ),
            (&["/"], "/: a folder; expected its files, as //*.pcap"),
        ] {
            assert_eq!(said(words), (BAD_INPUT, String::new(), format!("eifel: {expected}\n")));
        }
        let (code, _, err) = said(&["nowhere.pcap"]);
        assert!(code == BAD_INPUT && err.starts_with("eifel: nowhere.pcap: ") && err.lines().count() == 1, "{err}");
        assert_eq!(said(&["--help"]).0, OK);
    }

    #[test]
    fn a_watch_is_told_from_a_log_and_its_lines_are_judged() {
        let folder = Folder::new();
        let (file, table) = (folder.join("watched.json"), folder.join("points.csv"));
        let line = |seq: u32, cause: &str, verdict: &str, answered: &str| {
            format!(
                "{{\"schema\":\"watch\",\"version\":1,\"time_s\":{seq},\"connection\":0,\"seq\":{seq},\"cause\":\"{cause}\",\
                 \"verdict\":\"{verdict}\",\"since_first_ms\":230.0,\"answered_ms\":{answered}}}\n"
            )
        };
        let lines = line(1, "rto", "spurious", "330.0")
            + &line(2, "rto", "needed", "null")
            + &line(3, "fast", "needed", "null");
        std::fs::write(&file, &lines).unwrap();
        let [name, csv] = [&file, &table].map(|path| path.to_str().unwrap().to_owned());
        let (code, out, err) = said(&[&name, "--csv", &csv]);
        assert_eq!((code, err.as_str()), (OK, ""));
        assert!(
            out.contains(
                "With rto_min 301 ms, 100 % of the needless timeouts vanish (1 of 1); 1 needed one waits 101 ms"
            ),
            "{out}"
        );
        assert!(out.contains("No curve: the input does not show which later segments were reported"), "{out}");
        let points = std::fs::read_to_string(&table).unwrap();
        assert_eq!(points.lines().nth(1), Some("smallest-rto,301,1,0,0,1,101.000,0,0"));
        let (code, out, _) = said(&[&name, "--json"]);
        let printed: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &printed["schema"], &printed["version"]), (OK, &"advise".into(), &1.into()));
        assert_eq!(printed["curves"][0]["points"][0]["value"], 301.0);
        let (_, out, _) = said(&[&name, "--value", "rto_min_ms=250", "--csv", "-"]);
        assert_eq!(out.lines().nth(1), Some("smallest-rto,250,0,1,0,1,50.000,0,0"));
        assert_eq!(said(&[&name, "--csv", &name]).0, BAD_INPUT);
        std::fs::write(&file, lines + "{}\n").unwrap();
        let (code, _, err) = said(&[&name]);
        assert!(code == BAD_INPUT && err.contains("watched.json: line 4: "), "{err}");
    }
}
