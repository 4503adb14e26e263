//! One algorithm by itself: what an engine is put together from, and what drives a seam without an engine.

use super::{Build, Choice, Error, Parameters, Seam, find};
use crate::congest::Congest;
use crate::detect::Detector;
use crate::grant::Grant;
use crate::pace::Pace;
use crate::recover::Recovery;
use crate::respond::Response;
use crate::rto::Rto;
use crate::rto::after_spurious::AfterSpurious;

macro_rules! parts {
    ($($(#[$said:meta])* $name:ident: $seam:ident -> $part:ty;)*) => {$(
        $(#[$said])*
        ///
        /// # Errors
        /// An algorithm or parameter that the registry does not know, or a value out of its bounds.
        pub fn $name(choice: &Choice) -> Result<Box<$part>, Error> {
            let entry = find(Seam::$seam, &choice.name)?;
            let Build::$seam(build) = entry.build else { unreachable!("find looks in one seam") };
            Ok(build(&Parameters::check(entry, &choice.parameters)?))
        }
    )*};
}

parts! {
    /// A detector.
    detector: Detect -> dyn Detector;
    /// A response.
    response: Respond -> dyn Response;
    /// Whether an undo is granted.
    grant: Grant -> dyn Grant;
    /// A retransmission timer.
    rto: Rto -> dyn Rto;
    /// What a timer learns from a spurious timeout.
    after_spurious: AfterSpurious -> dyn AfterSpurious;
    /// Loss recovery.
    recovery: Recover -> dyn Recovery;
    /// Congestion control.
    congest: Congest -> dyn Congest;
    /// A burst limit, or pacing.
    pace: Pace -> dyn Pace;
}
