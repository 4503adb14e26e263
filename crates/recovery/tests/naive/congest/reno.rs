//! RFC 5681, sections 3.1, 3.2 and 4.1.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::reno::{Reno, Repeated, Settings};
use eifel_recovery::congest::{
    Base, Congest, Counting, Echoed, Grow, Growth, Idle, Loss, Progress, SlowStart, Start, Window,
};
use eifel_recovery::fact::Cause;
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::dice::Dice;

const CONNECTIONS: u64 = 20_000;
const OPERATIONS: u64 = 100;

/// The RFC's variables. Equation (3) adds SMSS * SMSS / cwnd for each ACK, or its part for an ACK
/// of part of a segment (RFC 3465, section 2.1), and never more than SMSS. The fraction of a byte
/// is kept, counted in parts of cwnd.
pub struct Naive {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub part: u64,
    pub smss: u64,
    pub iw: u64,
    /// RFC 3465's bytes_acked.
    pub bytes_acked: u64,
    /// Whether an RTO began this slow start.
    pub after_rto: bool,
    pub used: Used,
}

/// How much of the window was used, with Linux's names.
#[derive(Default)]
pub struct Used {
    is_cwnd_limited: bool,
    max_packets_out: u64,
    cwnd_usage_seq: u64,
    snd_una: u64,
}

impl Used {
    /// Updates the state as tcp_cwnd_validate does after the last transmission before an ACK.
    fn validate(&mut self, newly_acked: u64, flight: u64, is_cwnd_limited: bool) {
        let snd_nxt = self.snd_una + flight;
        let before = self.snd_una < self.cwnd_usage_seq;
        if !before || is_cwnd_limited || !self.is_cwnd_limited && flight > self.max_packets_out {
            self.is_cwnd_limited = is_cwnd_limited;
            self.max_packets_out = flight;
            self.cwnd_usage_seq = snd_nxt;
        }
        self.snd_una += newly_acked;
    }
}

/// The RFC's settings, with a cwnd that grows whether or not it limits sending.
pub const ALWAYS: Settings = Settings {
    start: Start { window: 10, ssthresh: None, restart_after_idle: true },
    half_of: Base::Flight,
    repeated: Repeated::Hold,
    growth: Growth::new(Counting::Rfc5681, Grow::Always),
    slow_start: SlowStart::Standard,
    echoed: Echoed::AsLoss,
};

impl Naive {
    /// Creates Reno's window before anything is sent.
    pub fn new(iw: u64, ssthresh: u64, smss: u64) -> Self {
        Self { cwnd: iw, ssthresh, part: 0, smss, iw, bytes_acked: 0, after_rto: false, used: Used::default() }
    }

    fn limited_by_cwnd(&mut self, newly_acked: u64, flight: u64, grow: Grow) -> bool {
        let slow_start = self.cwnd < self.ssthresh;
        match grow {
            Grow::Always => true,
            Grow::WhenLimiting if slow_start => 2 * flight >= self.cwnd,
            Grow::WhenLimiting => self.cwnd < flight + self.smss,
            Grow::WhenLimitingWindow => {
                self.used.validate(newly_acked, flight, self.cwnd < flight + self.smss);
                // tcp_is_cwnd_limited: "If in slow start, ensure cwnd grows to twice what was ACKed."
                self.used.is_cwnd_limited || slow_start && self.cwnd < 2 * self.used.max_packets_out
            }
        }
    }

    pub fn ack(&mut self, newly_acked: u64, flight: u64, settings: &Settings) {
        self.ack_delivering((newly_acked, newly_acked), flight, settings);
    }

    /// Takes an ACK whose acknowledged and delivered bytes may differ.
    fn ack_delivering(&mut self, (newly_acked, delivered): (u64, u64), flight: u64, settings: &Settings) {
        let Growth { counting, grow, .. } = settings.growth;
        if !self.limited_by_cwnd(newly_acked, flight, grow) {
            return;
        }
        // tcp_cong_control(sk, ack, delivered, …): "acked_sacked".
        let newly_acked = if counting == Counting::Linux { delivered } else { newly_acked };
        if self.cwnd >= self.ssthresh {
            return if counting == Counting::Rfc5681 { self.equation_3(newly_acked) } else { self.abc(newly_acked) };
        }
        let before = self.cwnd;
        match counting {
            // (2) cwnd += min (N, SMSS)
            Counting::Rfc5681 => self.cwnd += if newly_acked < self.smss { newly_acked } else { self.smss },
            // RFC 3465, sections 2.2 and 2.3.
            Counting::Abc(segments) => {
                let l = if self.after_rto { self.smss } else { u64::from(segments) * self.smss };
                self.cwnd += if newly_acked < l { newly_acked } else { l };
            }
            // tcp_slow_start: cwnd = min(cwnd + acked, ssthresh); acked -= cwnd - tcp_snd_cwnd(tp).
            Counting::Linux => {
                self.cwnd = if before + newly_acked < self.ssthresh { before + newly_acked } else { self.ssthresh };
                let rest = newly_acked - (self.cwnd - before);
                if rest > 0 {
                    self.abc(rest);
                    // Not in Linux, which counts whole segments.
                    let most = before + if newly_acked > self.smss { newly_acked } else { self.smss };
                    self.cwnd = if self.cwnd > most { most } else { self.cwnd };
                }
            }
        }
    }

