//! Judges the analysis by the simulator's oracle: random senders over random paths, captured at either end.
//!
//! `cargo run -p eifel-capture --example simulated -- COUNT [FIRST [FOLDER]]` prints how many retransmissions got the right
//! cause and verdict, by the place of the capture; with a folder it leaves the captures there in which something was wrong.

use std::collections::BTreeMap;
use std::path::Path;

use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::read::Reader;
use eifel_capture::report::Retransmission;
use eifel_capture::sender::Cause;
use eifel_capture::verdict::{Confidence, Verdict};
use eifel_sim::record::{Record, Table};
use eifel_sim::scenario::Scenario;

/// The first sequence number: position 0 is the SYN's.
const ISN: u32 = 4_294_000_000;

/// A small generator: the scenarios only have to differ.
struct Dice(u64);

impl Dice {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ self.0 >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 20) % below
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.draw(of.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.draw(100) < percent
    }
}

fn scenario(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678);
    for _ in 0..8 {
        dice.draw(2);
    }
    let delay = 2 + dice.draw(150);
    let rate = [500_000, 1_500_000, 5_000_000, 20_000_000][dice.draw(4) as usize];
    let queue = 10 + dice.draw(150);
    let mut path = format!(
        "[point_to_point]\nrate_bps = {rate}\ndelay_ms = {delay}\nqueue = {{ kind = \"drop-tail\", packets = {queue} }}\n"
    );
    if dice.chance(40) {
        path += &format!("loss = {{ kind = \"random\", rate = {} }}\n", 0.002 * (1 + dice.draw(15)) as f64);
    }
    if dice.chance(30) {
        let (length, rate) = (1 + dice.draw(12), 0.002 * (1 + dice.draw(10)) as f64);
        path += &format!("reorder = {{ length = {length}, rate = {rate}, longest_wait_s = 0.3 }}\n");
    }
    path += "[point_to_point.back]\n";
    path += &format!("rate_bps = {rate}\n");
    if dice.chance(30) {
        path += &format!("loss = {{ kind = \"random\", rate = {} }}\n", 0.01 * (1 + dice.draw(20)) as f64);
    }
    if dice.chance(60) {
        let links = dice.one(&["\"bottleneck\"", "\"bottleneck-back\"", "\"bottleneck\", \"bottleneck-back\""]);
        path += &format!("[[spike]]\nholds = \"{}\"\nlinks = [{links}]\nat = [", dice.one(&["sending", "arriving"]));
        for number in 0..1 + dice.draw(3) {
            path += &format!("{{ start_s = {}, length_s = {} }}, ", 2 + 6 * number, 0.2 + 0.1 * dice.draw(25) as f64);
        }
        path += "]\n";
    }
    let timestamps = dice.chance(60);
    let sack = dice.chance(75);
    let dsack = sack && dice.chance(80);
    let recover = if sack {
        dice.one(&["rack-tlp", "rack-tlp", "rfc6675", "newreno-sack"])
    } else {
        dice.one(&["newreno", "reno"])
    };
    let detect = dice.one(if timestamps { &["none", "eifel-timestamps", "f-rto"] } else { &["none", "f-rto"] });
    let respond = dice.one(&["none", "rfc4015", "option-1"]);
    let rto = dice.one(&["rfc6298", "linux", "linux"]);
    let bytes = 100_000 + dice.draw(1_500_000);
    let window = 10 + dice.draw(100);
    let extra = if sack { format!("dsack = {dsack}\n") } else { String::new() };
    format!(
        "seed = {seed}\nduration_s = 200\n{path}\n[[flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\nisn = [{ISN}, 77]\n\
         application = {{ kind = \"bulk\", bytes = {bytes} }}\n[flow.tcp]\npayload_bytes = 1448\n\
         receive_window_segments = {window}\ntimestamps = {timestamps}\nsack = {sack}\n{extra}\
         [flow.sender]\nrecover = \"{recover}\"\ndetect = \"{detect}\"\nrespond = \"{respond}\"\nrto = \"{rto}\"\n"
    )
}

fn analyse(pcapng: &[u8]) -> Analysis {
    let mut reader = Reader::new();
    let mut analyzer = Analyzer::default();
    reader.feed(pcapng);
    while let Some(frame) = reader.frame().expect("the simulator writes good files") {
        analyzer.frame(&frame);
    }
    analyzer.finish()
}

/// A retransmission as the oracle has it.
struct True {
    t_ns: i64,
    start: i64,
    copy: i32,
    timeout: bool,
    spurious: bool,
    delivered: bool,
    arrived_ns: i64,
}

