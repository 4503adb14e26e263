//! *Looks at* packets declared lost, until two probe timeouts after they left.
//! *Decides* spurious when an ACK leaves none of them missing; forgets old losses before it looks.
//! *Blind to* late ACKs of forgotten losses. A loss that it forgot no longer prevents an undo.
//! *From* neqo 80ca01e (after 0.30.1), `neqo-transport/src/cc/classic_cc.rs`,
//! `cleanup_maybe_lost_packets` and `detect_spurious_congestion_event`.

use super::{Entry, Loss, News, UndoRule, forget};
use crate::quic::qlog::Key;
use eifel_base::time::Instant;
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "all-acknowledged-within-two-pto",
    stacks: "neqo 80ca01e",
    source: "neqo-transport/src/cc/classic_cc.rs, cleanup_maybe_lost_packets and detect_spurious_congestion_event",
    make: || Box::new(WithinTwoPto::default()),
};

/// Undoes when all losses of the last two probe timeouts are acknowledged.
#[derive(Default)]
pub struct WithinTwoPto {
    lost: BTreeMap<Key, Instant>,
    /// Whether the window from before the latest event is saved.
    saved: bool,
}

impl UndoRule for WithinTwoPto {
    fn on_lost(&mut self, lost: &Loss) {
        self.lost.insert(lost.packet, lost.sent);
        self.saved |= lost.begins;
    }

    fn on_ack(&mut self, ack: &News<'_>) -> bool {
        let two_pto = (ack.pto() + ack.max_ack_delay) * 2;
        forget(&mut self.lost, |_, sent| ack.now.since(sent) > two_pto);
        let late = ack.late.iter().filter(|key| self.lost.remove(key).is_some()).count();
        late > 0 && self.lost.is_empty() && std::mem::take(&mut self.saved)
    }
}
