//! Finds which transmissions of a direction passed another place.
//!
//! Devices cut large segments and join small ones, so frames are compared by the positions of their
//! data. A piece has the acknowledgement and the timestamps of the whole, and its identification
//! counts on from that of the whole. Where transmissions of the same bytes look alike, the clocks
//! exclude those that left too late. The delay of the transmissions beside them chooses among the
//! others, if it clearly fits one.

use super::clock::{Clocks, Point};
use super::pair::true_pairs;
use super::seen::Seen;
use eifel_base::ranges::{Block, Ranges};
use std::collections::{BTreeMap, BTreeSet};

/// Nanoseconds by which the times of captures are off, because they count microseconds.
const ROUNDING: f64 = 2_000.0;
/// Nanoseconds by which delays of transmissions beside each other differ without a reason.
const JITTER: f64 = 50_000.0;
/// How much worse the second candidate's delay has to fit.
const CLEARLY: f64 = 3.0;
/// The least segment that a device cuts.
const LEAST_UNIT: u32 = 64;

/// Data of a transmission that passed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Part {
    pub(super) block: Block,
    pub(super) frame: u64,
    pub(super) nanos: u64,
    /// Whether the packet shows that it is this transmission.
    pub(super) sure: bool,
    /// Whether the packet is known at all. If as many that look alike arrived as left, nobody knows
    /// which of them is this transmission.
    pub(super) told: bool,
}

/// The packets of a direction at a place, as transmissions.
#[derive(Debug, Default)]
pub(super) struct Passage {
    /// By transmission.
    pub(super) parts: Vec<Vec<Part>>,
    /// By transmission: data of which it is unknown whether this transmission passed.
    pub(super) unsure: Vec<Vec<Block>>,
    /// Data that passed and whose transmission is not in the sender's capture.
    pub(super) foreign: Vec<Part>,
    /// Packets that passed once more.
    pub(super) copies: u64,
    /// Data of which some transmission was found by its delay alone.
    pub(super) doubtful: Ranges,
}

/// Finds transmissions by their data.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_start: BTreeMap<u64, Vec<usize>>,
    longest: u64,
}

impl Index {
    pub(super) fn new(sent: &[Seen]) -> Self {
        let mut index = Self::default();
        for (number, one) in sent.iter().enumerate() {
            index.by_start.entry(one.start).or_default().push(number);
            index.longest = index.longest.max(u64::from(one.len));
        }
        index
    }

    /// Returns the transmissions that may overlap a block.
    pub(super) fn near(&self, block: Block) -> impl Iterator<Item = usize> + '_ {
        self.by_start.range(block.start.saturating_sub(self.longest)..block.end).flat_map(|(_, some)| some).copied()
    }
}

/// What is known of two captures of one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'a> {
    /// The transmissions with data, in order, at the place where they leave.
    pub(super) sent: &'a [Seen],
    pub(super) index: &'a Index,
    pub(super) passed: &'a [Seen],
    pub(super) compared: &'a Compared,
}

/// The clock of a place, compared with that of the place where a direction leaves.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) clocks: Clocks,
    /// The time of the clocks' time 0 where the direction leaves.
    pub(super) zero: u64,
    /// The packets of the direction, with or without data, that both places show exactly once.
    pub(super) there: Vec<Point>,
}

impl Sides<'_> {
    pub(super) fn at(&self, nanos: u64) -> f64 {
        nanos.wrapping_sub(self.compared.zero) as i64 as f64
    }

    fn point(&self, sent: &Seen, nanos: u64) -> Point {
        Point { at: self.at(sent.nanos), difference: nanos.wrapping_sub(sent.nanos) as i64 as f64 }
    }

    /// Returns whether a packet may have passed at `nanos` if it left as `sent`.
    fn is_possible(&self, sent: &Seen, nanos: u64) -> bool {
        self.compared.clocks.possible(self.at(sent.nanos)).is_none_or(|from| from <= self.at(nanos) + ROUNDING)
    }
}

