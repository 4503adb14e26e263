//! A stranger sends SYNs or SYN-ACKs into an existing connection.

use eifel_packet::segment::Flags;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{Victim, segment, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t02-blind-syn",
    summary: "SYN and SYN-ACK with any sequence number into a connection that is there",
    source: "RFC 5961, section 4.2",
    defence: "a challenge ACK in every synchronised state, whatever the number",
    run,
};

fn run(trial: &mut Trial) {
    let settings = settings();
    let mut draw = Draw::new(1, ATTACK.name);
    let (mut alive, mut answers, mut states, mut acks) = (0, 0, 0, 0);
    for (mut victim, nxt) in Victim::in_every_state(&settings) {
        let state = victim.connection.state();
        for attempt in 0..trial.times(1 << 20, 1 << 17) {
            let flags = if attempt % 2 == 0 { Flags::SYN } else { Flags::SYN.with(Flags::ACK) };
            // A simultaneous open expects a SYN-ACK, so it needs no guess.
            victim.gets(&segment(flags, draw.between(1, 1 << 32), draw.any().into()));
            for out in victim.sends() {
                answers += 1;
                let challenge = out.segment.flags == Flags::ACK && out.segment.ack == segment(Flags::ACK, nxt, 0).seq;
                acks += u64::from(challenge);
            }
        }
        alive += u64::from(victim.connection.state() == state && victim.events().is_empty());
        states += 1;
    }
    let limit = states * u64::from(settings.challenge.acks);
    trial.exactly("states in which the connection lived on", "states", alive, states);
    trial.at_most("answers, all within one interval", "segments", answers, limit);
    trial.exactly("answers that are challenge ACKs", "segments", acks, answers);
}
