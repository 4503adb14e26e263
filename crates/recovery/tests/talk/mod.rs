//! A conversation with an engine in virtual time. Segments of 1000 bytes are numbered from 1; times in milliseconds.
#![allow(dead_code, reason = "each test file uses its own part")]

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Block, Config, Echo, Engine, Event, Kind, Negotiated};
use eifel_recovery::fact::Mark;
use eifel_recovery::registry::{Choice, Value};

pub const MSS: u64 = 1000;

/// A sent segment by number: new or retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Out {
    New(u64),
    Again(u64),
}

pub struct Talk {
    pub engine: Engine,
    pub now: Instant,
    pub end: u64,
    pub limit: u64,
    pub stamps: bool,
    /// The mark of all ACKs: whether an original or a retransmission caused them.
    pub mark: Option<Mark>,
}

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

/// Returns the first position of a segment.
pub fn start(segment: u64) -> u64 {
    1 + (segment - 1) * MSS
}

/// Returns a Reno sender with an initial window of ten segments and no detection. Tests change it
/// as needed.
pub fn config(recover: &str) -> Config {
    Config {
        detect: Choice::named("none"),
        respond: Choice::named("none"),
        recover: Choice::named(recover),
        congest: Choice::named("reno").with("grow", Value::Word("always".into())),
        ..Config::default()
    }
}

pub fn eifel(recover: &str, respond: &str) -> Config {
    let detect = Choice::named("eifel-timestamps").with("proof", Value::Word("older".into()));
    Config { detect, respond: Choice::named(respond), ..config(recover) }
}

impl Talk {
    pub fn new(config: &Config) -> Self {
        Self::with(config, Negotiated { mss: MSS as u32, sack: true, timestamps: true })
    }

    pub fn with(config: &Config, negotiated: Negotiated) -> Self {
        let mut engine = Engine::new(config).expect("a known algorithm");
        engine.established(Instant::ZERO, negotiated);
        Self {
            engine,
            now: Instant::ZERO,
            end: start(1_000_000),
            limit: u64::MAX,
            stamps: negotiated.timestamps,
            mark: None,
        }
    }

    /// Sends until nothing more may be sent.
    pub fn send(&mut self) -> Vec<Out> {
        let mut out = Vec::new();
        let stamp = self.stamps.then(|| Timestamp((self.now.as_nanos() / 1_000_000) as u32));
        while let Some(sent) = self.engine.poll_send(self.now, &self.engine.offer(self.end, self.limit, stamp)) {
            let segment = (sent.start - 1) / MSS + 1;
            out.push(match sent.kind {
                Kind::New => Out::New(segment),
                Kind::Retransmission(_) => Out::Again(segment),
                Kind::WindowProbe => unreachable!("asked for by the connection alone"),
            });
            assert!(out.len() < 10_000, "sending never ends");
        }
        out
    }

    /// Takes an ACK of everything up to and including `segment`, and sends. `sacks` are pairs of
    /// first and last segment. `echo` is the echoed time.
    pub fn ack(&mut self, millis: u64, segment: u64, sacks: &[(u64, u64)], echo: u64) -> Vec<Out> {
        self.ack_with(millis, segment, sacks, echo, None)
    }

    /// As [`ack`](Self::ack), with the segment that a DSACK reports.
    pub fn ack_with(
        &mut self,
        millis: u64,
        segment: u64,
        sacks: &[(u64, u64)],
        echo: u64,
        dsack: Option<u64>,
    ) -> Vec<Out> {
        self.now = at(millis);
        let sacks: Vec<_> = sacks.iter().map(|&(a, b)| Block { start: start(a), end: start(b + 1) }).collect();
        let dsack = dsack.map(|segment| Block { start: start(segment), end: start(segment + 1) });
        let echo = Echo::Known { value: Timestamp(echo as u32), age: self.now.since(at(echo)) };
        self.engine.on_ack(
            self.now,
            &Ack {
                cumulative: start(segment + 1),
                sacks: &sacks,
                dsacks: dsack.as_slice(),
                echo: self.stamps.then_some(echo),
                mark: self.mark,
                plain: true,
                ece: false,
            },
        );
        self.send()
    }

    /// Lets the timer expire. Returns the time in milliseconds and the sent segments.
    pub fn expire(&mut self) -> (u64, Vec<Out>) {
        self.now = self.engine.deadline();
        assert_ne!(self.now, Instant::NEVER, "no timer runs");
        assert!(!self.engine.on_timeout(self.now), "the window is closed");
        (self.now.as_nanos() / 1_000_000, self.send())
    }

    pub fn cwnd(&self) -> u64 {
        self.engine.snapshot().cwnd
    }

    pub fn ssthresh(&self) -> u64 {
        self.engine.snapshot().ssthresh
    }

    pub fn rto(&self) -> u64 {
        self.engine.snapshot().rto.as_nanos() / 1_000_000
    }

    pub fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.engine.poll_event()).collect()
    }

    /// Returns the acting detector's verdicts since the last look at events, as text.
    pub fn verdicts(&mut self) -> Vec<(String, &'static str)> {
        let judged = |event| match event {
            Event::Judged { detector: 0, outcome, reason, .. } => Some((format!("{outcome:?}"), reason)),
            _ => None,
        };
        self.events().into_iter().filter_map(judged).collect()
    }
}

pub fn new(segments: core::ops::RangeInclusive<u64>) -> Vec<Out> {
    segments.map(Out::New).collect()
}

pub fn again(segments: core::ops::RangeInclusive<u64>) -> Vec<Out> {
    segments.map(Out::Again).collect()
}

/// Sends twenty segments at 0 and acknowledges the first at 100 ms. Then cwnd is 21 segments, and
/// 2..=22 are outstanding.
pub fn twenty(config: &Config) -> Talk {
    let congest = config.congest.clone().with("initial_window_segments", Value::Integer(20));
    let mut talk = Talk::new(&Config { congest, ..config.clone() });
    assert_eq!(talk.send(), new(1..=20));
    assert_eq!(talk.ack(100, 1, &[], 0), new(21..=22));
    talk
}
