//! Packets compared byte by byte with the figures of the RFC, and invalid packets.

use super::{HEADER, packet};
use eifel_packet::Error;
use eifel_packet::sctp::{
    Causes, Chunk, Data, DataFlags, ForwardTsn, Gap, Gaps, Parameter, Parameters, Sack, SackFlags, Skipped, Unaware,
    Unknown, Writer, parse, parse_unverified,
};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;

#[test]
fn the_checksum_is_that_of_the_rfc() {
    let bytes = packet(&[Chunk::CookieAck]);
    let mut zeroed = bytes.clone();
    zeroed[8..12].fill(0);
    // The checksum bit by bit, as defined in appendix A of RFC 9260: reflected polynomial
    // 0x82f63b78.
    let crc = zeroed.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
    });
    assert_eq!(bytes[8..12], (!crc).to_le_bytes());
}

#[test]
fn the_sack_of_section_3_3_4_is_laid_out_as_it_is_drawn() {
    // TSNs up to 12 have arrived, and 14, 15 and 17. The window is 4660.
    let gaps = [Gap { start: 2, end: 3 }, Gap { start: 5, end: 5 }].map(Gap::to_bytes);
    let sack = Sack {
        flags: SackFlags::default(),
        cumulative: Seq(12),
        a_rwnd: 4660,
        gaps: Gaps(&gaps),
        duplicates: &[[0, 0, 0, 19]],
    };
    let bytes = packet(&[Chunk::Sack(sack)]);
    assert_eq!(
        bytes[12..],
        [3, 0, 0, 28, 0, 0, 0, 12, 0, 0, 0x12, 0x34, 0, 2, 0, 1, 0, 2, 0, 3, 0, 5, 0, 5, 0, 0, 0, 19]
    );
    assert_eq!(sack.gaps.iter().next_back(), Some(Gap { start: 5, end: 5 }));
    assert_eq!(sack.duplicates().collect::<Vec<_>>(), [Seq(19)]);
}

#[test]
fn data_is_laid_out_as_it_is_drawn() {
    let data = Data {
        flags: DataFlags::WHOLE.with(DataFlags::IMMEDIATE),
        tsn: Seq(0x0a0b_0c0d),
        stream: 3,
        ssn: 0x1234,
        ppid: [0, 0, 0, 46],
        payload: b"hello",
    };
    let bytes = packet(&[Chunk::Data(data), Chunk::ShutdownComplete { reflected: true }]);
    let expected = [0, 11, 0, 21, 10, 11, 12, 13, 0, 3, 0x12, 0x34, 0, 0, 0, 46, b'h', b'e', b'l', b'l', b'o', 0, 0, 0];
    assert_eq!(bytes[12..36], expected);
    assert_eq!(bytes[36..], [14, 1, 0, 4]);
}

#[test]
fn a_timestamp_chunk_is_twelve_bytes_that_others_skip() {
    let stamps = Timestamps { value: 0x0102_0304, echo: 5 };
    let bytes = packet(&[Chunk::Timestamp(stamps)]);
    assert_eq!(bytes[12..], [0xbe, 0, 0, 12, 1, 2, 3, 4, 0, 0, 0, 5]);
    assert_eq!(Unaware::from_high_bits(bytes[12]), Unaware::Skip);
    let mut out = Vec::new();
    Parameter::RetransmitBit.emit(&mut out);
    assert_eq!(Unaware::from_high_bits(out[0]), Unaware::Skip);
}

#[test]
fn the_two_high_bits_of_an_unknown_chunk_decide_its_handling() {
    let cases = [(0x3f, false, false), (0x40, false, true), (0x8f, true, false), (0xc1, true, true)];
    for (kind, goes_on, reports) in cases {
        let bytes = [kind, 9, 0, 5, 7];
        let unknown = Unknown { kind, bytes: &bytes };
        assert_eq!((unknown.unaware().goes_on(), unknown.unaware().reports()), (goes_on, reports));
        let packet = packet(&[Chunk::Unknown(unknown), Chunk::CookieAck]);
        let read: Vec<_> = parse(&packet).unwrap().1.collect();
        assert_eq!(read, [Ok(Chunk::Unknown(unknown)), Ok(Chunk::CookieAck)]);
        let whole = [kind, 0, 0, 4];
        let parameter = Parameters(&whole).iter().next().unwrap().unwrap();
        assert_eq!(parameter.unaware(), Some(unknown.unaware()));
    }
}

