//! The timers, each in its own file.

mod eifel;
mod fixed;
mod linux;
mod lite;
mod never_restarted;
mod pair;
pub mod rfc6298;
mod self_trained;
