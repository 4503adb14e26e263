//! Counts over played worlds, by class of what is remarkable about an episode.

use super::judge::{Episode, judge};
use super::peer::{Course, What};
use super::player::{Ended, Played};
use super::world::World;
use eifel_recovery::detect::Detector;
use eifel_recovery::fact::Cause;
use std::collections::BTreeMap;
use std::fmt;

/// What is remarkable about an episode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The stack undid otherwise than the detector.
    Differs,
    /// The first retransmission was needed, but the stack undid.
    FalseUndo,
    /// The first retransmission was needless and the stack undid, but other outstanding data had
    /// been lost.
    LossUndone,
    /// Nothing outstanding was lost, the stack did not undo, and its ssthresh stays reduced.
    NeedlessCut,
}

impl Kind {
    /// Returns its name in reports and in the names of scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Differs => "differs",
            Self::FalseUndo => "false-undo",
            Self::LossUndone => "loss-undone",
            Self::NeedlessCut => "needless-cut",
        }
    }

    /// Returns what it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Differs => "the stack undid otherwise than detect = \"linux\"",
            Self::FalseUndo => "the first retransmission was needed, but the stack undid",
            Self::LossUndone => "the first retransmission was needless and the stack undid, but other data was lost",
            Self::NeedlessCut => "nothing was lost, and the stack did not undo",
        }
    }
}

/// Episodes that are remarkable in the same way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Class {
    pub kind: Kind,
    pub timeout: bool,
    pub sack: bool,
    pub timestamps: bool,
    /// Counters of the stack's undos.
    pub stack: Vec<&'static str>,
    /// Those of the detector, if they differ.
    pub model: Vec<&'static str>,
}

impl Class {
    /// Returns the classes of an episode. `is_cut` says whether ssthresh ends reduced.
    fn of(world: &World, episode: &Episode, is_cut: bool) -> Vec<Self> {
        let counters = |undos: &[(usize, &'static str)]| undos.iter().map(|&(_, counter)| counter).collect::<Vec<_>>();
        let stack = counters(&episode.stack);
        let class = |kind, model| Self {
            kind,
            timeout: episode.cause == Cause::Timeout,
            sack: world.sack,
            timestamps: world.timestamps,
            stack: stack.clone(),
            model,
        };
        let mut found = Vec::new();
        if !episode.agrees() {
            found.push(class(Kind::Differs, counters(&episode.model)));
        }
        let kind = match (episode.stack.is_empty(), episode.needed) {
            (false, Some(true)) => Some(Kind::FalseUndo),
            (false, _) => episode.has_loss.then_some(Kind::LossUndone),
            (true, Some(true)) => None,
            (true, _) => (is_cut && !episode.has_loss).then_some(Kind::NeedlessCut),
        };
        found.extend(kind.map(|kind| class(kind, Vec::new())));
        found
    }

    /// Returns a name for a file.
    pub fn slug(&self) -> String {
        let option = |is_on, name: &str| if is_on { format!("-{name}") } else { format!("-no-{name}") };
        let undos = |undos: &[&str]| match undos {
            [] => "none".to_owned(),
            some => some.join("-and-").replace("TCP", "").to_lowercase(),
        };
        let mut name = format!("{}-{}", self.kind.name(), if self.timeout { "timeout" } else { "fast-retransmit" });
        name += &option(self.sack, "sack");
        name += &option(self.timestamps, "timestamps");
        match self.kind {
            Kind::Differs => name += &format!("-{}-not-{}", undos(&self.stack), undos(&self.model)),
            Kind::NeedlessCut => {}
            Kind::FalseUndo | Kind::LossUndone => name += &format!("-{}", undos(&self.stack)),
        }
        name
    }
}

/// For example "differs after a timeout, sack, no timestamps: TCPLossUndo, and none by the detector".
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |undos: &[&str]| if undos.is_empty() { "no undo".to_owned() } else { undos.join(" ") };
        let option = |is_on, name: &str| if is_on { format!(", {name}") } else { format!(", no {name}") };
        let cause = if self.timeout { "timeout" } else { "fast retransmit" };
        write!(f, "{} after a {cause}", self.kind.name())?;
        write!(f, "{}{}", option(self.sack, "sack"), option(self.timestamps, "timestamps"))?;
        write!(f, ": {}", names(&self.stack))?;
        if self.kind == Kind::Differs { write!(f, ", and {} by the detector", names(&self.model)) } else { Ok(()) }
    }
}

