//! An association under attack, and packets that claim to come from its peer.

use core::net::IpAddr;

use crate::transcript::note;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{
    self, Chunk, Data, DataFlags, Gaps, Header, Init, Parameter, Parameters, Sack, SackFlags, Writer, extension,
};
use eifel_packet::seq::Seq;
use eifel_sctp::{Association, IcmpError, Phase, Ports, Settings};

pub(crate) const PORTS: Ports = Ports { local: 443, remote: 50_000 };
pub(crate) const LOCAL: [IpAddr; 2] = [addr(10, 0, 0, 1), addr(10, 0, 1, 1)];
pub(crate) const PEER: [IpAddr; 2] = [addr(192, 0, 2, 1), addr(192, 0, 3, 1)];
/// The peer's verification tag, and its initial TSN.
pub(crate) const PEER_TAG: u32 = 0x5151_0001;
pub(crate) const PEER_TSN: u32 = u32::MAX - 100;

const fn addr(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(core::net::Ipv4Addr::new(a, b, c, d))
}

/// An association and the current time. The test makes the peer's packets one by one.
pub(crate) struct Associated {
    pub(crate) association: Association,
    pub(crate) now: Instant,
    /// This end's verification tag and initial TSN.
    pub(crate) tag: u32,
    pub(crate) tsn: u32,
}

/// Returns settings with two addresses, a receive buffer of 64 KB, and a SACK for every packet.
pub(crate) fn settings() -> Settings {
    Settings {
        addresses: LOCAL.to_vec(),
        secret: [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210],
        sack_every: 1,
        heartbeat_interval: None,
        ..Settings::default()
    }
}

/// Returns the addresses of a packet from the peer, over its first or second address.
#[expect(clippy::expect_used, reason = "all are IPv4 addresses")]
pub(crate) fn from_peer(index: usize) -> Addresses {
    Addresses::new(PEER[index], LOCAL[index]).expect("one version of IP")
}

/// Makes a packet from the peer.
#[expect(clippy::expect_used, reason = "attacks make chunks that fit")]
pub(crate) fn packet(tag: u32, chunks: &[Chunk<'_>]) -> Vec<u8> {
    let header = Header { source_port: PORTS.remote, destination_port: PORTS.local, verification_tag: tag };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&header, &mut bytes);
    chunks.iter().for_each(|chunk| writer.chunk(chunk).expect("it fits"));
    writer.finish();
    bytes
}

/// Reads a packet from its bytes.
#[expect(clippy::expect_used, reason = "attacks keep header and checksum valid")]
pub(crate) fn parsed(bytes: &[u8]) -> eifel_sctp::Packet {
    eifel_sctp::Packet::parse(bytes).expect("a header and a checksum")
}

/// Makes the peer's INIT or INIT ACK.
pub(crate) fn init(parameters: &[u8]) -> Init<'_> {
    Init {
        initiate_tag: PEER_TAG,
        a_rwnd: 1 << 30,
        outbound_streams: 16,
        inbound_streams: 16,
        initial_tsn: Seq(PEER_TSN),
        parameters: Parameters(parameters),
    }
}

/// Makes a DATA chunk with a whole message. `index` counts from the peer's first TSN.
pub(crate) fn data(index: u32, payload: &[u8]) -> Chunk<'_> {
    Chunk::Data(Data {
        flags: DataFlags::WHOLE,
        tsn: Seq(PEER_TSN.wrapping_add(index)),
        stream: 0,
        ssn: index as u16,
        ppid: [0; 4],
        payload,
    })
}

