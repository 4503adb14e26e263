//! Receivers that acknowledge differently from those of the simulator.

use std::collections::{BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use eifel_capture::result::{Endpoint, Flow};
use eifel_whatif::fifo::Kind;
use eifel_whatif::path::{self, Path};
use eifel_whatif::trace::{Piece, ReceivedAck, Trace, Transmission};

const PAYLOAD: u64 = 1448;
const BASE_S: f64 = 0.1;
/// Transmission time of a packet at 2 Mbit/s, in seconds.
const SERVICE_S: f64 = 0.006;
const WINDOW: u64 = 60;
const LAST: u64 = 600;

/// The path delivers nothing between these times, in seconds.
const HELD_S: (f64, f64) = (1.0, 2.5);
/// Number of segments that come at once, for which the receiver sends one ACK.
const AT_ONCE: u64 = 16;

/// Returns the trace of a transfer over a path that loses nothing: slow start from ten segments,
/// then a window that keeps the link busy. The receiver acknowledges each of the first `quick`
/// segments, and then every second. If the path `holds` packets once, they come at once, and the
/// receiver sends one ACK for many.
fn transfer(quick: u64, holds: bool) -> Trace {
    let end = |last, port| Endpoint { address: Ipv4Addr::new(10, 0, 0, last).into(), port };
    let mut trace = Trace::new(Flow { source: end(1, 1), destination: end(2, 80), tunnel: 0 });
    (trace.sack, trace.timestamps, trace.window) = (true, true, WINDOW * PAYLOAD);
    let (mut acks, mut free, mut window, mut acknowledged) = (VecDeque::new(), 0.0_f64, 10, 0);
    let mut at = BASE_S;
    loop {
        let sent = trace.transmissions.len() as u64;
        for number in sent..LAST.min(acknowledged + window) {
            let start = 1 + number * PAYLOAD;
            trace.pieces.push(Piece { start, end: start + PAYLOAD, transmissions: vec![number as usize] });
            trace.transmissions.push(Transmission { at, frame: number + 1, piece: number as usize, wire: 1500 });
            free = free.max(at) + SERVICE_S;
            let held = holds && (HELD_S.0..HELD_S.1).contains(&free);
            let every = if held {
                AT_ONCE
            } else if number < quick {
                1
            } else {
                2
            };
            if (number + 1) % every == 0 || number + 1 == LAST {
                acks.push_back((if held { HELD_S.1 } else { free } + BASE_S, number + 1));
            }
        }
        let Some((ack, number)) = acks.pop_front() else { return trace };
        at = ack;
        window = WINDOW.min(window + number - acknowledged);
        acknowledged = number;
        let cumulative = 1 + number * PAYLOAD;
        let edge = cumulative + trace.window;
        trace.acks.push(ReceivedAck {
            at,
            cumulative,
            sacks: Vec::new(),
            dsack: false,
            stamp: None,
            number: 0,
            edge,
            closed: false,
        });
    }
}

fn path(quick: u64, holds: bool) -> Path {
    path::extract(&transfer(quick, holds), &BTreeSet::new()).expect("it shows a path")
}

#[test]
fn a_receiver_that_acknowledges_the_first_segments_at_once_hides_neither_delay_nor_rate() {
    // Linux acknowledges the first sixteen to forty segments so. The link is busy from the second
    // round trip to the end.
    for quick in [0, 16, 40, 100] {
        let found = path(quick, false);
        assert!((found.base_rtt_ms - BASE_S * 1e3).abs() < 0.5, "{quick}: {}", found.base_rtt_ms);
        assert!((found.rate_bps / 2e6 - 1.0).abs() < 0.002, "{quick}: {}", found.rate_bps);
        assert!(found.holds.is_empty(), "{quick}: {:?}", found.holds);
        assert_eq!((found.acks.every, found.acks.lost), (2, 0), "{quick}");
    }
}

#[test]
fn a_receiver_that_acknowledges_every_second_segment_at_the_end_alone_has_lost_no_ack() {
    let found = path(LAST - 200, false);
    assert_eq!((found.acks.every, found.acks.heard, found.acks.lost), (1, 500, 0));
    assert!((found.base_rtt_ms - BASE_S * 1e3).abs() < 0.5 && found.holds.is_empty(), "{}", found.base_rtt_ms);
}

#[test]
fn a_receiver_that_takes_what_was_held_for_one_segment_has_lost_no_ack() {
    let found = path(0, true);
    let [hold] = found.holds.as_slice() else { panic!("{:?}", found.holds) };
    assert_eq!(hold.kind, Kind::Arriving);
    assert!((hold.end_s - HELD_S.1).abs() < 0.0005, "{hold:?}");
    assert_eq!((found.acks.every, found.acks.lost), (2, 0));
}
