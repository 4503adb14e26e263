//! Judges the analysis of captures by the simulator's oracle. Captures random transfers at the
//! sender, on the path and at the receiver.
//!
//! `cargo run --release -p eifel-hostile --example captured -- [--wild] COUNT [FIRST [FOLDER]]`
//! prints how many retransmissions got the right cause and verdict, per place of capture. It writes
//! every capture with a wrong judgement to FOLDER, if given.

use std::collections::BTreeMap;

use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::frame::read::Reader;
use eifel_capture::report::score::{Score, read_truth, score};
use eifel_capture::result::Retransmission;
use eifel_hostile::captured::{Captured, Weather, captured};

fn analyse(pcapng: &[u8]) -> Analysis {
    let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
    reader.feed(pcapng);
    while let Some(frame) = reader.frame().expect("the simulator writes good files") {
        analyzer.frame(&frame);
    }
    analyzer.finish()
}

#[derive(Default)]
struct Tally {
    score: Score,
    kinds: BTreeMap<String, u64>,
    /// For each ground of a verdict: the number of verdicts, and the number of wrong ones.
    grounds: BTreeMap<String, [u64; 2]>,
}

impl Tally {
    fn add(&mut self, other: &Score) {
        let score = &mut self.score;
        score.retransmissions += other.retransmissions;
        score.found += other.found;
        score.cause_right += other.cause_right;
        score.cause_undecided += other.cause_undecided;
        score.cause_undecided_right += other.cause_undecided_right;
        score.verdict_right += other.verdict_right;
        score.right += other.right;
        score.undecidable += other.undecidable;
        score.spurious_called_needed += other.spurious_called_needed;
        score.needed_called_spurious_certainly += other.needed_called_spurious_certainly;
        score.needed_called_spurious += other.needed_called_spurious;
        score.not_in_truth += other.not_in_truth;
        for wrong in &other.wrong {
            *self.kinds.entry(format!("{}: {}", wrong.truth, wrong.found)).or_default() += 1;
        }
    }

    /// Counts the grounds of verdicts. A verdict about a retransmission that is not in the truth
    /// counts as right.
    fn ground(&mut self, found: &[Retransmission], truth: &Score) {
        let ground = |one: &Retransmission| format!("{:?} ({:?}: {})", one.verdict, one.confidence, one.reason);
        for one in found {
            self.grounds.entry(ground(one)).or_default()[0] += 1;
        }
        for wrong in &truth.wrong {
            let (_, truth) = wrong.truth.split_once(' ').unwrap_or_default();
            let Some((_, said)) = wrong.found.split_once(' ').filter(|_| wrong.found != "not found") else { continue };
            if !said.starts_with("Undecidable") && !said.to_lowercase().starts_with(truth) {
                self.grounds.entry(said.to_owned()).or_default()[1] += 1;
            }
        }
    }

    fn print(&self, place: &str) {
        let score = &self.score;
        let share = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
        let (all, decidable) = (score.retransmissions, score.retransmissions - score.undecidable);
        println!(
            "{place}: {all} retransmissions, found {}, cause {:.2} % ({:.2} % of the decided, {:.2} % undecided), verdict {:.2} % ({:.2} % of the decidable), both {:.2} %, undecidable \
             {:.2} %, needed called spurious {} ({} certainly), not in the truth {}",
            score.found,
            share(score.cause_right, score.found),
            share(score.cause_right - score.cause_undecided_right, score.found - score.cause_undecided),
            share(score.cause_undecided, score.found),
            share(score.verdict_right, all),
            share(score.verdict_right, decidable),
            share(score.right, all),
            share(score.undecidable, all),
            score.needed_called_spurious,
            score.needed_called_spurious_certainly,
            score.not_in_truth,
        );
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (kind, count) in kinds.into_iter().take(30) {
            println!("  {count:6} {kind}");
        }
        for (ground, [all, wrong]) in &self.grounds {
            println!("  {wrong:6} of {all:6} wrong: {ground}");
        }
    }
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let wild = arguments.first().is_some_and(|first| first == "--wild");
    if wild {
        arguments.remove(0);
    }
    let weather = if wild { Weather::Wild } else { Weather::Plain };
    let number = |index: usize, other: u64| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(other);
    let (count, first) = (number(0, 200), number(1, 0));
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut cut_off = 0;
    for seed in first..first + count {
        let Ok(Captured { scenario, places }) = captured(seed, weather) else {
            cut_off += 1;
            continue;
        };
        for place in &places {
            let truth = read_truth(&place.truth).expect("truth is written as it is read");
            let analysis = analyse(&place.pcapng);
            let found = score(&truth, &analysis.retransmissions);
            let tally = tallies.entry(place.name.clone()).or_default();
            tally.add(&found);
            tally.ground(&analysis.retransmissions, &found);
            if let Some(folder) = arguments.get(2).filter(|_| !found.wrong.is_empty()) {
                let name = format!("{folder}/{seed}.{}", place.name);
                let kept = [("pcapng", place.pcapng.as_slice()), ("csv", place.truth.as_bytes())];
                for (suffix, bytes) in
                    kept.into_iter().chain([("toml", scenario.as_bytes()), ("json", found.json().as_bytes())])
                {
                    std::fs::write(format!("{name}.{suffix}"), bytes).expect("the folder can be written to");
                }
            }
        }
    }
    for (place, tally) in &tallies {
        tally.print(place);
    }
    if cut_off > 0 {
        println!("{cut_off} scenarios never came to rest");
    }
}
