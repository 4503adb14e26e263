//! Joined segments: a device that cuts them has to send the packets that a host without offload
//! sends.

use super::{SECOND, opened, sender};
use crate::outgoing::all_packets;
use crate::pair::{Pair, held};
use eifel_live::host::Handle;
use eifel_live::system::tun::Offload;
use eifel_sim::pattern;
use eifel_tcp::Settings;

/// Returns the packets into which a device cuts `packet`, all without checksums (struct
/// virtio_net_hdr). Each but the last carries `unit` bytes, and only the last may have PSH or FIN.
fn cut(how: Offload, packet: &[u8]) -> Vec<Vec<u8>> {
    let (ip_len, head_len) = (usize::from(how.ip_len), usize::from(how.headers_len));
    let (head, payload) = packet.split_at(head_len);
    let unit = if how.unit == 0 { payload.len().max(1) } else { usize::from(how.unit) };
    let count = payload.len().div_ceil(unit).max(1);
    let piece = |number: usize| {
        let part = &payload[number * unit..payload.len().min((number + 1) * unit)];
        let mut packet = [head, part].concat();
        if how.is_v6 {
            packet[4..6].copy_from_slice(&((head_len - ip_len + part.len()) as u16).to_be_bytes());
        } else {
            packet[2..4].copy_from_slice(&((head_len + part.len()) as u16).to_be_bytes());
            let identification = u16::from_be_bytes([head[4], head[5]]).wrapping_add(number as u16);
            packet[4..6].copy_from_slice(&identification.to_be_bytes());
        }
        let seq = u32::from_be_bytes([head[ip_len + 4], head[ip_len + 5], head[ip_len + 6], head[ip_len + 7]]);
        packet[ip_len + 4..ip_len + 8].copy_from_slice(&seq.wrapping_add((number * unit) as u32).to_be_bytes());
        if number + 1 < count {
            // FIN and PSH.
            packet[ip_len + 13] &= !9;
        }
        packet
    };
    (0..count).map(piece).collect()
}

/// Returns a packet without its checksums.
fn unsummed(mut packet: Vec<u8>) -> Vec<u8> {
    let ip_len = if packet[0] >> 4 == 4 { 20 } else { 40 };
    if ip_len == 20 {
        packet[10..12].fill(0);
    }
    packet[ip_len + 16..ip_len + 18].fill(0);
    packet
}

/// Returns the packets that the first host sends now, as a device with offload cuts them. Also
/// returns how many packets that device gets.
fn cut_up(pair: &mut Pair) -> (Vec<Vec<u8>>, usize) {
    let (mut packets, mut large) = (Vec::new(), 0);
    while let Some((how, leaving)) = pair.a.poll_super_segment(pair.now) {
        let mut packet = Vec::new();
        leaving.append_to(&mut packet);
        packets.extend(cut(how, &packet));
        large += 1;
    }
    (packets, large)
}

/// Returns how many packets a host hands over for these if it joins all that it may. In a joined
/// packet, each segment but the last is as long as the first and has only the ACK flag.
fn as_large_as_can_be(packets: &[Vec<u8>]) -> usize {
    let (mut large, mut goes_on, mut unit, mut end) = (0, false, 0, 0_u32);
    for packet in packets {
        let ip_len = if packet[0] >> 4 == 4 { 20 } else { 40 };
        let tcp = &packet[ip_len..];
        let len = tcp.len() - usize::from(tcp[12] >> 4) * 4;
        let seq = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        if !goes_on || seq != end || len == 0 || len > unit {
            (large, unit) = (large + 1, len);
        }
        (goes_on, end) = (len == unit && len > 0 && tcp[13] == 0x10, seq.wrapping_add(len as u32));
    }
    large
}

/// Returns two hosts with a connection between them, and its handles.
fn called(settings: &Settings, peer: &str) -> (Pair, [Handle; 2]) {
    let mut pair = Pair::new();
    pair.b.listen(80, 1, settings, &sender()).unwrap();
    let from = pair.a.connect(pair.now, peer.parse().unwrap(), settings, &sender()).unwrap();
    pair.run_for(SECOND);
    let [to] = opened(&mut pair.b)[..] else { panic!("one connection opens") };
    (pair, [from, to])
}

#[test]
fn a_cut_super_segment_equals_the_segments_sent_without_offload() {
    let settings = Settings { timestamps: Some(Default::default()), ..held() };
    for peer in ["10.0.0.2:80", "[fd00::2]:80"] {
        let [(mut plain, [from, to]), (mut offloads, [also, _])] = [(); 2].map(|()| called(&settings, peer));
        assert_eq!(from, also);
        let (mut at, mut joined, mut room) = (0, 0, [0; 9000]);
        for count in [1, 1448, 1449, 2896, 4344, 3000, 5, 14_480, 20_000, 40_000, 65_536, 1448, 8000, 0] {
            for (pair, handle) in [(&mut plain, from), (&mut offloads, also)] {
                pair.a.connection(handle).unwrap().write(&pattern::bytes(at, count));
            }
            at += count as u64;
            // The FIN has a segment of its own.
            if count == 0 {
                plain.a.connection(from).unwrap().shutdown_write();
                offloads.a.connection(also).unwrap().shutdown_write();
            }
            for _ in 0..40 {
                let packets = all_packets(&mut plain.a, plain.now);
                let (cut, large) = cut_up(&mut offloads);
                let [expected, found] =
                    [&packets, &cut].map(|all| all.iter().cloned().map(unsummed).collect::<Vec<_>>());
                assert_eq!(expected.len(), found.len(), "{peer} {count}");
                assert!(expected == found, "{peer} {count}");
                joined += packets.len() - large;
                assert_eq!(large, as_large_as_can_be(&packets), "{peer} {count}");
                // Both peers get the same packets, checksums included.
                for pair in [&mut plain, &mut offloads] {
                    packets.iter().for_each(|packet| pair.b.handle_packet(pair.now, packet));
                    while pair.b.connection(to).is_some_and(|end| end.read(&mut room) > 0) {}
                    pair.b.handle_timeout(pair.now);
                    let answers = all_packets(&mut pair.b, pair.now);
                    answers.iter().for_each(|packet| pair.a.handle_packet(pair.now, packet));
                    for end in [&mut pair.a, &mut pair.b] {
                        end.handle_timeout(pair.now);
                    }
                    pair.now += SECOND / 20;
                }
            }
        }
        assert!(joined > 20, "{joined}");
    }
}
