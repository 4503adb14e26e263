//! Small worlds played against a real stack: the stack sends, and the player is its peer and the
//! path between them.
//!
//! A [`World`](world::World) says what happens to each of a few segments and to their ACKs, as in
//! the crate `eifel-worlds`. There both ends are connections of this project, in virtual time. Here
//! the sender is a kernel, in real time, and some hundred worlds run at once. A
//! [`Peer`](peer::Peer) is one world without I/O; the [`player`] drives many on one
//! [`Stack`](stack::Stack). The [judge] compares what the stack undid, ACK by ACK, with the
//! detector `linux` over the same packets, and with what the world made true. What is remarkable is
//! counted by [class](tally::Class), [shrunk](shrink) and written as a packetdrill [script](pkt).

pub mod judge;
pub mod kernel;
pub mod peer;
pub mod pkt;
pub mod player;
pub mod shrink;
pub mod stack;
pub mod tally;
pub mod world;
