//! Every world, depth first: one goes on until it asks for a fate, and from there once for each. What worlds have in
//! common is run once.

use core::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::fate::{Fate, Fates};
use crate::ladder::Ladder;
use crate::question::{Error, Question};
use crate::tally::Tally;
use crate::world::{Progress, World};

/// Choices that are made before the work is shared out: 4^5 parts at most.
const SHARED: u32 = 5;

/// Counts over all worlds of a question, on the threads of the pool that this is called in; they do not depend on how many
/// there are. `progress` hears of worlds counted, and may break off: then there is no answer.
///
/// # Errors
/// See [`Error`].
pub fn search(question: &Question, progress: impl Fn(u64) -> ControlFlow<()> + Sync) -> Result<Option<Tally>, Error> {
    let mut tally = Tally::default();
    let mut parts = vec![(World::new(question)?, question.size.worlds())];
    for _ in 0..SHARED {
        parts = parts.into_iter().flat_map(|(world, weight)| fork(world, weight, &mut tally)).collect();
    }
    let (done, stopped) = (AtomicU64::new(tally.worlds), AtomicBool::new(false));
    let tallies: Vec<Tally> = parts
        .into_par_iter()
        .map(|(world, weight)| {
            let mut tally = Tally::default();
            if !stopped.load(Ordering::Relaxed) {
                walk(world, weight, &mut tally);
                if progress(done.fetch_add(weight, Ordering::Relaxed) + weight).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
            tally
        })
        .collect();
    for part in &tallies {
        tally.merge(part);
    }
    Ok((!stopped.into_inner()).then_some(tally))
}

/// Goes on to the next choice, and makes it in every way; a world that is over is counted.
fn fork(mut world: World, weight: u64, tally: &mut Tally) -> Vec<(World, u64)> {
    match world.advance() {
        Progress::Asks(_) => {
            let fork = |fate| {
                let mut one = world.clone();
                one.choose(fate);
                (one, weight / 4)
            };
            return Fate::ALL.map(fork).into();
        }
        Progress::Over => tally.add(world.truth(), world.fates(), weight),
        Progress::Stuck => tally.add_stuck(world.fates(), weight),
    }
    Vec::new()
}

fn walk(mut world: World, weight: u64, tally: &mut Tally) {
    match world.advance() {
        Progress::Asks(_) => {
            let [most @ .., last] = Fate::ALL;
            for fate in most {
                let mut one = world.clone();
                one.choose(fate);
                walk(one, weight / 4, tally);
            }
            world.choose(last);
            walk(world, weight / 4, tally);
        }
        Progress::Over => tally.add(world.truth(), world.fates(), weight),
        Progress::Stuck => tally.add_stuck(world.fates(), weight),
    }
}

/// One world from beginning to end; what `fates` does not say is delivered.
///
/// # Errors
/// See [`Error`].
pub fn run(question: &Question, fates: &Fates) -> Result<World, Error> {
    finish(World::new(question)?, fates)
}

/// The same, drawn.
///
/// # Errors
/// See [`Error`].
pub fn draw(question: &Question, fates: &Fates) -> Result<Ladder, Error> {
    finish(World::new(question)?.drawn(), fates).map(World::into_ladder)
}

fn finish(mut world: World, fates: &Fates) -> Result<World, Error> {
    while let Progress::Asks(subject) = world.advance() {
        world.choose(fates.get(subject).unwrap_or(Fate::Delivered));
    }
    Ok(world)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fate::Subject;

    #[test]
    fn fates_are_read_back() {
        let fates = Fates::of(&[(Subject::Segment(1), Fate::Lost), (Subject::Ack(0), Fate::Delayed)]);
        assert_eq!(fates.to_string(), "segment 2 lost, ACK of 1 delayed");
        assert_eq!((fates.chosen(), fates.hurt(), fates.get(Subject::Ack(1))), (2, 2, None));
    }
}
