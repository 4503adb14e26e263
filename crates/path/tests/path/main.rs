//! Links as their drivers see them.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod background;
mod codel;
mod codel_naive;
mod common;
mod elements;
mod golden;
mod properties;
mod recorded;
mod spikes;
mod through;
mod timing;
