//! `compare`: one scenario simulated and live, side by side.
//!
//! Live, both ends of the scenario's first flow are hosts of ours, each behind the kernel of a namespace of its own, and the box
//! stands between the two kernels.

use super::options::Options;
use super::place::{End, Role, namespace, scenario, secret};
use super::{FAILED, Failure, OK, print};
use crate::apps::Amount;
use crate::apps::answer::{self, Answer};
use crate::apps::call::{self, Call};
use crate::hiccup::Hiccup;
use crate::hiccup::run::{Control, Relay, Report};
use crate::recording::Recording;
use crate::side::Side;
use crate::station::Station;
use crate::system::Error;
use crate::system::clock::Clock;
use eifel_base::time::Duration;
use eifel_sim::record::{Record, Tables};
use eifel_sim::scenario::{Scenario, StreamApplication, Traffic};
use serde_json::{Value, json};
use std::thread;

const USAGE: &str = "\
Runs the first flow of a scenario in the simulator, and then live: hosts of ours in two network namespaces, with the box between
their kernels. Compares retransmissions, verdicts, and when they happened.

usage: eifel live compare [OPTIONS] SCENARIO.toml

  --within-ms MS     exit with 1 if a time differs by more than this and the box's own lateness (default: 5)
  --json             print JSON
";

/// What is compared of a sender.
#[derive(Debug)]
struct Story {
    /// Retransmissions: segment, copy, cause, and when.
    retransmissions: Vec<((i64, i32, u8), i64)>,
    /// Verdicts: episode, detector, verdict and reason as words, and when.
    verdicts: Vec<((i32, String, String, String), i64)>,
    /// When the last transmission left.
    last_ns: i64,
}

impl Story {
    fn of(tables: &Tables) -> Self {
        let sent = &tables.transmissions;
        let again = (0..sent.t_ns.len()).filter(|&row| sent.kind[row] == 1 && sent.end[row] == 0);
        let words = &tables.dictionaries;
        let said = &tables.verdicts;
        let word = |words: &[String], code: u8| words.get(usize::from(code)).cloned().unwrap_or_default();
        let verdict = |code: u8| {
            eifel_sim::record::codes::VERDICTS.get(usize::from(code)).copied().unwrap_or_default().to_owned()
        };
        Self {
            retransmissions: again
                .map(|row| ((sent.segment[row], sent.copy[row], sent.cause[row]), sent.t_ns[row]))
                .collect(),
            verdicts: (0..said.t_ns.len())
                .map(|row| {
                    let detector = word(&words.detectors, said.detector[row]);
                    let reason = word(&words.reasons, said.reason[row]);
                    ((said.episode[row], detector, verdict(said.verdict[row]), reason), said.t_ns[row])
                })
                .collect(),
            last_ns: sent.t_ns.last().copied().unwrap_or_default(),
        }
    }
}

