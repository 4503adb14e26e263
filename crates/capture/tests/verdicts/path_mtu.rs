//! Segments that are longer than the path's MTU, and routers that say so.

use crate::talk::{CLIENT, Talk, flight, said};
use eifel_capture::result::Cause::{self, Fast, PathMtu, Rto};
use eifel_capture::result::{Confidence, Verdict};
use eifel_packet::icmp;
use eifel_packet::ip::{self, Addresses, Header};
use eifel_packet::segment::{Flags, Options};
use eifel_packet::seq::Seq;

/// IP and TCP headers with the timestamps option, in bytes.
const HEADERS: u32 = 52;

/// A router reports segment `number`, which is too long for `mtu` bytes. The message quotes the
/// first eight bytes behind the IP header. Returns its frame.
fn too_big(talk: &mut Talk, ms: f64, number: u32, mtu: u32) -> u64 {
    too_big_from(talk, ms, 1000, number, mtu)
}

/// As [`too_big`], for a segment from another port.
fn too_big_from(talk: &mut Talk, ms: f64, port: u16, number: u32, mtu: u32) -> u64 {
    let segment = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
    let message = Addresses::V4 { source: [10, 0, 0, 9].into(), destination: [10, 0, 0, 1].into() };
    let mut quoted = Vec::new();
    ip::emit(&Header::new(segment), 6, 1000 + HEADERS as usize - 20, &mut quoted).expect("it fits a packet");
    quoted.extend(port.to_be_bytes());
    quoted.extend([0, 80]);
    quoted.extend(CLIENT.wrapping_add(1 + number * 1000).to_be_bytes());
    let mut bytes = Vec::new();
    icmp::emit_too_big(&Header::new(message), mtu, &quoted, &mut bytes).expect("it fits a packet");
    let wire_len = bytes.len() as u32;
    talk.last = (1_000_000_000_000 + (ms * 1e6) as u64, bytes, wire_len);
    talk.show(0);
    talk.frame
}

/// Repeats `len` bytes from byte `from` on.
fn again(talk: &mut Talk, ms: f64, from: u32, len: u32) {
    talk.packet(ms, false, Flags::ACK, (1 + from, 1), len, (ms as u32, talk.heard), Options::default());
}

/// Returns a conversation with ten segments of 1000 bytes outstanding.
fn outstanding() -> Talk {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    talk
}

/// Returns the causes of all retransmissions.
fn causes(talk: Talk) -> Vec<Cause> {
    talk.end().retransmissions.iter().map(|one| one.cause).collect()
}

#[test]
fn segments_beyond_the_path_mtu_are_resent_in_shorter_ones() {
    let mut talk = outstanding();
    let reports = [0, 2].map(|number| too_big(&mut talk, 125.0, number, 600 + HEADERS));
    for piece in 0..16 {
        again(&mut talk, 126.0, piece * 600, 600);
    }
    again(&mut talk, 126.0, 9600, 400);
    for number in 1..11 {
        talk.ack(230.0 + f64::from(number), number, 126, &[]);
    }
    let found = talk.end();
    assert_eq!(found.others.values().sum::<u64>(), 2);
    assert_eq!(found.retransmissions.len(), 17);
    assert!(found.retransmissions.iter().all(|one| one.cause == PathMtu && one.first_told.is_empty()));
    assert!(found.retransmissions.iter().all(|one| one.verdict != Verdict::Spurious));
    // One piece repeats nothing but the first reported segment, and two begin or end in the other.
    let by_router: Vec<_> = found
        .retransmissions
        .iter()
        .filter(|one| one.reason == "a router reports that it dropped the original")
        .map(|one| (one.bytes, one.evidence_frame))
        .collect();
    assert_eq!(by_router, [0, 1, 1].map(|report: usize| (600, Some(reports[report]))));
}

