//! Applications over a host.

pub mod body;
pub mod client;
pub mod iperf;
pub mod meter;
pub mod pattern;
pub mod proxy;
pub mod server;

use crate::system::Error;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine;
use eifel_tcp::Event;
use meter::Interval;

/// How much is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// Ends after this number of bytes.
    Bytes(u64),
    /// The bytes that can be sent in this time.
    Time(Duration),
}

/// A report of an application to its observer.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The connection is open.
    Connected,
    /// Another interval is over.
    Interval(&'a Interval),
    /// The sending side's engine reports.
    Recovery(&'a engine::Event),
}

/// Receives the notices of a run.
pub type Watch<'a> = Box<dyn FnMut(Instant, &Notice<'_>) + 'a>;

/// Returns the error for an event that ends a connection abnormally; `None` for all other events.
fn trouble(peer: &str, event: &Event) -> Option<Error> {
    let (cause, advice) = match event {
        Event::Refused => ("connection refused", "nothing listens at this port"),
        Event::Reset => ("connection reset by the peer", ""),
        Event::Unreachable => ("the network reports it as unreachable", "check the routes to it"),
        Event::TimedOut => ("no answer within the user timeout", "check the routes in both directions"),
        _ => return None,
    };
    Some(Error::new(peer, &cause, advice))
}
