//! Episodes of a kernel's sender: an assumed loss, whether it was one, and whether the kernel undid
//! its reaction.

use super::causes::{Cause, Counters};
use super::path::Row;
use crate::hiccup::Direction;
use crate::hiccup::truth::Judged;
use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Flags;
use eifel_packet::seq::Seq;
use std::collections::BTreeMap;

/// How long after an undo its counter may be seen to rise. Counters are only looked at now and
/// then, on a machine that may be busy.
const LATE: Duration = Duration::from_millis(100);

/// An episode: from a first retransmission to the acknowledgement of all data outstanding then.
#[derive(Clone, Debug)]
pub struct Episode {
    /// When its first retransmission came into the box. Times count from 1970.
    pub begins: Instant,
    /// When the acknowledgement reached the sender; never if it did not.
    pub ends: Instant,
    /// The cause of its first retransmission; `None` if unknown.
    pub cause: Option<Cause>,
    /// Retransmissions in the episode.
    pub retransmissions: u64,
    /// Spurious retransmissions in the episode.
    pub spurious: u64,
    /// Whether the first retransmission was spurious.
    pub first_spurious: bool,
    /// The kernel's first undo in the episode: when its counter was seen to have risen, and the
    /// counter's name.
    pub undo: Option<(Instant, &'static str)>,
}

/// Returns the episodes, and for each retransmission the index of its episode. A probe belongs to
/// none, unless an episode is open.
pub fn find(
    rows: &[Row],
    direction: Direction,
    judged: &[Judged],
    causes: &[Option<Cause>],
    counters: Option<&Counters>,
) -> (Vec<Episode>, Vec<Option<usize>>) {
    let (mut episodes, mut belongs): (Vec<Episode>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    let (courses, mut flow_of_last) = (FlowDirection::all(rows, direction), None);
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
        let until = until.min(ends + LATE);
        episodes[number].undo = counters.and_then(|counters| counters.undos(begins, until).first().copied());
    }
    (episodes, belongs)
}

/// The progress of a flow: the highest sequence numbers sent and acknowledged, and when.
#[derive(Default)]
struct FlowDirection {
    sent: Vec<(Instant, Seq)>,
    acknowledged: Vec<(Instant, Seq)>,
}

impl FlowDirection {
    fn all(rows: &[Row], direction: Direction) -> BTreeMap<u32, Self> {
        let mut courses: BTreeMap<u32, Self> = BTreeMap::new();
        for row in rows {
            let course = courses.entry(row.which.flow).or_default();
            if row.direction == direction && row.key.len > 0 {
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

    /// Returns when the sender got the acknowledgement of all that it had sent by `at`; never if it
    /// did not.
    fn acknowledged(&self, at: Instant) -> Instant {
        let sent = self.sent.partition_point(|&(sent, _)| sent <= at);
        let Some(&(_, point)) = sent.checked_sub(1).and_then(|last| self.sent.get(last)) else { return Instant::NEVER };
        let covering = self.acknowledged.partition_point(|&(_, ack)| after(point, ack));
        let later = self.acknowledged.partition_point(|&(left, _)| left <= at);
        self.acknowledged.get(covering.max(later)).map_or(Instant::NEVER, |&(left, _)| left)
    }
}

/// Returns whether the sequence number `one` comes after `other`.
fn after(one: Seq, other: Seq) -> bool {
    one.0.wrapping_sub(other.0) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiccup::Fate;
    use crate::hiccup::truth::PacketId;
    use crate::judge::frames::Key;
    use eifel_path::stream::Stream;

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
    fn a_tail_loss_probe_belongs_to_the_open_episode() {
        let row = |direction, millis, (seq, ack, len)| Row {
            direction,
            entered: at(millis),
            left: Some(at(millis + 100)),
            fate: Fate::Delivered,
            key: Key { seq, ack, len, flags: Flags::ACK.0, identification: 0, stamp: 0 },
            which: PacketId { flow: 0, direction, number: 1 },
            block: None,
            ports: None,
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

    /// Two flows, with positions that do not wrap.
    struct World {
        draws: Stream,
        rows: Vec<Row>,
        /// Data segments: the flow, when they came in, and the position after their data.
        data: Vec<(u32, Instant, u64)>,
        /// Acknowledgements that reached the sender: flow, when, and the next position.
        acks: Vec<(u32, Instant, u64)>,
    }

    impl World {
        fn new(seed: u64) -> Self {
            let (rows, data, acks) = Default::default();
            let mut world = Self { draws: Stream::new(seed, &["episodes"]), rows, data, acks };
            (0..60).for_each(|_| world.pass());
            // The order of the rows does not matter.
            let mut places: Vec<(u64, Row)> = world.rows.iter().map(|&row| (world.draws.below(1000), row)).collect();
            places.sort_by_key(|&(place, _)| place);
            world.rows = places.into_iter().map(|(_, row)| row).collect();
            world
        }

        fn below(&mut self, count: u64) -> u64 {
            self.draws.below(count)
        }

        /// Adds a packet. Sequence numbers begin shortly before they wrap.
        fn pass(&mut self) {
            let (flow, isn) = (self.below(2) as u32, 0xffff_f800_u32);
            let (entered, position) = (10 * self.below(200), 100 * self.below(50));
            let left = Some(at(entered + 10 * self.below(20))).filter(|_| self.below(10) > 0);
            let number = |position: u64| isn.wrapping_add(position as u32);
            let entered = at(entered);
            let mut row = Row {
                direction: Direction::There,
                entered,
                left,
                fate: Fate::Delivered,
                key: Key { seq: number(position), ack: 1, len: 0, flags: Flags::ACK.0, identification: 0, stamp: 0 },
                which: PacketId { flow, direction: Direction::There, number: 1 },
                block: None,
                ports: None,
            };
            match self.below(10) {
                // An acknowledgement in the direction of the data carries no data. Its number may
                // lie after a FIN.
                0 => row.key.seq = number(position + 5000),
                1..5 => {
                    row.key.len = 100 * (1 + self.below(3) as u32);
                    self.data.push((flow, entered, position + u64::from(row.key.len)));
                    if self.below(3) == 0 {
                        self.rows.push(Row { fate: Fate::Copied, ..row });
                    }
                }
                kind => {
                    row.direction = Direction::Back;
                    (row.key.seq, row.key.ack) = (1, number(position));
                    // A reset without ACK acknowledges nothing.
                    if kind == 5 {
                        row.key.flags = Flags::RST.0;
                    } else if let Some(left) = left {
                        self.acks.push((flow, left, position));
                    }
                }
            }
            self.rows.push(row);
        }

        /// Returns when an acknowledgement after `at` covers all data sent by `at`; never if none
        /// does.
        fn acknowledged(&self, flow: u32, at: Instant) -> Instant {
            let sent = self.data.iter().filter(|&&(of, when, _)| of == flow && when <= at);
            let Some(point) = sent.map(|&(.., end)| end).max() else { return Instant::NEVER };
            let acks: Vec<_> = self.acks.iter().filter(|&&(of, ..)| of == flow).collect();
            let covered = |by: Instant| acks.iter().any(|&&(_, when, ack)| when <= by && ack >= point);
            let later = acks.iter().map(|&&(_, when, _)| when).filter(|&when| when > at && covered(when));
            later.min().unwrap_or(Instant::NEVER)
        }
    }

    #[test]
    fn episodes_by_ranges_equal_a_naive_model_by_bytes() {
        let (mut undone, mut ended, mut ended_by_the_next) = (0, 0, 0);
        for seed in 0..300 {
            let mut world = World::new(seed);
            let mut times: Vec<u64> = (0..12).map(|_| 10 * world.below(220)).collect();
            times.sort_unstable();
            let judged: Vec<Judged> = times
                .iter()
                .map(|&millis| Judged { flow: world.below(2) as u32, ..judged(millis, world.below(2) == 0) })
                .collect();
            let all = [None, Some(Cause::Rto), Some(Cause::Fast), Some(Cause::Loss), Some(Cause::Probe)];
            let causes: Vec<Option<Cause>> = judged.iter().map(|_| all[world.below(5) as usize]).collect();
            let mut looks: Vec<u64> = (0..6).map(|_| 10 * world.below(220)).collect();
            looks.sort_unstable();
            let line =
                |(number, at): (usize, &u64)| format!("{}.{:03},TCPLossUndo,{}", at / 1000, at % 1000, number + 1);
            let lines: Vec<String> = looks.iter().enumerate().map(line).collect();
            let counters = Counters::parse(&format!("time,name,value\n{}\n", lines.join("\n"))).unwrap();
            let (episodes, belongs) = find(&world.rows, Direction::There, &judged, &causes, Some(&counters));
            // Flow, beginning and end of each.
            let mut spans: Vec<(u32, Instant, Instant)> = Vec::new();
            for ((one, &cause), &found) in judged.iter().zip(&causes).zip(&belongs) {
                let goes_on = spans.last().is_some_and(|&(flow, _, ends)| flow == one.flow && one.at < ends);
                if !goes_on && cause == Some(Cause::Probe) {
                    assert_eq!(found, None, "seed {seed}");
                    continue;
                }
                if !goes_on {
                    spans.push((one.flow, one.at, world.acknowledged(one.flow, one.at)));
                }
                assert_eq!(found, Some(spans.len() - 1), "seed {seed}");
            }
            assert_eq!(episodes.len(), spans.len(), "seed {seed}");
            for (number, (episode, &(_, begins, ends))) in episodes.iter().zip(&spans).enumerate() {
                let own: Vec<usize> = (0..judged.len()).filter(|&place| belongs[place] == Some(number)).collect();
                assert_eq!((episode.begins, episode.ends), (begins, ends), "seed {seed}");
                assert_eq!((episode.cause, episode.first_spurious), (causes[own[0]], judged[own[0]].spurious));
                let spurious = own.iter().filter(|&&place| judged[place].spurious).count();
                assert_eq!((episode.retransmissions, episode.spurious), (own.len() as u64, spurious as u64));
                let next = spans.get(number + 1).map(|&(_, begins, _)| begins);
                let late = ends + Duration::from_millis(100);
                let within = |&when: &Instant| begins <= when && when < late && next.is_none_or(|next| when < next);
                let undo = looks.iter().map(|&look| at(look)).find(within);
                assert_eq!(episode.undo, undo.map(|when| (when, "TCPLossUndo")), "seed {seed}");
                undone += u32::from(undo.is_some_and(|when| when >= ends));
                ended += u32::from(ends < Instant::NEVER);
                ended_by_the_next += u32::from(next.is_some_and(|next| next < ends));
            }
        }
        assert!(undone > 20 && ended > 500 && ended_by_the_next > 200, "{undone} {ended} {ended_by_the_next}");
    }
}
