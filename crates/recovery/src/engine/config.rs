//! Which algorithms an engine is made of.

use crate::congest::Congest;
use crate::detect::Detector;
use crate::grant::Grant;
use crate::pace::Pace;
use crate::recover::Recovery;
use crate::registry::{Choice, Error, part};
use crate::respond::Response;
use crate::rto::Rto;
use crate::rto::after_spurious::AfterSpurious;

/// One choice for each seam.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The detector that acts.
    pub detect: Choice,
    /// Detectors that only watch.
    pub observers: Vec<Choice>,
    /// The response.
    pub respond: Choice,
    /// Whether it may undo.
    pub grant: Choice,
    /// The retransmission timer.
    pub rto: Choice,
    /// What the timer learns from a spurious timeout.
    pub after_spurious: Choice,
    /// Loss recovery.
    pub recover: Choice,
    /// Congestion control.
    pub congest: Choice,
    /// Burst limit or pacing.
    pub pace: Choice,
}

impl Default for Config {
    /// What a careful sender uses today: RFC 6675, RFC 6298, Eifel detection and RFC 4015.
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

/// The algorithms themselves.
pub(super) struct Parts {
    /// Those that judge, each with its place: 0 acts, the others watch.
    pub(super) detectors: Vec<(usize, Box<dyn Detector>)>,
    pub(super) response: Box<dyn Response>,
    pub(super) grant: Box<dyn Grant>,
    pub(super) rto: Box<dyn Rto>,
    pub(super) after_spurious: Box<dyn AfterSpurious>,
    pub(super) recovery: Box<dyn Recovery>,
    pub(super) congest: Box<dyn Congest>,
    /// `None` where nothing is held back.
    pub(super) pace: Option<Box<dyn Pace>>,
}

impl Config {
    /// Whether an engine can be made of it.
    ///
    /// # Errors
    /// An algorithm or parameter that the registry does not know.
    pub fn check(&self) -> Result<(), Error> {
        self.build().map(|_| ())
    }

    pub(super) fn build(&self) -> Result<Parts, Error> {
        let mut detectors = Vec::new();
        for (place, choice) in std::iter::once(&self.detect).chain(&self.observers).enumerate() {
            let detector = part::detector(choice)?;
            if detector.judges() {
                detectors.push((place, detector));
            }
        }
        Ok(Parts {
            detectors,
            response: part::response(&self.respond)?,
            grant: part::grant(&self.grant)?,
            rto: part::rto(&self.rto)?,
            after_spurious: part::after_spurious(&self.after_spurious)?,
            recovery: part::recovery(&self.recover)?,
            congest: part::congest(&self.congest)?,
            pace: Some(part::pace(&self.pace)?).filter(|pace| pace.holds_back()),
        })
    }
}
