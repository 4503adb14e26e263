//! A receiver causes an undo while nothing is in flight, so that the whole window leaves at once.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::Attack;
use crate::losses::{Losses, echoing};
use crate::trial::{Limit, Trial};
use crate::victim::with_timestamps;

pub(super) const ATTACK: Attack = Attack {
    name: "e7-undo-burst",
    summary: "one acknowledgement of everything, with a forged echo: the undo lets a whole window go",
    source: "RFC 4015, section 3.1, step 9",
    defence: "cwnd = FlightSize + min(bytes acked, IW), so that no more than the initial window leaves; a burst limit where a response restores more",
    run,
};

/// RFC 6928's initial window, the default, in segments.
const INITIAL: u64 = 10;
const LIMIT: u64 = 4;

fn run(trial: &mut Trial) {
    let losses = trial.times(1000, 100);
    // Uses the forgeable variant; the other one is not misled at all.
    let detect = Choice::named("eifel-timestamps").with("proof", Value::Word("older".into()));
    let standard = Config { detect, ..Config::default() };
    let segments = most_at_once(&standard, losses);
    trial.counted("segments at once, by any response", "segments", segments as f64, Limit::AtLeast(1.0));
    trial.at_most("segments at once, by RFC 4015", "segments", segments, INITIAL);
    let whole = Config { respond: Choice::named("option-1"), ..standard };
    let segments = most_at_once(&whole, losses);
    trial.counted("by a response that restores all", "segments", segments as f64, Limit::None);
    let pace = Choice::named("burst-limit").with("segments", Value::Integer(LIMIT as i64));
    let limited = Config { pace, ..whole };
    trial.at_most("the same with a burst limit", "segments", most_at_once(&limited, losses), LIMIT);
}

fn most_at_once(config: &Config, losses: u64) -> u64 {
    let mut sender = Losses::new(&with_timestamps(), config);
    let mut most = 0;
    for _ in 0..losses {
        let lost = sender.loses();
        let (before, undone) = (sender.victim.connection.engine().nxt(), sender.undone);
        sender.answers(&lost, |honest| echoing(honest, &lost.next));
        if sender.undone > undone {
            most = most.max(sender.victim.connection.engine().nxt() - before);
        }
    }
    most.div_ceil(crate::victim::MSS)
}
