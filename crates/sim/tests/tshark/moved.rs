//! Rewrites captures to IPv6, with sequence numbers that wrap in both directions. Wireshark's
//! analysis must not change.

use eifel_packet::ip::Addresses;
use eifel_packet::segment::{Flags, SackBlocks};
use eifel_packet::seq::Seq;

use crate::capture::{Seen, read, write};
use crate::dissect::{Frame, OPENER, dissect};
use crate::runs::runs;

/// Returns the initial sequence number for a direction of `len` positions. The numbers wrap about
/// halfway, but within a segment: Wireshark takes a next sequence number of 0 as absent.
fn wrapping(len: u32) -> u32 {
    (len / 2000 * 1000 + 500).wrapping_neg()
}

fn moved(packets: &[Seen]) -> Vec<Seen> {
    let ours = |seen: &Seen| seen.segment.source_port.to_string() == OPENER;
    let isn = |from_us: bool| {
        let syn = packets.iter().find(|seen| ours(seen) == from_us && seen.segment.flags.has(Flags::SYN)).unwrap();
        syn.segment.seq.0
    };
    let (own, other) = (isn(true), isn(false));
    let sent = |from_us: bool, isn: u32| {
        let one_way = packets.iter().filter(|seen| ours(seen) == from_us);
        one_way.map(|seen| seen.segment.seq.0.wrapping_sub(isn) + seen.segment.payload_len + 1).max().unwrap()
    };
    let by = [(true, own), (false, other)].map(|(from_us, isn)| wrapping(sent(from_us, isn)).wrapping_sub(isn));
    packets.iter().map(|seen| shifted(seen, if ours(seen) { by } else { [by[1], by[0]] })).collect()
}

/// Returns a packet over IPv6, with its own direction's numbers shifted by `own`, and the other
/// direction's by `other`.
fn shifted(seen: &Seen, [own, other]: [u32; 2]) -> Seen {
    let mut segment = seen.segment;
    segment.seq = Seq(segment.seq.0.wrapping_add(own));
    if segment.flags.has(Flags::ACK) {
        segment.ack = Seq(segment.ack.0.wrapping_add(other));
    }
    let mut sack = SackBlocks::EMPTY;
    for (left, right) in segment.options.sack.as_slice() {
        assert!(sack.push(Seq(left.0.wrapping_add(other)), Seq(right.0.wrapping_add(other))));
    }
    segment.options.sack = sack;
    let Addresses::V4 { source, destination } = seen.addresses else { panic!("the simulator writes IPv4") };
    let (source, destination) = (source.to_ipv6_mapped(), destination.to_ipv6_mapped());
    Seen { segment, addresses: Addresses::V6 { source, destination }, ..seen.clone() }
}

#[test]
fn over_ipv6_and_across_the_wrap_all_is_as_it_was() {
    for run in runs().iter().filter(|run| run.name.starts_with("rough")) {
        let there = moved(&read(&run.outcome.captures[0].pcapng));
        let wraps = there.windows(2).filter(|two| two[0].segment.seq.0 > two[1].segment.seq.0).count();
        assert!(wraps > 0);
        let Some(after) = dissect(&format!("{}-moved", run.name), &write(&there)) else { return };
        let differs = run.at_sender.iter().zip(&after).find(|(before, after)| before != after);
        assert_eq!(differs, None::<(&Frame, &Frame)>, "{}", run.name);
        assert_eq!(run.at_sender.len(), after.len());
    }
}
