//! The network between the hosts: links, routes, packets under way, and the queue of future events.

use crate::background::{Background, Place};
use crate::check::Checkers;
use crate::clock::queue::EventQueue;
use crate::lookahead::{KnownArrival, Lookahead};
use crate::oracle::Oracle;
use crate::packet::Packet;
use crate::proxies::Proxies;
use crate::record::recorder::Recorder;
use crate::routes::Routes;
use crate::slab::{Address, Cell, Slab};
use crate::span::Span;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::{self, Ecn, Version};
use eifel_path::background::Source;
use eifel_path::link::{Entered, NextEvent};
use eifel_path::parcel::{DropCause, Mark, Outcome, Parcel};
use eifel_path::proxy::Filtered;
use eifel_recovery::learnt::Learnt;
use std::collections::BTreeMap;

/// Instruments that only observed runs have.
#[derive(Default)]
pub struct Observers {
    /// Fills tables and captures.
    pub recorder: Option<Recorder>,
    /// Verifies laws after each event.
    pub checkers: Option<Checkers>,
    /// The bytes of each packet under way, by handle; `None` unless segments are carried as bytes.
    pub wire: Option<Vec<Vec<u8>>>,
}

/// Drops of one end's data segments or datagrams by links.
#[derive(Clone, Default)]
pub struct Drops {
    /// Drops in the whole run.
    pub all: u64,
    /// Drops within a round trip after an undo.
    pub after_undo: u64,
    /// Periods after undos in which a drop counts as `after_undo`. All are kept: an end that is
    /// evaluated ahead of the clock undoes before drops that happen at earlier times are known.
    undone: Vec<(Instant, Instant)>,
}

impl Drops {
    fn note(&mut self, now: Instant) {
        self.all += 1;
        let before = self.undone.partition_point(|&(from, _)| from <= now);
        let last = before.checked_sub(1).and_then(|index| self.undone.get(index));
        self.after_undo += u64::from(last.is_some_and(|&(_, until)| now < until));
    }

    /// Notes an undo at `now`. It may release a burst, so drops within `round_trip` are attributed
    /// to it.
    pub fn undone(&mut self, now: Instant, round_trip: Duration) {
        let until = now + round_trip;
        match self.undone.last_mut() {
            Some((_, last)) if *last >= now => *last = until.max(*last),
            _ => self.undone.push((now, until)),
        }
    }
}

/// The network. With `IN_ORDER` true, all events happen in the order of time. Two kinds of runs
/// need this: observed runs (recorded, checked, or with segments carried as bytes), and runs with a
/// proxy or a lying receiver. With `IN_ORDER` false, neither is possible, and its code is compiled
/// out.
pub struct Network<const IN_ORDER: bool> {
    pub now: Instant,
    /// Future events. Each link has a slot, then each flow has three.
    pub queue: EventQueue,
    pub slab: Slab,
    /// In the scenario's order.
    pub spans: Vec<Span>,
    pub routes: Routes,
    /// The ends that are evaluated ahead of the clock.
    pub lookahead: Lookahead,
    /// The proxies in front of links. A run with proxies needs `IN_ORDER`.
    pub proxies: Option<Box<Proxies>>,
    pub oracle: Oracle,
    /// Drops, by twice the flow's index plus the sending end.
    pub drops: Vec<Drops>,
    pub ip: Version,
    /// Bytes that a segment's headers take on links; `None` for their actual length.
    pub header_bytes: Option<u32>,
    /// What ended connections have learnt, by the sender's node and its peer's.
    pub learnt: BTreeMap<(u16, u16), Learnt>,
    /// Instruments of an observed run.
    pub observers: Observers,
    /// Kept between events, so that it is allocated only once.
    pub outcomes: Vec<Outcome>,
}

impl<const IN_ORDER: bool> Network<IN_ORDER> {
    /// Sends the packet in the [vacant cell](Slab::vacant) over `link` to `address`. `bytes`
    /// includes headers.
    #[inline]
    pub fn launch(&mut self, bytes: u32, address: Address, link: usize) {
        let handle = self.slab.send(address);
        self.offer(link, Parcel { handle, bytes }, address);
    }