impl Associated {
    /// Makes an established association that knows both addresses of its peer.
    #[expect(clippy::expect_used, reason = "the names are this crate's own, and the handshake is as it should be")]
    pub(crate) fn open(settings: &Settings) -> Self {
        let now = Instant::ZERO;
        let association = Association::connect(now, settings, PORTS, &PEER, 0).expect("algorithms of the registry");
        let mut it = Self { association, now, tag: 0, tsn: 0 };
        let sent = it.sends();
        let (_, mut chunks) = sctp::parse(&sent[0].1).expect("its own packet");
        if let Some(Ok(Chunk::Init(init))) = chunks.next() {
            (it.tag, it.tsn) = (init.initiate_tag, init.initial_tsn.0);
        }
        let mut parameters = Vec::new();
        Parameter::Cookie(b"cookie").emit(&mut parameters);
        // The peer supports every extension that a victim may use.
        Parameter::SupportedExtensions(&[extension::TIMESTAMP]).emit(&mut parameters);
        Parameter::RetransmitBit.emit(&mut parameters);
        it.now += Duration::from_millis(50);
        it.gets(&[Chunk::InitAck(init(&parameters))]);
        it.sends();
        it.now += Duration::from_millis(50);
        it.gets(&[Chunk::CookieAck]);
        it
    }

    /// Delivers chunks from the peer's first address, with the right tag.
    pub(crate) fn gets(&mut self, chunks: &[Chunk<'_>]) {
        self.gets_bytes(&packet(self.tag, chunks));
    }

    /// Delivers a packet from the peer's first address.
    pub(crate) fn gets_bytes(&mut self, bytes: &[u8]) {
        note((self.now, bytes));
        self.association.handle(self.now, &from_peer(0), &parsed(bytes));
    }

    /// Delivers an ICMP error saying that the peer's host has no SCTP. It quotes a packet with this
    /// tag.
    pub(crate) fn hears_of_no_sctp(&mut self, tag: u32) {
        note((self.now, tag));
        self.association.handle_icmp(PEER[0], tag, None, IcmpError::NoSctp);
    }

    /// Delivers a SACK of this end's chunks up to `cumulative`, counted from 0, with gaps and duplicates.
    pub(crate) fn acknowledges(&mut self, cumulative: u32, gaps: &[[u8; 4]], duplicates: &[u32]) {
        let duplicates: Vec<[u8; 4]> =
            duplicates.iter().map(|index| self.tsn.wrapping_add(*index).to_be_bytes()).collect();
        let sack = Sack {
            flags: SackFlags::default(),
            cumulative: Seq(self.tsn.wrapping_add(cumulative).wrapping_sub(1)),
            a_rwnd: 1 << 30,
            gaps: Gaps(gaps),
            duplicates: &duplicates,
        };
        self.gets(&[Chunk::Sack(sack)]);
    }

    /// Returns the packets that leave now, each with its destination.
    pub(crate) fn sends(&mut self) -> Vec<(IpAddr, Vec<u8>)> {
        let mut sent = Vec::new();
        let mut packet = eifel_sctp::Packet::default();
        while let Some(outgoing) = self.association.poll_transmit(self.now, &mut packet) {
            sent.push((self.association.addresses(&outgoing).destination(), packet.to_bytes()));
        }
        note((self.now, &sent));
        sent
    }

    /// Advances to the next timer, and handles it. Returns the packets that leave.
    pub(crate) fn waits(&mut self) -> Vec<(IpAddr, Vec<u8>)> {
        self.now = self.now.max(self.association.poll_timeout());
        self.association.handle_timeout(self.now);
        self.sends()
    }

    /// Returns whether the association still exists.
    pub(crate) fn lives(&self) -> bool {
        self.association.phase() != Phase::Closed
    }
}

/// Counts the chunks in these packets that match `such`.
pub(crate) fn count(sent: &[(IpAddr, Vec<u8>)], such: fn(&Chunk<'_>) -> bool) -> u64 {
    let chunks = |bytes: &Vec<u8>| match sctp::parse(bytes) {
        Ok((_, chunks)) => chunks.filter(|chunk| chunk.as_ref().is_ok_and(such)).count() as u64,
        Err(_) => 0,
    };
    sent.iter().map(|(_, bytes)| chunks(bytes)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_icmp_error_ends_an_association_only_with_the_tag_of_its_packets() {
        let lives = |tag: fn(&Associated) -> u32| {
            let mut victim = Associated::open(&settings());
            victim.hears_of_no_sctp(tag(&victim));
            victim.lives()
        };
        assert!(lives(|victim| victim.tag) && lives(|_| PEER_TAG + 1));
        assert!(!lives(|_| PEER_TAG));
    }
}
