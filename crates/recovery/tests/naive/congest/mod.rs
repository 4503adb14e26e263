//! Congestion control, each in its own file.

mod cubic;
pub mod reno;
