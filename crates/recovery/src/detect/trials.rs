//! Retransmissions on trial. Each must be proven spurious by an echo of its own original's
//! timestamp (RFC 3522, section 3.4). A receiver that delays its ACK can prove one of them spurious
//! after it has repaired the loss of another.

use crate::fact::{Acked, Echo};
use eifel_base::units::Timestamp;
use std::collections::VecDeque;

/// A retransmission that is not acknowledged yet. `original` is its original's timestamp; `None` if
/// that would prove nothing.
#[derive(Clone, Copy, Debug)]
struct Trial {
    start: u64,
    original: Option<Timestamp>,
}

/// The trials of an episode, by position; `None` without trials.
#[derive(Clone, Debug, Default)]
#[expect(clippy::box_collection, reason = "there are seldom any, and all connections have to hold the place")]
pub(super) struct Trials(Option<Box<VecDeque<Trial>>>);

impl Trials {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Puts a retransmission on trial, unless one of the same segment is already on trial.
    pub(super) fn add(&mut self, start: u64, original: Option<Timestamp>) {
        let trials = self.0.get_or_insert_default();
        let place = trials.partition_point(|other| other.start < start);
        if trials.get(place).is_none_or(|other| other.start > start) {
            trials.insert(place, Trial { start, original });
        }
    }

    /// Ends the trials of the retransmissions that the ACK covers. Returns whether one of them was
    /// not proven spurious.
    pub(super) fn end(&mut self, acked: &Acked<'_>) -> bool {
        let Some(trials) = &mut self.0 else { return false };
        let mut unproven = false;
        while let Some(trial) = trials.front().copied().filter(|trial| acked.cumulative > trial.start) {
            let proven = matches!(acked.echo, Some(Echo::Known { value, .. }) if trial.original == Some(value));
            unproven |= !proven;
            trials.pop_front();
        }
        self.0.take_if(|trials| trials.is_empty());
        unproven
    }
}
