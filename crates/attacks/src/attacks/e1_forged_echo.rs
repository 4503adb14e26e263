//! A receiver echoes an original's timestamp for every retransmission although the original was
//! lost.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::Settings;
use eifel_tcp::settings::TimestampSettings;
use eifel_testkit::connections::Sent;

use crate::Attack;
use crate::losses::{Losses, Lost, ROUND_TRIP};
use crate::trial::{Limit, Trial};
use crate::victim::{stamped, with_timestamps};

pub(super) const ATTACK: Attack = Attack {
    name: "e1-forged-echo",
    summary: "timestamps of originals echoed for retransmissions, or guessed, so that every loss looks spurious",
    source: "RFC 3522, section 6; RFC 4015, section 6",
    defence: "the safe variant (RFC 3522, section 3.4) believes the lost segment's own timestamp only; timestamps of which each names one transmission have it found by who has received it, and by one guess in 32; three guesses that fail are the end of it",
    run,
};

fn run(trial: &mut Trial) {
    let losses = trial.times(1000, 120);
    let older = Choice::named("eifel-timestamps").with("proof", Value::Word("older".into()));
    let safe = Choice::named("eifel-timestamps").with("proof", Value::Word("original".into()));
    let coarse = with_timestamps();
    let sender = undone(&safe, &coarse, losses, neighbour);
    trial.exactly("losses noticed", "losses", sender.noticed, losses);
    trial.exactly("undos of losses by the safe variant, with a clock of 1 ms", "undos", sender.undone, 0);
    let sender = undone(&safe, &distinct(0), losses, neighbour);
    trial.exactly("losses noticed, with distinct timestamps", "losses", sender.noticed, losses);
    trial.exactly("undos of losses by the safe variant, with distinct timestamps", "undos", sender.undone, 0);
    let connections = trial.times(1000, 50);
    let guessed: u64 = (0..connections).map(|one| undone(&safe, &distinct(one), 8, guess).undone).sum();
    // Until three guesses have failed, one in 32 succeeds: 3 / 31 of a success on average.
    let most = connections / 5;
    trial.at_most("undos by guesses, in a fifth of the connections at most", "undos", guessed, most);
    let found = undone(&safe, &distinct(0), losses.min(100), truth).undone;
    trial.exactly("undos where the original had arrived", "undos", found, losses.min(100));
    let sender = undone(&older, &coarse, losses, neighbour);
    trial.counted("undos by the plain variant, of as many losses", "undos", sender.undone as f64, Limit::None);
}

fn distinct(secret: u64) -> Settings {
    Settings { timestamps: Some(TimestampSettings::distinct([secret, 1])), ..with_timestamps() }
}

/// Returns the timestamp that the receiver echoes for a retransmission.
type Echo = fn(&Lost) -> u32;

fn value(sent: &Sent) -> u32 {
    sent.segment.options.timestamps.map_or(0, |stamps| stamps.value)
}

fn neighbour(lost: &Lost) -> u32 {
    value(&lost.next)
}

/// Guesses the midpoint between the timestamps of the original's neighbours, in microsecond ticks.
/// The receiver knows that the earlier neighbour left one round trip before.
fn guess(lost: &Lost) -> u32 {
    let ticks = (ROUND_TRIP.as_nanos() / 1000) as u32;
    let before = lost.before.as_ref().map_or(0, value).wrapping_add(ticks);
    before.wrapping_add(value(&lost.next).wrapping_sub(before) / 2)
}

fn truth(lost: &Lost) -> u32 {
    value(&lost.original)
}

fn undone(detect: &Choice, settings: &Settings, losses: u64, echo: Echo) -> Losses {
    let config = Config { detect: detect.clone(), ..Config::default() };
    let mut sender = Losses::new(settings, &config);
    for _ in 0..losses {
        let lost = sender.loses();
        sender.answers(&lost, |honest| match honest.options.timestamps {
            Some(own) => stamped(honest, own.value, echo(&lost)),
            None => honest,
        });
    }
    sender
}
