//! RFC 9438, sections 4.2 to 4.10. Windows in segments, times in seconds, as in the RFC.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::cubic::{Cubic, Rule, Settings};
use eifel_recovery::congest::{
    Base, Congest, Counting, Echoed, Grow, Growth, Idle, Loss, Progress, SlowStart, Start, Window,
};
use eifel_recovery::fact::Cause;
use eifel_recovery::view::View;

use crate::clock::Clock;
use crate::dice::Dice;

const CONNECTIONS: u64 = 5_000;
const OPERATIONS: u64 = 200;
const C: f64 = 0.4;
const BETA: f64 = 0.7;

/// The RFC's variables. Variables of the congestion avoidance stage are `None` outside of a stage.
#[derive(Clone)]
struct Naive {
    /// In bytes, as the window is, with fractions of a byte.
    cwnd: f64,
    ssthresh: Option<u64>,
    w_max: Option<f64>,
    cwnd_prior: Option<f64>,
    stage: Option<Stage>,
    /// The variables before the last congestion event, and its time.
    saved: Option<Saved>,
    smss: u64,
    from: Base,
    /// Whether growth follows Linux, not the RFC.
    linux: bool,
}

#[derive(Clone)]
struct Saved {
    w_max: Option<f64>,
    cwnd_prior: Option<f64>,
    stage: Option<Stage>,
    lost_at: u64,
}

/// W_max, K and W_est of a stage, and the epoch of t. Time in which cwnd does not limit sending
/// does not count in t.
#[derive(Clone)]
struct Stage {
    epoch: u64,
    w_max: f64,
    k: f64,
    w_est: f64,
    unused_since: Option<u64>,
}

impl Naive {
    fn bytes(&self) -> u64 {
        self.cwnd as u64
    }

    fn segments(&self) -> f64 {
        self.cwnd / self.smss as f64
    }

    /// Figure 1.
    fn w_cubic(stage: &Stage, t: f64) -> f64 {
        C * (t - stage.k) * (t - stage.k) * (t - stage.k) + stage.w_max
    }

    fn ack(&mut self, now: u64, acked: u64, limiting: bool, rtt: f64) {
        // Section 4.10. At ssthresh itself congestion avoidance begins.
        if self.ssthresh.is_none_or(|ssthresh| self.bytes() < ssthresh) {
            if limiting {
                self.cwnd += acked.min(self.smss) as f64;
            }
            return;
        }
        let cwnd = self.segments();
        let mut stage = self.stage.take().unwrap_or_else(|| {
            // Sections 4.2 and 4.3; 4.8: after a timeout, and before the first loss, W_max is cwnd.
            // K is not negative.
            let w_max = self.w_max.map_or(cwnd, |w_max| w_max.max(cwnd));
            Stage { epoch: now, w_max, k: libm::cbrt((w_max - cwnd) / C), w_est: cwnd, unused_since: None }
        });
        if limiting {
            if let Some(since) = stage.unused_since.take() {
                stage.epoch += now - since;
            }
            if self.linux {
                self.count(&mut stage, now, acked, rtt);
            } else {
                self.grow(&mut stage, now, acked, rtt);
            }
        } else if stage.unused_since.is_none() {
            stage.unused_since = Some(now);
        }
        self.stage = Some(stage);
    }

    fn grow(&mut self, stage: &mut Stage, now: u64, acked: u64, rtt: f64) {
        let t = (now - stage.epoch) as f64 / 1e9;
        let segments_acked = acked as f64 / self.smss as f64;
        let cwnd = self.segments();
        // Section 4.3, figure 4.
        let alpha = match self.cwnd_prior {
            Some(prior) if stage.w_est < prior => 3.0 * (1.0 - BETA) / (1.0 + BETA),
            _ => 1.0,
        };
        stage.w_est += alpha * segments_acked / cwnd;
        if Self::w_cubic(stage, t) < stage.w_est {
            let w_est = if stage.w_est > cwnd { stage.w_est } else { cwnd } * self.smss as f64;
            let most = 1.5 * cwnd * self.smss as f64;
            let w_est = if w_est > most { most } else { w_est };
            self.cwnd = if w_est > self.cwnd { w_est } else { self.cwnd };
            return;
        }
        let mut target = Self::w_cubic(stage, t + rtt);
        if target < cwnd {
            target = cwnd;
        }
        if target > 1.5 * cwnd {
            target = 1.5 * cwnd;
        }
        // Sections 4.4 and 4.5, for each segment that the ACK acknowledges.
        let grown = (cwnd + (target - cwnd) / cwnd * segments_acked) * self.smss as f64;
        self.cwnd = if grown > self.cwnd { grown } else { self.cwnd };
    }

