//! The ways in which slow start ends before a loss.

use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::{Loss, Window};
use crate::registry::{Parameter, Parameters};
use crate::view::View;

/// The rule that ends slow start below ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowStart {
    /// Only a loss ends it (RFC 5681).
    Standard,
    /// A train of ACKs or a longer round trip ends it: HyStart.
    HyStart,
    /// A longer round trip over several rounds ends it: HyStart++ (RFC 9406).
    HyStartPlusPlus,
}

pub(super) const SLOW_START: Parameter = Parameter::word(
    "slow_start",
    "the signal that ends slow start before a loss: none (RFC 5681), a train of ACKs or a longer round trip (HyStart, \
     as in Linux), or a longer round trip over several rounds (HyStart++, RFC 9406)",
    "standard",
    &["standard", "hystart", "hystart++"],
);

impl SlowStart {
    pub(super) fn of(parameters: &Parameters) -> Self {
        let words = [("standard", Self::Standard), ("hystart", Self::HyStart), ("hystart++", Self::HyStartPlusPlus)];
        parameters.word("slow_start", &words)
    }

    /// Returns the state that watches a connection's slow starts, at the beginning.
    pub(super) fn watched(self) -> Watched {
        match self {
            Self::Standard => Watched::No,
            Self::HyStart => Watched::HyStart(Box::new(HyStart::NEW)),
            Self::HyStartPlusPlus => Watched::HyStartPlusPlus(Box::new(HyStartPlusPlus::NEW)),
        }
    }
}

/// The state that watches a connection's slow starts. Most connections have none and pay nothing
/// for it.
#[derive(Clone, Debug)]
pub(super) enum Watched {
    No,
    HyStart(Box<HyStart>),
    HyStartPlusPlus(Box<HyStartPlusPlus>),
}

impl Watched {
    /// Returns the window on an ACK, before it grows. HyStart may lower ssthresh.
    #[inline]
    pub(super) fn before_growth(&mut self, now: &Window, view: &View) -> Window {
        match self {
            Self::HyStart(hystart) if now.cwnd < now.ssthresh => hystart.before_growth(now, view),
            _ => *now,
        }
    }

    /// Returns the window after an ACK that has let it grow from `now` to `grown`.
    #[inline]
    pub(super) fn after_growth(&mut self, now: &Window, grown: Window, view: &View) -> Window {
        match self {
            Self::HyStartPlusPlus(hystart) if now.cwnd < now.ssthresh => hystart.after_growth(now, grown, view),
            _ => grown,
        }
    }

    pub(super) fn on_loss(&mut self, loss: &Loss, view: &View) {
        match self {
            Self::HyStart(hystart) => hystart.on_loss(loss.cause, view),
            Self::HyStartPlusPlus(hystart) if !loss.timeout_again => hystart.on_loss(),
            _ => {}
        }
    }

    pub(super) fn on_undo(&mut self) {
        if let Self::HyStartPlusPlus(hystart) = self {
            hystart.on_undo();
        }
    }
}
