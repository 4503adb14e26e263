//! One-byte segments with gaps between them. Each becomes a separate piece in the receiver's queue.

use eifel_base::time::{Duration, Instant};
use eifel_tcp::Settings;
use eifel_tcp::settings::ReceiveKind;

use crate::Attack;
use crate::clock::{Costs, cpu_nanos};
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{Victim, data, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t12-gap-cost",
    summary: "a million one-byte segments with gaps, in the worst order",
    source: "SegmentSmack, CVE-2018-5390; CVE-2018-6922",
    defence: "O(log n) a segment, neighbours merge, and no more pieces than the window pays for: the furthest goes first",
    run,
};

/// The most memory per piece, in bytes: two positions, in chunks that are at least three eighths
/// full.
const BYTES_PER_PIECE: u64 = 48;

fn run(trial: &mut Trial) {
    let segments = trial.times(1_000_000, 50_000);
    let window = 2 * segments + 1000;
    let (mut micros, mut mean, mut memory, mut wrong) = (0f64, 0f64, 0, 0);
    for order in [Order::Ascending, Order::Descending, Order::Random] {
        let places = places(segments, order);
        let (mut best_micros, mut best_mean) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..trial.times(3, 1) {
            let mut flood = Flood::new(window as u32);
            let (nanos, ()) = cpu_nanos(|| flood.run(&places));
            best_micros = best_micros.min(flood.costs.most_micros());
            best_mean = best_mean.min(nanos as f64 / 1e3 / segments as f64);
            memory = memory.max(flood.pieces * BYTES_PER_PIECE + window);
            wrong += flood.fill(segments);
        }
        micros = micros.max(best_micros);
        mean = mean.max(best_mean);
    }
    trial.timed("a segment, all but one in a thousand", "µs", micros, 2.0);
    trial.timed("a segment, on average", "µs", mean, 2.0);
    trial.at_most("buffer and pieces", "bytes", memory, 2 * window);
    trial.exactly("bytes wrong or missing when the holes are filled", "bytes", wrong, 0);
}

#[derive(Clone, Copy)]
enum Order {
    Ascending,
    Descending,
    Random,
}

/// Lists every other byte, starting with the third.
fn places(segments: u64, order: Order) -> Vec<u64> {
    let mut places: Vec<u64> = (0..segments).map(|at| 3 + 2 * at).collect();
    match order {
        Order::Ascending => {}
        Order::Descending => places.reverse(),
        Order::Random => {
            let mut draw = Draw::new(1, ATTACK.name);
            for at in (1..places.len()).rev() {
                places.swap(at, draw.below(at as u64 + 1) as usize);
            }
        }
    }
    places
}

struct Flood {
    victim: Victim,
    costs: Costs,
    pieces: u64,
}

impl Flood {
    fn new(window: u32) -> Self {
        let settings = Settings { receive: ReceiveKind::Held, receive_window: window, ..settings() };
        let victim = Victim::open(&settings, 64_000);
        Self { victim, costs: Costs::default(), pieces: 0 }
    }

    fn run(&mut self, places: &[u64]) {
        for &place in places {
            let segment = data(place, 1, 1);
            let Self { victim, costs, .. } = self;
            costs.step(|| {
                victim.connection.handle_segment(victim.now, &segment, &[content(place)]);
                while eifel_testkit::connections::next(&mut victim.connection, victim.now).is_some() {}
            });
            self.pieces = self.pieces.max(self.victim.connection.pieces() as u64);
        }
    }

    /// Sends all missing bytes in full segments. Returns the number of wrong bytes.
    fn fill(&mut self, segments: u64) -> u64 {
        let end = 3 + 2 * segments;
        let mut read = Vec::new();
        let mut into = [0; 4096];
        let mut seq = 1;
        while seq < end && self.victim.now < Instant::ZERO + Duration::from_secs(1_000_000) {
            let len = (end - seq).min(1000);
            let bytes: Vec<u8> = (seq..seq + len).map(content).collect();
            self.victim.connection.handle_segment(self.victim.now, &data(seq, len as u32, 1), &bytes);
            self.victim.sends();
            loop {
                let count = self.victim.connection.read(&mut into);
                read.extend_from_slice(&into[..count]);
                if count == 0 {
                    break;
                }
            }
            self.victim.now += Duration::from_millis(1);
            seq = 1 + self.victim.connection.received();
        }
        let right = read.iter().zip(1..).filter(|&(&byte, place)| byte == content(place)).count() as u64;
        end - 1 - right
    }
}

/// Returns the byte at a place of the stream.
fn content(place: u64) -> u8 {
    (place % 251) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_repeats_after_251_bytes() {
        assert_eq!([0, 1, 250, 251, 252, 1000].map(content), [0, 1, 250, 0, 1, 247]);
    }
}
