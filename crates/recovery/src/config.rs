//! The algorithms that a sender is built from.

use crate::congest::Congest;
use crate::detect::Detector;
use crate::grant::Grant;
use crate::pace::Pace;
use crate::recover::Recovery;
use crate::registry::{Choice, Error, part};
use crate::respond::Response;
use crate::rto::Rto;
use crate::rto::after_spurious::AfterSpurious;

/// One algorithm for each seam.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The detector that acts.
    pub detect: Choice,
    /// Detectors that only watch.
    pub observers: Vec<Choice>,
    /// How much a verdict of spurious undoes.
    pub respond: Choice,
    /// Whether the response may undo anything.
    pub grant: Choice,
    /// The retransmission timer.
    pub rto: Choice,
    /// The timer's adaptation to spurious timeouts.
    pub after_spurious: Choice,
    /// Loss recovery.
    pub recover: Choice,
    /// Congestion control.
    pub congest: Choice,
    /// Burst limit or pacing.
    pub pace: Choice,
}

impl Default for Config {
    /// Returns a careful present-day sender: RFC 6675, RFC 6298, Eifel detection and RFC 4015.
    fn default() -> Self {
        Self {
            // A detector that an RFC specifies, in the variant that a receiver cannot forge. [rfc4015:2] [rfc4015:5]
            detect: Choice::named("eifel-timestamps"),
            observers: Vec::new(),
            respond: Choice::named("rfc4015"),
            grant: Choice::named("once-a-round-trip"),
            rto: Choice::named("rfc6298"),
            after_spurious: Choice::named("none"),
            recover: Choice::named("rfc6675"),
            congest: Choice::named("reno"),
            pace: Choice::named("none"),
        }
    }
}

/// The algorithms of one path.
pub(crate) struct Parts {
    /// The first one acts, the others watch.
    pub(crate) detectors: Vec<Box<dyn Detector>>,
    pub(crate) response: Box<dyn Response>,
    pub(crate) grant: Box<dyn Grant>,
    pub(crate) rto: Box<dyn Rto>,
    pub(crate) after_spurious: Box<dyn AfterSpurious>,
    pub(crate) congest: Box<dyn Congest>,
    /// `None` if the chosen algorithm never holds anything back.
    pub(crate) pace: Option<Box<dyn Pace>>,
}

impl Config {
    /// Checks that a sender can be built from these choices.
    ///
    /// # Errors
    /// An algorithm or parameter that the registry does not know.
    pub fn check(&self) -> Result<(), Error> {
        self.build().map(|_| ())
    }

    pub(crate) fn build(&self) -> Result<(Parts, Box<dyn Recovery>), Error> {
        let detectors = std::iter::once(&self.detect).chain(&self.observers).map(part::detector);
        let parts = Parts {
            detectors: detectors.collect::<Result<_, _>>()?,
            response: part::response(&self.respond)?,
            grant: part::grant(&self.grant)?,
            rto: part::rto(&self.rto)?,
            after_spurious: part::after_spurious(&self.after_spurious)?,
            congest: part::congest(&self.congest)?,
            pace: Some(part::pace(&self.pace)?).filter(|pace| pace.holds_back()),
        };
        Ok((parts, part::recovery(&self.recover)?))
    }
}
