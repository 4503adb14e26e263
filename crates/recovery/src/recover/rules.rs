//! The settings that all recovery algorithms share.

use super::Resume;
use crate::registry::{Parameter, Parameters};

/// The settings that all recovery algorithms share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// DupThresh: duplicate ACKs that begin a fast retransmit.
    pub duplicate_threshold: u32,
    /// How DupThresh rises after a spurious fast retransmit.
    pub raised: Raised,
    /// Whether duplicate ACKs allow new segments before a fast retransmit: two by RFC 3042, or as many as RFC 6675 finds
    /// room for.
    pub limited_transmit: bool,
    /// Whether duplicate ACKs below the recovery point do not begin another fast retransmit (RFC 2582, section 3; RFC
    /// 6582). Without it all do, as in the original Reno.
    pub bugfix: bool,
    /// Whether duplicate ACKs below the recovery point of a spurious timeout begin a fast
    /// retransmit: nothing was retransmitted, so they can only mean a loss.
    pub below_spurious_point: bool,
    /// How sending continues after a spurious timeout.
    pub resume: Resume,
    /// Selects the rules where the algorithm's source and ns-2 differ.
    pub follows: Follows,
}

/// How DupThresh rises after a fast retransmit that was judged spurious (Blanton and Allman).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Raised {
    Never,
    ByOne,
    /// To one more than the duplicates that the reordering caused, if that is more.
    AboveLength,
}

/// The rules where an algorithm's source and ns-2.35 differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follows {
    /// The RFC or paper that the algorithm is from.
    Source,
    /// The simulator that papers measured with.
    Ns2,
}

pub(super) const DUPLICATE_THRESHOLD: Parameter =
    Parameter::integer("duplicate_threshold", "DupThresh: duplicate ACKs that begin a fast retransmit", 3, (1, 1000));
pub(super) const RAISED: Parameter = Parameter::word(
    "after_spurious_fast_retransmit",
    "how DupThresh rises (Blanton and Allman): not, by one, or above the reordering's duplicates; a timeout resets it",
    "keep",
    &["keep", "one-more", "above-length"],
);
pub(super) const LIMITED_TRANSMIT: Parameter = Parameter::switch(
    "limited_transmit",
    "the first two duplicate ACKs release a new segment each (RFC 3042); rfc6675: as pipe falls",
    true,
);
pub(super) const BUGFIX: Parameter =
    Parameter::switch("bugfix", "no second fast retransmit below the recovery point (RFC 2582, RFC 6582)", true);
pub(super) const BELOW_SPURIOUS_POINT: Parameter = Parameter::word(
    "fast_retransmit_below_recovery_point",
    "after a spurious timeout, whether duplicate ACKs below its recovery point count",
    "allowed",
    &["allowed", "blocked"],
);
pub(super) const RESUME: Parameter = Parameter::word(
    "after_spurious_timeout",
    "how sending continues after a timeout that was judged spurious",
    "next-unsent",
    &["next-unsent", "go-back-n"],
);

pub(super) const FOLLOWS: Parameter =
    Parameter::word("follows", "whose rules hold where the source and ns-2.35 differ", "source", &["source", "ns-2"]);

/// The parameters of an algorithm that has only the shared ones.
pub(super) const RULES: &[Parameter] =
    &[DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, BUGFIX, BELOW_SPURIOUS_POINT, RESUME, FOLLOWS];

impl Rules {
    pub(super) fn of(parameters: &Parameters) -> Self {
        Self {
            duplicate_threshold: parameters.integer("duplicate_threshold") as u32,
            limited_transmit: parameters.switch("limited_transmit"),
            ..Self::without_limits(parameters)
        }
    }

    /// Reads the settings of an algorithm with a DupThresh and a Limited Transmit of its own.
    pub(super) fn without_limits(parameters: &Parameters) -> Self {
        Self {
            duplicate_threshold: 3,
            raised: Raised::Never,
            limited_transmit: true,
            bugfix: parameters.switch("bugfix"),
            below_spurious_point: parameters
                .word("fast_retransmit_below_recovery_point", &[("allowed", true), ("blocked", false)]),
            resume: parameters
                .word("after_spurious_timeout", &[("next-unsent", Resume::NextUnsent), ("go-back-n", Resume::GoBackN)]),
            follows: Follows::Source,
        }
    }

    /// Reads the settings of an algorithm that ns-2 has too.
    pub(super) fn of_either(parameters: &Parameters) -> Self {
        let follows = parameters.word("follows", &[("source", Follows::Source), ("ns-2", Follows::Ns2)]);
        Self { follows, ..Self::of(parameters) }
    }

    /// Reads the settings of an algorithm whose DupThresh may rise.
    pub(super) fn of_rising(parameters: &Parameters) -> Self {
        let words = [("keep", Raised::Never), ("one-more", Raised::ByOne), ("above-length", Raised::AboveLength)];
        Self { raised: parameters.word("after_spurious_fast_retransmit", &words), ..Self::of(parameters) }
    }
}
