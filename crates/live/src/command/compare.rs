//! `compare`: one scenario simulated and live, side by side.

use super::setup::{namespace, scenario};
use super::{FAILED, Failure, OK, json_of, print};
use crate::hiccup::lateness::{AddedLateness, Late, Lateness};
use crate::mirror::{self, Mirrored};
use crate::system::random;
use eifel_base::time::{Duration, Instant};
use eifel_command::Options;
use eifel_sim::record::{Record, Tables};
use serde_json::{Value, json};

const USAGE: &str = "\
Runs the first flow of a scenario in the simulator, and then live: hosts of ours in two network namespaces, with the box between
their kernels. Compares retransmissions, verdicts, and when they happened.

usage: eifel live compare [OPTIONS] SCENARIO.toml

  --within-ms MS     exit with 1 if a time differs by more than this and the lateness that can have added up until
                     then, of the box and of the ends (default: 5)
  --json             print JSON
";

/// The parts of a sender's record that are compared.
#[derive(Debug)]
struct SenderRecord {
    /// Retransmissions: segment, copy and cause, and the time in nanoseconds.
    retransmissions: Vec<((i64, i32, u8), i64)>,
    /// Verdicts: episode, detector, verdict and reason as words, and the time in nanoseconds.
    verdicts: Vec<((i32, String, String, String), i64)>,
    /// Time of the last transmission in nanoseconds.
    last_ns: i64,
}

impl SenderRecord {
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

/// What of a live run's times lateness can explain.
struct LiveLateness {
    /// The box's.
    lateness: Lateness,
    added: AddedLateness,
    /// When the box's time began, in the time of the records, in nanoseconds.
    began_ns: i64,
}

impl LiveLateness {
    /// Returns by how much lateness can have delayed an event at `live_ns`.
    fn by(&self, live_ns: i64) -> Late {
        self.added.by(Instant::from_nanos(u64::try_from(live_ns - self.began_ns).unwrap_or_default()))
    }

    /// Returns the nanoseconds of a difference that lateness cannot explain.
    fn unexplained(&self, pair: Pair) -> i64 {
        (pair.later().abs() - self.by(pair.live_ns).all().as_nanos() as i64).max(0)
    }
}

/// An event that is in both records, with its time in nanoseconds in each.
#[derive(Clone, Copy)]
struct Pair {
    simulated_ns: i64,
    live_ns: i64,
}

impl Pair {
    /// Returns how much later the event happened live.
    fn later(self) -> i64 {
        self.live_ns - self.simulated_ns
    }
}

/// Returns whether two lists hold the same entries, and the pairs of equal entries.
fn pairs<T: PartialEq>(simulated: &[(T, i64)], live: &[(T, i64)]) -> (bool, Vec<Pair>) {
    let same = simulated.len() == live.len() && simulated.iter().zip(live).all(|(a, b)| a.0 == b.0);
    let equal = simulated.iter().zip(live).filter(|(a, b)| a.0 == b.0);
    (same, equal.map(|(a, b)| Pair { simulated_ns: a.1, live_ns: b.1 }).collect())
}

/// Returns the number of entries that are equal before the first difference, and when that is, in
/// nanoseconds of either run. `None` if there is none.
fn first_difference<T: PartialEq>(simulated: &[(T, i64)], live: &[(T, i64)]) -> Option<(usize, i64)> {
    let index = simulated.iter().zip(live).take_while(|(a, b)| a.0 == b.0).count();
    let at = [simulated.get(index), live.get(index)].into_iter().flatten().map(|(_, at)| *at).min()?;
    Some((index, at))
}

/// Returns the largest time difference in nanoseconds. It is positive if the live time is later.
fn largest(pairs: &[Pair]) -> i64 {
    pairs.iter().map(|pair| pair.later()).max_by_key(|later| later.abs()).unwrap_or_default()
}

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some(options) = Options::read(words, &["--within-ms"], &["--json"])? else { return print(USAGE).map(|()| OK) };
    let [file] = &options.rest[..] else {
        return Err(Failure::Usage("one SCENARIO.toml is needed; see --help".to_owned()));
    };
    let within: f64 = options.value("--within-ms", "milliseconds")?.unwrap_or(5.0);
    let scenario = scenario(file)?;
    if mirror::amount(&scenario).is_none() {
        return Err(Failure::Usage(format!("{file}: the first flow has to be a bulk transfer with a handshake")));
    }
    let simulated = eifel_sim::run(&scenario, 0, Record::all()).map_err(|error| Failure::Usage(error.to_string()))?;
    let Mirrored { tables, report, box_began_ns, .. } =
        mirror::run(&scenario, Record::all(), [namespace()?, namespace()?], random()?)?;
    let added = AddedLateness::of(&report.passages);
    let late = LiveLateness { lateness: report.lateness, added, began_ns: box_began_ns };
    let document = compared(&SenderRecord::of(&simulated.tables), &SenderRecord::of(&tables), &late, within);
    print(&shown(&document, options.has("--json")))?;
    Ok(if document["agrees"] == true { OK } else { FAILED })
}

