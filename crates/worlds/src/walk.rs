//! Every world, depth first: one goes on until it asks for a fate, and from there once for each. What worlds have in
//! common is run once.

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

/// Choices that are made before the work is shared out: 4^5 parts at most, and as many again for each response.
const SHARED: u32 = 5;

/// Whose worlds are walked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// All senders': their responses have not been asked yet.
    All,
    /// The sender's with the response of that index.
    One(usize),
}

/// A world that goes on, and for how many it stands.
struct Node {
    world: World,
    whose: Whose,
    weight: u64,
}

/// Counts over all worlds of a question, on the threads of the pool that this is called in; they do not depend on how many
/// there are. `progress` hears of worlds counted, and may break off: then there is no answer.
///
/// # Errors
/// See [`Error`].
pub fn search(question: &Question, progress: impl Fn(u64) -> ControlFlow<()> + Sync) -> Result<Option<Tally>, Error> {
    let own = std::slice::from_ref(&question.sender.respond);
    Ok(search_each(question, own, progress)?.and_then(|mut tallies| tallies.pop()))
}

/// The same for senders that differ in their response alone, in the place of the question's own: what their worlds have in
/// common, which is everything until the first verdict that a response is asked about, is run once.
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
    let whose = if let [only] = &responses[..] {
        world.respond_by(only.clone());
        Whose::One(0)
    } else {
        Whose::All
    };
    let mut tallies = vec![Tally::default(); responses.len()];
    let mut nodes = vec![Node { world, whose, weight: question.size.worlds() }];
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

/// Goes on to the next choice, and makes it in every way; or, where senders part, once for each. A world that is over is
/// counted.
fn go(
    Node { mut world, whose, weight }: Node,
    responses: &[Box<dyn Response>],
    tallies: &mut [Tally],
    then: &mut dyn FnMut(Node, &mut [Tally]),
) {
    let before = (whose == Whose::All).then(|| world.clone());
    let progress = world.advance();
    if let Some(before) = before
        && world.may_have_responded()
    {
        for (index, response) in responses.iter().enumerate() {
            let mut one = before.clone();
            one.respond_by(response.clone());
            then(Node { world: one, whose: Whose::One(index), weight }, tallies);
        }
        return;
    }
    let counts = match whose {
        Whose::All => 0..tallies.len(),
        Whose::One(index) => index..index + 1,
    };
    match progress {
        Progress::Asks(_) => {
            let [most @ .., last] = Fate::ALL;
            for fate in most {
                let mut one = world.clone();
                one.choose(fate);
                then(Node { world: one, whose, weight: weight / 4 }, tallies);
            }
            world.choose(last);
            then(Node { world, whose, weight: weight / 4 }, tallies);
        }
        Progress::Over => tallies[counts].iter_mut().for_each(|tally| tally.add(world.truth(), world.fates(), weight)),
        Progress::Stuck => tallies[counts].iter_mut().for_each(|tally| tally.add_stuck(world.fates(), weight)),
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
