//! A receiver acknowledges each segment in many pieces. A sender that counts ACKs then opens its
//! window faster.

use eifel_base::time::Duration;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Seam, Value};
use eifel_tcp::Settings;

use crate::Attack;
use crate::trial::Trial;
use crate::victim::{Victim, ack, engine, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t06-ack-division",
    summary: "each segment acknowledged in 2 to 1460 pieces",
    source: "Savage and others 1999, section 2.1; RFC 3465; RFC 5681, section 3.1",
    defence: "the window grows by bytes acknowledged, at most a segment an ACK",
    run,
};

const MSS: u16 = 1460;
fn run(trial: &mut Trial) {
    // In slow start each round trip takes twice as many ACKs as the one before.
    let round_trips = trial.times(12, 5);
    let pieces: Vec<u64> = (2..=trial.times(32, 4)).chain([73, 146, 365, 730, 1460]).collect();
    for entry in Seam::Congest.entries() {
        // Slow start throughout; then congestion avoidance from 16 segments on.
        for (ssthresh, what) in [(None, SLOW_START), (Some(16), AVOIDANCE)] {
            let has = |name| entry.parameters.iter().any(|parameter| parameter.name == name);
            let mut congest = Choice::named(entry.name);
            if let Some(segments) = ssthresh {
                if !has("initial_ssthresh_bytes") {
                    continue;
                }
                congest = congest.with("initial_ssthresh_bytes", Value::Integer(segments * i64::from(MSS)));
            }
            let honest = windows(&congest, 1, round_trips);
            let divided = |&pieces: &u64| gain(&honest, &windows(&congest, pieces, round_trips));
            let gain = pieces.iter().map(divided).max().unwrap_or(0);
            trial.at_most(what, "bytes", gain, 0);
        }
    }
}

const SLOW_START: &str = "what division adds to the window in slow start";
const AVOIDANCE: &str = "what division adds to the window in congestion avoidance";

/// Returns the most by which the second window exceeds the first.
fn gain(honest: &[u64], divided: &[u64]) -> u64 {
    honest.iter().zip(divided).map(|(honest, divided)| divided.saturating_sub(*honest)).max().unwrap_or(0)
}

/// Returns cwnd after each round trip of a bulk sender whose peer acknowledges each segment in
/// `pieces` pieces.
fn windows(congest: &Choice, pieces: u64, round_trips: u64) -> Vec<u64> {
    let config = Config { congest: congest.clone(), ..Config::default() };
    let settings = Settings { mss: MSS, ..settings() };
    let mut victim = Victim::with_engine(&settings, 1 << 28, engine(&config));
    victim.connection.write_counted(1 << 28);
    victim.sends();
    let step = u64::from(MSS).div_ceil(pieces);
    let round_trip = |_| {
        victim.waits(Duration::from_millis(100));
        let nxt = victim.connection.engine().nxt();
        let mut una = victim.connection.engine().una();
        while una < nxt {
            let end = (una + u64::from(MSS)).min(nxt);
            while una < end {
                una = (una + step).min(end);
                victim.gets(&ack(una));
                victim.sends();
            }
        }
        victim.connection.engine().snapshot().cwnd
    };
    (0..round_trips).map(round_trip).collect()
}
