//! Finds a connection at all places, and which end is nearer to the first place.
//!
//! Packets decide: their numbers, acknowledgements and timestamps differ between connections.
//! Addresses and ports choose among several, because a translator may have changed them.

use super::seen::{Connection, Direction, FIRST, Fingerprint, Place, Seen};
use std::collections::BTreeMap;

/// The least packets in common that show a connection whose addresses differ.
const LEAST_PACKETS: u64 = 8;

/// A connection, as each place shows it; `None` at a place that does not.
#[derive(Debug)]
pub(super) struct Joined {
    /// By place. Side 0 is the end that is nearer to the first place.
    pub(super) at: Vec<Option<Connection>>,
}

/// Returns the connections that the first and the last place show, in the order of their first
/// packets at the first place, and the number of others at the first place.
pub(super) fn join(places: &mut [Place]) -> (Vec<Joined>, u64) {
    let Some((first, others)) = places.split_first_mut() else { return (Vec::new(), 0) };
    let mut free: Vec<Vec<Option<Connection>>> =
        others.iter_mut().map(|place| std::mem::take(&mut place.connections).into_iter().map(Some).collect()).collect();
    let known: Vec<_> = free.iter().map(|connections| by_fingerprint(connections)).collect();
    let (mut joined, mut alone) = (Vec::new(), 0);
    for connection in std::mem::take(&mut first.connections) {
        let mut at = Vec::new();
        for (free, known) in free.iter_mut().zip(&known) {
            let found = other(&connection, free, known);
            at.push(found.and_then(|(place, flipped)| {
                let mut found = free[place].take()?;
                if flipped {
                    found.ways.reverse();
                    found.flow = found.flow.back();
                }
                Some(found)
            }));
        }
        at.insert(0, Some(connection));
        if at.last().is_some_and(Option::is_some) {
            let mut one = Joined { at };
            one.orient();
            one.place();
            joined.push(one);
        } else {
            alone += 1;
        }
    }
    (joined, alone)
}

/// The first packet with each fingerprint: its connection and side.
type Known = BTreeMap<Fingerprint, (usize, usize)>;

fn by_fingerprint(connections: &[Option<Connection>]) -> Known {
    let mut known = Known::new();
    for (at, connection) in connections.iter().enumerate() {
        for (side, way) in connection.iter().flat_map(|one| one.ways.iter().enumerate()) {
            for packet in &way.packets {
                known.entry(packet.fingerprint()).or_insert((at, side));
            }
        }
    }
    known
}

/// Returns the place of the same connection among those of another capture, and whether its sides
/// are the other way round.
fn other(connection: &Connection, free: &[Option<Connection>], known: &Known) -> Option<(usize, bool)> {
    let mut common: BTreeMap<(usize, bool), u64> = BTreeMap::new();
    for (side, way) in connection.ways.iter().enumerate() {
        for packet in &way.packets {
            if let Some(&(at, other_side)) = known.get(&packet.fingerprint()) {
                *common.entry((at, side != other_side)).or_default() += 1;
            }
        }
    }
    let flow = |at: usize, flipped: bool| free[at].as_ref().map(|one| if flipped { one.flow.back() } else { one.flow });
    let same = |at: usize, flipped: bool| {
        // A tunnel or a VLAN may end on the way.
        flow(at, flipped).is_some_and(|flow| {
            (flow.source, flow.destination) == (connection.flow.source, connection.flow.destination)
        })
    };
    let candidates = common.into_iter().filter(|&((at, _), _)| free[at].is_some());
    let counted = candidates.map(|((at, flipped), count)| (same(at, flipped), count, at, flipped));
    let best = counted.max_by_key(|&(same, count, at, _)| (same, count, usize::MAX - at))?;
    (best.0 || best.1 >= LEAST_PACKETS).then_some((best.2, best.3))
}

impl Joined {
    fn ends(&self) -> Option<(&Connection, &Connection)> {
        Some((self.at.first()?.as_ref()?, self.at.last()?.as_ref()?))
    }