/// How a simulated story and a live one differ, apart from what lateness alone can explain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Agreement {
    Agrees,
    /// The events are the same, and no time differs by more than lateness can have added up to until
    /// then.
    Late,
    /// The events are the same, and their times differ by more.
    OtherTimes,
    OtherEvents,
}

impl Agreement {
    fn agrees(self) -> bool {
        matches!(self, Self::Agrees | Self::Late)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Late => "late",
            Self::OtherTimes => "other-times",
            Self::OtherEvents => "other-events",
        }
    }
}

/// Compares a simulated story with a live one. They agree if their retransmissions and verdicts are
/// the same, and no time differs by more than `within` milliseconds plus the lateness that can have
/// added up until then.
fn compared(simulated: &SenderRecord, live: &SenderRecord, late: &LiveLateness, within: f64) -> Value {
    let (same_retransmissions, retransmissions) = pairs(&simulated.retransmissions, &live.retransmissions);
    let (same_verdicts, verdicts) = pairs(&simulated.verdicts, &live.verdicts);
    let end = Pair { simulated_ns: simulated.last_ns, live_ns: live.last_ns };
    let all = || retransmissions.iter().chain(&verdicts).chain([&end]);
    let allowed = within * 1e6;
    let agreement = if !(same_retransmissions && same_verdicts) {
        Agreement::OtherEvents
    } else if all().all(|pair| pair.later().abs() as f64 <= allowed) {
        Agreement::Agrees
    } else if all().all(|pair| late.unexplained(*pair) as f64 <= allowed) {
        Agreement::Late
    } else {
        Agreement::OtherTimes
    };
    let parting = parting(simulated, live, late);
    let unexplained = all().map(|pair| late.unexplained(*pair)).max().unwrap_or_default();
    let most = all().map(|pair| pair.later().abs()).max().unwrap_or_default();
    let lateness = &late.lateness;
    let micros = |duration: Duration| duration.as_nanos() as f64 / 1e3;
    let ms = |nanos: i64| nanos as f64 / 1e6;
    json!({
        "retransmissions": { "simulated": said_retransmissions(simulated, None), "live": said_retransmissions(live, Some(late)),
            "same": same_retransmissions, "largest_difference_ms": ms(largest(&retransmissions)) },
        "verdicts": { "simulated": said_verdicts(simulated, None), "live": said_verdicts(live, Some(late)),
            "same": same_verdicts, "largest_difference_ms": ms(largest(&verdicts)) },
        "last_transmission": { "simulated_ms": ms(simulated.last_ns), "live_ms": ms(live.last_ns),
            "difference_ms": ms(end.later()), "late_ms": late_ms(late.by(live.last_ns)) },
        "box": { "late_us_median": micros(lateness.quantile(0.5)), "late_us_p99": micros(lateness.quantile(0.99)),
            "late_us_max": micros(lateness.longest()) },
        "first_difference": parting, "largest_difference_ms": ms(most), "unexplained_ms": ms(unexplained), "agreement": agreement.word(), "agrees": agreement.agrees(),
    })
}

/// Returns when the events of the two runs first differ, how far their times are apart until then, and
/// by how much lateness can have moved them. `null` if the events are the same.
fn parting(simulated: &SenderRecord, live: &SenderRecord, late: &LiveLateness) -> Value {
    let again = first_difference(&simulated.retransmissions, &live.retransmissions);
    let judged = first_difference(&simulated.verdicts, &live.verdicts);
    let Some(at) = [again, judged].into_iter().flatten().map(|(_, at)| at).min() else { return Value::Null };
    let (_, again) = pairs(&simulated.retransmissions, &live.retransmissions);
    let (_, judged) = pairs(&simulated.verdicts, &live.verdicts);
    let before = again.iter().chain(&judged).filter(|pair| pair.simulated_ns.max(pair.live_ns) < at);
    let apart = before.map(|pair| pair.later().abs()).max().unwrap_or_default();
    json!({ "t_ms": at as f64 / 1e6, "apart_before_ms": apart as f64 / 1e6, "late_ms": late_ms(late.by(at)) })
}

