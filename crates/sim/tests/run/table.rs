//! Whole runs of drawn scenarios. Golden files hold digests of their results.
//!
//! A change of an algorithm or a default changes the digests of the runs that use it.

use crate::common::scenario;
use crate::drawn::{self, KINDS};
use crate::streaming::Gathered;
use eifel_sim::record::Record;
use eifel_sim::scenario::{document, schema};
use eifel_sim::{Options, run_into, run_with};
use eifel_testkit::{digest, golden};
use std::fmt::Write;

/// Scenarios of each kind.
const OF_A_KIND: u64 = 30;

fn seed(kind: usize, number: u64) -> u64 {
    1000 * kind as u64 + number
}

/// Each scenario is also parsed as JSON, with the same result.
#[test]
fn scenarios_match_the_golden_file() {
    let mut text = String::new();
    for (index, kind) in KINDS.iter().enumerate() {
        let mut of_a_kind = String::new();
        for number in 0..OF_A_KIND {
            let drawn = drawn::scenario(kind, seed(index, number));
            let parsed = format!("{:?}", scenario(&drawn));
            let json = document(&drawn, "drawn.toml".as_ref()).unwrap();
            assert_eq!(format!("{:?}", scenario(&json)), parsed, "{drawn}");
            of_a_kind += &(parsed + &json);
        }
        writeln!(text, "{kind}: {}", digest(of_a_kind)).unwrap();
    }
    golden!("scenarios.txt", text);
}

/// See `make docs`.
#[test]
fn the_schema_is_the_one_beside_the_reference() {
    assert_eq!(schema(), include_str!("../../../../docs/scenario.schema.json"));
}

/// The results are the same in a plain run, in a run that is recorded, checked and carried as
/// bytes, and in a streamed run.
#[test]
fn runs_match_the_golden_file_observed_or_not() {
    let mut text = String::new();
    for (index, kind) in KINDS.iter().enumerate() {
        for number in 0..OF_A_KIND {
            let drawn = drawn::scenario(kind, seed(index, number));
            let scenario = scenario(&drawn);
            let unseen = run_with(&scenario, 0, Options::default()).unwrap().summary;
            let nodes = 0..scenario.nodes.len();
            let record = nodes.clone().fold(Record::all(), Record::capturing);
            let options = Options { record, checked: true, bytes: true, most_events: None };
            let seen = run_with(&scenario, 0, options).unwrap();
            assert_eq!(unseen, seen.summary, "{drawn}");
            let record = nodes.fold(Record::all(), Record::capturing).with_payload();
            let gathered = Gathered::default();
            let streamed = run_into(&scenario, 0, record, (Box::new(gathered.clone()), 100)).unwrap();
            assert_eq!(unseen, streamed.summary, "{drawn}");
            let captures = seen.captures.iter().flat_map(|capture| capture.pcapng.iter().copied());
            let shown: String = seen.captures.iter().map(|capture| format!("{:?}", capture.shown)).collect();
            let printed = [
                digest(seen.summary.to_json()),
                digest(format!("{:?}{:?}", seen.tables.categories(), seen.tables.clone().into_columns())),
                digest(captures.collect::<Vec<u8>>()),
                digest(shown),
                digest(format!("{:?}{:?}", streamed.comments, gathered.handed)),
            ];
            writeln!(text, "{kind} {number}: {} events, {}", seen.summary.events, printed.join(" ")).unwrap();
        }
    }
    golden!("runs.txt", text);
}
