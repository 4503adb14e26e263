//! A receiver acknowledges data before it arrives, or data that was never sent.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Flags;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::{Limit, Trial};
use crate::victim::{MSS, Victim, ack, segment, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t08-optimistic-ack",
    summary: "acknowledgements of data that is still on its way, or was never sent",
    source: "Savage and others 1999, section 2.3; RFC 9293, section 3.10.7.4",
    defence: "what was never sent is not believed; who acknowledges what is on its way gains half a round trip, and loses what is lost",
    run,
};

const SEGMENTS: u64 = 1000;

fn run(trial: &mut Trial) {
    let mut victim = Victim::open(&settings(), 64_000);
    victim.connection.write_counted(10 * MSS);
    victim.sends();
    let mut draw = Draw::new(1, ATTACK.name);
    let lies = trial.times(1 << 20, 1 << 16);
    for _ in 0..lies {
        victim.gets(&segment(Flags::ACK, 1, victim.connection.engine().nxt() + draw.between(1, 1 << 31)));
        victim.sends();
    }
    trial.exactly("bytes believed of those never sent", "bytes", victim.connection.engine().una() - 1, 0);
    trial.exactly("lies counted", "ACKs", victim.connection.counts().refused_acks, lies);
    let honest = transfer(Duration::from_millis(100));
    let liar = transfer(Duration::from_millis(50));
    trial.counted("gain of acknowledging half a round trip early", "times", honest / liar, Limit::None);
}

/// Returns the duration of a transfer in seconds. Each ACK arrives `answer` after its data was
/// sent.
fn transfer(answer: Duration) -> f64 {
    let mut victim = Victim::open(&settings(), 64_000);
    victim.connection.write_counted(SEGMENTS * MSS);
    while victim.connection.engine().una() < victim.connection.end() && victim.now < Instant::from_nanos(1 << 40) {
        victim.sends();
        victim.now += answer;
        let mut una = victim.connection.engine().una();
        let nxt = victim.connection.engine().nxt();
        while una < nxt {
            una = (una + MSS).min(nxt);
            victim.gets(&ack(una));
        }
    }
    victim.now.as_secs_f64()
}
