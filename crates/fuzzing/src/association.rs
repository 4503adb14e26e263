//! An SCTP association whose peer sends whatever bytes say.

use arbitrary::{Result, Unstructured};
use eifel_base::time::{Duration, Instant};
use eifel_packet::Error;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Header, Writer};
use eifel_sctp::{Association, Delivery, Heard, Listener, Phase, Ports, Settings, TimestampChunk};

/// Packets that answer one input, at the most.
const MOST_ANSWERS: usize = 200;

/// Opens an association between two ends. Then one end receives chunks made from the input, with
/// valid tag and checksum, between timeouts, messages and reads. It must not panic, it sends only
/// well-formed packets, and its answers to one input end.
///
/// # Panics Where that does not hold.
pub fn association(data: &[u8]) {
    // Bytes that mean nothing are no input.
    let _ = run(&mut Unstructured::new(data));
}

const PORTS: Ports = Ports { local: 1, remote: 2 };

fn there() -> Addresses {
    Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() }
}

fn settings(end: u64) -> Settings {
    let local = if end == 0 { there().source() } else { there().destination() };
    Settings {
        addresses: vec![local],
        secret: [end, 7],
        receive_buffer: 4000,
        timestamp_chunk: TimestampChunk::Agreed,
        retransmit_bit: true,
        ..Settings::default()
    }
}

/// Opens an association. Returns it with the tag of packets to it.
fn open() -> (Association, u32) {
    let now = Instant::ZERO;
    let mut caller = Association::connect(now, &settings(0), PORTS, &[there().destination()], 0).expect("known names");
    let mut listener = Listener::new(settings(1), PORTS.remote).expect("known names");
    let mut tag = 0;
    for _ in 0..2 {
        let mut bytes = Vec::new();
        caller.poll_transmit(now, &mut bytes).expect("a handshake");
        match listener.handle_packet(now, &there(), &bytes) {
            Heard::Answer(_, answer) => {
                tag = sctp::parse(&answer).expect("well formed").0.verification_tag;
                caller.handle_packet(now, &there().reversed(), &answer);
            }
            Heard::Accepted(mut callee) => {
                bytes.clear();
                callee.poll_transmit(now, &mut bytes).expect("COOKIE ACK");
                caller.handle_packet(now, &there().reversed(), &bytes);
            }
            Heard::Nothing => panic!("the handshake goes on"),
        }
    }
    assert_eq!(caller.phase(), Phase::Established);
    (caller, tag)
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let (mut end, tag) = open();
    let mut now = Instant::ZERO;
    while !u.is_empty() {
        match u.int_in_range(0..=9)? {
            0..=4 => {
                let len = u.int_in_range(0..=120)?;
                let chunks = u.bytes(usize::min(len, u.len()))?;
                end.handle_packet(now, &there().reversed(), &packet(tag, chunks));
            }
            5 => {
                now += Duration::from_millis(u.int_in_range(0..=5000)?);
                if end.poll_timeout() <= now {
                    end.handle_timeout(now);
                }
            }
            6 => {
                let due = end.poll_timeout();
                if due != Instant::NEVER {
                    now = now.max(due);
                    end.handle_timeout(now);
                }
            }
            7 => {
                let delivery =
                    Delivery { stream: u.int_in_range(0..=3)?, unordered: u.arbitrary()?, ..Delivery::default() };
                let _ = end.send(delivery, vec![1; 1 + usize::from(u.arbitrary::<u16>()? % 5000)]);
            }
            8 => while end.receive().is_some() {},
            _ => match u.int_in_range(0..=15)? {
                0 => end.shutdown(),
                1 => end.abort(b"reason"),
                _ => {}
            },
        }
        drain(&mut end, now);
    }
    Ok(())
}

/// Builds a packet of these bytes, with a valid checksum.
fn packet(tag: u32, chunks: &[u8]) -> Vec<u8> {
    let header = Header { source_port: PORTS.remote, destination_port: PORTS.local, verification_tag: tag };
    let mut bytes = Vec::new();
    Writer::new(&header, &mut bytes).finish();
    bytes.extend_from_slice(chunks);
    if let Err(Error::Crc32c { offset, expected, .. }) = sctp::parse(&bytes) {
        bytes[offset..offset + 4].copy_from_slice(&expected.to_be_bytes());
    }
    bytes
}

fn drain(end: &mut Association, now: Instant) {
    for number in 0.. {
        assert!(number < MOST_ANSWERS, "answers without end");
        let mut bytes = Vec::new();
        if end.poll_transmit(now, &mut bytes).is_none() {
            break;
        }
        let (_, chunks) = sctp::parse(&bytes).expect("what is sent has a header and a checksum");
        assert!(chunks.into_iter().all(|chunk| chunk.is_ok()), "what is sent is well formed");
    }
    while end.poll_event().is_some() {}
    while end.poll_brain_event().is_some() {}
}
