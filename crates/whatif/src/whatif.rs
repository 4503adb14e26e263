//! Predicts other senders over the path that a capture shows.
//!
//! Properties of the path that the capture leaves open are drawn repeatedly, and every sender runs
//! over each drawn path. The results are ranges of goodput, and how often each sender was faster
//! than the captured one.

use crate::change::put;
use crate::events::Captured;
use crate::path::{Path, Refusal};
use crate::replay::{self, Replay};
use crate::scenario;
use eifel_path::stream::Stream;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::cmp::Ordering;

/// Share of the draws that a range leaves out on each side.
pub const OUTSIDE: f64 = 0.05;
/// Number of paths that are drawn at a time.
const AT_A_TIME: u32 = 16;
/// The name of the captured sender in results.
const CAPTURED: &str = "as captured";

/// A sender to try: keys of the scenario and their values. `sender.` and `tcp.` stand for the
/// flow's tables.
#[derive(Clone, PartialEq, Debug)]
pub struct RequestedSender {
    pub name: String,
    pub changes: Vec<(String, Value)>,
}

/// A range of results. Nine of ten draws lie between `low` and `high`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Range {
    pub low: f64,
    pub middle: f64,
    pub high: f64,
}

/// A sender's results on the drawn paths, as a capture next to it shows them: from its first packet
/// to the last ACK of new data.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Predicted {
    pub name: String,
    pub goodput_bps: Range,
    pub time_s: Range,
    pub retransmissions: Range,
    /// Share of the draws in which it is faster than the captured sender. A draw with equal goodput
    /// counts half.
    pub faster: f64,
}

/// The senders from the fastest to the slowest, and the share of the draws with this order. Senders
/// that are equally fast stand together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Order {
    pub senders: Vec<Vec<String>>,
    pub share: f64,
}

/// The results of all senders.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WhatIf {
    pub captured_goodput_bps: f64,
    pub draws: u32,
    pub seed: u64,
    /// The captured sender first, then those asked for.
    pub senders: Vec<Predicted>,
    /// The orders that occurred, the most frequent first.
    pub orders: Vec<Order>,
}

/// Goodput, time and retransmissions of one run.
type Run = [f64; 3];

/// Two runs whose goodput differs by no more than this share are equally fast.
const EQUAL: f64 = 1e-3;

/// Compares the goodput of two runs over the same path.
fn compare(one: &Run, other: &Run) -> Ordering {
    if (one[0] - other[0]).abs() <= EQUAL * one[0].max(other[0]) {
        return Ordering::Equal;
    }
    one[0].total_cmp(&other[0])
}

/// Runs the captured sender and the senders of `asked` over `draws` paths. Calls `progress` with
/// the number of paths done; its error ends the work.
///
/// # Errors
/// A change that the simulator refuses, or the error of `progress`.
pub fn whatif(
    (captured, path, replay): (&Captured, &Path, &Replay),
    asked: &[RequestedSender],
    (draws, seed): (u32, u64),
    progress: &mut dyn FnMut(u32) -> Result<(), String>,
) -> Result<WhatIf, Refusal> {
    let mut runs: Vec<Vec<Run>> = Vec::new();
    while (runs.len() as u32) < draws {
        let from = runs.len() as u32;
        let some =
            (from..draws.min(from + AT_A_TIME)).into_par_iter().map(|draw| one(path, replay, asked, (draw, seed)));
        runs.extend(some.collect::<Result<Vec<_>, _>>()?);
        progress(runs.len() as u32).map_err(Refusal)?;
    }
    let duration = replay.compared.iter().find(|one| one.what.starts_with("duration"));
    let off = duration.map_or(0.0, |one| (one.replayed / one.captured.max(1e-9)).ln().abs());
    let names = std::iter::once(CAPTURED).chain(asked.iter().map(|one| one.name.as_str()));
    let senders = names.enumerate().map(|(index, name)| predicted(&runs, index, name, off)).collect();
    Ok(WhatIf {
        captured_goodput_bps: captured.events().goodput_bps(),
        draws,
        seed,
        senders,
        orders: orders(&runs, asked),
    })
}

