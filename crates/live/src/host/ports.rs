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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Config;
    use eifel_base::time::Instant;
    use eifel_packet::ip::Addresses;
    use eifel_recovery::engine;
    use eifel_tcp::Settings;
    use std::collections::BTreeSet;

    const OWN: [u8; 4] = [10, 0, 0, 1];
    const PEER: [u8; 4] = [10, 0, 0, 2];

    fn host() -> Host {
        Host::new(Config { v4: Some(OWN.into()), v6: None, mtu: 1500, secret: [3, 5], most_connections: 100 })
    }

    fn caller() -> Caller {
        let addresses = Addresses::V4 { source: PEER.into(), destination: OWN.into() };
        Caller { addresses, port: 80 }
    }

    #[test]
    fn ephemeral_ports_are_consecutive_and_reused_after_a_cycle() {
        let mut host = host();
        let ports: Vec<u16> = (0..=COUNT).map(|_| host.vacant_port(&caller()).unwrap()).collect();
        assert_eq!(ports[0], ports[COUNT as usize]);
        for pair in ports.windows(2) {
            let next = if pair[0] == u16::MAX { FIRST } else { pair[0] + 1 };
            assert_eq!(pair[1], next);
        }
    }

    /// The first port is a listener's, and the next one belongs to a connection.
    #[test]
    fn vacant_ports_skip_a_port_in_use() {
        let (settings, sender) = (Settings::default(), engine::Config::default());
        let first = host().vacant_port(&caller()).unwrap();
        let after = |count: u16| FIRST + (first - FIRST + count) % COUNT as u16;
        let mut host = host();
        host.listen(first, 4, &settings, &sender).unwrap();
        assert_eq!(host.vacant_port(&caller()), Some(after(1)));
        host.ports_given = 0;
        host.connect(Instant::ZERO, (PEER, 80).into(), &settings, &sender).unwrap();
        host.ports_given = 0;
        assert_eq!(host.vacant_port(&caller()), Some(after(2)));
        // All other ports are given out, and that of the connection to another port of its peer.
        let given = |host: &mut Host, caller: &Caller| -> BTreeSet<u16> {
            (0..COUNT).map(|_| host.vacant_port(caller).unwrap()).collect()
        };
        let all: BTreeSet<u16> = (FIRST..=u16::MAX).collect();
        assert_eq!(&all - &given(&mut host, &caller()), BTreeSet::from([first, after(1)]));
        assert_eq!(&all - &given(&mut host, &Caller { port: 81, ..caller() }), BTreeSet::from([first]));
    }
}
