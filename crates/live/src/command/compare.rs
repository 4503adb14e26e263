//! `compare`: one scenario simulated and live, side by side.

use super::setup::{namespace, scenario};
use super::{FAILED, Failure, OK, json_of, print};
use crate::hiccup::lateness::Lateness;
use crate::mirror::{self, Mirrored};
use crate::system::random;
use eifel_command::Options;
use eifel_sim::record::{Record, Tables};
use serde_json::{Value, json};

const USAGE: &str = "\
Runs the first flow of a scenario in the simulator, and then live: hosts of ours in two network namespaces, with the box between
their kernels. Compares retransmissions, verdicts, and when they happened.

usage: eifel live compare [OPTIONS] SCENARIO.toml

  --within-ms MS     exit with 1 if a time differs by more than this and the box's own lateness (default: 5)
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

/// Returns whether two lists hold the same entries, and the largest time difference of two equal
/// entries in nanoseconds. It is positive if the live time is later.
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
    if mirror::amount(&scenario).is_none() {
        return Err(Failure::Usage(format!("{file}: the first flow has to be a bulk transfer with a handshake")));
    }
    let simulated = eifel_sim::run(&scenario, 0, Record::all()).map_err(|error| Failure::Usage(error.to_string()))?;
    let Mirrored { tables, report, .. } =
        mirror::run(&scenario, Record::all(), [namespace()?, namespace()?], random()?)?;
    let document = compared(&SenderRecord::of(&simulated.tables), &SenderRecord::of(&tables), &report.lateness, within);
    print(&shown(&document, options.has("--json")))?;
    Ok(if document["agrees"] == true { OK } else { FAILED })
}

/// How a simulated story and a live one differ, apart from what the box alone can explain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Agreement {
    Agrees,
    /// The events are the same, and their times differ by no more than the box was late.
    BoxLate,
    /// The events are the same, and their times differ by more.
    OtherTimes,
    OtherEvents,
}

impl Agreement {
    fn agrees(self) -> bool {
        matches!(self, Self::Agrees | Self::BoxLate)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::BoxLate => "box-late",
            Self::OtherTimes => "other-times",
            Self::OtherEvents => "other-events",
        }
    }
}

/// Compares a simulated story with a live one. They agree if their retransmissions and verdicts are
/// the same, and no time differs by more than `within` milliseconds plus the box's own lateness.
fn compared(simulated: &SenderRecord, live: &SenderRecord, lateness: &Lateness, within: f64) -> Value {
    let (same_retransmissions, retransmissions_ns) = difference(&simulated.retransmissions, &live.retransmissions);
    let (same_verdicts, verdicts_ns) = difference(&simulated.verdicts, &live.verdicts);
    let end_ns = live.last_ns - simulated.last_ns;
    let late_ns = lateness.longest().as_nanos() as i64;
    let largest = [retransmissions_ns, verdicts_ns, end_ns].into_iter().map(i64::abs).max().unwrap_or_default();
    let allowed = within * 1e6;
    let agreement = match largest as f64 {
        _ if !(same_retransmissions && same_verdicts) => Agreement::OtherEvents,
        largest if largest <= allowed => Agreement::Agrees,
        largest if largest <= allowed + late_ns as f64 => Agreement::BoxLate,
        _ => Agreement::OtherTimes,
    };
    let ms = |nanos: i64| nanos as f64 / 1e6;
    json!({
        "retransmissions": { "simulated": retransmissions(simulated), "live": retransmissions(live),
            "same": same_retransmissions, "largest_difference_ms": ms(retransmissions_ns) },
        "verdicts": { "simulated": verdicts(simulated), "live": verdicts(live),
            "same": same_verdicts, "largest_difference_ms": ms(verdicts_ns) },
        "last_transmission": { "simulated_ms": ms(simulated.last_ns), "live_ms": ms(live.last_ns),
            "difference_ms": ms(end_ns) },
        "box": { "late_us_median": lateness.quantile(0.5).as_nanos() as f64 / 1e3,
            "late_us_p99": lateness.quantile(0.99).as_nanos() as f64 / 1e3, "late_us_max": late_ns as f64 / 1e3 },
        "largest_difference_ms": ms(largest), "agreement": agreement.word(), "agrees": agreement.agrees(),
    })
}

