//! A receiver sends duplicate ACKs at will. A sender without SACK takes each as a segment that has
//! left the network.

use eifel_base::time::Duration;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Seam};
use eifel_tcp::Settings;
use eifel_tcp::settings::SackUse;

use crate::Attack;
use crate::trial::{Limit, Trial};
use crate::victim::{MSS, Victim, ack, engine, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t07-dup-ack-spoofing",
    summary: "duplicate ACKs at will, with SACK and without, to every recovery algorithm",
    source: "Savage and others 1999, section 2.2; RFC 5681, section 3.2; RFC 3042",
    defence: "no more than cwnd leaves in a round trip, Limited Transmit's two segments and the retransmission aside",
    run,
};

const ROUND_TRIP: Duration = Duration::from_millis(100);

fn run(trial: &mut Trial) {
    let duplicates = trial.times(1_000_000, 100_000);
    let (mut tried, mut most, mut beyond) = (0, 0, 0);
    for entry in Seam::Recover.entries() {
        for sack in [SackUse::Off, SackUse::WithDuplicates] {
            let found = flood(entry.name, sack, duplicates);
            tried += 1;
            most = most.max(found.excess);
            beyond += found.beyond_window;
        }
    }
    trial.counted("algorithms, with SACK and without", "runs", tried as f64, Limit::None);
    trial.at_most("most sent in a round trip beyond cwnd", "segments", most, 3);
    trial.exactly("bytes sent beyond the peer's window", "bytes", beyond, 0);
}

struct Found {
    excess: u64,
    beyond_window: u64,
}

/// Sends all duplicates in equal parts over ten round trips, and acknowledges nothing.
fn flood(recover: &str, sack: SackUse, duplicates: u64) -> Found {
    let config = Config { recover: Choice::named(recover), ..Config::default() };
    let mut victim = Victim::with_engine(&Settings { sack, ..settings() }, 1 << 28, engine(&config));
    victim.connection.write_counted(1 << 28);
    victim.sends();
    // Measures the round trip and fills a flight.
    for _ in 0..3 {
        victim.waits(ROUND_TRIP);
        let nxt = victim.connection.engine().nxt();
        victim.gets(&ack(nxt));
        victim.sends();
    }
    let una = victim.connection.engine().una();
    let mut found = Found { excess: 0, beyond_window: 0 };
    for _ in 0..10 {
        // Stays below the retransmission timeout, which would restart with one segment.
        victim.now += ROUND_TRIP;
        let mut sent = 0;
        let mut cwnd = 0;
        for _ in 0..duplicates / 10 {
            victim.gets(&ack(una));
            sent += victim.sends().iter().map(|out| u64::from(out.segment.payload_len)).sum::<u64>();
            cwnd = cwnd.max(victim.connection.engine().snapshot().cwnd);
        }
        found.excess = found.excess.max(sent.saturating_sub(cwnd) / MSS);
        let edge = una + victim.connection.peer_window();
        found.beyond_window += victim.connection.engine().nxt().saturating_sub(edge);
    }
    found
}
