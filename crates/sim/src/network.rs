//! The network between the hosts: links, routes, the packets under way and the queue of what happens next.

use crate::background::{Background, Place};
use crate::check::Checkers;
use crate::clock::queue::EventQueue;
use crate::lane::{Lane, Passage, SLOTS_PER_LANE};
use crate::lookahead::{Foreseen, Lookahead};
use crate::oracle::{Oracle, Role, Sent};
use crate::proxies::Proxies;
use crate::record::recorder::Recorder;
use crate::routes::Routes;
use crate::slab::{Delivery, Packet, Remains, Slab};
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Version;
use eifel_path::background::Source;
use eifel_path::link::{Link, NextEvent};
use eifel_path::parcel::{DropCause, Label, Outcome, Parcel};
use eifel_path::proxy::Filtered;

/// A link and where it ends. Its parts stand as they are written, what is used together close together.
#[repr(C)]
pub struct Span {
    /// The background traffic on it.
    pub background: Vec<Background>,
    /// Index of the node at its far end.
    pub to: u16,
    /// What a packet that enters may be spared.
    pub shortcut: Shortcut,
    /// Who feeds it.
    pub entrance: Entrance,
    /// The link.
    pub link: Link,
}

/// How many events a packet needs that a link has taken in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shortcut {
    /// One at the far end.
    None,
    /// One at the far end of the link behind, which this one alone feeds: it stands in the lane of that number.
    Lane(u16),
    /// None if it is for an end that is evaluated ahead of the clock.
    Lookahead,
}

/// Where the packets of a link come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entrance {
    /// From anywhere.
    Open,
    /// From one other link alone, which passes them on in its [lane](crate::lane).
    Lane {
        /// Packets that come from there with an event of their own, and are not here yet: others have to come behind them.
        awaited: u32,
    },
}

/// Which of a lane's slots is that of the next crossing.
const CROSSING: u32 = 1;

/// What only some runs have.
#[derive(Default)]
pub struct Observers {
    /// Keeps tables and captures.
    pub recorder: Option<Recorder>,
    /// Verifies after each event.
    pub checkers: Option<Checkers>,
    /// The bytes of each packet under way, by handle, where segments are carried as bytes.
    pub wire: Option<Vec<Vec<u8>>>,
}

/// What links dropped of one end's data segments or datagrams.
#[derive(Clone, Default)]
pub struct Drops {
    /// All.
    pub all: u64,
    /// Those within a round trip after an undo.
    pub after_undo: u64,
    /// From when until when a drop is one of those; all that there were, for an end that is evaluated ahead of the clock undoes
    /// before what it has sent is dropped.
    undone: Vec<(Instant, Instant)>,
}

impl Drops {
    fn note(&mut self, now: Instant) {
        self.all += 1;
        let before = self.undone.partition_point(|&(from, _)| from <= now);
        let last = before.checked_sub(1).and_then(|index| self.undone.get(index));
        self.after_undo += u64::from(last.is_some_and(|&(_, until)| now < until));
    }

    /// An undo at `now` may make its end send a burst; what is dropped within `round_trip` is put down to it.
    pub fn undone(&mut self, now: Instant, round_trip: Duration) {
        let until = now + round_trip;
        match self.undone.last_mut() {
            Some((_, last)) if *last >= now => *last = until.max(*last),
            _ => self.undone.push((now, until)),
        }
    }
}

