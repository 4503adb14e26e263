//! Writes a pcap file of many connections, for benchmarks: `cargo run --release -p eifel-capture
//! --example many -- PACKETS CONNECTIONS [LOSS_PERMILLE] [TRIP_MS] >FILE`. All connections last
//! from the first packet to the last, and most are idle at any time. Their packets come in trains,
//! as on a real link.
//!
//! ACKs follow their data at once, as next to the receiver. TRIP_MS is the round trip to the sender
//! in milliseconds; the sender then echoes the receiver's timestamps.
//!
//! Without TRIP_MS, both ends always echo the timestamp of 20 ms before. With few connections, some
//! packet carried that timestamp, and the sender seems to be 20 ms away. With many connections,
//! mostly no packet carried it. The capture point is then unknown, and segments count as leaving
//! when they pass.

use std::io::{self, BufWriter, Write};

/// The number of segments per train.
const TRAIN: u32 = 4;
const PAYLOAD: u32 = 1448;
/// Nanoseconds between trains.
const STEP: u64 = 40_000;
/// The age of an echoed timestamp in nanoseconds. It applies to the sender only without TRIP_MS.
const ECHOED: u64 = 20_000_000;

#[derive(Clone, Copy, Default)]
struct Connection {
    sent: u32,
    lost: Option<u32>,
    /// When the last ACK passed, in nanoseconds.
    answered: u64,
}

/// Sequence number, acknowledgement number, payload bytes, and echoed timestamp.
type Segment = (u32, u32, u32, u32);

/// Returns the time of both ends' clocks, in milliseconds.
fn stamp(nanos: u64) -> u32 {
    (nanos / 1_000_000) as u32
}

fn packet(
    out: &mut impl Write,
    nanos: u64,
    (from, to): (u32, u32),
    (seq, ack, payload, echo): Segment,
) -> io::Result<()> {
    let mut bytes = [0_u8; 14 + 20 + 32];
    bytes[12] = 8;
    bytes[14] = 0x45;
    bytes[16..18].copy_from_slice(&((52 + payload) as u16).to_be_bytes());
    bytes[22] = 64;
    bytes[23] = 6;
    let address = |number: u32| if number == 0 { 0x0a00_0001 } else { 0x0a01_0000 + number / 50_000 };
    bytes[26..30].copy_from_slice(&address(from).to_be_bytes());
    bytes[30..34].copy_from_slice(&address(to).to_be_bytes());
    let port = |number: u32| if number == 0 { 443 } else { (1024 + number % 50_000) as u16 };
    bytes[34..36].copy_from_slice(&port(from).to_be_bytes());
    bytes[36..38].copy_from_slice(&port(to).to_be_bytes());
    bytes[38..42].copy_from_slice(&seq.to_be_bytes());
    bytes[42..46].copy_from_slice(&ack.to_be_bytes());
    bytes[46] = 0x80;
    bytes[47] = 0x10;
    bytes[48..50].copy_from_slice(&60_000_u16.to_be_bytes());
    bytes[54..58].copy_from_slice(&[1, 1, 8, 10]);
    bytes[58..62].copy_from_slice(&stamp(nanos).to_be_bytes());
    bytes[62..66].copy_from_slice(&echo.to_be_bytes());
    out.write_all(&((nanos / 1_000_000_000) as u32).to_le_bytes())?;
    out.write_all(&((nanos % 1_000_000_000) as u32).to_le_bytes())?;
    out.write_all(&(bytes.len() as u32).to_le_bytes())?;
    out.write_all(&(bytes.len() as u32 + payload).to_le_bytes())?;
    out.write_all(&bytes)
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("numbers"));
    let mut next = |other| arguments.next().unwrap_or(other);
    let (packets, connections, loss) = (next(1_000_000), next(10_000) as u32, next(1));
    let trip = next(0) * 1_000_000;
    let mut out = BufWriter::new(io::stdout().lock());
    // Nanoseconds and Ethernet.
    out.write_all(&[0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0])?;
    let mut all = vec![Connection::default(); connections as usize];
    let (mut written, mut draw, mut nanos) = (0, 1_u64, 1_000_000_000_000_000_000_u64);
    while written < packets {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        nanos += STEP;
        let number = (draw >> 33) as u32 % connections;
        let (here, there) = (number + 1, 0);
        let one = &mut all[number as usize];
        let before = stamp(nanos - ECHOED);
        let echo = if trip > 0 { stamp(one.answered.min(nanos - trip)) } else { before };
        if let Some(lost) = one.lost.take() {
            packet(&mut out, nanos, (there, here), (1 + lost, 1, PAYLOAD, echo))?;
            packet(&mut out, nanos + 20_000, (here, there), (1, 1 + one.sent, 0, before))?;
            written += 2;
        }
        if (draw >> 7) % 1000 < loss {
            one.lost = Some(one.sent);
        }
        for place in 0..TRAIN {
            packet(&mut out, nanos + u64::from(place) * 1000, (there, here), (1 + one.sent, 1, PAYLOAD, echo))?;
            one.sent = one.sent.wrapping_add(PAYLOAD);
        }
        let acknowledged = one.lost.unwrap_or(one.sent);
        packet(&mut out, nanos + 30_000, (here, there), (1, 1 + acknowledged, 0, before))?;
        one.answered = nanos + 30_000;
        written += u64::from(TRAIN) + 1;
    }
    out.flush()
}
