//! The search: random candidates, then changes to the best.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use eifel_path::stream::Stream;

/// The candidates of a search, and their measurement.
pub trait Subject: Sync {
    /// One that may refute the claim.
    type Candidate: Clone + Send + Sync + PartialEq;

    /// Draws a candidate.
    fn draw(&self, stream: &mut Stream) -> Self::Candidate;
    /// Changes one thing about a candidate.
    fn change(&self, candidate: &Self::Candidate, stream: &mut Stream) -> Self::Candidate;
    /// Lists the candidates that are simpler by one thing.
    fn simpler(&self, candidate: &Self::Candidate) -> Vec<Self::Candidate>;
    /// Measures how far the candidate refutes the claim, over the repetitions from `first` on; higher is worse for the
    /// claim. Each repetition costs one run.
    fn measure(&self, candidate: &Self::Candidate, first: u32, repetitions: u32) -> f64;
}

/// How much a search may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Runs in all, without those that judge the winners.
    pub runs: u32,
    /// Repetitions that one measurement takes while the search looks around.
    pub glance: u32,
    /// Repetitions that judge each of the last candidates; none of them was searched with.
    pub judging: u32,
    /// Candidates that survive each round, and are judged at the end.
    pub survivors: usize,
    /// Everything random is drawn from it.
    pub seed: u64,
}

/// A candidate and its measured worth.
#[derive(Clone, PartialEq, Debug)]
pub struct Found<C> {
    /// The candidate.
    pub candidate: C,
    /// Its worth while the search looked around.
    pub glanced: f64,
    /// Its worth on repetitions that the search has not seen.
    pub judged: f64,
}

/// Half of the runs go to random candidates, the rest to changes of the best.
const RANDOM_SHARE: u32 = 2;

/// Searches for the candidates that refute the claim most, the worst for the claim first. `progress` hears how many runs
/// are done.
pub fn search<S: Subject>(subject: &S, effort: &Effort, mut progress: impl FnMut(u32)) -> Vec<Found<S::Candidate>> {
    let mut stream = Stream::new(effort.seed, &["hunt"]);
    let looks = (effort.runs / effort.glance.max(1)).max(1) as usize;
    let random = looks / RANDOM_SHARE as usize;
    let drawn: Vec<S::Candidate> = (0..random.max(1)).map(|_| subject.draw(&mut stream)).collect();
    let mut best = ranked(subject, drawn, effort, Vec::new());
    let mut done = random.max(1);
    progress(done as u32 * effort.glance);
    while done < looks {
        let step = (looks - done).min(4 * effort.survivors.max(1));
        let changed = (0..step)
            .map(|index| {
                let parent = &best[index % best.len().min(effort.survivors.max(1))].candidate;
                subject.change(parent, &mut stream)
            })
            .collect();
        best = ranked(subject, changed, effort, best);
        done += step;
        progress(done as u32 * effort.glance);
    }
    // The repetitions from `glance` on have not been looked at.
    let candidates: Vec<S::Candidate> = best.iter().map(|found| found.candidate.clone()).collect();
    let judged = measured(subject, &candidates, effort.glance, effort.judging);
    for (found, judged) in best.iter_mut().zip(judged) {
        found.judged = judged;
    }
    best.sort_by(|one, other| other.judged.total_cmp(&one.judged));
    best[0] = simplest(subject, best[0].clone(), effort);
    best
}

/// The share of worth that a simpler candidate may lose.
const PRICE_OF_SIMPLICITY: f64 = 0.005;

/// Removes every part of a candidate that its worth does not need, one after another.
fn simplest<S: Subject>(subject: &S, mut found: Found<S::Candidate>, effort: &Effort) -> Found<S::Candidate> {
    loop {
        let simpler = subject.simpler(&found.candidate);
        let worth = measured(subject, &simpler, effort.glance, effort.judging);
        let best = simpler.into_iter().zip(worth).max_by(|one, other| one.1.total_cmp(&other.1));
        match best.filter(|&(_, judged)| judged >= found.judged - PRICE_OF_SIMPLICITY) {
            Some((candidate, judged)) => found = Found { candidate, judged, ..found },
            None => return found,
        }
    }
}

/// Ranks these candidates and those before, and keeps the best.
fn ranked<S: Subject>(
    subject: &S,
    candidates: Vec<S::Candidate>,
    effort: &Effort,
    mut best: Vec<Found<S::Candidate>>,
) -> Vec<Found<S::Candidate>> {
    let worth = measured(subject, &candidates, 0, effort.glance);
    for (candidate, glanced) in candidates.into_iter().zip(worth) {
        if best.iter().all(|found| found.candidate != candidate) {
            best.push(Found { candidate, glanced, judged: f64::NAN });
        }
    }
    best.sort_by(|one, other| other.glanced.total_cmp(&one.glanced));
    best.truncate(effort.survivors.max(1));
    best
}

