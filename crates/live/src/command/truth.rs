//! `truth`: records this kernel's TCP with the truth about each retransmission.

use super::setup::namespace;
use super::{Failure, OK, print};
use crate::system::Error;
use crate::system::signals;
use crate::truth::draw::{Draw, Traffic};
use crate::truth::record::{Beside, PLACES, record};
use eifel_command::Options;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const USAGE: &str = "\
Records TCP connections of this kernel through the box, as drawn scenarios disturb them: captures at the sender, on the path
and at the receiver, and for each the truth about every retransmission. Needs root. An interrupted call goes on where it was.

usage: eifel live truth [OPTIONS] FOLDER

  --count N          recordings (default: 30)
  --first N          the number of the first one (default: 0)
  --seed S           the seed of all draws (default: 1)
  --at-once N        recordings at the same time (default: 3)
  --congestion NAME  cubic, reno or bbr in every recording, rather than drawn
  --watch            also keep what eifel watch says of the sender, in NAME.watch.json

FOLDER gets NAME.PLACE.pcapng and NAME.PLACE.truth.csv for the places sender, between and receiver, and manifest.json: the
scenario, the settings and the counters of each recording.

example: eifel live truth --count 30 --seed 7 out/truth
";

/// The first port that a recording listens at. Each has its own, by which its sockets are known.
const PORT: u16 = 20_000;
/// The most recordings: their numbers have four digits.
const MOST: u32 = 10_000;
const MANIFEST: &str = "manifest.json";

/// Which recordings a command makes, by the options of its command line.
pub(super) struct Drawn {
    pub(super) folder: String,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) seed: u64,
    pub(super) at_once: usize,
}

impl Drawn {
    /// Reads a command line, which may have options of its own: those with a value, and switches. Returns `None`
    /// if help is asked for.
    pub(super) fn read(words: &[String], own: (&[&str], &[&str])) -> Result<Option<(Self, Options)>, Failure> {
        let valued = [&["--count", "--first", "--seed", "--at-once"], own.0].concat();
        let Some(options) = Options::read(words, &valued, own.1)? else { return Ok(None) };
        let [folder] = &options.rest[..] else {
            return Err(Failure::Usage("one FOLDER is needed; see --help".to_owned()));
        };
        let count: u32 = options.value("--count", "a whole number")?.unwrap_or(30);
        let first: u32 = options.value("--first", "a whole number")?.unwrap_or(0);
        let seed: u64 = options.value("--seed", "a whole number")?.unwrap_or(1);
        let at_once: usize = options.value("--at-once", "a whole number")?.unwrap_or(3);
        if count == 0 || at_once == 0 || first.checked_add(count).is_none_or(|end| end > MOST) {
            return Err(Failure::Usage(format!(
                "--count, --first, --at-once: expected 1 or more, and recordings 0 to {MOST}"
            )));
        }
        Ok(Some((Self { folder: folder.clone(), first, count, seed, at_once }, options)))
    }
}

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some((drawn, options)) = Drawn::read(words, (&["--congestion"], &["--watch"]))? else {
        return print(USAGE).map(|()| OK);
    };
    let Drawn { folder, first, count, seed, at_once } = drawn;
    let congestion = options.text("--congestion").map(congestion).transpose()?;
    let beside = if options.has("--watch") { Beside::Watch } else { Beside::Nothing };
    // Missing rights are one line, before anything is written.
    drop(namespace()?);
    let folder = Path::new(&folder);
    let mut manifest = Manifest::open(folder, seed, congestion)?;
    let draw = |number| {
        let drawn = Draw::new(seed, number);
        let traffic = Traffic { congestion: congestion.unwrap_or(drawn.traffic.congestion), ..drawn.traffic };
        Draw { traffic, ..drawn }
    };
    let missing: Vec<Draw> = (first..first + count).map(draw).filter(|draw| !manifest.has(draw, beside)).collect();
    let shared = Mutex::new(&mut manifest);
    each(&missing, at_once, |draw| {
        let entry = record(draw, folder, port(draw), beside)?;
        eprintln!("{}: {} retransmissions", draw.name, entry["retransmissions"]);
        shared.lock().map_or(Ok(()), |mut manifest| manifest.add(folder, entry))
    })?;
    print(&format!("{}\n", manifest.summary())).map(|()| OK)
}

fn congestion(name: &str) -> Result<&'static str, Failure> {
    let known = ["cubic", "reno", "bbr"].into_iter().find(|known| *known == name);
    known.ok_or_else(|| Failure::Usage(format!("--congestion {name}: expected cubic, reno or bbr")))
}

/// Returns the port that a recording listens at.
pub(super) fn port(draw: &Draw) -> u16 {
    PORT + draw.name[..4].parse().unwrap_or(0)
}

/// Makes recordings, `at_once` at the same time, until all are made, one fails, or a signal asks to
/// stop.
pub(super) fn each(
    draws: &[Draw],
    at_once: usize,
    make: impl Fn(&Draw) -> Result<(), Error> + Sync,
) -> Result<(), Failure> {
    let (next, failed) = (AtomicU32::new(0), Mutex::new(None));
    let signals = signals()?;
    thread::scope(|scope| {
        for _ in 0..at_once.min(draws.len()) {
            scope.spawn(|| {
                while let Some(draw) = draws.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    if signals.ask_to_stop() || failed.lock().is_ok_and(|failed| failed.is_some()) {
                        return;
                    }
                    if let (Err(error), Ok(mut failed)) = (make(draw), failed.lock()) {
                        let error = Error::new(format!("{}: {}", draw.name, error.tried), &error.cause, error.advice);
                        failed.get_or_insert(error);
                    }
                }
            });
        }
    });
    match failed.into_inner() {
        Ok(Some(error)) => Err(error.into()),
        _ if signals.ask_to_stop() => Err(Error::new("record", &"interrupted; the same call goes on", "").into()),
        _ => Ok(()),
    }
}

