//! The estimates by counters, fitted again to the recordings and judged on recordings that they did not see.
//!
//! `counters.csv` has a line for each recording of `eifel truth record --count 500 --seed SEED` with a
//! retransmission, as `collect.py` writes it: settings of both ends, the truth of the box, and the counters of the
//! sender's namespace.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use eifel_testkit::golden;
use eifel_watch::counters::{Counters, Error, FEWEST, FITTED, MEANINGS, Signs, Situation};
use std::fmt::Write as _;

/// The seeds of the recordings that are fitted, and of those that judge.
const SEEDS: [&str; 3] = ["4701", "4702", "4703"];
const HELD_OUT: &str = "4704";
/// The share of recordings in an interval.
const HELD: f64 = 0.9;
const PAGE: &str = "../../docs/reference/counters.md";

struct Recording {
    seed: &'static str,
    class: &'static str,
    columns: Vec<(&'static str, u64)>,
    signs: Signs,
}

impl Recording {
    fn of(&self, name: &str) -> u64 {
        self.columns.iter().find(|(column, _)| *column == name).unwrap().1
    }

    fn share(&self, name: &str) -> f64 {
        self.of(name) as f64 / self.of("retransmissions").max(1) as f64
    }

    fn error(&self) -> f64 {
        self.share("spurious") - self.signs.duplicates
    }
}

/// Returns those with as many retransmissions as an estimate needs.
fn recordings() -> Vec<Recording> {
    let mut lines = include_str!("counters.csv").lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let read = |line: &'static str| {
        let words: Vec<&str> = line.split(',').collect();
        let columns: Vec<(&str, u64)> =
            names[2..].iter().zip(&words[2..]).map(|(name, value)| (*name, value.parse().unwrap())).collect();
        let mut counters = Counters::default();
        columns.iter().for_each(|(name, value)| counters.set(name, *value));
        let class = words[1].split_once('-').unwrap().1;
        Recording { seed: words[0], class, columns, signs: Signs::of(&counters).unwrap() }
    };
    lines.map(read).filter(|one| one.signs.retransmissions >= FEWEST).collect()
}

fn sum(of: &[&Recording], name: &str) -> f64 {
    of.iter().map(|one| one.of(name)).sum::<u64>() as f64
}

/// Returns the closest bounds that hold nine of ten of one value more than there are (split conformal prediction, with
/// the shortest interval): many recordings are exactly at one bound, with no error at all.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let held = (((values.len() + 1) as f64 * HELD).ceil() as usize).min(values.len());
    let all = values.windows(held).map(|window| (window[0], window[held - 1]));
    all.min_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0))).unwrap()
}

/// The bounds are rounded away from each other, to a tenth of a percent. What all recordings together say is always
/// between them.
fn fitted(of: &[&Recording]) -> Error {
    let (low, high) = bounds(of.iter().map(|one| one.error()));
    let duplicates: f64 = of.iter().map(|one| one.signs.duplicates * one.signs.retransmissions as f64).sum();
    let bias = (sum(of, "spurious") - duplicates) / sum(of, "retransmissions");
    Error {
        bias: (bias * 1e3).round() / 1e3,
        low: (low.min(bias) * 1e3).floor() / 1e3,
        high: (high.max(bias) * 1e3).ceil() / 1e3,
        recordings: of.len(),
    }
}

fn in_situation<'a>(all: &'a [Recording], seeds: &[&str], situation: Situation) -> Vec<&'a Recording> {
    all.iter().filter(|one| seeds.contains(&one.seed) && one.signs.situation == situation).collect()
}

#[test]
fn the_constants_are_those_that_the_recordings_give() {
    let all = recordings();
    let again = Situation::ALL.map(|situation| fitted(&in_situation(&all, &SEEDS, situation)));
    assert_eq!(FITTED, again);
}

#[test]
fn the_interval_holds_the_truth_of_nine_in_ten_recordings_that_were_not_fitted() {
    let all = recordings();
    let held_out: Vec<&Recording> = all.iter().filter(|one| one.seed == HELD_OUT).collect();
    let inside = held_out.iter().filter(|one| is_inside(one)).count() as f64 / held_out.len() as f64;
    assert!((0.85..1.0).contains(&inside), "{inside}");
}

fn is_inside(one: &Recording) -> bool {
    let estimate = one.signs.estimate().unwrap();
    (estimate.low..=estimate.high).contains(&one.share("spurious"))
}

/// The page has the tables that the recordings give.
#[test]
fn the_tables_of_the_page_are_those_of_the_recordings() {
    let all = recordings();
    let tables = [situations(&all), settings(&all), missed(&all)].join("\n");
    golden!("counters.txt", tables);
    let page = std::fs::read_to_string(PAGE).unwrap();
    let meanings = MEANINGS.iter().map(|one| format!("| `{}` | {} |", one.name, one.means));
    for line in tables.lines().map(str::to_owned).chain(meanings) {
        assert!(page.contains(&line), "{PAGE} lacks {line}");
    }
}

fn points(share: f64) -> String {
    format!("{:+.1}", 100.0 * share).replace("-0.0", "+0.0").replace("+0.0", "0")
}

