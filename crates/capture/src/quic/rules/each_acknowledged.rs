//! *Looks at* each packet declared lost, until a second after it left.
//! *Decides* spurious at every late ACK, and restores the state from before the last recovery.
//! *Blind to* whether the other losses were real.
//! *From* picoquic d199d45, `picoquic/frames.c`, `picoquic_check_spurious_retransmission`, and
//! `picoquic/cubic.c`, `cubic_correct_spurious`.

use super::{Entry, Loss, News, UndoRule, forget};
use crate::quic::qlog::Key;
use eifel_base::time::{Duration, Instant};
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "each-acknowledged",
    stacks: "picoquic d199d45 (CUBIC)",
    source: "picoquic/frames.c, picoquic_check_spurious_retransmission and picoquic_dequeue_old_retransmitted_packets; \
             picoquic/cubic.c, cubic_correct_spurious",
    make: || Box::new(EachAcknowledged::default()),
};

/// How long after it left a packet's late ACK counts, before the last acknowledged packet left.
const REMEMBERED: Duration = Duration::from_secs(1);

/// Undoes at each late ACK.
#[derive(Default)]
pub struct EachAcknowledged {
    lost: BTreeMap<Key, Instant>,
}

impl UndoRule for EachAcknowledged {
    fn on_lost(&mut self, lost: &Loss) {
        self.lost.insert(lost.packet, lost.sent);
    }

    fn on_ack(&mut self, ack: &News<'_>) -> bool {
        let late = ack.late.iter().filter(|key| self.lost.remove(key).is_some()).count();
        forget(&mut self.lost, |_, sent| sent + REMEMBERED < ack.largest_sent);
        late > 0
    }
}
