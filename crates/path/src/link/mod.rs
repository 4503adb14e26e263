//! One direction of a link: elements at the entrance, queue, transmitter, propagation, far end.
//!
//! One ring holds all parcels under way, in order of departure. Each carries the ends of its
//! transmission and of its propagation, both computed at admission. A counter of the transmitted
//! parcels at the front is updated whenever the queue's length matters; the remaining parcels are
//! the queue. Only the arrival of the first parcel is an event. Background traffic takes queue room
//! and transmission time like other traffic, but its arrivals are no events.

mod accounting;
mod background;
mod entrance;
mod propagation;
mod serving;
mod through;

pub use accounting::Imbalance;
use propagation::Propagation;
pub use through::Entered;

use crate::background::Background;
use crate::config::{ConfigError, LinkConfig};
use crate::element::Element;
use crate::parcel::{Counts, DropCause, Label, Labelled, Ledger, Mark, Outcome, Parcel};
use crate::passing::Passing;
use crate::queue::{Arrival, Occupancy, Queue, Spare};
use crate::spike::{Holds, HoldsAt, Span};
use crate::stream::Stream;
use crate::transmitter::Transmitter;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;

/// One direction of a link. Fields are laid out as written, those that every parcel needs first, so
/// that a network of many links touches few cache lines. Grouped into structs, the fields would not
/// lie in that order.
#[derive(Debug)]
#[repr(C)]
pub struct Link {
    /// Parcels taken in and not yet arrived.
    under_way: Ring<UnderWay>,
    next_event: Instant,
    /// Earliest deadline of a parcel that an element holds, or the next departure that a queue
    /// decides on.
    deadline: Instant,
    /// Number of parcels at the front of `under_way` that were transmitted at the last `count_departures`.
    transmitted: usize,
    /// Bytes of the other parcels, and of parcels in `passing` and `background`, that were not
    /// transmitted at the last `count_departures`.
    queued_bytes: u64,
    /// Room that the queue has at least. Transmissions since the last `count_departures` can only add to it.
    spare: Spare,
    propagation: Propagation,
    last_departure: Instant,
    /// An arrival before this instant depends only on the last departure, the parcel's length and
    /// the delay.
    undisturbed_until: Instant,
    /// No parcel leaves before this instant, so a queue that was full by its number of parcels
    /// stays full.
    full_until: Instant,
    /// Parcels that need no event of this link.
    passing: Passing,
    sending: Holds,
    arriving: Holds,
    elements: Vec<Element>,
    elements_until: Instant,
    transmitter: Transmitter,
    ledger: Ledger,
    queue: Queue,
    background: Vec<Background>,
    /// Parcels of background traffic that were not transmitted at the last `count_departures`.
    queued_background: u32,
    overfull: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct UnderWay {
    parcel: Parcel,
    /// End of its transmission.
    departs: Instant,
    /// Arrival at the far end.
    arrives: Instant,
}

/// The most parcels for which a link that has emptied keeps memory.
const KEPT: usize = 64;

/// The link counts departures when this many parcels of background traffic are not counted as transmitted. So
/// it stores few more than are on the link.
const MOST_UNCOUNTED: u32 = 1024;

/// Maximum number of parcels of background traffic that a link keeps. They take 64 MB, and up to
/// twice that while their queue grows.
const MOST_BACKGROUND: usize = 1 << 22;

/// How [`Link::next_event`] changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextEvent {
    Same,
    /// There was no event, and now there is one.
    First,
    Moved,
}

/// The queue of a link at an instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueState {
    /// Parcels not yet transmitted, including the one in transmission.
    pub packets: u32,
    pub bytes: u64,
    /// RED's average length in bytes; `None` for queues that keep none.
    pub average_bytes: Option<f64>,
}

