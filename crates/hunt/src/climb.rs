//! The search: random candidates, then changes to the best.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use eifel_path::stream::Stream;

/// A scenario or a liar that may refute a claim.
pub trait Candidate: Clone + Send + Sync + PartialEq {
    /// Draws a candidate.
    fn draw(stream: &mut Stream) -> Self;
    /// Changes one property, sometimes two.
    #[must_use]
    fn changed(&self, stream: &mut Stream) -> Self;
    /// Lists the candidates that are simpler in one property.
    fn simpler(&self) -> Vec<Self>;
}

/// A claim as a search knows it: the measurement of its candidates.
pub trait Subject: Sync {
    /// The kind of candidate: a scenario, or a strategy of a liar.
    type Candidate: Candidate;

    /// Measures how far the candidate refutes the claim, over the repetitions from `first` on. Each repetition costs one
    /// run of each side that is compared.
    fn measure(&self, candidate: &Self::Candidate, first: u32, repetitions: u32) -> Worth;
}

/// How far a candidate refutes a claim; higher is worse for the claim.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Worth {
    /// The measured value.
    pub value: f64,
    /// Half of the width of the value's 95 % confidence interval.
    pub error: f64,
}

impl Worth {
    /// Returns the lower end of the value's 95 % confidence interval.
    pub fn least(&self) -> f64 {
        self.value - self.error
    }
}

/// Half of the width of a mean's 95 % confidence interval in standard deviations, for some tens of
/// runs.
const DEVIATIONS: f64 = 2.03;

/// Returns the ratio of the means of pairs of amounts; 0 if the sum of the second amounts is not
/// above 0.
pub(crate) fn ratio(pairs: impl Iterator<Item = (f64, f64)>) -> Worth {
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let (one, other) = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    if other <= 0.0 {
        return Worth::default();
    }
    let (value, count) = (one / other, pairs.len() as f64);
    // The error follows from the residuals by the delta method.
    let squares: f64 = pairs.iter().map(|(one, other)| (one - value * other) * (one - value * other)).sum();
    let deviation = libm::sqrt(squares / (count - 1.0).max(1.0) / count) / (other / count);
    Worth { value, error: DEVIATIONS * deviation }
}

/// The budget of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Runs in all, without those that judge the winners.
    pub runs: u32,
    /// Repetitions of one measurement at a glance, during the search.
    pub glance: u32,
    /// Repetitions that judge each of the last candidates. The search uses none of them.
    pub judging: u32,
    /// Candidates that survive each round, and are judged at the end.
    pub survivors: usize,
    /// The seed of all random draws.
    pub seed: u64,
    /// Number of threads; `None` for the number of cores.
    pub threads: Option<usize>,
}

/// A candidate and its measured worth.
#[derive(Clone, PartialEq, Debug)]
pub struct Found<C> {
    pub candidate: C,
    /// Its value at a glance, during the search.
    pub glanced: f64,
    /// Its worth on repetitions that the search has not seen.
    pub judged: Worth,
}

/// Half of the runs go to random candidates, the rest to changes of the best.
const RANDOM_SHARE: usize = 2;

/// Searches for the candidates that refute the claim most. Returns them with the worst for the
/// claim first. Climbs from `start`, or from the best of random candidates if `start` is empty.
/// `progress` receives the number of runs done so far.
pub fn search<S: Subject>(
    subject: &S,
    effort: &Effort,
    start: Vec<Found<S::Candidate>>,
    mut progress: impl FnMut(u32),
) -> Vec<Found<S::Candidate>> {
    let mut stream = Stream::new(effort.seed, if start.is_empty() { &["hunt"] } else { &["hunt", "uphill"] });
    let looks = (effort.runs / effort.glance.max(1)).max(1) as usize;
    let random = if start.is_empty() { (looks / RANDOM_SHARE).max(1) } else { 0 };
    let drawn: Vec<S::Candidate> = (0..random).map(|_| S::Candidate::draw(&mut stream)).collect();
    let mut best = ranked(subject, drawn, effort, start);
    let mut done = random;
    progress(done as u32 * effort.glance);
    while done < looks {
        let step = (looks - done).min(4 * effort.survivors.max(1));
        let changed = (0..step)
            .map(|index| {
                let parent = &best[index % best.len().min(effort.survivors.max(1))].candidate;
                parent.changed(&mut stream)
            })
            .collect();
        best = ranked(subject, changed, effort, best);
        done += step;
        progress(done as u32 * effort.glance);
    }
    // The search has not used the repetitions from `glance` on.
    let candidates: Vec<S::Candidate> = best.iter().map(|found| found.candidate.clone()).collect();
    let judged = measured(subject, &candidates, effort, effort.glance, effort.judging);
    for (found, judged) in best.iter_mut().zip(judged) {
        found.judged = judged;
    }
    best.sort_by(|one, other| other.judged.least().total_cmp(&one.judged.least()));
    best
}

