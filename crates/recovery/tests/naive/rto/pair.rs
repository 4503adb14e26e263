//! Compares a timer with its transcription over random samples, expiries, verdicts and changes.
//! After each operation RTO, estimate and expiry must be equal.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::Window;
use eifel_recovery::detect::Outcome;
use eifel_recovery::episode::Estimate;
use eifel_recovery::registry::{Choice, Value, part};
use eifel_recovery::rto::{Rto, Sample, TimerChange};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::dice::Dice;

const TIMERS: u64 = 4_000;
const OPERATIONS: u64 = 100;
pub const MSS: u64 = 1000;

/// A sample and the sender's state at that time; times in nanoseconds, lengths in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub rtt: u64,
    pub acked: u64,
    pub cwnd: u64,
    pub ssthresh: Option<u64>,
    pub now: u64,
    pub una: u64,
    pub nxt: u64,
    /// Whether each ACK gives a sample, or only one segment per round trip.
    pub each_ack: bool,
}

/// A transcription. Times in nanoseconds.
pub trait Naive {
    fn sample(&mut self, taken: &Taken);
    fn on_verdict(&mut self, _spurious: bool) {}
    /// Restarts the estimate, as if this were the first sample.
    fn reseed(&mut self, rtt: u64);
    /// Restarts the estimate by RFC 4015, section 3.1, steps 0 and 11.
    fn reseed_at_least(&mut self, rtt: u64, srtt_prev: u64, rttvar_prev: u64);
    fn back_off(&mut self) -> &mut BackOff;
    fn rto(&self) -> f64;
    fn estimate(&self) -> Option<(f64, f64)>;
    /// Returns the instant from which a timer counts that is started at `now`. The oldest segment
    /// was sent at `oldest`.
    fn begins(&self, now: u64, oldest: u64) -> u64 {
        now.max(oldest)
    }
}

/// RFC 6298, (2.1), (2.4), (2.5), (5.5), with the changes that verdicts request.
#[derive(Clone, Debug)]
pub struct BackOff {
    pub initial: u64,
    pub configured_minimum: u64,
    pub minimum: u64,
    pub maximum: u64,
    pub doublings: u32,
    pub held: bool,
}

impl BackOff {
    pub fn new(initial: u64, minimum: u64, maximum: u64) -> Self {
        Self { initial, configured_minimum: minimum, minimum, maximum, doublings: 0, held: false }
    }

    pub fn sampled(&mut self) {
        if !self.held {
            self.doublings = 0;
        }
    }

    pub fn rto(&self, estimated: Option<f64>) -> f64 {
        let mut rto = estimated.map_or(self.initial as f64, f64::floor).max(self.minimum as f64);
        let maximum = self.maximum.max(self.minimum) as f64;
        for _ in 0..self.doublings.min(200) {
            rto = (2.0 * rto).min(maximum);
        }
        rto.min(maximum)
    }
}

pub fn milliseconds(nanos: u64) -> Value {
    Value::Duration(Duration::from_nanos(nanos))
}

/// Selects the samples to take.
#[derive(Clone, Debug)]
pub struct Timing {
    word: &'static str,
    taken: Option<Taken>,
    passed: u32,
}

/// The thesis's RTT sampling rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rate {
    One,
    Half,
    OneARoundTrip,
}

impl Timing {
    pub fn new(word: &'static str) -> Self {
        Self { word, taken: None, passed: 0 }
    }

    pub fn takes(&mut self, taken: &Taken) -> bool {
        let takes = match (self.word, self.taken) {
            ("every", _) | (_, None) => true,
            ("every-second", _) => self.passed == 1,
            // The acknowledged data was first sent after the last sample, or the age of its segment
            // says so.
            (_, Some(last)) => last.nxt + taken.acked <= taken.una || last.now + taken.rtt <= taken.now,
        };
        self.passed = if takes { 0 } else { self.passed + 1 };
        if takes {
            self.taken = Some(*taken);
        }
        takes
    }

    /// Returns the sampling rate. An ACK of more than a segment stands for two segments, as delayed
    /// ACKs do.
    pub fn rate(&self, taken: &Taken) -> Rate {
        if self.word == "one-a-round-trip" || !taken.each_ack {
            Rate::OneARoundTrip
        } else if self.word == "every-second" || taken.acked > MSS {
            Rate::Half
        } else {
            Rate::One
        }
    }
}

pub const TIMINGS: [&str; 3] = ["every", "every-second", "one-a-round-trip"];
pub const RESTARTS: [&str; 2] = ["full", "age"];

/// Draws a timer's parameters, and returns them with the transcription.
type Draw<'a> = dyn FnMut(&mut Dice) -> (Choice, Box<dyn Naive>) + 'a;

