//! A stranger who knows addresses and ports sends resets with guessed sequence numbers.

use eifel_packet::segment::Flags;
use eifel_tcp::Settings;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{Victim, segment, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t01-blind-rst",
    summary: "resets with guessed sequence numbers, inside the window and outside",
    source: "RFC 5961, section 3.2; CVE-2004-0230",
    defence: "only the exact next number resets; inside the window a challenge ACK, outside nothing",
    run,
};

fn run(trial: &mut Trial) {
    let settings = Settings { receive_window: 1 << 30, ..settings() };
    let mut draw = Draw::new(1, ATTACK.name);
    let (mut alive, mut answers, mut states) = (0, 0, 0);
    let mut limit = 0;
    for (mut victim, nxt) in Victim::in_every_state(&settings) {
        let state = victim.connection.state();
        for _ in 0..trial.times(1 << 20, 1 << 17) {
            // The window is a gigabyte, so a quarter of all guesses lies in it.
            let guess = nxt + draw.between(1, (1 << 32) - 1);
            victim.gets(&segment(Flags::RST, guess, draw.any().into()));
            answers += victim.sends().len() as u64;
        }
        alive += u64::from(victim.connection.state() == state);
        states += 1;
        limit += u64::from(settings.challenge.acks);
    }
    trial.exactly("states in which the connection lived on", "states", alive, states);
    trial.at_most("challenge ACKs, all within one interval", "segments", answers, limit);
    trial.exactly("states in which the exact number resets", "states", exact(&settings), states);
}

fn exact(settings: &Settings) -> u64 {
    let ended = Victim::in_every_state(settings).into_iter().map(|(mut victim, nxt)| {
        victim.gets(&segment(Flags::RST, nxt, 0));
        u64::from(!victim.lives() && victim.sends().is_empty())
    });
    ended.sum()
}
