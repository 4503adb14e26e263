//! Tries every lie about one set of losses. The search remembers the states in which the receiver
//! answers. Lies that reach the same state have the same continuations, which are tried once and
//! counted for each lie.

use std::collections::BTreeMap;

use eifel_packet::segment::Segment;
use eifel_sim::liar::schedule::{Answer, Duplicates, Echoed, Gaps, Number};

use super::endings::Endings;
use crate::fate::{Fate, Fates, Subject};
use crate::records::MOST_INPUTS;
use crate::state::Digester;
use crate::world::{Progress, World};

/// Receives the number of lies that were just tried; returns whether the search goes on.
pub(super) type Tell<'a> = &'a mut dyn FnMut(u64) -> bool;

/// A search, and the endings of all states that it has finished.
pub(super) struct Search<'a> {
    losses: Fates,
    tell: Tell<'a>,
    digester: Digester,
    digest: fn(&World, &mut Digester) -> u128,
    /// Endings by the state, and by the number of answers that may still be altered.
    seen: BTreeMap<(u128, Option<usize>), Endings>,
    /// Whether the search was stopped. Endings are then incomplete.
    broken: bool,
}

impl<'a> Search<'a> {
    /// Begins a search in which these segments are lost.
    pub(super) fn new(losses: Fates, tell: Tell<'a>) -> Self {
        Self::by(|world, digester| digester.digest(&world.state()), losses, tell)
    }

    /// Begins a search in which states with the same `digest` count as the same state.
    pub(super) fn by(digest: fn(&World, &mut Digester) -> u128, losses: Fates, tell: Tell<'a>) -> Self {
        Self { losses, tell, digester: Digester::default(), digest, seen: BTreeMap::new(), broken: false }
    }

    /// Returns the number of different states.
    pub(super) fn states(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Continues a world with every lie that alters at most `altered` further answers; `None` is
    /// any number.
    pub(super) fn endings(&mut self, mut world: World, altered: Option<usize>) -> Endings {
        let before = world.inputs();
        let mut endings = loop {
            match world.advance() {
                Progress::NeedsFate(subject @ Subject::Segment(_)) => {
                    world.choose(self.losses.get(subject).unwrap_or(Fate::Delivered));
                }
                Progress::NeedsFate(Subject::Ack(_)) => break self.divide(&world, altered),
                Progress::Over => break self.told(Endings::over(world.truth().is_cut())),
                Progress::Stuck => break self.told(Endings::stuck()),
            }
        };
        endings.inputs += world.inputs() - before;
        endings
    }

    /// Continues a world that waits for an answer.
    fn divide(&mut self, world: &World, altered: Option<usize>) -> Endings {
        let state = ((self.digest)(world, &mut self.digester), altered);
        // The number of inputs is not part of the state. It matters only to a world that comes near its limit.
        let fits = |seen: &&Endings| world.inputs() + seen.inputs <= MOST_INPUTS;
        if let Some(seen) = self.seen.get(&state).filter(fits) {
            let seen = seen.clone();
            return self.told(seen);
        }
        let mut endings = Endings::default();
        for answer in answers(world, altered != Some(0)) {
            if self.broken {
                break;
            }
            let mut one = world.clone();
            one.say(&answer);
            let left = altered.map(|altered| altered - usize::from(answer != Answer::default()));
            endings.add(answer, &self.endings(one, left));
        }
        if endings.stuck == 0 && !self.broken {
            self.seen.insert(state, endings.clone());
        }
        endings
    }

    fn told(&mut self, endings: Endings) -> Endings {
        self.broken |= !(self.tell)(endings.lies);
        endings
    }
}

/// Returns the answers that result in different segments, the honest answer first. Returns only the
/// honest answer unless the receiver `lies`.
pub(super) fn answers(world: &World, lies: bool) -> Vec<Answer> {
    if !lies {
        return vec![Answer::default()];
    }
    let mut found: Vec<(Answer, Option<Segment>)> = Vec::new();
    let mut add = |answer: Answer| {
        let altered = world.altered(&answer);
        if found.iter().all(|(_, other)| *other != altered) {
            found.push((answer, altered));
        }
    };
    for number in Number::ALL {
        for echoed in Echoed::ALL {
            for duplicates in [Duplicates::True, Duplicates::Hidden] {
                for gaps in [Gaps::True, Gaps::Hidden] {
                    add(Answer { number, echoed, duplicates, gaps, ..Answer::default() });
                }
            }
        }
    }
    add(Answer { withheld: true, ..Answer::default() });
    found.into_iter().map(|(answer, _)| answer).collect()
}
