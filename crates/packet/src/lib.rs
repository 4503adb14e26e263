//! Bytes to values and back.
#![forbid(unsafe_code)]

pub mod segment;
pub mod seq;
