//! An SCTP association whose peer sends arbitrary bytes.

use arbitrary::{Result, Unstructured};
use eifel_base::time::{Duration, Instant};
use eifel_packet::Error;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Header, Writer};
use eifel_recovery::association::Config;
use eifel_recovery::registry::Seam;
use eifel_sctp::{
    Association, Delivery, Listener, ListenerAction, Packet, Phase, Ports, Settings, TimestampChunk, TimestampValues,
};

use crate::input::choice;
use crate::recover::config;

/// The most packets that may answer one input.
const MOST_ANSWERS: usize = 200;

/// Opens an association over one path or two, with algorithms chosen by the input. One end then
/// receives chunks made from the input, on any path, with a valid tag and checksum. Timeouts,
/// messages and reads happen in between. The end must not panic, and must send only well-formed
/// packets, finitely many per input.
///
/// # Panics
/// If an invariant does not hold.
pub fn association(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

const PORTS: Ports = Ports { local: 1, remote: 2 };

/// The bytes of the send buffer. [`MOST_ANSWERS`] packets can hold them.
const SEND_BUFFER: usize = 50_000;

/// Returns the addresses of a path in the direction from the caller to its peer.
fn there(path: u8) -> Addresses {
    Addresses::V4 { source: [10, path, 0, 1].into(), destination: [10, path, 0, 2].into() }
}

/// Returns the settings of both ends.
fn settings(u: &mut Unstructured<'_>) -> Result<[Settings; 2]> {
    let paths: &[u8] = if u.arbitrary()? { &[0, 1] } else { &[0] };
    let engine = if u.arbitrary()? {
        let (path, retransmit, credit) = (config(u)?, choice(u, Seam::Retransmit)?, choice(u, Seam::Credit)?);
        Config { path, retransmit, credit, ..Config::default() }
    } else {
        Config::default()
    };
    let timestamp_values = if u.arbitrary()? { TimestampValues::Clock } else { TimestampValues::Distinct };
    let timestamp_chunk = *u.choose(&[TimestampChunk::Agreed, TimestampChunk::Off, TimestampChunk::Always])?;
    let end = |secret: u64, addresses: fn(&Addresses) -> core::net::IpAddr| Settings {
        engine: engine.clone(),
        addresses: paths.iter().map(|path| addresses(&there(*path))).collect(),
        secret: [secret, 7],
        receive_buffer: 4000,
        send_buffer: SEND_BUFFER,
        timestamp_chunk,
        timestamp_values,
        retransmit_bit: true,
        ..Settings::default()
    };
    Ok([end(0, Addresses::source), end(1, Addresses::destination)])
}

/// Opens an association. Returns it with the verification tag of packets to it, and its number of
/// paths.
fn open([here, away]: [Settings; 2]) -> (Association, u32, u8) {
    let now = Instant::ZERO;
    let paths = away.addresses.len() as u8;
    let mut caller = Association::connect(now, &here, PORTS, &away.addresses, 0).expect("known names");
    let mut listener = Listener::new(away, PORTS.remote).expect("known names");
    let mut tag = 0;
    for _ in 0..2 {
        let mut packet = Packet::default();
        caller.poll_transmit(now, &mut packet).expect("a handshake");
        match listener.handle(now, &there(0), &packet) {
            ListenerAction::Reply(_, answer) => {
                tag = answer.header().verification_tag;
                caller.handle(now, &there(0).reversed(), &answer);
            }
            ListenerAction::Accepted(mut callee) => {
                callee.poll_transmit(now, &mut packet).expect("COOKIE ACK");
                caller.handle(now, &there(0).reversed(), &packet);
            }
            ListenerAction::Nothing => panic!("the handshake goes on"),
        }
    }
    assert_eq!((caller.phase(), caller.engine().paths()), (Phase::Established, usize::from(paths)));
    (caller, tag, paths)
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let (mut end, tag, paths) = open(settings(u)?);
    let mut now = Instant::ZERO;
    while !u.is_empty() {
        match u.int_in_range(0..=9)? {
            0..=4 => {
                let from = there(u.int_in_range(0..=paths - 1)?).reversed();
                let len = u.int_in_range(0..=120)?;
                let chunks = u.bytes(usize::min(len, u.len()))?;
                let packet = Packet::parse(&packet(tag, chunks)).expect("a header and a checksum");
                end.handle(now, &from, &packet);
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
                let (stream, unordered) = (u.int_in_range(0..=3)?, u.arbitrary()?);
                let lifetime = u.int_in_range(0..=3000)?;
                let expires = (lifetime > 0).then(|| now + Duration::from_millis(lifetime));
                let delivery = Delivery { stream, unordered, expires, ..Delivery::default() };
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

/// Builds a packet with these bytes as its chunks, and with a valid checksum.
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
        let mut packet = Packet::default();
        if end.poll_transmit(now, &mut packet).is_none() {
            break;
        }
        let bytes = packet.to_bytes();
        let (_, chunks) = sctp::parse(&bytes).expect("what is sent has a header and a checksum");
        assert!(chunks.into_iter().all(|chunk| chunk.is_ok()), "what is sent is well formed");
    }
    while end.poll_event().is_some() {}
    while end.poll_engine_event().is_some() {}
}
