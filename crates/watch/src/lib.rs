//! Which retransmissions of this host were needless, live and without a capture.
//!
//! BPF programs tell what the kernel's TCP does about losses. Its facts become the packets that a
//! capture at the sender would have shown, and the rules for captures judge them. The cause is the
//! kernel's own. Nothing is pinned: all of it vanishes with the process.
//!
//! ```no_run
//! use eifel_watch::{Filter, Watch};
//!
//! # fn main() -> Result<(), eifel_watch::Error> {
//! let https = Filter { port: Some(443), ..Filter::default() };
//! let mut watch = Watch::begin(&https, &[])?;
//! loop {
//!     for one in watch.poll(1000)? {
//!         println!("{} {:?} {:?}: {}", one.remote, one.cause, one.verdict, one.reason);
//!     }
//! }
//! # }
//! ```
#![deny(unsafe_code, unsafe_op_in_unsafe_fn)]

mod attach;
mod btf;
mod captured;
mod cause;
pub mod command;
pub mod counters;
mod error;
mod fact;
mod holes;
mod observation;
mod replay;
mod tap;
pub mod undo;
mod watch;

pub use attach::Filter;
pub use cause::Cause;
pub use error::Error;
pub use observation::{Judged, Replayed};
pub use tap::Tap;
pub use watch::{Counts, Observations, Watch};
