//! Bounds the time and the events that a scenario needs if nothing is wrong.
//!
//! The bounds assume the worst luck that the path allows. They depend on the scenario alone, so
//! they also hold for a scenario that is being shrunk.

use eifel_base::time::{Duration, Instant};
use eifel_path::config::Capacity;
use eifel_path::draw::Draw;
use eifel_path::element::ElementConfig;
use eifel_path::spike::SpikeSource;
use eifel_recovery::engine;
use eifel_recovery::registry::{Choice, Kind, Seam, Value, Weakness};
use eifel_sim::scenario::{Amount, Association, Connection, Link, Scenario, StreamApplication, Traffic};
use eifel_tcp::Settings;
use eifel_tcp::settings::{OutOfOrderAck, SendKind};

/// The bounds of a scenario.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// When every flow must be over. `None` if the path never heals, so that no end can be asked
    /// for.
    pub until: Option<Duration>,
    /// The most events that the run may take.
    pub events: u64,
    /// Whether every flow must complete: no flow is stopped, and no end may give up.
    pub completes: bool,
}

/// An end that allows more consecutive timeouts than this never gives up; no case has that many.
const NEVER_GIVES_UP: u32 = 1000;
/// Bytes of the timestamps option in a segment.
const TIMESTAMPS: u16 = 12;
/// The most bytes of options in a segment, and the payload that SACK blocks beside data leave.
const OPTIONS: u16 = 40;
const LEAST_BESIDE_SACK: u16 = 8;
/// Bytes before the user data in an SCTP packet: IPv6, the common header, a timestamp chunk, and
/// the DATA header.
const PACKET_HEADERS: u32 = 80;
/// No case lasts this long. With a longer TIME-WAIT, neither end is gone while the other still
/// retransmits.
const WAITS_LONG: Duration = Duration::from_secs(500_000);

