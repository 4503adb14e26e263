//! What the network says about this end's segments by ICMP, and how much of it is believed.
//!
//! Anyone can send such a message. One counts only if the sequence number that it quotes is in flight (RFC 5927, section
//! 4.1); what RFC 1122 calls a hard error ends no connection that is established (section 5.2); and a smaller path MTU is
//! believed only once the timer has expired for want of an acknowledgement (section 7.2), and never below a floor.

use eifel_packet::ip::Version;
use eifel_packet::seq::{Seq, unwrap};

use crate::connection::Connection;
use crate::event::Event;
use crate::handshake::TIMESTAMPS_LENGTH;
use crate::state::State;

/// An ICMP error about a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpError {
    /// The peer cannot be reached by this protocol or port, or is not allowed to be (RFC 1122, section 4.2.3.9).
    Hard,
    /// Something that may pass: a route, a hop limit, a parameter (the same section).
    Soft,
    /// The packet is larger than the next link takes (RFC 1191, RFC 8201).
    TooBig {
        /// Bytes of packet that the link takes; 0 where the router does not say.
        mtu: u32,
        /// The version of IP.
        version: Version,
    },
    /// The router asks for less: ignored (RFC 6633).
    SourceQuench,
}

impl IcmpError {
    /// The error of an ICMPv4 message of this type and code; `mtu` is its next-hop MTU field. `None` where it is no error.
    pub fn v4(kind: u8, code: u8, mtu: u16) -> Option<Self> {
        match (kind, code) {
            (3, 4) => Some(Self::TooBig { mtu: u32::from(mtu), version: Version::V4 }),
            // Protocol and port unreachable, and administratively prohibited.
            (3, 2 | 3 | 9 | 10 | 13) => Some(Self::Hard),
            (3 | 11 | 12, _) => Some(Self::Soft),
            (4, _) => Some(Self::SourceQuench),
            _ => None,
        }
    }

    /// The error of an ICMPv6 message of this type and code (RFC 4443); `mtu` is its MTU field. `None` where it is no error.
    pub fn v6(kind: u8, code: u8, mtu: u32) -> Option<Self> {
        match (kind, code) {
            (2, _) => Some(Self::TooBig { mtu, version: Version::V6 }),
            // Administratively prohibited, port unreachable, policy, reject route; next header not recognised.
            (1, 1 | 4 | 5 | 6) | (4, 1) => Some(Self::Hard),
            (1 | 3 | 4, _) => Some(Self::Soft),
            _ => None,
        }
    }
}

/// No path is believed to take less, in bytes: what Linux takes for IPv4, and what IPv6 promises (RFC 8200, section 5).
const fn floor(version: Version) -> u32 {
    match version {
        Version::V4 => 552,
        Version::V6 => 1280,
    }
}

/// Bytes of a TCP header without options.
const HEADER: u32 = 20;

impl Connection {
    /// Takes an ICMP error that quotes a segment of this connection with sequence number `seq`.
    pub fn handle_icmp(&mut self, error: IcmpError, seq: Seq) {
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let over = matches!(self.state, State::Closed | State::Listen | State::TimeWait { .. });
        if over || !(una..nxt).contains(&unwrap(una, self.iss, seq)) {
            self.cold.counted().ignored_icmp += 1;
            return;
        }
        let opening = matches!(self.state, State::SynSent | State::SynReceived(_));
        match error {
            IcmpError::Hard if opening => self.fail(Event::Unreachable),
            IcmpError::Hard | IcmpError::Soft => self.events.push_back(Event::SoftError(error)),
            // A SYN is in flight, which is too large for nothing.
            IcmpError::TooBig { .. } if opening => self.cold.counted().ignored_icmp += 1,
            IcmpError::TooBig { mtu, version } => self.claim_mtu(mtu, version),
            IcmpError::SourceQuench => self.cold.counted().ignored_icmp += 1,
        }
    }

    fn claim_mtu(&mut self, mtu: u32, version: Version) {
        let options = if self.stamps.is_some() { TIMESTAMPS_LENGTH } else { 0 };
        let payload = mtu.max(floor(version)) - version.header_len() - HEADER - options;
        if payload < self.mss {
            self.claimed_payload = Some(payload);
        } else {
            self.cold.counted().ignored_icmp += 1;
        }
    }

    /// Believes a claim about the MTU, after the timer has expired.
    pub(crate) fn believe_claimed_mtu(&mut self) {
        if let Some(payload) = self.claimed_payload.take() {
            self.mss = self.mss.min(payload);
            self.engine.reduce_mss(self.mss);
        }
    }
}
