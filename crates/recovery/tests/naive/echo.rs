//! RFC 3168, section 6.1.2: how a sender answers ECN echoes, without losses.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine::{Ack, Config, Engine, Negotiated};
use eifel_recovery::registry::{Choice, Value};

use crate::congest::reno::{ALWAYS, Naive};
use crate::dice::Dice;

const MSS: u64 = 1000;
const CONNECTIONS: u64 = 3000;
const ACKS: u64 = 300;

/// The RFC's rules over Reno: one reduction for all echoes of a window, and no growth on an ACK
/// that echoes.
struct Sender {
    reno: Naive,
    una: u64,
    nxt: u64,
    /// The end of the last window with a reduction.
    answered: Option<u64>,
    reductions: u32,
    /// Whether PRR spreads the reduction.
    spreads: bool,
    /// PRR's variables while it spreads a reduction.
    spread: Option<Spread>,
}

/// RFC 9937, section 6, without losses. An echo begins the episode, and it ends when all data
/// outstanding at the echo is acknowledged.
#[derive(Clone, Copy)]
struct Spread {
    ends_at: u64,
    recover_fs: u64,
    delivered: u64,
    out: u64,
    cwnd: u64,
}

impl Spread {
    /// Computes SndCnt, and cwnd from it (section 6.2).
    fn update(&mut self, acked: u64, inflight: u64, ssthresh: u64, is_first: bool) {
        self.delivered += acked;
        let snd_cnt = if inflight > ssthresh {
            (self.delivered * ssthresh).div_ceil(self.recover_fs).saturating_sub(self.out)
        } else {
            let safe = if is_first { 0 } else { MSS };
            (self.delivered.saturating_sub(self.out).max(acked) + safe).min(ssthresh - inflight)
        };
        self.cwnd = inflight + snd_cnt;
    }
}

impl Sender {
    fn new(spreads: bool) -> Self {
        let reno = Naive::new(10 * MSS, u64::MAX, MSS);
        Self { reno, una: 1, nxt: 1, answered: None, reductions: 0, spreads, spread: None }
    }

    fn send_all(&mut self) {
        let cwnd = self.spread.map_or(self.reno.cwnd, |spread| spread.cwnd);
        while self.nxt + MSS <= self.una + cwnd {
            self.nxt += MSS;
            if let Some(spread) = &mut self.spread {
                spread.out += MSS;
            }
        }
    }

    fn ack(&mut self, cumulative: u64, echo: bool) {
        let (flight, acked) = (self.nxt - self.una, cumulative - self.una);
        self.una = cumulative;
        self.spread = self.spread.filter(|spread| cumulative < spread.ends_at);
        if let Some(spread) = &mut self.spread {
            return spread.update(acked, self.nxt - cumulative, self.reno.ssthresh, false);
        }
        if !echo {
            if acked > 0 {
                self.reno.ack(acked, flight, &ALWAYS);
            }
            return;
        }
        if self.answered.is_some_and(|end| cumulative <= end) {
            return;
        }
        let limit = self.reno.cwnd;
        let before = self.reno.cwnd;
        self.reno.echo(if flight < limit { flight } else { limit }, limit, &ALWAYS);
        // "cwnd is bounded below by a value of one MSS", and an echo never opens it.
        self.reno.cwnd = if self.reno.cwnd > before { before } else { self.reno.cwnd };
        self.answered = Some(self.nxt);
        self.reductions += 1;
        if self.spreads {
            let mut spread = Spread { ends_at: self.nxt, recover_fs: flight, delivered: 0, out: 0, cwnd: 0 };
            spread.update(acked, self.nxt - cumulative, self.reno.ssthresh, true);
            self.spread = Some(spread);
        }
    }
}

#[test]
fn eces_cut_the_window_once_for_each_window() {
    let cut = compare(Choice::named("reno"), false).unwrap_or_else(|differs| panic!("{differs}"));
    assert!(cut > 10 * CONNECTIONS, "{cut}");
}

#[test]
fn a_reduction_after_an_ece_may_be_spread() {
    let spreads = Choice::named("rack-tlp").with("after_echo", Value::Word("prr".into()));
    let cut = compare(spreads.clone(), true).unwrap_or_else(|differs| panic!("{differs}"));
    assert!(cut > 10 * CONNECTIONS, "{cut}");
    // Planted faults: a sender with the other setting.
    assert!(compare(spreads, false).is_err());
    assert!(compare(Choice::named("rack-tlp"), true).is_err());
}

/// Compares senders with their model, and returns the number of reductions, or the first difference.
fn compare(recover: Choice, spreads: bool) -> Result<u64, String> {
    let mut dice = Dice::new(31);
    let congest = Choice::named("reno").with("grow", Value::Word("always".into()));
    let config = Config { congest, recover, ..Config::default() };
    let mut cut = 0_u64;
    for connection in 0..CONNECTIONS {
        let mut engine = Engine::new(&config).expect("the registry's own");
        let mut now = Instant::ZERO;
        engine.established(now, Negotiated { mss: MSS as u32, sack: true, timestamps: false });
        let mut naive = Sender::new(spreads);
        let often = dice.from(2, 40);
        for number in 0..ACKS {
            while engine.poll_send(now, &engine.offer(1 << 40, 1 << 40, None)).is_some() {}
            naive.send_all();
            let place = format!("connection {connection}, ACK {number}");
            if engine.nxt() != naive.nxt {
                return Err(format!("{place}: sent up to {}, not {}", engine.nxt(), naive.nxt));
            }
            now += Duration::from_millis(dice.from(1, 20));
            let ece = dice.once_in(often);
            let cumulative = naive.una + MSS * dice.from(1, (naive.nxt - naive.una) / MSS);
            engine.on_ack(now, &Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece });
            naive.ack(cumulative, ece);
            let window = engine.snapshot();
            let found = (window.cwnd, window.ssthresh, engine.cwnd_after_echo(), engine.reductions());
            let due = (naive.reno.cwnd, naive.reno.ssthresh, naive.spread.map(|spread| spread.cwnd), naive.reductions);
            if found != due {
                return Err(format!("{place}: {found:?}, not {due:?}"));
            }
        }
        cut += u64::from(naive.reductions);
    }
    Ok(cut)
}