/// Returns the retransmissions of a record. Those of a live one have the milliseconds by which the
/// box can have delayed them.
fn said_retransmissions(record: &SenderRecord, late: Option<&LiveLateness>) -> Value {
    let cause = |code: u8| eifel_sim::record::codes::CAUSES.get(usize::from(code)).copied().unwrap_or_default();
    let one = |&((segment, copy, code), at): &((i64, i32, u8), i64)| {
        timed(json!({ "segment": segment, "copy": copy, "cause": cause(code) }), at, late)
    };
    record.retransmissions.iter().map(one).collect()
}

fn said_verdicts(record: &SenderRecord, late: Option<&LiveLateness>) -> Value {
    let one = |((episode, detector, verdict, reason), at): &((i32, String, String, String), i64)| {
        timed(json!({ "episode": episode, "detector": detector, "verdict": verdict, "reason": reason }), *at, late)
    };
    record.verdicts.iter().map(one).collect()
}

fn timed(mut event: Value, at_ns: i64, late: Option<&LiveLateness>) -> Value {
    event["t_ms"] = json!(at_ns as f64 / 1e6);
    if let Some(late) = late {
        event["late_ms"] = late_ms(late.by(at_ns));
    }
    event
}

/// Returns lateness in milliseconds.
fn late_ms(late: Late) -> Value {
    let ms = |duration: Duration| duration.as_nanos() as f64 / 1e6;
    json!({ "box": ms(late.at_the_box), "ends": ms(late.at_the_ends) })
}

/// Returns lateness in words.
fn said_late(late: &Value) -> String {
    let [of_box, of_ends] = ["box", "ends"].map(|who| late[who].as_f64().unwrap_or_default());
    format!("late by up to {of_box:.3} ms at the box and {of_ends:.3} ms at the ends")
}

