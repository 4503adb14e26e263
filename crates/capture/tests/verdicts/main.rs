//! Conversations whose truth is known by hand: a client sends segments of 1000 bytes over a path with a round trip of 100 ms,
//! and the capture stands at the client unless a test says otherwise.

mod evidence;
mod limits;
mod talk;
