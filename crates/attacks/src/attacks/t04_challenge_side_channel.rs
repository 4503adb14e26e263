//! A stranger tests whether a guess lies in the window of another connection. It reads the answer
//! from the challenge ACKs that its own connection to the same host still gets.

use eifel_packet::segment::Flags;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::{Limit, Trial};
use crate::victim::{Victim, segment, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t04-challenge-side-channel",
    summary: "guesses about another connection's window, read from one's own challenge ACKs",
    source: "RFC 5961, sections 7 and 10; CVE-2016-5696",
    defence: "each connection counts its own challenge ACKs, and nobody knows how many an interval has",
    run,
};

/// More probes than an interval has challenges.
const PROBES: u64 = 200;

fn run(trial: &mut Trial) {
    let trials = trial.times(10_000, 10_000);
    let mut draw = Draw::new(1, ATTACK.name);
    let (mut right, mut by_count) = (0u64, [[0u64; 2]; 16]);
    for _ in 0..trials {
        let mut other = Victim::open(&settings(), 64_000);
        let mut own = Victim::open(&settings(), 64_000);
        let inside = draw.chance(0.5);
        let guess = if inside { 1 + draw.between(1, 63_000) } else { 1 + draw.between(70_000, 1 << 31) };
        for probe in 0..PROBES {
            other.gets(&segment(Flags::RST, guess, 0));
            own.gets(&segment(Flags::RST, 2 + probe, 0));
        }
        let seen = own.connection.counts().challenges as usize;
        // The stranger picks the answer that was more often true after this count.
        let [outside_before, inside_before] = by_count[seen.min(15)];
        right += u64::from((inside_before > outside_before) == inside);
        by_count[seen.min(15)][usize::from(inside)] += 1;
    }
    trial.counted(
        "guesses that the stranger knows to be right",
        "%",
        right as f64 * 100.0 / trials as f64,
        Limit::AtMost(51.0),
    );
    let (least, most) = credits(trial.times(10_000, 1_000));
    trial.at_most("challenge ACKs of an interval", "segments", most, settings().challenge.acks.into());
    trial.counted(
        "least of an interval, the most being what is set",
        "segments",
        least as f64,
        Limit::AtMost(most as f64 - 1.0),
    );
}

/// Returns the fewest and the most challenge ACKs in any interval of a connection.
fn credits(intervals: u64) -> (u64, u64) {
    let mut victim = Victim::open(&settings(), 64_000);
    let counts = (0..intervals).map(|_| {
        let before = victim.connection.counts().challenges;
        for probe in 0..PROBES {
            victim.gets(&segment(Flags::RST, 2 + probe, 0));
        }
        victim.sends();
        victim.now += settings().challenge.interval;
        victim.connection.counts().challenges - before
    });
    counts.fold((u64::MAX, 0), |(least, most), count| (least.min(count), most.max(count)))
}
