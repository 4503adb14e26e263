//! Local ports for calls.

use super::Host;
use super::table::Key;
use eifel_tcp::{Caller, isn};

/// The ports that are given out (RFC 6335, section 6).
const FIRST: u16 = 49_152;
const COUNT: u32 = 16_384;

impl Host {
    /// Finds a port that is used neither with this peer nor by a listener. Ports are given out in
    /// order, from a start that is hard to guess (RFC 6056, section 3.3.3).
    pub(super) fn vacant_port(&mut self, caller: &Caller) -> Option<u16> {
        let beginning = isn(&self.config.secret, eifel_base::time::Instant::ZERO, caller, 0).0;
        for _ in 0..COUNT {
            let offset = beginning.wrapping_add(self.ports_given) % COUNT;
            self.ports_given = self.ports_given.wrapping_add(1);
            let port = FIRST + offset as u16;
            let key = Key { caller: *caller, port };
            let heard = self.listeners.contains_key(&(port, caller.addresses.version()));
            if !heard && self.table.find(&key).is_none() {
                return Some(port);
            }
        }
        None
    }
}
