//! Measures nanoseconds per parcel on some links: to offer it, and to hand it out at the far end.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_path::config::{Capacity, ConfigError, LinkConfig};
use eifel_path::element::ElementConfig;
use eifel_path::link::Link;
use eifel_path::parcel::{Label, Parcel};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;
use eifel_path::queue::red::{Manner, RedConfig, Unit};
use eifel_path::trace::Trace;
use std::hint::black_box;
use std::sync::Arc;

const PARCELS: u32 = 5_000_000;

/// Offers a parcel every `gap`, in turn two of 1040 bytes and one of 40, and collects arrived
/// parcels.
fn measure(title: &str, config: &LinkConfig, gap: Duration) -> Result<(), ConfigError> {
    let mut link = Link::new(config, "link", 1)?;
    let mut outcomes = Vec::new();
    let mut now = Instant::ZERO;
    let mut delivered = 0u64;
    let begin = std::time::Instant::now();
    for handle in 0..PARCELS {
        now += gap;
        while link.next_event() <= now {
            delivered += u64::from(link.advance(link.next_event(), &mut outcomes).is_some());
        }
        let bytes = if handle % 3 == 0 { 40 } else { 1040 };
        link.offer(
            now,
            black_box(Parcel { handle, bytes }),
            || Label { flow: 0, copy: 0, segment: u64::from(handle), takes_marks: false },
            &mut outcomes,
        );
        outcomes.clear();
    }
    let each = begin.elapsed().as_secs_f64() * 1e9 / f64::from(PARCELS);
    println!("{title:24} {each:6.1} ns a parcel, {delivered} delivered");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rate = Rate::from_bps(100_000_000).ok_or("a rate of zero")?;
    let plain = LinkConfig::plain(rate, Duration::from_millis(20));
    let gap = Duration::from_micros(60);
    measure("plain", &plain, gap)?;
    let drop_tail = LinkConfig { queue: QueueConfig::DropTail(DropTail::Packets(200)), ..plain.clone() };
    measure("drop-tail", &drop_tail, gap)?;
    measure("drop-tail, overloaded", &drop_tail, Duration::from_micros(50))?;
    let lossy = LinkConfig { elements: vec![ElementConfig::RandomLoss { rate: 0.01 }], ..drop_tail.clone() };
    measure("random loss", &lossy, gap)?;
    let manner = Manner {
        gentle: true,
        wait: true,
        unit: Unit::Packets,
        mean_packet_bytes: 1000,
        limit_packets: 200,
        ecn: false,
    };
    let red =
        RedConfig { minimum_packets: 20.0, maximum_packets: 60.0, maximum_probability: 0.1, weight: 0.002, manner };
    measure(
        "RED, overloaded",
        &LinkConfig { queue: QueueConfig::Red(red), ..plain.clone() },
        Duration::from_micros(50),
    )?;
    let trace = Arc::new(Trace::parse(&(0..10_000).map(|line| format!("{}\n", line / 10)).collect::<String>())?);
    measure("trace", &LinkConfig { capacity: Capacity::Trace(trace), ..drop_tail }, gap)?;
    Ok(())
}
