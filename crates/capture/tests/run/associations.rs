//! SCTP conversations with a known truth. One end sends chunks of 1000 bytes over a path with a
//! round trip of 100 ms. The capture is made next to that end.

use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::frame::read::Frame;
use eifel_capture::report::Report;
use eifel_capture::report::anonymise::Anonymiser;
use eifel_capture::result::Cause;
use eifel_capture::result::Protocol;
use eifel_capture::result::{Confidence, StackReaction, Verdict};
use eifel_capture::result::{Number, Retransmission};
use eifel_packet::sctp::{Chunk, Data, DataFlags, Gaps, Header, Parameters, Sack, SackFlags, Writer};
use eifel_packet::seq::Seq;
use std::net::IpAddr;

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVERS: [[u8; 4]; 2] = [[10, 0, 0, 2], [10, 0, 1, 2]];
/// The verification tags in packets to the client and to the server.
const TAGS: [u32; 2] = [0xc11e, 0x5e7e];
/// A parameter of eight bytes.
const HEARTBEAT_INFO: [u8; 8] = [0, 1, 0, 8, 1, 2, 3, 4];
const PAYLOAD: [u8; 1000] = [0xa5; 1000];
const FIRST: u32 = 4_294_967_290;

#[derive(Default)]
struct Talk {
    analyzer: Analyzer,
    frames: u64,
    /// Times and bytes of the frames.
    shown: Vec<(u64, Vec<u8>)>,
    /// Whether packets are encapsulated in UDP (RFC 6951).
    encapsulated: bool,
}

impl Talk {
    fn packet(&mut self, ms: u64, server: usize, from_server: bool, chunk: &Chunk<'_>) -> u64 {
        let (ports, tag) = if from_server { ((9, 7), TAGS[0]) } else { ((7, 9), TAGS[1]) };
        let mut sctp = Vec::new();
        let header = Header { source_port: ports.0, destination_port: ports.1, verification_tag: tag };
        let mut writer = Writer::new(&header, &mut sctp);
        writer.chunk(chunk).expect("it fits a packet");
        writer.finish();
        if self.encapsulated {
            let mut udp = [9899_u16.to_be_bytes(), 9899_u16.to_be_bytes()].concat();
            udp.extend((sctp.len() as u16 + 8).to_be_bytes());
            udp.extend([0, 0]);
            sctp = [udp, sctp].concat();
        }
        let mut bytes = vec![0x45, 0];
        bytes.extend((sctp.len() as u16 + 20).to_be_bytes());
        self.frames += 1;
        bytes.extend((self.frames as u16).to_be_bytes());
        bytes.extend([0, 0, 64, if self.encapsulated { 17 } else { 132 }, 0, 0]);
        let (source, destination) = if from_server { (SERVERS[server], CLIENT) } else { (CLIENT, SERVERS[server]) };
        bytes.extend(source);
        bytes.extend(destination);
        bytes.extend(sctp);
        let nanos = 1_000_000_000_000 + ms * 1_000_000;
        let wire_len = bytes.len() as u32;
        self.analyzer.frame(&Frame { number: self.frames, nanos, link: 101, interface: 0, wire_len, bytes: &bytes });
        self.shown.push((nanos, bytes));
        self.frames
    }

    fn heartbeat(&mut self, ms: u64) {
        self.packet(ms, 0, true, &Chunk::Heartbeat(Parameters(&HEARTBEAT_INFO)));
        self.packet(ms, 0, false, &Chunk::HeartbeatAck(Parameters(&HEARTBEAT_INFO)));
    }

    fn data(&mut self, ms: u64, server: usize, number: u32) -> u64 {
        let chunk = Data {
            flags: DataFlags(3),
            tsn: Seq(FIRST.wrapping_add(number)),
            stream: 0,
            ssn: 0,
            ppid: [0; 4],
            payload: &PAYLOAD,
        };
        self.packet(ms, server, false, &Chunk::Data(chunk))
    }

