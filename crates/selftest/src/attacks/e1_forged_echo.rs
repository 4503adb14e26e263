//! A receiver echoes an original's timestamp for every retransmission, though the original was lost.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::Attack;
use crate::losses::{Losses, echoing};
use crate::trial::{Limit, Trial};
use crate::victim::with_timestamps;

pub(super) const ATTACK: Attack = Attack {
    name: "e1-forged-echo",
    summary: "timestamps of originals echoed for retransmissions, so that every loss looks spurious",
    source: "RFC 3522, section 6; RFC 4015, section 6",
    defence: "the safe variant (RFC 3522, section 3.4) believes the lost segment's own timestamp only, and none that a neighbour carried; the plain one is limited to an undo a round trip",
    run,
};

fn run(trial: &mut Trial) {
    let losses = trial.times(1000, 100);
    let plain = Choice::named("eifel-timestamps");
    let safe = plain.clone().with("proof", Value::Word("original".into()));
    let (noticed, undos) = undone(&safe, losses);
    trial.exactly("losses noticed", "losses", noticed, losses);
    trial.exactly("undos of losses by the safe variant", "undos", undos, 0);
    let (_, undos) = undone(&plain, losses);
    trial.counted("undos by the plain variant, of as many losses", "undos", undos as f64, Limit::None);
}

fn undone(detect: &Choice, losses: u64) -> (u64, u64) {
    let config = Config { detect: detect.clone(), ..Config::default() };
    let mut sender = Losses::new(&with_timestamps(), &config);
    for _ in 0..losses {
        let lost = sender.loses();
        sender.answers(&lost, |honest| echoing(honest, &lost.next));
    }
    (sender.noticed, sender.undone)
}
