//! Connections with plain settings, for tests with many connections.

use crate::pair::{Pair, held};
use eifel_live::host::{Handle, Host, HostEvent};
use eifel_recovery::engine::Config;

pub fn connect(pair: &mut Pair) -> Handle {
    pair.a.connect(pair.now, "10.0.0.2:80".parse().unwrap(), &held(), &Config::default()).unwrap()
}

/// Takes all events, and returns the connections that have opened.
pub fn opened(host: &mut Host) -> Vec<Handle> {
    let events = std::iter::from_fn(|| host.poll_event());
    events.filter(|(_, happening)| matches!(happening, HostEvent::Opened { .. })).map(|(handle, _)| handle).collect()
}