    /// Offers a parcel to `link`.
    #[inline(always)]
    pub fn offer(&mut self, link: usize, parcel: Parcel, address: Address) {
        let mut span = &mut self.spans[link];
        if !span.background.is_empty() {
            self.catch_up(link);
            span = &mut self.spans[link];
        }
        if span.leads_ahead {
            return self.offer_ahead(link, parcel, address);
        }
        if span.feeds_ahead {
            return self.offer_across(link, parcel, address);
        }
        let label = || self.slab.cell(parcel.handle).label();
        match span.link.offer(self.now, parcel, label, &mut self.outcomes) {
            NextEvent::Same => {}
            NextEvent::First => self.queue.begin(link as u32, span.link.next_event()),
            NextEvent::Moved => self.queue.set(link as u32, span.link.next_event()),
        }
        self.note_offer(link);
    }

    /// Offers a parcel to the last link before an end that is evaluated ahead.
    #[inline(always)]
    fn offer_ahead(&mut self, link: usize, parcel: Parcel, Address { flow, sender, ahead, .. }: Address) {
        let Self { spans, lookahead, outcomes, queue, now, .. } = self;
        let last = &mut spans[link].link;
        if let Some(entered) = last.offer_through(*now, parcel, outcomes) {
            let arrives = entered.arrives;
            if ahead && lookahead.is_in_time(arrives) {
                last.deliver(*now, entered);
                lookahead.add_arrival(flow, sender.other(), KnownArrival { arrives, packet: parcel.handle });
            } else if last.keep(entered) == NextEvent::First {
                queue.begin(link as u32, last.next_event());
            }
        }
        self.note_offer(link);
    }

    /// Offers a parcel to a link that feeds ahead. If the next link follows it, also offers the
    /// parcel to the next link, at the time at which the parcel will leave the first.
    #[inline(never)]
    fn offer_across(&mut self, link: usize, parcel: Parcel, address: Address) {
        let entered = self.spans[link].link.offer_through(self.now, parcel, &mut self.outcomes);
        let crosses =
            entered.as_ref().and_then(|entered| self.crossing(link, entered, parcel.bytes, address.destination));
        if let Some(entered) = entered {
            let first = &mut self.spans[link].link;
            if crosses.is_some() {
                first.deliver(self.now, entered);
            } else if first.keep(entered) == NextEvent::First {
                self.queue.begin(link as u32, first.next_event());
            }
        }
        self.note_offer(link);
        if let Some((next, at)) = crosses {
            self.lookahead.crossings += 1;
            let now = std::mem::replace(&mut self.now, at);
            self.offer_ahead(next, parcel, address);
            self.now = now;
        }
    }

    /// Returns the link that a parcel goes on to without an event, and when. `None` if it waits for an event, or
    /// if the next link does not follow.
    #[inline(always)]
    fn crossing(&mut self, link: usize, entered: &Entered, bytes: u32, destination: u16) -> Option<(usize, Instant)> {
        let arrives = entered.arrives;
        let to = self.spans[link].to;
        if destination == to {
            return None;
        }
        let next = self.routes.next(to, destination);
        let follower = &mut self.spans[next];
        if !follower.follows {
            return None;
        }
        let crosses =
            self.lookahead.is_in_time(arrives) && follower.awaited == 0 && follower.link.has_room(arrives, bytes);
        follower.awaited += u32::from(!crosses);
        crosses.then_some((next, arrives))
    }

    #[inline(always)]
    pub fn note_offer(&mut self, link: usize) {
        if IN_ORDER && let Some(recorder) = &mut self.observers.recorder {
            recorder.queue(self.now, link, || self.spans[link].link.queue(self.now));
        }
        if !self.outcomes.is_empty() {
            self.handle_outcomes(link);
        }
    }

    /// Returns an upper bound on the packets under way.
    pub fn under_way(&self) -> usize {
        self.slab.len()
    }

    /// Returns a source of background traffic.
    pub fn background(&self, place: Place) -> &Background {
        &self.spans[place.link].background[place.source]
    }