#[test]
fn skipped_streams_are_read() {
    let streams = [Skipped { stream: 1, ssn: 2 }, Skipped { stream: 0xfffe, ssn: 0xff }];
    let bytes = streams.map(Skipped::to_bytes);
    let forward = ForwardTsn { cumulative: Seq(7), streams: &bytes };
    assert!(forward.skipped().eq(streams));
}

#[test]
fn errors_name_the_fault_and_its_offset() {
    let first = |chunk: &[u8]| {
        let bytes = [&[0; 12], chunk].concat();
        let (_, mut chunks) = parse_unverified(&bytes).unwrap();
        chunks.next().unwrap().unwrap_err().to_string()
    };
    let cases: [(&[u8], &str); 10] = [
        (
            &[0, 3, 0, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "SCTP DATA chunk at byte 12: cut off: expected 16 bytes, found 15",
        ),
        (&[1, 0, 0, 4], "SCTP INIT chunk at byte 12: cut off: expected 20 bytes, found 4"),
        (
            &[3, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1],
            "SCTP SACK chunk at byte 12: cut off: expected 28 bytes, found 16",
        ),
        (
            &[3, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
            "SCTP SACK chunk at byte 28: expected nothing behind the lists, found 4",
        ),
        (
            &[16, 0, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "SCTP NR-SACK chunk at byte 12: cut off: expected 20 bytes, found 19",
        ),
        (&[7, 0, 0, 4], "length of SCTP chunk at byte 14: expected 8 for a chunk of one TSN, found 4"),
        (&[11, 0, 0, 5, 0], "length of SCTP chunk at byte 14: expected 4 for a chunk of no value, found 5"),
        (&[6, 0, 0, 3], "SCTP chunk at byte 14: expected a length of at least 4, found 3"),
        (&[6, 0, 0], "SCTP chunk at byte 12: cut off: expected 4 bytes, found 3"),
        (&[6, 0, 0, 9, 1, 2, 3, 4], "SCTP chunk at byte 12: cut off: expected 9 bytes, found 8"),
    ];
    for (chunk, line) in cases {
        assert_eq!(first(chunk), line);
    }
    let parameter = |bytes: &[u8]| Parameters(bytes).iter().next().unwrap().unwrap_err().to_string();
    assert_eq!(
        parameter(&[0, 5, 0, 7, 1, 2, 3]),
        "length of SCTP parameter at byte 2: expected 8 for an IPv4 address, found 7"
    );
    let cause = |bytes: &[u8]| Causes(bytes).iter().next().unwrap().unwrap_err().to_string();
    assert_eq!(
        cause(&[0, 2, 0, 10, 0, 0, 0, 2, 0, 7]),
        "length of SCTP error cause at byte 2: expected 8 + 2 for each missing parameter, found 10"
    );
}

#[test]
fn a_malformed_chunk_does_not_hide_the_next() {
    let bytes = [&[0; 12][..], &[11, 0, 0, 5, 0, 0, 0, 0], &[8, 0, 0, 4]].concat();
    let read: Vec<_> = parse_unverified(&bytes).unwrap().1.collect();
    assert!(matches!(read[..], [Err(Error::Invalid { offset: 14, .. }), Ok(Chunk::ShutdownAck)]));
}

#[test]
fn a_packet_too_long_for_ip_is_not_written() {
    let payload = vec![1; 65_535 - 16];
    let data =
        |payload| Chunk::Data(Data { flags: DataFlags::WHOLE, tsn: Seq(1), stream: 0, ssn: 0, ppid: [0; 4], payload });
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&HEADER, &mut bytes);
    let refused = writer.chunk(&data(&payload));
    assert_eq!(refused, Err(Error::TooLong { what: "SCTP packet", limit: 65_535, found: 12 + 65_536 }));
    assert!(writer.is_empty());
    writer.chunk(&data(&payload[..65_532 - 12 - 16])).unwrap();
    assert_eq!(writer.len(), 65_532);
    assert!(writer.chunk(&Chunk::CookieAck).is_err());
    assert!(parse_unverified(&vec![0; 65_536]).is_err());
}
