//! Tries every lie of a receiver that invents nothing, about a few segments of which some are lost.
//!
//! After each arrival the receiver may withhold its answer, acknowledge less than has arrived, echo
//! the timestamp of another arrival, and hide SACK blocks and duplicates. Answers that result in
//! the same segment count as one. A lie pays if the sender's ssthresh ends where it began, although
//! an honest receiver would have left it cut.

mod endings;
mod search;
#[cfg(test)]
mod tests;

use core::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use eifel_sim::liar::schedule::Answer;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::fate::{Fate, Fates, Subject};
use crate::ladder::Ladder;
use crate::question::{Error, Question};
use crate::world::{Progress, World};
use search::{Search, Tell};

/// The results of all lies about one set of lost segments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LieTally {
    /// The segments that are lost; the others are delivered.
    pub losses: Fates,
    /// Whether the sender's ssthresh ends lower than it began if the receiver is honest.
    pub honest_is_cut: bool,
    /// Number of lies: sequences of answers that were tried.
    pub lies: u64,
    /// Number of lies after which no cut remains.
    pub uncut: u64,
    /// Number of lies with which the connection does not end.
    pub stuck: u64,
    /// Of the lies after which no cut remains, the first with the fewest altered answers.
    pub smallest: Option<Vec<Answer>>,
    /// Number of states in which the receiver answers. Lies that reach the same state are continued
    /// once, and each is counted.
    pub states: u64,
}

impl LieTally {
    /// Returns whether some lie spares the sender a cut.
    pub fn pays(&self) -> bool {
        self.honest_is_cut && self.uncut > 0
    }
}

/// Tries every lie that alters at most `altered` answers (`None`: any number), about every loss of
/// one segment or more, on the current thread pool. `progress` receives the number of lies tried
/// and may stop the search; then the result is `None`.
///
/// # Errors
/// See [`Error`].
pub fn search_lies(
    question: &Question,
    altered: Option<usize>,
    progress: impl Fn(u64) -> ControlFlow<()> + Sync,
) -> Result<Option<Vec<LieTally>>, Error> {
    let world = World::new(question)?.lying();
    let (told, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    let parts: Vec<_> = (1..1_u32 << question.size.segments).map(|pattern| (pattern, world.clone())).collect();
    let found = parts.into_par_iter().map(|(pattern, world)| {
        let lost = |number: &usize| pattern >> number & 1 == 1;
        let chosen: Vec<_> = (0..question.size.segments as usize)
            .filter(lost)
            .map(|number| (Subject::Segment(number), Fate::Lost))
            .collect();
        tell_all(world, Fates::of(&chosen), altered, &mut |lies| {
            let goes_on = !stopped.load(Ordering::Relaxed)
                && progress(told.fetch_add(lies, Ordering::Relaxed) + lies).is_continue();
            stopped.fetch_or(!goes_on, Ordering::Relaxed);
            goes_on
        })
    });
    let found: Vec<LieTally> = found.collect();
    Ok((!stopped.into_inner()).then_some(found))
}

/// Tries every lie that alters at most `altered` answers about these losses only.
///
/// # Errors
/// See [`Error`].
pub fn search_lies_about(question: &Question, losses: Fates, altered: Option<usize>) -> Result<LieTally, Error> {
    Ok(tell_all(World::new(question)?.lying(), losses, altered, &mut |_| true))
}

fn tell_all(world: World, losses: Fates, altered: Option<usize>, tell: Tell<'_>) -> LieTally {
    let honest_is_cut = honest(world.clone(), &losses);
    let mut search = Search::new(losses, tell);
    let endings = search.endings(world, altered);
    let (lies, uncut, stuck, smallest) = (endings.lies, endings.uncut, endings.stuck, endings.smallest());
    LieTally { losses, honest_is_cut, lies, uncut, stuck, smallest, states: search.states() }
}

/// Draws the world in which these segments are lost and the receiver gives the answers `told`.
/// Further answers are honest.
///
/// # Errors
/// See [`Error`].
pub fn draw_lies(question: &Question, losses: &Fates, told: &[Answer]) -> Result<Ladder, Error> {
    let mut world = World::new(question)?.lying().drawn();
    let mut told = told.iter();
    loop {
        match world.advance() {
            Progress::NeedsFate(subject @ Subject::Segment(_)) => {
                world.choose(losses.get(subject).unwrap_or(Fate::Delivered))
            }
            Progress::NeedsFate(Subject::Ack(_)) => world.say(told.next().unwrap_or(&Answer::default())),
            Progress::Over | Progress::Stuck => return Ok(world.into_ladder()),
        }
    }
}

/// Returns whether a cut remains if the receiver is honest.
fn honest(mut world: World, losses: &Fates) -> bool {
    loop {
        match world.advance() {
            Progress::NeedsFate(subject @ Subject::Segment(_)) => {
                world.choose(losses.get(subject).unwrap_or(Fate::Delivered))
            }
            Progress::NeedsFate(Subject::Ack(_)) => world.say(&Answer::default()),
            Progress::Over | Progress::Stuck => return world.truth().is_cut(),
        }
    }
}
