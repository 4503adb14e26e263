//! FQ-CoDel: one CoDel queue per flow. The queues take turns; flows that build no backlog go first.
//!
//! From: Hoeiland-Joergensen, McKenney, Taht, Gettys and Dumazet, *The Flow Queue CoDel Packet
//! Scheduler and Active Queue Management Algorithm*, RFC 8290, sections 3 to 5. Sections 3 and 4.2
//! differ on a queue with no credits left. Here its turn ends, as in section 3 and in Linux. The
//! hash covers the scenario's flow number, which separates the same flows as the five-tuple would.

use super::codel::{Codel, FIRST_LARGEST, Law};
use super::fifo::{Fifo, Waiting};
use crate::config::ConfigError;
use crate::parcel::{DropCause, Labelled, Outcome};
use crate::stream::Stream;
use eifel_base::siphash::{Secret, siphash};
use eifel_base::time::Instant;
use std::collections::{BTreeMap, VecDeque};

/// The parameters of FQ-CoDel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelConfig {
    pub law: Law,
    /// The most packets that wait in all queues together.
    pub limit_packets: u32,
    /// Number of queues, to which flows are hashed.
    pub queues: u32,
    /// Bytes that a queue sends in a turn.
    pub quantum_bytes: u32,
}

impl FqCodelConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.law.check()?;
        let some = |value: u32, key: &str| ConfigError::unless(value > 0, key, || "0; allowed: 1 or more".to_owned());
        some(self.limit_packets, "queue.packets")?;
        some(self.queues, "queue.queues")?;
        some(self.quantum_bytes, "queue.quantum_bytes")
    }
}

#[derive(Debug)]
pub(crate) struct FqCodel {
    config: FqCodelConfig,
    salt: Secret,
    /// Queues by number. A queue is made when its first packet comes.
    queues: BTreeMap<u32, FlowQueue>,
    /// Queues that have not built a backlog recently, in the order of their turns.
    new: VecDeque<u32>,
    /// The other active queues.
    old: VecDeque<u32>,
    packets: usize,
    largest: u32,
}

#[derive(Debug, Default)]
struct FlowQueue {
    fifo: Fifo,
    codel: Codel,
    /// Bytes that the queue may send before its turn ends.
    credits: i64,
    /// Whether the queue is in `new` or `old`.
    active: bool,
}

impl FqCodel {
    pub(super) fn new(config: FqCodelConfig, mut stream: Stream) -> Self {
        let salt = [stream.below(u64::MAX), stream.below(u64::MAX)];
        let (new, old) = (VecDeque::new(), VecDeque::new());
        Self { config, salt, queues: BTreeMap::new(), new, old, packets: 0, largest: FIRST_LARGEST }
    }

    /// Adds a packet (section 4.1).
    pub(super) fn enter(&mut self, now: Instant, one: Labelled, outcomes: &mut Vec<Outcome>) {
        let number = (siphash(&self.salt, &[u64::from(one.label.flow)]) % u64::from(self.config.queues)) as u32;
        let queue = self.queues.entry(number).or_default();
        queue.fifo.push(Waiting { one, entered: now });
        self.packets += 1;
        self.largest = self.largest.max(one.parcel.bytes);
        if !queue.active {
            queue.active = true;
            queue.credits = i64::from(self.config.quantum_bytes);
            self.new.push_back(number);
        }
        if self.packets > self.config.limit_packets as usize {
            self.shorten_longest(outcomes);
        }
    }

    /// Drops half of the packets of the queue with the most bytes, and at most [`MOST_AT_ONCE`].
    fn shorten_longest(&mut self, outcomes: &mut Vec<Outcome>) {
        // Of several equally long queues, the first.
        let longest = self.queues.values_mut().rev().max_by_key(|queue| queue.fifo.bytes());
        let Some(queue) = longest else { return };
        for _ in 0..(queue.fifo.len() / 2).clamp(1, MOST_AT_ONCE) {
            let Some(first) = queue.fifo.pop() else { return };
            self.packets -= 1;
            outcomes.push(Outcome::Dropped { parcel: first.one.parcel, cause: DropCause::Queue });
        }
    }

    /// Removes the next packet to transmit (section 4.2).
    pub(super) fn leave(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = self.queues.entry(number).or_default();
            if queue.credits <= 0 {
                queue.credits += i64::from(self.config.quantum_bytes);
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let before = queue.fifo.len();
            let packet = queue.codel.leave((&self.config.law, self.largest), now, &mut queue.fifo, outcomes);
            self.packets -= before - queue.fifo.len();
            if let Some(packet) = packet {
                queue.credits -= i64::from(packet.one.parcel.bytes);
                return Some(packet);
            }
            list.pop_front();
            // An emptied new queue waits for its turn among the old ones. Otherwise a flow that sends
            // a packet each time would starve them.
            if is_new {
                self.old.push_back(number);
            } else {
                queue.active = false;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.packets
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.queues.values().flat_map(|queue| queue.fifo.iter())
    }
}

/// Maximum number of packets that one overload drops.
const MOST_AT_ONCE: usize = 64;