/// Returns the bounds of a scenario.
pub fn of(scenario: &Scenario) -> Bounds {
    let heals_s = scenario.links.iter().map(heals_s).fold(0.0, f64::max);
    let round_trip_s: f64 = scenario.links.iter().map(|link| longest_delay_s(link) + longest_pause_s(link)).sum();
    let mut bound = Bound { seconds: heals_s, ..Bound::default() };
    let mut completes = true;
    for flow in &scenario.flows {
        bound.seconds += flow.start.mean_s();
        if let Traffic::Messages { application, association } = &flow.traffic {
            bound.add_messages(application, association, round_trip_s);
            completes &= flow.end.is_none()
                && association.settings.iter().all(|settings| {
                    settings.association_max_retransmits.min(settings.max_init_retransmits) > NEVER_GIVES_UP
                });
        }
        let Traffic::Stream { application, connection } = &flow.traffic else { continue };
        bound.add(application, connection, round_trip_s);
        if let Some(end) = flow.end {
            // A stopped flow ends with its connection. A connection without segments that close it
            // never ends.
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
    // Flows share the links. A path with recurring pauses stretches all times.
    let slowest = scenario.links.iter().map(seconds_a_byte).fold(0.0, f64::max);
    let pauses = scenario.links.iter().map(pauses).fold(1.0, f64::max);
    let seconds = (bound.seconds + bound.bytes * slowest) * pauses;
    let until = seconds.is_finite().then(|| Duration::from_secs_f64(seconds));
    Bounds { until, events: bound.events as u64, completes }
}

/// Returns the settings and the algorithms of both ends.
fn ends(connection: &Connection) -> [(&Settings, &engine::Config); 2] {
    [(&connection.settings, &connection.sender), (&connection.answering_settings, &connection.answering_sender)]
}

/// Returns the seconds that a scenario may take, rounded up. `None` if no end can be asked for.
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
        let (writes, bytes, thinking_s) = work(application);
        let (readings, reading_s) = match &connection.reading {
            Some(reading) => (bytes / reading.bytes as f64 + 2.0 * writes, longest_s(&reading.every)),
            None => (0.0, 0.0),
        };
        // SYN and FIN take segments, and each write takes at least one more. A window opens by half
        // of itself or by a segment.
        let [mss, answering] = ends(connection).map(|(own, _)| own.mss);
        let mut payload = mss.min(answering).saturating_sub(TIMESTAMPS).max(1);
        if ends(connection).iter().any(|(own, _)| own.acks.out_of_order == OutOfOrderAck::WithData) {
            payload = payload.min(mss.min(answering).saturating_sub(OPTIONS).max(LEAST_BESIDE_SACK));
        }
        // The sender can empty at most its whole send buffer at once.
        let steps = ends(connection).map(|(own, _)| {
            let buffer = if let SendKind::CountedUpTo { buffer } = own.send { buffer as f64 } else { f64::INFINITY };
            f64::from(own.receive_window / 2).min(buffer).clamp(1.0, f64::from(payload))
        });
        let step = steps[0].min(steps[1]);
        let step = connection.reading.as_ref().map_or(step, |reading| step.min(reading.bytes as f64).max(1.0));
        let segments = 4.0 + 2.0 * writes + bytes / step;
        let longer = |of: &dyn Fn(&Settings, &engine::Config) -> f64| {
            ends(connection).map(|(settings, sender)| of(settings, sender)).into_iter().fold(0.0, f64::max)
        };
        let delay_s = longer(&|settings, _| {
            let offload = settings.acks.gro.map_or(Duration::ZERO, |gro| gro.wait);
            (settings.acks.delay + offload).as_secs_f64()
        });
        let timeout_s = longer(&|_, sender| longest_timeout_s(sender));
        let timeouts = longer(&|_, sender| timeouts_a_segment(sender));
        self.seconds += segments * 4.0 * (round_trip_s + delay_s) + thinking_s + 4.0 * readings * reading_s;
        self.seconds += (20.0 + segments * timeouts) * timeout_s;
        self.bytes += 40.0 * (bytes + 100.0 * segments);
        self.events += (500.0 + 100.0 * segments + 20.0 * readings)
            * storms(ends(connection).map(|(_, sender)| sender), round_trip_s);
    }

    fn add_messages(&mut self, application: &StreamApplication, association: &Association, round_trip_s: f64) {
        let (writes, bytes, thinking_s) = work(application);
        let (readings, reading_s) = match &association.reading {
            Some(reading) => (bytes / reading.bytes as f64 + 2.0 * writes, longest_s(&reading.every)),
            None => (0.0, 0.0),
        };
        let [from, to] = &association.settings;
        let least = |of: &dyn Fn(&eifel_sctp::Settings) -> f64| of(from).min(of(to));
        let most = |of: &dyn Fn(&eifel_sctp::Settings) -> f64| of(from).max(of(to));
        let message = f64::from(association.message_bytes[0].min(association.message_bytes[1]));
        let step = least(&|own| f64::from(own.pmtu - PACKET_HEADERS)).min(message);
        let step = association.reading.as_ref().map_or(step, |reading| step.min(reading.bytes as f64).max(1.0));
        // The handshake and the shutdown take chunks, and each write takes at least one more.
        let chunks = 10.0 + 2.0 * writes + bytes / step;
        let delay_s = most(&|own| own.sack_delay.as_secs_f64());
        let timeout_s = most(&|own| longest_timeout_s(&own.engine.path));
        self.seconds += chunks * 4.0 * (round_trip_s + delay_s) + thinking_s + 4.0 * readings * reading_s;
        self.seconds += (20.0 + chunks) * timeout_s;
        // Probes of a closed window and HEARTBEATs take bytes as well.
        self.bytes += 40.0 * (bytes + 100.0 * chunks);
        let needless = storms([&from.engine.path, &to.engine.path], round_trip_s);
        self.events += (500.0 + 200.0 * chunks + 20.0 * readings) * needless + 20.0 * self.seconds;
    }
}

/// Returns the number of writes, the bytes, and the seconds of thinking of an application.
fn work(application: &StreamApplication) -> (f64, f64, f64) {
    match application {
        StreamApplication::Bulk { bytes } => (1.0, bytes.as_ref().map_or(u64::MAX as f64, most_bytes), 0.0),
        StreamApplication::Exchange { bytes, back_bytes } => (1.0, (bytes + back_bytes) as f64, 0.0),
        StreamApplication::Messages { bytes, interval, count } => {
            let count = count.map_or(f64::INFINITY, f64::from);
            (count, count * f64::from(*bytes), 4.0 * count * longest_s(interval))
        }
        StreamApplication::RequestResponse { requests, request_bytes, response_bytes, think } => {
            let requests = f64::from(*requests);
            let bytes = requests * (most_bytes(request_bytes) + most_bytes(response_bytes));
            (requests, bytes, 4.0 * requests * longest_s(think))
        }
    }
}

