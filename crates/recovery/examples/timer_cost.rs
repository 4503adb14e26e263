//! What a round-trip sample costs each timer of the registry: `cargo run --release --example timer_cost`.
//!
//! The samples are those of load cycles: the round trip grows with the window and falls when the window is halved. The
//! fastest of many short rounds counts: what else the machine does only makes a round slower.

use std::hint::black_box;
use std::time::Instant as Clock;

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::Window;
use eifel_recovery::registry::{Choice, Seam, part};
use eifel_recovery::rto::{Rto, Sample};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

const ROUNDS: usize = 500;
const SAMPLES: u64 = 50_000;
const WANTED_NANOS: f64 = 20.0;

fn main() {
    for entry in Seam::Rto.entries() {
        let mut timer = part::rto(&Choice::named(entry.name)).expect("the registry knows its own names");
        let rounds = (0..ROUNDS).map(|_| round(&mut *timer));
        let nanos = rounds.fold(f64::INFINITY, f64::min);
        let judged = if nanos <= WANTED_NANOS { "" } else { ": too slow" };
        println!("{:<14} {nanos:>5.1} ns a sample, {WANTED_NANOS} wanted{judged}", entry.name);
    }
}

/// Nanoseconds a sample.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn round(timer: &mut dyn Rto) -> f64 {
    let round_trips = RoundTrips::new(true);
    let (mut now, mut una, mut cwnd) = (Instant::ZERO, 1, 20_000);
    let start = Clock::now();
    for _ in 0..SAMPLES {
        cwnd = if cwnd < 40_000 { cwnd + 10 } else { 20_000 };
        now += Duration::from_micros(10_000);
        una += 1000;
        let view = View { now, una, nxt: una + cwnd, mss: 1000, sack: true, round_trips };
        let rtt = Duration::from_nanos(cwnd * 10_000);
        timer.sample(&Sample { rtt, acked: 1000, window: Window { cwnd, ssthresh: 20_000 } }, &view);
        black_box(timer.rto());
    }
    start.elapsed().as_nanos() as f64 / SAMPLES as f64
}
