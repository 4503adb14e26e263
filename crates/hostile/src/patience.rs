//! How long a scenario may take, and how many events, if nothing is wrong: the liveness that is asked for.
//!
//! The bound is what a sender needs that has the worst luck the path allows: it is read off the scenario alone, so that
//! a scenario that is being shrunk keeps being held to it.

use eifel_base::time::{Duration, Instant};
use eifel_path::config::Capacity;
use eifel_path::draw::Draw;
use eifel_path::element::ElementConfig;
use eifel_path::spike::SpikeSource;
use eifel_recovery::engine;
use eifel_recovery::registry::{Choice, Kind, Seam, Value, Weakness};
use eifel_sim::scenario::{Connection, Link, Scenario, StreamApplication, Traffic};
use eifel_tcp::Settings;
use eifel_tcp::settings::SendKind;

/// What may be asked of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Patience {
    /// When every flow is over at the latest; `None` where the path disturbs for ever, so that nothing can be asked.
    pub until: Option<Duration>,
    /// So many events are enough.
    pub events: u64,
    /// Whether every flow has to be completed: none is stopped, and no end gives up.
    pub completes: bool,
}

/// Consecutive timeouts that no case lives through: an end that bears more than these never gives up.
const NEVER_GIVES_UP: u32 = 1000;
/// What the timestamps option takes of a segment, if it is agreed on.
const TIMESTAMPS: u16 = 12;
/// As long in TIME-WAIT as no case lasts: no end is gone while the other still asks.
const WAITS_LONG: Duration = Duration::from_secs(500_000);

/// What may be asked of this scenario.
pub fn of(scenario: &Scenario) -> Patience {
    let heals_s = scenario.links.iter().map(heals_s).fold(0.0, f64::max);
    let round_trip_s: f64 =
        scenario.links.iter().map(|link| link.config.delay.as_secs_f64() + longest_pause_s(link)).sum();
    let mut bound = Bound { seconds: heals_s, ..Bound::default() };
    let mut completes = true;
    for flow in &scenario.flows {
        let Traffic::Stream { application, connection } = &flow.traffic else { continue };
        bound.add(application, connection, round_trip_s);
        bound.seconds += flow.start.mean_s();
        if let Some(end) = flow.end {
            // What is stopped is over when its connection is, and one that nothing closes is never.
            let [opener, answerer] = ends(connection).map(|(settings, _)| settings.time_wait.as_secs_f64());
            let closes_s = if connection.opening.by_segments() { opener.max(answerer) } else { f64::INFINITY };
            bound.seconds += end.as_secs_f64() + closes_s;
        }
        completes &= flow.end.is_none()
            && ends(connection).iter().all(|(settings, _)| {
                let give_up = &settings.give_up;
                give_up.user_timeout.is_none()
                    && give_up.timeouts.min(give_up.handshake_timeouts) > NEVER_GIVES_UP
                    && settings.time_wait > WAITS_LONG
            });
    }
    // Flows share the links; and a path that stands still now and then makes everything take longer.
    let slowest = scenario.links.iter().map(seconds_a_byte).fold(0.0, f64::max);
    let pauses = scenario.links.iter().map(pauses).fold(1.0, f64::max);
    let seconds = (bound.seconds + bound.bytes * slowest) * pauses;
    let until = seconds.is_finite().then(|| Duration::from_secs_f64(seconds));
    Patience { until, events: bound.events as u64, completes }
}

/// Settings and algorithms of both ends.
fn ends(connection: &Connection) -> [(&Settings, &engine::Config); 2] {
    [(&connection.settings, &connection.sender), (&connection.answering_settings, &connection.answering_sender)]
}

/// The whole seconds that the scenario of this text may take; `None` if nothing can be asked of it.
pub fn seconds(text: &str) -> Option<i64> {
    let scenario = Scenario::parse(text, "case.toml".as_ref()).ok()?;
    Some(of(&scenario).until?.as_secs_f64().ceil() as i64)
}

/// Sums over the flows.
#[derive(Default)]
struct Bound {
    seconds: f64,
    bytes: f64,
    events: f64,
}

impl Bound {
    fn add(&mut self, application: &StreamApplication, connection: &Connection, round_trip_s: f64) {
        let (writes, bytes, thinking_s) = match application {
            StreamApplication::Bulk { bytes } => (1.0, bytes.unwrap_or(u64::MAX) as f64, 0.0),
            StreamApplication::Exchange { bytes, back_bytes } => (1.0, (bytes + back_bytes) as f64, 0.0),
            StreamApplication::RequestResponse { requests, request_bytes, response_bytes, think } => {
                let requests = f64::from(*requests);
                (requests, requests * (request_bytes + response_bytes) as f64, 4.0 * requests * longest_s(think))
            }
        };
        let (readings, reading_s) = match &connection.reading {
            Some(reading) => (bytes / reading.bytes as f64 + 2.0 * writes, longest_s(&reading.every)),
            None => (0.0, 0.0),
        };
        // Beside the SYN and the FIN, a segment a write at least; a window opens by half of itself, or by a segment.
        let [mss, answering] = ends(connection).map(|(own, _)| own.mss);
        let payload = mss.min(answering).saturating_sub(TIMESTAMPS).max(1);
        // What the send buffer holds goes out at once at the most.
        let steps = ends(connection).map(|(own, _)| {
            let buffer = if let SendKind::CountedUpTo { buffer } = own.send { buffer as f64 } else { f64::INFINITY };
            f64::from(own.receive_window / 2).min(buffer).clamp(1.0, f64::from(payload))
        });
        let step = steps[0].min(steps[1]);
        let step = connection.reading.map_or(step, |reading| step.min(reading.bytes as f64).max(1.0));
        let segments = 4.0 + 2.0 * writes + bytes / step;
        let longer = |of: &dyn Fn(&Settings, &engine::Config) -> f64| {
            ends(connection).map(|(settings, sender)| of(settings, sender)).into_iter().fold(0.0, f64::max)
        };
        let delay_s = longer(&|settings, _| settings.acks.delay.as_secs_f64());
        let timeout_s = longer(&|_, sender| longest_timeout_s(sender));
        let timeouts = longer(&|_, sender| timeouts_a_segment(sender));
        self.seconds += segments * 4.0 * (round_trip_s + delay_s) + thinking_s + 4.0 * readings * reading_s;
        self.seconds += (20.0 + segments * timeouts) * timeout_s;
        self.bytes += 40.0 * (bytes + 100.0 * segments);
        self.events += (500.0 + 100.0 * segments + 20.0 * readings) * storms(connection, round_trip_s);
    }
}

