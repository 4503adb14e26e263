//! Golden outputs of the generator, the runs, the truth about captures, the judge's bounds, and
//! the shrinking.
//!
//! The cases are drawn from recorded algorithms, so an added algorithm changes none of them. An
//! added parameter of a recorded algorithm takes part in the draws, and changes all.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use eifel_hostile::captured::{Weather, captured};
use eifel_hostile::hunt::{case, hunt};
use eifel_hostile::shrink::shrink;
use eifel_hostile::{bounds, generate, judge};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::Summary;
use eifel_sim::{Options, run_with};
use eifel_testkit::{digest, golden};
use std::fmt::Write;
use toml::{Table, Value};

/// The number of scenarios with a digest.
const DRAWN: u64 = 1500;
/// The number of seeds per digest.
const BLOCK: u64 = 25;

/// Prints a digest for each block of seeds.
fn digests(seeds: u64, print: impl Fn(u64) -> String) -> String {
    let mut text = String::new();
    for first in (0..seeds).step_by(BLOCK as usize) {
        let block: String = (first..first + BLOCK).map(&print).collect();
        writeln!(text, "{first}: {}", digest(block)).unwrap();
    }
    text
}

#[test]
fn scenarios_are_drawn_as_recorded() {
    golden!("first.toml", format!("{}\n# another\n{}", generate::recorded(0), generate::recorded(4)));
    golden!("scenarios.txt", digests(DRAWN, |seed| generate::recorded(seed).to_string()));
    golden!("plain.txt", digests(DRAWN / 5, |seed| generate::plain(seed).to_string()));
    golden!("with_a_middle.txt", digests(DRAWN / 5, |seed| generate::with_a_middle(seed).to_string()));
}

#[test]
fn bounds_of_time_and_events_are_as_recorded() {
    let bounds = |seed| {
        let text = generate::recorded(seed).to_string();
        let scenario = Scenario::parse(&text, "case.toml".as_ref()).unwrap();
        format!("{:?} {:?}\n", bounds::of(&scenario), bounds::seconds(&text))
    };
    golden!("bounds.txt", (0..40).map(bounds).collect::<String>());
    golden!("bounds_digests.txt", digests(DRAWN, bounds));
}

/// The number of transfers with a digest.
const TRANSFERS: u64 = 800;

/// Digests transfers by every table and every packet at the first node. An unobserved run takes
/// short cuts, and must give the same result.
#[test]
fn transfers_are_as_recorded_with_and_without_shortcuts() {
    let mut text = String::new();
    for seed in 0..TRANSFERS {
        let mut scenario = Scenario::parse(&generate::recorded(seed).to_string(), "case.toml".as_ref()).unwrap();
        let bounds = bounds::of(&scenario);
        scenario.duration = eifel_base::time::Duration::from_secs(200).min(scenario.duration);
        let record = Record::all().capturing(0);
        let options = Options { record, checked: true, bytes: true, most_events: Some(bounds.events.min(200_000)) };
        let unobserved = Options { record: Record::none(), checked: false, bytes: false, ..options };
        match run_with(&scenario, 0, options) {
            Ok(outcome) => {
                let (tables, packets) = (format!("{:?}", outcome.tables.into_columns()), &outcome.captures[0].pcapng);
                let [tables, packets, summary] = [digest(tables), digest(packets), digest(outcome.summary.to_json())];
                writeln!(text, "{seed}: {tables} {packets} {summary}").unwrap();
                let alone = run_with(&scenario, 0, unobserved).unwrap();
                let values = |text: String| text.split_once("\"flows\"").unwrap().1.to_owned();
                assert_eq!(values(alone.summary.to_json()), values(outcome.summary.to_json()), "{seed}");
            }
            Err(error) => writeln!(text, "{seed}: {error}").unwrap(),
        }
    }
    golden!("transfers.txt", text);
}

#[test]
fn the_truth_about_captures_is_as_recorded() {
    let mut text = String::new();
    for (name, weather) in [("plain", Weather::Plain), ("wild", Weather::Wild)] {
        for seed in 0..16 {
            match captured(seed, weather) {
                Ok(found) => {
                    for place in found.places {
                        let [packets, truth] = [digest(place.pcapng), digest(&place.truth)];
                        let lines = place.truth.lines().count();
                        writeln!(text, "{name} {seed} {}: {packets}, {lines} lines {truth}", place.name).unwrap();
                    }
                }
                Err(error) => writeln!(text, "{name} {seed}: {error}").unwrap(),
            }
        }
    }
    let first = captured(1, Weather::Wild).unwrap();
    golden!("truth.csv", first.places[0].truth);
    golden!("captured.txt", text);
}

/// A law that does not hold: no flow has more than two timeouts.
fn few_timeouts(_: &Scenario, summary: &Summary) -> Option<String> {
    let often = summary.flows.iter().find(|flow| flow.timeouts > 2)?;
    Some(format!("{} timeouts", often.timeouts))
}

#[test]
fn sums_and_failures_are_printed_as_recorded() {
    let sums = hunt(generate::recorded, 0..60, Some(2), None, |_| {}).unwrap();
    let each: Vec<_> = [3, 20, 33].map(|seed| case(generate::recorded, seed, None).unwrap().to_json()).into();
    let broken = (0..200).find_map(|seed| case(generate::recorded, seed, Some(few_timeouts)).err()).unwrap();
    golden!("printed.txt", format!("{sums}\n{}\n{broken}\n", each.join("\n")));
}

#[test]
fn refusals_are_printed_as_recorded() {
    let rest = "[point_to_point]\nrate_bps = 1000\ndelay_ms = 1\n[[flow]]\nname = \"main\"\nfrom = \"sender\"\n\
                to = \"receiver\"\napplication = { kind = \"bulk\", bytes = 1 }";
    let texts = ["".to_owned(), "duration_s = ".to_owned(), format!("duration_s = 0.001\n{rest}")];
    let told = |text: &String| match judge::judge(text, None) {
        Ok(summary) => format!("{}\n", summary.to_json()),
        Err(violation) => format!("{violation}\n"),
    };
    golden!("refusals.txt", texts.iter().map(told).collect::<String>());
}

/// Returns whether the scenario has an integer above 1000 and a number that is not whole.
fn has_large_and_broken_numbers(table: &Table) -> bool {
    fn any(value: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
        match value {
            Value::Table(table) => table.iter().any(|(_, value)| any(value, is)),
            Value::Array(list) => list.iter().any(|value| any(value, is)),
            value => is(value),
        }
    }
    let all = Value::from(table.clone());
    any(&all, &|value| value.as_integer().is_some_and(|number| number > 1000))
        && any(&all, &|value| value.as_float().is_some_and(|number| number.fract() > 0.1))
}

#[test]
fn scenarios_shrink_as_recorded() {
    let mut text = String::new();
    for seed in 0..6 {
        for tries in [40, 4000] {
            let mut asked = String::new();
            let small = shrink(&generate::recorded(seed), tries, |candidate| {
                asked += &candidate.to_string();
                has_large_and_broken_numbers(candidate)
            });
            writeln!(text, "# seed {seed}, {tries} tries at most, asked {}\n{small}", digest(asked)).unwrap();
        }
    }
    golden!("shrunk.toml", text);
}