    /// Makes side 0 the end that is nearer to the first place. Its packets are seen there first. So
    /// the clock of the last place minus that of the first is greater for them than for the packets
    /// of the other end, whatever the clocks say. Without packets both ways, side 0 is the end that
    /// sent more data.
    fn orient(&mut self) {
        let Some((first, last)) = self.ends() else { return };
        let middle = [0, 1].map(|side: usize| {
            let mut differences: Vec<i64> = unique_pairs(&first.ways[side].packets, &last.ways[side].packets)
                .map(|(one, other)| difference(one, other))
                .collect();
            let middle = differences.len() / 2;
            (!differences.is_empty()).then(|| *differences.select_nth_unstable(middle).1)
        });
        let reversed = match middle {
            [Some(one), Some(other)] if one != other => one < other,
            _ => {
                let bytes = |side: usize| first.ways[side].bytes() + last.ways[side].bytes();
                bytes(0) < bytes(1)
            }
        };
        if reversed {
            for connection in self.at.iter_mut().flatten() {
                connection.ways.reverse();
                connection.flow = connection.flow.back();
            }
        }
    }

    /// Sets the positions of all packets, so that those of one byte are equal at all places.
    fn place(&mut self) {
        for side in 0..2 {
            // The capture that sees the direction leave counts.
            let source = if side == 0 { 0 } else { self.at.len() - 1 };
            let order = [source].into_iter().chain((0..self.at.len()).filter(|at| *at != source));
            let (mut first, mut near) = (None, BTreeMap::new());
            for at in order {
                let Some(way) = self.at[at].as_mut().map(|one| &mut one.ways[side]) else { continue };
                let Some(base) = first.or(way.packets.first().map(|one| one.seq)) else { continue };
                first = Some(base);
                way.place(base, near_of(&near, way));
                if near.is_empty() {
                    near = way.packets.iter().map(|one| (one.fingerprint(), one.start)).collect();
                }
            }
        }
    }
}

/// Returns a position near the first packet's, by a packet whose position is known.
fn near_of(known: &BTreeMap<Fingerprint, u64>, way: &Direction) -> u64 {
    way.packets.iter().find_map(|one| known.get(&one.fingerprint()).copied()).unwrap_or(FIRST)
}

/// Returns the time at one place minus that at another, in nanoseconds.
pub(super) fn difference(one: &Seen, other: &Seen) -> i64 {
    other.nanos.wrapping_sub(one.nanos) as i64
}

/// Returns the packets of which each of two places shows exactly one, alike at both.
fn unique_pairs<'a>(here: &'a [Seen], there: &'a [Seen]) -> impl Iterator<Item = (&'a Seen, &'a Seen)> {
    let (here, there) = (by_look(here), by_look(there));
    here.into_iter().filter_map(move |(look, one)| Some((one?, (*there.get(&look)?)?)))
}

/// Returns the same without pairs of other identifications, if most packets keep theirs. A frame
/// that a device joined may look like another one.
pub(super) fn true_pairs<'a>(here: &'a [Seen], there: &'a [Seen]) -> Vec<(&'a Seen, &'a Seen)> {
    let mut pairs: Vec<_> = unique_pairs(here, there).collect();
    let keeps = |(one, other): &(&Seen, &Seen)| one.identification == other.identification;
    if pairs.iter().filter(|pair| keeps(pair)).count() * 2 > pairs.len() {
        pairs.retain(keeps);
    }
    pairs
}

/// All fields by which packets are alike.
type Look = (Fingerprint, u32, u32, [u16; 2], Vec<(u32, u32)>);

/// Returns the packets by their fields; `None` where several are alike.
fn by_look(packets: &[Seen]) -> BTreeMap<Look, Option<&Seen>> {
    let mut found: BTreeMap<Look, Option<&Seen>> = BTreeMap::new();
    for one in packets {
        let sack = one.sack.as_slice().iter().map(|(left, right)| (left.0, right.0)).collect();
        let echo = one.stamps.map_or(0, |stamps| stamps.echo);
        let look = (one.fingerprint(), one.len, echo, [one.flags.0, one.window], sack);
        found.entry(look).and_modify(|known| *known = None).or_insert(Some(one));
    }
    found
}
