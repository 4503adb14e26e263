//! The path that a capture shows, and other senders over that path.
//!
//! ```text
//! trace    what one end sent and received, from the frames of a capture made next to it
//! answers  which transmission each ACK answers, and which transmissions were lost
//! acks     how the receiver acknowledges, and how many ACKs are missing
//! fifo     one queue with one server: rate, base delay, holds, backlogs
//! path     the path: all of that, losses apart by their cause, and what the capture leaves open
//! scenario the path as a scenario that the simulator runs: as seen, or with the open quantities drawn
//! replay   the captured sender over the extracted path; its events beside those of the capture
//! change   the changes that make another sender, as a user writes them
//! whatif   other senders over that path: ranges of goodput, and the order of the senders
//! found    path and replay in words and as JSON, and what to do if there is no prediction
//! command  the command `whatif` of the program `eifel`
//! trial    a hidden path: do the ranges hold the truth?
//! ```
#![forbid(unsafe_code)]

pub mod acks;
pub mod answers;
pub mod change;
pub mod command;
pub mod events;
pub mod fifo;
pub mod found;
pub mod path;
pub mod replay;
pub mod scenario;
pub mod sender;
pub mod trace;
pub mod trial;
pub mod whatif;
