//! A whole conversation as a capture, read by Wireshark's dissectors with all checksums verified.

use super::common::dissected;
use std::path::{Path, PathBuf};

use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_packet::{datagram, pcap, pcapng};

const SYN: Flags = Flags::SYN;
const ACK: Flags = Flags::ACK;
const PSH_ACK: Flags = Flags::PSH.with(Flags::ACK);
const FIN_ACK: Flags = Flags::FIN.with(Flags::ACK);

const CLIENT_ISN: u32 = u32::MAX - 150;
const SERVER_ISN: u32 = 1_000_000;

/// A packet of the conversation, as seen at the client.
struct Seen {
    nanos: u64,
    from_client: bool,
    segment: Segment,
    comment: Option<&'static str>,
}

/// A conversation: a handshake, three segments, and a close from both sides. The sequence numbers
/// wrap, and the second segment is lost and retransmitted.
fn conversation() -> Vec<Seen> {
    let syn = Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, ..Options::default() };
    let mut sack = SackBlocks::EMPTY;
    assert!(sack.push(client(201), client(301)));
    let mut dsack = SackBlocks::EMPTY;
    assert!(dsack.push(client(101), client(201)));
    let sacked = |sack| Options { sack, ..Options::default() };
    let plain = Options::default();
    let ms = 1_000_000;
    vec![
        seen(0, true, (SYN, 0, 0), (0, syn), None),
        seen(100 * ms + 1, false, (SYN.with(ACK), 0, 1), (0, syn), None),
        seen(100 * ms + 2, true, (ACK, 1, 1), (0, plain), None),
        seen(101 * ms, true, (ACK, 1, 1), (100, plain), None),
        seen(102 * ms, true, (ACK, 101, 1), (100, plain), Some("dropped at the bottleneck: queue full")),
        seen(103 * ms, true, (PSH_ACK, 201, 1), (100, plain), None),
        seen(201 * ms, false, (ACK, 1, 101), (0, plain), None),
        seen(203 * ms, false, (ACK, 1, 101), (0, sacked(sack)), None),
        seen(400 * ms, true, (ACK, 101, 1), (100, plain), Some("retransmission: \u{201c}needed\u{201d}")),
        seen(500 * ms, false, (ACK, 1, 301), (0, plain), None),
        seen(501 * ms, false, (ACK, 1, 301), (0, sacked(dsack)), None),
        seen(600 * ms, true, (FIN_ACK, 301, 1), (0, plain), None),
        seen(700 * ms, false, (FIN_ACK, 1, 302), (0, plain), None),
        seen(1_700_000_000_123_456_789, true, (ACK, 302, 2), (0, plain), None),
    ]
}

fn client(position: u32) -> Seq {
    Seq(CLIENT_ISN.wrapping_add(position))
}

fn server(position: u32) -> Seq {
    Seq(SERVER_ISN.wrapping_add(position))
}

fn seen(
    nanos: u64,
    from_client: bool,
    (flags, seq, ack): (Flags, u32, u32),
    (payload_len, options): (u32, Options),
    comment: Option<&'static str>,
) -> Seen {
    let (seq, acknowledged) = if from_client { (client(seq), server(ack)) } else { (server(seq), client(ack)) };
    let (source_port, destination_port) = if from_client { (49152, 5001) } else { (5001, 49152) };
    let stamps = Timestamps { value: 1000 + (nanos / 1_000_000) as u32, echo: 999 };
    let segment = Segment {
        source_port,
        destination_port,
        seq,
        ack: if flags.has(ACK) { acknowledged } else { Seq(0) },
        flags,
        window: 512,
        options: Options { timestamps: Some(stamps), ..options },
        payload_len,
        ecn: Ecn::NotEct,
    };
    Seen { nanos, from_client, segment, comment }
}

fn versions() -> [Addresses; 2] {
    [
        Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() },
        Addresses::V6 {
            source: "fd00::1".parse().expect("an address"),
            destination: "fd00::2".parse().expect("an address"),
        },
    ]
}

/// Returns the bytes of the packet, without its payload if `whole` is false.
fn bytes(there: Addresses, seen: &Seen, whole: bool) -> Vec<u8> {
    let addresses = if seen.from_client { there } else { there.reversed() };
    let payload: Vec<u8> = (1..=seen.segment.payload_len as u8).collect();
    let mut bytes = Vec::new();
    let payload = if whole { &payload[..] } else { &[] };
    datagram::emit(&Header::new(addresses), &seen.segment, payload, &mut bytes).expect("fits");
    bytes
}

/// Writes the conversation over IPv4 on one interface and over IPv6 on another.
fn write_pcapng(path: &Path, whole: bool) -> std::io::Result<()> {
    let mut writer = pcapng::Writer::new(std::fs::File::create(path)?, "eifel test")?;
    for (there, name) in versions().into_iter().zip(["client, IPv4", "client, IPv6"]) {
        let interface = writer.interface(name)?;
        for seen in conversation() {
            let bytes = bytes(there, &seen, whole);
            let wire_len = datagram::len(&seen.segment, there.version());
            writer.packet(interface, seen.nanos, pcapng::Packet { bytes: &bytes, wire_len, comment: seen.comment })?;
        }
    }
    writer.finish()?.sync_all()
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns one row of fields per frame, with TCP's checksums verified.
fn tshark(path: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let checks = ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "tcp.relative_sequence_numbers:FALSE"];
    dissected::rows(path, &checks, fields)
}

