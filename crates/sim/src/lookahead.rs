//! Ends that are evaluated ahead of the clock.
//!
//! When a link takes a packet in, it is known when it arrives. If it arrives at an end of a connection, everything that this
//! end has seen until then is known as well: packets come to it over that one link, in order, and else there are only its
//! own timers. So the end is let have the packet at once, at its instant to come; what it sends then enters a link that
//! nobody else feeds, at that instant too. The packet needs no event, and is still at hand. Where both ends of a connection
//! can be had like this and share no link with others, they take turns until the run is over, without any event.
//!
//! That is the lookahead of conservative parallel simulation, and changes nothing: at one instant the order of events does not
//! depend on when they became known. It is not done in observed runs, whose rows stand in the order of time, nor where the run
//! or the flow may end before the duration is over: nobody shall have seen what happens after the end.

use crate::network::{Shortcut, Span};
use crate::scenario::{Flow, Scenario, StreamApplication, Traffic};
use crate::slab::End;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use eifel_path::parcel::Parcel;

/// A packet whose arrival at its end is foreseen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Foreseen {
    /// When it arrives.
    pub arrives: Instant,
    /// The packet.
    pub parcel: Parcel,
    /// Index of its flow.
    pub flow: u32,
    /// How many links it crosses without an event.
    pub links: u32,
}

/// Which ends are evaluated ahead, and what they are to have.
pub struct Lookahead {
    /// By twice the flow's index plus the end: whether it is.
    ahead: Vec<bool>,
    /// Nothing later is foreseen: the run is over then.
    until: Instant,
    /// By the end that they come to.
    foreseen: [Ring<Foreseen>; 2],
}

impl Lookahead {
    /// That of a scenario; the links over which packets come to such ends, and that have no lane, are told.
    pub fn new(scenario: &Scenario, spans: &mut [Span]) -> Self {
        let mut paths_over = vec![0; scenario.links.len()];
        for &link in scenario.flows.iter().flat_map(|flow| flow.there.iter().chain(&flow.back)) {
            paths_over[link] += 1;
        }
        let mut lookahead = Self::none(scenario);
        if !scenario.lasts() {
            return lookahead;
        }
        for (index, flow) in scenario.flows.iter().enumerate().filter(|(_, flow)| leaves_ends_alone(flow)) {
            for (end, here, away) in [(End::From, &flow.back, &flow.there), (End::To, &flow.there, &flow.back)] {
                let (Some(&last), Some(&first)) = (here.last(), away.first()) else { continue };
                if paths_over[first] > 1 || !spans[first].link.is_open() || !spans[last].link.is_open() {
                    continue;
                }
                lookahead.ahead[2 * index + end.index()] = true;
                if spans[last].shortcut == Shortcut::None {
                    spans[last].shortcut = Shortcut::Lookahead;
                }
            }
        }
        lookahead
    }

    /// For runs in which no end is evaluated ahead.
    pub fn none(scenario: &Scenario) -> Self {
        Self {
            ahead: vec![false; 2 * scenario.flows.len()],
            until: Instant::ZERO + scenario.duration,
            foreseen: Default::default(),
        }
    }

    /// Whether an end of a flow is evaluated ahead.
    #[inline]
    pub fn is_ahead(&self, flow: u32, end: End) -> bool {
        self.ahead[2 * flow as usize + end.index()]
    }

    /// A packet arrives at such an end; the answer is whether that is all it needs.
    #[inline]
    pub fn foresee(&mut self, end: End, foreseen: Foreseen) -> bool {
        let in_time = foreseen.arrives <= self.until;
        if in_time {
            self.foreseen[end.index()].push_back(foreseen);
        }
        in_time
    }

    /// The next packet to arrive at such an end, and the end: for each end, in the order of time. What was sent as data comes
    /// first, so that it is still at hand.
    #[inline]
    pub fn next(&mut self) -> Option<(End, Foreseen)> {
        let [from, to] = &mut self.foreseen;
        to.pop_front().map(|next| (End::To, next)).or_else(|| from.pop_front().map(|next| (End::From, next)))
    }
}

/// Whether nothing comes to the ends of a flow but packets and their own timers: no alarm of an application, and no end of
/// all, which is one for both.
fn leaves_ends_alone(flow: &Flow) -> bool {
    match &flow.traffic {
        Traffic::Stream { application: StreamApplication::Bulk { bytes: None }, connection } => {
            connection.reading.is_none() && flow.end.is_none()
        }
        _ => false,
    }
}
