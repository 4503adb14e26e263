//! Packets that wait in the order of their entry, with the instant of each.

use crate::parcel::Labelled;
use eifel_base::time::Instant;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    pub(crate) one: Labelled,
    pub(crate) entered: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

impl Fifo {
    pub(crate) fn push(&mut self, packet: Waiting) {
        self.bytes += u64::from(packet.one.parcel.bytes);
        self.waiting.push_back(packet);
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= u64::from(packet.one.parcel.bytes);
        Some(packet)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }
}
