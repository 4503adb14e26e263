//! Packets under way between the two ends.

use eifel_base::time::{Duration, Instant};
use eifel_sim::End;
use eifel_sim::oracle::SentData;

use crate::fate::{Fate, Subject};

/// One-way delay without queueing.
pub const DELAY: Duration = Duration::from_millis(50);
/// Spacing of the packets of a burst.
const SPACING: Duration = Duration::from_millis(1);

/// A copy of a packet on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet<C> {
    pub to: End,
    pub contents: C,
    /// The packet as the oracle sees it; `None` without data.
    pub sent: Option<SentData>,
    /// The packet's name among those with fates; `None` if it has no fate.
    pub subject: Option<Subject>,
    /// The packet's number in the drawing, if the world is drawn.
    pub number: Option<usize>,
}

/// A future arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<C> {
    pub at: Instant,
    pub packet: Packet<C>,
    /// Whether this is the first copy of the transmission to arrive.
    pub first: bool,
    /// Whether the packet is held, and arrives earlier if the awaited event happens.
    held: bool,
}

/// Both directions of a path. Held packets keep their order among each other, and so do the other
/// packets.
#[derive(Clone, Debug)]
pub struct Path<C> {
    /// In descending order of time.
    arrivals: Vec<Arrival<C>>,
    /// Latest arrival in each direction: of packets that were not held, and of packets that were.
    last: [[Instant; 2]; 2],
}

impl<C> Default for Path<C> {
    fn default() -> Self {
        Self { arrivals: Vec::new(), last: [[Instant::ZERO; 2]; 2] }
    }
}

impl<C> Path<C> {
    /// Gives a packet its fate. A delayed packet is held for at most `longest` beyond the delay.
    /// Returns the data that are lost.
    pub fn apply(&mut self, now: Instant, packet: Packet<C>, fate: Fate, longest: Duration) -> Option<SentData>
    where
        C: Clone,
    {
        match fate {
            Fate::Delivered => self.carry(now, packet, true),
            Fate::Delayed => self.hold(now, packet, longest),
            Fate::Duplicated => {
                self.carry(now, packet.clone(), true);
                self.carry(now, packet, false);
            }
            Fate::Lost => return packet.sent,
        }
        None
    }

    /// Sends a packet that arrives after the delay.
    fn carry(&mut self, now: Instant, packet: Packet<C>, first: bool) {
        self.queue(now + DELAY, packet, first, false);
    }

    /// Holds a packet that leaves now, for at most `longest` beyond the delay.
    fn hold(&mut self, now: Instant, packet: Packet<C>, longest: Duration) {
        self.insert(Arrival { at: now + DELAY + longest, packet, first: true, held: true });
    }

    /// Releases all held packets in the order in which they left. The first arrives after `late`.
    pub fn release(&mut self, now: Instant, late: Duration) {
        let held: Vec<Arrival<C>> = self.arrivals.extract_if(.., |arrival| arrival.held).collect();
        for Arrival { packet, first, .. } in held.into_iter().rev() {
            self.queue(now + late, packet, first, true);
        }
    }

    fn queue(&mut self, at: Instant, packet: Packet<C>, first: bool, was_held: bool) {
        let last = &mut self.last[packet.to.index()][usize::from(was_held)];
        *last = at.max(*last + SPACING);
        let at = *last;
        self.insert(Arrival { at, packet, first, held: false });
    }

    fn insert(&mut self, arrival: Arrival<C>) {
        let place = self.arrivals.partition_point(|other| other.at > arrival.at);
        self.arrivals.insert(place, arrival);
    }

    /// Returns the time of the next arrival, or never.
    pub fn next(&self) -> Instant {
        self.arrivals.last().map_or(Instant::NEVER, |arrival| arrival.at)
    }

    /// Removes and returns the next arrival.
    pub fn take(&mut self) -> Option<Arrival<C>> {
        self.arrivals.pop()
    }
}
