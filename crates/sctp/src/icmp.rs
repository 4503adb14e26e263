//! ICMP messages about packets of an association (RFC 9260, section 10).

use core::net::IpAddr;

use crate::association::Association;
use crate::event::Failure;
use crate::settings::pmdcs;
use crate::state::State;

/// The content of an ICMP message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpError {
    /// Packet Too Big, or Fragmentation Needed: the next hop's MTU in bytes.
    TooBig {
        /// The next hop's MTU in bytes, IP header included.
        mtu: u32,
    },
    /// Protocol Unreachable, or Unrecognized Next Header Type.
    NoSctp,
    /// Destination Unreachable of another kind.
    Unreachable,
}

impl IcmpError {
    /// Returns the error of an ICMPv4 message with this type and code. `mtu` is its next-hop MTU
    /// field. `None` if it is ignored, as is Port Unreachable: an end without the port sends an
    /// ABORT (ICMP1 and ICMP3) [rfc8540:3.36].
    pub fn v4(kind: u8, code: u8, mtu: u16) -> Option<Self> {
        match (kind, code) {
            (3, 2) => Some(Self::NoSctp),
            (3, 3) => None,
            (3, 4) => Some(Self::TooBig { mtu: u32::from(mtu) }),
            (3, _) => Some(Self::Unreachable),
            _ => None,
        }
    }

    /// Returns the error of an ICMPv6 message with this type and code (RFC 4443). `mtu` is its MTU
    /// field. `None` if it is ignored, as in [`v4`](Self::v4) (ICMP2 to ICMP4).
    pub fn v6(kind: u8, code: u8, mtu: u32) -> Option<Self> {
        match (kind, code) {
            (1, 4) => None,
            (1, _) => Some(Self::Unreachable),
            (2, _) => Some(Self::TooBig { mtu }),
            (4, 1) => Some(Self::NoSctp),
            _ => None,
        }
    }
}

/// Returns the smallest MTU accepted from ICMP, in bytes. Every IPv4 host accepts packets of this
/// size (RFC 791, section 3.2), and every IPv6 link carries them (RFC 8200, section 5).
fn least_mtu(remote: IpAddr) -> u32 {
    if remote.is_ipv4() { 576 } else { 1280 }
}

impl Association {
    /// Processes an ICMP message about a packet to `remote` with the verification tag `tag`. `init`
    /// is the Initiate Tag, if the message quotes enough of the packet to identify an INIT chunk.
    pub fn handle_icmp(&mut self, remote: IpAddr, tag: u32, init: Option<u32>, error: IcmpError) {
        let Some(path) = self.path_of(remote) else { return };
        // ICMP6: only nodes that saw the packet know the tag.
        let genuine = if tag == 0 { init == Some(self.local_tag) } else { tag == self.peer_tag };
        if !genuine || self.state == State::Closed {
            return;
        }
        match error {
            IcmpError::TooBig { mtu } => {
                let pmdcs = pmdcs(mtu.max(least_mtu(remote)), remote, self.settings.udp);
                self.engine.reduce_pmdcs(path, pmdcs);
                self.fit_chunks();
            }
            // ICMP8: handled as an ABORT. A message about an INIT counts only in COOKIE-WAIT.
            IcmpError::NoSctp => {
                if tag != 0 || matches!(self.state, State::CookieWait(_)) {
                    self.fail(Failure::NoSctp);
                }
            }
            // ICMP9 [rfc8540:3.36].
            IcmpError::Unreachable => self.count_error(path, false),
        }
    }
}