/// Simplifies a candidate, one property after another, while `suffices` holds for its judged worth.
pub fn simplest<S: Subject>(
    subject: &S,
    mut found: Found<S::Candidate>,
    effort: &Effort,
    suffices: impl Fn(&Worth) -> bool,
) -> Found<S::Candidate> {
    // A simplified property leaves the list, and the next property takes its place.
    let mut place = 0;
    while let Some(candidate) = found.candidate.simpler().into_iter().nth(place) {
        let judged = subject.measure(&candidate, effort.glance, effort.judging);
        match suffices(&judged) {
            true => found = Found { candidate, judged, ..found },
            false => place += 1,
        }
    }
    found
}

/// Ranks these candidates together with `best`, and keeps the best.
fn ranked<S: Subject>(
    subject: &S,
    candidates: Vec<S::Candidate>,
    effort: &Effort,
    mut best: Vec<Found<S::Candidate>>,
) -> Vec<Found<S::Candidate>> {
    let worth = measured(subject, &candidates, effort, 0, effort.glance);
    for (candidate, Worth { value: glanced, .. }) in candidates.into_iter().zip(worth) {
        if best.iter().all(|found| found.candidate != candidate) {
            best.push(Found { candidate, glanced, judged: Worth::default() });
        }
    }
    best.sort_by(|one, other| other.glanced.total_cmp(&one.glanced));
    best.truncate(effort.survivors.max(1));
    best
}

