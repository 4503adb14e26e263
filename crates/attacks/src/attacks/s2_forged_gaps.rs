//! SACKs with as many gap ack blocks as fit into a packet, against very many outstanding chunks.

use eifel_base::time::Duration;
use eifel_packet::sctp::Gap;
use eifel_recovery::registry::Choice;
use eifel_sctp::Delivery;

use crate::Attack;
use crate::associated::{Associated, settings};
use crate::clock::Costs;
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s2-forged-gaps",
    summary: "SACKs with 16,000 gap ack blocks, the most that IP can carry, in orders that cost most",
    source: "RFC 9260, section 12; as CVE-2019-11477 for TCP",
    defence: "reported chunks are ranges: a SACK costs its blocks, not the chunks outstanding",
    run,
};

/// Gap ack blocks in the longest packet.
const BLOCKS: usize = 16_376;
/// Gap ack blocks in a packet of 1500 bytes.
const USUAL: usize = 363;
/// The number of smallest chunks in a packet.
const PACKET: u32 = 73;

fn run(trial: &mut Trial) {
    let chunks = trial.times(1_000_000, 70_000);
    for (blocks, what, most) in [
        (USUAL, "a SACK of 363 blocks, the most in 1500 bytes, against a million chunks", 200.0),
        (BLOCKS, "a SACK of 16376 blocks, the most in IP, against a million chunks", 10_000.0),
    ] {
        let mut victim = outstanding(chunks);
        let una = victim.association.engine().una();
        let lists = [even(blocks), even(blocks).into_iter().rev().collect(), even(blocks / 2)];
        let mut costs = Costs::default();
        for round in 0..trial.times(200, 6) as usize {
            costs.step(|| victim.acknowledges(una as u32, &lists[round % 3], &[]));
            victim.now += Duration::from_millis(1);
        }
        trial.timed(what, "µs", costs.most_micros(), most);
        trial.exactly("associations that live on", "associations", u64::from(victim.lives()), 1);
        let freed = victim.association.engine().una() - una;
        trial.exactly("chunks that forged gaps alone free", "chunks", freed, 0);
    }
}

/// Reports every other chunk, in a block each.
fn even(blocks: usize) -> Vec<[u8; 4]> {
    (1..=blocks as u16).map(|n| Gap { start: 2 * n, end: 2 * n }.to_bytes()).collect()
}

/// Makes a victim with this many chunks outstanding, each of the smallest length. They are
/// unordered, since a stream may have at most 65 535 ordered messages outstanding (RFC 8540,
/// section 3.48).
#[expect(clippy::expect_used, reason = "the buffer is large")]
fn outstanding(chunks: u64) -> Associated {
    let mut settings = settings();
    settings.send_buffer = 1 << 30;
    settings.engine.path.pace = Choice::named("none");
    let mut victim = Associated::open(&settings);
    let delivery = Delivery { unordered: true, ..Delivery::default() };
    loop {
        for _ in 0..3 * PACKET {
            victim.association.send(delivery, *b"four").expect("there is room");
        }
        victim.sends();
        let (una, nxt) = (victim.association.engine().una(), victim.association.engine().nxt());
        if nxt - una >= chunks {
            return victim;
        }
        // Acknowledges like an honest peer: the window was used, and grows by a packet.
        victim.acknowledges(una as u32 + PACKET, &[], &[]);
    }
}