    /// Sends a SACK: everything below `number` has arrived, and `gaps` beyond it, as offsets.
    /// `duplicates` have arrived again.
    fn sack(&mut self, ms: u64, number: u32, gaps: &[(u16, u16)], duplicates: &[u32]) -> u64 {
        let gaps: Vec<[u8; 4]> = gaps
            .iter()
            .map(|(first, last)| {
                [first.to_be_bytes(), last.to_be_bytes()].concat().try_into().expect("twice two bytes")
            })
            .collect();
        let duplicates: Vec<_> = duplicates.iter().map(|number| FIRST.wrapping_add(*number).to_be_bytes()).collect();
        let cumulative = Seq(FIRST.wrapping_add(number).wrapping_sub(1));
        let sack = Sack { flags: SackFlags(0), cumulative, a_rwnd: 60_000, gaps: Gaps(&gaps), duplicates: &duplicates };
        self.packet(ms, 0, true, &Chunk::Sack(sack))
    }

    fn end(self) -> Analysis {
        self.analyzer.finish()
    }
}

fn said(one: &Retransmission) -> (u64, Number, Cause, Verdict, Confidence, Option<u64>) {
    (one.frame, one.number, one.cause, one.verdict, one.confidence, one.evidence_frame)
}

fn tsn(number: u32) -> Number {
    Number::Tsn(FIRST.wrapping_add(number))
}

#[test]
fn a_lost_chunk_is_needed_and_a_late_one_spurious() {
    for encapsulated in [false, true] {
        let mut talk = Talk { encapsulated, ..Talk::default() };
        talk.heartbeat(0);
        for number in 0..10 {
            talk.data(10 + u64::from(number), 0, number);
        }
        talk.sack(110, 1, &[], &[]);
        // Chunk 1 is lost, and chunk 5 is late.
        talk.sack(112, 1, &[(2, 4)], &[]);
        talk.sack(116, 1, &[(2, 4), (6, 9)], &[]);
        let again = [talk.data(116, 0, 1), talk.data(117, 1, 5)];
        let late = talk.sack(130, 1, &[(2, 9)], &[]);
        let filled = talk.sack(216, 10, &[], &[]);
        talk.sack(217, 10, &[], &[5]);
        let found = talk.end();
        let one = &found.connections[0];
        assert_eq!((found.connections.len(), one.protocol, one.other_addresses.concat().len()), (1, Protocol::Sctp, 1));
        assert_eq!(
            found.retransmissions.iter().map(said).collect::<Vec<_>>(),
            [
                (again[0], tsn(1), Cause::Fast, Verdict::Needed, Confidence::Likely, Some(filled)),
                (again[1], tsn(5), Cause::Fast, Verdict::Spurious, Confidence::Likely, Some(late)),
            ]
        );
    }
}

#[test]
fn after_a_timeout_the_rest_is_go_back_n() {
    let mut talk = Talk::default();
    talk.heartbeat(0);
    for number in 0..5 {
        talk.data(10 + u64::from(number), 0, number);
    }
    talk.sack(110, 1, &[], &[]);
    let expired = talk.data(1200, 0, 1);
    // Everything was only late.
    let answer = talk.sack(1250, 2, &[], &[]);
    let next = talk.data(1250, 0, 2);
    let answers = talk.sack(1260, 5, &[], &[]);
    talk.sack(1350, 5, &[], &[1, 2]);
    let found = talk.end();
    assert_eq!(
        found.retransmissions.iter().map(said).collect::<Vec<_>>(),
        [
            (expired, tsn(1), Cause::Rto, Verdict::Spurious, Confidence::Likely, Some(answer)),
            (next, tsn(2), Cause::Loss, Verdict::Spurious, Confidence::Likely, Some(answers)),
        ]
    );
}

