//! Processes ICMP errors about this end's segments.
//!
//! Anyone can send an ICMP message, so RFC 5927 limits its effect. It counts only if the quoted
//! sequence number is in flight (section 4.1). A hard error, as RFC 1122 calls it, ends no
//! established connection (section 5.2). A smaller path MTU is applied only after the
//! retransmission timer has expired (section 7.2), and never below a minimum.

use eifel_packet::ip::Version;
use eifel_packet::seq::{Seq, unwrap};

use crate::connection::Connection;
use crate::event::Event;
use crate::handshake::TIMESTAMPS_LENGTH;
use crate::state::State;

/// An ICMP error about a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpError {
    /// The peer's host does not accept this protocol or port, or a filter forbids the packet (RFC
    /// 1122, section 4.2.3.9).
    Hard,
    /// A problem that may be temporary: a route, a hop limit, a parameter (the same section).
    Soft,
    /// The packet is larger than the next link's MTU (RFC 1191, RFC 8201).
    TooBig {
        /// MTU of the link in bytes; 0 if the router does not report it.
        mtu: u32,
        /// The version of IP.
        version: Version,
    },
    /// The router asks for a lower rate: ignored (RFC 6633).
    SourceQuench,
}

impl IcmpError {
    /// Returns the error of an ICMPv4 message with this type and code. `mtu` is its next-hop MTU
    /// field. `None` if it is no error.
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

    /// Returns the error of an ICMPv6 message with this type and code (RFC 4443). `mtu` is its MTU
    /// field. `None` if it is no error.
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
