//! Many cases on all cores, until the first that fails.
#![expect(clippy::disallowed_methods, reason = "the clock on the wall, to notice what stands still")]

use crate::generate;
use crate::judge::{Law, Violation, judge};
use crate::patience;
use crate::shrink::shrink;
use eifel_sim::summary::Summary;
use std::fmt;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Questions that a shrinking may ask: some seconds.
const TRIES: usize = 4000;
/// A case takes a millisecond; one that takes as long as this stands still inside.
const LONGEST_CASE: Duration = Duration::from_secs(120);

/// A case that failed.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// What is wrong.
    pub violation: Violation,
    /// The smallest scenario in which the same is wrong, as TOML.
    pub scenario: String,
    /// What is wrong there.
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

/// What the cases did, added up: it shows that they were hostile.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    /// Cases.
    pub cases: u64,
    /// Their flows, and those whose applications read everything.
    pub flows: u64,
    /// See [`flows`](Self::flows).
    pub completed: u64,
    /// Data segments sent.
    pub segments: u64,
    /// Those sent again.
    pub retransmissions: u64,
    /// Those sent again without need.
    pub spurious: u64,
    /// Data segments dropped.
    pub drops: u64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Episodes that the acting detector called spurious.
    pub detected_spurious: u64,
    /// Events of the simulation.
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
            "{} cases, {} flows ({} completed), {} segments, {} of them again ({} without need), {} dropped, {} timeouts, \
             {} fast retransmits, {} episodes detected as spurious, {} events",
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

/// Runs the case of one seed; a failure is shrunk.
///
/// # Errors
/// The failure.
pub fn case(seed: u64, law: Option<Law>) -> Result<Summary, Box<Failure>> {
    let scenario = generate::scenario(seed);
    judge(&scenario.to_string(), law).map_err(|violation| {
        let like = |table: &toml::Table| judge(&table.to_string(), law).err().filter(|other| other.is_like(&violation));
        let mut small = shrink(&scenario, TRIES, |table| like(table).is_some());
        if let Some(seconds) = patience::seconds(&small.to_string()) {
            // For other tools, which take a scenario by its word.
            small.insert("duration_s".to_owned(), seconds.into());
        }
        let shrunk = like(&small).unwrap_or_else(|| violation.clone());
        Box::new(Failure { seed, violation, scenario: small.to_string(), shrunk })
    })
}

/// Runs the cases of these seeds in as many threads, as there are cores if `threads` is `None`; `progress` is told now
/// and then how many are done.
///
/// # Errors
/// The failure of the lowest seed that failed before the threads stopped.
pub fn hunt(
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
                        match case(seed, law) {
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

/// A thread that stands still cannot be stopped: its seed is told, and the process ends.
fn watch(at_work: &[Mutex<Option<(u64, Instant)>>]) {
    for slot in at_work {
        let slot = slot.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some((seed, _)) = slot.filter(|(_, since)| since.elapsed() > LONGEST_CASE) {
            eprintln!("seed {seed}: stands still after {} s\nreplay: {}", LONGEST_CASE.as_secs(), replay(seed));
            std::process::exit(1);
        }
    }
}
