//! A receiver acknowledges data that never arrived, or sends duplicates, while F-RTO decides
//! whether a timeout was spurious.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::Attack;
use crate::losses::{Losses, ROUND_TRIP};
use crate::trial::Trial;
use crate::victim::{MSS, ack, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "e4-f-rto",
    summary: "after a timeout, acknowledgements beyond all that was sent, and duplicates at will",
    source: "RFC 5682, sections 2.1 and 5",
    defence: "an acknowledgement of what was never sent is not believed; a duplicate, and one that covers what was sent again, settle that the timeout was genuine",
    run,
};

fn run(trial: &mut Trial) {
    let timeouts = trial.times(300, 30);
    for (what, lie) in [
        ("undos by acknowledgements of what was never sent", Lie::Ahead),
        ("undos by duplicates", Lie::Duplicates),
        ("undos where the first covers all that was outstanding", Lie::All),
    ] {
        let (noticed, undos) = undone(timeouts, lie);
        trial.exactly("timeouts", "timeouts", noticed, timeouts);
        trial.exactly(what, "undos", undos, 0);
    }
}

/// The receiver's answer after a timeout.
#[derive(Clone, Copy)]
enum Lie {
    Ahead,
    Duplicates,
    All,
}

fn undone(timeouts: u64, lie: Lie) -> (u64, u64) {
    let mut sender = Losses::new(&settings(), &Config { detect: Choice::named("f-rto"), ..Config::default() });
    for _ in 0..timeouts {
        sender.flows(ROUND_TRIP);
        let engine = sender.victim.connection.engine();
        let (una, nxt) = (engine.una(), engine.nxt());
        // The sender receives nothing until the timer has expired.
        let due = sender.victim.connection.poll_timeout();
        sender.victim.reaches(due);
        match lie {
            Lie::Ahead => {
                sender.gets(&ack(nxt + MSS));
                sender.gets(&ack(nxt + 2 * MSS));
            }
            Lie::Duplicates => {
                for _ in 0..10 {
                    sender.gets(&ack(una));
                }
            }
            Lie::All => sender.gets(&ack(nxt)),
        }
        let nxt = sender.victim.connection.engine().nxt();
        sender.gets(&ack(nxt));
    }
    (sender.noticed, sender.undone)
}
