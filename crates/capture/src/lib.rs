//! Why each retransmission in a capture was sent, and whether it was needed.
//!
//! Bytes go in, values come out: nothing here but the module behind the feature `files` opens a file, so that the crate
//! compiles to WebAssembly too.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod annotate;
pub mod anonymise;
pub mod association;
pub mod attribute;
pub mod decode;
pub mod error;
pub mod flow;
pub mod quic;
pub mod read;
pub mod report;
pub mod score;
pub mod sender;
#[cfg(feature = "files")]
pub mod source;
pub mod text;
pub mod verdict;
pub mod xpl;

pub use error::Error;
