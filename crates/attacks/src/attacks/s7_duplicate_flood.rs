//! Duplicate TSNs: repeated chunks, and SACKs that report every sent chunk as a duplicate.

use eifel_base::time::Duration;
use eifel_packet::sctp::{self, Chunk};
use eifel_recovery::registry::Choice;
use eifel_sctp::Delivery;

use crate::Attack;
use crate::associated::{Associated, data, settings};
use crate::clock::Costs;
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s7-duplicate-flood",
    summary: "one chunk a million times; SACKs that report every chunk as a duplicate",
    source: "RFC 9260, section 6.2; RFC 3708, section 3",
    defence: "one SACK a packet, at most 20 duplicates in it; duplicates undo only what was sent again",
    run,
};

fn run(trial: &mut Trial) {
    let mut victim = Associated::open(&settings());
    let packets = trial.times(20_000, 1000);
    let (mut answers, mut longest, mut costs) = (0, 0, Costs::default());
    let chunks: Vec<Chunk<'_>> = (0..73).map(|_| data(0, b"x")).collect();
    for _ in 0..packets {
        victim.now += Duration::from_millis(1);
        costs.step(|| victim.gets(&chunks));
        let sent = victim.sends();
        answers = answers.max(sent.len() as u64);
        for (_, bytes) in &sent {
            longest = longest.max(duplicates(bytes));
        }
    }
    trial.at_most("most answers to a packet of duplicates", "packets", answers, 1);
    trial.at_most("most duplicates in a SACK", "TSNs", longest, 20);
    trial.timed("a packet of 73 duplicates", "µs", costs.most_micros(), 100.0);
    trial.at_most("receive buffer in use", "bytes", victim.association.buffered() as u64, 64);
    let (honest, lied) = (grown(false), grown(true));
    trial.at_most("window after 50 round trips with all reported as duplicates", "bytes", lied, honest);
}

fn duplicates(bytes: &[u8]) -> u64 {
    let Ok((_, chunks)) = sctp::parse(bytes) else { return 0 };
    let lists = chunks.filter_map(|chunk| match chunk {
        Ok(Chunk::Sack(sack)) => Some(sack.duplicates.len() as u64),
        _ => None,
    });
    lists.max().unwrap_or(0)
}

/// Returns the window after 50 round trips. Every tenth round trip loses a packet. The peer `lies`
/// or reports honestly.
#[expect(clippy::expect_used, reason = "the buffer is large")]
fn grown(lies: bool) -> u64 {
    let mut settings = settings();
    settings.engine.path.detect = Choice::named("dsack");
    settings.engine.path.respond = Choice::named("rfc3708");
    let mut victim = Associated::open(&settings);
    for round in 0..50 {
        while victim.association.send_room() > 100_000 {
            victim.association.send(Delivery::default(), vec![0; 1452]).expect("there is room");
        }
        victim.sends();
        let (una, nxt) = (victim.association.engine().una() as u32, victim.association.engine().nxt() as u32);
        victim.now += Duration::from_millis(100);
        if round % 10 == 9 {
            let block = |end: u32| [sctp::Gap { start: 2, end: end as u16 }.to_bytes()];
            (2..=4.min(nxt - una)).for_each(|end| victim.acknowledges(una, &block(end), &[]));
            victim.sends();
        }
        let reported: Vec<u32> = if lies { (una..nxt).collect() } else { Vec::new() };
        victim.acknowledges(nxt, &[], &reported);
    }
    victim.association.engine().window(eifel_recovery::association::PathId(0)).cwnd
}