/// Asserts that no frame is malformed or has an expert warning or error, except for DSACKs:
/// Wireshark warns about each of them. Notes about retransmissions and duplicate ACKs are correct.
fn assert_no_complaint(path: &Path) {
    let Some(rows) = tshark(path, &["frame.number", "_ws.malformed", "_ws.expert.severity", "_ws.expert.message"])
    else {
        return;
    };
    const NOTE: u32 = 0x0040_0000;
    const WARNING: u32 = 0x0060_0000;
    for row in rows {
        assert_eq!(row[1], "", "frame {} is malformed", row[0]);
        for severity in row[2].split(',').filter(|severity| !severity.is_empty()) {
            let severity: u32 = severity.parse().expect("a number");
            let dsack = severity == WARNING && row[3].contains("D-SACK Sequence");
            assert!(severity <= NOTE || dsack, "frame {}: {}", row[0], row[3]);
        }
    }
}

const FIELDS: [&str; 16] = [
    "frame.time_epoch",
    "frame.interface_name",
    "frame.comment",
    "ip.checksum.status",
    "tcp.checksum.status",
    "tcp.seq",
    "tcp.ack",
    "tcp.len",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.timestamp.tsval",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "ip.src",
];

/// Returns the fields that tshark must show for a packet.
fn expected(there: Addresses, interface: &str, seen: &Seen) -> Vec<String> {
    let Segment { seq, ack, flags, window, options, payload_len, .. } = seen.segment;
    let four = matches!(there, Addresses::V4 { .. });
    let source = if seen.from_client { there.source() } else { there.destination() };
    let text = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
    let edges = |edge: fn(&(Seq, Seq)) -> u32| {
        options.sack.as_slice().iter().map(|block| edge(block).to_string()).collect::<Vec<_>>().join(",")
    };
    vec![
        format!("{}.{:09}", seen.nanos / 1_000_000_000, seen.nanos % 1_000_000_000),
        interface.to_owned(),
        seen.comment.unwrap_or_default().to_owned(),
        if four { "1".to_owned() } else { String::new() },
        "1".to_owned(),
        seq.0.to_string(),
        ack.0.to_string(),
        payload_len.to_string(),
        format!("{:#06x}", flags.0),
        window.to_string(),
        text(options.mss.map(u32::from)),
        text(options.window_scale.map(u32::from)),
        text(options.timestamps.map(|stamps| stamps.value)),
        edges(|block| block.0.0),
        edges(|block| block.1.0),
        if four { source.to_string() } else { String::new() },
    ]
}

#[test]
fn wireshark_reads_the_conversation_as_written() {
    let path = file("conversation.pcapng");
    write_pcapng(&path, true).unwrap();
    assert_no_complaint(&path);
    let Some(rows) = tshark(&path, &FIELDS) else { return };
    let expected: Vec<_> = versions()
        .into_iter()
        .zip(["client, IPv4", "client, IPv6"])
        .flat_map(|(there, name)| conversation().iter().map(|seen| expected(there, name, seen)).collect::<Vec<_>>())
        .collect();
    assert_eq!(rows.len(), expected.len());
    for (number, (row, expected)) in rows.iter().zip(&expected).enumerate() {
        assert_eq!(row, expected, "frame {}", number + 1);
    }
}

#[test]
fn wireshark_reads_the_old_format_too() {
    let path = file("conversation.pcap");
    let mut writer = pcap::Writer::new(std::fs::File::create(&path).unwrap()).unwrap();
    for seen in conversation() {
        let bytes = bytes(versions()[0], &seen, true);
        writer.packet(seen.nanos, &bytes, bytes.len() as u32).unwrap();
    }
    writer.finish().unwrap();
    assert_no_complaint(&path);
    let Some(rows) = tshark(&path, &["frame.time_epoch", "tcp.checksum.status", "tcp.seq"]) else { return };
    let expected: Vec<Vec<String>> = conversation()
        .iter()
        .map(|seen| {
            let time = format!("{}.{:09}", seen.nanos / 1_000_000_000, seen.nanos % 1_000_000_000);
            vec![time, "1".to_owned(), seen.segment.seq.0.to_string()]
        })
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn headers_alone_are_packets_cut_short_and_not_malformed() {
    let path = file("headers.pcapng");
    write_pcapng(&path, false).unwrap();
    assert_no_complaint(&path);
    let Some(rows) = tshark(&path, &["frame.len", "tcp.len", "tcp.checksum.status"]) else { return };
    let expected: Vec<_> = versions()
        .into_iter()
        .flat_map(|there| conversation().into_iter().map(move |seen| (there, seen)))
        .map(|(there, seen)| {
            // Good for a segment without payload. Unverified where the payload is cut off.
            let status = if seen.segment.payload_len == 0 { "1" } else { "2" };
            vec![
                datagram::len(&seen.segment, there.version()).to_string(),
                seen.segment.payload_len.to_string(),
                status.to_owned(),
            ]
        })
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn a_wrong_checksum_would_be_noticed() {
    let path = file("damaged.pcapng");
    let mut writer = pcapng::Writer::new(std::fs::File::create(&path).unwrap(), "eifel test").unwrap();
    let interface = writer.interface("client").unwrap();
    let mut damaged = bytes(versions()[0], &conversation()[3], true);
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let wire_len = damaged.len() as u32;
    writer.packet(interface, 0, pcapng::Packet { bytes: &damaged, wire_len, comment: None }).unwrap();
    writer.finish().unwrap();
    let Some(rows) = tshark(&path, &["ip.checksum.status", "tcp.checksum.status"]) else { return };
    assert_eq!(rows, [["1", "0"]]);
}