/// Returns a talk with a round trip of 10 ms, in which the first chunks have arrived.
fn short() -> Talk {
    let mut talk = Talk::default();
    talk.heartbeat(0);
    for number in 0..3 {
        let ms = 20 * u64::from(number) + 10;
        talk.data(ms, 0, number);
        talk.sack(ms + 10, number + 1, &[], &[]);
    }
    talk
}

/// RTO.Min is far below one second in networks of telephone signals.
#[test]
fn a_timeout_far_below_the_recommended_minimum_is_one() {
    let cause = |talk: Talk| {
        let again = talk.end().retransmissions;
        again.iter().map(|one| (one.number, one.cause)).collect::<Vec<_>>()
    };
    // A SACK has reported a gap, but the sender waits for the timer.
    let mut talk = short();
    talk.data(100, 0, 3);
    talk.data(101, 0, 4);
    talk.sack(111, 3, &[(2, 2)], &[]);
    talk.data(220, 0, 3);
    assert_eq!(cause(talk), [(tsn(3), Cause::Rto)]);
    // No SACK comes, and new chunks leave every 5 ms until the timer expires.
    let mut talk = short();
    for number in 3..27 {
        talk.data(100 + 5 * u64::from(number - 3), 0, number);
    }
    talk.data(220, 0, 3);
    assert_eq!(cause(talk), [(tsn(3), Cause::Rto)]);
    // A SACK that reports the gap prompts the sender.
    let mut talk = short();
    talk.data(100, 0, 3);
    talk.data(210, 0, 4);
    talk.sack(220, 3, &[(2, 2)], &[]);
    talk.data(221, 0, 3);
    assert_eq!(cause(talk), [(tsn(3), Cause::Fast)]);
    // No timeout is shorter than a round trip.
    let mut talk = short();
    talk.data(100, 0, 3);
    talk.data(101, 0, 4);
    talk.data(107, 0, 3);
    assert_eq!(cause(talk), [(tsn(3), Cause::Unknown)]);
}

/// Returns a talk of ten chunks, the first of them late by a second. A timeout sends it again, and
/// then the SACK of the original arrives.
fn delayed() -> Talk {
    let mut talk = Talk::default();
    talk.heartbeat(0);
    for number in 0..10 {
        talk.data(10 + u64::from(number), 0, number);
    }
    talk.sack(110, 2, &[], &[]);
    talk.data(1200, 0, 2);
    talk
}

#[test]
fn detectors_judge_chunks() {
    let mut talk = delayed();
    // The SACK of the original advances, then two new chunks leave, then old chunks are
    // acknowledged.
    talk.sack(1250, 4, &[], &[]);
    talk.data(1250, 0, 10);
    talk.data(1250, 0, 11);
    let told = talk.sack(1255, 10, &[], &[]);
    let duplicate = talk.sack(1300, 10, &[], &[2]);
    talk.sack(1350, 12, &[], &[]);
    let found = talk.end();
    let [one] = found.retransmissions.as_slice() else { panic!("{:?}", found.retransmissions) };
    let of = |name| one.first_told.iter().find(|told| told.detector == name).map(|told| (told.frame, told.spurious));
    assert_eq!(of("f-rto-sctp"), Some((told, true)), "{:?}", one.first_told);
    assert_eq!(of("dsack"), Some((duplicate, true)), "{:?}", one.first_told);
    assert_eq!(of("eifel-timestamps"), None);
}

#[test]
fn the_flight_size_of_an_association_shows_an_undo() {
    for (chunks, noticed) in [(10, StackReaction::Undone), (3, StackReaction::CannotBeTold)] {
        let mut talk = delayed();
        talk.sack(1250, 10, &[], &[]);
        for number in 10..10 + chunks {
            talk.data(1251, 0, number);
        }
        talk.sack(1300, 10, &[], &[2]);
        talk.sack(1351, 10 + chunks, &[], &[]);
        // The sender has more to send.
        talk.data(2000, 0, 10 + chunks);
        let found = talk.end();
        assert_eq!(found.retransmissions.iter().map(|one| one.stack_noticed).collect::<Vec<_>>(), [noticed]);
        let lost = 8000 - u64::from(chunks.min(8)) * 1000;
        assert_eq!(found.connections[0].directions[1].cost.window_lost_bytes, lost);
    }
}

