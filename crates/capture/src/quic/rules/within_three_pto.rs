//! *Looks at* the latest packets declared lost in one number space, at most half a window of them,
//! until three probe timeouts after the declaration.
//! *Decides* spurious when an ACK leaves none of them missing.
//! *Blind to* losses that it forgot: they no longer speak against an undo.
//! *From* ngtcp2 f3af8b14, `lib/ngtcp2_rtb.c`, `ngtcp2_rtb_recv_ack`, `rtb_detect_lost_pkt` and
//! `ngtcp2_rtb_remove_excessive_lost_pkt`, and `lib/ngtcp2_conn.c`, `ngtcp2_conn_remove_lost_pkt`.

use super::{Entry, Loss, News, UndoRule, forget};
use crate::quic::qlog::{Key, Space};
use eifel_base::time::Instant;
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "all-acknowledged-within-three-pto",
    stacks: "ngtcp2 f3af8b14 (CUBIC)",
    source: "lib/ngtcp2_rtb.c, ngtcp2_rtb_recv_ack and ngtcp2_rtb_remove_excessive_lost_pkt; lib/ngtcp2_conn.c, \
             ngtcp2_conn_remove_lost_pkt; lib/ngtcp2_cc.c, ngtcp2_cc_cubic_cc_on_spurious_congestion",
    make: || Box::new(WithinThreePto::default()),
};

/// The least and the most losses that are remembered.
const LEAST: u64 = 3;
const MOST: u64 = 256;

/// Undoes when all remembered losses of a number space are acknowledged.
#[derive(Default)]
pub struct WithinThreePto {
    /// Losses, and when they were declared.
    lost: BTreeMap<Key, Instant>,
    /// Whether the window from before the latest event is saved.
    saved: bool,
}

impl WithinThreePto {
    fn of_space(&self, space: Space, path: u64) -> impl DoubleEndedIterator<Item = Key> {
        self.lost.range((space, path, 0)..=(space, path, u64::MAX)).map(|(key, _)| *key)
    }
}

impl UndoRule for WithinThreePto {
    fn on_lost(&mut self, lost: &Loss) {
        self.lost.insert(lost.packet, lost.now);
        self.saved |= lost.begins;
        let (space, path, _) = lost.packet;
        let remembered = lost.window.map_or(LEAST, |packets| (packets / 2).clamp(LEAST, MOST));
        let forgotten = self.of_space(space, path).nth_back(remembered as usize);
        forgotten.and_then(|oldest| self.lost.remove(&oldest));
    }

    fn on_ack(&mut self, ack: &News<'_>) -> bool {
        let (space, path, _) = ack.largest;
        let late = ack.late.iter().filter(|key| self.lost.remove(key).is_some()).count();
        let undoes = late > 0 && self.of_space(space, path).next().is_none() && std::mem::take(&mut self.saved);
        let three_pto = (ack.pto() + ack.max_ack_delay) * 3;
        forget(&mut self.lost, |_, declared| ack.now.since(declared) >= three_pto);
        undoes
    }
}
