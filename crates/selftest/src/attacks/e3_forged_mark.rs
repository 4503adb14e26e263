//! A receiver never says that it answers a retransmission, where both ends mark them.

use eifel_packet::segment::Marks;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;
use eifel_tcp::Settings;

use crate::Attack;
use crate::losses::{Losses, unmarked};
use crate::trial::{Limit, Trial};
use crate::victim::settings;

pub(super) const ATTACK: Attack = Attack {
    name: "e3-forged-mark",
    summary: "acknowledgements of retransmissions that say they answer originals",
    source: "Ludwig, chapter 5, section 5.2.1",
    defence: "an undo at most once a round trip; one bit proves no more, so it is for peers that are trusted",
    run,
};

fn run(trial: &mut Trial) {
    let losses = trial.times(1000, 100);
    let config =
        |grant: &str| Config { detect: Choice::named("eifel-bit"), grant: Choice::named(grant), ..Config::default() };
    let undone = |config: &Config| {
        let mut sender = Losses::new(&Settings { marks: Some(Marks::Bits), ..settings() }, config);
        for _ in 0..losses {
            let lost = sender.loses();
            sender.answers(&lost, unmarked);
        }
        (sender.noticed, sender.undone)
    };
    let ((noticed, once), (_, always)) = (undone(&config("once-a-round-trip")), undone(&config("always")));
    trial.exactly("losses noticed", "losses", noticed, losses);
    trial.exactly("undos beyond those without a limit", "undos", once.saturating_sub(always), 0);
    trial.counted("undos, where losses are further apart than a round trip", "undos", once as f64, Limit::None);
}
