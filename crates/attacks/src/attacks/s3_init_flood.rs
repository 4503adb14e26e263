//! INITs from addresses that never answer.

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::Chunk;
use eifel_sctp::{Heard, Listener};

use crate::Attack;
use crate::associated::{LOCAL, PORTS, init, packet, settings};
use crate::clock::cpu_nanos;
use crate::draw::Draw;
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s3-init-flood",
    summary: "a million INITs from addresses that never answer",
    source: "RFC 9260, section 5.1.3; RFC 4987 for TCP's like",
    defence: "a listener keeps nothing of a caller: the signed cookie does",
    run,
};

fn run(trial: &mut Trial) {
    let inits = trial.times(1_000_000, 20_000);
    let mut listener = listener();
    let mut draw = Draw::new(1, ATTACK.name);
    let call = packet(0, &[Chunk::Init(init(&[]))]);
    let (mut answers, mut longest, mut opened) = (0u64, 0, 0u64);
    let (nanos, ()) = cpu_nanos(|| {
        for number in 0..inits {
            let now = Instant::ZERO + Duration::from_micros(number);
            let Some(from) = from(draw.any()) else { continue };
            match listener.handle_packet(now, &from, &call) {
                Heard::Answer(_, bytes) => {
                    answers += 1;
                    longest = longest.max(bytes.len());
                }
                Heard::Accepted(_) => opened += 1,
                Heard::Nothing => {}
            }
        }
    });
    trial.at_most("answers", "packets", answers, inits);
    trial.at_most("longest answer to 32 bytes", "bytes", longest as u64, 256);
    trial.exactly("associations opened", "associations", opened, 0);
    trial.at_most("size of a listener, which has no table of callers", "bytes", size_of::<Listener>() as u64, 4096);
    trial.timed("an INIT, on average", "µs", nanos as f64 / 1e3 / inits as f64, 5.0);
}

#[expect(clippy::expect_used, reason = "the names are this crate's own")]
fn listener() -> Listener {
    Listener::new(settings(), PORTS.local).expect("algorithms of the registry")
}

/// Returns the addresses of a packet from any host; `None` for addresses that no host has.
fn from(source: u32) -> Option<Addresses> {
    Addresses::new(core::net::Ipv4Addr::from(source).into(), LOCAL[0])
}
