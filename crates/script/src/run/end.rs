//! The end that a script talks to, over either protocol.

use crate::outcome::Seen;
use crate::script::{Call, Traffic};
use crate::variables::Variable;
use eifel_base::time::Instant;

/// The return value of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Returned {
    Value(i64),
    Error(&'static str),
    /// The call would have to wait; its error if it must not.
    WouldBlock(&'static str),
}

/// Departed packets, compared with the packet that the script expected.
pub(crate) struct Taken {
    /// When the first of them left.
    pub(crate) at: Instant,
    pub(crate) seen: Vec<Seen>,
    /// Descriptions of the fields that differ; empty if all are as expected.
    pub(crate) differences: Vec<String>,
}

/// A connection or an association with its sockets, in place of an operating system. Of the nine methods two are for
/// timers, four for packets, and one each for calls, variables and the script's budget.
pub(crate) trait End {
    /// Returns when the end wants to be woken.
    fn due(&self) -> Instant;
    /// Handles the timers that are due.
    fn wake(&mut self, now: Instant);
    /// Returns whether the script has used up its budget of packets and timers.
    fn is_exhausted(&self) -> bool;
    /// Delivers a packet.
    ///
    /// # Errors
    /// A description, if the packet cannot be built.
    fn arrive(&mut self, now: Instant, packet: &Traffic) -> Result<(), String>;
    /// Executes a call. `number` names a socket that the call creates.
    fn call(&mut self, now: Instant, call: &Call, number: i64) -> Returned;
    /// Reads a variable as of `now`; `None` before there is a connection.
    fn read(&self, now: Instant, variable: &Variable) -> Option<i128>;
    /// Returns whether a packet has left that no event has mentioned.
    fn has_departed(&self) -> bool;
    /// Takes the departed packets that the expected packet stands for, and compares them.
    fn take(&mut self, expected: &Traffic) -> Taken;
    /// Takes all departed packets.
    fn rest(&mut self) -> Vec<Seen>;
}
