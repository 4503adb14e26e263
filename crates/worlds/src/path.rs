//! What is under way between the two ends.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Segment;
use eifel_sim::End;
use eifel_sim::oracle::Sent;

use crate::fate::Subject;

/// One way, without the queue.
pub const DELAY: Duration = Duration::from_millis(50);
/// From one packet of a burst to the next.
const SPACING: Duration = Duration::from_millis(1);

/// A copy of a segment on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) to: End,
    pub(crate) segment: Segment,
    /// What the oracle knows it as; `None` if it carries no data.
    pub(crate) sent: Option<Sent>,
    /// Whose fate it has, if one was chosen.
    pub(crate) subject: Option<Subject>,
    /// Its number in the drawing, if there is one.
    pub(crate) number: usize,
}

/// An arrival to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) packet: Packet,
    /// Whether it is the first copy of its transmission to arrive.
    pub(crate) first: bool,
    /// Whether it may come sooner, when what it is held for happens.
    held: bool,
}

/// Both directions. What is not held keeps its order, and so does what is let go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// The next to arrive is the last.
    arrivals: Vec<Arrival>,
    /// When the latest arrives of those that were not held, by where to; and of those that were.
    last: [[Instant; 2]; 2],
}

impl Path {
    /// A packet that leaves now arrives.
    pub(crate) fn carry(&mut self, now: Instant, packet: Packet, first: bool) {
        self.queue(now + DELAY, packet, first, false);
    }

    /// A packet that leaves now is held, but not for longer than this.
    pub(crate) fn hold(&mut self, now: Instant, packet: Packet, longest: Duration) {
        self.insert(Arrival { at: now + DELAY + longest, packet, first: true, held: true });
    }

    /// What is held is let go in the order in which it left, and begins to arrive after `late`.
    pub(crate) fn release(&mut self, now: Instant, late: Duration) {
        let held: Vec<Arrival> = self.arrivals.extract_if(.., |arrival| arrival.held).collect();
        for Arrival { packet, first, .. } in held.into_iter().rev() {
            self.queue(now + late, packet, first, true);
        }
    }

    fn queue(&mut self, at: Instant, packet: Packet, first: bool, was_held: bool) {
        let last = &mut self.last[packet.to.index()][usize::from(was_held)];
        *last = at.max(*last + SPACING);
        let at = *last;
        self.insert(Arrival { at, packet, first, held: false });
    }

    fn insert(&mut self, arrival: Arrival) {
        let place = self.arrivals.partition_point(|other| other.at > arrival.at);
        self.arrivals.insert(place, arrival);
    }

    /// When the next arrives, or never.
    pub(crate) fn next(&self) -> Instant {
        self.arrivals.last().map_or(Instant::NEVER, |arrival| arrival.at)
    }

    /// The next, which is due.
    pub(crate) fn take(&mut self) -> Option<Arrival> {
        self.arrivals.pop()
    }
}