#[test]
fn an_icmp_message_does_not_outweigh_the_receivers_acks() {
    let judged = |echo: u32, duplicate: bool| {
        let mut talk = outstanding();
        let report = too_big(&mut talk, 125.0, 0, 600 + HEADERS);
        again(&mut talk, 126.0, 0, 600);
        talk.ack(227.0, 10, echo, &[]);
        if duplicate {
            let mut options = Options::default();
            options.sack.push(Seq(CLIENT.wrapping_add(1)), Seq(CLIENT.wrapping_add(601)));
            talk.packet(240.0, true, Flags::ACK, (1, 10_001), 0, (240, echo), options);
        }
        let one = said(&talk.end().retransmissions[0]);
        (one.2, one.3, one.4 == Some(report))
    };
    assert_eq!(judged(126, false), (Verdict::Needed, Confidence::Likely, true));
    assert_eq!(
        judged(110, false),
        (Verdict::Spurious, Confidence::Certain, false),
        "it echoes the original's timestamp"
    );
    assert_eq!(judged(126, true), (Verdict::Spurious, Confidence::Likely, false), "it reports a duplicate");
}

#[test]
fn an_icmp_message_explains_a_segment_that_no_ack_covers() {
    let mut talk = outstanding();
    let report = too_big(&mut talk, 125.0, 0, 600 + HEADERS);
    again(&mut talk, 126.0, 0, 600);
    again(&mut talk, 500.0, 0, 600);
    let found: Vec<_> = talk.end().retransmissions.iter().map(said).collect();
    assert_eq!((found[0].1, found[0].2, found[0].4), (PathMtu, Verdict::Needed, Some(report)));
    assert_eq!((found[1].1, found[1].2), (Rto, Verdict::Undecidable), "the message is about the original");
}

#[test]
fn a_retransmission_that_an_icmp_message_does_not_explain_has_another_cause() {
    let alone = |ms: f64, len: u32, report: fn(&mut Talk)| {
        let mut talk = outstanding();
        report(&mut talk);
        again(&mut talk, ms, 0, len);
        causes(talk)
    };
    assert_eq!(alone(126.0, 600, |talk| _ = too_big(talk, 125.0, 0, 652)), [PathMtu]);
    // Capture points at the sender may see several segments as one.
    assert_eq!(alone(126.0, 1000, |talk| _ = too_big(talk, 125.0, 0, 652)), [PathMtu]);
    assert_eq!(alone(424.0, 600, |talk| _ = too_big(talk, 125.0, 0, 652)), [PathMtu], "a round trip and 200 ms");
    assert_eq!(alone(426.0, 600, |talk| _ = too_big(talk, 125.0, 0, 652)), [Rto], "the timer has expired");
    let others: [fn(&mut Talk); 4] = [
        |talk| _ = too_big(talk, 425.0, 0, 1052),
        |talk| _ = too_big(talk, 425.0, 10, 652),
        |talk| _ = too_big_from(talk, 425.0, 1001, 0, 652),
        |talk| {
            // The message comes once all is acknowledged, and the segment is the next one's.
            talk.ack(210.0, 10, 110, &[]);
            _ = too_big(talk, 211.0, 0, 652);
            talk.data(220.0, 10);
        },
    ];
    for (number, report) in others.into_iter().enumerate() {
        assert_ne!(alone(426.0, 600, report), [PathMtu], "{number}");
    }
}

#[test]
fn a_sender_that_ignores_an_icmp_message_repairs_by_acks_or_timer() {
    let mut talk = outstanding();
    too_big(&mut talk, 125.0, 0, 652);
    for number in 1..4 {
        talk.ack(211.0 + f64::from(number), 0, 0, &[(1, number + 1)]);
    }
    talk.data(214.0, 0);
    talk.ack(316.0, 10, 214, &[]);
    assert_eq!(causes(talk), [Fast]);
}

/// A router from before RFC 1191 does not name the MTU.
#[test]
fn an_icmp_message_without_an_mtu_allows_all_shorter_packets() {
    for (len, expected) in [(999, PathMtu), (1000, PathMtu)] {
        let mut talk = outstanding();
        too_big(&mut talk, 125.0, 0, 0);
        again(&mut talk, 126.0, 0, len);
        assert_eq!(causes(talk), [expected], "{len}");
    }
}
