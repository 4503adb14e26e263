//! Makes a remarkable world as simple as it can be, and repeats it.

use super::judge::judge;
use super::player::{Played, Player};
use super::stack::Stack;
use super::tally::{Class, classes};
use super::world::World;
use crate::system::Error;
use eifel_base::time::Duration;
use eifel_recovery::detect::Detector;

/// How often a world is played: it has to be remarkable each time.
pub const REPEATED: usize = 10;

/// The simplest world of a class that repeats.
pub struct Shrunk {
    pub world: World,
    /// One of its plays.
    pub example: Played,
}

/// Simplifies the first of `worlds` that repeats, as long as it stays in `class`. `None` if none
/// repeats.
///
/// # Errors
/// Those of the stack.
pub fn shrink<S: Stack>(
    player: &mut Player<S>,
    (class, worlds): (&Class, &[World]),
    at_once: usize,
    detector: &dyn Fn() -> Box<dyn Detector>,
) -> Result<Option<Shrunk>, Error> {
    let is_of = |played: &Played| {
        let Ok(episodes) = judge(&played.course, detector()) else { return false };
        !played.course.is_doubtful && classes(&played.world, &played.course, &episodes).contains(class)
    };
    // Returns the first of these worlds that is of the class each time.
    let mut first = |worlds: &[World]| {
        let mut examples: Vec<Vec<Played>> = worlds.iter().map(|_| Vec::new()).collect();
        let mut left = worlds.iter().flat_map(|world| [*world; REPEATED]);
        player.play(at_once, &mut || left.next(), &mut |played| {
            if is_of(&played) {
                examples[played.number / REPEATED].push(played);
            }
        })?;
        let mut whole = examples.into_iter().filter(|examples| examples.len() == REPEATED);
        // The shortest is that which the machine has delayed least.
        let lasted = |played: &Played| match &played.course.events[..] {
            [(first, _), .., (last, _)] => last.since(*first),
            _ => Duration::ZERO,
        };
        Ok::<_, Error>(whole.next().and_then(|examples| examples.into_iter().min_by_key(lasted)))
    };
    let mut simplest = first(worlds)?;
    while let Some(played) = &simplest {
        match first(&played.world.simpler())? {
            None => break,
            simpler => simplest = simpler,
        }
    }
    Ok(simplest.map(|example| Shrunk { world: example.world, example }))
}
