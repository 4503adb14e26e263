//! A receiver, or a network that duplicates packets, reports duplicates that do not exist.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::Attack;
use crate::losses::Losses;
use crate::trial::{Limit, Trial};
use crate::victim::{MSS, settings, with_sack};

pub(super) const ATTACK: Attack = Attack {
    name: "e2-forged-dsack",
    summary: "DSACKs for what was lost, for what was never sent again, and for half of a retransmission",
    source: "RFC 3708, section 3; RFC 2883, section 5",
    defence: "a DSACK counts for what was sent again, whole, and once; one for anything else disarms the detector for good; an undo at most once a round trip",
    run,
};

/// Returns the block that the DSACK reports, given the retransmitted block.
type Lie = fn((u64, u64)) -> (u64, u64);

fn run(trial: &mut Trial) {
    let losses = trial.times(1000, 100);
    let half: Lie = |(start, end)| (start, start + (end - start) / 2);
    trial.exactly("undos for half of a retransmission", "undos", undone(losses, half), 0);
    let never: Lie = |(start, _)| (start - 4 * MSS, start - 3 * MSS);
    trial.exactly("undos for what was never sent again", "undos", undone(losses, never), 0);
    let whole = undone(losses, |block| block);
    trial.counted("undos for what was sent again, of as many losses", "undos", whole as f64, Limit::None);
    trial.exactly("undos once the detector is disarmed", "undos", disarmed(losses), 0);
}

fn sender() -> Losses {
    Losses::new(&settings(), &Config { detect: Choice::named("dsack"), ..Config::default() })
}

fn undone(losses: u64, lie: Lie) -> u64 {
    let mut sender = sender();
    for _ in 0..losses {
        let lost = sender.loses();
        sender.answers(&lost, |honest| with_sack(honest, &[lie(lost.block())]));
    }
    sender.undone
}

/// Reports a segment that was never retransmitted, then keeps forging reports.
fn disarmed(losses: u64) -> u64 {
    let mut sender = sender();
    let lost = sender.loses();
    sender.answers(&lost, |honest| with_sack(honest, &[(lost.block().0 - 4 * MSS, lost.block().0 - 3 * MSS)]));
    for _ in 1..losses {
        let lost = sender.loses();
        sender.answers(&lost, |honest| with_sack(honest, &[lost.block()]));
    }
    sender.undone
}
