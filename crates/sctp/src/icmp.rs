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
        /// From the IP header on.
        mtu: u32,
    },
    /// Protocol Unreachable, or Unrecognized Next Header Type.
    NoSctp,
    /// Destination Unreachable of another kind.
    Unreachable,
}

/// The smallest MTU that is believed: that of IPv4's section 3.2 of RFC 791 for one with options.
const LEAST_MTU: u32 = 576;

impl Association {
    /// Takes in an ICMP message about a packet to `remote` whose verification tag was `tag`. `init` is the Initiate Tag, if
    /// the message holds enough of the packet to tell that its chunk was an INIT.
    pub fn handle_icmp(&mut self, remote: IpAddr, tag: u32, init: Option<u32>, error: IcmpError) {
        let Some(path) = self.path_of(remote) else { return };
        // ICMP6: only who saw the packet knows the tag.
        let genuine = if tag == 0 { init == Some(self.local_tag) } else { tag == self.peer_tag };
        if !genuine || self.state == State::Closed {
            return;
        }
        match error {
            IcmpError::TooBig { mtu } => {
                let pmdcs = pmdcs(mtu.max(LEAST_MTU), remote, self.settings.udp);
                self.brain.reduce_pmdcs(path, pmdcs);
                self.fit_chunks();
            }
            // ICMP8: as an ABORT, but where an INIT is answered only while it waits.
            IcmpError::NoSctp => {
                if tag != 0 || matches!(self.state, State::CookieWait(_)) {
                    self.fail(Failure::NoSctp);
                }
            }
            // ICMP9.
            IcmpError::Unreachable => self.count_error(path, false),
        }
    }
}
