//! The hiccup box without I/O. It does to real packets what a scenario's links do. Packets and time
//! go in, packets come out.
//!
//! It drives the same links as the simulator. Elements at the entrance of a link (loss,
//! duplication, reordering) exist once for each flow. So the fate of a flow's n-th packet depends
//! on the seed alone, not on other flows or on the packet's time. The first flow's draws are those
//! of the simulator's only flow.

pub mod counts;
pub mod gate;
pub mod label;
pub mod lateness;
pub mod log;
pub mod order;
mod pipeline;
pub mod run;
pub mod truth;

use eifel_base::time::Instant;
use eifel_packet::ip::{self, Ecn};
use eifel_path::config::ConfigError;
use eifel_path::parcel::{DropCause, Mark};
use eifel_sim::scenario::{Link, Scenario};
use label::{Flows, ParsedPacket};
use order::{Order, Trigger, Verb};
use pipeline::{Exit, Pipeline};

/// One of the two directions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// From the sender's side of the scenario's first flow.
    There,
    /// From the other side.
    Back,
}

impl Direction {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::There, Self::Back];

    /// Returns its name in files and orders.
    pub const fn name(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Back => "back",
        }
    }
}

/// The fate of a packet, or of one copy of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It came out.
    Delivered,
    /// A copy that the box has made came out.
    Copied,
    /// A link dropped it.
    Dropped(DropCause),
    /// An order dropped it.
    Ordered,
    /// The box still had it at the end of the run.
    Inside,
}

impl Fate {
    /// Returns the fate with this name in files; `None` if there is none.
    pub fn named(word: &str) -> Option<Self> {
        let dropped = DropCause::ALL.into_iter().map(Self::Dropped);
        [Self::Delivered, Self::Copied, Self::Ordered, Self::Inside]
            .into_iter()
            .chain(dropped)
            .find(|fate| fate.name() == word)
    }

    /// Returns its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "ok",
            Self::Copied => "copy",
            Self::Dropped(cause) => cause.name(),
            Self::Ordered => "ordered",
            Self::Inside => "inside",
        }
    }
}

/// The passage of a packet, or of a copy, through the box.
#[derive(Clone, PartialEq, Debug)]
pub struct Transit {
    pub direction: Direction,
    /// The box's view of the packet: its flow, its number in the flow, its headers.
    pub seen: ParsedPacket,
    /// Bytes from the IP header on.
    pub bytes: u32,
    /// When it came in.
    pub entered: Instant,
    /// When the links released or dropped it. For a packet in the box, when it came in.
    pub due: Instant,
    /// When the kernel had it. The same as `due` for a packet that did not come out.
    pub left: Instant,
    /// Its fate; [`Fate::Inside`] until the fate is known.
    pub fate: Fate,
}

/// A packet in the box.
struct HeldPacket {
    passage: Transit,
    packet: Vec<u8>,
    /// Copies of it in the box, the original included.
    copies: u32,
    /// Whether a copy has come out.
    delivered: bool,
}

/// The box.
pub struct Hiccup {
    ways: [Pipeline; 2],
    flows: Flows,
    /// Packets, indexed by the handles of their parcels; `None` where a handle is free.
    inside: Vec<Option<HeldPacket>>,
    vacant: Vec<u32>,
    header_bytes: Option<u32>,
    triggers: Vec<Trigger>,
    /// How many of the next packets orders drop, by direction.
    to_drop: [u64; 2],
    exits: Vec<Exit>,
    dropped: Vec<Transit>,
    last: Option<Transit>,
}

impl Hiccup {
    /// Makes a box from the links of the scenario's first flow, both ways, with the scenario's
    /// seed.
    ///
    /// # Errors
    /// Link settings that make no sense, or a scenario without flows.
    pub fn new(scenario: &Scenario, triggers: Vec<Trigger>) -> Result<Self, ConfigError> {
        let links = |indices: &[usize]| -> Vec<&Link> { indices.iter().map(|&index| &scenario.links[index]).collect() };
        let Some(flow) = scenario.flows.first() else {
            let problem = "the scenario has none: its path is not known".to_owned();
            return Err(ConfigError { key: "flow".to_owned(), problem });
        };
        Ok(Self {
            ways: [
                Pipeline::new(&links(&flow.there), scenario.seed)?,
                Pipeline::new(&links(&flow.back), scenario.seed)?,
            ],
            flows: Flows::default(),
            inside: Vec::new(),
            vacant: Vec::new(),
            header_bytes: scenario.header_bytes,
            triggers,
            to_drop: [0; 2],
            exits: Vec::new(),
            dropped: Vec::new(),
            last: None,
        })
    }

    /// Takes a packet that comes in. `now` never goes back from one call to the next.
    pub fn take(&mut self, now: Instant, direction: Direction, packet: Vec<u8>) {
        self.run(now);
        let seen = self.flows.see(direction, &packet);
        let fired: Vec<Order> = self
            .triggers
            .iter()
            .filter(|trigger| trigger.fires(direction, &seen))
            .map(|trigger| trigger.order)
            .collect();
        fired.into_iter().for_each(|order| self.obey(now, order));
        let length = packet.len() as u32;
        let passage = Transit { direction, seen, bytes: length, entered: now, due: now, left: now, fate: Fate::Inside };
        self.last = Some(passage.clone());
        let to_drop = &mut self.to_drop[direction as usize];
        if *to_drop > 0 {
            *to_drop -= 1;
            self.dropped.push(Transit { fate: Fate::Ordered, ..passage });
            return;
        }
        let charged = match (self.header_bytes, &seen.tcp) {
            (Some(header), Some(tcp)) => header + tcp.payload_len,
            _ => length,
        };
        let label = seen.label;
        let handle = self.insert(HeldPacket { passage, packet, copies: 1, delivered: false });
        self.ways[direction as usize].take(now, (handle, charged), label, &mut self.exits);
        self.account();
    }

