//! The command `run` of the program `eifel`.

mod means;
mod runs;
mod table;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::scenario::change::{self, said_of_changed};
use crate::scenario::{Scenario, document};
use eifel_command::page::{Page, Screen};
use eifel_command::{BAD_INPUT, CommandLine, Declared, FAILED, Kind, OK, Usage, unless_closed};
use means::Mean;
pub use means::t_quantile;
use runs::Means;
pub use runs::{Numbers, Ran, numbers_of};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use table::Flow;

/// The command line.
pub const RUN: CommandLine = CommandLine {
    name: "run",
    summary: "Runs a scenario, and says what became of each flow.",
    words: ("SCENARIO.toml", "the scenario file; - for standard input"),
    options: &[
        Declared::switch("--json", "print JSON to standard output"),
        Declared::new("--repetitions", "N", Kind::Positive, "the number of repetitions (default: the scenario's)"),
        Declared::new("--seed", "S", Kind::Natural, "the seed (default: the scenario's)"),
        Declared::new(
            "--set",
            "KEY.PATH=VALUE",
            Kind::Repeated,
            "set a key to another value; entries of lists by number or name; may be repeated",
        ),
        Declared::new("--record", "FOLDER", Kind::Folder, "write every table (Parquet), captures and a manifest there")
            .python(),
        Declared::new(
            "--tables",
            "NAMES",
            Kind::Word,
            "the tables that --record writes, with commas between, or none (default: all)",
        )
        .python(),
        Declared::switch("--csv", "--record writes each table as CSV too").python(),
        Declared::switch("--payload", "captures hold all bytes, and not the headers alone").python(),
        Declared::new("--pcap", "FILE", Kind::File("pcapng"), "write a pcapng as captured at the flow's sender")
            .python(),
        Declared::new(
            "--plot",
            "FILE",
            Kind::FileByEnding(&["PNG", "SVG", "PDF", "xplot", "HTML"]),
            "draw the run: .png, .svg, .pdf, .xpl for xplot, or .html with zoom",
        )
        .python(),
        Declared::new("--repetition", "N", Kind::Natural, "the repetition to record and draw, from 0 (default: 0)"),
        Declared::new("--flow", "NAME", Kind::Word, "the flow that is captured and drawn, or all (default: the first)")
            .python(),
        Declared::switch("--flows", "show each flow of a group that the scenario repeats"),
        Declared::switch(
            "--verbose",
            "show every number; the Python package adds the detectors' verdicts and queueing delays",
        ),
        Declared::new("--jobs", "N", Kind::Positive, "threads (default: all cores)"),
    ],
    python: "records in Parquet and CSV, captures, pictures, and with -v the detectors' verdicts and queueing delays.",
    example: "eifel run scenario.toml --repetitions 20 --set flow.main.sender.respond=option-4",
};

/// The version of the schema of `--json`.
const VERSION: u32 = 1;
/// The most bytes in a scenario. The limit catches devices that never end.
const MOST_BYTES: u64 = 64_000_000;

/// Hears how many runs are done, and of how many. It is called again while none ends. An error ends the
/// command.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> Result<(), String>;

/// A scenario's text, and the path at which its relative paths begin.
#[derive(Clone, Debug)]
pub struct Source {
    pub text: String,
    pub origin: PathBuf,
    /// The repetitions that the caller has run, as for a recording. They are not run again.
    pub ran: Ran,
}

/// Runs the command with its `words`, and returns the exit code. Results go to `out` as they fit `screen`,
/// and what is wrong to `err`. A caller that has read the scenario already gives it as `source`.
pub fn main(
    words: &[String],
    source: Option<Source>,
    screen: Screen,
    (out, err): (&mut dyn Write, &mut dyn Write),
    progress: Progress<'_>,
) -> u8 {
    let is_alone = source.is_none();
    let done = Asked::read(words).map_err(refused).and_then(|asked| match asked {
        None => Ok(RUN.usage()),
        Some(asked) => {
            let source = source.map_or_else(|| asked.source().map_err(refused), Ok)?;
            asked.answer(&source, screen, is_alone, progress)
        }
    });
    let (text, failure) = match done {
        Ok(text) => (text, None),
        Err(failure) => (String::new(), Some(failure)),
    };
    let written = unless_closed(out.write_all(text.as_bytes()));
    let failure = written.err().map(|error| (FAILED, format!("standard output: {error}"))).or(failure);
    let Some((code, what)) = failure else { return OK };
    // Standard error may be closed; then nobody can be told.
    _ = writeln!(err, "eifel: {what}");
    code
}

