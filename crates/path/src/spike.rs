//! Spikes: all packets held for a while, then let go back to back.

use crate::config::ConfigError;
use crate::draw::Draw;
use crate::stream::Stream;
use eifel_base::time::{Duration, Instant};

/// A source of spikes on a link.
#[derive(Clone, Debug)]
pub struct SpikeConfig {
    /// Names its random stream: the same name on several links of a run is the same schedule on each, drawn alike.
    pub name: String,
    /// Where it holds.
    pub holds: HoldsAt,
    /// When.
    pub source: SpikeSource,
}

/// Where a spike holds the packets of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldsAt {
    /// The transmitter stands still: what propagates still arrives, a transmission that has begun is finished, and the
    /// queue fills.
    Sending,
    /// Everything due at the far end during the spike arrives at its end, in order and all at once.
    Arriving,
}

/// From `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first instant that is held.
    pub start: Instant,
    /// When all is let go; [`Instant::NEVER`] for an outage.
    pub end: Instant,
}

/// When spikes come.
#[derive(Clone, Debug)]
pub enum SpikeSource {
    /// At these times, in order, apart from each other.
    Listed(Vec<Span>),
    /// At random, without end.
    Drawn(DrawnSpikes),
}

/// Spikes at random. Drawn in this order: first, length, interval, length, interval, and so on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DrawnSpikes {
    /// When the first one starts, from the beginning of the run.
    pub first: Draw,
    /// How long each is.
    pub length: Draw,
    /// How far apart they are.
    pub interval: Draw,
    /// What the interval is measured between.
    pub measured: Measured,
}

/// What the interval between spikes is measured between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measured {
    /// From a start to the next. One that starts while another holds is one with it: they end together, at the later
    /// of their ends; the interval after it counts from its own start.
    StartToStart,
    /// From an end to the next start.
    EndToStart,
}

impl SpikeConfig {
    /// Whether the settings make sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        match &self.source {
            SpikeSource::Listed(spans) => {
                for span in spans {
                    ConfigError::unless(span.start < span.end, "spike.at", || {
                        format!("a spike from {:?} to {:?}; allowed: an end after its start", span.start, span.end)
                    })?;
                }
                match spans.windows(2).find(|pair| pair[0].end > pair[1].start) {
                    None => Ok(()),
                    Some(pair) => ConfigError::unless(false, "spike.at", || {
                        let (end, start) = (pair[0].end, pair[1].start);
                        format!("a spike starts at {start:?}, before the one listed earlier ends, {end:?}")
                    }),
                }
            }
            SpikeSource::Drawn(drawn) => drawn.check(),
        }
    }
}

impl DrawnSpikes {
    fn check(&self) -> Result<(), ConfigError> {
        self.first.check("spike.first")?;
        self.length.check("spike.length")?;
        self.interval.check("spike.interval")?;
        // Both rules see to it that a spike comes to an end: without a gap now and then, one would be merged with the
        // next for ever.
        let interval = self.interval.mean_s();
        let long_enough = interval >= SHORTEST_INTERVAL_S;
        ConfigError::unless(long_enough, "spike.interval", || {
            format!("the mean is {interval} s; allowed: from {SHORTEST_INTERVAL_S} s")
        })?;
        let length = self.length.mean_s();
        let apart = self.measured == Measured::EndToStart || interval > length;
        ConfigError::unless(apart, "spike.interval", || {
            format!("the mean, {interval} s from start to start, is not above the mean length, {length} s")
        })
    }
}

const SHORTEST_INTERVAL_S: f64 = 0.001;

/// The spikes of one source, drawn as far as somebody has looked.
#[derive(Debug)]
struct Schedule {
    name: String,
    /// What is known: in order, apart, none empty.
    spans: Vec<Span>,
    /// The first of `spans` that ends after the latest instant asked about.
    current: usize,
    /// Where the later ones come from; `None` if all are known.
    drawn: Option<Drawing>,
}