fn retransmissions(story: &SenderRecord) -> Value {
    let cause = |code: u8| eifel_sim::record::codes::CAUSES.get(usize::from(code)).copied().unwrap_or_default();
    let one = |&((segment, copy, code), at): &((i64, i32, u8), i64)| json!({ "segment": segment, "copy": copy, "cause": cause(code), "t_ms": at as f64 / 1e6 });
    story.retransmissions.iter().map(one).collect()
}

fn verdicts(story: &SenderRecord) -> Value {
    let one = |((episode, detector, verdict, reason), at): &((i32, String, String, String), i64)| json!({ "episode": episode, "detector": detector, "verdict": verdict, "reason": reason, "t_ms": *at as f64 / 1e6 });
    story.verdicts.iter().map(one).collect()
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
    text += &format!("last transmission: {} ms, {} ms live\n", last["simulated_ms"], last["live_ms"]);
    let [median, p99, max] = ["late_us_median", "late_us_p99", "late_us_max"].map(|name| &late[name]);
    text += &format!(
        "the box released packets {median} us late at the median, {p99} us at the 99th percentile, {max} us at most\n"
    );
    let times = &document["largest_difference_ms"];
    text += &match document["agreement"].as_str().unwrap_or_default() {
        "agrees" => "simulation and live run agree\n".to_owned(),
        "box-late" => {
            format!(
                "simulation and live run agree: their times differ by up to {times} ms, which the box's lateness explains\n"
            )
        }
        "other-times" => {
            format!("they differ in times alone, by up to {times} ms, which the box's lateness does not explain\n")
        }
        _ => "they differ\n".to_owned(),
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

    #[test]
    fn the_comparison_of_simulated_and_live_records_matches_its_golden() {
        let mut lateness = Lateness::default();
        [20, 30, 40, 2000].into_iter().for_each(|micros| lateness.note(Duration::from_micros(micros)));
        let simulated = story("delay_ms = 20");
        let lossy = "delay_ms = 20\ndrops = [{ flow = \"main\", segments = [3, 20], copies = 1 }]";
        let mut text = String::new();
        for live in ["delay_ms = 20", "delay_ms = 21", "delay_ms = 23", lossy] {
            for within in [0.0, 5.0] {
                let document = compared(&simulated, &story(live), &lateness, within);
                text += &format!("# {live}, within {within} ms\n{}", shown(&document, false));
                if within > 0.0 {
                    text += &shown(&document, true);
                }
            }
        }
        golden!("compared.txt", text);
    }

    #[test]
    fn what_the_box_alone_explains_is_no_disagreement() {
        let mut lateness = Lateness::default();
        lateness.note(Duration::from_micros(2000));
        let agreement = |live: &SenderRecord, within: f64| {
            let document = compared(&story("delay_ms = 20"), live, &lateness, within);
            let last = shown(&document, false).lines().last().unwrap().to_owned();
            (document["agreement"].as_str().unwrap().to_owned(), document["agrees"] == true, last)
        };
        let mut live = story("delay_ms = 20");
        live.last_ns += 7_000_000;
        for (within, expected, agrees, said) in [
            (7.0, "agrees", true, "simulation and live run agree"),
            (
                5.0,
                "box-late",
                true,
                "simulation and live run agree: their times differ by up to 7.0 ms, which the box's lateness explains",
            ),
            (
                4.9,
                "other-times",
                false,
                "they differ in times alone, by up to 7.0 ms, which the box's lateness does not explain",
            ),
        ] {
            assert_eq!(agreement(&live, within), (expected.to_owned(), agrees, said.to_owned()), "{within}");
        }
        live.retransmissions.clear();
        assert_eq!(agreement(&live, 9.0), ("other-events".to_owned(), false, "they differ".to_owned()));
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
            assert_eq!(difference(&simulated, &live), expected, "{live:?}");
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
            let mut lateness = Lateness::default();
            lateness.note(Duration::from_micros(late_us));
            compared(&story(7_000_000, 4), live, &lateness, within)["agrees"] == true
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
