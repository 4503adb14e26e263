//! How fast the data that the window allows may be sent: counted, spread, or both.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::Window;
use eifel_recovery::pace::{Pace, Permit};
use eifel_recovery::registry::{Choice, Value, part};

use crate::dice::Dice;

const SENDERS: u64 = 5_000;
const OPERATIONS: u64 = 200;

/// A transmission; times in nanoseconds.
struct Sent {
    now: u64,
    bytes: u64,
    cwnd: u64,
    ssthresh: u64,
    srtt: Option<u64>,
}

/// A transcription.
trait Naive {
    fn input(&mut self) {}
    /// Takes a round-trip sample, in nanoseconds.
    fn sample(&mut self, _now: u64, _rtt: u64) {}
    /// Returns the earliest time of the next transmission, at least `now`; `None` if not before the
    /// next ACK or timeout.
    fn earliest(&self, now: u64) -> Option<u64>;
    fn sent(&mut self, sent: &Sent);
}

/// No limit.
struct AtOnce;

impl Naive for AtOnce {
    fn earliest(&self, now: u64) -> Option<u64> {
        Some(now)
    }
    fn sent(&mut self, _: &Sent) {}
}

/// Fall and Floyd's maxburst.
struct MaxBurst {
    maxburst: u64,
    sent: u64,
}

impl Naive for MaxBurst {
    fn input(&mut self) {
        self.sent = 0;
    }
    fn earliest(&self, now: u64) -> Option<u64> {
        (self.sent < self.maxburst).then_some(now)
    }
    fn sent(&mut self, _: &Sent) {
        self.sent += 1;
    }
}

/// Returns the time between these bytes and the next segment, in nanoseconds, at gain * cwnd /
/// SRTT.
fn spacing(sent: &Sent, (slow_start, avoidance): (u64, u64)) -> u64 {
    let percent = if sent.cwnd < sent.ssthresh { slow_start } else { avoidance };
    let srtt = u128::from(sent.srtt.unwrap_or(0));
    let nanos = srtt * u128::from(sent.bytes) * 100 / (u128::from(sent.cwnd.max(1)) * u128::from(percent));
    nanos as u64
}

/// Aggarwal, Savage and Anderson: the window is spread evenly over the round trip. The first ten
/// segments are not paced.
struct Spread {
    gains: (u64, u64),
    left: u64,
    next: u64,
}

impl Naive for Spread {
    fn earliest(&self, now: u64) -> Option<u64> {
        Some(self.next.max(now))
    }
    fn sent(&mut self, sent: &Sent) {
        if self.left < 10 {
            self.left += 1;
        } else if sent.srtt.is_some() {
            self.next = self.next.max(sent.now) + spacing(sent, self.gains);
        }
    }
}

/// Linux's bursts: each is sent back to back, and the next waits for the time that it takes at the
/// pacing rate.
struct Bursts {
    gains: (u64, u64),
    left: u64,
    shortest: Option<u64>,
    /// When the last burst began, how many bytes it may have, and how many it has.
    burst: Option<(u64, u64, u64)>,
    next: u64,
}

impl Naive for Bursts {
    fn sample(&mut self, _: u64, rtt: u64) {
        self.shortest = Some(self.shortest.unwrap_or(rtt).min(rtt));
    }
    fn earliest(&self, now: u64) -> Option<u64> {
        match self.burst {
            Some((began, most, sent)) if began == now && sent < most => Some(now),
            _ => Some(self.next.max(now)),
        }
    }
    fn sent(&mut self, sent: &Sent) {
        if self.left < 10 {
            self.left += 1;
            return;
        }
        if sent.srtt.is_none() {
            return;
        }
        let apart = spacing(sent, self.gains);
        match &mut self.burst {
            Some((began, most, so_far)) if *began == sent.now && *so_far < *most => *so_far += sent.bytes,
            burst => {
                let by_rate = 1_000_000_000 * sent.bytes / apart.max(1) / 1024;
                let halvings = self.shortest.map(|rtt| rtt / 512_000);
                let by_path = match halvings {
                    Some(halvings @ 0..=31) => (0..halvings).fold(65_215, |bytes, _| bytes / 2),
                    _ => 0,
                };
                let segments = ((by_rate + by_path).min(65_215) / sent.bytes).max(2);
                *burst = Some((sent.now, segments * sent.bytes, sent.bytes));
            }
        }
        self.next = self.next.max(sent.now) + apart;
    }
}

/// As [`Spread`], over the smallest sample since the start of the last but one span of five
/// seconds. The first sample after a span's end begins the next span.
struct SpreadOverSmallest {
    gains: (u64, u64),
    left: u64,
    next: u64,
    samples: Vec<(u64, u64)>,
    spans: Vec<u64>,
}