/// Compares a timer with its transcription; `new` draws parameters.
pub fn compare(seed: u64, new: &mut Draw<'_>) {
    let mut dice = Dice::new(seed);
    for number in 0..TIMERS {
        let (choice, mut naive) = new(&mut dice);
        let mut timer = part::rto(&choice).unwrap_or_else(|error| panic!("{error}"));
        let each_ack = !dice.once_in(3);
        let round_trips = RoundTrips::new(each_ack);
        let magnitude = 2 + dice.below(9) as u32;
        let mut taken = Taken { rtt: 1, acked: 1, cwnd: MSS, ssthresh: None, now: 0, una: 1, nxt: 1, each_ack };
        for operation in 0..OPERATIONS {
            let place = || format!("{choice:?}, timer {number}, operation {operation}");
            taken.now += dice.of_any_size(magnitude + 1);
            step(&mut dice, timer.as_mut(), naive.as_mut(), &mut taken, (&round_trips, magnitude));
            let Estimate { srtt, rttvar } =
                timer.estimate().unwrap_or(Estimate { srtt: Duration::ZERO, rttvar: Duration::ZERO });
            let (expected_srtt, expected_rttvar) = naive.estimate().unwrap_or((0.0, 0.0));
            same(srtt, expected_srtt, &place);
            same(rttvar, expected_rttvar, &place);
            same(timer.rto(), naive.rto(), &place);
            let oldest = taken.now - dice.below(taken.now + 1).min(dice.of_any_size(magnitude));
            let expires = timer.expires(Instant::from_nanos(taken.now), Instant::from_nanos(oldest));
            let begins = naive.begins(taken.now, oldest);
            same(expires.since(Instant::from_nanos(begins)), naive.rto(), &place);
        }
    }
}

/// Compares to the nanosecond; fractions are cut off.
fn same(found: Duration, expected: f64, place: &dyn Fn() -> String) {
    assert_eq!(found.as_nanos() as f64, expected.floor(), "{}", place());
}

fn step(
    dice: &mut Dice,
    timer: &mut dyn Rto,
    naive: &mut dyn Naive,
    taken: &mut Taken,
    (round_trips, magnitude): (&RoundTrips, u32),
) {
    let rtt = dice.of_any_size(magnitude);
    let sample = Duration::from_nanos(rtt);
    match dice.below(20) {
        0..=9 => {
            taken.cwnd = (taken.cwnd + dice.below(3 * MSS)).min(1_000_000_000);
            if dice.once_in(10) {
                taken.cwnd = 1 + dice.below(taken.cwnd);
                taken.ssthresh = Some(dice.of_any_size(8));
            }
            taken.una += dice.below(4) * MSS;
            taken.nxt = taken.nxt.max(taken.una) + dice.below(3) * MSS;
            *taken = Taken { rtt, acked: 1 + dice.below(3 * MSS), ..*taken };
            let window = Window { cwnd: taken.cwnd, ssthresh: taken.ssthresh.unwrap_or(u64::MAX) };
            let now = Instant::from_nanos(taken.now);
            let view =
                View { now, una: taken.una, nxt: taken.nxt, mss: MSS as u32, sack: true, round_trips: *round_trips };
            timer.sample(&Sample { rtt: sample, acked: taken.acked, window }, &view);
            naive.sample(taken);
        }
        10..=13 => {
            timer.back_off();
            naive.back_off().doublings += 1;
        }
        14 | 15 => {
            let spurious = dice.once_in(2);
            timer.on_verdict(if spurious { Outcome::Spurious } else { Outcome::Genuine });
            naive.on_verdict(spurious);
        }
        16 => {
            timer.change(TimerChange::Reseed(sample));
            naive.back_off().doublings = 0;
            naive.reseed(rtt);
        }
        17 => {
            let (srtt, rttvar) = (dice.of_any_size(magnitude), dice.of_any_size(magnitude));
            let before = Estimate { srtt: Duration::from_nanos(srtt), rttvar: Duration::from_nanos(rttvar) };
            timer.change(TimerChange::ReseedAtLeast { sample, before });
            naive.back_off().doublings = 0;
            naive.reseed_at_least(rtt, srtt, rttvar);
        }
        18 => {
            timer.change(TimerChange::RaiseMinimum(sample));
            let back_off = naive.back_off();
            back_off.minimum = (back_off.minimum + rtt).min(back_off.maximum.max(back_off.configured_minimum));
        }
        _ => change_back_off(dice, timer, naive.back_off(), rtt),
    }
}

fn change_back_off(dice: &mut Dice, timer: &mut dyn Rto, back_off: &mut BackOff, least: u64) {
    match dice.below(4) {
        0 => {
            timer.change(TimerChange::RaiseInitial(Duration::from_nanos(least)));
            back_off.initial = back_off.initial.max(least);
            back_off.doublings = 0;
        }
        1 => {
            timer.change(TimerChange::HoldBackOff);
            back_off.held = true;
        }
        2 => {
            timer.change(TimerChange::ReleaseBackOff);
            back_off.held = false;
            back_off.doublings = 0;
        }
        _ => {
            timer.change(TimerChange::ResetMinimum);
            back_off.minimum = back_off.configured_minimum;
        }
    }
}