/// The network. With `OBSERVED` true, every event happens in the order of time, which two kinds of runs need: those that
/// are watched (recorded, checked or carried as bytes), and those in which a proxy or a lying receiver interferes. With
/// `OBSERVED` false, neither is possible, and the code for it is not there.
pub struct Network<const OBSERVED: bool> {
    /// Now.
    pub now: Instant,
    /// What happens next: a slot for each link, then three for each flow.
    pub queue: EventQueue,
    /// Packets under way.
    pub slab: Slab,
    /// The links, in the order of the scenario.
    pub spans: Vec<Span>,
    /// The lanes of links that have one.
    pub lanes: Vec<Lane>,
    /// Next links.
    pub routes: Routes,
    /// The ends that are evaluated ahead of the clock.
    pub lookahead: Lookahead,
    /// What stands in front of some links; a run that has any is an observed one.
    pub proxies: Option<Box<Proxies>>,
    /// The truth.
    pub oracle: Oracle,
    /// What was dropped, by twice the flow's index plus the sending end.
    pub drops: Vec<Drops>,
    /// The version of IP below TCP.
    pub ip: Version,
    /// What links charge for a segment's headers in place of their length.
    pub header_bytes: Option<u32>,
    /// Observers of an observed run.
    pub observers: Observers,
    /// Kept between events, so that it is allocated once.
    pub outcomes: Vec<Outcome>,
}

impl<const OBSERVED: bool> Network<OBSERVED> {
    /// The packet in the [vacant cell](Slab::vacant), of so many bytes, headers included, leaves for the node `destination`
    /// over `link`.
    #[inline]
    pub fn launch(&mut self, bytes: u32, destination: u16, link: usize) {
        let handle = self.slab.send(destination);
        self.offer(link, Parcel { handle, bytes });
    }

    /// A parcel is at the entrance of `link`.
    #[inline(always)]
    pub fn offer(&mut self, link: usize, parcel: Parcel) {
        let mut span = &mut self.spans[link];
        if !span.background.is_empty() {
            self.catch_up(link);
            span = &mut self.spans[link];
        }
        match span.shortcut {
            Shortcut::None => {}
            Shortcut::Lane(lane) => return self.offer_through(link, lane, parcel),
            Shortcut::Lookahead => return self.offer_ahead(link, parcel),
        }
        let label = || label(self.slab.get(parcel.handle));
        match span.link.offer(self.now, parcel, label, &mut self.outcomes) {
            NextEvent::Same => {}
            NextEvent::First => self.queue.begin(link as u32, span.link.next_event()),
            NextEvent::Moved => self.queue.set(link as u32, span.link.next_event()),
        }
        self.note_offer(link);
    }

    /// A parcel is at the entrance of the last link to an end that is evaluated ahead.
    #[inline(always)]
    fn offer_ahead(&mut self, link: usize, parcel: Parcel) {
        let Self { spans, slab, lookahead, outcomes, now, .. } = self;
        let packet = slab.get(parcel.handle);
        let end = packet.sender.other();
        let ahead = lookahead.is_ahead(packet.flow, end);
        let goes_on =
            |arrives| ahead && lookahead.foresee(end, Foreseen { arrives, parcel, flow: packet.flow, links: 1 });
        let span = &mut spans[link];
        if span.link.offer_through(*now, parcel, goes_on, outcomes) == NextEvent::First {
            self.queue.begin(link as u32, span.link.next_event());
        }
        self.note_offer(link);
    }

    #[inline(always)]
    fn note_offer(&mut self, link: usize) {
        if OBSERVED && let Some(recorder) = &mut self.observers.recorder {
            recorder.queue(self.now, link, || self.spans[link].link.queue(self.now));
        }
        if !self.outcomes.is_empty() {
            self.settle_outcomes(link);
        }
    }

