//! A live connection in the simulator's record tables.

use crate::host::{Handle, Host, Witness};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::Config;
use eifel_sim::End;
use eifel_sim::numbering::Numbering;
use eifel_sim::record::recorder::{Recorder, Subject};
use eifel_sim::record::{Record, Tables};
use eifel_tcp::{Connection, Event, Outgoing};
use std::cell::RefCell;
use std::rc::Rc;

/// The end of the record's one flow that sends the data.
const SENDER: (u32, End) = (0, End::From);
const RECEIVER: (u32, End) = (0, End::To);

/// Records the first connection of a host. Times count from its first segment.
#[derive(Clone)]
pub struct Recording(Rc<RefCell<State>>);

struct State {
    recorder: Recorder,
    numbering: Numbering,
    followed: Option<Followed>,
    /// The host's end of the flow.
    own: (u32, End),
    /// Positions of the peer's data that have arrived.
    arrived: Ranges,
}

/// The connection that is recorded.
#[derive(Clone, Copy)]
struct Followed {
    handle: Handle,
    /// Its initial sequence number; `None` if a listener answered the call before there was a
    /// connection.
    isn: Option<Seq>,
    /// When its first segment was seen.
    origin: Instant,
}

impl Recording {
    /// Records the tables `kept` of a sender with these algorithms.
    pub fn new(kept: Record, sender: &Config) -> Self {
        Self::of(kept, sender, SENDER)
    }

    /// Records the tables `kept` of a receiver: the data that arrives, and the segments that it
    /// sends.
    pub fn receiving(kept: Record, sender: &Config) -> Self {
        Self::of(kept, sender, RECEIVER)
    }

    fn of(kept: Record, sender: &Config, own: (u32, End)) -> Self {
        let mut recorder = Recorder::new(kept, Vec::new(), 1, None);
        let detectors = std::iter::once(&sender.detect).chain(&sender.observers);
        recorder.follow(SENDER, None, std::iter::empty());
        recorder.follow(own, None, detectors.map(|choice| choice.name.as_str()));
        let (numbering, arrived) = Default::default();
        Self(Rc::new(RefCell::new(State { recorder, numbering, followed: None, own, arrived })))
    }

    /// Records the segments of `host` from now on.
    pub fn attach(&self, host: &mut Host) {
        host.witnessed_by(Box::new(self.clone()));
    }

    /// Returns the tables, and when their time began. `None` while a host still has the recording.
    pub fn finish(self, now: Instant) -> Option<(Tables, Instant)> {
        let state = Rc::try_unwrap(self.0).ok()?.into_inner();
        let origin = state.followed.map_or(Instant::ZERO, |followed| followed.origin);
        let mut tables = state.recorder.finish(since(now, origin), &mut []).0;
        // The engine's own instants count from the clock's beginning.
        for at in tables.episodes.opened_ns.iter_mut().chain(&mut tables.timer.deadline_ns) {
            if *at >= 0 {
                *at = at.saturating_sub_unsigned(origin.as_nanos());
            }
        }
        Some((tables, origin))
    }
}

impl State {
    /// Returns the time of the record, if `at` is the recorded connection.
    fn time(&self, now: Instant, at: Handle) -> Option<Instant> {
        self.followed.filter(|followed| followed.handle == at).map(|followed| since(now, followed.origin))
    }

    /// Records the data of a segment that arrives at a receiver.
    fn take(&mut self, time: Instant, now: Instant, connection: &Connection, segment: &Segment) {
        let start = connection.position_of(segment.seq);
        let data = Block { start, end: start + u64::from(segment.payload_len) };
        // Data that arrived before the recording began is in order.
        self.arrived.add(Block { start: 1, end: 1 + connection.received() });
        let taken = data.end <= connection.takes_below(now, segment);
        let (new_bytes, in_order) = if taken { note_arrival(&mut self.arrived, data) } else { (0, false) };
        self.recorder.heard(time, SENDER, data, (new_bytes, in_order));
    }
}

/// Adds data that arrives to `arrived`. Returns the number of new positions, and whether the data
/// was the next in order.
pub(crate) fn note_arrival(arrived: &mut Ranges, data: Block) -> (u64, bool) {
    let new = data.end - data.start - arrived.covered(data.start, data.end);
    let all_before = data.start <= 1 || arrived.covers(Block { start: 1, end: data.start });
    arrived.add(data);
    (new, all_before && new > 0)
}

fn since(now: Instant, origin: Instant) -> Instant {
    Instant::ZERO + now.since(origin)
}

impl Witness for Recording {
    fn arrives(&mut self, now: Instant, at: Handle, connection: &Connection, segment: &Segment) {
        let mut state = self.0.borrow_mut();
        let (own, followed) = (state.own, state.followed);
        if own == RECEIVER && followed.is_none() {
            state.followed = Some(Followed { handle: at, isn: None, origin: now });
        }
        let Some(time) = state.time(now, at) else { return };
        if let Some(isn) = followed.and_then(|followed| followed.isn) {
            state.recorder.acknowledged(time, own, (connection, isn), segment);
        }
        if own == RECEIVER && segment.payload_len > 0 && !segment.flags.has(Flags::SYN) {
            state.take(time, now, connection, segment);
        }
    }

    fn leaves(&mut self, now: Instant, at: Handle, _: &Connection, (segment, outgoing): (&Segment, &Outgoing)) {
        let mut state = self.0.borrow_mut();
        if segment.flags.has(Flags::SYN) && state.followed.is_none() {
            state.followed = Some(Followed { handle: at, isn: Some(segment.seq), origin: now });
        }
        let (Some(time), Some(transmission)) = (state.time(now, at), &outgoing.transmission) else { return };
        let number = match (segment.payload_len, transmission.copy) {
            (0, _) => 0,
            (len, 0) => state.numbering.next(transmission.start, len),
            _ => state.numbering.of(transmission.start),
        };
        let own = Subject::connection(state.own);
        let stamp = segment.options.timestamps.map(|stamps| stamps.value);
        state.recorder.sent(time, own, transmission, (number, stamp));
    }

    fn settles(&mut self, now: Instant, at: Handle, connection: &Connection) {
        let mut state = self.0.borrow_mut();
        if let Some(time) = state.time(now, at) {
            let own = state.own;
            state.recorder.connection(time, own, connection);
        }
    }

    fn happens(&mut self, now: Instant, at: Handle, event: &Event) {
        let mut state = self.0.borrow_mut();
        if let (Some(time), Event::Recovery(event)) = (state.time(now, at), event) {
            let own = Subject::connection(state.own);
            state.recorder.recovery(time, own, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::random::Random;
    use std::collections::BTreeSet;

    /// Compares with a set of single positions. Position 0 is the SYN's.
    #[test]
    fn arrivals_by_ranges_equal_a_naive_model_by_bytes() {
        let mut random = Random(11);
        let mut orders = [0; 2];
        for _ in 0..2000 {
            let (mut arrived, mut naive) = (Ranges::default(), BTreeSet::new());
            for _ in 0..8 {
                let start = 1 + random.below(6);
                let data = Block { start, end: start + 1 + random.below(3) };
                let new = (data.start..data.end).filter(|&position| !naive.contains(&position)).count() as u64;
                let in_order = new > 0 && (1..data.start).all(|position| naive.contains(&position));
                assert_eq!(note_arrival(&mut arrived, data), (new, in_order), "{data:?} after {naive:?}");
                naive.extend(data.start..data.end);
                orders[usize::from(in_order)] += 1;
            }
        }
        assert!(orders.iter().all(|&count| count > 1000), "{orders:?}");
    }
}
