//! Replays the captured sender over the extracted path.
//!
//! The capture does not show the sender's algorithms either. So the replay searches for algorithms
//! whose events over the path are nearest to the captured events. If even the nearest events
//! differ, the extracted path is incomplete, and nothing is predicted.

use crate::events::{self, Captured, Events};
use crate::path::{Path, Refusal};
use crate::scenario;
use crate::sender::Sender;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::{Options, run_with};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

/// Rounds of the search, each along every axis.
const ROUNDS: usize = 3;
/// Number of best senders whose neighbours each round tries.
const CLIMBERS: usize = 3;
/// Number of replays of a path that loses ACKs, because it is unknown which ACKs were lost.
const SEEDS: u64 = 5;
/// Senders whose misfit is above the best by at most this are equally likely.
const AS_GOOD: f64 = 0.02;
/// Maximum number of senders to draw from.
const MOST_SENDERS: usize = 4;
/// Maximum number of events of a run: far more than a transfer over a path takes.
const MOST_EVENTS: u64 = 200_000_000;

/// How far a replayed number may be from the captured number: a share of it, or an absolute amount.
const RETRANSMISSIONS: (f64, f64) = (0.1, 2.0);
const TIMEOUTS: (f64, f64) = (0.2, 1.0);
const ROUND_TRIP: (f64, f64) = (0.1, 2.0);
const DURATION: (f64, f64) = (0.05, 0.05);
/// The share of the elapsed time by which two events may differ and still count as simultaneous.
const DRIFT: f64 = 0.01;
/// Share of the retransmissions that have to be of the same segments.
const SAME_PLACES: f64 = 0.5;

/// A number of events, or a time, in the captured and in the replayed run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    pub what: &'static str,
    pub captured: f64,
    pub replayed: f64,
    pub agrees: bool,
}

/// The captured sender, as far as its events show it, and how well its replay agrees.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Replay {
    /// Its table in a scenario.
    pub sender: Value,
    /// Tables of other senders that fit as well.
    pub others: Vec<Value>,
    pub compared: Vec<Compared>,
    /// Whether all numbers agree. Otherwise predictions are worth nothing.
    pub agrees: bool,
}

/// Searches for the sender, and compares its replay with the capture.
///
/// # Errors
/// The simulator refuses the path.
pub fn replay(captured: &Captured, path: &Path) -> Result<Replay, Refusal> {
    let seen = captured.events();
    let seeds = if path.acks.lost > 0 { SEEDS } else { 1 };
    let judged = |senders: &[Sender]| -> Result<Vec<(f64, Sender, Vec<Events>)>, Refusal> {
        let each = senders.par_iter().map(|sender| {
            let table = sender.table(&path.ends);
            let events = (1..=seeds).map(|seed| run(&scenario::as_seen(path, &table, seed)));
            let events = events.collect::<Result<Vec<_>, _>>()?;
            let sum: f64 = events.iter().map(|events| misfit(&seen, events)).sum();
            Ok((sum / seeds as f64, *sender, events))
        });
        each.collect()
    };
    let mut best = judged(&Sender::starts(captured.model, &path.ends))?;
    let mut tried: Vec<Sender> = best.iter().map(|one| one.1).collect();
    for _ in 0..ROUNDS {
        // Equal senders stay in the order in which they were tried, the likelier first.
        best.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut next = Vec::new();
        for one in best.iter().take(CLIMBERS) {
            next.extend(one.1.neighbours(&path.ends).into_iter().filter(|sender| !tried.contains(sender)));
            next.sort_unstable();
            next.dedup();
        }
        if next.is_empty() {
            break;
        }
        tried.extend(&next);
        best.extend(judged(&next)?);
    }
    best.sort_by(|one, other| one.0.total_cmp(&other.0));
    let nearest = best[0].0;
    let as_good = best.iter().skip(1).filter(|one| one.0 <= nearest + AS_GOOD).take(MOST_SENDERS - 1);
    let compared = compare(&seen, &best[0].2);
    Ok(Replay {
        sender: best[0].1.table(&path.ends),
        others: as_good.map(|one| one.1.table(&path.ends)).collect(),
        agrees: compared.iter().all(|one| one.agrees),
        compared,
    })
}

