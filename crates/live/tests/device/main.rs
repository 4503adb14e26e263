//! Loops on devices, with the real clock. A pair of sockets stands for the device, with one packet
//! per read and per write. This needs no rights, and the other end sees every byte.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod cable;
mod messenger;
#[path = "../hiccup/packets.rs"]
mod packets;
mod relay;
mod station;