#[derive(Debug)]
struct Drawing {
    spikes: DrawnSpikes,
    stream: Stream,
    /// Drawn, but not yet known to be apart from what follows.
    ahead: Span,
}

impl Drawing {
    fn new(spikes: DrawnSpikes, mut stream: Stream) -> Self {
        let start = Instant::ZERO + spikes.first.draw(&mut stream);
        let end = start + spikes.length.draw(&mut stream);
        Self { spikes, stream, ahead: Span { start, end } }
    }

    /// The next spike that is apart from what follows it; `None` when time is at its end.
    fn next(&mut self) -> Option<Span> {
        loop {
            let mut whole = self.ahead;
            let mut latest = self.ahead;
            loop {
                let from = match self.spikes.measured {
                    Measured::StartToStart => latest.start,
                    Measured::EndToStart => latest.end,
                };
                // Two spikes never start at one instant: time goes on, whatever is drawn.
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
    fn new(config: &SpikeConfig, seed: u64) -> Self {
        let (spans, drawn) = match &config.source {
            SpikeSource::Listed(spans) => (spans.clone(), None),
            SpikeSource::Drawn(spikes) => {
                let stream = Stream::new(seed, &["spike", &config.name]);
                (Vec::new(), Some(Drawing::new(*spikes, stream)))
            }
        };
        Self { name: config.name.clone(), spans, current: 0, drawn }
    }

    /// Adds the next spike to what is known; false if there is none.
    fn draw(&mut self) -> bool {
        let next = self.drawn.as_mut().and_then(Drawing::next);
        if next.is_none() {
            self.drawn = None;
        }
        self.spans.extend(next);
        next.is_some()
    }

    /// The first spike that ends after `at`, which never goes back.
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

    /// How many have started by `now`; these are known then.
    fn know(&mut self, now: Instant) -> usize {
        while self.spans.last().is_none_or(|last| last.start <= now) && self.draw() {}
        self.spans.partition_point(|span| span.start <= now)
    }
}

/// All spikes that hold one place of a link.
#[derive(Debug)]
pub struct Holds {
    schedules: Vec<Schedule>,
    /// What was looked up last and found free: the end of the last spike, if that held something.
    released: Instant,
    /// Nothing holds from `released` up to here.
    next: Instant,
}

impl Holds {
    /// Those of `configs` that hold at `place`.
    pub fn new(configs: &[SpikeConfig], place: HoldsAt, seed: u64) -> Self {
        let here = configs.iter().filter(|config| config.holds == place);
        let schedules: Vec<_> = here.map(|config| Schedule::new(config, seed)).collect();
        let next = if schedules.is_empty() { Instant::NEVER } else { Instant::ZERO };
        Self { schedules, released: Instant::ZERO, next }
    }

    /// Whether there is anything that could ever hold.
    pub(crate) fn may_hold(&self) -> bool {
        !self.schedules.is_empty()
    }

    /// When what is due at `at` is let go: `at` itself outside spikes, otherwise the end of the spike. The instants
    /// asked about never go back.
    #[inline]
    pub fn release(&mut self, at: Instant) -> Instant {
        // What is due in the spike that held the one before is let go with it.
        let at = at.max(self.released);
        if at < self.next { at } else { self.look_up(at) }
    }

    #[cold]
    fn look_up(&mut self, mut at: Instant) -> Instant {
        loop {
            let asked = at;
            self.next = Instant::NEVER;
            if at == Instant::NEVER {
                // Held for ever; drawn spikes are not followed that far.
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

    /// Nothing holds what is due before then, and not before what was asked about last.
    pub(crate) fn free_until(&self) -> Instant {
        self.next
    }

    /// The spikes that have started by `now`, by source.
    pub fn begun(&mut self, now: Instant) -> impl Iterator<Item = (&str, &[Span])> {
        self.schedules.iter_mut().map(move |schedule| {
            let count = schedule.know(now);
            (schedule.name.as_str(), schedule.spans.get(..count).unwrap_or_default())
        })
    }
}
