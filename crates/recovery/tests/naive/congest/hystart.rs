//! Linux's HyStart and HyStart++ (after RFC 9406), over Reno without losses. Times in nanoseconds.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::reno::Settings;
use eifel_recovery::congest::{Counting, Grow, Growth};
use eifel_recovery::engine::{Ack, Config, Engine, Negotiated};
use eifel_recovery::registry::{Choice, Value};

use super::reno::{ALWAYS, Naive};
use crate::dice::Dice;

const MSS: u64 = 1000;
const CONNECTIONS: u64 = 3000;
const ACKS: u64 = 150;
const MS: u64 = 1_000_000;

/// An ACK as the rules see it; times in nanoseconds.
struct Heard {
    now: u64,
    rtt: u64,
    una: u64,
    nxt: u64,
}

trait Rule {
    /// Updates cwnd and ssthresh on an ACK of `acked` bytes in slow start.
    fn ack(&mut self, reno: &mut Naive, heard: &Heard, acked: u64, flight: u64, settings: &Settings);
}

/// `struct bictcp`, as far as it concerns HyStart.
struct Linux {
    delay_min: Option<u64>,
    found: bool,
    round_start: u64,
    last_ack: u64,
    end_seq: u64,
    curr_rtt: Option<u64>,
    sample_cnt: u32,
}

impl Rule for Linux {
    fn ack(&mut self, reno: &mut Naive, heard: &Heard, acked: u64, flight: u64, settings: &Settings) {
        // cubictcp_acked comes before cubictcp_cong_avoid.
        if self.delay_min.is_none_or(|least| least > heard.rtt) {
            self.delay_min = Some(heard.rtt);
        }
        if !self.found && reno.cwnd / MSS >= 16 {
            self.update(reno, heard);
        }
        reno.ack(acked, flight, settings);
    }
}

impl Linux {
    /// hystart_update
    fn update(&mut self, reno: &mut Naive, heard: &Heard) {
        if heard.una > self.end_seq {
            // bictcp_hystart_reset
            self.round_start = heard.now;
            self.last_ack = heard.now;
            self.end_seq = heard.nxt;
            self.curr_rtt = None;
            self.sample_cnt = 0;
        }
        let delay_min = self.delay_min.unwrap_or(0);
        if heard.now - self.last_ack <= 2 * MS {
            self.last_ack = heard.now;
            if heard.now - self.round_start > delay_min / 2 {
                self.found = true;
                reno.ssthresh = reno.cwnd;
            }
        }
        if self.curr_rtt.is_none_or(|curr_rtt| curr_rtt > heard.rtt) {
            self.curr_rtt = Some(heard.rtt);
        }
        if self.sample_cnt < 8 {
            self.sample_cnt += 1;
            return;
        }
        // HYSTART_DELAY_THRESH
        let threshold = (delay_min / 8).clamp(4 * MS, 16 * MS);
        if self.curr_rtt > Some(delay_min + threshold) {
            self.found = true;
            reno.ssthresh = reno.cwnd;
        }
    }
}

/// RFC 9406's variables; `None` is infinity.
struct Rfc9406 {
    last_round_min_rtt: Option<u64>,
    current_round_min_rtt: Option<u64>,
    rtt_sample_count: u32,
    window_end: u64,
    /// Some in CSS.
    css_baseline_min_rtt: Option<u64>,
    css_rounds: u32,
}

impl Rule for Rfc9406 {
    fn ack(&mut self, reno: &mut Naive, heard: &Heard, acked: u64, flight: u64, settings: &Settings) {
        let before = reno.cwnd;
        reno.ack(acked, flight, settings);
        let was_css = self.css_baseline_min_rtt.is_some();
        if was_css {
            // cwnd = cwnd + (min(N, L * SMSS) / CSS_GROWTH_DIVISOR)
            reno.cwnd = before + (reno.cwnd - before) / 4;
        }
        self.current_round_min_rtt = Some(match self.current_round_min_rtt {
            Some(current) if current < heard.rtt => current,
            _ => heard.rtt,
        });
        self.rtt_sample_count += 1;
        if self.rtt_sample_count >= 8 {
            let current = self.current_round_min_rtt.expect("there are eight samples");
            match (self.css_baseline_min_rtt, self.last_round_min_rtt) {
                (Some(baseline), _) => {
                    if current < baseline {
                        self.css_baseline_min_rtt = None;
                        self.css_rounds = 0;
                    }
                }
                (None, Some(last)) => {
                    let mut rtt_thresh = if last / 8 < 16 * MS { last / 8 } else { 16 * MS };
                    if rtt_thresh < 4 * MS {
                        rtt_thresh = 4 * MS;
                    }
                    if current >= last + rtt_thresh {
                        self.css_baseline_min_rtt = Some(current);
                    }
                }
                (None, None) => {}
            }
        }
        // "When windowEnd is ACKed, the current round ends and windowEnd is set to SND.NXT."
        if heard.una >= self.window_end {
            self.window_end = heard.nxt;
            self.last_round_min_rtt = self.current_round_min_rtt.take();
            self.rtt_sample_count = 0;
            if self.css_baseline_min_rtt.is_some() {
                // "If the transition into CSS happens in the middle of a round, that partial round counts towards the limit."
                self.css_rounds += 1;
                if self.css_rounds == 5 {
                    reno.ssthresh = reno.cwnd;
                }
            }
        }
    }
}

