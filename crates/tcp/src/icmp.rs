//! Processes ICMP errors about this end's segments.
//!
//! Anyone can send an ICMP message, so RFC 5927 limits its effect. It counts only if the quoted
//! sequence number is in flight (section 4.1). A hard error, as RFC 1122 calls it, ends no
//! established connection (section 5.2). A smaller path MTU is applied only after the
//! retransmission timer has expired (section 7.2), and never below a minimum.

use eifel_packet::ip::Version;
use eifel_packet::seq::{Seq, unwrap};

use crate::connection::Connection;
use crate::event::{Event, IcmpError};
use crate::handshake::TIMESTAMPS_LENGTH;
use crate::state::State;

/// Returns the smallest path MTU accepted, in bytes: Linux's minimum for IPv4, and the guaranteed
/// MTU of IPv6 (RFC 8200, section 5).
const fn floor(version: Version) -> u32 {
    match version {
        Version::V4 => 552,
        Version::V6 => 1280,
    }
}

/// Bytes of a TCP header without options.
const HEADER: u32 = 20;

impl Connection {
    /// Processes an ICMP error that quotes a segment of this connection with sequence number `seq`.
    pub fn handle_icmp(&mut self, error: IcmpError, seq: Seq) {
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let over = matches!(self.state, State::Closed | State::Listen | State::TimeWait { .. });
        if over || !(una..nxt).contains(&unwrap(una, self.iss, seq)) {
            self.rare.counted().ignored_icmp += 1;
            return;
        }
        let opening = matches!(self.state, State::SynSent | State::SynReceived(_));
        match error {
            IcmpError::Hard if opening => self.fail(Event::Unreachable),
            IcmpError::Hard | IcmpError::Soft => self.events.push_back(Event::SoftError(error)),
            // Only a SYN is in flight, which is never too large.
            IcmpError::TooBig { .. } if opening => self.rare.counted().ignored_icmp += 1,
            IcmpError::TooBig { mtu, version } => self.claim_mtu(mtu, version),
            IcmpError::SourceQuench => self.rare.counted().ignored_icmp += 1,
        }
    }

    fn claim_mtu(&mut self, mtu: u32, version: Version) {
        let options = if self.stamps.is_some() { TIMESTAMPS_LENGTH } else { 0 };
        let payload = mtu.max(floor(version)) - version.header_len() - HEADER - options;
        if payload < self.mss {
            self.claimed_payload = Some(payload);
        } else {
            self.rare.counted().ignored_icmp += 1;
        }
    }

    /// Applies a claimed path MTU. Called when the timer has expired.
    pub(crate) fn apply_claimed_mtu(&mut self) {
        if let Some(payload) = self.claimed_payload.take() {
            self.mss = self.mss.min(payload);
            self.engine.reduce_mss(self.mss);
        }
    }
}
