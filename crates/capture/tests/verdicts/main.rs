//! Conversations with a known truth. A client sends segments of 1000 bytes over a path with a round
//! trip of 100 ms. The capture is made at the client unless a test says otherwise.

mod evidence;
mod limits;
mod path_mtu;
mod talk;
