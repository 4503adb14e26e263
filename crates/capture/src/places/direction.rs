//! Puts the parts together for one direction of a connection.

use super::clock::{Clocks, Point};
use super::fates::{Arrivals, Coverage, Known};
use super::judge::{self, Again, Evidence, Segment};
use super::pair::{Joined, difference, true_pairs};
use super::passage::{self, Compared, Index, Part, Passage, Sides};
use super::reports::Reports;
use super::result::{Delays, Direction, Fate, Gaps, Hop, Passed, Retransmission, Retransmissions};
use super::seen::{Connection, Place, Seen};
use crate::result::Verdict;
use eifel_base::ranges::Block;
use eifel_packet::seq::wrap;
use std::collections::BTreeMap;

/// Bytes of the timestamps option in each segment.
const STAMPS: u64 = 12;

/// Compares the clock of another place with that of the place where a direction leaves.
pub(super) fn compare(here: &Connection, there: &Connection, side: usize) -> Compared {
    let zero = here.ways.iter().filter_map(|way| way.packets.first()).map(|one| one.nanos).min().unwrap_or_default();
    let points = |side: usize| -> Vec<Point> {
        let pairs = true_pairs(&here.ways[side].packets, &there.ways[side].packets);
        pairs
            .into_iter()
            .map(|(one, other)| Point {
                at: one.nanos.wrapping_sub(zero) as i64 as f64,
                difference: difference(one, other) as f64,
            })
            .collect()
    };
    let there = points(side);
    Compared { clocks: Clocks::new(&there, &points(1 - side)), zero, there }
}

/// A place that a direction passes, behind the one where it leaves.
struct Stop<'a> {
    place: usize,
    compared: Compared,
    passed: &'a [Seen],
    whole: bool,
    nanos: (u64, u64),
}

/// A direction with the places on its way.
struct Way<'a> {
    places: &'a [Place],
    joined: &'a Joined,
    side: usize,
    sent: Vec<Seen>,
    index: Index,
    /// In the order of the path.
    stops: Vec<Stop<'a>>,
}

/// Returns what became of the segments of one direction, and its retransmissions.
pub(super) fn read(
    places: &[Place],
    joined: &Joined,
    side: usize,
    connection: u64,
) -> Option<(Direction, Vec<Retransmission>)> {
    let mut order: Vec<usize> = (0..places.len()).filter(|at| joined.at[*at].is_some()).collect();
    if side == 1 {
        order.reverse();
    }
    let (source, others) = order.split_first()?;
    let here = joined.at[*source].as_ref()?;
    let sent: Vec<Seen> = here.ways[side].sent().into_iter().filter(|one| one.len > 0).collect();
    let stops = others.iter().filter_map(|place| {
        let there = joined.at[*place].as_ref()?;
        let (compared, way) = (compare(here, there, side), &there.ways[side]);
        let nanos = places[*place].nanos;
        Some(Stop { place: *place, compared, passed: &way.packets, whole: way.has_syn(), nanos })
    });
    let way = Way { places, joined, side, index: Index::new(&sent), stops: stops.collect(), sent };
    way.judge(*source, connection)
}

