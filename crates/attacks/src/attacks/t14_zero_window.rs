//! Peers that close their window and hold the connection for ever, and peers whose window shrinks.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Segment};
use eifel_tcp::settings::GiveUp;
use eifel_tcp::{Event, Settings};

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{MSS, Victim, segment, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t14-zero-window",
    summary: "peers that answer every probe with a closed window, and windows that shrink and grow at random",
    source: "Sockstress, CVE-2008-4609; RFC 6429; RFC 9293, sections 3.8.3 and 3.8.6",
    defence: "the user timeout runs in persist too; a window that shrinks is borne",
    run,
};

const USER_TIMEOUT: Duration = Duration::from_secs(60);

fn run(trial: &mut Trial) {
    let parked = trial.times(10_000, 10_000);
    let mut draw = Draw::new(1, ATTACK.name);
    let (mut freed, mut latest) = (0, Duration::ZERO);
    for _ in 0..parked {
        let held = park(&mut draw);
        freed += u64::from(held.is_some());
        latest = latest.max(held.unwrap_or(Duration::ZERO));
    }
    trial.exactly("parked connections freed", "connections", freed, parked);
    trial.at_most(
        "longest that one was held",
        "ms",
        latest.as_nanos() / 1_000_000,
        USER_TIMEOUT.as_nanos() / 1_000_000,
    );
    let transfers = trial.times(10_000, 1_000);
    let complete = (0..transfers).filter(|&seed| shrink(&mut Draw::new(seed, "shrinking window"))).count() as u64;
    trial.exactly("transfers through a shrinking window complete", "transfers", complete, transfers);
}

/// Returns how long a peer holds a connection by answering each probe with a closed window. `None`
/// if the connection is never freed.
fn park(draw: &mut Draw) -> Option<Duration> {
    let give_up = GiveUp { user_timeout: Some(USER_TIMEOUT), ..GiveUp::default() };
    let mut victim = Victim::open(&Settings { give_up, ..settings() }, 64_000);
    // Up to four segments arrive first.
    let first = draw.below(5) * MSS;
    victim.connection.write_counted(first);
    victim.sends();
    victim.now += Duration::from_millis(draw.between(1, 500));
    let una = 1 + first;
    let closed = Segment { window: 0, ..segment(Flags::ACK, 1, una) };
    victim.gets(&closed);
    let begun = victim.now;
    victim.connection.write_counted(100_000);
    let latest = begun + USER_TIMEOUT * 10;
    while victim.now < latest && victim.lives() {
        if victim.sends().is_empty() {
            victim.now = victim.connection.poll_timeout();
            victim.connection.handle_timeout(victim.now);
        } else {
            victim.gets(&closed);
        }
    }
    let timed_out = victim.events().contains(&Event::TimedOut);
    timed_out.then(|| victim.now.since(begun))
}

/// Runs a transfer to a peer whose window changes with each ACK. The window is often closed, and
/// smaller than the data in flight. Returns whether all data was acknowledged.
fn shrink(draw: &mut Draw) -> bool {
    let mut victim = Victim::open(&settings(), 64_000);
    victim.connection.write_counted(50 * MSS);
    let end = victim.connection.end();
    let mut edge = 1 + 64_000;
    let mut next = 1;
    let latest = Instant::ZERO + Duration::from_secs(36_000);
    while next < end && victim.now < latest {
        let sent = victim.sends();
        if sent.is_empty() {
            victim.now = victim.connection.poll_timeout();
            victim.connection.handle_timeout(victim.now);
            continue;
        }
        victim.now += Duration::from_millis(50);
        for out in sent {
            let (start, last) = (out.start + 1, out.start + 1 + u64::from(out.segment.payload_len));
            // The peer drops data beyond its window.
            if start <= next && last > next {
                next = last.min(edge.max(next));
            }
            let window = if draw.chance(0.3) { 0 } else { draw.between(1, 8000) };
            edge = next + window;
            victim.gets(&Segment { window: window as u16, ..segment(Flags::ACK, 1, next) });
        }
    }
    next == end && victim.connection.engine().una() == end
}
