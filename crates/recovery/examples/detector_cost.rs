//! What each detector costs an ACK: `cargo run --release --example detector_cost`.
//!
//! No episode open: every ACK covers a segment. Within one: the same after a timeout's retransmission, asked about again
//! as soon as it is settled; one that asks for a probe has it.

use std::hint::black_box;
use std::time::Instant as Clock;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::detect::{Detector, Judgement};
use eifel_recovery::fact::{Acked, Cause, Covered, Echo, Fact, Kind, Transmission, TxId};
use eifel_recovery::registry::{Choice, Seam, part};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

const ACKS: u64 = 200_000;
/// The runs of which the fastest counts: another process may have slowed the others down.
const RUNS: u32 = 40;

fn main() {
    let least = |run: &dyn Fn() -> f64| (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min);
    let base = least(&|| cost(None, false));
    for entry in Seam::Detect.entries() {
        let costs = [false, true].map(|in_episode| {
            let detector = || part::detector(&Choice::named(entry.name)).expect("of the registry");
            least(&|| cost(Some(detector()), in_episode)) - base
        });
        println!("{:>18}: {:>5.1} ns an ACK, {:>5.1} ns within an episode", entry.name, costs[0], costs[1]);
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn cost(mut detector: Option<Box<dyn Detector>>, in_episode: bool) -> f64 {
    let round_trips = RoundTrips::new(true);
    let mut settled = true;
    let start = Clock::now();
    for ack in 1..=ACKS {
        let now = Instant::ZERO + Duration::from_micros(ack);
        let una = ack * 1000;
        let view = View { now, una, nxt: una + 1_000_000, mss: 1000, sack: true, round_trips };
        if in_episode && settled {
            let kind = Kind::Retransmission(Cause::Timeout);
            let transmission = Transmission { id: TxId(ack), start: una + 500_000, len: 1000, kind, copy: 1 };
            let stamp = Some(Timestamp(7));
            let fact = Fact::Retransmitted { transmission: &transmission, stamp, original: stamp, opens: true };
            detector.as_mut().map(|detector| detector.observe(&fact, &view));
            settled = false;
        }
        let acked = Acked {
            cumulative: una,
            bytes: 1000,
            highest: Some(Covered { end: una, copies: u32::from(in_episode), last_sent: Instant::ZERO }),
            echo: Some(Echo::Known { value: Timestamp(ack as u32), age: Duration::from_millis(100) }),
            ..Acked::default()
        };
        let judgement = match &mut detector {
            Some(detector) => detector.observe(&Fact::Acked(black_box(&acked)), &view),
            None => Judgement::Undecided,
        };
        settled |= matches!(black_box(judgement), Judgement::Settled(..) | Judgement::Mixed(_));
    }
    start.elapsed().as_nanos() as f64 / ACKS as f64
}
