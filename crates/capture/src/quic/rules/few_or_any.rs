//! *Looks at* each late ACK, and at the number of losses when recovery ends.
//! *Decides* spurious at any late ACK; and when fewer packets were lost than the larger of two and
//! a fifth of the window.
//! *Blind to* whether the other losses were real: it undoes although most of them were.
//! *From* quiche 0.30.0, `recovery/congestion/recovery.rs`, `has_in_flight_spurious_loss`, and
//! `recovery/congestion/cubic.rs`, `ROLLBACK_THRESHOLD_PERCENT` and `rollback`.

use super::{Entry, Loss, News, UndoRule, forget};
use crate::quic::qlog::Key;
use eifel_base::time::Instant;
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "any-acknowledged-or-few-lost",
    stacks: "quiche 0.30.0",
    source: "recovery/congestion/recovery.rs, has_in_flight_spurious_loss; recovery/congestion/cubic.rs, \
             ROLLBACK_THRESHOLD_PERCENT and rollback",
    make: || Box::new(FewOrAny::default()),
};

/// The share of a window, in percent, and the number of packets that count as few losses.
const FEW_PERCENT: u64 = 20;
const FEW: u64 = 2;
/// CUBIC's factor of reduction, in tenths.
const BETA_TENTHS: u64 = 7;

/// Undoes at any late ACK, or if few packets were lost.
#[derive(Default)]
pub struct FewOrAny {
    /// Losses that may still be acknowledged, and when they were declared lost.
    lost: BTreeMap<Key, Instant>,
    open: Option<Open>,
}

/// A congestion event that may be undone.
struct Open {
    began: Instant,
    losses: u64,
    window: Option<u64>,
}

impl UndoRule for FewOrAny {
    fn on_lost(&mut self, lost: &Loss) {
        self.lost.insert(lost.packet, lost.now);
        if lost.begins {
            // It never goes back to slow start.
            let window = lost.window.map(|packets| packets * BETA_TENTHS / 10);
            self.open = (!lost.slow_start).then_some(Open { began: lost.now, losses: 1, window });
        } else if let Some(open) = &mut self.open {
            open.losses += 1;
        }
    }

    fn on_ack(&mut self, ack: &News<'_>) -> bool {
        let late = ack.late.iter().filter(|key| self.lost.remove(key).is_some()).count();
        let recovered = |open: &Open| ack.largest_sent > open.began;
        let few = |open: &Open| open.window.is_some_and(|packets| open.losses < FEW.max(packets * FEW_PERCENT / 100));
        let undoes = self.open.take_if(|open| late > 0 || (recovered(open) && few(open))).is_some();
        // The list of sent packets loses its first packets a round trip after they were declared lost.
        forget(&mut self.lost, |_, declared| ack.now.since(declared) >= ack.smoothed_rtt);
        undoes
    }
}
