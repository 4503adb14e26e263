//! A receiver delays its ACKs to lengthen round trips, and answers retransmissions at once.

use eifel_base::time::Duration;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::Attack;
use crate::losses::{Losses, ROUND_TRIP};
use crate::trial::{Limit, Trial};
use crate::victim::{ack, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "e5-round-trips",
    summary: "acknowledgements held back by a square wave, and those of retransmissions released at once",
    source: "\"Responding to Spurious Timeouts in TCP\", section II.C; DualRTT, section IV.B",
    defence: "the shortest round trip ever seen counts: one honest acknowledgement is enough",
    run,
};

/// The delay that the receiver adds in its slow phases.
const HELD: Duration = Duration::from_millis(300);

fn run(trial: &mut Trial) {
    let timeouts = trial.times(300, 30);
    for detect in ["min-rtt", "dual-rtt"] {
        let waves = undone(detect, timeouts, 2);
        let what = if detect == "min-rtt" { "undos by the shortest round trip" } else { "undos by DualRTT" };
        trial.exactly(what, "undos", waves, 0);
    }
    let never = undone("min-rtt", timeouts, u64::MAX);
    trial.counted("undos by the shortest round trip, if none was honest", "undos", never as f64, Limit::None);
}

/// Counts undone timeouts of lost segments. Between them, one in `honest` round trips is not
/// delayed; none if `honest` is `u64::MAX`.
fn undone(detect: &str, timeouts: u64, honest: u64) -> u64 {
    let mut sender = Losses::new(&settings(), &Config { detect: Choice::named(detect), ..Config::default() });
    for number in 1..=timeouts {
        let slow = honest == u64::MAX || number % honest != 1;
        sender.flows(if slow { ROUND_TRIP + HELD } else { ROUND_TRIP });
        let nxt = sender.victim.connection.engine().nxt();
        let due = sender.victim.connection.poll_timeout();
        sender.victim.reaches(due);
        sender.victim.waits(ROUND_TRIP);
        sender.gets(&ack(nxt));
    }
    sender.undone
}
