//! A live connection in the simulator's record tables.

use crate::host::{Handle, Host, Witness};
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

/// The one flow of a record.
const OF: (u32, End) = (0, End::From);

/// Records the first connection of a host that sends something. Times count from its first segment.
#[derive(Clone)]
pub struct Recording(Rc<RefCell<State>>);

struct State {
    recorder: Recorder,
    numbering: Numbering,
    /// The connection, its first sequence number, and when its first segment left.
    followed: Option<(Handle, Seq, Instant)>,
}

impl Recording {
    /// Keeps these tables of a sender with these algorithms.
    pub fn new(kept: Record, sender: &Config) -> Self {
        let mut recorder = Recorder::new(kept, Vec::new(), 1, None);
        let detectors = std::iter::once(&sender.detect).chain(&sender.observers);
        recorder.follow(OF, None, detectors.map(|choice| choice.name.as_str()));
        Self(Rc::new(RefCell::new(State { recorder, numbering: Numbering::default(), followed: None })))
    }

    /// Sees all segments of `host` from now on.
    pub fn attach(&self, host: &mut Host) {
        host.witnessed_by(Box::new(self.clone()));
    }

    /// The tables and when their time began, once no host has it any more; `None` before.
    pub fn finish(self, now: Instant) -> Option<(Tables, Instant)> {
        let state = Rc::try_unwrap(self.0).ok()?.into_inner();
        let origin = state.followed.map_or(Instant::ZERO, |(_, _, origin)| origin);
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
    /// The time of the record, if `at` is the connection that it is of.
    fn time(&self, now: Instant, at: Handle) -> Option<Instant> {
        self.followed.filter(|(handle, ..)| *handle == at).map(|(_, _, origin)| since(now, origin))
    }
}

fn since(now: Instant, origin: Instant) -> Instant {
    Instant::ZERO + now.since(origin)
}

impl Witness for Recording {
    fn arrives(&mut self, now: Instant, at: Handle, connection: &Connection, segment: &Segment) {
        let mut state = self.0.borrow_mut();
        if let (Some(time), Some((_, isn, _))) = (state.time(now, at), state.followed) {
            state.recorder.acknowledged(time, OF, (connection, isn), segment);
        }
    }

    fn leaves(&mut self, now: Instant, at: Handle, _: &Connection, (segment, outgoing): (&Segment, &Outgoing)) {
        let mut state = self.0.borrow_mut();
        if segment.flags.has(Flags::SYN) && state.followed.is_none() {
            state.followed = Some((at, segment.seq, now));
        }
        let (Some(time), Some(transmission)) = (state.time(now, at), &outgoing.transmission) else { return };
        let number = match (segment.payload_len, transmission.copy) {
            (0, _) => 0,
            (len, 0) => state.numbering.next(transmission.start, len),
            _ => state.numbering.of(transmission.start),
        };
        state.recorder.sent(time, Subject::connection(OF), transmission, number);
    }

    fn settles(&mut self, now: Instant, at: Handle, connection: &Connection) {
        let mut state = self.0.borrow_mut();
        if let Some(time) = state.time(now, at) {
            state.recorder.connection(time, OF, connection);
        }
    }

    fn happens(&mut self, now: Instant, at: Handle, event: &Event) {
        let mut state = self.0.borrow_mut();
        if let (Some(time), Event::Recovery(event)) = (state.time(now, at), event) {
            state.recorder.recovery(time, Subject::connection(OF), event);
        }
    }
}
