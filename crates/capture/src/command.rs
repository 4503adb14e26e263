//! The command `analyze` of the program `eifel`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files;
use crate::frame::source::plain;
use crate::report::condition::{Condition, failures};
use crate::report::{Report, VERSION, score, text};
use crate::result::{Retransmission, Summary};
use eifel_command::{BAD_INPUT, CommandLine, Declared, FAILED, Kind, OK, Options, unless_closed};
use serde::Serialize;

/// The command line.
pub const ANALYZE: CommandLine = CommandLine {
    name: "analyze",
    summary: "Says of each retransmission in a capture why it was sent, and whether it was needed.",
    words: ("FILE ...", "pcap, pcapng or snoop, perhaps compressed by gzip or zstd, or a qlog; - is standard input"),
    options: &[
        Declared::switch("--json", "print JSON to standard output"),
        Declared::switch(
            "--lines",
            "print each connection, and each retransmission, as a line of JSON as soon as it is over",
        ),
        Declared::new(
            "--out",
            "FOLDER",
            Kind::Folder,
            "of a folder: where the results are kept (default: out/ and the folder's name)",
        )
        .python(),
        Declared::new(
            "--dask",
            "ADDRESS",
            Kind::Path,
            "of a folder: on the workers of this Dask scheduler, as tcp://host:8786",
        )
        .python(),
        Declared::switch("--fresh", "of a folder: analyse everything again, also stored results").python(),
        Declared::new("--sender", "FILE", Kind::Path, "the capture at the sender; with --receiver: the truth by both")
            .python(),
        Declared::new("--receiver", "FILE", Kind::Path, "the capture of the same connections at the receiver").python(),
        Declared::new(
            "--between",
            "FILE",
            Kind::Repeated,
            "with these: a capture on the path; may be repeated, from the sender on",
        )
        .python(),
        Declared::new("--truth", "FOLDER", Kind::Folder, "with these: write NAME.truth.csv for each capture there")
            .python(),
        Declared::switch(
            "--facts",
            "FILE is a table of what any transport sent, acknowledged and declared lost (docs/reference/captures.md)",
        )
        .python(),
        Declared::new(
            "--csv",
            "FILE",
            Kind::File("CSV"),
            "write the retransmissions as CSV, - to standard output; of both ends, the truth at the sender",
        ),
        Declared::new("--parquet", "FILE", Kind::File("Parquet"), "write the retransmissions as Parquet").python(),
        Declared::new("--annotate", "FILE", Kind::File("pcapng"), "copy the capture to a pcapng with comments"),
        Declared::new("--xpl", "FOLDER", Kind::Folder, "write time-sequence graphs for xplot there"),
        Declared::new("--report", "FILE.html", Kind::File("HTML"), "write a page with time-sequence graphs").python(),
        Declared::new("--otel", "FILE.json", Kind::File("JSON"), "write OpenTelemetry metrics (OTLP in JSON)").python(),
        Declared::new(
            "--anonymise",
            "FILE",
            Kind::File("pcapng"),
            "copy the capture without payload, with other addresses, and with all that verdicts rest on",
        ),
        Declared::switch("--compare-tshark", "show where tshark differs, and why").python(),
        Declared::new("--score", "TRUTH.csv", Kind::Path, "compare with the truth (docs/reference/captures.md)"),
        Declared::new(
            "--fail-if",
            "CONDITION",
            Kind::Repeated,
            "exit with 1 if it holds: spurious, needed, undecidable or retransmissions, compared with a number or a \
             share of all segments with data, as 'spurious>1%'; may be repeated",
        ),
        Declared::new(
            "--extract-path",
            "FILE.toml",
            Kind::File("TOML"),
            "write the path that the capture shows as a scenario",
        )
        .python(),
        Declared::new(
            "--connection",
            "N",
            Kind::Natural,
            "with --extract-path: the connection's number (default: that with most data)",
        )
        .python(),
        Declared::switch("--verbose", "show every retransmission").python(),
    ],
    python: "a page with graphs, tables in Parquet, metrics for OpenTelemetry, the path as a scenario, a comparison \
             with tshark, captures of both ends, and folders of captures.",
    example: "eifel analyze capture.pcapng --fail-if 'spurious>1%'",
};

/// Runs the command with its `words`, and returns the exit code. Results go to `out`, and what is
/// wrong to `err`.
pub fn main(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let (code, notes) = match analyze(words, out) {
        Ok((code, notes)) => (code, notes),
        Err(Failure { code, message }) => (code, vec![message]),
    };
    // Standard error may be closed; then nobody can be told.
    notes.iter().for_each(|note| _ = writeln!(err, "eifel: {note}"));
    code
}

/// Why the command ends early.
struct Failure {
    code: u8,
    message: String,
}

