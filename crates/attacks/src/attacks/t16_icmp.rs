//! Forged ICMP errors that try to end a connection, or to make its segments tiny.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Flags;
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::engine::Config;
use eifel_tcp::{Connection, IcmpError, State};

use crate::Attack;
use crate::trial::{Limit, Trial};
use crate::victim::{ISS, MSS, PORTS, Victim, ack, engine, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t16-icmp",
    summary: "ICMP errors of every kind in every state, and packets said to be too big",
    source: "RFC 5927; RFC 6633; CVE-2004-0790, CVE-2004-0791, CVE-2004-1060",
    defence: "only about what is in flight; none ends an established connection; an MTU is believed after a timeout, with a floor",
    run,
};

/// Types and codes of ICMPv4 and ICMPv6: destination unreachable, source quench, time exceeded,
/// parameter problem.
const V4: [(u8, u8); 14] = [
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 3),
    (3, 5),
    (3, 6),
    (3, 9),
    (3, 10),
    (3, 13),
    (4, 0),
    (11, 0),
    (11, 1),
    (12, 0),
    (12, 1),
];
const V6: [(u8, u8); 10] = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (3, 0), (4, 0), (4, 1)];

fn messages() -> Vec<IcmpError> {
    let v4 = V4.iter().filter_map(|&(kind, code)| IcmpError::v4(kind, code, 0));
    v4.chain(V6.iter().filter_map(|&(kind, code)| IcmpError::v6(kind, code, 0))).collect()
}

fn run(trial: &mut Trial) {
    let (mut cases, mut lived) = (0, 0);
    for error in messages() {
        for (mut victim, _) in Victim::in_every_state(&settings()) {
            // Every connection that can write has data in flight.
            victim.connection.write_counted(3 * MSS);
            victim.sends();
            if matches!(victim.connection.state(), State::SynReceived(_)) {
                continue;
            }
            for position in [0, 1, 2, 1001, 5000] {
                victim.connection.handle_icmp(error, wrap(position, ISS));
            }
            cases += 1;
            lived += u64::from(victim.lives());
        }
    }
    trial.exactly("errors that ended a synchronised connection", "cases", cases - lived, 0);
    trial.exactly("cases tried", "cases", cases, messages().len() as u64 * 7);
    let (blind, exact) = opening();
    trial.exactly("errors about nothing in flight that ended a call", "cases", blind, 0);
    let hard = messages().iter().filter(|&&error| error == IcmpError::Hard).count() as u64;
    trial.exactly("hard errors about the SYN that ended a call", "cases", exact, hard);
    trial.exactly("least payload after packets said to be too big for 0 to 1500 bytes", "bytes", least_payload(), 512);
    trial.exactly("bytes of payload lost to a claim that an ACK contradicts", "bytes", lost_to_a_claim(true), 0);
    let believed = lost_to_a_claim(false) as f64;
    trial.counted("bytes of payload lost to a claim that no ACK contradicts", "bytes", believed, Limit::AtLeast(1.0));
    trial.exactly(
        "positions acknowledged over a path that takes 576 bytes, the FIN's among them",
        "positions",
        shrunk_path(),
        50 * MSS + 1,
    );
}

/// Counts the opening connections that a message ended, without and with the SYN's sequence number.
fn opening() -> (u64, u64) {
    let mut ended = [0, 0];
    for error in messages() {
        for (seq, ended) in [Seq(ISS.0.wrapping_add(1)), ISS].into_iter().zip(&mut ended) {
            let connection = Connection::connect(&settings(), engine(&Config::default()), PORTS, ISS);
            let mut victim = Victim { connection, now: Instant::ZERO };
            victim.sends();
            victim.connection.handle_icmp(error, seq);
            *ended += u64::from(!victim.lives());
        }
    }
    (ended[0], ended[1])
}

fn too_big(mtu: u16) -> Option<IcmpError> {
    IcmpError::v4(3, 4, mtu)
}

/// Returns the smallest payload of a full segment that a stranger can cause once the timer has
/// expired.
fn least_payload() -> u64 {
    let payloads = (0..=1500).map(|mtu| {
        let mut victim = Victim::open(&settings(), 64_000);
        victim.connection.write_counted(3 * MSS);
        victim.sends();
        if let Some(error) = too_big(mtu) {
            victim.connection.handle_icmp(error, wrap(1, ISS));
        }
        victim.waits(Duration::from_secs(10));
        u64::from(victim.connection.mss())
    });
    payloads.min().unwrap_or(0)
}

/// Returns the payload bytes that a forged MTU costs. It quotes data in flight, which is then
/// `acknowledged` or not.
fn lost_to_a_claim(acknowledged: bool) -> u64 {
    let mut victim = Victim::open(&settings(), 64_000);
    victim.connection.write_counted(3 * MSS);
    victim.sends();
    if let Some(error) = too_big(576) {
        victim.connection.handle_icmp(error, wrap(1, ISS));
    }
    if acknowledged {
        victim.gets(&ack(1 + MSS));
    }
    victim.waits(Duration::from_secs(10));
    MSS - u64::from(victim.connection.mss())
}

/// Runs a transfer over a path that drops larger packets and reports them by ICMP.
fn shrunk_path() -> u64 {
    const MTU: u16 = 576;
    let mut victim = Victim::open(&settings(), 64_000);
    victim.connection.write_counted(50 * MSS);
    victim.connection.shutdown_write();
    let mut received = 1;
    while victim.now < Instant::ZERO + Duration::from_secs(600) && received < victim.connection.end() {
        let sent = victim.sends();
        if sent.is_empty() {
            victim.now = victim.connection.poll_timeout();
            victim.connection.handle_timeout(victim.now);
        }
        victim.now += Duration::from_millis(50);
        for out in sent {
            if out.segment.payload_len + 40 > u32::from(MTU) {
                if let Some(error) = too_big(MTU) {
                    victim.connection.handle_icmp(error, out.segment.seq);
                }
                continue;
            }
            if out.start < received {
                let fin = u64::from(out.segment.flags.has(Flags::FIN));
                received = received.max(out.start + 1 + u64::from(out.segment.payload_len) + fin);
            }
            victim.gets(&ack(received));
        }
    }
    victim.connection.engine().una() - 1
}
