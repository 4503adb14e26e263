//! A receiver never marks its answers to retransmissions, although both ends agreed to marks.

use eifel_packet::segment::{Flags, Marks, Segment};
use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;
use eifel_tcp::Settings;

use crate::Attack;
use crate::losses::{Losses, unmarked};
use crate::trial::{Limit, Trial};
use crate::victim::{MSS, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "e3-forged-mark",
    summary: "acknowledgements of retransmissions that say they answer originals",
    source: "Ludwig, chapter 5, section 5.2.1",
    defence: "where an original has arrived, its retransmission is to be answered too: three times in a row without that, and the bit is believed no more; who forges both answers is not caught, so a bit is for peers that are trusted",
    run,
};

/// The receiver's later answer to the retransmission, after it claimed that the original arrived.
#[derive(PartialEq)]
enum Answer {
    Missing,
    Forged,
}

fn run(trial: &mut Trial) {
    let losses = trial.times(1000, 100);
    let config =
        |grant: &str| Config { detect: Choice::named("eifel-bit"), grant: Choice::named(grant), ..Config::default() };
    let undone = |config: &Config, answer: Answer| {
        let mut sender = Losses::new(&Settings { marks: Some(Marks::Bits), ..settings() }, config);
        for _ in 0..losses {
            let lost = sender.loses();
            sender.answers(&lost, unmarked);
            if answer == Answer::Forged {
                let again = sender.honest(lost.nxt - MSS, &lost.again.segment);
                sender.gets(&Segment { flags: again.flags.with(Flags::ANSWERS_SENT_AGAIN), ..again });
            }
        }
        (sender.noticed, sender.undone)
    };
    let (noticed, once) = undone(&config("once-a-round-trip"), Answer::Missing);
    let (_, always) = undone(&config("always"), Answer::Missing);
    trial.exactly("losses noticed", "losses", noticed, losses);
    trial.at_most("undos, where losses are further apart than a round trip", "undos", once, 3);
    trial.at_most("undos without a limit", "undos", always, 3);
    let (_, both) = undone(&config("once-a-round-trip"), Answer::Forged);
    trial.counted("undos where the retransmission's own answer is forged too", "undos", both as f64, Limit::None);
}
