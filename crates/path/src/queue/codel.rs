//! CoDel: drops packets from the head of a standing queue, by their waiting time.
//!
//! From: Nichols, Jacobson, McGregor and Iyengar, *Controlled Delay Active Queue Management*, RFC
//! 8289, sections 4 and 5. The MTU is the largest packet so far, as section 4.1 allows. Packets of
//! transports with ECN can be marked in place of each drop. The RFC leaves marking open. Marking
//! follows Linux: a marked packet goes on and counts as dropped.

use super::fifo::{Fifo, Waiting};
use crate::config::ConfigError;
use crate::parcel::{DropCause, Labelled, Mark, Outcome};
use eifel_base::time::{Duration, Instant};

/// The parameters of the control law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Law {
    /// The acceptable standing delay: TARGET, 5 ms in the RFC.
    pub target: Duration,
    /// About the longest round trip: INTERVAL, 100 ms in the RFC.
    pub interval: Duration,
    /// Whether packets of transports with ECN are marked in place of a drop.
    pub ecn: bool,
}

/// A queue with CoDel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelConfig {
    pub law: Law,
    /// Maximum number of packets behind the one in transmission. Further packets are dropped.
    pub limit_packets: u32,
}

impl Law {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let some = |time: Duration, key: &str| {
            ConfigError::unless(time > Duration::ZERO, key, || "0; allowed: more than 0".to_owned())
        };
        some(self.target, "queue.target_ms")?;
        some(self.interval, "queue.interval_ms")
    }

    /// Returns the next time to drop, `count` drops after the queue began to stand (section 5.6).
    fn next(&self, from: Instant, count: u32) -> Instant {
        from + Duration::from_nanos((self.interval.as_nanos() as f64 / f64::from(count).sqrt()) as u64)
    }
}

impl CodelConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.law.check()?;
        ConfigError::unless(self.limit_packets > 0, "queue.packets", || "0; allowed: 1 or more".to_owned())
    }
}

/// The state of the control law for one queue.
#[derive(Debug, Default)]
pub(crate) struct Codel {
    /// When the delay will have been above the target for an interval; `None` while it is below.
    first_above: Option<Instant>,
    /// Whether the queue stands and packets are being dropped.
    dropping: bool,
    drop_next: Instant,
    /// Drops since the queue began to stand.
    count: u32,
    /// `count` when the queue last began to stand.
    last_count: u32,
}

/// A packet that leaves the queue, and whether it may be dropped.
type Candidate = (Option<Waiting>, bool);

impl Codel {
    /// Removes the next packet to transmit from `fifo`. Drops and marks packets on the way.
    /// `largest` is the longest packet so far, in bytes.
    pub(crate) fn leave(
        &mut self,
        (law, largest): (&Law, u32),
        now: Instant,
        fifo: &mut Fifo,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<Waiting> {
        let (mut packet, mut may_drop) = self.take((law, largest), now, fifo);
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if spare(law, &packet, outcomes) {
                    self.drop_next = law.next(self.drop_next, self.count);
                    break;
                }
                (packet, may_drop) = self.take((law, largest), now, fifo);
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next = law.next(self.drop_next, self.count);
                }
            }
        } else if may_drop {
            if !spare(law, &packet, outcomes) {
                (packet, _) = self.take((law, largest), now, fifo);
            }
            self.dropping = true;
            // If the queue stood a short time ago, the drop rate continues from there.
            let before = self.count - self.last_count;
            let recently = now < self.drop_next + law.interval * RECENT_INTERVALS;
            self.count = if before > 1 && recently { before } else { 1 };
            self.last_count = self.count;
            self.drop_next = law.next(now, self.count);
        }
        packet
    }

    /// Takes the first packet, and finds whether the delay has been above the target for an
    /// interval (section 5.6).
    fn take(&mut self, (law, largest): (&Law, u32), now: Instant, fifo: &mut Fifo) -> Candidate {
        let Some(packet) = fifo.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let below = now.since(packet.entered) < law.target || fifo.bytes() <= u64::from(largest);
        match self.first_above {
            _ if below => self.first_above = None,
            None => self.first_above = Some(now + law.interval),
            Some(above) => return (Some(packet), now >= above),
        }
        (Some(packet), false)
    }
}

/// Marks a packet that is due to be dropped, if it takes marks. Otherwise drops it and returns
/// `false`.
fn spare(law: &Law, packet: &Option<Waiting>, outcomes: &mut Vec<Outcome>) -> bool {
    let Some(Waiting { one: Labelled { parcel, label }, .. }) = *packet else { return false };
    let marked = law.ecn && label.takes_marks;
    outcomes.push(match marked {
        true => Outcome::Marked { parcel, mark: Mark::Congestion },
        false => Outcome::Dropped { parcel, cause: DropCause::Codel },
    });
    marked
}

/// If the queue stands again within this many intervals, the drop count continues.
const RECENT_INTERVALS: u64 = 16;

/// Length of the longest packet before any came, in bytes (section 5.3).
pub(crate) const FIRST_LARGEST: u32 = 512;
