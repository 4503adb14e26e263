//! Rows and captures that are handed over during a run equal those kept in memory.

use crate::common::{ROUGH, SPIKES, scenario};
use eifel_sim::record::column::Column;
use eifel_sim::record::{Columns, Record, Sink, Table};
use eifel_sim::{Error, run, run_into};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Values and words of each column of a table.
type Kept = BTreeMap<(&'static str, &'static str), (Vec<i64>, Vec<String>)>;

#[derive(Clone, Default)]
pub struct Gathered {
    kept: Arc<Mutex<Kept>>,
    /// The hand-overs in order: the table, and its number of rows.
    pub handed: Arc<Mutex<Vec<(&'static str, usize)>>>,
    bytes: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// The most bytes that a capture takes; `None` for no limit.
    room: Option<usize>,
}

struct Pipe {
    node: String,
    to: Gathered,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.to.bytes.lock().unwrap();
        let kept = all.entry(self.node.clone()).or_default();
        if self.to.room.is_some_and(|room| kept.len() + bytes.len() > room) {
            return Err(io::Error::other("the disk is full"));
        }
        kept.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Gathered {
    fn rows(&mut self, table: Table, columns: Columns, words: Vec<(&'static str, Vec<String>)>) {
        let mut kept = self.kept.lock().unwrap();
        let mut rows = 0;
        for (name, column) in columns {
            let (values, known) = kept.entry((table.name(), name)).or_default();
            let values_here = numbers(column);
            rows = values_here.len();
            values.extend(values_here);
            if let Some((_, words)) = words.iter().find(|(column, _)| *column == name) {
                known.clone_from(words);
            }
        }
        self.handed.lock().unwrap().push((table.name(), rows));
    }

    fn capture(&mut self, node: &str) -> io::Result<Box<dyn Write>> {
        Ok(Box::new(Pipe { node: node.to_owned(), to: self.clone() }))
    }
}

fn numbers(column: Column) -> Vec<i64> {
    match column {
        Column::Integers(values) => values,
        Column::Small(values) => values.into_iter().map(i64::from).collect(),
        Column::Codes(values) => values.into_iter().map(i64::from).collect(),
        Column::WideCodes(values) => values.into_iter().map(i64::from).collect(),
        Column::Flags(values) => values.into_iter().map(i64::from).collect(),
    }
}

#[test]
fn the_rows_and_captures_are_those_kept_in_memory() {
    let watched = "[sender]\ndetect = \"f-rto\"\nobservers = [\"dsack\", \"eifel-timestamps\"]\n";
    for text in [ROUGH.to_owned(), SPIKES.to_owned(), format!("{ROUGH}\n[flow.tcp]\nsack = true\n"), {
        ROUGH.replacen("[point_to_point]", &format!("{watched}[point_to_point]"), 1)
    }] {
        let scenario = scenario(&text);
        let record = || Record::all().capturing(0).capturing(1);
        let whole = run(&scenario, 0, record()).unwrap();
        for rows in [1, 7, 500, usize::MAX] {
            let gathered = Gathered::default();
            let streamed = run_into(&scenario, 0, record(), (Box::new(gathered.clone()), rows)).unwrap();
            assert_eq!(streamed.summary, whole.summary);
            assert!(streamed.captures.is_empty() && streamed.tables.into_columns().is_empty());
            let categories: BTreeMap<String, Vec<String>> = whole.tables.categories().into_iter().collect();
            let kept = gathered.kept.lock().unwrap();
            for (table, columns) in whole.tables.clone().into_columns() {
                for (name, column) in columns {
                    let (values, words) = &kept[&(table, name)];
                    assert_eq!(values, &numbers(column), "{table}.{name}, {rows} rows");
                    assert_eq!(words, categories.get(&format!("{table}.{name}")).unwrap_or(&Vec::new()));
                }
            }
            let bytes = gathered.bytes.lock().unwrap();
            for capture in &whole.captures {
                assert!(bytes[&capture.name] == capture.pcapng, "{}", capture.name);
            }
        }
    }
}

#[test]
fn no_more_is_held_than_what_is_asked_for_and_what_is_under_way() {
    let gathered = Gathered::default();
    run_into(&scenario(ROUGH), 0, Record::all(), (Box::new(gathered.clone()), 50)).unwrap();
    let kept = gathered.kept.lock().unwrap();
    let most = gathered.handed.lock().unwrap().iter().map(|(_, rows)| *rows).max().unwrap();
    let rows = kept[&("transmissions", "tx")].0.len();
    assert!(rows > 700, "{rows}");
    // The rows kept include the last window, and those that the oracle has not judged.
    assert!(most < 250, "{most}");
}

#[test]
fn captures_hold_headers_unless_the_payload_is_asked_for() {
    let scenario = scenario(ROUGH);
    let size = |record: Record| run(&scenario, 0, record).unwrap().captures[0].pcapng.len();
    let (headers, whole) = (size(Record::none().capturing(0)), size(Record::none().capturing(0).with_payload()));
    assert!(whole > 1_000_000 + headers, "{headers} {whole}");
}

#[test]
fn a_write_that_fails_is_the_outcome() {
    let gathered = Gathered { room: Some(10_000), ..Gathered::default() };
    let record = Record::none().capturing(0);
    let failed = run_into(&scenario(ROUGH), 0, record, (Box::new(gathered), 50));
    assert!(matches!(&failed, Err(Error::Capture(error)) if error.to_string() == "the disk is full"), "{failed:?}");
}

#[test]
fn the_first_segment_that_is_dropped_says_so_as_any_other_does() {
    for segment in [1, 2, 5] {
        let drops = format!("drops = [{{ flow = \"main\", segments = [{segment}] }}]\n[point_to_point.back]");
        let text = ROUGH.replace("[point_to_point.back]", &drops);
        let gathered = Box::new(Gathered::default());
        let streamed = run_into(&scenario(&text), 0, Record::none().capturing(0), (gathered, 100)).unwrap();
        let [(_, at_sender)] = &streamed.comments[..] else { panic!("one capture") };
        let listed: Vec<u64> =
            at_sender.iter().filter(|(_, text)| text.contains("listed")).map(|(frame, _)| *frame).collect();
        // The SYN and the SYN-ACK come first.
        assert_eq!(listed, [segment + 2]);
    }
}

#[test]
fn both_ends_captures_tell_what_became_of_an_original() {
    let text =
        ROUGH.replace("[point_to_point.back]", "drops = [{ flow = \"main\", segments = [3] }]\n[point_to_point.back]");
    let text = text.replacen("loss = { kind = \"gilbert-elliott\", good_to_bad = 0.005, bad_to_good = 0.4 }", "", 1);
    let gathered = Gathered::default();
    let record = Record::none().capturing(0).capturing(1);
    let streamed = run_into(&scenario(&text), 0, record, (Box::new(gathered), 100)).unwrap();
    let [(sender, at_sender), (receiver, at_receiver)] = &streamed.comments[..] else { panic!("two captures") };
    assert_eq!((sender.as_str(), receiver.as_str()), ("sender", "receiver"));
    assert_eq!(at_sender[&5], "dropped at bottleneck: listed");
    assert!(at_receiver.values().all(|text| !text.contains("dropped")), "{at_receiver:?}");
    let called = |word: &str| {
        let told = format!("calls its episode {word}");
        at_sender.values().map(|text| text.matches(&told).count() as u64).sum::<u64>()
    };
    assert_eq!(called("spurious"), streamed.summary.flows[0].detected_spurious, "{at_sender:?}");
    assert!(called("spurious") > 0 && called("genuine") > 0, "{at_sender:?}");
}
