//! Loops on devices, with the real clock: a pair of sockets stands for the device, one packet a read and one a write. No right is
//! needed for that, and the other end sees every byte.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod cable;
mod messenger;
#[path = "../hiccup/packets.rs"]
mod packets;
mod relay;
mod station;