fn refused(message: impl Into<String>) -> Failure {
    Failure { code: BAD_INPUT, message: message.into() }
}

fn unwritten(error: io::Error) -> Failure {
    Failure { code: FAILED, message: format!("standard output: {error}") }
}

fn analyze(words: &[String], out: &mut dyn Write) -> Result<(u8, Vec<String>), Failure> {
    let read = ANALYZE.read(words).map_err(|usage| refused(usage.0))?;
    let print = |out: &mut dyn Write, text: &str| unless_closed(out.write_all(text.as_bytes())).map_err(unwritten);
    let Some(options) = read else { return print(out, &ANALYZE.usage()).map(|()| (OK, Vec::new())) };
    let conditions: Vec<_> =
        options.all("--fail-if").map(Condition::parse).collect::<Result<_, _>>().map_err(refused)?;
    let paths: Vec<PathBuf> = options.rest.iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        return Err(refused("analyze: no file; see --help"));
    }
    if let Some(folder) = paths.iter().find(|path| path.is_dir()).map(|path| path.display()) {
        return Err(refused(format!("{folder}: a folder; expected its files, as {folder}/*.pcap")));
    }
    expect_outputs(&options, &paths)?;
    if options.has("--lines") {
        let [file] = &paths[..] else { return Err(refused("--lines: expected one file")) };
        return lines(file, out).map(|()| (OK, Vec::new()));
    }
    let report = files::analyze(&paths, &mut |_, _| Ok(())).map_err(refused)?;
    let truth = options.text("--score").map(truth).transpose()?;
    if let Some(file) = options.text("--annotate") {
        files::annotate(&report, file.as_ref()).map_err(refused)?;
    }
    if let Some(file) = options.text("--anonymise") {
        let input = files::only_file(&report).map_err(refused)?;
        files::anonymise(&input, file.as_ref()).map_err(refused)?;
    }
    if let Some(folder) = options.text("--xpl") {
        files::plot(&report, folder.as_ref()).map_err(refused)?;
    }
    match options.text("--csv") {
        Some("-") => print(out, &report.csv())?,
        Some(file) => std::fs::write(file, report.csv())
            .map_err(|error| Failure { code: FAILED, message: format!("{file}: {}", plain(&error)) })?,
        None => {}
    }
    match truth {
        None if options.text("--csv") == Some("-") => {}
        truth if options.has("--json") => print(out, &json(&report, truth.as_deref()))?,
        Some(truth) => print(out, &score::score(&truth, &report.retransmissions).text())?,
        None => print(out, &text::summary(&report))?,
    }
    let failures = failures(&report, &conditions);
    let code = if failures.is_empty() { OK } else { FAILED };
    let damages = report.captures.iter().filter_map(|capture| capture.error.clone());
    Ok((code, damages.chain(failures).collect()))
}

/// Returns the report as its schema says, with the score if there is a truth.
fn json(report: &Report, truth: Option<&[score::KnownRetransmission]>) -> String {
    let content = report.json();
    let rest = content.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    let score = truth.map(|truth| score::score(truth, &report.retransmissions));
    let score = score.and_then(|score| serde_json::to_string(&score).ok());
    let score = score.map_or(String::new(), |score| format!(",\"score\":{score}"));
    format!("{{\"schema\":\"analyze\",\"version\":{VERSION},{rest}{score}}}\n")
}

fn truth(file: &str) -> Result<Vec<score::KnownRetransmission>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| refused(format!("{file}: {}", plain(&error))))?;
    score::read_truth(&text).map_err(|error| refused(format!("{file}: {error}")))
}

/// Refuses an output that is one of the files to read.
fn expect_outputs(options: &Options, inputs: &[PathBuf]) -> Result<(), Failure> {
    for flag in ["--csv", "--annotate", "--anonymise"] {
        let Some(name) = options.text(flag) else { continue };
        let output = Path::new(name).canonicalize();
        if output.is_ok_and(|output| inputs.iter().any(|input| input.canonicalize().is_ok_and(|one| one == output))) {
            return Err(refused(format!("{flag} {name}: the file that is read; expected another name")));
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
fn lines(file: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let mut failed = Ok(());
    let mut take = |ended: Vec<Summary>, retransmissions: Vec<Retransmission>| {
        let lines = ended.iter().map(Line::Connection).chain(retransmissions.iter().map(Line::Retransmission));
        for line in lines {
            if failed.is_ok() {
                failed = serde_json::to_writer(&mut *out, &line).map_err(Into::into).and_then(|()| writeln!(out));
            }
        }
    };
    let report = files::stream(file, &mut |_, _| Ok(()), &mut take).map_err(refused)?;
    unless_closed(failed.and_then(|()| writeln!(out, "{}", report.rest_json()))).map_err(unwritten)
}