/// Runs all senders over one drawn path.
fn one(path: &Path, replay: &Replay, asked: &[RequestedSender], (draw, seed): (u32, u64)) -> Result<Vec<Run>, Refusal> {
    let mut draws = Stream::new(seed, &["whatif", &draw.to_string()]);
    let among = draws.below(1 + replay.others.len() as u64) as usize;
    let sender = among.checked_sub(1).map_or(&replay.sender, |other| &replay.others[other]);
    let plain = scenario::drawn(path, sender, &mut draws);
    let mut runs = vec![run(&plain)?];
    for one in asked {
        let mut changed = plain.clone();
        for (key, value) in &one.changes {
            put(&mut changed, key, value.clone())?;
        }
        runs.push(run(&changed)?);
    }
    Ok(runs)
}

/// Measures a run like the capture: at its sender, which learns of arrivals from ACKs.
fn run(scenario: &Value) -> Result<Run, Refusal> {
    let events = replay::run(scenario)?;
    Ok([events.goodput_bps(), events.took_s, events.retransmissions as f64])
}

fn predicted(runs: &[Vec<Run>], index: usize, name: &str, off: f64) -> Predicted {
    let range = |number: usize, off: f64| {
        let mut all: Vec<f64> = runs.iter().map(|run| run[index][number]).collect();
        all.sort_by(f64::total_cmp);
        let last = all.len() as f64 - 1.0;
        let low = all[(last * OUTSIDE).floor() as usize];
        let high = all[(last * (1.0 - OUTSIDE)).ceil() as usize];
        // The predictions may be as far off as the replay of the captured sender.
        Range { low: low * (-off).exp(), middle: all[all.len() / 2], high: high * off.exp() }
    };
    let better = |run: &Vec<Run>| match compare(&run[index], &run[0]) {
        Ordering::Greater => 1.0,
        Ordering::Equal => 0.5,
        Ordering::Less => 0.0,
    };
    Predicted {
        name: name.to_owned(),
        goodput_bps: range(0, off),
        time_s: range(1, off),
        retransmissions: range(2, 0.0),
        faster: runs.iter().map(better).sum::<f64>() / runs.len() as f64,
    }
}

fn orders(runs: &[Vec<Run>], asked: &[RequestedSender]) -> Vec<Order> {
    let mut counts = std::collections::BTreeMap::<Vec<Vec<usize>>, u32>::new();
    for run in runs {
        let mut order: Vec<usize> = (0..run.len()).collect();
        order.sort_by(|one, other| run[*other][0].total_cmp(&run[*one][0]));
        let groups = order.chunk_by(|one, other| compare(&run[*one], &run[*other]).is_eq());
        let sorted = |group: &[usize]| {
            let mut group = group.to_vec();
            group.sort_unstable();
            group
        };
        *counts.entry(groups.map(sorted).collect()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let name = |index: usize| index.checked_sub(1).map_or(CAPTURED, |index| asked[index].name.as_str()).to_owned();
    let order = |(order, count): (Vec<Vec<usize>>, u32)| Order {
        senders: order.into_iter().map(|group| group.into_iter().map(name).collect()).collect(),
        share: f64::from(count) / runs.len() as f64,
    };
    counts.into_iter().map(order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_that_differ_by_a_thousandth_are_equally_fast() {
        let asked = ["slow", "same"].map(|name| RequestedSender { name: name.to_owned(), changes: Vec::new() });
        let run = |goodput: f64| [goodput, 1.0, 0.0];
        let runs = [vec![run(100.0), run(99.0), run(100.05)], vec![run(100.0), run(99.0), run(99.95)]];
        let [order] = &orders(&runs, &asked)[..] else { panic!("both draws have one order") };
        assert_eq!(order.senders, [vec![CAPTURED, "same"], vec!["slow"]]);
        assert_eq!(order.share, 1.0);
        assert_eq!([0, 1, 2].map(|index| predicted(&runs, index, "", 0.0).faster), [0.5, 0.0, 0.5]);
    }
}
