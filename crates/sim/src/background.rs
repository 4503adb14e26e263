//! Datagrams that go straight over one link: background traffic.
//!
//! They meet nobody but the other packets of that link's queue, so they need no events: those that are due go into the
//! link before the next other packet does. At one instant they go first.

use crate::app::{Alarm, DatagramApp};
use crate::scenario::{Flow, Link};
use eifel_base::time::Instant;
use eifel_path::background::Source;

/// A source of datagrams at the entrance of a link.
pub struct Background {
    /// Its application.
    pub app: DatagramApp,
    /// When the next datagram leaves, and when the source stops.
    pub alarm: Alarm,
    /// Index of the flow.
    pub flow: u32,
    /// When it began.
    pub started: Instant,
    /// Datagrams sent.
    pub sent: u64,
}

/// Where a source stands.
#[derive(Clone, Copy)]
pub struct Place {
    /// The link.
    pub link: usize,
    /// Its number there.
    pub source: usize,
}

impl Background {
    /// Whether a flow of datagrams can be one.
    pub fn is(flow: &Flow, links: &[Link]) -> bool {
        matches!(flow.there.as_slice(), [only] if links[*only].config.elements.is_empty())
    }
}

impl Source for Background {
    #[inline]
    fn due(&self) -> Instant {
        if self.alarm.wake_at < self.alarm.stop_at { self.alarm.wake_at } else { Instant::NEVER }
    }

    #[inline]
    fn step(&mut self) {
        self.sent += 1;
        self.alarm.wake_at += self.app.gap();
    }
}
