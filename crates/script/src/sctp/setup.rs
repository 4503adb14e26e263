//! How the association of a script is set up.

use std::net::{IpAddr, Ipv4Addr};

use eifel_recovery::association::Config;
use eifel_sctp::{Settings, TimestampValues};

/// packetdrill's addresses.
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1));
const REMOTE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// The key of a script's tags and TSNs. It is public, so they can be guessed.
const SECRET: [u64; 2] = [0x6569_6665_6c00_0003, 0x6569_6665_6c00_0004];
/// How the association of a script is set up.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) settings: Settings,
    /// The addresses that `connect` connects to.
    pub(crate) peers: Vec<IpAddr>,
}

/// FreeBSD's command that turns FORWARD TSN off. No other command of an operating system is
/// understood.
const NO_FORWARD_TSN: &str = "net.inet.sctp.pr_enable=0";

impl Default for Setup {
    fn default() -> Self {
        // Scripts write timestamps as numbers.
        let timestamp_values = TimestampValues::Clock;
        let settings = Settings { addresses: vec![LOCAL], secret: SECRET, timestamp_values, ..Settings::default() };
        Self { settings, peers: vec![REMOTE] }
    }
}

impl Setup {
    /// Returns the chosen algorithms.
    pub(crate) fn config(&self) -> &Config {
        &self.settings.engine
    }

    /// Applies a command of an operating system, if it is understood.
    pub(crate) fn command(&mut self, text: &str) {
        self.settings.forward_tsn &= !text.contains(NO_FORWARD_TSN);
    }
}