/// How far two lists agree: whether they hold the same, and the largest difference in time, live later being positive.
fn difference<T: PartialEq>(simulated: &[(T, i64)], live: &[(T, i64)]) -> (bool, i64) {
    let same = simulated.len() == live.len() && simulated.iter().zip(live).all(|(a, b)| a.0 == b.0);
    let pairs = simulated.iter().zip(live).filter(|(a, b)| a.0 == b.0);
    (same, pairs.map(|(a, b)| b.1 - a.1).max_by_key(|difference| difference.abs()).unwrap_or_default())
}

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some(options) = Options::read(words, &["--within-ms"], &["--json"])? else { return print(USAGE).map(|()| OK) };
    let [file] = &options.rest[..] else {
        return Err(Failure::Usage("one SCENARIO.toml is needed; see --help".to_owned()));
    };
    let within: f64 = options.value("--within-ms", "milliseconds")?.unwrap_or(5.0);
    let scenario = scenario(file)?;
    let bytes = bytes(&scenario, file)?;
    let kept = || Record::named(["transmissions", "verdicts"]).map_err(|error| Failure::Usage(error.to_string()));
    let simulated = eifel_sim::run(&scenario, 0, kept()?).map_err(|error| Failure::Usage(error.to_string()))?;
    let (tables, report) = live(&scenario, file, bytes, kept()?)?;
    let (simulated, live) = (Story::of(&simulated.tables), Story::of(&tables));
    let (same_retransmissions, retransmissions_ns) = difference(&simulated.retransmissions, &live.retransmissions);
    let (same_verdicts, verdicts_ns) = difference(&simulated.verdicts, &live.verdicts);
    let end_ns = live.last_ns - simulated.last_ns;
    let late_ns = report.lateness.longest().as_nanos() as i64;
    let largest = [retransmissions_ns, verdicts_ns, end_ns].into_iter().map(i64::abs).max().unwrap_or_default();
    let agrees = same_retransmissions && same_verdicts && largest as f64 <= within * 1e6 + late_ns as f64;
    let ms = |nanos: i64| nanos as f64 / 1e6;
    let document = json!({
        "retransmissions": { "simulated": retransmissions(&simulated), "live": retransmissions(&live),
            "same": same_retransmissions, "largest_difference_ms": ms(retransmissions_ns) },
        "verdicts": { "simulated": verdicts(&simulated), "live": verdicts(&live),
            "same": same_verdicts, "largest_difference_ms": ms(verdicts_ns) },
        "last_transmission": { "simulated_ms": ms(simulated.last_ns), "live_ms": ms(live.last_ns),
            "difference_ms": ms(end_ns) },
        "box": { "late_us_median": report.lateness.quantile(0.5).as_nanos() as f64 / 1e3,
            "late_us_p99": report.lateness.quantile(0.99).as_nanos() as f64 / 1e3, "late_us_max": late_ns as f64 / 1e3 },
        "agrees": agrees,
    });
    show(&document, options.has("--json"))?;
    Ok(if agrees { OK } else { FAILED })
}

fn retransmissions(story: &Story) -> Value {
    let cause = |code: u8| eifel_sim::record::codes::CAUSES.get(usize::from(code)).copied().unwrap_or_default();
    let one = |&((segment, copy, code), at): &((i64, i32, u8), i64)| json!({ "segment": segment, "copy": copy, "cause": cause(code), "t_ms": at as f64 / 1e6 });
    story.retransmissions.iter().map(one).collect()
}

fn verdicts(story: &Story) -> Value {
    let one = |((episode, detector, verdict, reason), at): &((i32, String, String, String), i64)| json!({ "episode": episode, "detector": detector, "verdict": verdict, "reason": reason, "t_ms": *at as f64 / 1e6 });
    story.verdicts.iter().map(one).collect()
}

fn show(document: &Value, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return print(&format!("{document:#}\n"));
    }
    let mut text = String::new();
    for (what, words) in
        [("retransmissions", ["segment", "copy", "cause"]), ("verdicts", ["episode", "verdict", "reason"])]
    {
        let of = |world: &str| document[what][world].as_array().cloned().unwrap_or_default();
        let (simulated, live) = (of("simulated"), of("live"));
        text += &format!("{what}: {} simulated, {} live\n", simulated.len(), live.len());
        for (one, other) in simulated.iter().zip(&live) {
            let said = |one: &Value| words.map(|word| one[word].to_string()).join(" ");
            let at = |one: &Value| one["t_ms"].as_f64().unwrap_or_default();
            let live = if said(one) == said(other) { String::new() } else { format!("  live: {}", said(other)) };
            text += &format!("  {:>12.3} ms  {:>+9.3} ms  {}{live}\n", at(one), at(other) - at(one), said(one));
        }
    }
    let (last, late) = (&document["last_transmission"], &document["box"]);
    text += &format!("last transmission: {} ms, {} ms live\n", last["simulated_ms"], last["live_ms"]);
    let [median, p99, max] = ["late_us_median", "late_us_p99", "late_us_max"].map(|name| &late[name]);
    text += &format!("the box let go {median} us late in the median, {p99} at the 99th percentile, {max} at most\n");
    text += if document["agrees"] == true { "simulation and live run agree\n" } else { "they differ\n" };
    print(&text)
}

