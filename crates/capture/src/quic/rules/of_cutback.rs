//! *Looks at* packets declared lost that were sent between the last reduction and the one before.
//! *Decides* spurious when each of them is acknowledged within three probe timeouts after it left.
//! *Blind to* losses in other number spaces than that of 1-RTT packets.
//! *From* quic-go 0.65.0, `internal/congestion/cubic_sender.go`, `OnCongestionEvent` and
//! `OnSpuriousLoss` (with Reno, its default), and `internal/ackhandler/sent_packet_handler.go`.

use super::{Entry, Loss, News, UndoRule, forget};
use crate::quic::qlog::{Key, Space};
use eifel_base::time::Instant;
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "all-acknowledged-of-cutback",
    stacks: "quic-go 0.65.0",
    source: "internal/congestion/cubic_sender.go, OnSpuriousLoss; internal/ackhandler/sent_packet_handler.go, \
             detectSpuriousLosses",
    make: || Box::new(OfCutback::default()),
};

/// Undoes the latest reduction when all losses that count for it are acknowledged.
#[derive(Default)]
pub struct OfCutback {
    /// Losses that may still be acknowledged, and when they left.
    lost: BTreeMap<Key, Instant>,
    /// The largest number sent at the latest reduction, and at the one before.
    latest: Option<u64>,
    before: Option<u64>,
    /// Losses that count for the latest reduction; 0 if it cannot be undone any more.
    counted: u64,
}

impl UndoRule for OfCutback {
    fn on_lost(&mut self, lost: &Loss) {
        let (space, _, number) = lost.packet;
        if space != Space::Application {
            return;
        }
        self.lost.insert(lost.packet, lost.sent);
        if self.latest.is_none_or(|latest| number > latest) {
            self.before = self.latest;
            self.latest = Some(lost.largest_sent.max(number));
            self.counted = 1;
        } else if self.counted > 0 && self.before.is_none_or(|before| number > before) {
            self.counted += 1;
        }
    }

    fn on_ack(&mut self, ack: &News<'_>) -> bool {
        let mut undoes = false;
        for key in ack.late {
            let counts =
                self.before.is_none_or(|before| key.2 > before) && self.latest.is_some_and(|latest| key.2 <= latest);
            if self.lost.remove(key).is_some() && counts && self.counted > 0 {
                self.counted -= 1;
                undoes |= self.counted == 0;
            }
        }
        if undoes {
            self.latest = self.before;
        }
        forget(&mut self.lost, |_, sent| ack.now.since(sent) > ack.pto() * 3);
        undoes
    }
}