    /// A parcel is at the entrance of a link that has a lane: where the one behind it is idle when it comes, it crosses both.
    #[inline(never)]
    fn offer_through(&mut self, link: usize, lane: u16, parcel: Parcel) {
        let slot = self.lane_slot(lane);
        let to = self.spans[link].to;
        let destination = self.slab.destination(parcel.handle);
        if destination == to {
            return self.offer_ahead(link, parcel);
        }
        let next = self.routes.next(to, destination);
        let event = match self.spans.get_disjoint_mut([link, next]) {
            Ok([first, Span { link: second, entrance: Entrance::Lane { awaited }, .. }]) => {
                let lane = &mut self.lanes[usize::from(lane)];
                let lookahead = &mut self.lookahead;
                let packet = self.slab.get(parcel.handle);
                let end = packet.sender.other();
                let ahead = lookahead.is_ahead(packet.flow, end);
                let goes_on = |crosses: Instant| {
                    // Who is evaluated ahead need not keep its place among the others.
                    let earliest = if ahead { Instant::ZERO } else { lane.last() };
                    let arrives = match awaited {
                        0 => second.cross(crosses, parcel.bytes, earliest),
                        _ => None,
                    };
                    let Some(arrives) = arrives else {
                        *awaited += 1;
                        return false;
                    };
                    if ahead && lookahead.foresee(end, Foreseen { arrives, parcel, flow: packet.flow, links: 2 }) {
                        return true;
                    }
                    if lane.enter(Passage { arrives, crosses, parcel, over: next as u32 }) {
                        self.queue.begin(slot, arrives);
                    }
                    if OBSERVED {
                        self.queue.set(slot + CROSSING, lane.next_crossing());
                    }
                    true
                };
                first.link.offer_through(self.now, parcel, goes_on, &mut self.outcomes)
            }
            _ => {
                let label = || label(self.slab.get(parcel.handle));
                self.spans[link].link.offer(self.now, parcel, label, &mut self.outcomes)
            }
        };
        if event == NextEvent::First {
            self.queue.begin(link as u32, self.spans[link].link.next_event());
        }
        self.note_offer(link);
    }

    /// The slot of the next arrival in a lane; that of the next crossing follows it.
    fn lane_slot(&self, lane: u16) -> u32 {
        (self.spans.len() + SLOTS_PER_LANE * usize::from(lane)) as u32
    }

    /// A source of background traffic.
    pub fn background(&self, place: Place) -> &Background {
        &self.spans[place.link].background[place.source]
    }

    /// The background traffic that is due by now goes into `link`, each datagram at its own instant.
    #[inline(never)]
    pub fn catch_up(&mut self, link: usize) {
        loop {
            let Span { link: into, background, .. } = &mut self.spans[link];
            let Some(index) = (0..background.len()).min_by_key(|&index| background[index].due()) else { return };
            let alone = background.len() == 1;
            let source = &mut background[index];
            let at = source.due();
            if at > self.now || into.is_overfull() {
                return;
            }
            if !OBSERVED && alone {
                return into.run_background(index, source, self.now);
            }
            let fate = into.offer_background(at, index);
            source.step();
            if OBSERVED && let Some(recorder) = &mut self.observers.recorder {
                recorder.queue(at, link, || into.queue(at));
                if let Err(cause) = fate {
                    recorder.dropped_background(at, link, source.flow, cause);
                }
            }
        }
    }

    /// What is due on `link` happens; the answer is what has come to its destination.
    #[inline]
    pub fn advance(&mut self, link: usize) -> Option<Delivery> {
        let mut span = &mut self.spans[link];
        // What arrives stood in the queue that earlier background traffic found.
        if !span.background.is_empty() {
            self.catch_up(link);
            span = &mut self.spans[link];
        }
        let arrived = span.link.advance(self.now, &mut self.outcomes);
        let to = span.to;
        self.queue.move_first(link as u32, span.link.next_event());
        if !self.outcomes.is_empty() {
            self.settle_outcomes(link);
        }
        let parcel = arrived?;
        let destination = self.slab.destination(parcel.handle);
        if destination == to {
            return Some(self.slab.reach(parcel));
        }
        let next = self.routes.next(to, destination);
        if OBSERVED && self.withheld(to, next, parcel) {
            return None;
        }
        self.slab.forward(parcel.handle, next as u16);
        if let Entrance::Lane { awaited } = &mut self.spans[next].entrance {
            *awaited -= 1;
        }
        self.offer(next, parcel);
        None
    }

