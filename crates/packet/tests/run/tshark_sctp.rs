//! Every kind of chunk that is sent, with and without UDP encapsulation, read by Wireshark's
//! dissectors with all checksums verified.

use super::common::dissected;
use std::path::{Path, PathBuf};

use eifel_packet::ip::{self, Addresses};
use eifel_packet::sctp::{
    self, Cause, Causes, Chunk, Data, DataFlags, ForwardTsn, Gap, Gaps, Header, Init, Parameter, Parameters, Sack,
    SackFlags, Skipped, Unknown, Writer, extension,
};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;
use eifel_packet::{pcapng, udp};

fn addresses() -> [Addresses; 2] {
    [
        Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() },
        Addresses::V6 { source: "fd00::1".parse().expect("an address"), destination: "fd00::2".parse().expect("one") },
    ]
}

fn packet(port: u16, tag: u32, from_client: bool, chunks: &[Chunk<'_>]) -> (bool, Vec<u8>) {
    let (source_port, destination_port) = if from_client { (port, 5001) } else { (5001, port) };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&Header { source_port, destination_port, verification_tag: tag }, &mut bytes);
    chunks.iter().for_each(|chunk| writer.chunk(chunk).expect("fits"));
    writer.finish();
    (from_client, bytes)
}

fn causes(causes: &[Cause<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    causes.iter().for_each(|cause| cause.emit(&mut out));
    out
}

/// The life of an association from `port`, with all chunks, parameters and causes that this stack
/// sends.
fn conversation(port: u16) -> Vec<(bool, Vec<u8>)> {
    const CLIENT: u32 = 0x1111_1111;
    const SERVER: u32 = 0x2222_2222;
    let mut parameters = Vec::new();
    for parameter in [
        Parameter::SupportedExtensions(&[extension::FORWARD_TSN, extension::TIMESTAMP]),
        Parameter::Ipv4([10, 0, 0, 1].into()),
        Parameter::Ipv6("fd00::1".parse().expect("an address")),
        Parameter::CookiePreservative(1000),
        Parameter::SupportedAddressTypes(&[[0, 5], [0, 6]]),
        Parameter::EcnCapable,
        Parameter::ForwardTsnSupported,
        Parameter::RetransmitBit,
    ] {
        parameter.emit(&mut parameters);
    }
    let init = Init {
        initiate_tag: CLIENT,
        a_rwnd: 65_536,
        outbound_streams: 10,
        inbound_streams: 20,
        initial_tsn: Seq(u32::MAX - 1),
        parameters: Parameters(&parameters),
    };
    let mut answer = Vec::new();
    Parameter::Unrecognized(&[0xc0, 0x99, 0, 4]).emit(&mut answer);
    Parameter::Cookie(b"a state cookie").emit(&mut answer);
    let init_ack = Init { initiate_tag: SERVER, initial_tsn: Seq(7), parameters: Parameters(&answer), ..init };
    let data =
        |tsn, flags, payload| Chunk::Data(Data { flags, tsn: Seq(tsn), stream: 1, ssn: 0, ppid: [0; 4], payload });
    let stamps = Chunk::Timestamp(Timestamps { value: 1, echo: 2 });
    let gaps = [Gap { start: 2, end: 3 }.to_bytes()];
    let sack = |flags, cumulative, gaps| {
        let duplicates = &[[0xff, 0xff, 0xff, 0xff]];
        Chunk::Sack(Sack { flags, cumulative: Seq(cumulative), a_rwnd: 60_000, gaps: Gaps(gaps), duplicates })
    };
    let mut info = Vec::new();
    Parameter::HeartbeatInfo(b"when and where").emit(&mut info);
    let mut new_address = Vec::new();
    Parameter::Ipv4([10, 0, 9, 9].into()).emit(&mut new_address);
    let streams = [Skipped { stream: 1, ssn: 4 }.to_bytes()];
    let all_causes = causes(&[
        Cause::InvalidStream(99),
        Cause::MissingParameters(&[[0, 7]]),
        Cause::StaleCookie(1_000_000),
        Cause::OutOfResource,
        Cause::UnresolvableAddress(&new_address),
        Cause::UnrecognizedChunk(&[0xc9, 0, 0, 4]),
        Cause::InvalidMandatoryParameter,
        Cause::UnrecognizedParameters(&[0xc0, 0x99, 0, 4]),
        Cause::CookieWhileShuttingDown,
    ]);
    let abort = causes(&[
        Cause::NoUserData(Seq(1)),
        Cause::RestartWithNewAddresses(&new_address),
        Cause::UserAbort(b"enough"),
        Cause::ProtocolViolation(b"that was wrong"),
    ]);
    vec![
        packet(port, 0, true, &[Chunk::Init(init)]),
        packet(port, CLIENT, false, &[Chunk::InitAck(init_ack)]),
        packet(
            port,
            SERVER,
            true,
            &[Chunk::CookieEcho(b"a state cookie"), data(u32::MAX - 1, DataFlags::WHOLE, b"bundled")],
        ),
        packet(port, CLIENT, false, &[Chunk::CookieAck, stamps, sack(SackFlags::default(), u32::MAX - 1, &[])]),
        packet(
            port,
            SERVER,
            true,
            &[
                stamps,
                data(u32::MAX, DataFlags::BEGINNING, b"first"),
                data(0, DataFlags::ENDING.with(DataFlags::IMMEDIATE), b"last"),
                data(1, DataFlags::WHOLE.with(DataFlags::UNORDERED), b"unordered"),
            ],
        ),
        packet(port, CLIENT, false, &[sack(SackFlags::default(), u32::MAX - 1, &gaps)]),
        packet(port, SERVER, true, &[data(u32::MAX, DataFlags::BEGINNING.with(DataFlags::SENT_AGAIN), b"first")]),
        packet(port, CLIENT, false, &[sack(SackFlags::ANSWERS_SENT_AGAIN, 1, &[])]),
        packet(port, SERVER, true, &[Chunk::Heartbeat(Parameters(&info))]),
        packet(port, CLIENT, false, &[Chunk::HeartbeatAck(Parameters(&info))]),
        packet(
            port,
            SERVER,
            true,
            &[
                Chunk::ForwardTsn(ForwardTsn { cumulative: Seq(2), streams: &streams }),
                Chunk::Unknown(Unknown { kind: 0x84, bytes: &[0x84, 0, 0, 8, 0, 0, 0, 0] }),
            ],
        ),
        packet(port, CLIENT, false, &[Chunk::Ecne { lowest: Seq(1) }]),
        packet(port, SERVER, true, &[Chunk::Cwr { lowest: Seq(1) }]),
        packet(port, CLIENT, false, &[Chunk::Error(Causes(&all_causes))]),
        packet(port, SERVER, true, &[Chunk::Abort { reflected: false, causes: Causes(&abort) }]),
        packet(port, SERVER, true, &[Chunk::Shutdown { cumulative: Seq(6) }]),
        packet(port, CLIENT, false, &[Chunk::ShutdownAck]),
        packet(port, CLIENT, true, &[Chunk::ShutdownComplete { reflected: true }]),
    ]
}

/// Writes the conversation over IPv4 and IPv6, with and without UDP. Returns the number of packets.
fn write(path: &Path) -> std::io::Result<usize> {
    let mut writer = pcapng::Writer::new(std::fs::File::create(path)?, "eifel test")?;
    let mut count = 0;
    for there in addresses() {
        for encapsulated in [false, true] {
            let interface = writer.interface("client")?;
            // Wireshark distinguishes associations by ports and tags.
            for (from_client, packet) in conversation(6000 + count as u16) {
                let addresses = if from_client { there } else { there.reversed() };
                let (mut bytes, mut datagram) = (Vec::new(), Vec::new());
                let ports = udp::Ports { source: sctp::UDP_PORT, destination: sctp::UDP_PORT };
                let (protocol, payload) = if encapsulated {
                    udp::emit(ports, &packet, &addresses, &mut datagram).expect("fits");
                    (udp::PROTOCOL, &datagram)
                } else {
                    (sctp::PROTOCOL, &packet)
                };
                ip::emit(&ip::Header::new(addresses), protocol, payload.len(), &mut bytes).expect("fits");
                bytes.extend_from_slice(payload);
                let wire_len = bytes.len() as u32;
                let nanos = 1_000_000 * count as u64;
                writer.packet(interface, nanos, pcapng::Packet { bytes: &bytes, wire_len, comment: None })?;
                count += 1;
            }
        }
    }
    writer.finish()?.sync_all()?;
    Ok(count)
}

/// Returns one row of fields per frame, with SCTP's checksums verified.
fn tshark(path: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    dissected::rows(path, &["sctp.checksum:CRC-32C", "udp.check_checksum:TRUE", "ip.check_checksum:TRUE"], fields)
}

#[test]
fn wireshark_reads_every_kind_of_chunk_without_complaint() {
    let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sctp.pcapng");
    let count = write(&path).unwrap();
    let fields = [
        "frame.number",
        "sctp.checksum.status",
        "udp.checksum.status",
        "_ws.malformed",
        "_ws.expert.severity",
        "_ws.expert.message",
    ];
    let Some(rows) = tshark(&path, &fields) else { return };
    assert_eq!(rows.len(), count);
    const NOTE: u32 = 0x0040_0000;
    for row in &rows {
        assert_eq!(row[1], "1", "frame {}: the CRC32c", row[0]);
        assert_ne!(row[2], "0", "frame {}: the UDP checksum", row[0]);
        assert_eq!(row[3], "", "frame {} is malformed", row[0]);
        for severity in row[4].split(',').filter(|severity| !severity.is_empty()) {
            let severity: u32 = severity.parse().expect("a number");
            assert!(severity <= NOTE, "frame {}: {}", row[0], row[5]);
        }
    }
    let types = tshark(&path, &["sctp.chunk_type"]).expect("it ran before");
    let expected = [
        "1",
        "2",
        "10,0",
        "11,190,3",
        "190,0,0,0",
        "3",
        "0",
        "3",
        "4",
        "5",
        "192,132",
        "12",
        "13",
        "9,201",
        "6",
        "7",
        "8",
        "14",
    ];
    for (row, expected) in types.iter().zip(expected.iter().cycle()) {
        assert_eq!(row[0], *expected);
    }
}