/// The recordings of a folder, by name.
struct Manifest {
    seed: u64,
    /// That of every recording; `None` if it is drawn.
    congestion: Option<&'static str>,
    recordings: BTreeMap<String, Value>,
}

impl Manifest {
    /// Reads the manifest of the folder, or begins one.
    fn open(folder: &Path, seed: u64, congestion: Option<&'static str>) -> Result<Self, Error> {
        let path = folder.join(MANIFEST);
        let failed = |cause: &dyn std::fmt::Display| Error::new(path.display().to_string(), cause, "");
        fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { seed, congestion, recordings: BTreeMap::new() });
            }
            Err(error) => return Err(failed(&error)),
        };
        let read: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
        if read["seed"] != seed {
            return Err(failed(&format!(
                "recordings of the seed {}; expected {seed}, or another folder",
                read["seed"]
            )));
        }
        if read["congestion"].as_str() != congestion {
            return Err(failed(&"recordings with another --congestion; expected the same, or another folder"));
        }
        let recordings = read["recordings"].as_array().into_iter().flatten();
        let named = recordings.filter_map(|one| Some((one["name"].as_str()?.to_owned(), one.clone())));
        Ok(Self { seed, congestion, recordings: named.collect() })
    }

    fn has(&self, draw: &Draw, beside: Beside) -> bool {
        self.recordings.get(&draw.name).is_some_and(|one| beside != Beside::Watch || one["watch"].is_object())
    }

    fn add(&mut self, folder: &Path, entry: Value) -> Result<(), Error> {
        self.recordings.insert(entry["name"].as_str().unwrap_or_default().to_owned(), entry);
        let document = json!({
            "version": 1,
            "kernel": fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
            "seed": self.seed,
            "congestion": self.congestion,
            "places": PLACES,
            "recordings": self.recordings.values().collect::<Vec<_>>(),
        });
        // A call that is killed leaves the old manifest or the new one.
        let (path, new) = (folder.join(MANIFEST), folder.join(format!("{MANIFEST}.new")));
        let failed = |error: std::io::Error| Error::new(path.display().to_string(), &error, "");
        fs::write(&new, format!("{document:#}\n")).map_err(failed)?;
        fs::rename(&new, &path).map_err(failed)
    }

    fn summary(&self) -> String {
        let sum = |name: &str| self.recordings.values().filter_map(|one| one[name].as_u64()).sum::<u64>();
        let mut text = format!(
            "{} recordings: {} retransmissions, {} of them spurious",
            self.recordings.len(),
            sum("retransmissions"),
            sum("spurious")
        );
        let watched: Vec<&Value> = self.recordings.values().filter(|one| one["watch"].is_object()).collect();
        if !watched.is_empty() {
            let equal = watched.iter().filter(|one| has_causes_of_counters(one)).count();
            let all = watched.len();
            text += &format!("; causes of the watch equal the kernel's counters in {equal} of {all}");
        }
        text
    }
}

/// Returns whether a watch named each cause as often as the kernel counted it.
fn has_causes_of_counters(recording: &Value) -> bool {
    let counted = |name: &str| recording["counters"][name].as_u64().unwrap_or_default();
    let named = |name: &str| recording["watch"][name].as_u64().unwrap_or_default();
    let syn = counted("TCPSynRetrans");
    let (timeouts, slow_start, fast) =
        (counted("TCPTimeouts"), counted("TCPSlowStartRetrans"), counted("TCPFastRetrans"));
    // Of probes the kernel counts those of new data too, which are no retransmissions.
    let probes = counted("RetransSegs").checked_sub(timeouts + slow_start + fast);
    named("rto") + syn == timeouts
        && named("syn") == syn
        && named("loss") == slow_start
        && named("fast") + named("rack-timer") == fast
        && Some(named("tlp")) == probes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_congestion_control_is_refused() {
        assert!(congestion("bbr").is_ok_and(|name| name == "bbr"));
        let Err(Failure::Usage(said)) = congestion("vegas") else { panic!("not refused") };
        assert_eq!(said, "--congestion vegas: expected cubic, reno or bbr");
    }

    #[test]
    fn causes_of_a_watch_are_compared_with_the_kernels_counters() {
        let recording = |probes: u64| {
            json!({
                "watch": { "syn": 1, "rto": 2, "loss": 3, "fast": 4, "rack-timer": 1, "tlp": probes },
                "counters": {
                    "RetransSegs": 13,
                    "TCPSynRetrans": 1,
                    "TCPTimeouts": 3,
                    "TCPSlowStartRetrans": 3,
                    "TCPFastRetrans": 5,
                    // One of new data.
                    "TCPLossProbes": 3,
                },
            })
        };
        assert!(has_causes_of_counters(&recording(2)));
        assert!(!has_causes_of_counters(&recording(3)));
    }
}
