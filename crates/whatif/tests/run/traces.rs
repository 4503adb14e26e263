//! A trace takes only the packets of its own connection.

use std::net::Ipv4Addr;

use eifel_capture::frame::decode::Packet;
use eifel_capture::result::{Endpoint, Flow};
use eifel_packet::ip::Addresses;
use eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_whatif::trace::{MOST_TRANSMISSIONS, Trace, Transmission};

/// An end of a connection: the last number of its address, and its port.
type End = (u8, u16);

const ENDS: [End; 4] = [(1, 1000), (1, 1001), (2, 1000), (2, 80)];
const SENDER: End = ENDS[0];
const RECEIVER: End = ENDS[3];

const STAMPS: Timestamps = Timestamps { value: 1, echo: 0 };

fn address(end: End) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, end.0)
}

fn packet(from: End, to: End, tunnel: u32, seq: u32) -> Packet {
    let segment = Segment {
        source_port: from.1,
        destination_port: to.1,
        seq: Seq(seq),
        ack: Seq(101),
        flags: Flags::ACK,
        payload_len: 100,
        ..Segment::EMPTY
    };
    let addresses = Addresses::V4 { source: address(from), destination: address(to) };
    Packet { addresses, identification: 0, hop_limit: 64, tunnel, segment }
}

#[test]
fn packets_that_share_an_end_or_a_tunnel_belong_to_other_connections() {
    let end = |end: End| Endpoint { address: address(end).into(), port: end.1 };
    for from in ENDS {
        for to in ENDS {
            for tunnel in [0, 5] {
                let mut trace = Trace::new(Flow { source: end(SENDER), destination: end(RECEIVER), tunnel: 5 });
                trace.packet(&packet(SENDER, RECEIVER, 5, 1), 1_000_000, 1);
                let before = (trace.transmissions.len(), trace.acks.len());
                trace.packet(&packet(from, to, tunnel, 101), 2_000_000, 2);
                let taken = (trace.transmissions.len() - before.0, trace.acks.len() - before.1);
                let expected = match (from, to, tunnel) {
                    (SENDER, RECEIVER, 5) => (1, 0),
                    (RECEIVER, SENDER, 5) => (0, 1),
                    _ => (0, 0),
                };
                assert_eq!(taken, expected, "{from:?} to {to:?} in {tunnel}");
            }
        }
    }
}

/// The capture shows segments that the network card splits later: at the MSS, minus twelve bytes of
/// timestamps.
#[test]
fn a_long_segment_is_cut_as_the_network_card_cuts_it() {
    for (mss, stamps, pieces) in [
        (None, None, [1460, 1436]),
        (None, Some(STAMPS), [1448, 1448]),
        (Some(1500), None, [1500, 1396]),
        (Some(1500), Some(STAMPS), [1488, 1408]),
    ] {
        let end = |end: End| Endpoint { address: address(end).into(), port: end.1 };
        let mut trace = Trace::new(Flow { source: end(SENDER), destination: end(RECEIVER), tunnel: 0 });
        let mut syn = packet(SENDER, RECEIVER, 0, 0);
        syn.segment.flags = Flags::SYN;
        syn.segment.payload_len = 0;
        syn.segment.options.mss = mss;
        trace.packet(&syn, 1_000_000, 1);
        let mut long = packet(SENDER, RECEIVER, 0, 1);
        long.segment.payload_len = 2896;
        long.segment.options.timestamps = stamps;
        trace.packet(&long, 2_000_000, 2);
        let lengths: Vec<_> = trace.pieces.iter().map(|piece| piece.end - piece.start).collect();
        assert_eq!(lengths, pieces, "{mss:?} {stamps:?}");
    }
}

/// Gives a trace two SYNs with these options, and then a long segment. Returns the longest piece,
/// and whether SACK is permitted.
fn opened(ours: Options, theirs: Options) -> (u64, bool) {
    let end = |end: End| Endpoint { address: address(end).into(), port: end.1 };
    let mut trace = Trace::new(Flow { source: end(SENDER), destination: end(RECEIVER), tunnel: 0 });
    for (from, to, flags, options) in
        [(SENDER, RECEIVER, Flags::SYN, ours), (RECEIVER, SENDER, Flags::SYN.with(Flags::ACK), theirs)]
    {
        let mut syn = packet(from, to, 0, 0);
        syn.segment = Segment { flags, payload_len: 0, options, ..syn.segment };
        trace.packet(&syn, 1_000_000, 1);
    }
    let mut long = packet(SENDER, RECEIVER, 0, 1);
    long.segment.payload_len = 4000;
    trace.packet(&long, 2_000_000, 2);
    (trace.pieces[0].end - trace.pieces[0].start, trace.sack)
}

#[test]
fn the_smaller_mss_bounds_segments_and_sack_needs_both_ends() {
    let mss = |mss| Options { mss, ..Options::default() };
    for (ours, theirs, longest) in [
        (None, None, 1460),
        (Some(1200), None, 1200),
        (None, Some(1200), 1200),
        (Some(1200), Some(1300), 1200),
        (Some(1300), Some(1200), 1200),
    ] {
        assert_eq!(opened(mss(ours), mss(theirs)), (longest, false), "{ours:?} {theirs:?}");
    }
    let sack = |sack_permitted| Options { sack_permitted, ..Options::default() };
    for (ours, theirs) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_eq!(opened(sack(ours), sack(theirs)), (1460, ours && theirs));
    }
}

#[test]
fn a_trace_stops_at_its_limit_of_transmissions() {
    let end = |end: End| Endpoint { address: address(end).into(), port: end.1 };
    let mut trace = Trace::new(Flow { source: end(SENDER), destination: end(RECEIVER), tunnel: 0 });
    trace.transmissions = vec![Transmission { at: 0.0, frame: 1, piece: 0, wire: 140 }; MOST_TRANSMISSIONS - 1];
    trace.packet(&packet(SENDER, RECEIVER, 0, 1), 1_000_000, 1);
    assert_eq!((trace.transmissions.len(), trace.pieces.len(), trace.cut), (MOST_TRANSMISSIONS, 1, false));
    trace.packet(&packet(SENDER, RECEIVER, 0, 101), 2_000_000, 2);
    assert_eq!((trace.transmissions.len(), trace.pieces.len(), trace.cut), (MOST_TRANSMISSIONS, 1, true));
}
