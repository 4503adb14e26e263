//! Episodes of a kernel's sender: what it took for a loss, whether that was one, and whether the kernel undid it.

use super::causes::{Cause, Counters};
use super::path::Row;
use crate::hiccup::Direction;
use crate::hiccup::truth::Judged;
use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Flags;
use eifel_packet::seq::Seq;
use std::collections::BTreeMap;

/// How long after its cause a counter may be seen to have risen: it is looked at now and then, on a machine that may be busy.
const LATE: Duration = Duration::from_millis(100);

/// From a first retransmission to the acknowledgement of all that was outstanding then.
#[derive(Clone, Debug)]
pub struct Episode {
    /// When its first retransmission came into the box. Times count from 1970.
    pub begins: Instant,
    /// When the acknowledgement reached the sender; never if it did not.
    pub ends: Instant,
    /// The cause of its first retransmission, where that is known.
    pub cause: Option<Cause>,
    /// How many retransmissions it has.
    pub retransmissions: u64,
    /// How many of them were not needed.
    pub spurious: u64,
    /// Whether the first was not needed.
    pub first_spurious: bool,
    /// The kernel's first undo in it: when its counter had risen, and the counter.
    pub undo: Option<(Instant, &'static str)>,
}

/// Finds the episodes, and for each retransmission its own. Probes belong to none, unless one is open.
pub fn find(
    rows: &[Row],
    direction: Direction,
    judged: &[Judged],
    causes: &[Option<Cause>],
    counters: Option<&Counters>,
) -> (Vec<Episode>, Vec<Option<usize>>) {
    let (mut episodes, mut belongs): (Vec<Episode>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    let (courses, mut flow_of_last) = (Course::all(rows, direction), None);
    for (one, &cause) in judged.iter().zip(causes) {
        let open = episodes.last().is_some_and(|last: &Episode| one.at < last.ends && flow_of_last == Some(one.flow));
        if !open && cause == Some(Cause::Probe) {
            belongs.push(None);
            continue;
        }
        if !open {
            flow_of_last = Some(one.flow);
            let ends = courses.get(&one.flow).map_or(Instant::NEVER, |course| course.acknowledged(one.at));
            let (begins, first_spurious) = (one.at, one.spurious);
            let (retransmissions, spurious, undo) = (0, 0, None);
            episodes.push(Episode { begins, ends, cause, retransmissions, spurious, first_spurious, undo });
        }
        belongs.push(Some(episodes.len() - 1));
        if let Some(episode) = episodes.last_mut() {
            episode.retransmissions += 1;
            episode.spurious += u64::from(one.spurious);
        }
    }
    for number in 0..episodes.len() {
        let until = episodes.get(number + 1).map_or(Instant::NEVER, |next| next.begins);
        let Episode { begins, ends, .. } = episodes[number];
        let until = until.min(if ends == Instant::NEVER { ends } else { ends + LATE });
        episodes[number].undo = counters.and_then(|counters| counters.undos(begins, until).first().copied());
    }
    (episodes, belongs)
}

/// The packets of a flow: what the highest number was that had been sent, or acknowledged, by when.
#[derive(Default)]
struct Course {
    sent: Vec<(Instant, Seq)>,
    acknowledged: Vec<(Instant, Seq)>,
}

impl Course {
    fn all(rows: &[Row], direction: Direction) -> BTreeMap<u32, Self> {
        let mut courses: BTreeMap<u32, Self> = BTreeMap::new();
        for row in rows {
            let course = courses.entry(row.which.flow).or_default();
            if row.direction == direction && row.key.len > 0 && !row.is_copy() {
                course.sent.push((row.entered, Seq(row.key.seq.wrapping_add(row.key.len))));
            } else if row.direction != direction
                && Flags(row.key.flags).has(Flags::ACK)
                && let Some(left) = row.left
            {
                course.acknowledged.push((left, Seq(row.key.ack)));
            }
        }
        for course in courses.values_mut() {
            for numbers in [&mut course.sent, &mut course.acknowledged] {
                numbers.sort_by_key(|&(at, _)| at);
                for place in 1..numbers.len() {
                    let before = numbers[place - 1].1;
                    if after(before, numbers[place].1) {
                        numbers[place].1 = before;
                    }
                }
            }
        }
        courses
    }

    /// When the sender got the acknowledgement of all that it had sent by `at`; never if it did not.
    fn acknowledged(&self, at: Instant) -> Instant {
        let sent = self.sent.partition_point(|&(sent, _)| sent <= at);
        let Some(&(_, point)) = sent.checked_sub(1).and_then(|last| self.sent.get(last)) else { return Instant::NEVER };
        let covering = self.acknowledged.partition_point(|&(_, ack)| after(point, ack));
        let later = self.acknowledged.partition_point(|&(left, _)| left <= at);
        self.acknowledged.get(covering.max(later)).map_or(Instant::NEVER, |&(left, _)| left)
    }
}

/// Whether one sequence number comes behind another.
fn after(one: Seq, other: Seq) -> bool {
    one.0.wrapping_sub(other.0) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiccup::Fate;
    use crate::hiccup::truth::Which;
    use crate::judge::frames::Key;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn judged(millis: u64, spurious: bool) -> Judged {
        Judged {
            at: at(millis),
            frame: 1,
            flow: 0,
            direction: Direction::There,
            number: 1,
            seq: 101,
            len: 10,
            nth: 2,
            fate: Fate::Delivered,
            spurious,
            original_known: true,
        }
    }

    /// A probe within an episode is one of its retransmissions; a probe outside opens none.
    #[test]
    fn a_probe_belongs_to_the_episode_that_is_open() {
        let row = |direction, millis, (seq, ack, len)| Row {
            direction,
            entered: at(millis),
            left: Some(at(millis + 100)),
            fate: Fate::Delivered,
            key: Key { seq, ack, len, flags: Flags::ACK.0, identification: 0, stamp: 0 },
            which: Which { flow: 0, direction, number: 1 },
            block: None,
        };
        let rows = [row(Direction::There, 1000, (101, 1, 10)), row(Direction::Back, 2000, (1, 111, 0))];
        let judged = [judged(1100, true), judged(1500, false), judged(1600, true), judged(2500, false)];
        let causes = [Some(Cause::Probe), Some(Cause::Rto), Some(Cause::Probe), Some(Cause::Probe)];
        let (episodes, belongs) = find(&rows, Direction::There, &judged, &causes, None);
        assert_eq!(belongs, [None, Some(0), Some(0), None]);
        let [only] = &episodes[..] else { panic!("one episode: {episodes:?}") };
        assert_eq!((only.begins, only.ends, only.cause), (at(1500), at(2100), Some(Cause::Rto)));
        assert_eq!((only.retransmissions, only.spurious, only.first_spurious), (2, 1, false));
    }
}
