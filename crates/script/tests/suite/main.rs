//! The scripts of this crate, the language that they are written in, and how a failure is shown.

#![expect(clippy::unwrap_used, reason = "what these tests read is the project's own")]

mod blocks;
mod document;
mod failures;
mod folder;
mod never_panics;
mod packetdrill;
mod profiles;
mod public;
mod refused;
mod registry;