#[derive(Default)]
struct Tally {
    all: u64,
    missing: u64,
    cause: u64,
    verdict: u64,
    both: u64,
    undecidable: u64,
    wrong: BTreeMap<String, u64>,
}

impl Tally {
    fn judge(&mut self, row: &True, found: Option<&Retransmission>) -> bool {
        self.all += 1;
        let Some(found) = found else {
            self.missing += 1;
            *self.wrong.entry("not found".into()).or_default() += 1;
            return false;
        };
        let cause = match found.cause {
            Cause::Rto | Cause::Loss => row.timeout,
            Cause::Fast | Cause::Tlp => !row.timeout,
            _ => false,
        };
        let verdict = matches!((found.verdict, row.spurious), (Verdict::Spurious, true) | (Verdict::Needed, false));
        self.undecidable += u64::from(found.verdict == Verdict::Undecidable);
        self.cause += u64::from(cause);
        self.verdict += u64::from(verdict);
        self.both += u64::from(cause && verdict);
        if !verdict {
            let sure = if found.confidence == Confidence::Certain { "certain" } else { "unsure" };
            let said = format!(
                "{} is {:?} ({sure}): {}",
                if row.spurious { "spurious" } else { "needed" },
                found.verdict,
                found.reason
            );
            *self.wrong.entry(said).or_default() += 1;
        }
        if !cause {
            *self
                .wrong
                .entry(format!("{} is {:?}", if row.timeout { "timeout" } else { "fast" }, found.cause))
                .or_default() += 1;
        }
        cause && verdict
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, other: u64| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(other);
    let (count, first) = (number(0, 200), number(1, 0));
    let mut tallies = [Tally::default(), Tally::default()];
    for seed in first..first + count {
        let text = scenario(seed);
        let parsed =
            Scenario::parse(&text, Path::new("simulated.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let record = Record::none().with(Table::Transmissions).capturing(0).capturing(1);
        let outcome = eifel_sim::run(&parsed, 0, record).expect("it can be run");
        let rows = &outcome.tables.transmissions;
        let truth: Vec<True> = (0..rows.t_ns.len())
            .filter(|row| rows.end[*row] == 0 && rows.kind[*row] == 1 && rows.segment[*row] > 0)
            .map(|row| True {
                t_ns: rows.t_ns[row],
                start: rows.start[row],
                copy: rows.copy[row],
                timeout: rows.cause[row] == 1,
                spurious: rows.needed[row] == 2,
                delivered: rows.fate[row] == 1,
                arrived_ns: rows.arrived_ns[row],
            })
            .collect();
        for (place, capture) in outcome.captures.iter().enumerate() {
            let found = analyse(&capture.pcapng).retransmissions;
            let seq = |row: &True| ISN.wrapping_add(row.start as u32);
            let mut wrong = Vec::new();
            let mut used = vec![false; found.len()];
            for row in truth.iter().filter(|row| place == 0 || row.delivered) {
                let index = found.iter().enumerate().position(|(index, one)| {
                    let nanos = (one.time_s * 1e9).round() as i64;
                    !used[index]
                        && one.seq == seq(row)
                        && if place == 0 { nanos == row.t_ns } else { nanos == row.arrived_ns }
                });
                if let Some(index) = index {
                    used[index] = true;
                }
                let mine = index.map(|index| &found[index]);
                if !tallies[place].judge(row, mine) {
                    wrong.push(format!(
                        "seed {seed} place {place} t {} seq {} copy {} timeout {} spurious {}: {:?}",
                        row.t_ns as f64 / 1e9,
                        seq(row),
                        row.copy,
                        row.timeout,
                        row.spurious,
                        mine.map(|one| (one.frame, one.cause, one.verdict, one.reason))
                    ));
                }
            }
            if let Some(folder) = arguments.get(2).filter(|_| !wrong.is_empty()) {
                let name = format!("{folder}/{seed}.{place}");
                std::fs::write(format!("{name}.pcapng"), &capture.pcapng).expect("the folder can be written to");
                std::fs::write(format!("{name}.txt"), format!("{}\n{text}", wrong.join("\n")))
                    .expect("the folder can be written to");
            }
        }
    }
    for (place, tally) in ["sender", "receiver"].into_iter().zip(&tallies) {
        let share = |part: u64| 100.0 * part as f64 / tally.all.max(1) as f64;
        println!(
            "{place}: {} retransmissions, not found {}, undecidable {}, right in cause {:.2} %, in verdict {:.2} %, in both {:.2} %",
            tally.all,
            tally.missing,
            tally.undecidable,
            share(tally.cause),
            share(tally.verdict),
            share(tally.both)
        );
        for (what, count) in &tally.wrong {
            println!("  {count:6} {what}");
        }
    }
}
