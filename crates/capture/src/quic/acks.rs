//! What the acknowledged ranges of a log mean, and whether they can be true.
//!
//! RFC 9000, section 19.3.1: two ranges have a packet between them that is not acknowledged, and
//! nothing is acknowledged that was not sent. Some stacks write the number behind a range as its
//! last one, and so break both.

use super::qlog::{Ack, Space, Trace, What};
use std::collections::BTreeMap;

/// How a log writes acknowledged ranges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ranges {
    /// From the first to the last acknowledged number, as the schema says.
    Inclusive,
    /// Up to the number behind the last acknowledged one: nothing else explains all ranges.
    Exclusive,
    /// Neither reading explains all ranges.
    Contradictory,
    /// The log has no ranges.
    Missing,
}

impl Ranges {
    /// Finds the reading that explains all ranges of a log.
    pub(super) fn of(trace: &Trace, paths: bool) -> Self {
        let mut sent: BTreeMap<(Space, u64), u64> = BTreeMap::new();
        let (mut some, mut single, mut adjacent) = (false, false, false);
        // Ranges that end at the number behind the largest one sent, and beyond it.
        let (mut behind, mut beyond) = (0, 0);
        for event in &trace.events {
            match &event.what {
                What::Sent { packet, .. } => {
                    let (space, path, number) = packet.keyed(paths);
                    let largest = sent.entry((space, path)).or_insert(number);
                    *largest = number.max(*largest);
                }
                What::Received { packet, acks } => {
                    for ack in acks {
                        some |= !ack.ranges.is_empty();
                        single |= ack.single;
                        adjacent |= ack.adjacent;
                        let sent = sent.get(&(packet.space, path_of(ack, paths)));
                        let Some((sent, (_, last))) = sent.zip(ack.ranges.last()) else { continue };
                        behind += u64::from(*last == sent + 1);
                        beyond += u64::from(*last > sent + 1);
                    }
                }
                _ => {}
            }
        }
        match (some, adjacent || behind > 0 || beyond > 0) {
            (false, _) => Self::Missing,
            (true, false) => Self::Inclusive,
            // With an exclusive end, a range of one number or none cannot be written.
            (true, true) if !single && beyond == 0 && (adjacent || behind > 1) => Self::Exclusive,
            _ => Self::Contradictory,
        }
    }

    /// Returns first and last number of each acknowledged range, in order.
    pub(super) fn read(self, ack: &Ack) -> impl DoubleEndedIterator<Item = (u64, u64)> + Clone {
        let less = u64::from(self == Self::Exclusive);
        ack.ranges.iter().map(move |(first, last)| (*first, last.saturating_sub(less).max(*first)))
    }
}

/// Returns the path whose packets an ACK names. In multipath, a plain ACK frame is for path 0.
pub(super) fn path_of(ack: &Ack, paths: bool) -> u64 {
    if paths { ack.path.unwrap_or(0) } else { 0 }
}
