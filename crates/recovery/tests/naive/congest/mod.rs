//! Congestion control, each in its own file.

mod cubic;
mod hystart;
pub mod reno;
