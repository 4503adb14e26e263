//! A peer holds its SACKs back until the timer expires. The chunks that it has received then count
//! as delivered by the alternate path.

use eifel_packet::sctp::{Chunk, Gaps, Sack, SackFlags};
use eifel_packet::seq::Seq;
use eifel_recovery::association::PathId;
use eifel_recovery::registry::Choice;
use eifel_sctp::Delivery;

use crate::Attack;
use crate::associated::{Associated, from_peer, packet, parsed, settings};
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s8-overgrowth",
    summary: "SACKs held back until chunks have left again on the alternate path, whose window then grows for them",
    source: "\"On making SCTP robust to spurious retransmissions\", section 4 and figure 4",
    defence: "credit = unambiguous or evidence: chunks that left twice let no window grow without a proof",
    run,
};

const ROUNDS: u32 = 30;

fn run(trial: &mut Trial) {
    let first = window("last-path", 0);
    trial.counted(
        "alternate's window after 30 rounds, by RFC 9260",
        "bytes",
        window("last-path", ROUNDS) as f64,
        crate::Limit::None,
    );
    trial.at_most("the same with credit = unambiguous", "bytes", window("unambiguous", ROUNDS), first);
    trial.at_most("the same with credit = evidence", "bytes", window("evidence", ROUNDS), first);
}

/// Returns the alternate path's window after this number of timeouts of the primary.
#[expect(clippy::expect_used, reason = "the buffer is large")]
fn window(credit: &str, rounds: u32) -> u64 {
    let mut settings = settings();
    settings.engine.credit = Choice::named(credit);
    settings.path_max_retransmits = 1000;
    settings.association_max_retransmits = 1000;
    let mut victim = Associated::open(&settings);
    for _ in 0..rounds {
        while victim.association.send_room() > 1_000_000 {
            victim.association.send(Delivery::default(), vec![0; 1452]).expect("there is room");
        }
        victim.sends();
        // The timer expires, and the chunks leave again on the other path.
        victim.waits();
        let nxt = victim.association.engine().nxt() as u32;
        let cumulative = Seq(victim.tsn.wrapping_add(nxt).wrapping_sub(1));
        let flags = SackFlags::default();
        let sack = Sack { flags, cumulative, a_rwnd: 1 << 30, gaps: Gaps(&[]), duplicates: &[] };
        let bytes = packet(victim.tag, &[Chunk::Sack(sack)]);
        victim.association.handle(victim.now, &from_peer(1), &parsed(&bytes));
    }
    victim.association.engine().window(PathId(1)).cwnd
}
