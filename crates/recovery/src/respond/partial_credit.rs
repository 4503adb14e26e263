//! *Looks at* the needless share of the episode's retransmissions.
//! *Decides* to restore the window if all of them were needless. If some were, it slow-starts up to the cut window plus
//! that share of the cut, but never beyond 0.7 of the old window.
//! *Blind to* where in the window the losses were; it needs a detector that judges each retransmission.
//! *From* this project: `docs/internals/partial_credit.md` defines it and says why it is safe.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::detect::NeedlessShare;
use crate::episode::Saved;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "partial-credit",
    summary: "after a partly genuine loss, undoes in proportion, up to 0.7 of the old window",
    source: "docs/internals/partial_credit.md",
    ..Entry::response(|_| Box::new(PartialCredit))
};

/// beta_cubic in tenths: the share of a window that RFC 9438, section 4.6, leaves after any loss.
const MOST_TENTHS: u64 = 7;

/// Undo in proportion.
#[derive(Clone, Debug)]
pub struct PartialCredit;

impl Response for PartialCredit {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        Adjust::to(saved.window)
    }

    fn respond_partly(&mut self, share: NeedlessShare, saved: &Saved, now: &Window) -> Window {
        let (old, cut) = (saved.window.cwnd, saved.reduced.ssthresh);
        let part = old.saturating_sub(cut) * u64::from(share.needless) / u64::from(share.resent.max(1));
        let most = old * MOST_TENTHS / 10;
        Window { ssthresh: now.ssthresh.max((cut + part).min(most)), ..*now }
    }
}
