//! Every packet and byte that goes into a link comes out, is dropped, or is inside; queues keep to their limits; and the
//! packets under way are those that the links hold.

use crate::lane::Lane;
use crate::network::Span;
use crate::slab::Slab;
use eifel_base::time::Instant;
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;

/// How often everything is counted anew; in between, only the link of the event is looked at.
const EVERY: u64 = 256;

/// All packets under way, and where they are.
pub struct UnderWay<'a> {
    /// The links.
    pub spans: &'a [Span],
    /// What crosses two of them.
    pub lanes: &'a [Lane],
    /// The packets.
    pub slab: &'a Slab,
}

/// The links' limits.
pub struct Links {
    limits: Vec<Option<DropTail>>,
    events: u64,
}

impl Links {
    /// Links with these queues, in the order of the scenario.
    pub fn new<'a>(queues: impl Iterator<Item = &'a QueueConfig>) -> Self {
        let limits = queues
            .map(|queue| match queue {
                QueueConfig::DropTail(limit) => Some(*limit),
                _ => None,
            })
            .collect();
        Self { limits, events: 0 }
    }

    /// After an event, on `link` if it was on one.
    pub(super) fn after_event(&mut self, now: Instant, link: Option<usize>, under_way: &UnderWay<'_>) {
        if let Some(index) = link {
            let link = &under_way.spans[index].link;
            assert!(link.counts().inside().is_some(), "at {now:?}, link {index}: more came out than went in");
            let queue = link.queue(now);
            let kept = match self.limits[index] {
                Some(DropTail::Packets(most)) => queue.packets <= most,
                Some(DropTail::Bytes(most)) => queue.bytes <= most,
                None => true,
            };
            assert!(kept, "at {now:?}, link {index}: the queue is beyond its limit: {queue:?}");
        }
        self.events += 1;
        if self.events.is_multiple_of(EVERY) {
            self.all(now, under_way);
        }
    }

    /// Everything is counted anew.
    pub(super) fn all(&self, now: Instant, under_way: &UnderWay<'_>) {
        let UnderWay { spans, lanes, slab } = under_way;
        let mut held: u64 = lanes.iter().map(|lane| lane.len() as u64).sum();
        for (index, span) in spans.iter().enumerate() {
            if let Err(imbalance) = span.link.check() {
                panic!("at {now:?}, link {index}: {imbalance}");
            }
            held += span.link.counts().inside().map_or(0, |inside| inside.parcels);
        }
        let packets = slab.references();
        assert_eq!(packets, held, "at {now:?}: packets under way, and those that links and lanes hold");
    }
}
