//! The probe of a path's detector: new data leaves before further retransmissions (RFC 5682, section 3.1, step 2b).

use super::{Engine, Go, Offer, PathId, What};
use crate::detect::Judgement;
use eifel_base::time::Instant;

/// Packets that a probe sends.
const PACKETS: u32 = 2;

/// The probe that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Probe {
    path: PathId,
    /// Packets of new data that may still leave.
    packets: u32,
}

impl Engine {
    /// Begins, continues or ends a probe, as the judgement of a path's detector on a SACK says. Returns the judgement after
    /// a refusal: two paths cannot probe at once.
    pub(super) fn run_probe(&mut self, path: PathId, judgement: Judgement) -> Judgement {
        match (judgement, self.probe) {
            (Judgement::Probe, None) => self.probe = Some(Probe { path, packets: PACKETS }),
            (Judgement::Probe, Some(probe)) if probe.path != path => {
                return self.destinations[path.0].path.watch.refuse_probe();
            }
            (Judgement::Settled(..), Some(probe)) if probe.path == path => self.probe = None,
            _ => {}
        }
        judgement
    }

    /// Finds the new data that leaves for the probe; nothing else may leave meanwhile. Returns `None` if there is no probe,
    /// or it ends here because nothing new can be sent on its path.
    pub(super) fn poll_probe(&mut self, now: Instant, offer: &Offer) -> Option<Option<Go>> {
        let Probe { path, packets } = self.probe?;
        let room = offer.a_rwnd.saturating_sub(self.ledger.data_under_way());
        let fits = offer.next.is_some_and(|next| room >= u64::from(next.data));
        if offer.path == path && fits && packets > 0 {
            return Some(Some(Go { path, what: What::New { room } }));
        }
        if packets < PACKETS {
            return Some(None);
        }
        self.probe = None;
        self.look(now, path);
        let outstanding = self.ledger.outstanding(path);
        let target = &mut self.destinations[path.0].path;
        let judgement = target.watch.refuse_probe();
        let resumes = target.settle_without_ack(judgement, outstanding);
        debug_assert!(resumes.is_none(), "no detector takes a refusal for evidence that nothing was lost");
        None
    }

    /// Takes note that a packet has left, which may be the probe's.
    pub(super) fn count_probe(&mut self, go: &Go) {
        if let (Some(probe), What::New { .. }) = (&mut self.probe, go.what) {
            probe.packets = probe.packets.saturating_sub(1);
        }
    }
}
