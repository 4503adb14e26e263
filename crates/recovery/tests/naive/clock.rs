//! Round trips for views, as an engine keeps them: the engine sends new data for each sample. The
//! clock also keeps them as plain numbers.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Config, Echo, Engine, Negotiated};
use eifel_recovery::rto::rfc6298::Bounds;
use eifel_recovery::rtt::RoundTrips;

use crate::rto;

/// An engine, and its round-trip samples in nanoseconds.
pub struct Clock {
    engine: Engine,
    samples: Vec<u64>,
    timer: rto::rfc6298::Naive,
}

impl Clock {
    pub fn new() -> Self {
        let mut engine = Engine::new(&Config::default()).unwrap_or_else(|error| panic!("{error}"));
        engine.established(Instant::ZERO, Negotiated { mss: 1000, sack: true, timestamps: true });
        let second = Duration::from_secs(1);
        let bounds = Bounds {
            initial: second,
            minimum: second,
            maximum: second,
            granularity: Duration::ZERO,
            slop: Duration::ZERO,
        };
        Self { engine, samples: Vec::new(), timer: rto::rfc6298::Naive::new(&bounds) }
    }

    /// Gives the engine an ACK with a sample.
    pub fn sample(&mut self, now: u64, rtt: u64) {
        let now = Instant::from_nanos(now);
        let end = self.engine.nxt() + 1000;
        let stamp = Some(Timestamp(0));
        while self.engine.poll_send(now, &self.engine.offer(end, u64::MAX, stamp)).is_some() {}
        let echo = Some(Echo::Known { value: Timestamp(0), age: Duration::from_nanos(rtt) });
        let ack = Ack { cumulative: end, sacks: &[], dsacks: &[], echo, mark: None, plain: true, ece: false };
        self.engine.on_ack(now, &ack);
        self.samples.push(rtt);
        self.timer.sample(rtt.into());
    }

    pub fn round_trips(&self) -> &RoundTrips {
        self.engine.round_trips()
    }

    pub fn latest(&self) -> Option<u64> {
        self.samples.last().copied()
    }

    pub fn minimum(&self) -> Option<u64> {
        self.samples.iter().min().copied()
    }

    pub fn srtt(&self) -> Option<u64> {
        self.timer.srtt.map(|srtt| srtt as u64)
    }
}
