//! The commands `watch` and `counters` of the program `eifel`.

pub mod counters;
mod export;
mod found;
mod metrics;
mod view;

use crate::attach::Filter;
use crate::captured::{Captured, Written};
use crate::observation::Judged;
use crate::watch::{Watch, nanos};
use eifel_capture::report::condition::Condition;
use eifel_command::{BAD_INPUT, FAILED, OK, Options, Signals, Usage, unless_closed};
use export::{Otlp, Scraped};
use found::Found;
use metrics::word;
use rustix::time::ClockId;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

const USAGE: &str = "\
Says of each retransmission of this host why it was sent, and whether it was needed. Linux from 5.11 on; it needs
root, or the capabilities CAP_BPF and CAP_PERFMON. Nothing stays behind, however it ends.

usage: eifel watch [OPTIONS]

  --from counters        only estimate the needless share, by the kernel's counters, without BPF and rights
  --seconds N            how long to watch (default: until Ctrl-C)
  --port PORT            only connections with this local or remote port
  --namespace FILE       only a network namespace, as /proc/PID/ns/net or /run/netns/NAME
  --cgroup FOLDER        only a control group, as /sys/fs/cgroup/NAME, without those below it
  --view                 show a table of connections that is redrawn each second, worst first
  --json                 print a line of JSON for each retransmission, and one for the summary
  --quiet                print only the summary
  --top N                connections of the summary, worst first (default: 10)
  --listen ADDRESS:PORT  answer Prometheus at /metrics, as 127.0.0.1:9760
  --otlp URL|FILE        send metrics to an OpenTelemetry collector each ten seconds, as http://127.0.0.1:4318, or
                         write them into a file
  --fail-if CONDITION    exit with 1 if it holds: spurious, needed, undecidable or retransmissions, compared with a
                         number or a share of all retransmissions, as 'spurious>1%'; may be repeated
  --pcapng FILE          write the packets of the connections of these retransmissions, from 5 seconds before a loss sign
                         on, for eifel analyze
  --without TRACEPOINT   do without a tracepoint, as on a kernel that lacks it; may be repeated

example: eifel watch --seconds 60 --port 443 --fail-if 'spurious>1%'
";

/// The version of the lines of `--json`.
const VERSION: u32 = 1;
/// The longest wait for the kernel's facts, in milliseconds, so that Ctrl-C and the end are soon seen.
const POLL_MS: u32 = 200;
/// The time between two views, in nanoseconds.
const REDRAWN: u64 = 1_000_000_000;
/// Columns and rows of a terminal that does not tell.
const TERMINAL: (u16, u16) = (80, 24);

/// Runs the command with its `words`, and returns the exit code. Results go to `out`, and what is wrong to `err`.
pub fn main(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    reported(err, |note| watch(words, out, note))
}

/// Runs a command, and returns its exit code. Notes and what is wrong go to `err`.
fn reported(err: &mut dyn Write, command: impl FnOnce(&mut dyn FnMut(&str)) -> Result<u8, Failure>) -> u8 {
    // Standard error may be closed; then nobody can be told.
    let mut note = |what: &str| _ = writeln!(err, "eifel: {what}").and_then(|()| err.flush());
    match command(&mut note) {
        Ok(code) => code,
        Err(Failure::Usage(Usage(what))) => {
            note(&what);
            BAD_INPUT
        }
        Err(Failure::Failed(what)) => {
            note(&what);
            FAILED
        }
        Err(Failure::Unwritten(error)) => {
            note(&format!("standard output: {error}"));
            FAILED
        }
    }
}

enum Failure {
    Usage(Usage),
    Failed(String),
    Unwritten(io::Error),
}

impl From<Usage> for Failure {
    fn from(usage: Usage) -> Self {
        Self::Usage(usage)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Unwritten(error)
    }
}

const VALUED: [&str; 11] = [
    "--from",
    "--seconds",
    "--port",
    "--namespace",
    "--cgroup",
    "--top",
    "--listen",
    "--otlp",
    "--pcapng",
    "--fail-if",
    "--without",
];
const SWITCHES: [&str; 3] = ["--view", "--json", "--quiet"];

