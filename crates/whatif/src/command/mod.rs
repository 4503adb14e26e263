//! The command `whatif` of the program `eifel`.

mod text;

use std::io::Write;
use std::path::Path;

use crate::found::{Error, Found, way_on};
use crate::path::Refusal;
use crate::whatif::{RequestedSender, WhatIf, whatif};
use eifel_command::page::Screen;
use eifel_command::{BAD_INPUT, FAILED, OK, Options, Usage, unless_closed};
use serde::Serialize;
use serde_json::{Value, json};

const USAGE: &str = "\
Runs other senders over the path that a capture shows.

usage: eifel whatif [OPTIONS] FILE

  FILE                  a capture made at the sender of the data
  --set KEY=VALUE       a change, as sender.rto=linux, tcp.sack=false or point_to_point.queue.packets=50; all make one
                        sender
  --also KEY=VALUE,...  another sender to compare; may be repeated
  --connection N        the number of the connection (default: the one with most data)
  --draws N             paths drawn from what the capture leaves open (default: 100)
  --seed S              the seed of these draws (default: 1)
  --json                print JSON to standard output

example: eifel whatif capture.pcapng --set sender.detect=eifel-timestamps --set sender.respond=rfc4015
";

/// The version of the schema of `--json`.
const VERSION: u32 = 1;
const DRAWS: u32 = 100;
const SEED: u64 = 1;

/// Hears what is done of which work, `bytes` read or `paths` run, and how much there is. An error ends the
/// command.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64) -> Result<(), String>;

/// Runs the command with its `words`, and returns the exit code. Results go to `out` as they fit `screen`,
/// and what is wrong to `err`.
pub fn main(
    words: &[String],
    screen: Screen,
    (out, err): (&mut dyn Write, &mut dyn Write),
    progress: Progress<'_>,
) -> u8 {
    let done = Asked::read(words).and_then(|asked| match asked {
        None => Ok(Done { text: USAGE.to_owned(), ..Done::default() }),
        Some(asked) => asked.answer(screen, progress),
    });
    let mut done = done.unwrap_or_else(|Usage(what)| Done { notes: vec![what], code: BAD_INPUT, ..Done::default() });
    if let Err(error) = unless_closed(out.write_all(done.text.as_bytes())) {
        done = Done { notes: vec![format!("standard output: {error}")], code: FAILED, ..done };
    }
    // Standard error may be closed; then nobody can be told.
    done.notes.iter().for_each(|note| _ = writeln!(err, "eifel: {note}"));
    done.code
}

/// What the command prints, and how it ends.
#[derive(Default)]
struct Done {
    text: String,
    notes: Vec<String>,
    code: u8,
}

/// A parsed command line.
struct Asked {
    file: String,
    senders: Vec<RequestedSender>,
    connection: Option<u64>,
    draws: u32,
    seed: u64,
    json: bool,
}

impl Asked {
    /// Returns `None` if help is asked for.
    fn read(words: &[String]) -> Result<Option<Self>, Usage> {
        let valued = ["--set", "--also", "--connection", "--draws", "--seed"];
        let Some(options) = Options::read(words, &valued, &["--json"])? else { return Ok(None) };
        let [file] = &options.rest[..] else {
            let what = if options.rest.is_empty() { "no file" } else { "expected one file" };
            return Err(Usage(format!("whatif: {what}; see --help")));
        };
        let draws = options.value("--draws", "a number of paths, from 1")?.unwrap_or(DRAWS);
        if draws == 0 {
            return Err(Usage("--draws 0: expected a number of paths, from 1".to_owned()));
        }
        Ok(Some(Self {
            file: file.clone(),
            senders: senders(&options)?,
            connection: options.value("--connection", "the number of a connection")?,
            draws,
            seed: options.value("--seed", "a whole number from 0")?.unwrap_or(SEED),
            json: options.has("--json"),
        }))
    }

    /// Predicts. Fails if the replay of the captured sender does not agree with the capture.
    fn answer(&self, screen: Screen, progress: Progress<'_>) -> Result<Done, Usage> {
        let usage = |Refusal(why)| Usage(why);
        let mut read = |done, all| progress("bytes", done, all);
        let found = match Found::of_file(Path::new(&self.file), self.connection, &mut read) {
            Ok(found) => found,
            Err(Error::Capture(why)) => return Err(Usage(why)),
            Err(Error::Path(Refusal(why))) => return Ok(self.refused(why, String::new(), None)),
        };
        let scenario = found.scenario();
        self.senders.iter().try_for_each(|sender| sender.check(&scenario)).map_err(usage)?;
        let refused = found.refused();
        let predicted = match refused {
            Some(_) => None,
            None => {
                let mut run = |done| progress("paths", u64::from(done), u64::from(self.draws));
                let draws = (self.draws, self.seed);
                // A change of the path that no drawn path accepts is refused.
                Some(found.whatif(&self.senders, draws, &mut run).map_err(usage)?)
            }
        };
        let text = if self.json { String::new() } else { found.text(predicted.as_ref(), screen) };
        // Keys are in the order of the alphabet, as everywhere in `--json`.
        let shown = Some((found.json(), predicted.map(|predicted| json!(predicted))));
        Ok(match refused {
            Some(why) => self.refused(why, text, shown),
            None if self.json => Done { text: self.json(None, shown), ..Done::default() },
            None => Done { text, code: OK, ..Done::default() },
        })
    }

