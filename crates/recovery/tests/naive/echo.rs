//! RFC 3168, section 6.1.2: how a sender answers echoes of marks, where nothing is lost.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine::{Ack, Config, Engine, Negotiated};
use eifel_recovery::registry::{Choice, Value};

use crate::congest::reno::{ALWAYS, Naive};
use crate::dice::Dice;

const MSS: u64 = 1000;
const CONNECTIONS: u64 = 3000;
const ACKS: u64 = 300;

/// What the RFC asks for, over Reno: one reduction for all echoes of a window, and no growth on an ACK that echoes.
struct Sender {
    reno: Naive,
    una: u64,
    nxt: u64,
    /// Where the window ends whose congestion is answered.
    answered: Option<u64>,
    reductions: u32,
}

impl Sender {
    fn send_all(&mut self) {
        while self.nxt + MSS <= self.una + self.reno.cwnd {
            self.nxt += MSS;
        }
    }

    fn ack(&mut self, cumulative: u64, echo: bool) {
        let (flight, acked) = (self.nxt - self.una, cumulative - self.una);
        self.una = cumulative;
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
    }
}

#[test]
fn echoes_cut_the_window_once_for_each_window() {
    let mut dice = Dice::new(31);
    let congest = Choice::named("reno").with("grow", Value::Word("always".into()));
    let config = Config { congest, recover: Choice::named("reno"), ..Config::default() };
    let mut cut = 0_u64;
    for connection in 0..CONNECTIONS {
        let mut engine = Engine::new(&config).expect("the registry's own");
        let mut now = Instant::ZERO;
        engine.established(now, Negotiated { mss: MSS as u32, sack: false, timestamps: false });
        let mut naive =
            Sender { reno: Naive::new(10 * MSS, u64::MAX, MSS), una: 1, nxt: 1, answered: None, reductions: 0 };
        let often = dice.from(2, 40);
        for _ in 0..ACKS {
            while engine.poll_send(now, &engine.offer(1 << 40, 1 << 40, None)).is_some() {}
            naive.send_all();
            assert_eq!(engine.nxt(), naive.nxt, "connection {connection}");
            now += Duration::from_millis(dice.from(1, 20));
            let ece = dice.once_in(often);
            let cumulative = naive.una + MSS * dice.from(1, (naive.nxt - naive.una) / MSS);
            engine.on_ack(now, &Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece });
            naive.ack(cumulative, ece);
            let window = engine.snapshot();
            assert_eq!(
                (window.cwnd, window.ssthresh),
                (naive.reno.cwnd, naive.reno.ssthresh),
                "connection {connection}"
            );
            assert_eq!(engine.reductions(), naive.reductions, "connection {connection}");
        }
        cut += u64::from(naive.reductions);
    }
    assert!(cut > 10 * CONNECTIONS, "{cut}");
}