    /// Returns the packet that came in last, as it came in.
    pub fn last(&self) -> Option<&Transit> {
        self.last.as_ref()
    }

    /// Follows an order at once.
    pub fn obey(&mut self, now: Instant, order: Order) {
        self.run(now);
        for direction in Direction::ALL.into_iter().filter(|&direction| order.ways.cover(direction)) {
            let way = &mut self.ways[direction as usize];
            match order.verb {
                Verb::Hold(length) => way.gate.close(length.map_or(Instant::NEVER, |length| now + length)),
                Verb::Release => way.gate.open(now, &mut self.exits),
                Verb::Toggle if way.gate.is_closed() => way.gate.open(now, &mut self.exits),
                Verb::Toggle => way.gate.close(Instant::NEVER),
                Verb::Drop(count) => self.to_drop[direction as usize] += count,
            }
        }
        self.account();
    }

    /// Returns the time of the next event; never if nothing is under way.
    pub fn next_event(&self) -> Instant {
        self.ways.iter().map(Pipeline::next_event).min().unwrap_or(Instant::NEVER)
    }

    /// Handles the events that are due by `now`, each at its own instant.
    pub fn run(&mut self, now: Instant) {
        loop {
            let way = if self.ways[0].next_event() <= self.ways[1].next_event() { 0 } else { 1 };
            if self.ways[way].next_event() > now {
                return;
            }
            self.ways[way].step(&mut self.exits);
            self.account();
        }
    }

    /// Returns the packets that have come out since the last call, in order.
    pub fn delivered(&mut self) -> Vec<(Transit, Vec<u8>)> {
        let exits = std::mem::take(&mut self.exits);
        let mut out = Vec::with_capacity(exits.len());
        for exit in exits {
            if let Exit::Arrived { handle, at } = exit
                && let Some(inside) = self.inside.get_mut(handle as usize).and_then(Option::as_mut)
            {
                let fate = if inside.delivered { Fate::Copied } else { Fate::Delivered };
                inside.delivered = true;
                inside.copies -= 1;
                let passage = Transit { due: at, left: at, fate, ..inside.passage.clone() };
                let packet = if inside.copies == 0 { self.remove(handle) } else { inside.packet.clone() };
                out.push((passage, packet));
            }
        }
        out
    }

    /// Returns the packets that were dropped since the last call.
    pub fn dropped(&mut self) -> Vec<Transit> {
        std::mem::take(&mut self.dropped)
    }

    /// Returns the packets in the box, except packets with a copy that has come out.
    pub fn left(&self) -> impl Iterator<Item = &Transit> {
        self.inside.iter().flatten().filter(|inside| !inside.delivered).map(|inside| &inside.passage)
    }

    /// Accounts for drops, duplications and marks. Arrivals stay until
    /// [`delivered`](Self::delivered) takes them.
    fn account(&mut self) {
        let mut exits = std::mem::take(&mut self.exits);
        exits.retain(|exit| match *exit {
            Exit::Arrived { .. } => true,
            Exit::Duplicated { handle } => {
                if let Some(Some(inside)) = self.inside.get_mut(handle as usize) {
                    inside.copies += 1;
                }
                false
            }
            // Duplicates of a packet share its ECN field, as in the simulator.
            Exit::Marked { handle, mark } => {
                if let Some(Some(inside)) = self.inside.get_mut(handle as usize)
                    && ip::parse(&inside.packet).is_ok()
                {
                    let ecn = match mark {
                        Mark::Congestion => Ecn::Ce,
                        Mark::Cleared => Ecn::NotEct,
                    };
                    ip::remark(&mut inside.packet, ecn);
                }
                false
            }
            Exit::Dropped { handle, at, cause } => {
                if let Some(Some(inside)) = self.inside.get_mut(handle as usize) {
                    inside.copies -= 1;
                    if inside.copies == 0 {
                        // If another copy has come out, the drop is not the packet's fate.
                        if !inside.delivered {
                            self.dropped.push(Transit {
                                due: at,
                                left: at,
                                fate: Fate::Dropped(cause),
                                ..inside.passage.clone()
                            });
                        }
                        self.remove(handle);
                    }
                }
                false
            }
        });
        self.exits = exits;
    }

    fn insert(&mut self, inside: HeldPacket) -> u32 {
        match self.vacant.pop() {
            Some(handle) => {
                self.inside[handle as usize] = Some(inside);
                handle
            }
            None => {
                self.inside.push(Some(inside));
                (self.inside.len() - 1) as u32
            }
        }
    }

    fn remove(&mut self, handle: u32) -> Vec<u8> {
        let inside = self.inside[handle as usize].take();
        self.vacant.push(handle);
        inside.map_or(Vec::new(), |inside| inside.packet)
    }
}