/// An exit code, and what is wrong.
type Failure = (u8, String);

fn refused(Usage(what): Usage) -> Failure {
    (BAD_INPUT, what)
}

/// A parsed command line.
struct Asked {
    file: String,
    settings: Vec<(String, Value)>,
    repetitions: Option<u32>,
    repetition: Option<u32>,
    jobs: Option<u32>,
    json: bool,
    unfold: bool,
    verbose: bool,
}

impl Asked {
    /// Returns `None` if help is asked for.
    fn read(words: &[String]) -> Result<Option<Self>, Usage> {
        let Some(options) = RUN.read(words)? else { return Ok(None) };
        let [file] = &options.rest[..] else {
            let what = if options.rest.is_empty() { "no scenario" } else { "expected one scenario" };
            return Err(Usage(format!("run: {what}; see --help")));
        };
        let mut settings = options.all("--set").map(change::setting).collect::<Result<Vec<_>, _>>().map_err(Usage)?;
        if let Some(seed) = options.value::<u64>("--seed", "a whole number from 0")? {
            settings.push(("seed".to_owned(), json!(seed)));
        }
        let count = |name: &str, least| CommandLine::count(&options, name, least);
        Ok(Some(Self {
            file: file.clone(),
            settings,
            repetitions: count("--repetitions", 1)?,
            repetition: count("--repetition", 0)?,
            jobs: count("--jobs", 1)?,
            json: options.has("--json"),
            unfold: options.has("--flows"),
            verbose: options.has("--verbose"),
        }))
    }

    /// Reads the scenario, with the changed keys.
    fn source(&self) -> Result<Source, Usage> {
        let (name, origin) = match self.file.as_str() {
            "-" => ("standard input", PathBuf::from("standard input")),
            file => (file, PathBuf::from(file)),
        };
        let text = read_text(name, &self.file)?;
        let plain = document(&text, &origin).map_err(|error| Usage(error.to_string()))?;
        let keys: Map<String, Value> = serde_json::from_str(&plain).unwrap_or_default();
        if keys.contains_key("scenario") && !keys.contains_key("flow") {
            let expected = format!("expected flows, or `eifel sweep {name}`");
            return Err(Usage(format!("{name}: this is a sweep (it has scenario), and no scenario; {expected}")));
        }
        Scenario::parse(&text, &origin).map_err(|error| Usage(error.to_string()))?;
        if self.settings.is_empty() {
            return Ok(Source { text, origin, ran: Ran::new() });
        }
        let text = change::changed(&text, &origin, &self.settings).map_err(Usage)?;
        let named = format!("{name}, as changed");
        Scenario::parse(&text, &origin).map_err(|error| Usage(said_of_changed(&error, &named)))?;
        Ok(Source { text, origin, ran: Ran::new() })
    }

    /// Runs the scenario, and says what became of its flows.
    fn answer(
        &self,
        source: &Source,
        screen: Screen,
        is_alone: bool,
        progress: Progress<'_>,
    ) -> Result<String, Failure> {
        let scenario = Scenario::parse(&source.text, &source.origin).map_err(|error| (BAD_INPUT, error.to_string()))?;
        let repetitions = self.repetitions.unwrap_or(scenario.repetitions);
        let first = self.repetition.unwrap_or(0);
        if repetitions > 1 && self.repetition.is_some() {
            let what = format!("--repetition {first}: there are {repetitions} repetitions; expected --repetitions 1");
            return Err((BAD_INPUT, what));
        }
        let json = document(&source.text, &source.origin).unwrap_or_default();
        let settings: Value = serde_json::from_str(&json).unwrap_or_default();
        let flows = flows(&settings);
        let seed = scenario.seed;
        let numbers = (seed, repetitions, first);
        let name = &source.origin;
        let means = runs::run(scenario, (first..first.saturating_add(repetitions), &source.ran), self.jobs, progress)
            .map_err(|what| (FAILED, format!("{}: {what}", name.display())))?;
        if self.json {
            return Ok(self.json(numbers, &flows, &means));
        }
        let times = match repetitions {
            1 => String::new(),
            _ => format!(", means of {repetitions} repetitions with 95 % intervals"),
        };
        let mut page = Page::new(screen);
        page.heading(&format!("{}  seed {seed}{times}", self.file));
        table::show(&mut page, &flows, &means, (self.unfold, self.verbose));
        if let Some(shared) = fairness(&means).filter(|_| flows.len() > 1) {
            page.say(&format!("fairness {shared:.3} (Jain's index of the flows' goodput; 1 is even)"));
        }
        if is_alone && (self.verbose || are_watched(&settings)) {
            page.note("the detectors' verdicts and queueing delays are shown by the Python package's eifel");
        }
        Ok(page.into_text())
    }

