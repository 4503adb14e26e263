//! Packets full of the smallest chunks. They cost far more work and memory than their bytes
//! suggest.

use eifel_base::time::Duration;
use eifel_packet::sctp::{Chunk, Parameters, Unknown};

use crate::Attack;
use crate::associated::{Associated, count, data, settings};
use crate::clock::Costs;
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s1-chunk-storm",
    summary: "packets of the smallest DATA chunks behind a gap, of unknown chunks, and of HEARTBEATs",
    source: "CVE-2010-1173; RFC 9260, section 12",
    defence: "a chunk counts for 64 bytes of the receive buffer, which is exceeded by a packet at most; one SACK a packet; at most 64 answers wait",
    run,
};

/// The number of smallest DATA chunks (and of unknown chunks or HEARTBEATs) in 1500 bytes.
const DATA: u32 = 73;
const UNKNOWN: usize = 367;

fn run(trial: &mut Trial) {
    let packets = trial.times(20_000, 500);
    let mut costs = Costs::default();
    let mut victim = Associated::open(&settings());
    let mut answers = 0;
    for packet in 0..packets as u32 {
        // Every other TSN, so that each chunk is a gap of its own.
        let chunks: Vec<Chunk<'_>> = (0..DATA).map(|n| data(1 + 2 * (packet * DATA + n), b"x")).collect();
        victim.now += Duration::from_millis(1);
        costs.step(|| victim.gets(&chunks));
        answers = answers.max(victim.sends().len() as u64);
    }
    trial.at_most("most answers to a packet of DATA", "packets", answers, 1);
    trial.timed("a packet of 73 DATA chunks", "µs", costs.most_micros(), 200.0);
    let held = victim.association.buffered() as u64;
    trial.at_most("receive buffer in use, of 65536", "bytes", held, 65_536 + 64 * u64::from(DATA));
    let unknown = Chunk::Unknown(Unknown { kind: 0xef, bytes: &[0xef, 0, 0, 4] });
    victim.gets(&vec![unknown; UNKNOWN]);
    let reports = count(&victim.sends(), |chunk| matches!(chunk, Chunk::Error(_)));
    trial.at_most("reports of 367 unknown chunks", "chunks", reports, 64);
    victim.gets(&vec![Chunk::Heartbeat(Parameters(&[])); UNKNOWN]);
    let echoes = count(&victim.sends(), |chunk| matches!(chunk, Chunk::HeartbeatAck(_)));
    trial.at_most("answers to 367 HEARTBEATs", "chunks", echoes, 64);
    trial.exactly("associations that live on", "associations", u64::from(victim.lives()), 1);
}
