//! RFC 5681, sections 3.1, 3.2 and 4.1.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::reno::{HalfOf, Reno, Repeated, Settings};
use eifel_recovery::congest::{Congest, Grow, Idle, Loss, Progress, Start, Window};
use eifel_recovery::fact::Cause;
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::dice::Dice;

const CONNECTIONS: u64 = 20_000;
const OPERATIONS: u64 = 100;

/// The RFC's variables. Equation (3) adds SMSS * SMSS / cwnd for each ACK, or its part for an ACK of part of a segment (RFC
/// 3465, section 2.1), and never more than SMSS; what is less than a byte waits, counted in parts of cwnd.
pub struct Naive {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub part: u64,
    pub smss: u64,
    pub iw: u64,
}

/// As the RFC has it, with cwnd growing whether or not it is what limits sending.
pub const ALWAYS: Settings = Settings {
    start: Start { window: 10, ssthresh: None, restart_after_idle: true },
    half_of: HalfOf::Flight,
    repeated: Repeated::Hold,
    grow: Grow::Always,
};

impl Naive {
    pub fn ack(&mut self, newly_acked: u64, flight: u64, settings: &Settings) {
        let slow_start = self.cwnd < self.ssthresh;
        if settings.grow == Grow::WhenLimiting {
            let limited_by_cwnd = if slow_start { 2 * flight >= self.cwnd } else { self.cwnd < flight + self.smss };
            if !limited_by_cwnd {
                return;
            }
        }
        if slow_start {
            // (2) cwnd += min (N, SMSS)
            self.cwnd += if newly_acked < self.smss { newly_acked } else { self.smss };
        } else {
            let counted = if newly_acked < self.smss { newly_acked } else { self.smss };
            self.part += self.smss * counted;
            let whole = self.part / self.cwnd;
            self.part -= whole * self.cwnd;
            self.cwnd += if whole < self.smss { whole } else { self.smss };
        }
    }

    pub fn loss(&mut self, cause: Cause, flight: u64, limit: u64, again: bool, settings: &Settings) {
        if !(again && settings.repeated == Repeated::Hold) {
            let half = match settings.half_of {
                HalfOf::Flight => flight / 2,
                // 4.4BSD counts whole segments: win = min(cwnd, snd_wnd) / 2 / maxseg.
                HalfOf::Window => (limit / self.smss / 2) * self.smss,
            };
            // (4) ssthresh = max (FlightSize / 2, 2 * SMSS)
            self.ssthresh = if half > 2 * self.smss { half } else { 2 * self.smss };
        }
        self.cwnd = if cause == Cause::Timeout { self.smss } else { self.ssthresh };
        self.part = 0;
    }
}

#[test]
fn the_controller_is_rfc_5681s() {
    let mut dice = Dice::new(5);
    let round_trips = RoundTrips::new(true);
    for _ in 0..CONNECTIONS {
        let smss = dice.from(1, 9000);
        let view = View { now: Instant::ZERO, una: 1, nxt: 1, mss: smss as u32, sack: true, round_trips };
        let settings = Settings {
            start: Start {
                window: dice.from(1, 20),
                ssthresh: dice.once_in(2).then(|| dice.of_any_size(6)),
                restart_after_idle: !dice.once_in(3),
            },
            half_of: if dice.once_in(3) { HalfOf::Window } else { HalfOf::Flight },
            repeated: if dice.once_in(3) { Repeated::Reduce } else { Repeated::Hold },
            grow: if dice.once_in(2) { Grow::Always } else { Grow::WhenLimiting },
        };
        let mut reno = Reno::new(settings);
        let iw = settings.start.window * smss;
        let mut naive = Naive { cwnd: iw, ssthresh: settings.start.ssthresh.unwrap_or(u64::MAX), part: 0, smss, iw };
        let mut window = reno.initial(smss as u32);
        for _ in 0..OPERATIONS {
            let flight = dice.below(2 * naive.cwnd);
            match dice.below(20) {
                0 => {
                    window = reno.on_idle(
                        &window,
                        &Idle { time: Duration::from_secs(1), rto: Duration::from_secs(1), mss: smss as u32 },
                    );
                    // Section 4.1: RW = min (IW, cwnd)
                    if settings.start.restart_after_idle {
                        naive.cwnd = if naive.cwnd < naive.iw { naive.cwnd } else { naive.iw };
                    }
                }
                1 | 2 => {
                    let cause = if dice.once_in(2) { Cause::Timeout } else { Cause::FastRetransmit };
                    let again = cause == Cause::Timeout && dice.once_in(3);
                    let limit = dice.below(naive.cwnd + 1);
                    window = reno.on_loss(&window, &Loss { cause, flight, limit, timeout_again: again }, &view);
                    naive.loss(cause, flight, limit, again, &settings);
                }
                _ => {
                    let acked = dice.from(1, 4 * smss);
                    window = reno.on_ack(&window, &Progress { acked, sacked: 0, flight }, &view);
                    naive.ack(acked, flight, &settings);
                }
            }
            assert_eq!(window, Window { cwnd: naive.cwnd, ssthresh: naive.ssthresh });
        }
    }
}