impl Way<'_> {
    fn sides<'b>(&'b self, stop: &'b Stop<'_>) -> Sides<'b> {
        Sides { sent: &self.sent, index: &self.index, passed: stop.passed, compared: &stop.compared }
    }

    fn judge(&self, source: usize, connection: u64) -> Option<(Direction, Vec<Retransmission>)> {
        let passages: Vec<Passage> = self.stops.iter().map(|stop| passage::find(self.sides(stop))).collect();
        let (last, passage) = (self.stops.last()?, passages.last()?);
        let there = self.joined.at[last.place].as_ref()?;
        let way = &there.ways[self.side];
        let reports = Reports::read(&way.packets, &there.ways[1 - self.side].packets, way.first, last.whole);
        let sides = self.sides(last);
        let (nanos, whole) = (last.nanos, last.whole);
        let outcomes = Arrivals { sides, passage, reports: &reports, nanos, whole }.outcomes();
        let complete = whole && !reports.show_missed_packets();
        let evidence = Evidence { sides, passage, reports: &reports, outcomes: &outcomes, unit: self.unit(), complete };
        let segments = judge::segments(evidence);
        let hops = Hops::new(self, &passages);
        let mut direction = Direction {
            copies: passage.copies,
            captures: Gaps { not_at_sender: passage.foreign.len() as u64, not_at_receiver: reports.missed() },
            delay_ms: self.delays(last, passage),
            ..Direction::default()
        };
        let (reordered, longest) = passage.reordering();
        (direction.reordered, direction.reordered_ms_max) = (reordered, longest.map(|nanos| nanos as f64 / 1e6));
        let mut lost_between: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut rows = Vec::new();
        for segment in &segments {
            direction.segments += 1;
            direction.bytes += segment.block.end - segment.block.start;
            let hop = (segment.known == Known::Lost).then(|| hops.of(segment, source)).flatten();
            if let Some(hop) = hop {
                *lost_between.entry(hop).or_default() += 1;
            }
            match segment.known {
                Known::Arrived => direction.arrived += 1,
                Known::Lost => direction.lost += 1,
                Known::Unknown => direction.unknown += 1,
            }
            if let Some(again) = segment.again {
                direction.retransmissions.count(again.verdict);
                let row = self.row((segment, again), connection, &hops);
                rows.push(Retransmission { lost_between: hop.map(|hop| self.names(hop)), ..row });
            }
        }
        direction.lost_between = lost_between
            .into_iter()
            .map(|(hop, lost)| {
                let [from, to] = self.names(hop);
                Hop { from, to, lost }
            })
            .collect();
        Some((direction, rows))
    }

    fn names(&self, (from, to): (usize, usize)) -> [String; 2] {
        [from, to].map(|place| self.places[place].name.clone())
    }

    fn row(&self, (segment, again): (&Segment, Again), connection: u64, hops: &Hops<'_>) -> Retransmission {
        let sent = &self.sent[segment.index];
        let mut frames = vec![None; self.places.len()];
        let source = if self.side == 0 { 0 } else { self.places.len() - 1 };
        frames[source] = Some(Passed { frame: sent.frame, traced: sent.traced });
        for (stop, passage) in self.stops.iter().zip(hops.passages) {
            frames[stop.place] = passed(passage, segment).filter(|part| part.told).map(|part| {
                let frame = part.frame;
                let at = stop.passed.binary_search_by_key(&frame, |one| one.frame);
                Passed { frame, traced: at.is_ok_and(|at| stop.passed[at].traced) }
            });
        }
        let first = self.joined.at[source].as_ref().map(|one| one.ways[self.side].first).unwrap_or_default();
        Retransmission {
            connection,
            from_sender: self.side == 0,
            nanos: sent.nanos,
            frames,
            seq: wrap(segment.block.start, first).0,
            bytes: segment.block.end - segment.block.start,
            copy: again.copy,
            fate: match segment.known {
                Known::Arrived => Fate::Arrived,
                Known::Lost => Fate::Lost,
                Known::Unknown => Fate::Unknown,
            },
            lost_between: None,
            verdict: again.verdict,
            confidence: again.confidence,
            original_known: again.original_known,
        }
    }

    /// Returns the bytes of a full segment by the options of the SYNs.
    fn unit(&self) -> Option<u64> {
        let sizes = self.joined.at.iter().flatten().flat_map(|one| &one.ways).filter_map(|way| way.mss);
        let stamped = self.sent.iter().any(|one| one.stamps.is_some());
        let options = if stamped { STAMPS } else { 0 };
        sizes.min().map(u64::from).filter(|mss| *mss > options).map(|mss| mss - options)
    }

    fn delays(&self, stop: &Stop<'_>, passage: &Passage) -> Option<Delays> {
        let sides = self.sides(stop);
        let delay = |(parts, sent): (&Vec<Part>, &Seen)| {
            let part = parts.iter().find(|part| part.sure)?;
            let difference = part.nanos.wrapping_sub(sent.nanos) as i64 as f64;
            stop.compared.clocks.delay(Point { at: sides.at(sent.nanos), difference })
        };
        let mut delays: Vec<f64> = passage.parts.iter().zip(&self.sent).filter_map(delay).collect();
        delays.sort_by(f64::total_cmp);
        let ms = |nanos: &f64| nanos / 1e6;
        let median = delays.get(delays.len() / 2).map(ms)?;
        Some(Delays { min: delays.first().map(ms)?, median, max: delays.last().map(ms)? })
    }
}

/// Returns the part with which a segment passed.
fn passed<'a>(passage: &'a Passage, segment: &Segment) -> Option<&'a Part> {
    let start = segment.block.start;
    let parts = &passage.parts[segment.index];
    parts.iter().find(|part| part.block.start <= start && start < part.block.end)
}

/// Finds out between which places segments were lost.
struct Hops<'a> {
    passages: &'a [Passage],
    /// By stop: the place, what its capture covers, and whether it lacks no packet that another
    /// place further on has.
    stops: Vec<(usize, Coverage, bool)>,
    way: &'a Way<'a>,
}

impl<'a> Hops<'a> {
    fn new(way: &'a Way<'a>, passages: &'a [Passage]) -> Self {
        let stops = way.stops.iter().zip(passages).enumerate().map(|(number, (stop, passage))| {
            let coverage = Coverage::new(way.sides(stop), passage, stop.nanos, stop.whole);
            let later = &passages[number + 1..];
            let lacks = (0..way.sent.len())
                .any(|index| passage.parts[index].is_empty() && later.iter().any(|one| !one.parts[index].is_empty()));
            (stop.place, coverage, !lacks)
        });
        Self { passages, stops: stops.collect(), way }
    }

    /// Returns the places between which a segment was lost: the last that saw it, and the first
    /// behind it whose capture would have it.
    fn of(&self, segment: &Segment, source: usize) -> Option<(usize, usize)> {
        let seen = |number: &usize| passed(&self.passages[*number], segment).is_some();
        let reached = (0..self.stops.len()).rev().find(seen);
        let from = reached.map_or(source, |number| self.stops[number].0);
        let sent = &self.way.sent[segment.index];
        let last = self.stops.len() - 1;
        let shows = |number: &usize| {
            let (_, coverage, complete) = &self.stops[*number];
            let stop = &self.way.stops[*number];
            let at = self.way.sides(stop).at(sent.nanos);
            let unsure = |block: &Block| block.start < segment.block.end && segment.block.start < block.end;
            *complete
                && coverage.covers(segment.index, &stop.compared.clocks, at)
                && !self.passages[*number].unsure[segment.index].iter().any(unsure)
        };
        let behind = reached.map_or(0, |number| number + 1);
        let to = (behind..last).find(shows).unwrap_or(last);
        (behind <= last).then(|| (from, self.stops[to].0))
    }
}

impl Retransmissions {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Spurious => self.spurious += 1,
            Verdict::Needed => self.needed += 1,
            Verdict::Undecidable => self.undecidable += 1,
        }
    }
}