fn situations(all: &[Recording]) -> String {
    let mut text = "| the counters show | add to the duplicates, in points | interval, in points | recordings | held out: inside |\n|---|---|---|---|---|\n".to_owned();
    let mut row = |words: &str, error: &Error, held_out: &[&Recording]| {
        let inside = held_out.iter().filter(|one| is_inside(one)).count();
        let [bias, low, high] = [error.bias, error.low, error.high].map(points);
        writeln!(
            text,
            "| {words} | {bias} | {low} to {high} | {} | {inside} of {} |",
            error.recordings,
            held_out.len()
        )
        .unwrap();
    };
    for situation in Situation::ALL {
        row(situation.words(), &FITTED[situation as usize], &in_situation(all, &[HELD_OUT], situation));
    }
    let held_out: Vec<&Recording> = all.iter().filter(|one| one.seed == HELD_OUT).collect();
    let inside = held_out.iter().filter(|one| is_inside(one)).count();
    let fitted = FITTED.iter().map(|error| error.recordings).sum::<usize>();
    writeln!(text, "| all | | | {fitted} | {inside} of {} |", held_out.len()).unwrap();
    text
}

/// A name for recordings, and which they are.
type Named = (&'static str, fn(&Recording) -> bool);

/// What both ends have, and the path does.
const SETTINGS: [Named; 8] = [
    ("all on, delay spikes", |one| is_stock(one) && one.class == "spike"),
    ("all on, losses", |one| is_stock(one) && ["loss", "bursts", "overflow", "lan", "ack-loss"].contains(&one.class)),
    ("all on, reordering", |one| is_stock(one) && one.class.starts_with("reorder")),
    ("all on, spikes, losses and reordering", |one| is_stock(one) && one.class == "mixed"),
    ("all on, the network copies", |one| is_stock(one) && one.class == "copies"),
    ("without timestamps", |one| [one.of("sack"), one.of("dsack"), one.of("timestamps")] == [1, 1, 0]),
    ("without DSACK", |one| one.of("sack") == 1 && one.of("dsack") == 0),
    ("without SACK", |one| one.of("sack") == 0),
];

fn is_stock(one: &Recording) -> bool {
    one.of("sack") == 1 && one.of("dsack") == 1 && one.of("timestamps") > 0
}

const INDICATORS: [&str; 5] = ["TCPDSACKRecvSegs", "TCPSpuriousRTOs", "TCPLossUndo", "TCPFullUndo", "TCPDSACKUndo"];

/// How far the needless share is above each counter's share of the retransmissions.
fn settings(all: &[Recording]) -> String {
    let mut text = format!(
        "| SACK, DSACK, timestamps; path | recordings | needless | {} |\n|---|---|---|",
        INDICATORS.join(" | ")
    );
    text += &"---|".repeat(INDICATORS.len());
    text.push('\n');
    for (words, is_of) in SETTINGS {
        let of: Vec<&Recording> = all.iter().filter(|one| is_of(one)).collect();
        let cell = |name: &&str| {
            let bias = (sum(&of, "spurious") - sum(&of, name)) / sum(&of, "retransmissions");
            let (low, high) = bounds(of.iter().map(|one| one.share("spurious") - one.share(name)));
            format!("{} ({} to {})", points(bias), points(low), points(high))
        };
        let cells: Vec<String> = INDICATORS.iter().map(cell).collect();
        let needless = 100.0 * sum(&of, "spurious") / sum(&of, "retransmissions");
        writeln!(text, "| {words} | {} | {needless:.1} % | {} |", of.len(), cells.join(" | ")).unwrap();
    }
    text
}

/// Counters, and the needless retransmissions that each is about.
const ABOUT: [(&str, &str); 6] = [
    ("TCPDSACKRecvSegs", "spurious"),
    ("TCPSpuriousRTOs", "spurious_rto"),
    ("TCPLossUndo", "spurious_rto"),
    ("TCPFullUndo", "spurious_fast"),
    ("TCPPartialUndo", "spurious_fast"),
    ("TCPDSACKUndo", "spurious_fast"),
];

/// What each counter misses: the needless retransmissions of recordings in which it stayed at 0.
fn missed(all: &[Recording]) -> String {
    let mut text =
        "| counter | about | all on | without timestamps | without DSACK | without SACK |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let stock: Named = ("all on", is_stock);
    for (name, about) in ABOUT {
        let cell = |(_, is_of): &Named| {
            let of: Vec<&Recording> = all.iter().filter(|one| is_of(one)).collect();
            let silent: Vec<&Recording> = of.iter().copied().filter(|one| one.of(name) == 0).collect();
            let share = 100.0 * sum(&silent, about) / sum(&of, about).max(1.0);
            format!("{share:.0} % of {}", sum(&of, about))
        };
        let cells: Vec<String> = [stock].iter().chain(&SETTINGS[5..]).map(cell).collect();
        let about = match about {
            "spurious_rto" => "needless timeouts",
            "spurious_fast" => "needless fast retransmissions",
            _ => "needless retransmissions",
        };
        writeln!(text, "| `{name}` | {about} | {} |", cells.join(" | ")).unwrap();
    }
    text
}
