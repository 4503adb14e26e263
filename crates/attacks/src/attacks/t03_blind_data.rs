//! A stranger injects data, with sequence numbers inside the window and guessed acknowledgement numbers.

use eifel_packet::segment::{Flags, Segment};

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{Victim, ack, data, segment, stamped, with_timestamps};

pub(super) const ATTACK: Attack = Attack {
    name: "t03-blind-data",
    summary: "data inside the window with guessed acknowledgement numbers",
    source: "RFC 5961, section 5.2",
    defence: "SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT is asked before any option is believed",
    run,
};

/// The peer's largest window.
const WINDOW: u64 = 64_000;
/// Bytes that this end has sent and the peer has acknowledged.
const SENT: u64 = 200_000;

fn run(trial: &mut Trial) {
    let settings = with_timestamps();
    let mut draw = Draw::new(1, ATTACK.name);
    let mut victim = Victim::open(&settings, WINDOW as u32);
    send(&mut victim);
    let mut answers = 0;
    for _ in 0..trial.times(1 << 20, 1 << 20) {
        // Any acknowledgement number except those that RFC 5961 must accept. It refuses numbers
        // beyond SND.NXT, and numbers up to half the circle back from SND.UNA - MAX.SND.WND.
        let number = SENT + 2 + draw.below((1 << 32) - WINDOW - 2);
        let forged = data(1 + draw.below(WINDOW - 100), draw.between(1, 100) as u32, number);
        // PAWS accepts this timestamp.
        victim.gets(&stamped(forged, draw.below(1 << 31) as u32, 0));
        answers += victim.sends().len() as u64;
    }
    trial.exactly("forged bytes taken in order", "bytes", victim.connection.received(), 0);
    let limit = u64::from(settings.challenge.acks);
    trial.at_most("challenge ACKs, all within one interval", "segments", answers, limit);
    // The true peer continues with its own timestamp; its bytes are the first.
    victim.gets(&stamped(data(1, 1000, SENT + 1), 1, 0));
    trial.exactly("bytes of the true peer taken afterwards", "bytes", victim.connection.received(), 1000);
    let echo = victim.sends().last().and_then(|out| out.segment.options.timestamps).map(|stamp| stamp.echo);
    trial.exactly("timestamp echoed to the true peer", "ticks", echo.map_or(u64::MAX, u64::from), 1);
    trial.exactly("edges of the rule kept", "edges", edges(), 4);
}

/// Sends `SENT` bytes, and acknowledges all of them.
fn send(victim: &mut Victim) {
    victim.connection.write_counted(SENT);
    while victim.connection.engine().una() <= SENT {
        victim.sends();
        let nxt = victim.connection.engine().nxt();
        victim.gets(&stamped(ack(nxt), 0, 0));
    }
}

/// Counts the edge cases judged rightly: two numbers just inside are accepted, two just outside are
/// not.
fn edges() -> u64 {
    let kept = [(SENT + 1, true), (SENT + 2, false), (SENT + 1 - WINDOW, true), (SENT - WINDOW, false)];
    let kept = kept.into_iter().filter(|&(number, taken)| {
        let mut victim = Victim::open(&with_timestamps(), WINDOW as u32);
        send(&mut victim);
        let forged = segment(Flags::ACK, 1, number);
        victim.gets(&stamped(Segment { payload_len: 10, ..forged }, 0, 0));
        (victim.connection.received() == 10) == taken
    });
    kept.count() as u64
}
