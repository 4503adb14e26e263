//! Recordings of this kernel's TCP with the truth about each retransmission, to judge analysers by.
//!
//! Two namespaces talk through the box. Its log knows the fate of every packet, the kernel's
//! tracepoints why it retransmitted, and its counters what it undid. The sender's and the
//! receiver's captures are the box's own. The capture in between is the receiver's, at the times
//! at which packets passed a point on the path behind which nothing but a delay follows. One class
//! of recordings has no box, but a LAN of devices.

pub mod draw;
mod lan;
pub mod record;
mod traffic;
mod watched;
