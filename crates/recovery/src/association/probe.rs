//! The probe of a path's detector: new data is sent before further retransmissions (RFC 5682,
//! section 3.1, step 2b).

use super::{Engine, Offer, PacketContents, PacketToSend, PathId};
use crate::detect::Judgement;
use eifel_base::time::Instant;

/// Packets that a probe sends.
const PACKETS: u32 = 2;

/// The probe that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Probe {
    path: PathId,
    /// Packets of new data that may still be sent.
    packets: u32,
}

impl Engine {
    /// Begins, continues or ends a probe, as the judgement of a path's detector on a SACK requires.
    /// If another path is already probing, the probe is refused. Returns the judgement, or the one
    /// after the refusal.
    pub(super) fn run_probe(&mut self, path: PathId, judgement: Judgement) -> Judgement {
        match (judgement, self.probe) {
            (Judgement::Probe, None) => self.probe = Some(Probe { path, packets: PACKETS }),
            (Judgement::Probe, Some(probe)) if probe.path != path => {
                return self.destinations[path.0].path.watch.refuse_probe();
            }
            (Judgement::Settled(..) | Judgement::NothingResent(_), Some(probe)) if probe.path == path => {
                self.probe = None
            }
            _ => {}
        }
        judgement
    }

    /// Returns the packet of new data to send for the probe. `Some(None)` means that nothing may be
    /// sent until the probe is judged. `None` means that there is no probe, or that it ends here
    /// because nothing new can be sent on its path.
    pub(super) fn poll_probe(&mut self, now: Instant, offer: &Offer) -> Option<Option<PacketToSend>> {
        let Probe { path, packets } = self.probe?;
        let room = offer.a_rwnd.saturating_sub(self.ledger.data_under_way());
        let fits = offer.next.is_some_and(|next| room >= u64::from(next.data));
        if offer.path == path && fits && packets > 0 {
            return Some(Some(PacketToSend { path, contents: PacketContents::New { room } }));
        }
        if packets < PACKETS {
            return Some(None);
        }
        self.probe = None;
        self.update_view(now, path);
        let outstanding = self.ledger.outstanding(path);
        let target = &mut self.destinations[path.0].path;
        let judgement = target.watch.refuse_probe();
        let resumes = target.apply_verdict_now(judgement, None, outstanding);
        debug_assert!(resumes.is_none(), "no detector takes a refusal for evidence that nothing was lost");
        None
    }

    /// Counts a sent packet, if it is the probe's.
    pub(super) fn count_probe(&mut self, go: &PacketToSend) {
        if let (Some(probe), PacketContents::New { .. }) = (&mut self.probe, go.contents) {
            probe.packets = probe.packets.saturating_sub(1);
        }
    }
}
