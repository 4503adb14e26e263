//! *Looks at* which share of what the episode sent again was needless.
//! *Decides* on the window as it was if all of it; if a part, on slow start up to the cut window and that share of what was
//! cut, but never beyond 0.7 of the old window.
//! *Blind to* where in the window the losses were; it needs a detector that judges each retransmission.
//! *From* this project: `docs/partial_credit.md` defines it and says why it is safe.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::detect::Share;
use crate::episode::Saved;

/// beta_cubic in tenths: what RFC 9438, section 4.6, leaves of a window after any loss.
const MOST_TENTHS: u64 = 7;

/// Undo in proportion.
#[derive(Clone, Debug)]
pub struct PartialCredit;

impl Response for PartialCredit {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        Adjust::to(saved.window)
    }

    fn credit(&mut self, share: Share, saved: &Saved, now: &Window) -> Window {
        let (old, cut) = (saved.window.cwnd, saved.reduced.ssthresh);
        let part = old.saturating_sub(cut) * u64::from(share.needless) / u64::from(share.resent.max(1));
        let most = old * MOST_TENTHS / 10;
        Window { ssthresh: now.ssthresh.max((cut + part).min(most)), ..*now }
    }
}
