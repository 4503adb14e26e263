//! Small worlds: every fate of a few segments and of their acknowledgements, with real connections
//! at both ends.
//!
//! Each of a few segments is delivered, delayed past the timeout, duplicated or lost, and so is the
//! acknowledgement that it causes. Six segments have 4^12 = 16 777 216 worlds. All are counted;
//! none is drawn at random. The oracle, which sees both ends, knows whether the first
//! retransmission of each episode was needed. The search compares this with the acting detector's
//! verdict and with the window that the response restored.
//!
//! A fate is chosen when its packet leaves. The connections are cloned at each choice, so the
//! common beginning of worlds runs once. The ACK of a lost segment never leaves, so its four fates
//! are one run that counts four times.
//!
//! [`search_lies`] lets the receiver give every answer that invents no number. It finds out whether
//! an answer spares the sender a cut that an honest receiver would have caused.
//!
//! [`search_association`] counts the worlds of SCTP, with chunks instead of segments, and one path
//! or two.
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
pub mod path;
mod question;
mod records;
mod state;
mod tally;
mod truth;
mod walk;
mod world;

pub use association::{AssociationQuestion, search_association};
pub use fate::{Fate, Fates, MOST, Subject};
pub use ladder::{Arrow, Ladder, Note};
pub use lying::{LieTally, draw_lies, search_lies, search_lies_about};
pub use path::DELAY;
pub use question::{Error, HeldUntil, Question, Size};
pub use tally::{Episodes, Failed, Failure, Tally, Verdicts};
pub use truth::{Episode, Truth};
pub use walk::{draw, run, search, search_each};
pub use world::{Progress, World};
