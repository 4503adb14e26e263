//! The values that an analysis returns. Every other part of the crate fills them, and they use
//! none.

mod cause;
mod connection;
mod endpoints;
mod retransmission;
mod trigger;
mod verdict;

pub use cause::Cause;
pub use connection::{Cost, Counts, DirectionSummary, Offered, Protocol, Summary, Vantage};
pub use endpoints::{Endpoint, Flow, When};
pub use retransmission::{DetectorVerdict, Effect, End, Number, Retransmission, Timing};
pub use trigger::{MOST_REPORTS, Trigger};
pub use verdict::{Confidence, StackReaction, Verdict};