impl Link {
    /// Makes an idle link. `name` is unique in the run; together with `seed` it names the link's
    /// random streams. Spikes have names of their own, so that several links can share them.
    pub fn new(config: &LinkConfig, name: &str, seed: u64) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            under_way: Ring::default(),
            transmitted: 0,
            queued_bytes: 0,
            queued_background: 0,
            overfull: false,
            background: Vec::new(),
            passing: Passing::default(),
            next_event: Instant::NEVER,
            last_departure: Instant::ZERO,
            undisturbed_until: Instant::ZERO,
            full_until: Instant::ZERO,
            propagation: Propagation::new(config),
            queue: Queue::new(&config.queue, &config.capacity, Stream::new(seed, &["link", name, "queue"])),
            spare: Spare::Packets(0),
            transmitter: Transmitter::new(&config.capacity),
            sending: Holds::new(&config.spikes, HoldsAt::Sending, seed),
            arriving: Holds::new(&config.spikes, HoldsAt::Arriving, seed),
            elements: Element::all(&config.elements, name, seed),
            elements_until: config.elements_until,
            deadline: Instant::NEVER,
            ledger: Ledger::default(),
        })
    }

    /// Offers a parcel at the entrance. `label` is called only if the link has elements, or a queue
    /// that marks or decides at its exit. Time never goes back between calls. Appends drops, marks
    /// and duplications to `outcomes`. Returns how [`next_event`](Self::next_event) changed.
    #[inline(always)]
    pub fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        label: impl FnOnce() -> Label,
        outcomes: &mut Vec<Outcome>,
    ) -> NextEvent {
        self.ledger.offer(&parcel);
        if self.is_open() {
            self.take_in(now, parcel, outcomes)
        } else {
            self.offer_to_elements(now, Labelled { parcel, label: label() }, outcomes)
        }
    }

    /// Returns when to call [`advance`](Self::advance); [`Instant::NEVER`] if nothing is under way.
    #[inline]
    pub fn next_event(&self) -> Instant {
        self.next_event
    }

    /// Processes [`next_event`](Self::next_event), if it is due by `now`. Returns the parcel that
    /// arrives at the far end; `None` if an element or a queue releases one instead, or if nothing
    /// is due. Call it until `next_event` is later than `now`.
    #[inline(always)]
    pub fn advance(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) -> Option<Parcel> {
        if self.next_event > now {
            return None;
        }
        if self.deadline <= self.next_event {
            self.release_due_and_plan(now, outcomes);
            return None;
        }
        let first = self.under_way.pop_front()?;
        if self.transmitted > 0 {
            self.transmitted -= 1;
        } else {
            self.queued_bytes -= u64::from(first.parcel.bytes);
        }
        self.ledger.deliver(&first.parcel);
        // An arrival changes neither the parcels that elements hold nor their deadlines.
        self.next_event = match self.under_way.front() {
            Some(next) => next.arrives.min(self.deadline),
            None => {
                // An emptied ring starts at its beginning, so that a link with little under way
                // touches little memory.
                self.under_way.clear_to(KEPT);
                self.deadline
            }
        };
        Some(first.parcel)
    }

    /// Returns the state of the queue at `now`, which is no earlier than the last call.
    pub fn queue(&self, now: Instant) -> QueueState {
        let mut bytes = self.queued_bytes;
        let mut transmitted = self.transmitted;
        while let Some(next) = self.under_way.get(transmitted).filter(|next| next.departs <= now) {
            bytes -= u64::from(next.parcel.bytes);
            transmitted += 1;
        }
        let (passing, passed_bytes) = self.passing.left(now);
        bytes -= passed_bytes;
        let mut packets = length(self.under_way.len() - transmitted + passing) + self.queued_background;
        if let Queue::Served(served) = &self.queue {
            packets += length(served.len());
            bytes += served.bytes();
        }
        for background in &self.background {
            let departed = length(background.departed(now));
            packets -= departed;
            bytes -= u64::from(departed) * u64::from(background.bytes());
        }
        QueueState { packets, bytes, average_bytes: self.queue.average_bytes() }
    }

    /// Returns the counts of parcels offered, duplicated, delivered and dropped so far.
    pub fn counts(&self) -> Counts {
        self.ledger.counts()
    }

    /// Iterates over the spikes that began by `now`, whether or not they held anything. Sources at
    /// the transmitter come first.
    pub fn spikes(&mut self, now: Instant) -> impl Iterator<Item = (&str, &[Span])> {
        self.sending.begun(now).chain(self.arriving.begun(now))
    }

    /// Offers a parcel at the tail of the queue.
    #[inline(always)]
    fn take_in(&mut self, now: Instant, parcel: Parcel, outcomes: &mut Vec<Outcome>) -> NextEvent {
        match self.enter(now, parcel.bytes) {
            Ok((departs, arrives)) => self.hold(UnderWay { parcel, departs, arrives }),
            Err(cause) => {
                self.drop_parcel(parcel, cause, outcomes);
                NextEvent::Same
            }
        }
    }

    /// Offers a parcel at the tail of a queue that may mark it in place of an early drop, or that
    /// decides at its exit.
    fn take_in_or_mark(&mut self, now: Instant, one: Labelled, outcomes: &mut Vec<Outcome>) {
        if self.enqueue_to_serve(now, one, outcomes) {
            return;
        }
        let Labelled { parcel, label } = one;
        match self.enter(now, parcel.bytes) {
            Ok((departs, arrives)) => {
                self.hold(UnderWay { parcel, departs, arrives });
            }
            Err(DropCause::Red) if label.takes_marks && self.queue.marks_now() => {
                outcomes.push(Outcome::Marked { parcel, mark: Mark::Congestion });
                let (departs, arrives) = self.schedule(now, parcel.bytes);
                self.hold(UnderWay { parcel, departs, arrives });
            }
            Err(cause) => self.drop_parcel(parcel, cause, outcomes),
        }
    }

    /// Lets a parcel enter the queue. Returns when it leaves and when it arrives.
    #[inline(always)]
    fn enter(&mut self, now: Instant, bytes: u32) -> Result<(Instant, Instant), DropCause> {
        if !self.spare.take(bytes) {
            self.admit(now, bytes)?;
        }
        Ok(self.schedule(now, bytes))
    }

    /// Keeps a parcel that has entered the queue until it arrives.
    #[inline(always)]
    fn hold(&mut self, one: UnderWay) -> NextEvent {
        let first = self.under_way.is_empty();
        self.under_way.push_back(one);
        if !first {
            return NextEvent::Same;
        }
        self.next_event = one.arrives.min(self.deadline);
        // During an endless spike nothing arrives.
        if self.next_event == Instant::NEVER { NextEvent::Same } else { NextEvent::First }
    }

    /// Computes when a parcel that enters now leaves and arrives.
    #[inline(always)]
    fn schedule(&mut self, now: Instant, bytes: u32) -> (Instant, Instant) {
        let mut departs = now.max(self.last_departure) + self.transmitter.time_for(bytes);
        let mut arrives = self.propagation.arrival(departs);
        if arrives >= self.undisturbed_until {
            (departs, arrives) = self.schedule_disturbed(now, bytes);
        }
        self.last_departure = departs;
        self.queued_bytes += u64::from(bytes);
        (departs, arrives)
    }

    /// Computes departure and arrival where a spike, or a change of rate or delay, may interfere.
    #[cold]
    #[inline(never)]
    fn schedule_disturbed(&mut self, now: Instant, bytes: u32) -> (Instant, Instant) {
        let departs = self.transmitter.depart(now, self.last_departure, bytes, &mut self.sending);
        let due = self.propagation.arrive(departs, self.last_departure);
        let arrives = self.arriving.release(due);
        self.undisturbed_until = if due == arrives {
            let free = self.sending.free_until().min(self.arriving.free_until());
            self.transmitter.steady_until().min(free).min(self.propagation.steady_until(departs))
        } else {
            // A parcel behind a held parcel arrives no earlier than that.
            Instant::ZERO
        };
        (departs, arrives)
    }

    /// Returns the parcels and bytes not counted as transmitted.
    #[inline]
    fn waiting(&self) -> Occupancy {
        let packets = length(self.under_way.len() - self.transmitted + self.passing.len()) + self.queued_background;
        Occupancy { packets, bytes: self.queued_bytes }
    }

    /// Asks the queue, at its length at `now`, whether it takes a parcel.
    #[inline(never)]
    fn admit(&mut self, now: Instant, bytes: u32) -> Result<(), DropCause> {
        if now < self.full_until {
            return Err(DropCause::Queue);
        }
        self.count_departures(now);
        let found = self.waiting();
        self.spare = self.queue.spare(found);
        if self.spare.take(bytes) {
            return Ok(());
        }
        let Self { queue, under_way, transmitted, passing, background, last_departure, full_until, spare, .. } = self;
        let in_transmission = || {
            let first = under_way.get(*transmitted).map(|first| (first.departs, first.parcel.bytes));
            // If several leave at one opportunity of a recorded link, background traffic counts as
            // being in front.
            let behind = background.iter().filter_map(|one| Some((one.first_waiting()?, one.bytes())));
            behind.chain(passing.first()).chain(first).min_by_key(|&(departs, _)| departs)
        };
        let admitted = queue.admit(|| Arrival {
            now,
            bytes,
            found,
            in_transmission: in_transmission().map_or(0, |(_, bytes)| bytes),
            last_departure: *last_departure,
        });
        if admitted.is_err() && !queue.is_random() && *spare == Spare::Packets(0) {
            *full_until = in_transmission().map_or(Instant::ZERO, |(departs, _)| departs);
        }
        admitted
    }

    /// Counts the parcels that departed by `now` as transmitted.
    fn count_departures(&mut self, now: Instant) {
        while let Some(next) = self.under_way.get(self.transmitted).filter(|next| next.departs <= now) {
            self.queued_bytes -= u64::from(next.parcel.bytes);
            self.transmitted += 1;
        }
        self.queued_bytes -= self.passing.count_until(now);
        for background in &mut self.background {
            let gone = background.count_until(now);
            self.queued_background -= gone;
            self.queued_bytes -= u64::from(gone) * u64::from(background.bytes());
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_parcel(&mut self, parcel: Parcel, cause: DropCause, outcomes: &mut Vec<Outcome>) {
        self.ledger.drop(&parcel);
        outcomes.push(Outcome::Dropped { parcel, cause });
    }
}

/// Converts a number of parcels to the type of the queue's limits.
fn length(parcels: usize) -> u32 {
    u32::try_from(parcels).unwrap_or(u32::MAX)
}
