//! Packets from strangers, which a host survives and counts.

use crate::pair::{Pair, held};
use crate::{connect, opened, sender};
use eifel_base::time::Duration;
use eifel_live::host::Handle;
use eifel_packet::datagram;
use eifel_packet::icmp;
use eifel_packet::ip::{self, Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Options, Segment};
use eifel_packet::seq::Seq;
use eifel_path::stream::Stream;
use eifel_sim::pattern;
use std::net::Ipv4Addr;

/// The random numbers of a stranger, who knows addresses and ports and nothing else.
struct Stranger(Stream);

impl Stranger {
    fn new() -> Self {
        Self(Stream::new(1, &["stranger"]))
    }

    fn below(&mut self, count: u64) -> u32 {
        self.0.below(count) as u32
    }

    /// Returns a segment with these flags, random numbers, and some data.
    fn segment(&mut self, source: Ipv4Addr, ports: (u16, u16), flags: Flags) -> Vec<u8> {
        let payload = vec![0x55; self.below(1400) as usize];
        let segment = Segment {
            source_port: ports.0,
            destination_port: ports.1,
            seq: Seq(self.below(1 << 32)),
            ack: Seq(self.below(1 << 32)),
            flags,
            window: self.below(1 << 16) as u16,
            options: Options::default(),
            payload_len: payload.len() as u32,
            ecn: Ecn::of(self.below(4) as u8),
        };
        let addresses = Addresses::V4 { source, destination: [10, 0, 0, 2].into() };
        let mut bytes = Vec::new();
        datagram::emit(&Header::new(addresses), &segment, &payload, &mut bytes).unwrap();
        bytes
    }
}

/// Sends `count` bytes of the pattern from `from` to `to`, and compares the bytes that arrive.
/// Calls `meanwhile` in each step.
fn transfer(pair: &mut Pair, (from, to): (Handle, Handle), count: usize, mut meanwhile: impl FnMut(&mut Pair)) {
    let (mut written, mut read) = (0, Vec::new());
    for _ in 0..10_000 {
        if read.len() == count {
            break;
        }
        written += pair.a.connection(from).unwrap().write(&pattern::bytes(written as u64, count - written));
        meanwhile(pair);
        pair.run_for(Duration::from_millis(10));
        let mut room = vec![0; 1 << 16];
        let got = pair.b.connection(to).unwrap().read(&mut room);
        read.extend_from_slice(&room[..got]);
    }
    assert!(read == pattern::bytes(0, count));
}

#[test]
fn a_blind_attacker_who_knows_the_ports_injects_nothing_and_resets_nothing() {
    let mut pair = Pair::new();
    pair.b.listen(80, 16, &held(), &sender()).unwrap();
    let from = connect(&mut pair, "10.0.0.2:80");
    let mut syn = Vec::new();
    assert!(pair.a.poll_packet(pair.now, &mut syn));
    let port = datagram::parse(&syn).unwrap().1.source_port;
    pair.b.handle_packet(pair.now, &syn);
    pair.run_for(Duration::from_secs(1));
    let to = opened(&mut pair.b)[0];
    let mut stranger = Stranger::new();
    transfer(&mut pair, (from, to), 300_000, |pair| {
        for _ in 0..500 {
            let flags = Flags(stranger.below(64) as u16);
            let forged = stranger.segment([10, 0, 0, 1].into(), (port, 80), flags);
            pair.b.handle_packet(pair.now, &forged);
        }
    });
    assert_eq!(pair.b.connections(), 1);
    let counts = pair.b.connection(to).unwrap().counts();
    // Forged segments were noticed, and few were answered.
    assert!(counts.challenges + counts.withheld_challenges > 0 && counts.challenges < 100, "{counts:?}");
}

#[test]
fn packets_of_other_protocols_and_for_other_hosts_are_counted() {
    const UDP: u8 = 17;
    let mut pair = Pair::new();
    let packet = |source: &str, destination: &str| {
        let addresses = Addresses::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap();
        let mut bytes = Vec::new();
        ip::emit(&Header::new(addresses), UDP, 8, &mut bytes).unwrap();
        bytes.extend([0; 8]);
        bytes
    };
    pair.b.handle_packet(pair.now, &packet("10.0.0.1", "10.0.0.2"));
    pair.b.handle_packet(pair.now, &packet("fd00::1", "fd00::2"));
    pair.b.handle_packet(pair.now, &packet("10.0.0.1", "10.0.0.3"));
    let counts = pair.b.counts();
    assert_eq!((counts.other_protocols, counts.foreign, counts.malformed), (2, 1, 0));
    // An echo request is no error about a segment. One with a wrong checksum is nothing at all.
    let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
    let mut echo = Vec::new();
    ip::emit(&Header::new(addresses), icmp::PROTOCOL_V4, 8, &mut echo).unwrap();
    echo.extend([8, 0, 0xf7, 0xff, 0, 0, 0, 0]);
    pair.b.handle_packet(pair.now, &echo);
    assert_eq!((pair.b.counts().other_protocols, pair.b.counts().malformed), (3, 0));
    echo[22] ^= 1;
    pair.b.handle_packet(pair.now, &echo);
    assert_eq!((pair.b.counts().other_protocols, pair.b.counts().malformed), (3, 1));
}

#[test]
fn a_syn_flood_costs_no_memory_and_an_honest_peer_connects() {
    let mut pair = Pair::new();
    pair.b.listen(80, 64, &held(), &sender()).unwrap();
    let mut stranger = Stranger::new();
    let mut answer = Vec::new();
    for _ in 0..100_000 {
        let source = Ipv4Addr::from_bits(0x0b00_0000 + stranger.below(1 << 24));
        let port = stranger.below(1 << 16) as u16;
        let syn = stranger.segment(source, (port, 80), Flags::SYN);
        pair.b.handle_packet(pair.now, &syn);
        while pair.b.poll_packet(pair.now, &mut answer) {}
    }
    assert_eq!(pair.b.connections(), 0);
    let from = connect(&mut pair, "10.0.0.2:80");
    pair.run_for(Duration::from_secs(1));
    let to = opened(&mut pair.b)[0];
    transfer(&mut pair, (from, to), 50_000, |_| {});
}

/// ICMP errors without the packet that they are about.
#[test]
fn icmp_errors_without_the_quoted_packet_are_malformed() {
    let mut pair = Pair::new();
    for (number, (source, destination, protocol, kind)) in
        [("10.0.0.1", "10.0.0.2", 1, 3), ("fd00::1", "fd00::2", 58, 1)].into_iter().enumerate()
    {
        let addresses = Addresses::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap();
        let mut bytes = Vec::new();
        ip::emit(&Header::new(addresses), protocol, 3, &mut bytes).unwrap();
        bytes.extend([kind, 3, 0]);
        pair.b.handle_packet(pair.now, &bytes);
        assert_eq!(pair.b.counts().malformed, number as u64 + 1, "{source}");
    }
}
