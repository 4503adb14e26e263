//! A receiver discards data that it has reported by SACK, as RFC 2018 allows.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Flags;
use eifel_tcp::State;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::{Limit, Trial};
use crate::victim::{MSS, Victim, segment, settings, with_sack};

pub(super) const ATTACK: Attack = Attack {
    name: "t09-sack-reneging",
    summary: "a receiver that throws away what it has reported, one block or all, at any ACK",
    source: "RFC 2018, section 8; RFC 6675, section 5.1",
    defence: "data is kept until it is acknowledged cumulatively, and a timeout forgets what was reported",
    run,
};

/// Segments of each transfer.
const SEGMENTS: u64 = 40;
/// A transfer that takes longer has failed.
const LATEST: Duration = Duration::from_secs(3600);

fn run(trial: &mut Trial) {
    let seeds = trial.times(10_000, 2_000);
    let (mut complete, mut reneged, mut longest) = (0, 0, Instant::ZERO);
    for seed in 0..seeds {
        let ended = transfer(&mut Draw::new(seed, ATTACK.name));
        complete += u64::from(ended.complete);
        reneged += u64::from(ended.reneged > 0);
        longest = longest.max(ended.at);
    }
    trial.exactly("transfers complete", "transfers", complete, seeds);
    trial.counted("of them with reneging", "transfers", reneged as f64, Limit::None);
    trial.counted("longest transfer", "s", longest.as_secs_f64(), Limit::None);
}

struct Ended {
    complete: bool,
    reneged: u32,
    at: Instant,
}

/// The segments that the receiver holds.
struct Receiver {
    /// The number of segments received in order.
    next: u64,
    held: Vec<u64>,
}

impl Receiver {
    fn arrive(&mut self, number: u64) {
        if number >= self.next && !self.held.contains(&number) {
            self.held.push(number);
        }
        while self.held.contains(&self.next) {
            self.held.retain(|&held| held != self.next);
            self.next += 1;
        }
    }

    /// Returns SACK blocks of single segments, newest first. The last segment carries the FIN.
    fn blocks(&self) -> Vec<(u64, u64)> {
        let end = |at| 1 + (at + 1) * MSS + u64::from(at + 1 == SEGMENTS);
        self.held.iter().rev().take(4).map(|&at| (1 + at * MSS, end(at))).collect()
    }

    /// Discards one reported segment or all of them. Returns the number discarded.
    fn renege(&mut self, draw: &mut Draw) -> u32 {
        let before = self.held.len();
        if draw.chance(0.5) {
            self.held.clear();
        } else if before > 0 {
            self.held.remove(draw.below(before as u64) as usize);
        }
        (before - self.held.len()) as u32
    }
}

/// Runs a transfer over a path of 100 ms that loses a fifth of the segments.
fn transfer(draw: &mut Draw) -> Ended {
    let mut victim = Victim::open(&settings(), 64_000);
    victim.connection.write_counted(SEGMENTS * MSS);
    victim.connection.shutdown_write();
    let mut receiver = Receiver { next: 0, held: Vec::new() };
    let mut ended = Ended { complete: false, reneged: 0, at: Instant::ZERO };
    let latest = Instant::ZERO + LATEST;
    while victim.connection.state() == State::FinWait1 && victim.now < latest {
        let sent = victim.sends();
        if sent.is_empty() {
            let due = victim.connection.poll_timeout();
            victim.now = due;
            victim.connection.handle_timeout(due);
            continue;
        }
        victim.now += Duration::from_millis(100);
        for out in sent {
            if draw.chance(0.2) {
                continue;
            }
            receiver.arrive(out.start / MSS);
            if draw.chance(0.1) {
                ended.reneged += receiver.renege(draw);
            }
            let finished = receiver.next == SEGMENTS;
            let ack = 1 + receiver.next * MSS + u64::from(finished);
            victim.gets(&with_sack(segment(Flags::ACK, 1, ack), &receiver.blocks()));
        }
    }
    ended.complete = receiver.next == SEGMENTS && victim.connection.state() == State::FinWait2;
    ended.at = victim.now;
    ended
}
