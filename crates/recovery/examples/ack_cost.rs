//! What an ACK costs the engine, by the number of segments in flight: `cargo run --release --example ack_cost`.
//!
//! Each ACK acknowledges two segments and lets two new ones go; every hundredth window is repaired after a loss whose
//! holes the peer reports in the worst order, alternate segments.

use std::time::Instant as Clock;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Block, Config, Echo, Engine, Negotiated};
use eifel_recovery::registry::{Choice, Value};

const MSS: u64 = 1000;

fn main() {
    for segments in [10_u64, 100, 1000, 10_000, 100_000, 1_000_000] {
        let congest = Choice::named("reno").with("initial_window_segments", Value::Integer(segments as i64));
        let config = Config { congest, ..Config::default() };
        let mut engine = Engine::new(&config).expect("the default algorithms are known");
        engine.established(Instant::ZERO, Negotiated { mss: MSS as u32, sack: true, timestamps: true });
        let in_order = run_in_order(&mut engine, 2_000_000);
        let reported = report_alternate(&mut engine, segments);
        println!(
            "{segments:>8} segments in flight: {in_order:>6.1} ns an ACK in order, {reported:>6.1} ns an ACK with SACK"
        );
    }
}

fn send(engine: &mut Engine, now: Instant, limit: u64) {
    let stamp = Some(Timestamp((now.as_nanos() / 1_000_000) as u32));
    while engine.poll_send(now, &engine.offer(u64::MAX / 2, limit, stamp)).is_some() {}
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn run_in_order(engine: &mut Engine, acks: u64) -> f64 {
    let mut now = Instant::ZERO;
    send(engine, now, u64::MAX);
    let window = engine.nxt() - 1;
    let start = Clock::now();
    for _ in 0..acks {
        now += Duration::from_micros(10);
        let echo = Some(Echo::Known { value: Timestamp(0), age: Duration::from_millis(100) });
        let cumulative = engine.una() + 2 * MSS;
        engine.on_ack(now, &Ack { cumulative, sacks: &[], dsacks: &[], echo, mark: None, plain: true, ece: false });
        send(engine, now, cumulative + window);
    }
    start.elapsed().as_nanos() as f64 / acks as f64
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn report_alternate(engine: &mut Engine, segments: u64) -> f64 {
    let now = Instant::ZERO + Duration::from_secs(1000);
    let una = engine.una();
    let acks = (segments / 2).max(1);
    let start = Clock::now();
    for at in (1..segments).step_by(2) {
        let block = Block { start: una + at * MSS, end: una + (at + 1) * MSS };
        engine.on_ack(
            now,
            &Ack { cumulative: una, sacks: &[block], dsacks: &[], echo: None, mark: None, plain: true, ece: false },
        );
        send(engine, now, engine.nxt());
    }
    start.elapsed().as_nanos() as f64 / acks as f64
}