/// Returns the number of connections in which slow start ended without a loss.
fn compare(word: &str, new: impl Fn() -> Box<dyn Rule>) -> u64 {
    let mut dice = Dice::new(94);
    let mut ended = 0;
    for connection in 0..CONNECTIONS {
        let (counting, name) = match dice.below(4) {
            0 => (Counting::Rfc5681, "rfc5681"),
            1 => (Counting::Abc(1), "abc-1"),
            2 => (Counting::Abc(2), "abc-2"),
            _ => (Counting::Abc(8), "abc-8"),
        };
        let settings = Settings { growth: Growth::new(counting, Grow::Always), ..ALWAYS };
        let words = [("grow", "always"), ("counting", name), ("slow_start", word)];
        let congest = words
            .iter()
            .fold(Choice::named("reno"), |choice, (key, word)| choice.with(key, Value::Word((*word).into())));
        let config = Config { congest, recover: Choice::named("reno"), ..Config::default() };
        let mut engine = Engine::new(&config).expect("the registry's own");
        engine.established(Instant::ZERO, Negotiated { mss: MSS as u32, sack: false, timestamps: false });
        let mut rule = new();
        let mut reno = Naive::new(10 * MSS, u64::MAX, MSS);
        let (mut now, mut una, mut sent) = (0, 1, Vec::new());
        // ACKs come close together, a few milliseconds apart, or slower and slower.
        let (step, pause) = (dice.of_any_size(8) * 10, dice.below(200 * MS));
        for _ in 0..ACKS {
            let at = Instant::from_nanos(now);
            while let Some(transmission) = engine.poll_send(at, &engine.offer(1 << 40, 1 << 40, None)) {
                sent.push((transmission.positions().end, now));
            }
            let nxt = sent.last().expect("cwnd is ten segments").0;
            now += dice.below(step) + if dice.once_in(20) { pause } else { 0 };
            let most = (nxt - una) / MSS;
            let cumulative = una + MSS * dice.from(1, if most < 4 { most } else { 4 });
            let left = sent.iter().find(|(end, _)| *end == cumulative).expect("whole segments").1;
            let heard = Heard { now, rtt: now - left, una: cumulative, nxt };
            let ack = Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
            engine.on_ack(Instant::ZERO + Duration::from_nanos(now), &ack);
            let (acked, flight) = (cumulative - una, nxt - una);
            if reno.cwnd < reno.ssthresh {
                rule.ack(&mut reno, &heard, acked, flight, &settings);
            } else {
                reno.ack(acked, flight, &settings);
            }
            una = cumulative;
            let found = engine.snapshot();
            assert_eq!((found.cwnd, found.ssthresh), (reno.cwnd, reno.ssthresh), "{word}, connection {connection}");
        }
        ended += u64::from(reno.ssthresh != u64::MAX);
    }
    ended
}

#[test]
fn hystart_agrees_with_a_model_of_linux() {
    let new = || -> Box<dyn Rule> {
        Box::new(Linux {
            delay_min: None,
            found: false,
            round_start: 0,
            last_ack: 0,
            end_seq: 1,
            curr_rtt: None,
            sample_cnt: 0,
        })
    };
    let ended = compare("hystart", new);
    // A train is found in nearly every connection.
    assert!(ended > CONNECTIONS / 2, "{ended}");
}

#[test]
fn hystart_plus_plus_agrees_with_a_model_of_rfc_9406() {
    let new = || -> Box<dyn Rule> {
        Box::new(Rfc9406 {
            last_round_min_rtt: None,
            current_round_min_rtt: None,
            rtt_sample_count: 0,
            window_end: 0,
            css_baseline_min_rtt: None,
            css_rounds: 0,
        })
    };
    let ended = compare("hystart++", new);
    assert!((CONNECTIONS / 20..CONNECTIONS).contains(&ended), "{ended}");
}
