//! Ends that are evaluated ahead of the clock.
//!
//! When a link takes a packet in, it is known when it arrives. If it arrives at an end that only answers, everything that
//! this end has seen until then is known as well: packets come to it over that one link, in order, and else there are only
//! its own timers. So the end is let have the packet at once, at its instant to come; what it answers enters a link that
//! nobody else feeds, at that instant too. The packet needs no event, and is still at hand.
//!
//! That is the lookahead of conservative parallel simulation, and changes nothing: at one instant the order of events does not
//! depend on when they became known. It is not done in observed runs, whose rows stand in the order of time, nor where the run
//! may stop before its duration is over: nobody shall have seen what happens after the end.

use crate::network::{Shortcut, Span};
use crate::scenario::{Flow, Scenario, StreamApplication, Traffic};
use crate::slab::End;
use eifel_path::parcel::Parcel;
use eifel_recovery::time::Instant;

/// A packet whose arrival at its end is foreseen.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen {
    /// When it arrives.
    pub arrives: Instant,
    /// The packet.
    pub parcel: Parcel,
    /// How many links it crosses without an event.
    pub links: u64,
}

/// Which ends are evaluated ahead, and what they are to have.
pub struct Lookahead {
    /// By flow: whether its answering end is.
    ahead: Vec<bool>,
    /// Nothing later is foreseen: the run is over then.
    until: Instant,
    foreseen: Vec<Foreseen>,
}

impl Lookahead {
    /// That of a scenario; the links over which packets come to such ends, and that have no lane, are told.
    pub fn new(scenario: &Scenario, spans: &mut [Span]) -> Self {
        let mut paths_over = vec![0; scenario.links.len()];
        for &link in scenario.flows.iter().flat_map(|flow| flow.there.iter().chain(&flow.back)) {
            paths_over[link] += 1;
        }
        let lasts = scenario.lasts();
        let only_answers = |flow: &Flow| {
            matches!(
                &flow.traffic,
                Traffic::Stream { application: StreamApplication::Bulk { bytes: None }, connection }
                    if connection.reading.is_none()
            ) && flow.end.is_none()
        };
        let mut ahead = vec![false; scenario.flows.len()];
        for (ahead, flow) in ahead.iter_mut().zip(&scenario.flows) {
            let (Some(&last), Some(&first)) = (flow.there.last(), flow.back.first()) else { continue };
            let links = [last, first].map(|link| &spans[link].link);
            *ahead = lasts && only_answers(flow) && paths_over[first] == 1 && links.iter().all(|link| link.is_open());
            if *ahead && spans[last].shortcut == Shortcut::None {
                spans[last].shortcut = Shortcut::Lookahead;
            }
        }
        Self { ahead, until: Instant::ZERO + scenario.duration, foreseen: Vec::new() }
    }

    /// For runs in which no end is evaluated ahead.
    pub fn none(scenario: &Scenario) -> Self {
        Self { ahead: vec![false; scenario.flows.len()], until: Instant::ZERO, foreseen: Vec::new() }
    }

    /// Whether what that end of a flow sends goes to an end that is evaluated ahead.
    #[inline]
    pub fn is_ahead(&self, flow: u32, sender: End) -> bool {
        sender == End::From && self.ahead[flow as usize]
    }

    /// A packet arrives at such an end; the answer is whether that is all it needs.
    #[inline]
    pub fn foresee(&mut self, foreseen: Foreseen) -> bool {
        let in_time = foreseen.arrives <= self.until;
        if in_time {
            self.foreseen.push(foreseen);
        }
        in_time
    }

    /// The packet that was foreseen as number `index` since the last [`clear`](Self::clear).
    #[inline]
    pub fn get(&self, index: usize) -> Option<Foreseen> {
        self.foreseen.get(index).copied()
    }

    /// All of them have arrived.
    #[inline]
    pub fn clear(&mut self) {
        self.foreseen.clear();
    }
}
