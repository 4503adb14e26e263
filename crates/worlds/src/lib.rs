//! Small worlds: every fate of a few segments and of their acknowledgements, on the real connections at both ends.
//!
//! A few segments leave, and each is delivered, delayed past the timeout, duplicated or lost; and so is the acknowledgement
//! that each gives rise to. Six segments have 4^12 = 16 777 216 worlds. None is drawn at random: all are counted. The
//! oracle, which sees both ends, says of each episode whether its first retransmission was needed; and that is compared with
//! what the acting detector said and with what the response gave back.
//!
//! A fate is chosen when its packet leaves, and where a world divides, its connections are cloned: what worlds have in
//! common is run once. The ACK of a segment that is lost never leaves, so its four fates are one run that counts four times.
//!
//! [`search_lies`] lets the receiver say everything that it could say without inventing a number, and asks whether that
//! spares the sender a cut that an honest receiver would have caused.
//!
//! [`search_association`] asks the same of SCTP: chunks instead of segments, and two paths.
//!
//! ```
//! use eifel_recovery::engine::Config;
//! use eifel_worlds::{Failure, Question, Size, search};
//! use std::ops::ControlFlow;
//!
//! let size = Size { segments: 2, before: 1, after: 2, ..Size::default() };
//! let question = Question { settings: Default::default(), sender: Config::default(), size };
//! let tally = search(&question, |_| ControlFlow::Continue(())).unwrap().unwrap();
//! assert_eq!(tally.worlds, 256);
//! assert_eq!(tally.failed(Failure::FalseUndo).worlds, 0);
//! ```
#![forbid(unsafe_code)]

mod association;
mod fate;
mod ladder;
mod lying;
mod path;
mod question;
mod state;
mod tally;
mod truth;
mod walk;
mod world;

pub use association::{Associated, search_association};
pub use fate::{Fate, Fates, MOST, Subject};
pub use ladder::{Arrow, Ladder, Note};
pub use lying::{Lied, draw_lies, search_lies, search_lies_about};
pub use path::DELAY;
pub use question::{Error, HeldUntil, Question, Size};
pub use tally::{Episodes, Failed, Failure, Tally, Verdicts};
pub use truth::{Episode, Truth};
pub use walk::{draw, run, search, search_each};
pub use world::{Progress, World};