fn watch(words: &[String], out: &mut dyn Write, note: &mut dyn FnMut(&str)) -> Result<u8, Failure> {
    let Some(options) = Options::read(words, &VALUED, &SWITCHES)? else {
        unless_closed(out.write_all(USAGE.as_bytes()).and_then(|()| out.flush()))?;
        return Ok(OK);
    };
    if let Some(word) = options.rest.first().or(options.command.first()) {
        return Err(Usage(format!("watch: {word}: expected an option; see --help")).into());
    }
    let seconds = options.seconds("--seconds")?;
    if is_by_counters(&options)? {
        return counters::during(&options, out, &mut || note("watch: watching"));
    }
    let top = options.value::<usize>("--top", "a number of connections")?.unwrap_or(10);
    let conditions: Vec<Condition> =
        options.all("--fail-if").map(Condition::parse).collect::<Result<_, _>>().map_err(Usage)?;
    let filter = Filter {
        port: options.value("--port", "a port, at most 65535")?,
        namespace: inode(&options, "--namespace")?.and_then(|inode| u32::try_from(inode).ok()),
        cgroup: inode(&options, "--cgroup")?,
    };
    let shown = Shown::new(&options)?;
    let mut exports = Exports {
        scraped: options.text("--listen").map(Scraped::listen).transpose()?,
        otlp: options.text("--otlp").map(|to| Otlp::open(to, nanos(ClockId::Realtime))).transpose()?,
        captured: None,
    };
    let created =
        |path| File::create(path).map(|file| (path, file)).map_err(|error| Usage(format!("--pcapng {path}: {error}")));
    let packets = options.text("--pcapng").map(created).transpose()?;
    let without: Vec<String> = options.all("--without").map(str::to_owned).collect();
    let signals = Signals::note().map_err(|error| Failure::Failed(format!("sigaction: {error}")))?;
    let mut say = |what: &str| note(&format!("watch: {what}"));
    if let Some(scraped) = &exports.scraped {
        say(&scraped.url());
    }
    let mut host = Watch::begin(&filter, &without).map_err(|error| Failure::Failed(format!("watch: {error}")))?;
    host.lacking().iter().for_each(|lacking| say(lacking));
    if let Some(file) = packets {
        let captured = Captured::begin(file, options.text("--namespace"), filter.port);
        exports.captured = Some(captured.map_err(|error| Failure::Failed(format!("watch: --pcapng {error}")))?);
    }
    // A program that starts the watch waits for this line: what happens before it is not seen.
    say("watching");
    let signals_and_time = (signals, seconds.map(|seconds| seconds.as_nanos()));
    let Some(found) = follow(&mut host, (&mut exports, shown), &signals_and_time, out, note)? else { return Ok(OK) };
    summary(&found, top, options.has("--json"), out)?;
    let failures = found.failures(&conditions);
    failures.iter().for_each(|failure| note(failure));
    let is_whole = exports.captured.is_none_or(|captured| is_written(captured, note));
    Ok(if failures.is_empty() && is_whole { OK } else { FAILED })
}

/// Completes the file of packets. Returns whether it could be written.
fn is_written(captured: Captured, note: &mut dyn FnMut(&str)) -> bool {
    let written = captured.finish();
    match written {
        Ok(Written { packets, early, missed }) => {
            note(&format!("watch: --pcapng: {packets} packets"));
            if early + missed > 0 {
                note(&format!(
                    "watch: --pcapng: {early} packets were held less than 5 seconds, and {missed} were not read: they came too \
                     fast"
                ));
            }
        }
        Err(ref failed) => note(failed),
    }
    written.is_ok()
}

/// Returns whether only counters are read.
fn is_by_counters(options: &Options) -> Result<bool, Usage> {
    let Some(from) = options.text("--from") else { return Ok(false) };
    if from != "counters" {
        return Err(Usage(format!("--from {from}: expected counters")));
    }
    match VALUED[2..].iter().chain(&["--view", "--quiet"]).find(|name| options.has(name)) {
        Some(name) => Err(Usage(format!("{name}: --from counters has only --seconds and --json beside it"))),
        None => Ok(true),
    }
}

