//! What a SACK costs an association, by the number of chunks outstanding: `cargo run --release --example sack_cost`.
//!
//! Each SACK holds as many gap ack blocks as a packet of 1500 bytes takes, one for every second chunk, as far as 16 bits reach.
//! First each reports other chunks than the one before, and so takes that one's report back; then each says the same.

use std::time::Instant as Clock;

use eifel_base::time::{Duration, Instant};
use eifel_recovery::association::{Config, Engine, Sack, Size};
use eifel_recovery::fact::Block;

/// Of four bytes each, behind 20 bytes of IPv4, 12 of SCTP's header and 16 of the chunk's.
const BLOCKS: u64 = (1500 - 20 - 12 - 16) / 4;
const REACH: u64 = 65_535;
const SIZE: Size = Size { wire: 1016, data: 1000 };

fn main() {
    for chunks in [100_000_u64, 1_000_000] {
        let mut engine = Engine::new(Config::default()).expect("the default algorithms are known");
        let path = engine.add_path(Instant::ZERO, 1468, false);
        engine.set_usable(path, true);
        for _ in 0..chunks {
            engine.on_new(Instant::ZERO, path, SIZE, None);
        }
        let reports: Vec<Vec<Block>> = (0..REACH / (2 * BLOCKS)).map(blocks).collect();
        let (other, dearest) = sacked(&mut engine, &reports);
        let (same, _) = sacked(&mut engine, &vec![reports[0].clone(); 101]);
        println!(
            "{chunks:>8} chunks: {other:>6.1} us a SACK with {BLOCKS} other blocks, {dearest:.1} at most; {same:.1} with the same"
        );
    }
}

/// Every second chunk of those that report `number` is about.
fn blocks(number: u64) -> Vec<Block> {
    let from = 2 * number * BLOCKS;
    (0..BLOCKS).map(|block| Block { start: from + 2 * block + 1, end: from + 2 * block + 2 }).collect()
}

/// Microseconds that a SACK with each of these takes: in the middle of all, and the most.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn sacked(engine: &mut Engine, reports: &[Vec<Block>]) -> (f64, f64) {
    let mut took: Vec<f64> = Vec::new();
    for (number, blocks) in reports.iter().enumerate() {
        let sack = Sack { cumulative: 0, blocks, duplicates: &[], echo: None, echo_of: None, mark: None };
        let start = Clock::now();
        engine.on_sack(Instant::ZERO + Duration::from_millis(number as u64), &sack);
        took.push(start.elapsed().as_secs_f64() * 1e6);
    }
    took.sort_by(f64::total_cmp);
    (took[took.len() / 2], took[took.len() - 1])
}
