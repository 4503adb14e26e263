//! The state cookie: the peer stores the association's state until it returns the cookie (RFC 9260,
//! sections 5.1.3 to 5.1.5).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use eifel_base::siphash::{Secret, siphash};
use eifel_base::time::{Duration, Instant};
use eifel_packet::seq::Seq;

use crate::handshake::Extensions;
use crate::settings::Ports;

/// Bytes of the signature at the end of the cookie.
const MAC_LEN: usize = 16;
/// Bytes before the addresses.
const FIXED_LEN: usize = 8 + 8 + 4 + 8 * 4 + 2 * 2 + 2;

/// The contents of a cookie. "Local" is the end that made the cookie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cookie {
    pub(crate) made: Instant,
    pub(crate) life: Duration,
    pub(crate) ports: Ports,
    pub(crate) local_tag: u32,
    pub(crate) peer_tag: u32,
    /// Tie-tags of the association that existed when the cookie was made; 0 if there was none.
    pub(crate) tie_tags: [u32; 2],
    pub(crate) local_tsn: Seq,
    pub(crate) peer_tsn: Seq,
    pub(crate) a_rwnd: u32,
    pub(crate) outbound_streams: u16,
    pub(crate) inbound_streams: u16,
    pub(crate) extensions: Extensions,
    /// The peer's addresses. The first is the destination of the INIT ACK.
    pub(crate) addresses: Vec<IpAddr>,
}

impl Cookie {
    /// Returns the cookie's bytes with their signature.
    pub(crate) fn sign(&self, secret: &Secret) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIXED_LEN + 17 * self.addresses.len() + MAC_LEN);
        out.extend(self.made.as_nanos().to_be_bytes());
        out.extend(self.life.as_nanos().to_be_bytes());
        out.extend(self.ports.local.to_be_bytes());
        out.extend(self.ports.remote.to_be_bytes());
        let words = [
            self.local_tag,
            self.peer_tag,
            self.tie_tags[0],
            self.tie_tags[1],
            self.local_tsn.0,
            self.peer_tsn.0,
            self.a_rwnd,
            0,
        ];
        words.iter().for_each(|word| out.extend(word.to_be_bytes()));
        out.extend(self.outbound_streams.to_be_bytes());
        out.extend(self.inbound_streams.to_be_bytes());
        out.extend([self.extensions.to_byte(), 0]);
        for address in &self.addresses {
            match address {
                IpAddr::V4(address) => {
                    out.push(4);
                    out.extend(address.octets());
                }
                IpAddr::V6(address) => {
                    out.push(6);
                    out.extend(address.octets());
                }
            }
        }
        let mac = mac(secret, &out);
        out.extend(mac);
        out
    }

    /// Reads a cookie. Returns `None` if this end did not sign it, or if it was changed.
    pub(crate) fn verify(secret: &Secret, bytes: &[u8]) -> Option<Self> {
        let split = bytes.len().checked_sub(MAC_LEN)?;
        let (signed, signature) = bytes.split_at(split);
        if mac(secret, signed) != signature {
            return None;
        }
        Self::read(signed)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let made = Instant::from_nanos(u64::from_be_bytes(reader.take()?));
        let life = Duration::from_nanos(u64::from_be_bytes(reader.take()?));
        let ports = Ports { local: reader.short()?, remote: reader.short()? };
        let [local_tag, peer_tag, first_tie, second_tie] =
            [reader.word()?, reader.word()?, reader.word()?, reader.word()?];
        let [local_tsn, peer_tsn, a_rwnd, _] = [reader.word()?, reader.word()?, reader.word()?, reader.word()?];
        let (outbound_streams, inbound_streams) = (reader.short()?, reader.short()?);
        let [extensions, _] = reader.take()?;
        let mut addresses = Vec::new();
        while let Some([version]) = reader.take() {
            addresses.push(match version {
                4 => Ipv4Addr::from(reader.take::<4>()?).into(),
                6 => Ipv6Addr::from(reader.take::<16>()?).into(),
                _ => return None,
            });
        }
        Some(Self {
            made,
            life,
            ports,
            local_tag,
            peer_tag,
            tie_tags: [first_tie, second_tie],
            local_tsn: Seq(local_tsn),
            peer_tsn: Seq(peer_tsn),
            a_rwnd,
            outbound_streams,
            inbound_streams,
            extensions: Extensions::from_byte(extensions),
            addresses,
        })
    }

    /// Returns the time since the cookie expired. `None` if it is still valid.
    pub(crate) fn stale_for(&self, now: Instant) -> Option<Duration> {
        let age = now.since(self.made);
        (age > self.life).then(|| age.saturating_sub(self.life))
    }
}

/// Reads bytes from the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }
}

/// Computes a signature of 128 bits: SipHash with two keys derived from the secret.
fn mac(secret: &Secret, bytes: &[u8]) -> [u8; MAC_LEN] {
    let mut words: Vec<u64> = Vec::with_capacity(bytes.len() / 8 + 2);
    let (whole, rest) = bytes.as_chunks::<8>();
    words.extend(whole.iter().map(|chunk| u64::from_be_bytes(*chunk)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    words.push(u64::from_be_bytes(last));
    words.push(bytes.len() as u64);
    let [a, b] = *secret;
    let halves = [siphash(&[a ^ 1, b], &words), siphash(&[a ^ 2, b], &words)];
    let mut out = [0; MAC_LEN];
    out[..8].copy_from_slice(&halves[0].to_be_bytes());
    out[8..].copy_from_slice(&halves[1].to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie() -> Cookie {
        Cookie {
            made: Instant::from_nanos(5),
            life: Duration::from_secs(60),
            ports: Ports { local: 1, remote: 2 },
            local_tag: 3,
            peer_tag: 4,
            tie_tags: [5, 6],
            local_tsn: Seq(7),
            peer_tsn: Seq(8),
            a_rwnd: 9,
            outbound_streams: 10,
            inbound_streams: 11,
            extensions: Extensions { forward_tsn: true, timestamps: false, retransmit_bit: true },
            addresses: vec![[10, 0, 0, 1].into(), "fd00::1".parse().unwrap()],
        }
    }

    #[test]
    fn a_cookie_verifies_only_if_no_bit_has_changed() {
        let mut bytes = cookie().sign(&[1, 2]);
        assert_eq!(Cookie::verify(&[1, 2], &bytes), Some(cookie()));
        assert_eq!(Cookie::verify(&[1, 3], &bytes), None);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Cookie::verify(&[1, 2], &bytes), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for end in 0..bytes.len() {
            assert_eq!(Cookie::verify(&[1, 2], &bytes[..end]), None);
        }
    }

    #[test]
    fn a_cookie_expires() {
        let at = |secs| Instant::from_nanos(5) + Duration::from_secs(secs);
        assert_eq!(cookie().stale_for(at(60)), None);
        assert_eq!(cookie().stale_for(at(63)), Some(Duration::from_secs(3)));
    }
}