/// An arrival whose transmission its packet alone does not show.
#[derive(Debug)]
struct Ambiguous {
    part: Part,
    candidates: Vec<usize>,
}

/// Finds the transmissions that passed.
pub(super) fn find(sides: Sides<'_>) -> Passage {
    let Sides { sent, passed, .. } = sides;
    let counts = identifications_count(sent, passed);
    let mut found =
        Passage { parts: vec![Vec::new(); sent.len()], unsure: vec![Vec::new(); sent.len()], ..Passage::default() };
    let mut ambiguous: BTreeMap<(u64, u64), Vec<Ambiguous>> = BTreeMap::new();
    for packet in passed.iter().filter(|one| one.len > 0) {
        let block = packet.block();
        let mut candidates: Vec<usize> = sides
            .index
            .near(block)
            .filter(|index| {
                let one = &sent[*index];
                one.block().end > block.start && is_piece(one, packet, counts) && sides.is_possible(one, packet.nanos)
            })
            .collect();
        candidates.sort_unstable();
        for block in pieces(block, candidates.iter().map(|index| sent[*index].block())) {
            let own: Vec<usize> = candidates
                .iter()
                .copied()
                .filter(|index| sent[*index].start <= block.start && block.end <= sent[*index].block().end)
                .collect();
            let part = Part { block, frame: packet.frame, nanos: packet.nanos, sure: true, told: true };
            match own[..] {
                [] => found.foreign.push(part),
                [one] => found.add(one, part),
                _ => {
                    let same = ambiguous.entry((block.start, block.end)).or_default();
                    same.push(Ambiguous { part, candidates: own });
                }
            }
        }
    }
    let delays = Delays::of(&found, sides);
    let network_copies = found.copies > 0;
    for group in ambiguous.into_values() {
        found.choose(group, &delays, sides, network_copies);
    }
    found
}

/// Returns a block, cut where others begin or end.
fn pieces(block: Block, others: impl Iterator<Item = Block>) -> Vec<Block> {
    let mut cuts: Vec<u64> =
        others.flat_map(|one| [one.start, one.end]).filter(|cut| block.start < *cut && *cut < block.end).collect();
    cuts.extend([block.start, block.end]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|ends| Block { start: ends[0], end: ends[1] }).collect()
}

/// Returns whether identifications tell transmissions apart, and no device on the way changes them.
fn identifications_count(sent: &[Seen], passed: &[Seen]) -> bool {
    let different: BTreeSet<u16> = sent.iter().map(|one| one.identification).take(64).collect();
    let (mut same, mut all) = (0_u64, 0_u64);
    for (one, other) in true_pairs(sent, passed) {
        same += u64::from(one.identification == other.identification);
        all += 1;
    }
    (different.len() > 1 || sent.len() == 1 && !different.contains(&0)) && same * 10 >= all * 9
}

/// Returns whether two frames whose data overlap may hold pieces of one transmission.
fn is_piece(sent: &Seen, passed: &Seen, identifications: bool) -> bool {
    if sent.ack != passed.ack || sent.stamps != passed.stamps {
        return false;
    }
    if !identifications {
        return true;
    }
    let (first, later) = if sent.start <= passed.start { (sent, passed) } else { (passed, sent) };
    let offset = later.start - first.start;
    let cut = u64::from(later.identification.wrapping_sub(first.identification));
    match offset.checked_div(cut) {
        None => offset == 0,
        Some(unit) => {
            let within = later.block().end <= first.block().end;
            unit * cut == offset && unit >= u64::from(if within { later.len.min(LEAST_UNIT) } else { LEAST_UNIT })
        }
    }
}

/// The delays of packets that were surely found, in the order in which they left.
struct Delays(Vec<Point>);

impl Delays {
    fn of(found: &Passage, sides: Sides<'_>) -> Self {
        let first =
            |(parts, sent): (&Vec<Part>, &Seen)| Some(sides.point(sent, parts.iter().find(|part| part.sure)?.nanos));
        let own = found.parts.iter().zip(sides.sent).filter_map(first);
        let mut points: Vec<Point> = own.chain(sides.compared.there.iter().copied()).collect();
        points.sort_by(|one, other| one.at.total_cmp(&other.at));
        Self(points)
    }

