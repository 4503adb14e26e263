//! Walks all worlds depth first. A world runs until it asks for a fate, and is continued once for
//! each fate. Common beginnings run once.

use core::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use eifel_recovery::registry::{Choice, part};
use eifel_recovery::respond::Response;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::fate::{Fate, Fates};
use crate::ladder::Ladder;
use crate::question::{Error, Question};
use crate::tally::Tally;
use crate::world::{Progress, World};

/// Choices made before the work is divided among threads: at most 4^5 parts for each response.
const SHARED: u32 = 5;

/// A world to continue, and the number of worlds that it stands for.
struct Node {
    world: World,
    /// Index of the response that this world belongs to. `None` as long as no verdict has triggered
    /// a response, and all senders share the world.
    response: Option<usize>,
    weight: u64,
}

/// Counts all worlds of a question, on the current thread pool. The result does not depend on the
/// number of threads. `progress` receives the number of counted worlds and may stop the search;
/// then the result is `None`.
///
/// # Errors
/// See [`Error`].
pub fn search(question: &Question, progress: impl Fn(u64) -> ControlFlow<()> + Sync) -> Result<Option<Tally>, Error> {
    let own = std::slice::from_ref(&question.sender.respond);
    Ok(search_each(question, own, progress)?.and_then(|mut tallies| tallies.pop()))
}

/// Counts all worlds of several senders that differ only in their response. Their worlds share
/// everything up to the first verdict that triggers a response, and that part runs once.
///
/// # Errors
/// See [`Error`].
pub fn search_each(
    question: &Question,
    responses: &[Choice],
    progress: impl Fn(u64) -> ControlFlow<()> + Sync,
) -> Result<Option<Vec<Tally>>, Error> {
    let responses = responses.iter().map(part::response).collect::<Result<Vec<_>, _>>().map_err(Error::Engine)?;
    let mut world = World::new(question)?;
    let response = if let [only] = &responses[..] {
        world.respond_by(only.clone());
        Some(0)
    } else {
        None
    };
    let mut tallies = vec![Tally::default(); responses.len()];
    let mut nodes = vec![Node { world, response, weight: question.size.worlds() }];
    for _ in 0..SHARED {
        let mut next = Vec::new();
        for node in nodes {
            go(node, &responses, &mut tallies, &mut |child, _| next.push(child));
        }
        nodes = next;
    }
    let all = |tallies: &[Tally]| tallies.iter().map(|tally| tally.worlds).sum::<u64>();
    let (done, stopped) = (AtomicU64::new(all(&tallies)), AtomicBool::new(false));
    let parts: Vec<_> = nodes.into_iter().map(|node| (node, responses.clone())).collect();
    let found: Vec<Vec<Tally>> = parts
        .into_par_iter()
        .map(|(node, responses)| {
            let mut tallies = vec![Tally::default(); responses.len()];
            if !stopped.load(Ordering::Relaxed) {
                walk(node, &responses, &mut tallies);
                let counted = all(&tallies);
                if progress(done.fetch_add(counted, Ordering::Relaxed) + counted).is_break() {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
            tallies
        })
        .collect();
    for part in &found {
        for (tally, part) in tallies.iter_mut().zip(part) {
            tally.merge(part);
        }
    }
    Ok((!stopped.into_inner()).then_some(tallies))
}

fn walk(node: Node, responses: &[Box<dyn Response>], tallies: &mut [Tally]) {
    go(node, responses, tallies, &mut |child, tallies| walk(child, responses, tallies));
}

/// Runs a world to its next choice, and continues it with every fate. At the first verdict that
/// triggers a response, continues it once for each sender. Counts a world that is over.
fn go(
    Node { mut world, response, weight }: Node,
    responses: &[Box<dyn Response>],
    tallies: &mut [Tally],
    then: &mut dyn FnMut(Node, &mut [Tally]),
) {
    let before = response.is_none().then(|| world.clone());
    let progress = world.advance();
    if let Some(before) = before
        && world.may_have_responded()
    {
        for (index, response) in responses.iter().enumerate() {
            let mut one = before.clone();
            one.respond_by(response.clone());
            then(Node { world: one, response: Some(index), weight }, tallies);
        }
        return;
    }
    let counts = match response {
        None => 0..tallies.len(),
        Some(index) => index..index + 1,
    };
    match progress {
        Progress::NeedsFate(_) => {
            let [most @ .., last] = Fate::ALL;
            for fate in most {
                let mut one = world.clone();
                one.choose(fate);
                then(Node { world: one, response, weight: weight / 4 }, tallies);
            }
            world.choose(last);
            then(Node { world, response, weight: weight / 4 }, tallies);
        }
        Progress::Over => tallies[counts].iter_mut().for_each(|tally| tally.add(world.truth(), world.fates(), weight)),
        Progress::Stuck => tallies[counts].iter_mut().for_each(|tally| tally.add_stuck(world.fates(), weight)),
    }
}

/// Runs one world to its end. Packets without a fate in `fates` are delivered.
///
/// # Errors
/// See [`Error`].
pub fn run(question: &Question, fates: &Fates) -> Result<World, Error> {
    finish(World::new(question)?, fates)
}

/// Runs one world to its end and draws it.
///
/// # Errors
/// See [`Error`].
pub fn draw(question: &Question, fates: &Fates) -> Result<Ladder, Error> {
    finish(World::new(question)?.drawn(), fates).map(World::into_ladder)
}

fn finish(mut world: World, fates: &Fates) -> Result<World, Error> {
    while let Progress::NeedsFate(subject) = world.advance() {
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
        assert_eq!((fates.chosen(), fates.disturbed(), fates.get(Subject::Ack(1))), (2, 2, None));
    }
}