    /// Grows the window as Linux's `bictcp_update` does, in whole segments. Its limit of 32
    /// computations per second is left out.
    fn count(&mut self, stage: &mut Stage, now: u64, acked: u64, delay_min: f64) {
        let segments_acked = acked as f64 / self.smss as f64;
        let offset = (now - stage.epoch) as f64 / 1e9 + delay_min - stage.k;
        let delta = (C * offset.abs() * offset.abs() * offset.abs()) as i64;
        let target = if offset < 0.0 { stage.w_max as i64 - delta } else { stage.w_max as i64 + delta };
        stage.w_est += 3.0 * (1.0 - BETA) / (1.0 + BETA) * segments_acked / self.segments().max(1.0);
        let cwnd = (self.segments() as i64).max(1);
        let mut cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        // "increase cwnd 5% per RTT" if last_max_cwnd is not known.
        if self.w_max.is_none() && cnt > 20 {
            cnt = 20;
        }
        let tcp_cwnd = stage.w_est as i64;
        if tcp_cwnd > cwnd && cnt > cwnd / (tcp_cwnd - cwnd) {
            cnt = cwnd / (tcp_cwnd - cwnd);
        }
        let grown = (self.segments() + segments_acked / cnt.max(2) as f64) * self.smss as f64;
        self.cwnd = if grown > self.cwnd { grown } else { self.cwnd };
    }

    fn loss(&mut self, now: u64, cause: Cause, (flight, limit): (u64, u64), again: bool) {
        // The fraction of a byte is dropped.
        self.cwnd = self.cwnd.floor();
        if !again {
            let (w_max, cwnd_prior, stage) = (self.w_max, self.cwnd_prior, self.stage.clone());
            self.saved = Some(Saved { w_max, cwnd_prior, stage, lost_at: now });
            self.reduce(cause);
            // Section 4.6, from the flight or from the window.
            let base = if self.from == Base::Flight { flight } else { limit };
            self.ssthresh = Some((base * 7 / 10).max(2 * self.smss));
        }
        self.cwnd = match cause {
            Cause::Timeout => self.smss as f64,
            Cause::FastRetransmit => self.ssthresh.unwrap_or(u64::MAX) as f64,
        };
    }

    fn reduce(&mut self, cause: Cause) {
        let cwnd = self.segments();
        self.w_max = match (cause, self.w_max) {
            // Section 4.8.
            (Cause::Timeout, _) => None,
            // Section 4.7.
            (_, Some(w_max)) if cwnd < w_max => Some(cwnd * (1.0 + BETA) / 2.0),
            _ => Some(cwnd),
        };
        self.cwnd_prior = Some(cwnd);
        self.stage = None;
    }

    /// Section 4.9.
    fn undo(&mut self, now: u64) -> bool {
        let Some(Saved { w_max, cwnd_prior, stage, lost_at }) = self.saved.take() else { return false };
        // Section 4.9.2: "if the current cwnd is lower than cwnd_prior".
        if self.cwnd_prior.is_some_and(|prior| self.bytes() as f64 / self.smss as f64 >= prior) {
            return false;
        }
        (self.w_max, self.cwnd_prior, self.stage) = (w_max, cwnd_prior, stage);
        // Not in the RFC: the time since the loss does not count in t.
        if let Some(stage) = self.stage.as_mut().filter(|stage| stage.unused_since.is_none()) {
            stage.epoch += now - lost_at;
        }
        true
    }
}