    /// Returns how far a delay is from those of the packets before and after it; infinite without
    /// any.
    fn misfit(&self, point: Point, clocks: &Clocks) -> f64 {
        let next = self.0.partition_point(|other| other.at < point.at);
        let near = [next.checked_sub(1).and_then(|last| self.0.get(last)), self.0.get(next)];
        let off = |other: &Point| (clocks.level(point) - clocks.level(*other)).abs();
        near.into_iter().flatten().map(off).fold(f64::INFINITY, f64::min)
    }
}

impl Passage {
    fn add(&mut self, index: usize, part: Part) {
        let again = self.parts[index]
            .iter()
            .any(|known| known.block.start < part.block.end && part.block.start < known.block.end);
        if again {
            self.copies += 1;
        } else {
            self.parts[index].push(part);
            if !part.sure {
                self.doubtful.add(part.block);
            }
        }
    }

    fn has(&self, index: usize, block: Block) -> bool {
        self.parts[index].iter().any(|part| part.block.start < block.end && block.start < part.block.end)
    }

    /// Chooses the transmissions of arrivals with the same data, which are in order of time. Where
    /// the network copies packets, several arrivals may be of one transmission.
    fn choose(&mut self, group: Vec<Ambiguous>, delays: &Delays, sides: Sides<'_>, network_copies: bool) {
        let all: BTreeSet<usize> = group.iter().flat_map(|one| one.candidates.iter().copied()).collect();
        let open = all.iter().filter(|index| !self.has(**index, group[0].part.block)).count();
        let as_many = group.len() >= open && !network_copies;
        let told = !as_many || open == 1;
        for Ambiguous { part, candidates } in group {
            let part = Part { sure: false, told, ..part };
            let free: Vec<usize> = candidates.iter().copied().filter(|index| !self.has(*index, part.block)).collect();
            let possible = if network_copies { &candidates } else { &free };
            let mut fits: Vec<(f64, usize)> = possible
                .iter()
                .map(|index| {
                    let point = sides.point(&sides.sent[*index], part.nanos);
                    (delays.misfit(point, &sides.compared.clocks), *index)
                })
                .collect();
            fits.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            match fits[..] {
                _ if free.is_empty() => self.copies += 1,
                [(_, only)] => self.add(only, part),
                // All of them arrived, in whatever order.
                _ if as_many => self.add(free[0], part),
                [(best, index), (second, _), ..] if best.is_finite() && best * CLEARLY + JITTER <= second => {
                    self.add(index, part)
                }
                _ => free.into_iter().for_each(|index| self.unsure[index].push(part.block)),
            }
        }
    }

    /// Returns the number of transmissions that arrived after one that had left later, and the
    /// longest time behind the first of these, in nanoseconds.
    pub(super) fn reordering(&self) -> (u64, Option<u64>) {
        let parts =
            self.parts.iter().enumerate().flat_map(|(index, parts)| parts.iter().map(move |part| (index, part)));
        let mut arrived: Vec<(u64, u64, usize)> = parts.map(|(index, part)| (part.frame, part.nanos, index)).collect();
        arrived.sort_unstable();
        let (mut late, mut longest) = (BTreeSet::new(), None);
        // The newest transmission so far, each with the time of its arrival.
        let mut newest: Vec<(usize, u64)> = Vec::new();
        for (_, nanos, index) in arrived {
            let overtaken_by = newest.partition_point(|(other, _)| *other <= index);
            match newest.get(overtaken_by) {
                Some((_, at)) => {
                    late.insert(index);
                    longest = Some(nanos.saturating_sub(*at).max(longest.unwrap_or(0)));
                }
                None => newest.push((index, nanos)),
            }
        }
        (late.len() as u64, longest)
    }
}
