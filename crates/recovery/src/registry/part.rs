//! Builds one algorithm from its name. Engines are composed of these parts, and models use single
//! parts without an engine.

use core::fmt;

use super::{Choice, Entry, Error, Parameters, Seam};
use crate::congest::Congest;
use crate::credit::Credit;
use crate::detect::Detector;
use crate::grant::Grant;
use crate::pace::Pace;
use crate::recover::Recovery;
use crate::respond::Response;
use crate::retransmit::Retransmit;
use crate::rto::Rto;
use crate::rto::after_spurious::AfterSpurious;

/// Makes an algorithm of a seam.
pub(crate) enum Maker<T: ?Sized + 'static> {
    /// One of this crate.
    Listed(fn(&Parameters) -> Box<T>),
    /// One that a program [provides](super::provide).
    Provided(&'static (dyn Fn(&Parameters) -> Box<T> + Send + Sync)),
}

impl<T: ?Sized> fmt::Debug for Maker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Listed(_)) { "Listed" } else { "Provided" })
    }
}

macro_rules! parts {
    ($($(#[$said:meta])* $name:ident: $seam:ident -> $part:ty;)*) => {
        /// The constructor of an algorithm.
        #[derive(Debug)]
        pub(crate) enum Build {
            $($seam(Maker<$part>),)*
        }

        /// What makes the algorithms that a program [provides](super::provide), by seam.
        #[derive(Clone, Copy)]
        pub enum Provided {
            $($seam(&'static (dyn Fn(&Parameters) -> Box<$part> + Send + Sync)),)*
        }

        impl Provided {
            pub(super) fn build(self) -> (Seam, Build) {
                match self {
                    $(Self::$seam(make) => (Seam::$seam, Build::$seam(Maker::Provided(make))),)*
                }
            }
        }

        impl Entry {
            /// Returns whether a program provides it, and it is not of this crate.
            pub fn is_provided(&self) -> bool {
                match &self.build {
                    $(Build::$seam(maker) => matches!(maker, Maker::Provided(_)),)*
                }
            }

            $(
            /// Creates an entry without name, summary and source, and with defaults for the rest.
            pub(crate) const fn $name(build: fn(&Parameters) -> Box<$part>) -> Self {
                let (name, summary, source) = ("", "", "");
                let (seam, build) = (Seam::$seam, Build::$seam(Maker::Listed(build)));
                let (parameters, needs, weakness, probes) = (&[], None, None, false);
                Self { seam, name, summary, source, parameters, needs, weakness, probes, build }
            }
        )*}

        impl fmt::Debug for Provided {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$seam(_) => f.write_str(stringify!($seam)),)*
                }
            }
        }

        $(
            $(#[$said])*
            ///
            /// # Errors
            /// An algorithm or parameter that the registry does not know, or a value out of its bounds.
            pub fn $name(choice: &Choice) -> Result<Box<$part>, Error> {
                let entry = Seam::$seam.found(&choice.name)?;
                let Build::$seam(build) = &entry.build else { unreachable!("a seam lists its own algorithms") };
                let parameters = Parameters::check(entry, &choice.parameters)?;
                Ok(match build {
                    Maker::Listed(build) => build(&parameters),
                    Maker::Provided(build) => build(&parameters),
                })
            }
        )*
    };
}

parts! {
    /// Builds a detector.
    detector: Detect -> dyn Detector;
    /// Builds a response.
    response: Respond -> dyn Response;
    /// Builds a grant, which guards the window.
    grant: Grant -> dyn Grant;
    /// Builds a retransmission timer.
    rto: Rto -> dyn Rto;
    /// Builds an adaptation of the timer to spurious timeouts.
    after_spurious: AfterSpurious -> dyn AfterSpurious;
    /// Builds a loss recovery algorithm.
    recovery: Recover -> dyn Recovery;
    /// Builds a congestion control algorithm.
    congest: Congest -> dyn Congest;
    /// Builds a burst limit or a pacer.
    pace: Pace -> dyn Pace;
    /// Builds a policy that chooses the path of a retransmission.
    retransmit: Retransmit -> dyn Retransmit;
    /// Builds a rule for which acknowledged chunks let a path's window grow.
    credit: Credit -> dyn Credit;
}