/// Returns the timeouts per segment of an unlucky sender.
fn timeouts_a_segment(sender: &engine::Config) -> f64 {
    // With a window of two or three segments over a queue of one, each window loses a segment.
    // Karn's algorithm then leaves no round trip to measure.
    if has(sender, Weakness::ATimeoutASegment) { 1.0 } else { 0.5 }
}

/// Returns whether one of the sender's algorithms has this weakness.
fn has(sender: &engine::Config, weakness: Weakness) -> bool {
    let chosen = [(Seam::Detect, &sender.detect), (Seam::Recover, &sender.recover)];
    chosen.iter().filter_map(|(seam, choice)| seam.entry(&choice.name)).any(|entry| entry.weakness == Some(weakness))
}

/// Returns the factor by which needless retransmissions can multiply the events.
fn storms(senders: [&engine::Config; 2], round_trip_s: f64) -> f64 {
    let storms = senders.into_iter().any(|sender| has(sender, Weakness::StormsWithoutDelay));
    if storms && round_trip_s == 0.0 { 1000.0 } else { 1.0 }
}

/// Returns the second after which only endless disturbances remain on the link. Infinite if there
/// is none.
fn heals_s(link: &Link) -> f64 {
    let config = &link.config;
    let seconds = |instant: Instant| if instant == Instant::NEVER { f64::INFINITY } else { instant.as_secs_f64() };
    let mut heals = 0.0_f64;
    for element in &config.elements {
        heals = heals.max(match element {
            // Each dropped copy costs a timeout, counted as two seconds.
            ElementConfig::ListedDrops(drops) => drops.iter().map(|drop| 2.0 * f64::from(drop.copies)).sum::<f64>(),
            ElementConfig::Reorder(reorder) => seconds(config.elements_until) + reorder.longest_wait.as_secs_f64(),
            ElementConfig::Late(late) => seconds(config.elements_until) + longest_s(&late.late),
            ElementConfig::Jitter(jitter) => seconds(config.elements_until) + longest_s(&jitter.delay),
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

/// Returns the factor by which endless spikes stretch all times.
fn pauses(link: &Link) -> f64 {
    let drawn = link.config.spikes.iter().filter_map(|spike| match &spike.source {
        SpikeSource::Drawn(drawn) => Some(4.0 + longest_s(&drawn.length)),
        SpikeSource::Listed(_) => None,
    });
    drawn.fold(1.0, |stretch, more| stretch + more)
}

/// Returns the longest propagation delay that the link ever has.
fn longest_delay_s(link: &Link) -> f64 {
    let changes = link.config.delay_changes.iter().map(|change| change.delay);
    changes.fold(link.config.delay, Duration::max).as_secs_f64()
}

/// Returns the longest wait of a packet at an idle link, in seconds.
fn longest_pause_s(link: &Link) -> f64 {
    match &link.config.capacity {
        Capacity::Trace(trace) => trace.lap().as_secs_f64(),
        Capacity::Unlimited | Capacity::Rate { .. } => 0.0,
    }
}

/// Returns the seconds per byte after the link's last change of rate.
fn seconds_a_byte(link: &Link) -> f64 {
    match &link.config.capacity {
        Capacity::Unlimited => 0.0,
        Capacity::Rate { rate, changes } => 8.0 / changes.last().map_or(*rate, |last| last.rate).as_bps() as f64,
        Capacity::Trace(trace) => 8.0 / trace.mean_rate().as_bps() as f64,
    }
}

/// Returns a number of bytes that the amount hardly ever exceeds.
fn most_bytes(amount: &Amount) -> f64 {
    longest_s(amount.distribution())
}

fn longest_s(draw: &Draw) -> f64 {
    match *draw {
        Draw::Constant { value_s } => value_s,
        Draw::Uniform { high_s, .. } => high_s,
        Draw::Listed { ref values_s } => values_s.iter().copied().fold(0.0, f64::max),
        ref other => 10.0 * other.mean_s(),
    }
}

/// Returns the longest time among the parameters of these algorithms, at least a minute. Timers
/// back off to at most this time.
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
