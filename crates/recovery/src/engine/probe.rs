//! The probe of a detector: new data is sent before further retransmissions (RFC 5682, section 2.1,
//! step 2b).

use super::{Engine, Offer};
use crate::detect::Judgement;
use crate::fact::Transmission;
use eifel_base::time::Instant;

/// Segments that a probe sends.
const SEGMENTS: u64 = 2;

/// The current probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Probe {
    /// Bytes of new data that the probe may still send.
    room: u64,
    /// Whether it has sent new data.
    pub(super) sent: bool,
}

impl Engine {
    /// Starts, continues or ends a probe, as the acting detector's judgement on an ACK asks for.
    pub(super) fn run_probe(&mut self, judgement: Judgement) {
        let whole = Probe { room: SEGMENTS * u64::from(self.path.watch.view().mss), sent: false };
        self.probe = (judgement == Judgement::Probe).then(|| self.probe.unwrap_or(whole));
    }

    /// Sends new data for the current probe. Nothing else may be sent during a probe. Returns
    /// `None` without a probe, or if the probe ends here because no new data can be sent for it.
    pub(super) fn probe_with_new(&mut self, now: Instant, offer: &Offer) -> Option<Option<Transmission>> {
        let Probe { room, sent } = self.probe?;
        let unsent = offer.end > self.board.nxt() && offer.limit > self.board.nxt();
        let transmission = if unsent && room > 0 { self.send_new(now, offer, room) } else { None };
        match transmission {
            Some(transmission) => {
                self.room = None;
                self.probe = Some(Probe { room: room.saturating_sub(u64::from(transmission.len)), sent: true });
                Some(Some(transmission))
            }
            None if sent => Some(None),
            None => {
                self.probe = None;
                self.room = None;
                let judgement = self.path.watch.refuse_probe();
                self.apply_verdict(judgement, None);
                None
            }
        }
    }
}
