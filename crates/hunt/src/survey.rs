//! Estimates the share of all candidates that refute a claim. Measures random candidates at a
//! glance, and judges the suspicious ones.

use eifel_path::stream::Stream;

use crate::climb::{Candidate, Effort, Subject, Worth, measured};

/// A random candidate.
#[derive(Clone, PartialEq, Debug)]
pub struct Surveyed<C> {
    pub candidate: C,
    /// Its worth at a glance.
    pub glanced: Worth,
    /// Its worth on other repetitions, if the glance was suspicious.
    pub judged: Option<Worth>,
}

/// Number of candidates between two reports of progress.
const STEP: usize = 64;
/// Runs of the second judgement for each run of the first.
const AGAIN: u32 = 2;

/// Judges candidates again that seem to refute the claim with a value above `most`. One in forty
/// candidates that do not refute the claim seems to. Values without an error need no second
/// judgement.
pub(crate) fn confirmed<S: Subject>(
    subject: &S,
    candidates: &[S::Candidate],
    effort: &Effort,
    judged: &mut [Worth],
    most: f64,
) {
    let doubtful = |worth: &Worth| worth.error > 0.0 && worth.least() > most;
    let places: Vec<usize> = (0..judged.len()).filter(|&place| doubtful(&judged[place])).collect();
    let again: Vec<S::Candidate> = places.iter().map(|&place| candidates[place].clone()).collect();
    let first = effort.glance + effort.judging;
    for (place, worth) in places.into_iter().zip(measured(subject, &again, effort, first, AGAIN * effort.judging)) {
        judged[place] = worth;
    }
}

/// Draws as many candidates as the runs of the effort allow. Judges those whose value at a glance
/// is above `suspicious`, twice if they seem to refute the claim. `progress` receives the number of
/// runs at a glance done so far.
pub fn survey<S: Subject>(
    subject: &S,
    effort: &Effort,
    suspicious: f64,
    mut progress: impl FnMut(u32),
) -> Vec<Surveyed<S::Candidate>> {
    let mut stream = Stream::new(effort.seed, &["hunt"]);
    let looks = (effort.runs / effort.glance.max(1)).max(1) as usize;
    let mut surveyed: Vec<Surveyed<S::Candidate>> = Vec::with_capacity(looks);
    while surveyed.len() < looks {
        let step = STEP.min(looks - surveyed.len());
        let drawn: Vec<S::Candidate> = (0..step).map(|_| S::Candidate::draw(&mut stream)).collect();
        let glanced = measured(subject, &drawn, effort, 0, effort.glance);
        let suspects: Vec<S::Candidate> = drawn
            .iter()
            .zip(&glanced)
            .filter(|(_, worth)| worth.value > suspicious)
            .map(|(one, _)| one.clone())
            .collect();
        let mut judged = measured(subject, &suspects, effort, effort.glance, effort.judging);
        confirmed(subject, &suspects, effort, &mut judged, suspicious);
        let mut judged = judged.into_iter();
        surveyed.extend(drawn.into_iter().zip(glanced).map(|(candidate, glanced)| {
            let judged = (glanced.value > suspicious).then(|| judged.next()).flatten();
            Surveyed { candidate, glanced, judged }
        }));
        progress(surveyed.len() as u32 * effort.glance);
    }
    surveyed
}