#[test]
fn cubic_agrees_with_a_model_of_rfc_9438() {
    let mut dice = Dice::new(9);
    let mut stages = 0_u64;
    for connection in 0..CONNECTIONS {
        let smss = dice.from(500, 9000);
        let settings = Settings {
            start: Start {
                window: dice.from(1, 20),
                ssthresh: dice.once_in(2).then(|| dice.of_any_size(6)),
                restart_after_idle: !dice.once_in(3),
            },
            fast_convergence: true,
            from: if dice.once_in(3) { Base::Window } else { Base::Flight },
            rule: if dice.once_in(3) { Rule::Linux } else { Rule::Rfc9438 },
            growth: Growth::new(Counting::Rfc5681, if dice.once_in(2) { Grow::Always } else { Grow::WhenLimiting }),
            slow_start: SlowStart::Standard,
            echoed: Echoed::AsLoss,
        };
        let mut naive = Naive {
            cwnd: (settings.start.window * smss) as f64,
            ssthresh: settings.start.ssthresh,
            w_max: None,
            cwnd_prior: None,
            stage: None,
            saved: None,
            smss,
            from: settings.from,
            linux: settings.rule == Rule::Linux,
        };
        stages += one(&mut dice, &settings, &mut naive, connection);
    }
    assert!(stages > 10 * CONNECTIONS, "{stages}");
}

/// Returns the number of ACKs in congestion avoidance.
fn one(dice: &mut Dice, settings: &Settings, naive: &mut Naive, connection: u64) -> u64 {
    let smss = naive.smss;
    let mut cubic = Cubic::new(*settings);
    let mut window = cubic.initial(smss as u32);
    let (mut clock, mut now, mut stages, mut before) = (Clock::new(), 0, 0, window);
    let path = dice.of_any_size(3) * 1_000_000;
    for operation in 0..OPERATIONS {
        let passed = dice.below(path);
        now += passed;
        if dice.once_in(3) {
            clock.sample(now, path + dice.below(path));
        }
        let at = Instant::from_nanos(now);
        let view = View { now: at, una: 1, nxt: 1, mss: smss as u32, sack: true, round_trips: *clock.round_trips() };
        let flight = if dice.once_in(4) { dice.below(2 * naive.bytes()) } else { naive.bytes() };
        match dice.below(40) {
            0 => {
                // Nothing was outstanding since the last ACK.
                let idle = passed;
                let time = Duration::from_nanos(idle);
                window = cubic.on_idle(&window, &Idle { time, rto: time, mss: smss as u32 });
                if let Some(stage) = naive.stage.as_mut().filter(|stage| stage.unused_since.is_none()) {
                    stage.epoch += idle;
                }
                if settings.start.restart_after_idle && naive.bytes() > settings.start.window * smss {
                    naive.cwnd = (settings.start.window * smss) as f64;
                }
            }
            1 | 2 => {
                let cause = if dice.once_in(3) { Cause::Timeout } else { Cause::FastRetransmit };
                let again = cause == Cause::Timeout && naive.saved.is_some() && dice.once_in(3);
                before = window;
                let limit = window.cwnd.min(dice.from(1, 2 * window.cwnd));
                window = cubic.on_loss(&window, &Loss { cause, flight, limit, timeout_again: again }, &view);
                naive.loss(now, cause, (flight, limit), again);
            }
            3 => {
                // A response restores the window, and the curve with it.
                cubic.on_undo(&window, &view);
                if naive.undo(now) {
                    window =
                        Window { cwnd: before.cwnd.max(window.cwnd), ssthresh: before.ssthresh.max(window.ssthresh) };
                    naive.cwnd = window.cwnd as f64;
                    naive.ssthresh = (window.ssthresh < u64::MAX).then_some(window.ssthresh);
                }
            }
            _ => {
                let limiting = settings.growth.grow == Grow::Always
                    || if window.cwnd < window.ssthresh {
                        flight * 2 >= window.cwnd
                    } else {
                        flight + smss > window.cwnd
                    };
                let acked = dice.from(1, 3 * smss);
                window = cubic.on_ack(&window, &Progress { acked, sacked: 0, delivered: acked, flight }, &view);
                let smallest = clock.round_trips().minimum().map(Duration::as_nanos);
                let rtt = if naive.linux { smallest } else { clock.srtt() };
                naive.ack(now, acked, limiting, rtt.map_or(0.0, |rtt| rtt as f64 / 1e9));
                stages += u64::from(naive.stage.is_some());
            }
        }
        let expected = Window { cwnd: naive.bytes(), ssthresh: naive.ssthresh.unwrap_or(u64::MAX) };
        assert_eq!(window, expected, "connection {connection}, operation {operation}");
    }
    stages
}