    /// Whether a proxy at `node` keeps the parcel from `link`.
    fn withheld(&mut self, node: u16, link: usize, parcel: Parcel) -> bool {
        let Some(proxies) = &mut self.proxies else { return false };
        let cell = self.slab.cell(parcel.handle);
        if proxies.meet(node, link, cell) == Filtered::Passes {
            return false;
        }
        let packet = cell.packet;
        if let Some(checkers) = &self.observers.checkers {
            checkers.withheld(self.now, &packet, &self.oracle);
        }
        self.gone(link, &packet, parcel, DropCause::Proxy);
        true
    }

    /// What is due in a lane happens, in its slot of that number; the answer is what has come to its destination.
    #[inline]
    pub fn pass(&mut self, slot: usize) -> Option<Delivery> {
        let (lane, which) = (slot / SLOTS_PER_LANE, slot % SLOTS_PER_LANE);
        if OBSERVED && which == CROSSING as usize {
            self.note_crossing(lane);
            return None;
        }
        let (passage, next) = self.lanes[lane].leave()?;
        // What was under way for long has left the caches: what comes soon is fetched while there is other work to do.
        if let Some(soon) = self.lanes[lane].ahead(2) {
            self.slab.forward(soon.parcel.handle, soon.over as u16);
        }
        let delivery = self.slab.reach(passage.parcel);
        self.queue.move_first(self.lane_slot(lane as u16), next);
        Some(delivery)
    }

    /// A packet in a lane is between the two links: the queue of the second is recorded, in which it is alone.
    fn note_crossing(&mut self, lane: usize) {
        let slot = self.lane_slot(lane as u16) + CROSSING;
        let lane = &mut self.lanes[lane];
        let Some(passage) = lane.cross() else { return };
        self.queue.set(slot, lane.next_crossing());
        if let Some(recorder) = &mut self.observers.recorder {
            let over = passage.over as usize;
            recorder.queue(self.now, over, || self.spans[over].link.queue_of_one(passage.parcel.bytes));
        }
    }

    #[cold]
    fn settle_outcomes(&mut self, link: usize) {
        // Taken out while they are settled and put back emptied: what is allocated stays.
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Duplicated { parcel } => self.slab.share(parcel.handle),
                Outcome::Dropped { parcel, cause } => self.note_drop(link, parcel, cause),
            }
        }
        self.outcomes = outcomes;
    }

    fn note_drop(&mut self, link: usize, parcel: Parcel, cause: DropCause) {
        let packet = *self.slab.get(parcel.handle);
        if packet.segment > 0 {
            self.drops[2 * packet.flow as usize + packet.sender.index()].note(self.now);
        }
        self.gone(link, &packet, parcel, cause);
    }

    /// A copy of the packet goes no further.
    fn gone(&mut self, link: usize, packet: &Packet, parcel: Parcel, cause: DropCause) {
        let remains = self.slab.drop_one(parcel.handle);
        if OBSERVED && let Some(recorder) = &mut self.observers.recorder {
            recorder.dropped(self.now, link, packet, cause, remains);
        }
        if packet.transmission > 0 && remains == Remains::Nothing {
            self.oracle.lost(packet.flow, packet.sender, sent(packet));
        }
    }
}

/// What elements of a link choose a packet by.
fn label(packet: &Packet) -> Label {
    Label { flow: packet.flow, copy: packet.copy, segment: packet.segment }
}

/// A packet's transmission as the oracle sees it.
#[inline]
pub fn sent(packet: &Packet) -> Sent {
    Sent {
        transmission: packet.transmission,
        start: packet.start,
        end: packet.start + u64::from(packet.positions),
        role: match (packet.repeats, packet.copy) {
            (true, _) => Role::Retransmission,
            (false, 0) => Role::Original,
            (false, _) => Role::Probe,
        },
    }
}
