//! Laws of links: each packet and byte that enters a link leaves it, is dropped, or is inside.
//! Queues keep to their limits. The packets under way are exactly those that the links hold.

use crate::slab::Slab;
use crate::span::Span;
use eifel_base::time::Instant;
use eifel_path::link::QueueState;
use eifel_path::parcel::Counts;
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;

/// Events between two checks of all links. In between, only the event's link is checked.
const EVERY: u64 = 256;

/// All packets under way, and the links that hold them.
pub struct UnderWay<'a> {
    pub spans: &'a [Span],
    pub slab: &'a Slab,
}

pub struct Links {
    limits: Vec<Option<DropTail>>,
    events: u64,
}

impl Links {
    /// Reads the limits of these queues, given in the scenario's order.
    pub fn new<'a>(queues: impl Iterator<Item = &'a QueueConfig>) -> Self {
        let limits = queues
            .map(|queue| match queue {
                QueueConfig::DropTail(limit) => Some(*limit),
                // The link holds one more packet, in transmission.
                QueueConfig::Codel(codel) => Some(DropTail::Packets(codel.limit_packets.saturating_add(1))),
                QueueConfig::FqCodel(codel) => Some(DropTail::Packets(codel.limit_packets.saturating_add(1))),
                QueueConfig::Unlimited | QueueConfig::Red(_) | QueueConfig::AdaptiveRed(_) => None,
            })
            .collect();
        Self { limits, events: 0 }
    }

    /// Checks `link` after an event on it, and all links every [`EVERY`] events.
    pub(super) fn after_event(&mut self, now: Instant, link: Option<usize>, under_way: &UnderWay<'_>) {
        if let Some(index) = link {
            let link = &under_way.spans[index].link;
            let (counts, queue) = (link.counts(), link.queue(now));
            if let Err(broken) = accept(self.limits[index], &counts, &queue) {
                panic!("at {now:?}, link {index}: {broken}: {counts:?}, {queue:?}");
            }
        }
        self.events += 1;
        if self.events.is_multiple_of(EVERY) {
            self.all(now, under_way);
        }
    }

    /// Checks the counts of all links, and compares them with the packets under way.
    pub(super) fn all(&self, now: Instant, under_way: &UnderWay<'_>) {
        let UnderWay { spans, slab } = under_way;
        let mut held = 0;
        for (index, span) in spans.iter().enumerate() {
            if let Err(imbalance) = span.link.check() {
                panic!("at {now:?}, link {index}: {imbalance}");
            }
            held += span.link.counts().inside().map_or(0, |inside| inside.parcels);
        }
        let packets = slab.references();
        assert_eq!(packets, held, "at {now:?}: packets under way, and those that links hold");
    }
}

/// Accepts a link's counts and queue, or returns the first law that they break.
fn accept(limit: Option<DropTail>, counts: &Counts, queue: &QueueState) -> Result<(), &'static str> {
    if counts.inside().is_none() {
        return Err("more came out than went in");
    }
    let within = match limit {
        Some(DropTail::Packets(most)) => queue.packets <= most,
        Some(DropTail::Bytes(most)) => queue.bytes <= most,
        None => true,
    };
    if within { Ok(()) } else { Err("the queue is beyond its limit") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;
    use eifel_path::parcel::Tally;
    use eifel_path::queue::codel::{CodelConfig, Law};
    use eifel_path::queue::fq_codel::FqCodelConfig;

    #[test]
    fn a_queue_that_drops_behind_its_head_holds_one_packet_more() {
        let law = Law { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false };
        let queues = [
            QueueConfig::DropTail(DropTail::Bytes(9)),
            QueueConfig::Codel(CodelConfig { law, limit_packets: 7 }),
            QueueConfig::FqCodel(FqCodelConfig { law, limit_packets: 8, queues: 4, quantum_bytes: 1500 }),
            QueueConfig::Unlimited,
        ];
        let limits = Links::new(queues.iter()).limits;
        let expected = [Some(DropTail::Bytes(9)), Some(DropTail::Packets(8)), Some(DropTail::Packets(9)), None];
        assert_eq!(limits, expected);
    }

    #[test]
    fn each_law_is_broken_by_one_more() {
        let tally = |parcels, bytes| Tally { parcels, bytes };
        let counts = Counts { offered: tally(2, 3000), delivered: tally(1, 1500), ..Counts::default() };
        let queue = QueueState { packets: 1, bytes: 1500, average_bytes: None };
        let (packets, bytes) = (Some(DropTail::Packets(1)), Some(DropTail::Bytes(1500)));
        for limit in [None, packets, bytes] {
            assert_eq!(accept(limit, &counts, &queue), Ok(()));
        }
        let beyond = Err("the queue is beyond its limit");
        assert_eq!(accept(packets, &counts, &QueueState { packets: 2, ..queue }), beyond);
        assert_eq!(accept(bytes, &counts, &QueueState { bytes: 1501, ..queue }), beyond);
        for delivered in [tally(3, 1500), tally(1, 3001)] {
            let counts = Counts { delivered, ..counts };
            assert_eq!(accept(None, &counts, &queue), Err("more came out than went in"));
        }
    }
}