/// How many timeouts at the longest a sender with bad luck has for each segment.
fn timeouts_a_segment(sender: &engine::Config) -> f64 {
    // A window of two or three segments over a queue of one loses one each time, and Karn's rule leaves no round trip to
    // measure.
    if has(sender, Weakness::ATimeoutASegment) { 1.0 } else { 0.5 }
}

/// Whether an algorithm of the sender has this weakness.
fn has(sender: &engine::Config, weakness: Weakness) -> bool {
    let chosen = [(Seam::Detect, &sender.detect), (Seam::Recover, &sender.recover)];
    chosen.iter().filter_map(|(seam, choice)| seam.entry(&choice.name)).any(|entry| entry.weakness == Some(weakness))
}

/// The factor by which needless retransmissions multiply the events.
fn storms(connection: &Connection, round_trip_s: f64) -> f64 {
    let storms = ends(connection).iter().any(|(_, sender)| has(sender, Weakness::StormsWithoutDelay));
    if storms && round_trip_s == 0.0 { 1000.0 } else { 1.0 }
}

/// From when on a link does nothing that it could not do for ever; infinite if it never is so.
fn heals_s(link: &Link) -> f64 {
    let config = &link.config;
    let seconds = |instant: Instant| if instant == Instant::NEVER { f64::INFINITY } else { instant.as_secs_f64() };
    let mut heals = 0.0_f64;
    for element in &config.elements {
        heals = heals.max(match element {
            // So many copies of so many segments: a timeout for each.
            ElementConfig::ListedDrops(drops) => drops.iter().map(|drop| 2.0 * f64::from(drop.copies)).sum::<f64>(),
            ElementConfig::Reorder(reorder) => seconds(config.elements_until) + reorder.longest_wait.as_secs_f64(),
            _ => seconds(config.elements_until),
        });
    }
    if let Capacity::Rate { changes, .. } = &config.capacity {
        heals = changes.last().map_or(heals, |last| heals.max(seconds(last.at)));
    }
    for spike in &config.spikes {
        heals = heals.max(match &spike.source {
            SpikeSource::Listed(spans) => spans.last().map_or(0.0, |last| seconds(last.end)),
            SpikeSource::Drawn(drawn) => longest_s(&drawn.first),
        });
    }
    heals
}

/// By how much spikes that go on for ever stretch time.
fn pauses(link: &Link) -> f64 {
    let drawn = link.config.spikes.iter().filter_map(|spike| match &spike.source {
        SpikeSource::Drawn(drawn) => Some(4.0 + longest_s(&drawn.length)),
        SpikeSource::Listed(_) => None,
    });
    drawn.fold(1.0, |stretch, more| stretch + more)
}

/// How long a packet may wait at a link although nothing is before it.
fn longest_pause_s(link: &Link) -> f64 {
    match &link.config.capacity {
        Capacity::Trace(trace) => trace.lap().as_secs_f64(),
        Capacity::Unlimited | Capacity::Rate { .. } => 0.0,
    }
}

/// How long a link takes for a byte once its last change of rate is past.
fn seconds_a_byte(link: &Link) -> f64 {
    match &link.config.capacity {
        Capacity::Unlimited => 0.0,
        Capacity::Rate { rate, changes } => 8.0 / changes.last().map_or(*rate, |last| last.rate).as_bps() as f64,
        Capacity::Trace(trace) => 8.0 / trace.mean_rate().as_bps() as f64,
    }
}

/// As long as a drawn time will ever be, or nearly.
fn longest_s(draw: &Draw) -> f64 {
    match *draw {
        Draw::Constant { value_s } => value_s,
        Draw::Uniform { high_s, .. } => high_s,
        ref other => 10.0 * other.mean_s(),
    }
}

/// The longest time that any parameter of these algorithms names, a minute at least: what a timer is backed off to.
fn longest_timeout_s(sender: &engine::Config) -> f64 {
    let chosen = [(Seam::Rto, &sender.rto), (Seam::AfterSpurious, &sender.after_spurious)];
    let times = chosen.into_iter().flat_map(|(seam, choice)| times_s(seam, choice));
    times.fold(60.0, f64::max)
}

fn times_s(seam: Seam, choice: &Choice) -> Vec<f64> {
    let parameters = seam.entry(&choice.name).map_or(&[][..], |entry| entry.parameters);
    let time = |(name, default): (&str, Duration)| {
        let set = choice.parameters.iter().rev().find(|(set, _)| set == name).map(|(_, value)| value);
        match set {
            Some(Value::Duration(set)) => set.as_secs_f64(),
            _ => default.as_secs_f64(),
        }
    };
    parameters
        .iter()
        .filter_map(|parameter| match parameter.kind {
            Kind::Milliseconds { default, .. } => Some(time((parameter.name, default))),
            _ => None,
        })
        .collect()
}
