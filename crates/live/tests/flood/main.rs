//! Hostile peers that have opened a connection by the rules. They have a process of their own, so
//! that the tests measure no other memory.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../host/pair.rs"]
mod pair;
#[path = "../host/plain.rs"]
mod plain;

use eifel_base::time::Duration;
use eifel_live::host::Handle;
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment};
use eifel_packet::seq::Seq;
use eifel_path::stream::Stream;
use eifel_recovery::engine::Config;
use pair::{Pair, held};
use plain::{connect, opened};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs one test after another: each measures the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the resident memory of this process in bytes.
fn resident() -> u64 {
    let table = std::fs::read_to_string("/proc/self/statm").unwrap();
    table.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Port and first sequence numbers of a hostile peer, which has opened a connection by the rules.
struct Attacker {
    port: u16,
    seq: u32,
    ack: u32,
}

impl Attacker {
    /// Opens a connection to port 80 of `pair.b`.
    fn open(pair: &mut Pair, port: u16) -> (Self, Handle) {
        let mut attacker = Self { port, seq: 1000, ack: 0 };
        let answer = attacker.send(pair, 0, Flags::SYN, &[], SackBlocks::EMPTY).unwrap();
        attacker.ack = answer.seq.0.wrapping_add(1);
        attacker.send(pair, 1, Flags::ACK, &[], SackBlocks::EMPTY);
        let handle = opened(&mut pair.b)[0];
        (attacker, handle)
    }

    /// Hands a segment to `pair.b`; returns the last answer.
    fn send(&self, pair: &mut Pair, offset: u32, flags: Flags, payload: &[u8], sack: SackBlocks) -> Option<Segment> {
        let segment = Segment {
            source_port: self.port,
            destination_port: 80,
            seq: Seq(self.seq.wrapping_add(offset)),
            ack: Seq(self.ack),
            flags,
            window: 65_535,
            options: Options { sack_permitted: flags.has(Flags::SYN), sack, ..Options::default() },
            payload_len: payload.len() as u32,
            ecn: eifel_packet::ip::Ecn::NotEct,
        };
        let addresses = Addresses::V4 { source: [10, 0, 0, 9].into(), destination: [10, 0, 0, 2].into() };
        let mut bytes = Vec::new();
        datagram::emit(&Header::new(addresses), &segment, payload, &mut bytes).unwrap();
        pair.b.handle_packet(pair.now, &bytes);
        let mut answer = Vec::new();
        let mut last = None;
        while pair.b.poll_packet(pair.now, &mut answer) {
            last = Some(datagram::parse(&answer).unwrap().1);
        }
        last
    }
}

/// Sends a megabyte from `pair.a` to `pair.b`, to check that an honest peer is not harmed.
fn honest(pair: &mut Pair) {
    let from = connect(pair);
    pair.run_for(Duration::from_secs(1));
    let to = opened(&mut pair.b)[0];
    let (mut written, mut read, mut room) = (0, 0, vec![0; 1 << 16]);
    for _ in 0..10_000 {
        if read == 1_000_000 {
            return;
        }
        let rest = vec![7; 1_000_000 - written];
        written += pair.a.connection(from).unwrap().write(&rest);
        pair.run_for(Duration::from_millis(10));
        read += pair.b.connection(to).unwrap().read(&mut room);
    }
    panic!("{read} bytes arrived");
}

#[test]
fn a_flood_of_single_out_of_order_bytes_is_bounded_and_leaves_other_connections_alone() {
    let _alone = alone();
    let mut pair = Pair::new();
    pair.b.listen(80, 16, &held(), &Config::default()).unwrap();
    let (attacker, _) = Attacker::open(&mut pair, 4000);
    let before = resident();
    // Every other byte of the window, again and again; the first byte never comes.
    for round in 0..4 {
        for offset in (0..30_000).map(|place| 2 * place + round % 2) {
            attacker.send(&mut pair, 2 + offset, Flags::ACK, &[0x55], SackBlocks::EMPTY);
        }
    }
    let more = resident().saturating_sub(before);
    assert!(more < 16 << 20, "{more} bytes for 120 000 bytes out of order");
    honest(&mut pair);
}

#[test]
fn a_flood_of_sack_blocks_has_bounded_cost_and_leaves_other_connections_alone() {
    let _alone = alone();
    let mut pair = Pair::new();
    pair.b.listen(80, 16, &held(), &Config::default()).unwrap();
    let (attacker, handle) = Attacker::open(&mut pair, 4000);
    pair.b.connection(handle).unwrap().write(&[1; 60_000]);
    pair.run_for(Duration::from_millis(10));
    let before = resident();
    let mut dice = Stream::new(1, &["storm"]);
    for _ in 0..100_000 {
        let mut sack = SackBlocks::EMPTY;
        for _ in 0..3 {
            let start = attacker.ack.wrapping_add(dice.below(70_000) as u32);
            sack.push(Seq(start), Seq(start.wrapping_add(dice.below(3) as u32)));
        }
        attacker.send(&mut pair, 1, Flags::ACK, &[], sack);
    }
    let more = resident().saturating_sub(before);
    assert!(more < 16 << 20, "{more} bytes for 300 000 blocks");
    honest(&mut pair);
}