#[test]
fn an_anonymised_copy_keeps_the_verdicts_and_no_content() {
    for encapsulated in [false, true] {
        let mut talk = Talk { encapsulated, ..delayed() };
        talk.data(1201, 1, 5);
        talk.sack(1250, 10, &[], &[]);
        talk.sack(1300, 10, &[], &[2, 5]);
        let mut anonymiser = Anonymiser::new(Vec::new()).expect("memory can be written");
        for (number, (nanos, bytes)) in (1..).zip(&talk.shown) {
            let wire_len = bytes.len() as u32;
            let frame = Frame { number, nanos: *nanos, link: 101, interface: 0, wire_len, bytes };
            anonymiser.frame(&frame).expect("memory can be written");
        }
        let copy = anonymiser.finish().expect("memory can be written");
        let report = Report::of_bytes("copy", &copy).expect("the copy is a capture");
        let found = talk.end();
        assert_eq!(found.retransmissions.len(), 2);
        assert_eq!(report.retransmissions, found.retransmissions);
        assert_eq!(report.connections[0].client.address, IpAddr::from([198, 18, 0, 1]));
        let held = |what: &[u8]| copy.windows(what.len()).any(|bytes| bytes == what);
        assert!(!held(&CLIENT) && !held(&SERVERS[0]) && !held(&PAYLOAD[..8]) && !held(&HEARTBEAT_INFO[4..]));
        assert!(copy.len() < talk_len(&found) / 4);
    }
}

/// Returns the least number of bytes on the wire for the data that were sent.
fn talk_len(found: &Analysis) -> usize {
    found.connections.iter().flat_map(|one| &one.directions).map(|way| way.counts.bytes as usize).sum()
}

#[test]
fn a_gap_below_reported_chunks_shows_a_loss() {
    let sent_again_and_answered = |gaps: &[(u16, u16)]| {
        let mut talk = Talk::default();
        talk.heartbeat(0);
        for number in 0..5 {
            talk.data(10 + u64::from(number), 0, number);
        }
        talk.sack(110, 1, &[], &[]);
        let again = talk.data(1200, 0, 1);
        talk.sack(1210, 1, gaps, &[]);
        let answer = talk.sack(1350, 5, &[], &[]);
        let found = talk.end();
        let [one] = &found.retransmissions[..] else { panic!("one chunk was sent again") };
        assert_eq!((one.frame, one.evidence_frame), (again, Some(answer)));
        (one.verdict, one.confidence)
    };
    assert_eq!(sent_again_and_answered(&[(2, 4)]), (Verdict::Needed, Confidence::Likely));
    // No SACK shows a gap, and either sending can have caused the answer.
    assert_eq!(sent_again_and_answered(&[]), (Verdict::Undecidable, Confidence::Weak));
}

/// SHUTDOWN acknowledges everything: here sooner than the retransmission can have caused it.
#[test]
fn a_shutdown_acknowledges_everything_up_to_its_tsn() {
    let mut talk = Talk::default();
    talk.heartbeat(0);
    talk.data(10, 0, 0);
    talk.sack(110, 1, &[], &[]);
    talk.data(120, 0, 1);
    let again = talk.data(1200, 0, 1);
    let answer = talk.packet(1210, 0, true, &Chunk::Shutdown { cumulative: Seq(FIRST.wrapping_add(1)) });
    let found = talk.end();
    let expected = (again, tsn(1), Cause::Rto, Verdict::Spurious, Confidence::Likely, Some(answer));
    assert_eq!(found.retransmissions.iter().map(said).collect::<Vec<_>>(), [expected]);
}

