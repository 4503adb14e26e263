//! What the tests of several crates share. No published crate depends on it outside its tests.
#![forbid(unsafe_code)]

pub mod command;
#[cfg(feature = "connections")]
pub mod connections;
#[cfg(feature = "files")]
pub mod files;
pub mod golden;
pub mod random;
pub mod recorded;

#[cfg(feature = "files")]
pub use files::{Folder, TextFile};
pub use golden::{digest, hash, rounded, same};