/// Measures all candidates on the threads that the effort allows. Returns the results in the
/// candidates' order.
pub(crate) fn measured<S: Subject>(
    subject: &S,
    candidates: &[S::Candidate],
    effort: &Effort,
    first: u32,
    repetitions: u32,
) -> Vec<Worth> {
    let next = AtomicUsize::new(0);
    let worth = Mutex::new(vec![Worth::default(); candidates.len()]);
    let cores = effort.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    let threads = cores.min(candidates.len()).max(1);
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

    #[test]
    fn the_error_of_a_ratio_of_means_follows_its_residuals() {
        // Means 2 and 4; residuals 1 - 1, 2 - 2 and 3 - 3 in the first set, and 0.5, -0.5 in the second.
        let same = ratio([(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)].into_iter());
        assert_eq!((same.value, same.error), (0.5, 0.0));
        let two = ratio([(1.0, 1.0), (1.0, 3.0)].into_iter());
        assert_eq!(two.value, 0.5);
        // sqrt((0.25 + 0.25) / 1 / 2) / 2 is a quarter.
        assert!((two.error - DEVIATIONS * 0.25).abs() < 1e-12 && (two.least() - (0.5 - two.error)).abs() < 1e-12);
        for nothing in [&[][..], &[(3.0, 0.0)], &[(3.0, -1.0)]] {
            let ratio = ratio(nothing.iter().copied());
            assert_eq!((ratio.value, ratio.error), (0.0, 0.0), "{nothing:?}");
        }
        let one = ratio([(1.0, 4.0)].into_iter());
        assert_eq!((one.value, one.error), (0.25, 0.0));
    }

    fn exact(value: f64) -> Worth {
        Worth { value, error: 0.0 }
    }

    impl Candidate for u64 {
        fn draw(stream: &mut Stream) -> u64 {
            stream.below(1000)
        }
        fn changed(&self, _: &mut Stream) -> u64 {
            self + 1
        }
        fn simpler(&self) -> Vec<u64> {
            Vec::new()
        }
    }

    /// A place of 20 coordinates from 0 to 9.
    impl Candidate for Vec<u64> {
        fn draw(stream: &mut Stream) -> Vec<u64> {
            (0..20).map(|_| stream.below(10)).collect()
        }

        fn changed(&self, stream: &mut Stream) -> Vec<u64> {
            let mut changed = self.clone();
            changed[stream.below(20) as usize] = stream.below(10);
            changed
        }

        fn simpler(&self) -> Vec<Vec<u64>> {
            let zeros = (0..20).filter(|&index| self[index] > 0).map(|index| {
                let mut simpler = self.clone();
                simpler[index] = 0;
                simpler
            });
            zeros.collect()
        }
    }

    impl Candidate for (u64, u64) {
        fn draw(stream: &mut Stream) -> (u64, u64) {
            (stream.below(10), 1 + stream.below(9))
        }
        fn changed(&self, stream: &mut Stream) -> (u64, u64) {
            (stream.below(10), self.1)
        }
        fn simpler(&self) -> Vec<(u64, u64)> {
            let &(one, other) = self;
            [(0, other), (one, 0)].into_iter().filter(|simpler| *simpler != (one, other)).collect()
        }
    }

    /// A hill; noise differs from repetition to repetition.
    struct Hill;

    impl Subject for Hill {
        type Candidate = Vec<u64>;

        fn measure(&self, candidate: &Vec<u64>, first: u32, repetitions: u32) -> Worth {
            let noise: u64 = (first..first + repetitions)
                .map(|repetition| {
                    Stream::new(u64::from(repetition) ^ candidate.iter().sum::<u64>(), &["noise"]).below(5)
                })
                .sum();
            exact(candidate.iter().sum::<u64>() as f64 + noise as f64 / f64::from(repetitions))
        }
    }

    const EFFORT: Effort = Effort { runs: 4000, glance: 2, judging: 50, survivors: 5, seed: 7, threads: None };

    /// At least one candidate survives.
    #[test]
    fn at_least_one_candidate_survives() {
        let found = |survivors| search(&Hill, &Effort { runs: 200, survivors, ..EFFORT }, Vec::new(), |_| {});
        let values = |survivors| found(survivors).iter().map(|one| one.judged.value).collect::<Vec<_>>();
        assert_eq!(values(0)[..1], values(1)[..1]);
    }

    #[test]
    fn climbing_beats_random_search_and_is_repeatable() {
        let found = search(&Hill, &EFFORT, Vec::new(), |_| {});
        // The best of a thousand draws lies near 120 of 180.
        assert!(found[0].judged.value > 165.0, "{:?}", found[0]);
        assert_eq!(found.len(), EFFORT.survivors);
        assert_eq!(found, search(&Hill, &EFFORT, Vec::new(), |_| {}));
        assert_ne!(found[0].candidate, search(&Hill, &Effort { seed: 8, ..EFFORT }, Vec::new(), |_| {})[0].candidate);
    }

    #[test]
    fn winners_are_judged_on_fresh_repetitions() {
        /// Worth something on the searched repetitions only.
        struct Lucky;
        impl Subject for Lucky {
            type Candidate = u64;
            fn measure(&self, _: &u64, first: u32, _: u32) -> Worth {
                exact(f64::from(u8::from(first == 0)))
            }
        }
        let found = search(&Lucky, &EFFORT, Vec::new(), |_| {});
        assert!(found.iter().all(|found| found.glanced == 1.0 && found.judged.value == 0.0));
    }

    #[test]
    fn shrinking_removes_what_a_winner_does_not_need() {
        /// Only the first of two numbers counts.
        struct Half;
        impl Subject for Half {
            type Candidate = (u64, u64);
            fn measure(&self, candidate: &(u64, u64), _: u32, _: u32) -> Worth {
                exact(candidate.0 as f64)
            }
        }
        let best = search(&Half, &EFFORT, Vec::new(), |_| {}).remove(0);
        assert_eq!(simplest(&Half, best, &EFFORT, |worth| worth.value >= 9.0).candidate, (9, 0));
    }

    #[test]
    fn a_search_uses_exactly_its_budget_of_runs() {
        struct Counted(AtomicUsize);
        impl Subject for Counted {
            type Candidate = u64;
            fn measure(&self, _: &u64, first: u32, repetitions: u32) -> Worth {
                if first == 0 {
                    self.0.fetch_add(repetitions as usize, Ordering::Relaxed);
                }
                Worth::default()
            }
        }
        let counted = Counted(AtomicUsize::new(0));
        search(&counted, &EFFORT, Vec::new(), |done| assert!(done <= 4000));
        assert_eq!(counted.0.load(Ordering::Relaxed), 4000);
    }
}
