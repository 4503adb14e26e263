//! Queues that decide when a packet leaves, and so need an event for each departure.

use super::codel::{Codel, CodelConfig, FIRST_LARGEST};
use super::fifo::{Fifo, Waiting};
use super::fq_codel::FqCodel;
use crate::parcel::{DropCause, Labelled, Outcome};
use eifel_base::time::Instant;

/// A queue that decides when a packet leaves. It does not contain the packet in transmission.
#[derive(Debug)]
pub(crate) struct Served {
    kind: Kind,
    /// Bytes of all waiting packets.
    bytes: u64,
    /// When the queue last became non-empty.
    pub(crate) waits_since: Instant,
}

#[derive(Debug)]
enum Kind {
    Codel { config: CodelConfig, fifo: Fifo, codel: Codel, largest: u32 },
    FqCodel(FqCodel),
}

impl Served {
    pub(super) fn codel(config: CodelConfig) -> Self {
        Self::new(Kind::Codel { config, fifo: Fifo::default(), codel: Codel::default(), largest: FIRST_LARGEST })
    }

    pub(super) fn fq_codel(queue: FqCodel) -> Self {
        Self::new(Kind::FqCodel(queue))
    }

    fn new(kind: Kind) -> Self {
        Self { kind, bytes: 0, waits_since: Instant::ZERO }
    }

    /// Adds a packet. Appends drops to `outcomes`.
    pub(crate) fn enter(&mut self, now: Instant, one: Labelled, outcomes: &mut Vec<Outcome>) {
        if self.len() == 0 {
            self.waits_since = now;
        }
        let earlier = outcomes.len();
        self.bytes += u64::from(one.parcel.bytes);
        match &mut self.kind {
            Kind::Codel { config, fifo, .. } if fifo.len() >= config.limit_packets as usize => {
                outcomes.push(Outcome::Dropped { parcel: one.parcel, cause: DropCause::Queue });
            }
            Kind::Codel { fifo, largest, .. } => {
                *largest = (*largest).max(one.parcel.bytes);
                fifo.push(Waiting { one, entered: now });
            }
            Kind::FqCodel(queue) => queue.enter(now, one, outcomes),
        }
        self.bytes -= dropped(outcomes, earlier);
    }

    /// Removes the next packet to transmit. Appends drops and marks to `outcomes`.
    pub(crate) fn leave(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) -> Option<Waiting> {
        let earlier = outcomes.len();
        let packet = match &mut self.kind {
            Kind::Codel { config, fifo, codel, largest } => codel.leave((&config.law, *largest), now, fifo, outcomes),
            Kind::FqCodel(queue) => queue.leave(now, outcomes),
        };
        self.bytes -= dropped(outcomes, earlier);
        self.bytes -= packet.map_or(0, |packet| u64::from(packet.one.parcel.bytes));
        packet
    }

    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::Codel { fifo, .. } => fifo.len(),
            Kind::FqCodel(queue) => queue.len(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Iterates over the waiting packets.
    pub(crate) fn waiting(&self) -> Box<dyn Iterator<Item = &Waiting> + '_> {
        match &self.kind {
            Kind::Codel { fifo, .. } => Box::new(fifo.iter()),
            Kind::FqCodel(queue) => Box::new(queue.waiting()),
        }
    }
}

/// Returns the bytes of the packets dropped in `outcomes` from index `earlier` on.
fn dropped(outcomes: &[Outcome], earlier: usize) -> u64 {
    let new = outcomes.get(earlier..).unwrap_or_default();
    let bytes = |outcome: &Outcome| match outcome {
        Outcome::Dropped { parcel, .. } => u64::from(parcel.bytes),
        Outcome::Marked { .. } | Outcome::Duplicated { .. } => 0,
    };
    new.iter().map(bytes).sum()
}
