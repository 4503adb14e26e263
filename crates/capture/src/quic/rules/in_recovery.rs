//! *Looks at* packets declared lost, until two probe timeouts after they left.
//! *Decides* spurious when an ACK leaves none of them missing, while the sender is in recovery.
//! *Blind to* late ACKs after recovery, and to losses that it forgot.
//! *From* msquic 2.6.0, `src/core/loss_detection.c`, `QuicLossDetectionProcessAckBlocks`, and
//! `src/core/cubic.c`, `CubicCongestionControlOnSpuriousCongestionEvent`.

use super::{Entry, Loss, News, UndoRule, forget};
use crate::quic::qlog::{Key, Space};
use eifel_base::time::Instant;
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "all-acknowledged-in-recovery",
    stacks: "msquic 2.6.0",
    source: "src/core/loss_detection.c, QuicLossDetectionProcessAckBlocks; src/core/cubic.c, \
             CubicCongestionControlOnSpuriousCongestionEvent",
    make: || Box::new(InRecovery::default()),
};

/// Undoes within recovery when all recent losses are acknowledged.
#[derive(Default)]
pub struct InRecovery {
    lost: BTreeMap<Key, Instant>,
    /// The largest number sent when recovery began; `None` outside of recovery.
    recovery: Option<(Space, u64)>,
}

impl UndoRule for InRecovery {
    fn on_lost(&mut self, lost: &Loss) {
        // Old losses are forgotten when the next ones are looked for.
        self.lost.insert(lost.packet, lost.sent);
        if lost.begins {
            self.recovery = Some((lost.packet.0, lost.largest_sent));
        }
    }

    fn on_ack(&mut self, ack: &News<'_>) -> bool {
        let late = ack.late.iter().filter(|key| self.lost.remove(key).is_some()).count();
        let undoes = late > 0 && self.lost.is_empty() && self.recovery.take().is_some();
        let (space, _, largest) = ack.largest;
        self.recovery = self.recovery.filter(|(of, sent)| space != *of || largest <= *sent);
        let two_pto = (ack.pto() + ack.max_ack_delay) * 2;
        forget(&mut self.lost, |(_, _, number), sent| number < largest && ack.now.since(sent) > two_pto);
        undoes
    }
}
