//! A sender of one's own with `eifel-recovery` as its loss brain. Everything else is here: the clock, the packets, and a
//! path of 100 ms that stands still for two seconds. `cargo run -p eifel-recovery --example sender`

use eifel_recovery::eifel_base::time::{Duration, Instant};
use eifel_recovery::eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Config, Echo, Engine, Event, Kind, Negotiated};
use std::collections::VecDeque;

const MSS: u32 = 1000;
/// The peer's window, in bytes.
const WINDOW: u64 = 100_000;
const DELAY: Duration = Duration::from_millis(50);
/// The path holds what would arrive in this time, and lets it go at its end.
const SPIKE: [Instant; 2] = [Instant::from_nanos(1_000_000_000), Instant::from_nanos(3_000_000_000)];

/// A packet there, or its acknowledgement back.
struct Packet {
    arrives: Instant,
    end: u64,
    /// The packet's own timestamp, which the acknowledgement echoes, and the instant at which it left.
    stamp: Timestamp,
    left: Instant,
}

/// The outcome of a transfer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub retransmissions: u32,
    pub timeouts: u32,
    pub undos: u32,
}

/// Sends `bytes` bytes, and returns the counts of retransmissions, timeouts and undos.
///
/// # Errors
/// An algorithm that the registry does not know.
pub fn transfer(bytes: u64, config: &Config) -> Result<Summary, eifel_recovery::registry::Error> {
    let mut engine = Engine::new(config)?;
    let mut now = Instant::ZERO;
    engine.established(now, Negotiated { mss: MSS, sack: false, timestamps: true });
    let (mut there, mut back) = (VecDeque::new(), VecDeque::<Packet>::new());
    let (mut received, mut summary) = (1, Summary::default());
    // A number of its own for each packet: what proves a retransmission needless cannot be mistaken or forged.
    let mut stamp = Timestamp(0);
    // Positions begin at 1.
    while engine.una() <= bytes {
        // 1. Everything that may leave now leaves.
        while let Some(sent) = engine.poll_send(now, &engine.offer(bytes + 1, engine.una() + WINDOW, Some(stamp))) {
            let end = sent.start + u64::from(sent.len);
            summary.retransmissions += u32::from(matches!(sent.kind, Kind::Retransmission(_)));
            let due = now + DELAY;
            let arrives = if (SPIKE[0]..SPIKE[1]).contains(&due) { SPIKE[1] } else { due };
            there.push_back(Packet { arrives, end, stamp, left: now });
            stamp.0 += 1;
        }
        // 2. Rare events say what the brain has concluded.
        while let Some(event) = engine.poll_event() {
            summary.timeouts += u32::from(matches!(event, Event::TimerExpired { .. }));
            summary.undos += u32::from(matches!(event, Event::Adjusted { .. }));
        }
        // 3. The earliest of timer, packet and acknowledgement comes next.
        let next = |queue: &VecDeque<Packet>| queue.front().map_or(Instant::NEVER, |packet| packet.arrives);
        now = engine.deadline().min(next(&there)).min(next(&back));
        if next(&there) == now
            && let Some(packet) = there.pop_front()
        {
            received = received.max(packet.end);
            back.push_back(Packet { arrives: now + DELAY, end: received, ..packet });
        } else if next(&back) == now
            && let Some(ack) = back.pop_front()
        {
            let echo = Some(Echo::Known { value: ack.stamp, age: now.since(ack.left) });
            engine.on_ack(now, &Ack { echo, ..Ack::new(ack.end) });
        } else {
            engine.on_timeout(now);
        }
    }
    Ok(summary)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:?}", transfer(2_000_000, &Config::default())?);
    Ok(())
}