/// Shows what is found until the time is over or a signal comes. Returns it, or `None` if the reader has gone.
fn follow(
    host: &mut Watch,
    (exports, shown): (&mut Exports, Shown),
    (signals, time): &(Signals, Option<u64>),
    out: &mut dyn Write,
    note: &mut dyn FnMut(&str),
) -> Result<Option<Found>, Failure> {
    let mut found = Found::default();
    let began = nanos(ClockId::Monotonic);
    let mut drawn: Option<u64> = None;
    loop {
        let (now, since_1970) = (nanos(ClockId::Monotonic), nanos(ClockId::Realtime));
        let is_over = signals.ask_to_stop() || time.is_some_and(|time| now - began >= time);
        let rows = match is_over {
            true => host.finish(),
            false => host.poll(POLL_MS).map_err(|error| Failure::Failed(format!("watch: {error}")))?,
        };
        found.add(&rows);
        found.counts = host.counts();
        exports.show(&found, since_1970, is_over, note);
        if let Some(failed) =
            exports.captured.as_mut().and_then(|captured| captured.observe(host.open(), &rows, since_1970))
        {
            note(&failed);
        }
        match shown {
            Shown::Lines => rows.iter().try_for_each(|one| writeln!(out, "{}", line(one)))?,
            Shown::Json => rows.iter().try_for_each(|one| write_json(out, one))?,
            Shown::View if drawn.is_none_or(|at| now - at >= REDRAWN) => {
                let size = rustix::termios::tcgetwinsize(io::stdout()).map(|size| (size.ws_col, size.ws_row));
                let (columns, rows) = size.ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(TERMINAL);
                let size = (usize::from(columns), usize::from(rows));
                out.write_all(view::screen(&found, since_1970 as f64 / 1e9, size).as_bytes())?;
                drawn = Some(now);
            }
            Shown::View | Shown::Nothing => {}
        }
        // A reader that closes the pipe has seen enough.
        if let Err(error) = out.flush() {
            unless_closed(Err(error))?;
            return Ok(None);
        }
        if is_over {
            return Ok(Some(found));
        }
    }
}

/// What is shown while it watches.
#[derive(Clone, Copy)]
enum Shown {
    Lines,
    Json,
    View,
    Nothing,
}

impl Shown {
    fn new(options: &Options) -> Result<Self, Usage> {
        let [view, json, quiet] = SWITCHES.map(|name| options.has(name));
        if view && (json || quiet) {
            return Err(Usage("--view: expected neither --json nor --quiet beside it".to_owned()));
        }
        if view && !rustix::termios::isatty(io::stdout()) {
            return Err(Usage("--view: standard output is no terminal".to_owned()));
        }
        Ok(match () {
            () if view => Self::View,
            () if quiet => Self::Nothing,
            () if json => Self::Json,
            () => Self::Lines,
        })
    }
}

struct Exports {
    scraped: Option<Scraped>,
    otlp: Option<Otlp>,
    captured: Option<Captured>,
}

impl Exports {
    fn show(&mut self, found: &Found, since_1970: u64, is_end: bool, note: &mut dyn FnMut(&str)) {
        if let Some(scraped) = &self.scraped {
            scraped.show(found);
        }
        if let Some(failed) = self.otlp.as_mut().and_then(|otlp| otlp.export(found, since_1970, is_end)) {
            note(&failed);
        }
    }
}

/// Returns the inode of a file of a namespace, or of the folder of a control group.
fn inode(options: &Options, name: &str) -> Result<Option<u64>, Usage> {
    let found = |path| std::fs::metadata(path).map_err(|error| Usage(format!("{name} {path}: {error}")));
    options.text(name).map(|path| found(path).map(|file| file.ino())).transpose()
}