/// Runs a scenario of one flow, and reads the capture at its sender.
///
/// # Errors
/// The simulator refuses it.
pub fn run(scenario: &Value) -> Result<Events, Refusal> {
    let outcome = simulated(scenario, Record::none().capturing(0))?;
    let capture = outcome.captures.first().map(|capture| capture.pcapng.as_slice()).unwrap_or_default();
    events::of_pcapng(capture)
        .map(|captured| captured.events())
        .ok_or_else(|| Refusal("the replay sent no data".into()))
}

/// Runs a scenario.
///
/// # Errors
/// The simulator refuses it.
pub fn simulated(scenario: &Value, record: Record) -> Result<eifel_sim::Outcome, Refusal> {
    let parsed = Scenario::parse(&scenario.to_string(), "the extracted path".as_ref())
        .map_err(|error| Refusal(error.to_string()))?;
    let options = Options { record, most_events: Some(MOST_EVENTS), ..Options::default() };
    run_with(&parsed, 0, options).map_err(|error| Refusal(error.to_string()))
}

/// Returns the distance between two runs; 0 if they are equal.
fn misfit(seen: &Events, replayed: &Events) -> f64 {
    let far = |one: f64, other: f64, least: f64| ((one + least) / (other + least)).ln().abs();
    far(seen.took_s, replayed.took_s, 0.01)
        + 0.5 * far(seen.rtt_ms, replayed.rtt_ms, 1.0)
        + 0.25 * far(seen.retransmissions as f64, replayed.retransmissions as f64, 3.0)
        + 0.25 * far(seen.timeouts as f64, replayed.timeouts as f64, 1.0)
        + 2.0 * (1.0 - same(seen, replayed, 1))
        + 1.0
        - same(seen, replayed, 2)
}

/// Returns the share of both runs' transmissions, from copy `from` on, that agree in segment, copy
/// and approximate time.
fn same(seen: &Events, replayed: &Events, from: usize) -> f64 {
    let near = (seen.rtt_ms / 1e3).max(0.01);
    let of = |events: &Events| events.places.iter().filter(|place| place.1 >= from).count();
    let all = of(seen) + of(replayed);
    if all == 0 {
        return 1.0;
    }
    let same = seen.places.iter().filter(|place| place.1 >= from).filter(|place| {
        let at = replayed.places.binary_search_by(|other| (other.0, other.1).cmp(&(place.0, place.1)));
        at.is_ok_and(|at| (replayed.places[at].2 - place.2).abs() <= near + DRIFT * place.2)
    });
    2.0 * same.count() as f64 / all as f64
}

/// Compares the capture with the median of the replays. The limits do not grow with the replays'
/// range: a path on which anything may happen would agree with everything.
fn compare(seen: &Events, replayed: &[Events]) -> Vec<Compared> {
    let near = |what, number: &dyn Fn(&Events) -> f64, (share, least): (f64, f64)| {
        let mut all: Vec<f64> = replayed.iter().map(number).collect();
        all.sort_by(f64::total_cmp);
        let (captured, replayed) = (number(seen), all[all.len() / 2]);
        let agrees = (captured - replayed).abs() <= least.max(share * captured);
        Compared { what, captured, replayed, agrees }
    };
    let mut compared = vec![
        near("retransmissions", &|events| events.retransmissions as f64, RETRANSMISSIONS),
        near("timeouts", &|events| events.timeouts as f64, TIMEOUTS),
        near("round trip in the middle, ms", &|events| events.rtt_ms, ROUND_TRIP),
        near("round trip that a tenth exceeds, ms", &|events| events.rtt_ms_p90, ROUND_TRIP),
        near("duration, s", &|events| events.took_s, DURATION),
    ];
    if let [one] = replayed {
        let share = same(seen, one, 2);
        let agrees = share >= SAME_PLACES || seen.retransmissions + one.retransmissions <= 4;
        let what = "share of retransmissions of the same segments";
        compared.push(Compared { what, captured: 1.0, replayed: share, agrees });
    }
    compared
}
