//! Joins captures of the same connections at several places of a path: the truth about each
//! retransmission, where packets were lost, and how long they took.
//!
//! The first place is near the sender and the last near the receiver. Both have to see both
//! directions of a connection for its clocks to be compared. All packets are kept in memory.
//!
//! What the captures do not show stays unknown: packets that a capture missed, and copies that look
//! alike. Signs of missed packets are reports of the receiver about data that the capture there did
//! not see, and packets that arrived without having left.

mod clock;
mod direction;
mod fates;
mod judge;
mod pair;
mod passage;
mod reports;
mod result;
mod seen;
mod table;
mod text;

pub use result::{
    Clock, Connection, Delays, Direction, Fate, Gaps, Hop, Passed, PlaceSummary, Report, Retransmission,
    Retransmissions,
};
pub use seen::Place;
pub use table::TRUTH;

use pair::Joined;

/// Joins captures, in the order of the path from the sender to the receiver.
pub fn join(mut places: Vec<Place>) -> Report {
    let (joined, connections_alone) = pair::join(&mut places);
    let summary = |place: &Place| PlaceSummary {
        place: place.name.clone(),
        file: place.file.clone(),
        frames: place.frames,
        error: place.error.clone(),
    };
    let mut report = Report { places: places.iter().map(summary).collect(), connections_alone, ..Report::default() };
    for one in joined.iter().filter(|one| one.has_data()) {
        let number = report.connections.len() as u64;
        let Some(flow) = one.at[0].as_ref().map(|connection| connection.flow) else { continue };
        let mut directions = <[Direction; 2]>::default();
        for (side, direction) in directions.iter_mut().enumerate() {
            let Some((found, rows)) = direction::read(&places, one, side, number) else { continue };
            *direction = found;
            report.retransmissions.extend(rows);
        }
        let (sender, receiver) = (flow.source, flow.destination);
        let clocks = one.clocks(&places);
        report.connections.push(Connection { connection: number, sender, receiver, clocks, directions });
    }
    report
}

impl Joined {
    fn has_data(&self) -> bool {
        self.at.iter().flatten().flat_map(|one| &one.ways).any(|way| way.data().next().is_some())
    }

    fn clocks(&self, places: &[Place]) -> Vec<Clock> {
        let Some((Some(first), others)) = self.at.split_first() else { return Vec::new() };
        let further = others.iter().zip(places.iter().skip(1));
        let clock = |(connection, place): (&Option<seen::Connection>, &Place)| {
            let clocks = direction::compare(first, connection.as_ref()?, 0).clocks;
            let finite = |drift: f64| drift.is_finite().then_some(drift * 1e6);
            let difference = clocks.difference();
            Some(Clock {
                place: place.name.clone(),
                ahead_ms: difference.map(|(middle, _)| middle / 1e6),
                off_by_ms: difference.map(|(_, off)| off / 1e6),
                least_drift_ppm: finite(clocks.drift.0).filter(|_| !clocks.stepped),
                most_drift_ppm: finite(clocks.drift.1).filter(|_| !clocks.stepped),
                stepped: clocks.stepped,
            })
        };
        further.filter_map(clock).collect()
    }
}

impl Report {
    /// Returns the report as one JSON object.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
