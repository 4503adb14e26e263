//! Spikes: all packets are held for a while, then released back to back.

use crate::config::ConfigError;
use crate::draw::Draw;
use crate::stream::Stream;
use eifel_base::time::{Duration, Instant};

/// A source of spikes on a link.
#[derive(Clone, Debug)]
pub struct SpikeConfig {
    /// Name of the random stream. Links with the same name in a run have the same spikes.
    pub name: String,
    pub holds: HoldsAt,
    pub source: SpikeSource,
}

/// Where a spike holds the packets of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldsAt {
    /// The transmitter stands still. Packets that propagate still arrive, a transmission that has
    /// begun ends, and the queue fills.
    Sending,
    /// Packets due at the far end during the spike arrive together at its end, in order.
    Arriving,
}

/// The time from `start` to `end`, without `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    pub start: Instant,
    /// When the held packets are released; [`Instant::NEVER`] if the spike never ends.
    pub end: Instant,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SpikeSource {
    /// Spikes at given times, in order and apart.
    Listed(Vec<Span>),
    /// Endless random spikes.
    Drawn(DrawnSpikes),
}

/// Random spikes. Draws come in this order: first, length, interval, length, interval, and so on.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnSpikes {
    /// Start of the first spike, from the beginning of the run.
    pub first: Draw,
    /// Length of each spike.
    pub length: Draw,
    pub interval: Draw,
    pub measured: Measured,
}

/// Where an interval between spikes begins and ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measured {
    /// From a start to the next start. A spike that starts within another is merged with it: both
    /// end at the later end. The next interval counts from its own start.
    StartToStart,
    /// From an end to the next start.
    EndToStart,
}

impl SpikeConfig {
    /// Refuses settings that are out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.source.check("spike")
    }
}

impl SpikeSource {
    /// Checks the settings of a table of this name.
    pub(crate) fn check(&self, table: &str) -> Result<(), ConfigError> {
        match self {
            Self::Listed(spans) => {
                let key = format!("{table}.at");
                for span in spans {
                    ConfigError::unless(span.start < span.end, &key, || {
                        format!("one from {:?} to {:?}; allowed: an end after its start", span.start, span.end)
                    })?;
                }
                match spans.windows(2).find(|pair| pair[0].end > pair[1].start) {
                    None => Ok(()),
                    Some(pair) => ConfigError::unless(false, &key, || {
                        let (end, start) = (pair[0].end, pair[1].start);
                        format!("one starts at {start:?}, before the one listed earlier ends, {end:?}")
                    }),
                }
            }
            Self::Drawn(drawn) => drawn.check(table),
        }
    }
}

impl DrawnSpikes {
    fn check(&self, table: &str) -> Result<(), ConfigError> {
        self.first.check(&format!("{table}.first"))?;
        self.length.check(&format!("{table}.length"))?;
        let key = format!("{table}.interval");
        self.interval.check(&key)?;
        // Both rules ensure that a spike ends. Without gaps, each spike would be merged with the
        // next for ever.
        let interval = self.interval.mean_s();
        let long_enough = interval >= SHORTEST_INTERVAL_S;
        ConfigError::unless(long_enough, &key, || {
            format!("the mean is {interval} s; allowed: from {SHORTEST_INTERVAL_S} s")
        })?;
        let length = self.length.mean_s();
        let apart = self.measured == Measured::EndToStart || interval > length;
        ConfigError::unless(apart, &key, || {
            format!("the mean, {interval} s from start to start, is not above the mean length, {length} s")
        })
    }
}

const SHORTEST_INTERVAL_S: f64 = 0.001;

/// The spikes or outages of one source, as far as they have been drawn.
#[derive(Debug)]
pub(crate) struct Schedule {
    name: String,
    /// Known spikes: in order, apart, not empty.
    spans: Vec<Span>,
    /// Index of the first of `spans` that ends after the latest instant looked up.
    current: usize,
    /// Source of later spikes; `None` if all are known.
    drawn: Option<Drawing>,
}

#[derive(Debug)]
struct Drawing {
    spikes: DrawnSpikes,
    stream: Stream,
    /// The spike drawn last. Later spikes may still be merged with it.
    ahead: Span,
}

impl Drawing {
    fn new(spikes: DrawnSpikes, mut stream: Stream) -> Self {
        let start = Instant::ZERO + spikes.first.draw(&mut stream);
        let end = start + spikes.length.draw(&mut stream);
        Self { spikes, stream, ahead: Span { start, end } }
    }