/// The episodes of a class.
#[derive(Clone, Debug)]
pub struct Found {
    pub episodes: u64,
    /// Its simplest worlds, the simplest first: some may not repeat.
    pub smallest: Vec<World>,
}

/// The most worlds that are kept of a class.
const KEPT: usize = 6;

/// Counts over worlds.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub worlds: u64,
    /// Worlds that did not end.
    pub stuck: u64,
    /// Worlds in which a timer may have expired while an ACK was processed; they count for nothing
    /// else.
    pub doubtful: u64,
    /// Worlds whose course could not be followed, and the first reason.
    pub refused: (u64, Option<String>),
    pub episodes: u64,
    /// Episodes that the stack undid.
    pub undone: u64,
    /// Episodes in which stack and detector decided alike.
    pub alike: u64,
    /// Retransmissions, and those that were needed.
    pub retransmissions: [u64; 2],
    pub classes: BTreeMap<Class, Found>,
}

impl Tally {
    /// Adds a world.
    pub fn add(&mut self, played: &Played, detector: Box<dyn Detector>) {
        self.worlds += 1;
        self.stuck += u64::from(played.ended == Ended::Stuck);
        if played.course.is_doubtful {
            self.doubtful += 1;
            return;
        }
        let (world, course) = (&played.world, &played.course);
        self.retransmissions[0] += course.needed.len() as u64;
        self.retransmissions[1] += course.needed.values().filter(|needed| **needed).count() as u64;
        let episodes = match judge(course, detector) {
            Ok(episodes) => episodes,
            Err(what) => {
                self.refused.0 += 1;
                self.refused.1.get_or_insert(format!("{world}: {what}"));
                return;
            }
        };
        for episode in &episodes {
            self.episodes += 1;
            self.undone += u64::from(!episode.stack.is_empty());
            self.alike += u64::from(episode.agrees());
        }
        for class in classes(world, course, &episodes) {
            let found = self.classes.entry(class).or_insert(Found { episodes: 0, smallest: Vec::new() });
            found.episodes += 1;
            if !found.smallest.contains(world) {
                let place = found.smallest.partition_point(|other| size(other) <= size(world));
                found.smallest.insert(place, *world);
                found.smallest.truncate(KEPT);
            }
        }
    }
}

/// Returns the classes of a world's episodes.
pub fn classes(world: &World, course: &Course, episodes: &[Episode]) -> Vec<Class> {
    let last = course.events.iter().rev().find_map(|(_, what)| match what {
        What::Received(_, standing, _) => Some(standing),
        _ => None,
    });
    let is_cut = last.is_some_and(|standing| standing.ssthresh.is_some());
    episodes.iter().flat_map(|episode| Class::of(world, episode, is_cut)).collect()
}

/// A world with a lower value is simpler.
fn size(world: &World) -> (u32, u32, bool, u32) {
    let shape = world.size;
    (world.fates.disturbed(), shape.segments + shape.after, world.paced, shape.late_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Instant;

    fn episode(needed: Option<bool>, has_loss: bool, stack: &[(usize, &'static str)]) -> Episode {
        let (stack, model) = (stack.to_vec(), stack.to_vec());
        Episode { begins: Instant::ZERO, cause: Cause::Timeout, needed, has_loss, stack, model }
    }

    #[test]
    fn an_episode_is_classed_by_truth_and_undo() {
        let world = World::draw(1, 1);
        let undo = [(3, "TCPLossUndo")];
        let kinds = |episode: &Episode, is_cut| {
            Class::of(&world, episode, is_cut).iter().map(|class| class.kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&episode(Some(true), true, &undo), false), [Kind::FalseUndo]);
        assert_eq!(kinds(&episode(Some(false), true, &undo), false), [Kind::LossUndone]);
        assert_eq!(kinds(&episode(Some(false), false, &undo), true), []);
        assert_eq!(kinds(&episode(Some(false), false, &[]), true), [Kind::NeedlessCut]);
        assert_eq!(kinds(&episode(None, false, &[]), false), [], "a later undo has restored it");
        assert_eq!(kinds(&episode(Some(true), true, &[]), true), []);
        // The same undo on another ACK differs.
        let mut other = episode(Some(false), false, &undo);
        other.model = vec![(4, "TCPLossUndo")];
        assert_eq!(kinds(&other, true), [Kind::Differs]);
        assert!(Class::of(&world, &other, true)[0].slug().starts_with("differs-timeout-"));
    }
}
