//! Settings that the application may change during the association (RFC 9260, section 11.1).

use core::net::IpAddr;

use eifel_base::time::{Duration, Instant};

use crate::association::Association;
use crate::settings::MAX_SACK_DELAY;

impl Association {
    /// Changes the interval of HEARTBEATs to idle addresses. With `None`, only unconfirmed
    /// addresses get HEARTBEATs.
    pub fn set_heartbeat_interval(&mut self, now: Instant, interval: Option<Duration>) {
        self.settings.heartbeat_interval = interval;
        self.begin_heartbeats(now);
    }

    /// Sends a HEARTBEAT to an address now. Returns whether the peer has the address.
    pub fn request_heartbeat(&mut self, now: Instant, remote: IpAddr) -> bool {
        let path = self.path_of(remote);
        if let Some(path) = path.filter(|_| self.state.heartbeats()) {
            self.ask(now, path);
        }
        path.is_some()
    }

    /// Changes the number of errors above which an address becomes inactive ("Path.Max.Retrans").
    pub fn set_path_max_retransmits(&mut self, most: u32) {
        self.settings.path_max_retransmits = most;
    }

    /// Changes when a SACK is sent: at most `delay` after the first packet, and after `every`
    /// packets.
    pub fn set_delayed_sacks(&mut self, delay: Duration, every: u32) {
        (self.settings.sack_delay, self.settings.sack_every) = (delay.min(MAX_SACK_DELAY), every.max(1));
    }

    /// Changes whether messages that do not fill a packet wait for outstanding data.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.settings.nagle = nagle;
        self.choose_prediction();
    }
}
