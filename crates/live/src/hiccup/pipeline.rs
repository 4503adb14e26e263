//! One direction through the box: the links of a route, one behind the other, and a gate at the far end.

use super::gate::Gate;
use eifel_base::time::{Duration, Instant};
use eifel_path::config::{Capacity, ConfigError, LinkConfig};
use eifel_path::link::Link;
use eifel_path::parcel::{DropCause, Label, Mark, Outcome, Parcel};
use eifel_path::queue::QueueConfig;
use std::collections::BTreeSet;

/// An event of a parcel on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Exit {
    /// It has passed the last link, and the gate.
    Arrived { handle: u32, at: Instant },
    /// There is one more copy of it.
    Duplicated { handle: u32 },
    /// Its ECN field changes.
    Marked { handle: u32, mark: Mark },
    /// A copy of it was dropped.
    Dropped { handle: u32, at: Instant, cause: DropCause },
}

/// A link, with an entrance for each flow.
struct Stage {
    name: String,
    seed: u64,
    /// Settings of an entrance: the link's elements, and nothing else.
    entrance: LinkConfig,
    entrances: Vec<Link>,
    /// The next event of each entrance that has one: its time, and the flow.
    due: BTreeSet<(Instant, u32)>,
    /// The time of each entrance's next event; never if it has none.
    due_at: Vec<Instant>,
    link: Link,
}

/// One direction.
pub(super) struct Pipeline {
    stages: Vec<Stage>,
    pub(super) gate: Gate,
    labels: Vec<Label>,
    outcomes: Vec<Outcome>,
}

impl Pipeline {
    /// Makes a way over `links`, in this order. Without links, packets come out at once.
    pub(super) fn new(links: &[&eifel_sim::scenario::Link], seed: u64) -> Result<Self, ConfigError> {
        let stage = |link: &&eifel_sim::scenario::Link| {
            let LinkConfig { elements, elements_until, .. } = link.config.clone();
            let entrance = LinkConfig {
                capacity: Capacity::Unlimited,
                delay: Duration::ZERO,
                delay_changes: Vec::new(),
                queue: QueueConfig::Unlimited,
                spikes: Vec::new(),
                elements,
                elements_until,
            };
            let config = LinkConfig { elements: Vec::new(), ..link.config.clone() };
            let main = Link::new(&config, &link.name, seed)?;
            let (name, entrances, due, due_at) = (link.name.clone(), Vec::new(), BTreeSet::new(), Vec::new());
            Ok(Stage { name, seed, entrance, entrances, due, due_at, link: main })
        };
        let stages = links.iter().map(stage).collect::<Result<_, ConfigError>>()?;
        Ok(Self { stages, gate: Gate::default(), labels: Vec::new(), outcomes: Vec::new() })
    }

    /// Takes a parcel of `bytes` bytes at the first link.
    pub(super) fn take(&mut self, now: Instant, (handle, bytes): (u32, u32), label: Label, exits: &mut Vec<Exit>) {
        let place = handle as usize;
        if self.labels.len() <= place {
            self.labels.resize(place + 1, Label::default());
        }
        self.labels[place] = label;
        self.enter(0, now, Parcel { handle, bytes }, exits);
    }

    /// Returns the time of the next event.
    pub(super) fn next_event(&self) -> Instant {
        self.stages.iter().map(Stage::next_event).min().unwrap_or(Instant::NEVER).min(self.gate.due())
    }

    /// Handles the next event, at its own instant.
    pub(super) fn step(&mut self, exits: &mut Vec<Exit>) {
        let at = self.next_event();
        // A gate opens before anything else arrives.
        if self.gate.due() <= at {
            return self.gate.open(at, exits);
        }
        let Some(index) = self.stages.iter().position(|stage| stage.next_event() == at) else { return };
        let stage = &mut self.stages[index];
        if let Some(&(_, flow)) = stage.due.first().filter(|(due, _)| *due == at) {
            let parcel = stage.entrances[flow as usize].advance(at, &mut self.outcomes);
            stage.note_due(flow);
            self.report(at, exits);
            if let Some(parcel) = parcel {
                self.offer(index, at, parcel, exits);
            }
            return;
        }
        let parcel = stage.link.advance(at, &mut self.outcomes);
        self.report(at, exits);
        if let Some(parcel) = parcel {
            self.enter(index + 1, at, parcel, exits);
        }
    }

    /// Hands a parcel to a link, or out of the box after the last one.
    fn enter(&mut self, index: usize, at: Instant, parcel: Parcel, exits: &mut Vec<Exit>) {
        let Some(stage) = self.stages.get_mut(index) else {
            return self.gate.pass(at, parcel.handle, exits);
        };
        if stage.entrance.elements.is_empty() {
            return self.offer(index, at, parcel, exits);
        }
        let label = self.labels[parcel.handle as usize];
        stage.entrance_of(label.flow).offer(at, parcel, || label, &mut self.outcomes);
        self.report(at, exits);
        // Parcels that pass the elements reach the link at the same instant, in order.
        while let Some(stage) = self.stages.get_mut(index)
            && stage.entrance_of(label.flow).next_event() <= at
        {
            let parcel = stage.entrance_of(label.flow).advance(at, &mut self.outcomes);
            if let Some(parcel) = parcel {
                self.offer(index, at, parcel, exits);
            }
            self.report(at, exits);
        }
        if let Some(stage) = self.stages.get_mut(index) {
            stage.note_due(label.flow);
        }
    }

    fn offer(&mut self, index: usize, at: Instant, parcel: Parcel, exits: &mut Vec<Exit>) {
        let label = self.labels[parcel.handle as usize];
        self.stages[index].link.offer(at, parcel, || label, &mut self.outcomes);
        self.report(at, exits);
    }

    fn report(&mut self, at: Instant, exits: &mut Vec<Exit>) {
        exits.extend(self.outcomes.drain(..).map(|outcome| match outcome {
            Outcome::Dropped { parcel, cause } => Exit::Dropped { handle: parcel.handle, at, cause },
            Outcome::Duplicated { parcel } => Exit::Duplicated { handle: parcel.handle },
            Outcome::Marked { parcel, mark } => Exit::Marked { handle: parcel.handle, mark },
        }));
    }
}

impl Stage {
    fn next_event(&self) -> Instant {
        self.due.first().map_or(Instant::NEVER, |&(at, _)| at).min(self.link.next_event())
    }

    /// Updates the time of the next event at an entrance.
    fn note_due(&mut self, flow: u32) {
        let (place, now) = (flow as usize, self.entrances[flow as usize].next_event());
        let before = std::mem::replace(&mut self.due_at[place], now);
        if before != now {
            self.due.remove(&(before, flow));
            if now < Instant::NEVER {
                self.due.insert((now, flow));
            }
        }
    }

    /// Returns the entrance of a flow, with its elements. The first flow's entrance has the name of
    /// the link, as in the simulator, so its draws are the same.
    fn entrance_of(&mut self, flow: u32) -> &mut Link {
        while self.entrances.len() <= flow as usize {
            let name = match self.entrances.len() {
                0 => self.name.clone(),
                number => format!("{}#{number}", self.name),
            };
            self.due_at.push(Instant::NEVER);
            self.entrances
                .push(Link::new(&self.entrance, &name, self.seed).expect("the link's own settings make sense"));
        }
        &mut self.entrances[flow as usize]
    }
}
