//! One forged segment carries a timestamp from the far future, so that PAWS would drop all segments
//! of the true peer.

use eifel_packet::segment::Flags;
use eifel_tcp::Settings;
use eifel_tcp::settings::ReceiveKind;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{Victim, data, segment, stamped, with_timestamps};

pub(super) const ATTACK: Attack = Attack {
    name: "t05-paws-poisoning",
    summary: "one forged timestamp from the future, so that PAWS drops the true peer's segments",
    source: "RFC 7323, section 5.3; CVE-2005-0356",
    defence: "TS.Recent is taken only from SEG.SEQ <= Last.ACK.sent, and only with an acceptable ACK",
    run,
};

/// Bytes that the true peer sends after the forgery.
const BYTES: u64 = 1_000_000;
const FUTURE: u32 = 0x7000_0000;

fn run(trial: &mut Trial) {
    let (mut tried, mut dropped, mut received) = (0, 0, 0);
    let mut draw = Draw::new(1, ATTACK.name);
    let count = trial.times(64, 16);
    for forgery in 0..count {
        let settings = Settings { receive: ReceiveKind::Drained, ..with_timestamps() };
        let mut victim = Victim::open(&settings, 64_000);
        let inside = 1 + draw.between(1, 60_000);
        let far = 2 + draw.below((1 << 31) - 100_000);
        victim.gets(&stamped(
            match forgery % 4 {
                // Beyond a gap, with a true acknowledgement.
                0 => data(inside, 100, 1),
                // In order, with a guessed acknowledgement.
                1 => data(1, 100, far),
                // A reset and a SYN in the window.
                2 => segment(Flags::RST, inside, 1),
                _ => segment(Flags::SYN, inside, 1),
            },
            FUTURE,
            0,
        ));
        victim.sends();
        let mut seq = 1;
        while seq <= BYTES {
            victim.gets(&stamped(data(seq, 1000, 1), 1, 0));
            victim.sends();
            seq += 1000;
        }
        tried += 1;
        dropped += victim.connection.counts().old_timestamps;
        received += victim.connection.received();
    }
    trial.exactly("true segments that PAWS dropped", "segments", dropped, 0);
    trial.exactly("bytes of the true peer taken", "bytes", received, tried * BYTES);
}