/// Measures all candidates on all cores; the answers are in the candidates' order.
fn measured<S: Subject>(subject: &S, candidates: &[S::Candidate], first: u32, repetitions: u32) -> Vec<f64> {
    let next = AtomicUsize::new(0);
    let worth = Mutex::new(vec![f64::NEG_INFINITY; candidates.len()]);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(candidates.len().max(1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(candidate) = candidates.get(place) else { break };
                    let measured = subject.measure(candidate, first, repetitions);
                    worth.lock().unwrap_or_else(PoisonError::into_inner)[place] = measured;
                }
            });
        }
    });
    worth.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hill of 20 coordinates from 0 to 9; noise differs from repetition to repetition.
    struct Hill;

    impl Subject for Hill {
        type Candidate = Vec<u64>;

        fn draw(&self, stream: &mut Stream) -> Vec<u64> {
            (0..20).map(|_| stream.below(10)).collect()
        }

        fn change(&self, candidate: &Vec<u64>, stream: &mut Stream) -> Vec<u64> {
            let mut changed = candidate.clone();
            changed[stream.below(20) as usize] = stream.below(10);
            changed
        }

        fn simpler(&self, candidate: &Vec<u64>) -> Vec<Vec<u64>> {
            let zeros = (0..20).filter(|&index| candidate[index] > 0).map(|index| {
                let mut simpler = candidate.clone();
                simpler[index] = 0;
                simpler
            });
            zeros.collect()
        }

        fn measure(&self, candidate: &Vec<u64>, first: u32, repetitions: u32) -> f64 {
            let noise: u64 = (first..first + repetitions)
                .map(|repetition| {
                    Stream::new(u64::from(repetition) ^ candidate.iter().sum::<u64>(), &["noise"]).below(5)
                })
                .sum();
            candidate.iter().sum::<u64>() as f64 + noise as f64 / f64::from(repetitions)
        }
    }

    const EFFORT: Effort = Effort { runs: 4000, glance: 2, judging: 50, survivors: 5, seed: 7 };

    #[test]
    fn it_climbs_far_above_what_chance_finds_and_repeats_itself() {
        let found = search(&Hill, &EFFORT, |_| {});
        // The best of a thousand draws lies near 120 of 180.
        assert!(found[0].judged > 165.0, "{:?}", found[0]);
        assert_eq!(found, search(&Hill, &EFFORT, |_| {}));
        assert_ne!(found[0].candidate, search(&Hill, &Effort { seed: 8, ..EFFORT }, |_| {})[0].candidate);
    }

    #[test]
    fn winners_are_judged_on_repetitions_that_were_not_searched_with() {
        /// Worth something on the searched repetitions only.
        struct Lucky;
        impl Subject for Lucky {
            type Candidate = u64;
            fn draw(&self, stream: &mut Stream) -> u64 {
                stream.below(1000)
            }
            fn change(&self, candidate: &u64, _: &mut Stream) -> u64 {
                candidate + 1
            }
            fn simpler(&self, _: &u64) -> Vec<u64> {
                Vec::new()
            }
            fn measure(&self, _: &u64, first: u32, _: u32) -> f64 {
                f64::from(u8::from(first == 0))
            }
        }
        let found = search(&Lucky, &EFFORT, |_| {});
        assert!(found.iter().all(|found| found.glanced == 1.0 && found.judged == 0.0));
    }

    #[test]
    fn the_winner_loses_what_its_worth_does_not_need() {
        /// Only the first of two numbers is worth anything.
        struct Half;
        impl Subject for Half {
            type Candidate = (u64, u64);
            fn draw(&self, stream: &mut Stream) -> (u64, u64) {
                (stream.below(10), 1 + stream.below(9))
            }
            fn change(&self, candidate: &(u64, u64), stream: &mut Stream) -> (u64, u64) {
                (stream.below(10), candidate.1)
            }
            fn simpler(&self, &(one, other): &(u64, u64)) -> Vec<(u64, u64)> {
                [(0, other), (one, 0)].into_iter().filter(|simpler| *simpler != (one, other)).collect()
            }
            fn measure(&self, candidate: &(u64, u64), _: u32, _: u32) -> f64 {
                candidate.0 as f64
            }
        }
        assert_eq!(search(&Half, &EFFORT, |_| {})[0].candidate, (9, 0));
    }

    #[test]
    fn the_runs_are_those_that_were_granted() {
        struct Counted(AtomicUsize);
        impl Subject for Counted {
            type Candidate = u64;
            fn draw(&self, stream: &mut Stream) -> u64 {
                stream.below(u64::MAX)
            }
            fn change(&self, candidate: &u64, _: &mut Stream) -> u64 {
                candidate.wrapping_add(1)
            }
            fn simpler(&self, _: &u64) -> Vec<u64> {
                Vec::new()
            }
            fn measure(&self, _: &u64, first: u32, repetitions: u32) -> f64 {
                if first == 0 {
                    self.0.fetch_add(repetitions as usize, Ordering::Relaxed);
                }
                0.0
            }
        }
        let counted = Counted(AtomicUsize::new(0));
        search(&counted, &EFFORT, |done| assert!(done <= 4000));
        assert_eq!(counted.0.load(Ordering::Relaxed), 4000);
    }
}
