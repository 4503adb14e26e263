//! Errors of a run.

use crate::bounds::MOST_PACKETS;
use eifel_base::time::Instant;
use eifel_path::config::ConfigError;
use eifel_recovery::registry;
use std::fmt;

/// An error of a run. A scenario that [`Scenario::parse`](crate::scenario::Scenario::parse) accepts
/// can cause only [`TooLarge`](Self::TooLarge) and the last three.
#[derive(Debug)]
pub enum Error {
    /// The scenario has more links, nodes or flows than the simulator has numbers for.
    TooLarge,
    /// A link's settings are invalid.
    Link { name: String, error: ConfigError },
    /// The registry cannot create a flow's algorithms.
    Engine { flow: String, error: registry::Error },
    /// A capture cannot be written.
    Capture(std::io::Error),
    /// The run reached its limit of events before its end.
    TooManyEvents {
        /// The virtual time reached.
        at: Instant,
    },
    /// Virtual time stands still, because packets circulate without delay.
    Standstill { at: Instant },
    /// The packets under way exceed the memory limit.
    Overfull {
        /// The virtual time reached.
        at: Instant,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => {
                write!(
                    f,
                    "too large; allowed: 65535 nodes, 65535 links, and 1048576 in all of twice links and three times flows"
                )
            }
            Self::Link { name, error } => write!(f, "link {name}: {error}"),
            Self::Engine { flow, error } => write!(f, "flow {flow}: {error}"),
            Self::Capture(error) => write!(f, "capture: {error}"),
            Self::TooManyEvents { at } => write!(f, "more events than allowed, at {} s of the run", at.as_secs_f64()),
            Self::Standstill { at } => write!(
                f,
                "time stands still at {} s of the run: packets go round without taking any; allowed: a rate or a delay on \
                 each flow's way",
                at.as_secs_f64()
            ),
            Self::Overfull { at } => write!(
                f,
                "more than {MOST_PACKETS} packets under way at {} s of the run; allowed: queues with a limit, and sources \
                 that their links can follow",
                at.as_secs_f64()
            ),
        }
    }
}

impl std::error::Error for Error {}
