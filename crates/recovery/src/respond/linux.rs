//! *Looks at* the window before the loss signal. If the timer expired within fast recovery, it
//! looks at the window before that recovery.
//! *Decides* for the old cwnd, and for the old ssthresh or three quarters of the old cwnd, whichever
//! is more. Neither falls below its value now. CUBIC begins a new curve at the restored window; its
//! parameter restores the old curve instead.
//! *Blind to* the flight: what has left the network meanwhile is sent at once, unless something
//! paces. It does not change the timer either. After an ECN-Echo in the episode it
//! restores nothing.
//! *From* Linux 6.18, `undo_cwnd` of its Reno and CUBIC; the window after an undo is in `TCP_INFO`.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::{Entry, Parameter};

pub(super) const ENTRY: Entry = Entry {
    name: "linux",
    summary: "restores cwnd, and ssthresh to at least 3/4 of it; CUBIC's curve begins anew",
    source: "Linux 6.18",
    parameters: &[Parameter::switch(
        "restore_epoch",
        "restore CUBIC's curve and its epoch too (RFC 9438, section 4.9), which Linux does not",
        false,
    )],
    ..Entry::response(|parameters| Box::new(Linux { restore_epoch: parameters.switch("restore_epoch") }))
};

/// Linux's undo.
#[derive(Clone, Debug)]
pub struct Linux {
    restore_epoch: bool,
}

impl Response for Linux {
    fn respond(&mut self, verdict: &Verdict, _: &Saved, now: &Window) -> Adjust {
        if verdict.ece_in_episode {
            return Adjust::to(*now);
        }
        let Window { cwnd, ssthresh } = verdict.before_repair;
        // Linux counts whole segments.
        let mss = u64::from(verdict.mss).max(1);
        let segments = cwnd / mss;
        let three_quarters = (segments / 2 + segments / 4) * mss;
        Adjust::to(Window { cwnd: now.cwnd.max(cwnd), ssthresh: now.ssthresh.max(ssthresh).max(three_quarters) })
    }

    fn restores_growth(&self) -> bool {
        self.restore_epoch
    }
}