    /// Says why there is no prediction, and what the user can do.
    fn refused(&self, why: String, text: String, shown: Option<(Value, Option<Value>)>) -> Done {
        let (file, way) = (&self.file, way_on(&why, &self.file));
        let text = if self.json { self.json(Some((&why, &way)), shown) } else { text };
        let way = format!("what you can do: {way}; `eifel analyze {file}` judges its retransmissions");
        Done { text, notes: vec![format!("no prediction: {why}"), way], code: FAILED }
    }

    fn json(&self, refused: Option<(&str, &str)>, shown: Option<(Value, Option<Value>)>) -> String {
        let (found, prediction) = shown.map_or((None, None), |(found, prediction)| (Some(found), prediction));
        let printed = Printed {
            schema: "whatif",
            version: VERSION,
            found,
            refused: refused.map(|(why, _)| why),
            way_on: refused.map(|(_, way)| way),
            prediction,
        };
        format!("{}\n", serde_json::to_string_pretty(&printed).unwrap_or_default())
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    schema: &'a str,
    version: u32,
    #[serde(flatten)]
    found: Option<Value>,
    refused: Option<&'a str>,
    way_on: Option<&'a str>,
    prediction: Option<Value>,
}

impl Found {
    /// Describes the path, the replay and, if there is one, the prediction.
    pub fn text(&self, predicted: Option<&WhatIf>, screen: Screen) -> String {
        text::text(self, predicted, screen)
    }

    /// Runs the captured sender and the senders of `asked` over drawn paths, as many as asked.
    ///
    /// # Errors
    /// A change that the simulator refuses, or the error of `progress`.
    pub fn whatif(
        &self,
        asked: &[RequestedSender],
        draws: (u32, u64),
        progress: &mut dyn FnMut(u32) -> Result<(), String>,
    ) -> Result<WhatIf, Refusal> {
        whatif((&self.captured, &self.path, &self.replay), asked, draws, progress)
    }
}

/// Returns the requested senders: all `--set` together, and each `--also`. A sender counts once.
fn senders(options: &Options) -> Result<Vec<RequestedSender>, Usage> {
    let mut lists = vec![options.all("--set").collect::<Vec<_>>()];
    lists.extend(options.all("--also").map(|also| also.split(',').collect()));
    let mut senders: Vec<RequestedSender> = Vec::new();
    for changes in lists.iter().filter(|changes| !changes.is_empty()) {
        let sender = RequestedSender::parse(changes).map_err(|Refusal(why)| Usage(why))?;
        if senders.iter().all(|other| other.name != sender.name) {
            senders.push(sender);
        }
    }
    match senders.is_empty() {
        true => Err(Usage("expected a change to ask about, as --set sender.detect=none".to_owned())),
        false => Ok(senders),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> (u8, String, String) {
        eifel_testkit::command::answer(words, |words, out, err| {
            main(words, Screen::default(), (out, err), &mut |_, _, _| Ok(()))
        })
    }

    #[test]
    fn a_wrong_command_line_is_refused_in_one_line() {
        for (words, expected) in [
            (&[][..], "whatif: no file; see --help"),
            (&["a", "b", "--set", "seed=1"], "whatif: expected one file; see --help"),
            (&["a"], "expected a change to ask about, as --set sender.detect=none"),
            (&["a", "--draws", "0"], "--draws 0: expected a number of paths, from 1"),
            (&["a", "--draws", "-1"], "--draws -1: expected a number of paths, from 1"),
            (&["a", "--set", "seed=1", "--seed=-1"], "--seed -1: expected a whole number from 0"),
            (&["a", "--set", "seed=1", "--connection", "x"], "--connection x: expected the number of a connection"),
            (&["a", "--zzz"], "unknown option --zzz; see --help"),
        ] {
            assert_eq!(said(words), (BAD_INPUT, String::new(), format!("eifel: {expected}\n")));
        }
        let (code, _, err) = said(&["nowhere.pcap", "--set", "sender.detect=none"]);
        assert!(code == BAD_INPUT && err.starts_with("eifel: nowhere.pcap: ") && err.lines().count() == 1, "{err}");
        assert_eq!(said(&["--help"]), (OK, USAGE.to_owned(), String::new()));
    }

    #[test]
    fn all_settings_make_one_sender_and_each_other_list_another() {
        let words =
            ["x", "--set", "sender.detect=none", "--also", "seed=2,tcp.sack=false", "--set=seed=1", "--also", "seed=2"];
        let words = words.map(str::to_owned);
        let asked = Asked::read(&words).unwrap().unwrap();
        let names: Vec<&str> = asked.senders.iter().map(|sender| sender.name.as_str()).collect();
        assert_eq!(names, ["sender.detect=none seed=1", "seed=2 tcp.sack=false", "seed=2"]);
    }

    #[test]
    fn a_refusal_says_what_to_do_in_words_and_for_programs() {
        let words = ["x.pcap", "--set", "seed=1", "--json"].map(str::to_owned);
        let asked = Asked::read(&words).unwrap().unwrap();
        let done = asked.refused("x.pcap: too few ACKs that show".to_owned(), String::new(), None);
        let way = "capture a longer transfer, or take another connection by --connection N";
        assert_eq!(
            (done.code, done.notes),
            (
                FAILED,
                vec![
                    "no prediction: x.pcap: too few ACKs that show".to_owned(),
                    format!("what you can do: {way}; `eifel analyze x.pcap` judges its retransmissions"),
                ]
            )
        );
        let expected = format!(
            "{{\n  \"schema\": \"whatif\",\n  \"version\": 1,\n  \"refused\": \"x.pcap: too few ACKs that show\",\n  \
             \"way_on\": \"{way}\",\n  \"prediction\": null\n}}\n"
        );
        assert_eq!(done.text, expected);
    }
}