    /// Returns the next spike, merged with those that it touches; `None` at the end of time.
    fn next(&mut self) -> Option<Span> {
        loop {
            let mut whole = self.ahead;
            let mut latest = self.ahead;
            loop {
                let from = match self.spikes.measured {
                    Measured::StartToStart => latest.start,
                    Measured::EndToStart => latest.end,
                };
                // No two spikes start at the same instant, so time advances whatever is drawn.
                let interval = self.spikes.interval.draw(&mut self.stream).max(SHORTEST_STEP);
                let start = from + interval;
                latest = Span { start, end: start + self.spikes.length.draw(&mut self.stream) };
                if start > whole.end || start == Instant::NEVER {
                    break;
                }
                whole.end = whole.end.max(latest.end);
            }
            self.ahead = latest;
            if whole.start == Instant::NEVER {
                return None;
            }
            if whole.start < whole.end {
                return Some(whole);
            }
        }
    }
}

const SHORTEST_STEP: Duration = Duration::from_micros(1);

impl Schedule {
    /// Makes the schedule of a source. `kind` and `name` name its random stream.
    pub(crate) fn new(source: &SpikeSource, (kind, name): (&str, &str), seed: u64) -> Self {
        let (spans, drawn) = match source {
            SpikeSource::Listed(spans) => (spans.clone(), None),
            SpikeSource::Drawn(spikes) => {
                (Vec::new(), Some(Drawing::new(spikes.clone(), Stream::new(seed, &[kind, name]))))
            }
        };
        Self { name: name.to_owned(), spans, current: 0, drawn }
    }

    /// Returns whether a span of the schedule contains `at`. Calls never go back in time.
    pub(crate) fn contains(&mut self, at: Instant) -> bool {
        self.seek(at).is_some_and(|span| span.start <= at)
    }

    /// Draws the next spike; returns `false` if there is none.
    fn draw(&mut self) -> bool {
        let next = self.drawn.as_mut().and_then(Drawing::next);
        if next.is_none() {
            self.drawn = None;
        }
        self.spans.extend(next);
        next.is_some()
    }

    /// Returns the first spike that ends after `at`. Calls never go back in time.
    fn seek(&mut self, at: Instant) -> Option<Span> {
        loop {
            match self.spans.get(self.current).copied() {
                Some(span) if span.end > at => return Some(span),
                Some(_) => self.current += 1,
                None if self.draw() => {}
                None => return None,
            }
        }
    }

    /// Draws all spikes that start by `now`. Returns their number.
    fn know(&mut self, now: Instant) -> usize {
        while self.spans.last().is_none_or(|last| last.start <= now) && self.draw() {}
        self.spans.partition_point(|span| span.start <= now)
    }
}

/// All spikes that hold one place of a link.
#[derive(Debug)]
pub struct Holds {
    schedules: Vec<Schedule>,
    /// The last instant looked up, moved to the end of the spike that held it.
    released: Instant,
    /// No spike holds from `released` up to this instant.
    next: Instant,
}

impl Holds {
    /// Makes the spikes of `configs` that hold at `place`.
    pub fn new(configs: &[SpikeConfig], place: HoldsAt, seed: u64) -> Self {
        let here = configs.iter().filter(|config| config.holds == place);
        let schedules: Vec<_> =
            here.map(|config| Schedule::new(&config.source, ("spike", &config.name), seed)).collect();
        let next = if schedules.is_empty() { Instant::NEVER } else { Instant::ZERO };
        Self { schedules, released: Instant::ZERO, next }
    }

    /// Returns when a packet due at `at` is released: at once outside of spikes, otherwise at the
    /// end of the spike. Calls never go back in time.
    #[inline]
    pub fn release(&mut self, at: Instant) -> Instant {
        // A packet that is due in the same spike as the one before is released with it.
        let at = at.max(self.released);
        if at < self.next { at } else { self.look_up(at) }
    }

    #[cold]
    fn look_up(&mut self, mut at: Instant) -> Instant {
        loop {
            let asked = at;
            self.next = Instant::NEVER;
            if at == Instant::NEVER {
                // Held for ever. Random spikes are not drawn to the end of time.
                self.released = at;
                return at;
            }
            for schedule in &mut self.schedules {
                if let Some(span) = schedule.seek(at) {
                    if span.start <= at {
                        at = span.end;
                    }
                    self.next = self.next.min(span.start);
                }
            }
            if at == asked {
                self.released = at;
                return at;
            }
        }
    }

    /// Returns the start of the next spike. Packets due between the last call and then are not
    /// held.
    pub(crate) fn free_until(&self) -> Instant {
        self.next
    }

    /// Iterates over the sources and their spikes that began by `now`.
    pub fn begun(&mut self, now: Instant) -> impl Iterator<Item = (&str, &[Span])> {
        self.schedules.iter_mut().map(move |schedule| {
            let count = schedule.know(now);
            (schedule.name.as_str(), schedule.spans.get(..count).unwrap_or_default())
        })
    }
}