impl Naive for SpreadOverSmallest {
    fn sample(&mut self, now: u64, rtt: u64) {
        if self.spans.last().is_none_or(|began| now >= began + 5_000_000_000) {
            self.spans.push(now);
        }
        self.samples.push((now, rtt));
    }
    fn earliest(&self, now: u64) -> Option<u64> {
        Some(self.next.max(now))
    }
    fn sent(&mut self, sent: &Sent) {
        let since = self.spans.get(self.spans.len().saturating_sub(2)).copied();
        let counted = self.samples.iter().filter(|(at, _)| Some(*at) >= since).map(|&(_, rtt)| rtt);
        if self.left < 10 {
            self.left += 1;
        } else if let Some(smallest) = counted.min() {
            self.next = self.next.max(sent.now) + spacing(&Sent { srtt: Some(smallest), ..*sent }, self.gains);
        }
    }
}

/// The generic cell rate algorithm, virtual scheduling: a cell that comes at ta conforms if ta >=
/// TAT - tau, and then TAT is max (ta, TAT) + T. Here tau lets `segments` segments be sent
/// together.
struct Gcra {
    gains: (u64, u64),
    segments: u64,
    tat: u64,
    t: u64,
}

impl Naive for Gcra {
    fn earliest(&self, now: u64) -> Option<u64> {
        let tau = self.t * (self.segments - 1);
        Some(self.tat.saturating_sub(tau).max(now))
    }
    fn sent(&mut self, sent: &Sent) {
        if sent.srtt.is_some() {
            self.t = spacing(sent, self.gains);
            self.tat = self.tat.max(sent.now) + self.t;
        }
    }
}

fn draw(name: &str, dice: &mut Dice) -> (Choice, Box<dyn Naive>) {
    let (gains, segments) = ((dice.from(50, 400), dice.from(50, 400)), dice.from(1, 20));
    let whole = |value: u64| Value::Integer(value as i64);
    let choice = Choice::named(name);
    let with_gains =
        |choice: Choice| choice.with("slow_start_percent", whole(gains.0)).with("avoidance_percent", whole(gains.1));
    match name {
        "none" => (choice, Box::new(AtOnce)),
        "burst-limit" => (choice.with("segments", whole(segments)), Box::new(MaxBurst { maxburst: segments, sent: 0 })),
        "pacing" => (with_gains(choice), Box::new(Spread { gains, left: 0, next: 0 })),
        "lasting-pacing" => {
            let naive = SpreadOverSmallest { gains, left: 0, next: 0, samples: Vec::new(), spans: Vec::new() };
            (with_gains(choice), Box::new(naive))
        }
        "tso" => {
            let naive = Bursts { gains, left: 0, shortest: None, burst: None, next: 0 };
            (with_gains(choice), Box::new(naive))
        }
        "burst-pacer" => {
            let naive = Gcra { gains, segments, tat: 0, t: 0 };
            (with_gains(choice).with("segments", whole(segments)), Box::new(naive))
        }
        other => panic!("pace {other} has no transcription here"),
    }
}

/// Compares every pacer of the registry.
#[test]
fn each_pacer_agrees_with_a_model_of_its_source() {
    for entry in eifel_recovery::registry::Seam::Pace.entries() {
        let mut dice = Dice::new(16);
        for sender in 0..SENDERS {
            let (choice, mut naive) = draw(entry.name, &mut dice);
            let mut pace = part::pace(&choice).unwrap_or_else(|error| panic!("{error}"));
            one(&mut dice, pace.as_mut(), naive.as_mut(), &format!("{choice:?}, sender {sender}"));
        }
    }
}

fn one(dice: &mut Dice, pace: &mut dyn Pace, naive: &mut dyn Naive, place: &str) {
    let (mut now, mut cwnd) = (0, dice.from(1, 20) * 1000);
    let srtt = dice.of_any_size(9);
    for operation in 0..OPERATIONS {
        if dice.once_in(3) {
            now += dice.below(srtt);
        }
        if dice.once_in(4) {
            pace.on_input();
            naive.input();
            // A silence now and then makes samples grow old.
            now += if dice.once_in(20) { dice.below(4_000_000_000) } else { 0 };
            let rtt = srtt + dice.below(srtt);
            pace.on_sample(Instant::from_nanos(now), Duration::from_nanos(rtt));
            naive.sample(now, rtt);
            cwnd = (cwnd + dice.below(3000)).saturating_sub(dice.below(2000));
        }
        let permit = match pace.permit(Instant::from_nanos(now)) {
            Permit::Now => Some(now),
            Permit::At(at) => Some(at.as_nanos()),
            Permit::NextInput => None,
        };
        assert_eq!(permit, naive.earliest(now), "{place}, operation {operation}");
        let Some(at) = permit else { continue };
        now = at;
        let ssthresh = if dice.once_in(2) { u64::MAX } else { dice.from(1, 40) * 1000 };
        let srtt = (!dice.once_in(10)).then(|| srtt + dice.below(srtt));
        let sent = Sent { now, bytes: dice.from(1, 1460), cwnd, ssthresh, srtt };
        let window = Window { cwnd, ssthresh };
        pace.on_sent(Instant::from_nanos(now), sent.bytes as u32, &window, srtt.map(Duration::from_nanos));
        naive.sent(&sent);
    }
}
