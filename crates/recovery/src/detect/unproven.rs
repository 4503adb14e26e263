//! Retransmissions that are not proven spurious yet. Each must be proven spurious by an echo of its own original's
//! timestamp (RFC 3522, section 3.4). A receiver that delays its ACK can prove one of them spurious
//! after it has repaired the loss of another.

use crate::fact::{Acked, Echo};
use eifel_base::units::Timestamp;
use std::collections::VecDeque;

/// A retransmission that is not acknowledged yet. `original` is its original's timestamp; `None` if
/// that would prove nothing.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    start: u64,
    original: Option<Timestamp>,
}

/// The unproven retransmissions of an episode, by position; `None` without any.
#[derive(Clone, Debug, Default)]
#[expect(clippy::box_collection, reason = "there are seldom any, and all connections have to hold the place")]
pub(super) struct Unproven(Option<Box<VecDeque<Retransmission>>>);

impl Unproven {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds a retransmission, unless there is one of the same segment.
    pub(super) fn add(&mut self, start: u64, original: Option<Timestamp>) {
        let retransmissions = self.0.get_or_insert_default();
        let place = retransmissions.partition_point(|other| other.start < start);
        if retransmissions.get(place).is_none_or(|other| other.start > start) {
            retransmissions.insert(place, Retransmission { start, original });
        }
    }

    /// Removes the retransmissions that the ACK covers. Returns whether one of them was not proven
    /// spurious.
    pub(super) fn remove_acked(&mut self, acked: &Acked<'_>) -> bool {
        let Some(retransmissions) = &mut self.0 else { return false };
        let mut unproven = false;
        while let Some(one) = retransmissions.front().copied().filter(|one| acked.cumulative > one.start) {
            let proven = matches!(acked.echo, Some(Echo::Known { value, .. }) if one.original == Some(value));
            unproven |= !proven;
            retransmissions.pop_front();
        }
        self.0.take_if(|retransmissions| retransmissions.is_empty());
        unproven
    }
}
