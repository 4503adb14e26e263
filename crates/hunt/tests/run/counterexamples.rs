//! Replays every counterexample ever found. The first lines of a file state its question and the
//! known answer.

use std::fs;
use std::path::Path;

use eifel_hunt::table::flows;
use eifel_hunt::wrong::{Counts, count};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use toml::{Table, Value};

const REPETITIONS: u32 = 6;

fn scenario(table: &Table, name: &str) -> Scenario {
    Scenario::parse(&table.to_string(), Path::new(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the scenario with other algorithms in every flow.
fn with(table: &Table, algorithms: &Table) -> Table {
    let mut table = table.clone();
    for flow in flows(&mut table) {
        if let Some(Value::Table(sender)) = flow.get_mut("sender") {
            for seam in ["detect", "respond", "grant"] {
                sender.remove(seam);
            }
            sender.extend(algorithms.clone());
        }
    }
    table
}

fn goodput(table: &Table, name: &str) -> f64 {
    let scenario = scenario(table, name);
    let run = |repetition| match eifel_sim::run(&scenario, repetition, Record::none()) {
        Ok(outcome) => outcome.summary,
        Err(error) => panic!("{name}: {error}"),
    };
    (0..REPETITIONS).flat_map(|repetition| run(repetition).flows).map(|flow| flow.goodput_bps).sum()
}

fn counts(table: &Table, name: &str) -> Counts {
    let scenario = scenario(table, name);
    (0..REPETITIONS)
        .map(|repetition| count(&scenario, repetition).unwrap_or_else(|error| panic!("{name}: {error}")))
        .sum()
}

#[test]
fn every_counterexample_stays_within_its_stated_bound() {
    let mut asked = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("counterexamples")).unwrap() {
        let path = entry.unwrap().path();
        let (name, text) = (path.display().to_string(), fs::read_to_string(&path).unwrap());
        let head: String =
            text.lines().filter_map(|line| line.strip_prefix("#: ")).map(|line| format!("{line}\n")).collect();
        let (head, table): (Table, Table) = (head.parse().unwrap(), text.parse().unwrap());
        let number = |key: &str| head[key].as_float().unwrap();
        match head["asks"].as_str().unwrap() {
            "wrong" => {
                let Counts { needed, false_positives, .. } = counts(&table, &name);
                let share = false_positives as f64 / needed.max(1) as f64;
                assert!(needed > 10 && share <= number("most"), "{name}: {false_positives} of {needed}");
            }
            "found" => {
                let detect = Table::from_iter([("detect".to_owned(), head["detector"].clone())]);
                let Counts { needless_timeouts, found_timeouts, .. } = counts(&with(&table, &detect), &name);
                let share = found_timeouts as f64 / needless_timeouts.max(1) as f64;
                assert!(share >= number("least"), "{name}: {found_timeouts} of {needless_timeouts}");
            }
            "undone" => {
                let detect = Table::from_iter([("detect".to_owned(), head["detector"].clone())]);
                let Counts { mixed, undone, .. } = counts(&with(&table, &detect), &name);
                let share = undone as f64 / mixed.max(1) as f64;
                assert!(mixed > 10 && share <= number("most"), "{name}: {undone} of {mixed}");
            }
            "harm" => {
                let none = Table::from_iter([("detect".to_owned(), "none".into())]);
                let below = 1.0
                    - goodput(&with(&table, head["sender"].as_table().unwrap()), &name)
                        / goodput(&with(&table, &none), &name);
                assert!(below <= number("most"), "{name}: {below:.3} below a sender without detection");
            }
            other => panic!("{name}: asks = {other:?}"),
        }
        asked += 1;
    }
    assert!(asked > 20, "{asked}");
}
