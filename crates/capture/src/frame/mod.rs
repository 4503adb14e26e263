//! Frames: from bytes, files and pipes to the packets in them.

pub mod decode;
mod error;
pub mod read;
#[cfg(feature = "files")]
pub mod source;

pub use error::Error;
