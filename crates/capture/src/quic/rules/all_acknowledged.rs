//! *Looks at* packets declared lost in one number space, until two probe timeouts after they left.
//! *Decides* spurious when an ACK leaves none of them missing.
//! *Blind to* losses that it forgot: they no longer speak against an undo.
//! *From* noq-proto 1.4.0, `connection/mod.rs`, `detect_spurious_loss` and `drain_lost_packets`, and
//! `congestion/cubic.rs`, `on_spurious_congestion_event`.

use super::{Entry, Loss, News, UndoRule, forget};
use crate::quic::qlog::{Key, Space};
use eifel_base::time::Instant;
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "all-acknowledged",
    stacks: "noq 1.4.0, quinn main a1931ab",
    source: "noq-proto: connection/mod.rs, detect_spurious_loss and drain_lost_packets; quinn-proto: the same functions",
    make: || Box::new(AllAcknowledged::default()),
};

/// Undoes when all recent losses of a number space are acknowledged.
#[derive(Default)]
pub struct AllAcknowledged {
    lost: BTreeMap<Key, Instant>,
    /// Whether the window from before the latest event is saved.
    saved: bool,
}

impl UndoRule for AllAcknowledged {
    fn on_lost(&mut self, lost: &Loss) {
        self.lost.insert(lost.packet, lost.sent);
        self.saved |= lost.begins;
    }

    fn on_ack(&mut self, ack: &News<'_>) -> bool {
        let (space, path, _) = ack.largest;
        let late = ack.late.iter().filter(|key| self.lost.remove(key).is_some()).count();
        let undoes = late > 0 && of_space(&self.lost, space, path).next().is_none() && std::mem::take(&mut self.saved);
        // Losses are forgotten after the ACK was compared with them.
        forget(&mut self.lost, |_, sent| ack.now.since(sent) > ack.pto() * 2);
        undoes
    }
}

fn of_space(lost: &BTreeMap<Key, Instant>, space: Space, path: u64) -> impl Iterator<Item = &Key> {
    lost.range((space, path, 0)..=(space, path, u64::MAX)).map(|(key, _)| key)
}
