//! Which retransmissions of this host were needless, live and without a capture.
//!
//! BPF programs tell what the kernel's TCP does about losses. Its facts become the packets that a
//! capture at the sender would have shown, and the rules for captures judge them. The cause is the
//! kernel's own. Nothing is pinned: all of it vanishes with the process.
#![deny(unsafe_code, unsafe_op_in_unsafe_fn)]

mod attach;
mod captured;
mod cause;
pub mod command;
pub mod counters;
mod error;
mod fact;
mod observation;
mod replay;
mod tap;
pub mod undo;
mod watch;

pub use attach::Filter;
pub use cause::Cause;
pub use error::Error;
pub use observation::Judged;
pub use tap::Tap;
pub use watch::{Counts, Observations, Watch};
