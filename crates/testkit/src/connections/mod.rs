//! Drives connections in tests and attacks.

mod pair;

use eifel_base::time::Instant;
use eifel_packet::segment::Segment;
use eifel_recovery::fact::Transmission;
use eifel_tcp::{Connection, Event, Outgoing};

pub use pair::{Flying, Pair};

/// A segment that a connection has sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sent {
    pub segment: Segment,
    /// Offset of its payload in the stream of data.
    pub start: u64,
    /// The engine's transmission; `None` for resets and for acknowledgements without data.
    pub transmission: Option<Transmission>,
}

/// Returns the next segment that `connection` sends at `now`.
pub fn next(connection: &mut Connection, now: Instant) -> Option<Sent> {
    let mut segment = Segment::default();
    let Outgoing { start, transmission } = connection.poll_transmit(now, &mut segment)?;
    Some(Sent { segment, start, transmission })
}

/// Returns all segments that `connection` sends at `now`.
pub fn all(connection: &mut Connection, now: Instant) -> Vec<Sent> {
    core::iter::from_fn(|| next(connection, now)).collect()
}

/// Returns the payload of a segment that `connection` has just sent. Empty if `connection` counts
/// bytes instead of holding them.
pub fn payload(connection: &Connection, sent: &Sent) -> Vec<u8> {
    let (front, back) = connection.payload(sent.start, sent.segment.payload_len);
    [front, back].concat()
}

/// Takes the events of `connection`, and leaves out the engine's reports.
pub fn events(connection: &mut Connection) -> Vec<Event> {
    let all = core::iter::from_fn(|| connection.poll_event());
    all.filter(|event| !matches!(event, Event::Recovery(_))).collect()
}
