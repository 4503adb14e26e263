//! New data before further retransmissions, where the acting detector asks for it (RFC 5682, section 2.1, step 2b).

use super::{Engine, Offer, Probe};
use crate::detect::Judgement;
use crate::fact::{Fact, Refusal, Transmission};
use eifel_base::time::Instant;

/// Segments that a probe sends.
const SEGMENTS: u64 = 2;

impl Engine {
    /// The acting detector's judgement on an ACK begins, continues or ends a probe.
    pub(super) fn run_probe(&mut self, judgement: Judgement) {
        self.probe = match (judgement, self.probe) {
            (Judgement::Probe, Probe::None) => Probe::Wanted { room: SEGMENTS * u64::from(self.view.mss) },
            (Judgement::Probe, probe) => probe,
            _ => Probe::None,
        };
    }

    /// While a probe is under way nothing but it may go. `None` where there is none, or it was refused just now.
    pub(super) fn probe_with_new(&mut self, now: Instant, offer: &Offer) -> Option<Option<Transmission>> {
        let (Probe::Wanted { room } | Probe::Sent { room }) = self.probe else { return None };
        let unsent = offer.end > self.board.nxt() && offer.limit > self.board.nxt();
        let sent = if unsent && room > 0 { self.send_new(now, offer, room) } else { None };
        match (sent, self.probe) {
            (Some(transmission), _) => {
                self.granted = None;
                self.probe = Probe::Sent { room: room.saturating_sub(u64::from(transmission.len)) };
                Some(Some(transmission))
            }
            (None, Probe::Wanted { .. }) => {
                self.refuse_probe(now);
                None
            }
            (None, _) => Some(None),
        }
    }

    fn refuse_probe(&mut self, now: Instant) {
        self.probe = Probe::None;
        self.granted = None;
        let Some((0, acting)) = self.detectors.first_mut() else { return };
        let judgement = acting.observe(&Fact::NotProbed(Refusal::NothingNew), &self.view);
        self.report(0, judgement);
        self.settle_by_itself(now, judgement);
    }
}