/// How much the first flow sends: a bulk transfer with an end.
fn bytes(scenario: &Scenario, file: &str) -> Result<u64, Failure> {
    match scenario.flows.first().map(|flow| &flow.traffic) {
        Some(Traffic::Stream { application: StreamApplication::Bulk { bytes: Some(bytes) }, connection })
            if connection.opening.by_segments() =>
        {
            Ok(*bytes)
        }
        _ => {
            Err(Failure::Usage(format!("{file}: the first flow has to be a bulk transfer with an end and a handshake")))
        }
    }
}

fn live(scenario: &Scenario, file: &str, bytes: u64, kept: Record) -> Result<(Tables, Report), Failure> {
    let hiccup = Hiccup::new(scenario, Vec::new()).map_err(|error| Failure::Usage(error.to_string()))?;
    let (near, far) = (namespace()?, namespace()?);
    let tuns = [Side::NEAR.device(&near, 1500, true)?, Side::FAR.device(&far, 1500, true)?];
    let random = secret()?;
    let like = Options::read(&["--like".to_owned(), file.to_owned()], &["--like"], &[])?.unwrap_or_default();
    let calls = End::of(&like, Role::Calls, random)?;
    let answers = End::of(&like, Role::Answers, [random[1], random[0]])?;
    let (near_tun, near_config) = Side::NEAR.behind(&near, random)?;
    let (far_tun, far_config) = Side::FAR.behind(&far, [random[1], random[0]])?;
    let clock = Clock::start();
    let every = Duration::from_secs(1);
    let receiver = thread::spawn(move || -> Result<(), Error> {
        let mut station = Station::new(far_config, far_tun, clock);
        station.urgent();
        let End { settings, sender } = answers;
        let plan = answer::Plan { port: PORT, settings, sender, calls: Some(1), checked: true, every };
        let begun = Answer::begin(&mut station.host, plan, Box::new(|_, _| {}));
        let mut answer = begun.map_err(|error| Error::new("listen", &error, ""))?;
        station.run(&mut answer)
    });
    let sender = thread::spawn(move || -> Result<Tables, Error> {
        let mut station = Station::new(near_config, near_tun, clock);
        station.urgent();
        let End { settings, sender } = calls;
        let recording = Recording::new(kept, &sender);
        recording.attach(&mut station.host);
        let peer = (Side::FAR.host(), PORT).into();
        let (preamble, end) = (Vec::new(), call::End::Close);
        let plan = call::Plan { peer, settings, sender, preamble, body: Amount::Bytes(bytes), end, every };
        let begun = Call::begin(clock.now(), &mut station.host, plan, Box::new(|_, _| {}));
        let mut call = begun.map_err(|error| Error::new("connect", &error, ""))?;
        station.run(&mut call)?;
        call.finish()?;
        drop(station);
        recording.finish(clock.now()).ok_or_else(|| Error::new("the recording", &"it is still in use", ""))
    });
    let relay = Relay::new(hiccup, tuns, clock, Control::default(), None);
    let report = relay.run(|| Ok(sender.is_finished()))?;
    let tables = joined(sender)?;
    // The receiver has nobody left to talk to when the box is gone; its thread ends with its station or with the process.
    if receiver.is_finished() {
        joined(receiver)?;
    }
    Ok((tables, report))
}

/// Where the receiving host listens.
const PORT: u16 = 5001;

fn joined<T>(thread: thread::JoinHandle<Result<T, Error>>) -> Result<T, Failure> {
    match thread.join() {
        Ok(result) => Ok(result?),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