fn shown(document: &Value, as_json: bool) -> String {
    if as_json {
        return json_of("live-compare", document.clone());
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
    text += &format!(
        "last transmission: {} ms, {} ms live, {}\n",
        last["simulated_ms"],
        last["live_ms"],
        said_late(&last["late_ms"])
    );
    let [median, p99, max] = ["late_us_median", "late_us_p99", "late_us_max"].map(|name| &late[name]);
    text += &format!(
        "the box released packets {median} us late at the median, {p99} us at the 99th percentile, {max} us at most\n"
    );
    let times = &document["largest_difference_ms"];
    text += &match document["agreement"].as_str().unwrap_or_default() {
        "agrees" => "simulation and live run agree\n".to_owned(),
        "late" => {
            format!(
                "simulation and live run agree: their times differ by up to {times} ms, which their lateness can add up to\n"
            )
        }
        "other-times" => {
            let unexplained = &document["unexplained_ms"];
            format!("they differ in times alone, by up to {times} ms; lateness does not explain {unexplained} ms\n")
        }
        _ => {
            let first = &document["first_difference"];
            format!(
                "they differ from {} ms on; until then their times are up to {} ms apart, {}\n",
                first["t_ms"],
                first["apart_before_ms"],
                said_late(&first["late_ms"])
            )
        }
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;
    use eifel_sim::scenario::Scenario;
    use eifel_testkit::golden;

    /// Returns the story of a simulated sender over this link.
    fn story(link: &str) -> SenderRecord {
        let text = format!(
            "duration_s = 30\n[point_to_point]\nrate_bps = 2_000_000\n{link}\n[[flow]]\nname = \"main\"\nfrom = \"sender\"\n\
             to = \"receiver\"\napplication = {{ kind = \"bulk\", bytes = 60_000 }}\n\
             sender = {{ detect = \"eifel-timestamps\", observers = [\"f-rto\"] }}\n[[spike]]\nlinks = [\"bottleneck\"]\n\
             holds = \"arriving\"\nat = [{{ start_s = 0.2, end_s = 2 }}]\n"
        );
        let scenario = Scenario::parse(&text, "compared.toml".as_ref()).unwrap();
        SenderRecord::of(&eifel_sim::run(&scenario, 0, Record::all()).unwrap().tables)
    }

    /// Returns a run in which one packet was this late at the beginning: a quarter at the ends.
    fn late(micros: u64) -> LiveLateness {
        let mut lateness = Lateness::default();
        let (all, at_the_ends) = (Duration::from_micros(micros), Duration::from_micros(micros / 4));
        lateness.note(all - at_the_ends);
        let added = AddedLateness::from_the_beginning(Late { at_the_box: all - at_the_ends, at_the_ends });
        LiveLateness { lateness, added, began_ns: 0 }
    }

    #[test]
    fn the_comparison_of_simulated_and_live_records_matches_its_golden() {
        let mut late = late(2000);
        [20, 30, 40].into_iter().for_each(|micros| late.lateness.note(Duration::from_micros(micros)));
        let simulated = story("delay_ms = 20");
        let lossy = "delay_ms = 20\ndrops = [{ flow = \"main\", segments = [3, 20], copies = 1 }]";
        let mut text = String::new();
        for live in ["delay_ms = 20", "delay_ms = 21", "delay_ms = 23", lossy] {
            for within in [0.0, 5.0] {
                let document = compared(&simulated, &story(live), &late, within);
                text += &format!("# {live}, within {within} ms\n{}", shown(&document, false));
                if within > 0.0 {
                    text += &shown(&document, true);
                }
            }
        }
        golden!("compared.txt", text);
    }

    #[test]
    fn what_lateness_alone_explains_is_no_disagreement() {
        let agreement = |live: &SenderRecord, within: f64| {
            let document = compared(&story("delay_ms = 20"), live, &late(2000), within);
            let last = shown(&document, false).lines().last().unwrap().to_owned();
            (document["agreement"].as_str().unwrap().to_owned(), document["agrees"] == true, last)
        };
        let mut live = story("delay_ms = 20");
        live.last_ns += 7_000_000;
        for (within, expected, agrees, said) in [
            (7.0, "agrees", true, "simulation and live run agree"),
            (
                5.0,
                "late",
                true,
                "simulation and live run agree: their times differ by up to 7.0 ms, which their lateness can add up to",
            ),
            (
                4.9,
                "other-times",
                false,
                "they differ in times alone, by up to 7.0 ms; lateness does not explain 5.0 ms",
            ),
        ] {
            assert_eq!(agreement(&live, within), (expected.to_owned(), agrees, said.to_owned()), "{within}");
        }
        live.retransmissions.clear();
        let said = "they differ from 1418.688 ms on; until then their times are up to 0.0 ms apart, late by up to 1.500 ms at the box and 0.500 ms at the ends";
        assert_eq!(agreement(&live, 9.0), ("other-events".to_owned(), false, said.to_owned()));
    }

    #[test]
    fn the_largest_difference_covers_matching_pairs_only() {
        let simulated = [("a", 10), ("b", 20), ("c", 30)];
        for (live, expected) in [
            (vec![("a", 10), ("b", 20), ("c", 30)], (true, 0)),
            (vec![("a", 12), ("b", 15), ("c", 31)], (true, -5)),
            (vec![("a", 9), ("b", 26), ("c", 27)], (true, 6)),
            (vec![("a", 11), ("x", 90), ("c", 30)], (false, 1)),
            (vec![("a", 11), ("b", 22)], (false, 2)),
            (vec![("a", 10), ("b", 20), ("c", 30), ("d", 90)], (false, 0)),
            (vec![], (false, 0)),
        ] {
            let (same, pairs) = pairs(&simulated, &live);
            assert_eq!((same, largest(&pairs)), expected, "{live:?}");
        }
    }

    #[test]
    fn records_agree_within_the_tolerance_only() {
        let story = |at: i64, segment: i64| SenderRecord {
            retransmissions: vec![((segment, 1, 1), at)],
            verdicts: Vec::new(),
            last_ns: 9_000_000,
        };
        let agrees = |live: &SenderRecord, late_us, within| {
            compared(&story(7_000_000, 4), live, &late(late_us), within)["agrees"] == true
        };
        assert!(agrees(&story(7_000_000, 4), 0, 0.0));
        assert!(agrees(&story(8_000_000, 4), 0, 1.0) && agrees(&story(6_000_000, 4), 0, 1.0));
        assert!(!agrees(&story(8_000_001, 4), 0, 1.0) && !agrees(&story(5_999_999, 4), 0, 1.0));
        assert!(agrees(&story(8_500_000, 4), 500, 1.0) && !agrees(&story(8_500_001, 4), 500, 1.0));
        assert!(!agrees(&story(7_000_000, 5), 500, 1.0), "another segment");
        let late = SenderRecord { last_ns: 10_000_001, ..story(7_000_000, 4) };
        assert!(!agrees(&late, 0, 1.0) && agrees(&late, 0, 1.1));
    }
}
