//! Background traffic: datagrams that cross just one link.
//!
//! These datagrams meet other packets only in that link's queue, so they need no events. Datagrams
//! that are due enter the link just before the next other packet does. At equal times they enter
//! first.

use crate::app::{Alarm, DatagramApp};
use crate::scenario::{Flow, Link};
use eifel_base::time::Instant;
use eifel_path::background::Source;

/// A source of datagrams at the entrance of a link.
pub struct Background {
    pub app: DatagramApp,
    /// The times at which the next datagram leaves and the source stops.
    pub alarm: Alarm,
    pub flow: u32,
    pub started: Instant,
    pub sent: u64,
}

/// The location of a source.
#[derive(Clone, Copy)]
pub struct Place {
    /// Index of the link.
    pub link: usize,
    /// Index of the source on that link.
    pub source: usize,
}

impl Background {
    /// Returns whether a flow of datagrams can be background traffic.
    pub fn is(flow: &Flow, links: &[Link]) -> bool {
        let carries = |link: &Link| link.config.elements.is_empty() && !link.config.queue.decides_at_exit();
        matches!(flow.there.as_slice(), [only] if carries(&links[*only]))
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