/// Writes a retransmission as a line of JSON.
///
/// # Errors
/// Those of `out`.
pub fn write_json(out: &mut dyn Write, one: &Judged) -> io::Result<()> {
    marked(out, "watch", one)
}

/// Writes a line of JSON with the name and the version of its schema.
fn marked(out: &mut dyn Write, schema: &str, content: &impl Serialize) -> io::Result<()> {
    #[derive(Serialize)]
    struct Marked<'a, T> {
        schema: &'a str,
        version: u32,
        #[serde(flatten)]
        content: &'a T,
    }
    serde_json::to_writer(&mut *out, &Marked { schema, version: VERSION, content })?;
    out.write_all(b"\n")
}

fn summary(found: &Found, top: usize, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let summary = found.summary(top);
    let written = match json {
        true => marked(out, "watch-summary", &summary),
        false => {
            let mut lines = vec![view::totals(&summary)];
            lines.extend(Some(view::dropped(&summary)).filter(|line| !line.is_empty()));
            if !summary.worst.is_empty() {
                lines.extend(view::table(&summary.worst, None));
            }
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))
        }
    };
    unless_closed(written.and_then(|()| out.flush()))?;
    Ok(())
}

/// Returns a retransmission in words; its time of day is UTC.
fn line(one: &Judged) -> String {
    let undone = match (one.kernel_undid, one.undone_after_ms) {
        (Some(true), Some(after)) => format!("; the kernel undid it after {after:.0} ms"),
        _ => String::new(),
    };
    let millis = (one.time_s * 1000.0) as u64 % 86_400_000;
    let [hours, minutes, seconds] = [millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60];
    let at = format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", millis % 1000);
    let [cause, verdict, confidence] = [word(&one.cause), word(&one.verdict), word(&one.confidence)];
    format!(
        "{at} {} > {} seq {} {} bytes, {cause}: {verdict} ({confidence}), {}{undone}",
        one.local, one.remote, one.seq, one.bytes, one.reason
    )
}

#[cfg(test)]
mod tests {
    use super::found::tests::row;
    use super::*;

    #[test]
    fn a_line_names_cause_verdict_and_undo() {
        assert_eq!(
            line(&row()),
            "00:00:01.500 10.0.0.1:80 > 10.0.0.2:4000 seq 1 100 bytes, tlp: spurious (certain), because; \
             the kernel undid it after 3 ms"
        );
        assert!(line(&Judged { kernel_undid: None, undone_after_ms: None, ..row() }).ends_with("because"));
    }

    #[test]
    fn a_line_of_json_begins_with_its_schema() {
        let mut out = Vec::new();
        marked(&mut out, "watch", &row()).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("{\"schema\":\"watch\",\"version\":1,\"time_s\":1.5,"), "{text}");
    }

    #[test]
    fn a_wrong_command_line_is_refused_in_one_line() {
        let said = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let code = main(&words, &mut out, &mut err);
            (code, String::from_utf8(err).unwrap())
        };
        for (words, expected) in [
            (&["--port", "65536"][..], "eifel: --port 65536: expected a port, at most 65535\n"),
            (&["--seconds", "0"], "eifel: --seconds 0: expected seconds, more than 0\n"),
            (&["443"], "eifel: watch: 443: expected an option; see --help\n"),
            (&["--from", "x"], "eifel: --from x: expected counters\n"),
            (
                &["--from", "counters", "--port", "1"],
                "eifel: --port: --from counters has only --seconds and --json beside it\n",
            ),
            (&["--pcapng", "/nowhere/x"], "eifel: --pcapng /nowhere/x: No such file or directory (os error 2)\n"),
            (&["--view", "--json"], "eifel: --view: expected neither --json nor --quiet beside it\n"),
            (&["--namespace", "/nowhere"], "eifel: --namespace /nowhere: No such file or directory (os error 2)\n"),
        ] {
            assert_eq!(said(words), (BAD_INPUT, expected.to_owned()));
        }
        assert_eq!(said(&["--fail-if", "often"]).0, BAD_INPUT);
    }
}
