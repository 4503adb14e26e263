//! Runs many cases on all cores, up to the first failure.
#![expect(clippy::disallowed_methods, reason = "the clock on the wall, to notice what stands still")]

use crate::bounds;
use crate::judge::{Law, Violation, judge};
use crate::shrink::shrink;
use eifel_sim::summary::Summary;
use std::fmt;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The most runs for shrinking: some seconds.
const TRIES: usize = 4000;
/// A case takes a millisecond, and the longest known one ten seconds. A case that takes this long
/// hangs, even on a busy machine.
const LONGEST_CASE: Duration = Duration::from_secs(900);

#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    pub seed: u64,
    /// The violation in the case as drawn.
    pub violation: Violation,
    /// The smallest scenario that fails in the same way, as TOML.
    pub scenario: String,
    /// How the smallest scenario fails.
    pub shrunk: Violation,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.violation)?;
        writeln!(f, "replay: {}", replay(self.seed))?;
        writeln!(f, "shrunk: {}", self.shrunk)?;
        f.write_str(&self.scenario)
    }
}

fn replay(seed: u64) -> String {
    format!("cargo run --profile checked -p eifel-hostile -- --seed {seed}")
}

/// Sums over all cases. They show that the paths were hostile.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    pub cases: u64,
    pub flows: u64,
    /// Flows whose applications read everything.
    pub completed: u64,
    /// Data segments sent.
    pub segments: u64,
    /// Data segments retransmitted.
    pub retransmissions: u64,
    /// Data segments retransmitted without need.
    pub spurious: u64,
    /// Data segments dropped.
    pub drops: u64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    pub fast_retransmits: u64,
    /// Episodes that the acting detector called spurious.
    pub detected_spurious: u64,
    /// Simulator events.
    pub events: u64,
}

impl Tally {
    fn add(&mut self, summary: &Summary) {
        self.cases += 1;
        self.events += summary.events;
        for flow in &summary.flows {
            self.flows += 1;
            self.completed += u64::from(flow.completed);
            self.segments += flow.segments_sent;
            self.retransmissions += flow.retransmissions;
            self.spurious += flow.spurious_retransmissions;
            self.drops += flow.drops;
            self.timeouts += flow.timeouts;
            self.fast_retransmits += flow.fast_retransmits;
            self.detected_spurious += flow.detected_spurious;
        }
    }

    fn merge(&mut self, other: &Self) {
        let Self { cases, flows, completed, segments, retransmissions, spurious, drops, timeouts, .. } = self;
        *cases += other.cases;
        *flows += other.flows;
        *completed += other.completed;
        *segments += other.segments;
        *retransmissions += other.retransmissions;
        *spurious += other.spurious;
        *drops += other.drops;
        *timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.detected_spurious += other.detected_spurious;
        self.events += other.events;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cases, {} flows ({} completed), {} segments, {} retransmissions ({} spurious), {} dropped, {} timeouts, \
             {} fast retransmits, {} episodes judged spurious, {} events",
            self.cases,
            self.flows,
            self.completed,
            self.segments,
            self.retransmissions,
            self.spurious,
            self.drops,
            self.timeouts,
            self.fast_retransmits,
            self.detected_spurious,
            self.events
        )
    }
}

/// Draws the scenario of a seed: [`scenario`](crate::generate::scenario) or
/// [`recorded`](crate::generate::recorded).
pub type Draw = fn(u64) -> toml::Table;

/// Runs the case of one seed, and shrinks it if it fails.
///
/// # Errors
///
/// The failure, with the shrunk scenario.
pub fn case(draw: Draw, seed: u64, law: Option<Law>) -> Result<Summary, Box<Failure>> {
    let scenario = draw(seed);
    judge(&scenario.to_string(), law).map_err(|violation| {
        let like = |table: &toml::Table| judge(&table.to_string(), law).err().filter(|other| other.is_like(&violation));
        let mut small = shrink(&scenario, TRIES, |table| like(table).is_some());
        if let Some(seconds) = bounds::seconds(&small.to_string()) {
            // Other tools take the duration from the file.
            small.insert("duration_s".to_owned(), seconds.into());
        }
        let shrunk = like(&small).unwrap_or_else(|| violation.clone());
        Box::new(Failure { seed, violation, scenario: small.to_string(), shrunk })
    })
}

/// Runs the cases of these seeds on `threads` threads; `None` means one per core. Calls `progress`
/// from time to time with the number of cases done.
///
/// # Errors
///
/// The failure with the lowest seed before the threads stopped.
pub fn hunt(
    draw: Draw,
    seeds: Range<u64>,
    threads: Option<usize>,
    law: Option<Law>,
    mut progress: impl FnMut(u64),
) -> Result<Tally, Box<Failure>> {
    let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    let next = AtomicU64::new(seeds.start);
    let first: Mutex<Option<Box<Failure>>> = Mutex::new(None);
    let total = Mutex::new(Tally::default());
    let at_work: Vec<Mutex<Option<(u64, Instant)>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = at_work
            .iter()
            .map(|slot| {
                scope.spawn(|| {
                    let mut tally = Tally::default();
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= seeds.end {
                            break;
                        }
                        set(slot, Some((seed, Instant::now())));
                        match case(draw, seed, law) {
                            Ok(summary) => tally.add(&summary),
                            Err(failure) => {
                                next.store(seeds.end, Ordering::Relaxed);
                                let mut first = first.lock().unwrap_or_else(|broken| broken.into_inner());
                                if first.as_ref().is_none_or(|other| failure.seed < other.seed) {
                                    *first = Some(failure);
                                }
                            }
                        }
                    }
                    set(slot, None);
                    total.lock().unwrap_or_else(|broken| broken.into_inner()).merge(&tally);
                })
            })
            .collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(50));
            progress(next.load(Ordering::Relaxed).min(seeds.end) - seeds.start);
            watch(&at_work);
        }
    });
    let total = total.into_inner().unwrap_or_else(|broken| broken.into_inner());
    match first.into_inner().unwrap_or_else(|broken| broken.into_inner()) {
        None => Ok(total),
        Some(failure) => Err(failure),
    }
}

fn set(slot: &Mutex<Option<(u64, Instant)>>, to: Option<(u64, Instant)>) {
    *slot.lock().unwrap_or_else(|broken| broken.into_inner()) = to;
}

/// Ends the process if a thread hangs, since threads cannot be stopped. Prints that thread's seed.
fn watch(at_work: &[Mutex<Option<(u64, Instant)>>]) {
    for slot in at_work {
        let slot = slot.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some((seed, _)) = slot.filter(|(_, since)| since.elapsed() > LONGEST_CASE) {
            eprintln!("seed {seed}: stands still after {} s\nreplay: {}", LONGEST_CASE.as_secs(), replay(seed));
            std::process::exit(1);
        }
    }
}