/// Returns the number of packets counted as twins. The last packet of a conversation is captured
/// again `times` times, changed by `change` and `apart` nanoseconds apart.
fn twins(times: u64, apart: u64, change: impl Fn(&mut [u8])) -> u64 {
    let mut talk = Talk::default();
    talk.data(0, 0, 0);
    talk.data(10, 0, 1);
    let (at, mut bytes) = talk.shown[1].clone();
    change(&mut bytes);
    for time in 1..=times {
        let (nanos, wire_len) = (at + time * apart, bytes.len() as u32);
        talk.analyzer.frame(&Frame { number: 2 + time, nanos, link: 101, interface: 0, wire_len, bytes: &bytes });
    }
    talk.end().connections[0].twins
}

/// A difference in any bit of the identification or the checksum makes a packet another one. So
/// does the number of chunks.
#[test]
fn an_equal_packet_at_once_is_a_duplicate_frame() {
    assert_eq!(
        [(1, 0), (1, 999_999), (1, 1_000_000), (2, 0), (3, 0)].map(|(times, apart)| twins(times, apart, |_| {})),
        [1, 1, 0, 1, 2]
    );
    for place in (4..6).chain(28..32) {
        for bit in 0..8 {
            assert_eq!(twins(1, 0, |bytes| bytes[place] ^= 1 << bit), 0, "bit {bit} of byte {place}");
        }
    }
    // The chunk ends where its header says, and another one follows.
    let cut = |bytes: &mut [u8]| bytes[34..36].copy_from_slice(&516_u16.to_be_bytes());
    assert_eq!(twins(1, 0, cut), 0);
}

/// Only the first addresses of an end are remembered.
#[test]
fn an_end_has_up_to_sixteen_addresses() {
    let mut talk = Talk::default();
    talk.data(0, 0, 0);
    let (at, bytes) = talk.shown[0].clone();
    for number in 1..20 {
        let mut bytes = bytes.clone();
        bytes[5] = 100 + number;
        // The last byte of the source, and of the destination.
        (bytes[15], bytes[19]) = (100 + number, 200 + number.min(17));
        let (nanos, wire_len) = (at + u64::from(number), bytes.len() as u32);
        talk.analyzer.frame(&Frame {
            number: u64::from(number) + 1,
            nanos,
            link: 101,
            interface: 0,
            wire_len,
            bytes: &bytes,
        });
    }
    let found = talk.end();
    let expected = |last: u8| (1..16).map(|number| IpAddr::from([10, 0, 0, last + number])).collect::<Vec<_>>();
    assert_eq!(found.connections[0].other_addresses, [expected(100), expected(200)]);
}

/// A SACK of many chunks that were never seen belongs to another association.
#[test]
fn an_icmp_message_about_unsent_data_is_ignored() {
    for (ahead, not_seen) in [(65_536, 65_536), (65_537, 0)] {
        let mut talk = Talk::default();
        talk.heartbeat(0);
        talk.data(10, 0, 0);
        talk.sack(110, 1 + ahead, &[], &[]);
        let counts = talk.end().connections[0].directions[1].counts;
        assert_eq!((counts.bytes_not_seen, counts.acks), (not_seen, 1));
    }
}

/// RFC 9260, section 3.3.4: a gap block starts at offset 1 or higher, above the cumulative TSN.
#[test]
fn a_gap_block_at_the_cumulative_tsn_is_ignored() {
    for (gap, answered) in [((0, 2), false), ((2, 2), true)] {
        let mut talk = Talk::default();
        talk.heartbeat(0);
        (0..4).for_each(|number| _ = talk.data(10 + u64::from(number), 0, number));
        talk.sack(110, 1, &[], &[]);
        talk.data(1200, 0, 2);
        talk.sack(1350, 1, &[gap], &[]);
        let found = talk.end();
        assert_eq!(found.retransmissions[0].evidence_frame.is_some(), answered);
    }
}
