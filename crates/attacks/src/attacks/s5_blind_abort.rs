//! ABORT, SHUTDOWN COMPLETE and INIT from a stranger who has to guess the verification tag.

use eifel_base::time::Duration;
use eifel_packet::sctp::{Causes, Chunk};
use eifel_packet::seq::Seq;

use crate::Attack;
use crate::associated::{Associated, PEER_TAG, init, packet, settings};
use crate::draw::Draw;
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s5-blind-abort",
    summary: "ABORTs, SHUTDOWNs and ICMP messages with guessed verification tags; INITs for a restart",
    source: "RFC 9260, section 8.5; RFC 5062, section 2",
    defence: "32 random bits of tag; the T bit asks for the peer's tag; an INIT changes nothing before its cookie",
    run,
};

fn run(trial: &mut Trial) {
    let mut draw = Draw::new(1, ATTACK.name);
    let mut victim = Associated::open(&settings());
    let guesses = trial.times(1 << 20, 1 << 14);
    let reflected = |reflected| Chunk::Abort { reflected, causes: Causes(&[]) };
    let mut killed = 0;
    for guess in 0..guesses {
        let tag = draw.any();
        if tag == victim.tag || tag == PEER_TAG {
            continue;
        }
        let chunk = match guess % 5 {
            0 => reflected(false),
            1 => reflected(true),
            2 => Chunk::ShutdownComplete { reflected: true },
            3 => Chunk::Shutdown { cumulative: Seq(victim.tsn.wrapping_sub(1)) },
            _ => Chunk::ShutdownAck,
        };
        victim.gets_bytes(&packet(tag, &[chunk]));
        victim.hears_of_no_sctp(tag);
        killed += u64::from(!victim.lives());
    }
    trial.exactly("associations ended by guessed tags", "associations", killed, 0);
    // Each end's tag, with the T bit that belongs to the other's.
    victim.gets_bytes(&packet(PEER_TAG, &[reflected(false)]));
    victim.gets_bytes(&packet(victim.tag, &[reflected(true)]));
    trial.exactly("associations ended by a tag of the wrong end", "associations", u64::from(!victim.lives()), 0);
    let before = victim.association.engine().nxt();
    for _ in 0..1000 {
        victim.gets_bytes(&packet(0, &[Chunk::Init(init(&[]))]));
        victim.now += Duration::from_millis(1);
    }
    let answers = victim.sends().len() as u64;
    trial.at_most("answers to 1000 INITs of a restart", "packets", answers, 1000);
    let same = victim.lives() && victim.association.engine().nxt() == before;
    trial.exactly("associations that the INITs leave as they were", "associations", same.into(), 1);
    victim.gets(&[reflected(false)]);
    trial.exactly("associations ended by the right tag", "associations", u64::from(!victim.lives()), 1);
}