    /// Puts background traffic that is due into `link`, each datagram at its own time.
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
            if !IN_ORDER && alone {
                return into.run_background(index, source, self.now);
            }
            let fate = into.offer_background(at, index);
            source.step();
            if IN_ORDER && let Some(recorder) = &mut self.observers.recorder {
                recorder.queue(at, link, || into.queue(at));
                if let Err(cause) = fate {
                    recorder.dropped_background(at, link, source.flow, cause);
                }
            }
        }
    }

    /// Handles the events due on `link`. Returns the parcel that reached its destination, if any.
    #[inline]
    pub fn advance(&mut self, link: usize) -> Option<Parcel> {
        let mut span = &mut self.spans[link];
        // Earlier background traffic enters first: it met the link with the arriving packet still
        // in it.
        if !span.background.is_empty() {
            self.catch_up(link);
            span = &mut self.spans[link];
        }
        let arrived = span.link.advance(self.now, &mut self.outcomes);
        let (to, sole, feeds_ahead) = (span.to, span.sole, span.feeds_ahead);
        self.queue.move_first(link as u32, span.link.next_event());
        if !self.outcomes.is_empty() {
            self.handle_outcomes(link);
        }
        let parcel = arrived?;
        let address = sole.unwrap_or_else(|| self.slab.address(parcel.handle));
        let destination = address.destination;
        if destination == to {
            return Some(parcel);
        }
        let next = self.routes.next(to, destination);
        if feeds_ahead && self.spans[next].follows {
            self.spans[next].awaited -= 1;
        }
        if IN_ORDER {
            self.note_passing(to, parcel);
            if self.withheld(to, next, parcel) {
                return None;
            }
        }
        if !address.ahead {
            self.slab.forward(parcel.handle, next as u16);
        }
        self.offer(next, parcel, address);
        None
    }

    /// Captures a parcel that `node` forwards.
    fn note_passing(&mut self, node: u16, parcel: Parcel) {
        if let Some(recorder) = &mut self.observers.recorder {
            let Cell { packet, contents, .. } = self.slab.cell(parcel.handle);
            recorder.passes(self.now, node, (packet, contents), packet.start.saturating_sub(1));
        }
    }

    /// Returns whether a proxy at `node` withholds the parcel from `link`.
    fn withheld(&mut self, node: u16, link: usize, parcel: Parcel) -> bool {
        let Some(proxies) = &mut self.proxies else { return false };
        let cell = self.slab.cell(parcel.handle);
        if proxies.filter(node, link, cell) == Filtered::Passes {
            return false;
        }
        let packet = cell.packet;
        if let Some(checkers) = &self.observers.checkers {
            checkers.withheld(self.now, &packet, &self.oracle);
        }
        self.gone(link, &packet, parcel, DropCause::Proxy);
        true
    }

    #[cold]
    fn handle_outcomes(&mut self, link: usize) {
        // The vector is taken out for the loop, and put back empty to keep its allocation.
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Duplicated { parcel } => self.slab.add_reference(parcel.handle),
                Outcome::Marked { parcel, mark } => self.remark(parcel, mark),
                Outcome::Dropped { parcel, cause } => self.note_drop(link, parcel, cause),
            }
        }
        self.outcomes = outcomes;
    }

    /// Changes a packet's ECN field. Duplicates of a packet share it.
    fn remark(&mut self, parcel: Parcel, mark: Mark) {
        let ecn = match mark {
            Mark::Congestion => Ecn::Ce,
            Mark::Cleared => Ecn::NotEct,
        };
        let has_mark = self.slab.cell_mut(parcel.handle).contents.remark(ecn);
        if IN_ORDER
            && has_mark
            && let Some(wire) = &mut self.observers.wire
        {
            ip::remark(&mut wire[parcel.handle as usize], ecn);
        }
    }

    fn note_drop(&mut self, link: usize, parcel: Parcel, cause: DropCause) {
        let packet = *self.slab.get(parcel.handle);
        if packet.segment > 0 {
            self.drops[2 * packet.flow as usize + packet.sender.index()].note(self.now);
        }
        self.gone(link, &packet, parcel, cause);
    }

    /// Settles a packet's copy that a link or proxy dropped, and its transmissions if it was the last
    /// copy.
    fn gone(&mut self, link: usize, packet: &Packet, parcel: Parcel, cause: DropCause) {
        let lost = self.slab.drop_one(parcel.handle);
        // The cell keeps its contents until the next packet is written.
        let cell = self.slab.cell(parcel.handle);
        if IN_ORDER && let Some(recorder) = &mut self.observers.recorder {
            recorder.dropped(self.now, link, (packet, &cell.contents), cause);
        }
        if lost {
            for sent in cell.transmissions() {
                if IN_ORDER && let Some(recorder) = &mut self.observers.recorder {
                    recorder.lost((packet.flow, packet.sender), sent.transmission);
                }
                self.oracle.lost(packet.flow, packet.sender, sent);
            }
        }
    }
}
