//! The association against itself in virtual time, and against other stacks.

#![expect(clippy::unwrap_used, reason = "what a helper cannot do fails the test")]

mod blue;
mod both_ends;
mod dcsctp;
mod details;
mod edges;
mod eifel;
mod errata;
mod header_prediction;
mod hostile;
mod opening;
mod partial;
mod paths;
mod peer_window;
mod talk;
mod tshark;
mod usrsctp;