    fn equation_3(&mut self, newly_acked: u64) {
        let counted = if newly_acked < self.smss { newly_acked } else { self.smss };
        self.part += self.smss * counted;
        let whole = self.part / self.cwnd;
        self.part -= whole * self.cwnd;
        self.cwnd += if whole < self.smss { whole } else { self.smss };
    }

    /// Counts bytes by RFC 3465, section 2.1. The count is at most a window, before and after.
    fn abc(&mut self, newly_acked: u64) {
        if self.bytes_acked > self.cwnd {
            self.bytes_acked = self.cwnd;
        }
        self.bytes_acked += newly_acked;
        if self.bytes_acked >= self.cwnd {
            self.bytes_acked -= self.cwnd;
            if self.bytes_acked > self.cwnd {
                self.bytes_acked = self.cwnd;
            }
            self.cwnd += self.smss;
        }
    }

    /// Answers an echo by RFC 3168, section 6.1.2, and RFC 8511, section 3.1.
    pub fn echo(&mut self, flight: u64, limit: u64, settings: &Settings) {
        let abe = settings.echoed == Echoed::Rfc8511 && self.cwnd >= self.ssthresh;
        self.loss(Cause::FastRetransmit, flight, limit, false, settings);
        if abe {
            // ssthresh = max (FlightSize * beta_{ecn}, 2 * SMSS); cwnd = ssthresh
            self.ssthresh = if flight * 8 / 10 > 2 * self.smss { flight * 8 / 10 } else { 2 * self.smss };
            self.cwnd = self.ssthresh;
        }
    }

    pub fn loss(&mut self, cause: Cause, flight: u64, limit: u64, again: bool, settings: &Settings) {
        if !(again && settings.repeated == Repeated::Hold) {
            let half = match settings.half_of {
                Base::Flight => flight / 2,
                // 4.4BSD counts whole segments: win = min(cwnd, snd_wnd) / 2 / maxseg.
                Base::Window => (limit / self.smss / 2) * self.smss,
            };
            // (4) ssthresh = max (FlightSize / 2, 2 * SMSS)
            self.ssthresh = if half > 2 * self.smss { half } else { 2 * self.smss };
        }
        self.cwnd = if cause == Cause::Timeout { self.smss } else { self.ssthresh };
        self.part = 0;
        self.bytes_acked = 0;
        self.after_rto = cause == Cause::Timeout;
    }
}

/// Draws any counting mode, and any rule for when to grow.
pub fn growth(dice: &mut Dice) -> Growth {
    let counting = match dice.below(5) {
        0 => Counting::Rfc5681,
        1 => Counting::Abc(1),
        2 => Counting::Abc(2),
        3 => Counting::Abc(8),
        _ => Counting::Linux,
    };
    let grow = match dice.below(3) {
        0 => Grow::Always,
        1 => Grow::WhenLimiting,
        _ => Grow::WhenLimitingWindow,
    };
    Growth::new(counting, grow)
}

#[test]
fn reno_agrees_with_a_model_of_rfc_5681_over_random_operations() {
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
            half_of: if dice.once_in(3) { Base::Window } else { Base::Flight },
            repeated: if dice.once_in(3) { Repeated::Reduce } else { Repeated::Hold },
            growth: growth(&mut dice),
            slow_start: SlowStart::Standard,
            echoed: if dice.once_in(2) { Echoed::AsLoss } else { Echoed::Rfc8511 },
        };
        let mut reno = Reno::new(settings);
        let iw = settings.start.window * smss;
        let mut naive = Naive::new(iw, settings.start.ssthresh.unwrap_or(u64::MAX), smss);
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
                3 => {
                    let limit = dice.below(naive.cwnd + 1);
                    let loss = Loss { cause: Cause::FastRetransmit, flight, limit, timeout_again: false };
                    window = reno.on_ece(&window, &loss, &view);
                    naive.echo(flight, limit, &settings);
                }
                _ => {
                    let acked = dice.from(1, 4 * smss);
                    let delivered = if dice.once_in(2) { acked } else { dice.from(1, 4 * smss) };
                    window = reno.on_ack(&window, &Progress { acked, sacked: 0, delivered, flight }, &view);
                    naive.ack_delivering((acked, delivered), flight, &settings);
                }
            }
            assert_eq!(window, Window { cwnd: naive.cwnd, ssthresh: naive.ssthresh });
        }
    }
}