    fn json(&self, (seed, repetitions, first): (u64, u32, u32), flows: &[Flow], means: &[Means]) -> String {
        let numbers = |means: &Means, of: &dyn Fn(&Mean) -> Value| {
            Json::Object(means.iter().map(|(name, mean)| (*name, Json::Plain(of(mean)))).collect())
        };
        let of_flow = |(flow, means): (&Flow, &Means)| {
            Json::Object(vec![
                ("flow", Json::Plain(json!(flow.name))),
                ("from", Json::Plain(json!(flow.from))),
                ("to", Json::Plain(json!(flow.to))),
                ("mean", numbers(means, &|mean| json!(mean.mean))),
                ("interval95", numbers(means, &|mean| json!(mean.interval()))),
            ])
        };
        let shared = fairness(means).filter(|_| flows.len() > 1);
        let printed = Json::Object(vec![
            ("schema", Json::Plain(json!(RUN.name))),
            ("version", Json::Plain(json!(VERSION))),
            ("scenario", Json::Plain(json!(self.file))),
            ("seed", Json::Plain(json!(seed))),
            ("repetition", Json::Plain(json!(if repetitions == 1 { first } else { 0 }))),
            ("repetitions", Json::Plain(json!(repetitions))),
            ("flows", Json::List(flows.iter().zip(means).map(of_flow).collect())),
            ("fairness", Json::Plain(json!(shared))),
            ("detectors", Json::Plain(Value::Null)),
            ("queueing_ms", Json::Plain(Value::Null)),
        ]);
        format!("{}\n", serde_json::to_string_pretty(&printed).unwrap_or_default())
    }
}

/// A JSON value whose objects keep the order of their keys.
enum Json {
    Plain(Value),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// Returns Jain's index of the flows' goodput: 1 if all are equal, 1/n if one of n has everything, and
/// nothing if all have nothing.
fn fairness(means: &[Means]) -> Option<f64> {
    let of = |means: &Means| means.iter().find(|(name, _)| *name == "goodput_bps").map(|(_, mean)| mean.mean);
    let shares: Vec<f64> = means.iter().filter_map(of).collect();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| shares.iter().sum::<f64>().powi(2) / (shares.len() as f64 * squares))
}

/// Returns the flows of a scenario in the engine's order. A flow that the scenario repeats has a group.
fn flows(scenario: &Value) -> Vec<Flow> {
    let entries = scenario["flow"].as_array().map_or(&[][..], Vec::as_slice);
    let mut flows = Vec::new();
    for entry in entries {
        let repeat = entry.get("repeat").and_then(Value::as_u64);
        let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        for number in 1..=repeat.unwrap_or(1) {
            let numbered = |key: &str| word(key).replace('#', &number.to_string());
            flows.push(Flow {
                name: numbered("name"),
                from: numbered("from"),
                to: numbered("to"),
                group: repeat.map(|_| word("name").to_owned()),
            });
        }
    }
    flows
}

/// Returns whether a scenario has observers, whose verdicts are then its purpose.
fn are_watched(scenario: &Value) -> bool {
    let flows = scenario["flow"].as_array().map_or(&[][..], Vec::as_slice);
    let observers = |of: &Value| of["sender"]["observers"].as_array().is_some_and(|list| !list.is_empty());
    observers(scenario) || flows.iter().any(observers)
}

/// Reads a file written by hand, or standard input.
fn read_text(name: &str, file: &str) -> Result<String, Usage> {
    let refused = |error: std::io::Error| {
        let said = error.to_string();
        Usage(format!("{name}: {}", said.split(" (os error").next().unwrap_or(&said)))
    };
    let mut bytes = Vec::new();
    let read = match file {
        "-" => std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes),
        file => std::fs::File::open(Path::new(file)).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(refused)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Usage(format!("{name}: more than {} MB; expected a file written by hand", MOST_BYTES / 1_000_000)));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes);
    let at =
        |error: std::str::Utf8Error| Usage(format!("{name}: not a text file in UTF-8 (byte {})", error.valid_up_to()));
    text.map(str::to_owned).map_err(at)
}

#[cfg(test)]
mod tests;
