//! The scenarios in which claims about honest ends are tested: paths combined with flows.
//!
//! A scenario is a list of numbers from 0 to 1, one for each of its properties ([`Gene`]). 0 is the
//! plain choice: no loss, no reordering, no spike. So a search can change or simplify a property
//! without knowledge of the scenario format. [`Field::scenario`] makes a scenario from the numbers.

use eifel_path::stream::Stream;
use toml::{Table, Value};

use crate::climb::Candidate;

/// The properties of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
#[repr(usize)]
pub enum Gene {
    Rate,
    Delay,
    DelayBack,
    Queue,
    Window,
    Loss,
    LossInBursts,
    Reorder,
    ReorderLength,
    ReorderWait,
    Duplicate,
    RateBack,
    LossBack,
    ReorderBack,
    ReorderBackLength,
    DuplicateBack,
    Spike,
    SpikeLength,
    SpikeInterval,
    SpikeLinks,
    SpikeHolds,
    TwoWay,
    SlowReader,
    AckEvery,
    AckDelay,
    Timer,
    Recovery,
    Cubic,
    Paced,
    Timestamps,
    Neighbour,
}

impl Gene {
    const ALL: [Self; 31] = [
        Self::Rate,
        Self::Delay,
        Self::DelayBack,
        Self::Queue,
        Self::Window,
        Self::Loss,
        Self::LossInBursts,
        Self::Reorder,
        Self::ReorderLength,
        Self::ReorderWait,
        Self::Duplicate,
        Self::RateBack,
        Self::LossBack,
        Self::ReorderBack,
        Self::ReorderBackLength,
        Self::DuplicateBack,
        Self::Spike,
        Self::SpikeLength,
        Self::SpikeInterval,
        Self::SpikeLinks,
        Self::SpikeHolds,
        Self::TwoWay,
        Self::SlowReader,
        Self::AckEvery,
        Self::AckDelay,
        Self::Timer,
        Self::Recovery,
        Self::Cubic,
        Self::Paced,
        Self::Timestamps,
        Self::Neighbour,
    ];
}

/// A scenario as numbers from 0 to 1, by [`Gene`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place([f64; Gene::ALL.len()]);

/// The extent of a field of scenarios.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Whether some connections have no timestamps.
    pub without_timestamps: bool,
    /// Whether some flows have a neighbour over the same path.
    pub neighbours: bool,
    /// The pacing of senders that pace; `None` if no sender paces.
    pub pace: Option<&'static str>,
    /// Whether all flows have the profile `linux`. It then decides timer, loss recovery, congestion
    /// control, pacing and delayed ACKs, in place of the scenario's numbers.
    pub linux: bool,
}

const LOSS_RECOVERY: [&str; 6] = ["rfc6675", "rack-tlp", "newreno-sack", "fack", "reno-sack", "newreno"];
const TIMERS: [&str; 3] = ["rfc6298", "linux", "rfc6298 from 200 ms"];
/// Width of the range, centred on a number, from which a small change of the number is drawn.
const NUDGE: f64 = 0.2;
/// Bytes of a full packet on a link.
const PACKET_BYTES: f64 = 1500.0;
/// Maximum number of packets of a run: some tens of milliseconds of computing.
const MOST_PACKETS: f64 = 30_000.0;

impl Place {
    /// The plainest scenario.
    pub const PLAIN: Self = Self([0.0; Gene::ALL.len()]);

    /// Returns the scenario with this property set.
    #[must_use]
    pub fn with(&self, gene: Gene, number: f64) -> Self {
        let mut with = *self;
        with.0[gene as usize] = number;
        with
    }

    fn at(&self, gene: Gene) -> f64 {
        self.0[gene as usize]
    }

    /// Returns whether the scenario has a property that a share `absent` of all scenarios lacks.
    fn has(&self, gene: Gene, absent: f64) -> bool {
        self.at(gene) >= absent
    }

    /// Returns how strong a property is, from 0 to 1; `None` in a share `absent` of all scenarios.
    fn strength(&self, gene: Gene, absent: f64) -> Option<f64> {
        self.has(gene, absent).then(|| (self.at(gene) - absent) / (1.0 - absent))
    }

    fn one<'a, T>(&self, gene: Gene, of: &'a [T]) -> &'a T {
        &of[((self.at(gene) * of.len() as f64) as usize).min(of.len() - 1)]
    }

    /// Returns a number between `low` and `high`, on a logarithmic scale.
    fn scale(&self, gene: Gene, low: f64, high: f64) -> f64 {
        scaled(self.at(gene), low, high)
    }
}

impl Candidate for Place {
    fn draw(stream: &mut Stream) -> Self {
        Self(Gene::ALL.map(|_| stream.unit()))
    }

    /// Draws one property anew, or changes it a little; sometimes two properties.
    fn changed(&self, stream: &mut Stream) -> Self {
        let mut changed = *self;
        for _ in 0..=stream.below(2) {
            let number = &mut changed.0[stream.below(Gene::ALL.len() as u64) as usize];
            *number = match stream.chance(0.5) {
                true => stream.unit(),
                false => (*number + NUDGE * (stream.unit() - 0.5)).clamp(0.0, 1.0),
            };
        }
        changed
    }

    /// Lists the scenarios in which one more property is plain.
    fn simpler(&self) -> Vec<Self> {
        let plainer = |gene: &Gene| (self.0[*gene as usize] > 0.0).then(|| self.with(*gene, 0.0));
        Gene::ALL.iter().filter_map(plainer).collect()
    }
}

fn scaled(share: f64, low: f64, high: f64) -> f64 {
    let number = libm::exp(libm::log(low) + share * (libm::log(high) - libm::log(low)));
    // Three digits keep the file readable.
    let digit = libm::pow(10.0, libm::floor(libm::log10(number)) - 2.0);
    (number / digit).round() * digit
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

impl Field {
    /// Returns the scenario of a place, without the senders' detection and response.
    pub fn scenario(&self, place: &Place, seed: u64) -> Table {
        let rate = place.scale(Gene::Rate, 200_000.0, 20_000_000.0).round();
        let delay_ms = place.scale(Gene::Delay, 2.0, 250.0);
        let back_ms = if place.has(Gene::DelayBack, 0.5) { place.scale(Gene::DelayBack, 2.0, 250.0) } else { delay_ms };
        let held = (rate * (delay_ms + back_ms) / 8000.0 / PACKET_BYTES).max(1.0);
        let duration_s = (MOST_PACKETS * 8.0 * PACKET_BYTES / rate).clamp(20.0, 60.0).round();
        let mut path = table([("rate_bps", (rate as i64).into()), ("delay_ms", delay_ms.into())]);
        // Jitter of up to a packet's transmission time. Without it, two senders could differ in
        // every run only because their packets meet a short queue in another rhythm (Floyd and
        // Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways").
        let packet_ms = (8000.0 * PACKET_BYTES / rate * 100.0).ceil() / 100.0;
        let wait = table([("uniform", vec![0.0, packet_ms].into())]);
        path.insert("jitter".into(), table([("delay_ms", wait.into())]).into());
        if let Some(share) = place.strength(Gene::Queue, 0.2) {
            let packets = scaled(1.0 - share, 1.0, (3.0 * held).max(4.0)).round() as i64;
            path.insert("queue".into(), table([("kind", "drop-tail".into()), ("packets", packets.into())]).into());
        }
        harm(&mut path, place, &THERE);
        let mut back = table([("delay_ms", back_ms.into())]);
        if let Some(share) = place.strength(Gene::RateBack, 0.6) {
            back.insert("rate_bps".into(), ((rate * scaled(1.0 - share, 0.01, 1.0)) as i64).max(10_000).into());
        }
        harm(&mut back, place, &BACK);
        path.insert("back".into(), back.into());
        let mut top = table([("seed", ((seed >> 1) as i64).into()), ("duration_s", duration_s.into())]);
        top.insert("point_to_point".into(), path.into());
        if let Some(spike) = spike(place) {
            top.insert("spike".into(), vec![Value::from(spike)].into());
        }
        let window = scaled(place.at(Gene::Window), 2.0, (6.0 * held).max(8.0)).round() as i64;
        let mut flows = vec![Value::from(self.flow(place, "main", window))];
        if self.neighbours && place.has(Gene::Neighbour, 0.7) {
            let mut beside = self.flow(place, "beside", window);
            beside.insert("start_s".into(), 0.5.into());
            flows.push(beside.into());
        }
        top.insert("flow".into(), flows.into());
        top
    }

    fn flow(&self, place: &Place, name: &str, window: i64) -> Table {
        let application = match place.has(Gene::TwoWay, 0.8) {
            true => table([
                ("kind", "exchange".into()),
                ("bytes", 1_000_000_000.into()),
                ("back_bytes", 1_000_000_000.into()),
            ]),
            false => table([("kind", "bulk".into()), ("endless", true.into())]),
        };
        let mut tcp = table([("receive_window_segments", window.into()), ("retransmission_marks", "bits".into())]);
        if !self.linux {
            tcp.extend(table([
                ("delayed_ack_every", (*place.one(Gene::AckEvery, &[2_i64, 1, 4])).into()),
                ("delayed_ack_ms", (*place.one(Gene::AckDelay, &[40_i64, 0, 200, 500])).into()),
            ]));
        }
        if self.without_timestamps && place.has(Gene::Timestamps, 0.6) {
            tcp.insert("timestamps".into(), false.into());
        }
        let mut flow = table([
            ("name", name.into()),
            ("from", "sender".into()),
            ("to", "receiver".into()),
            ("handshake", false.into()),
            ("application", application.into()),
        ]);
        if self.linux {
            flow.insert("profile".into(), "linux".into());
        }
        if let Some(share) = place.strength(Gene::SlowReader, 0.85) {
            let every_ms = scaled(share, 5.0, 500.0);
            let bytes = (window * 1448 / 2).max(1);
            flow.insert("reading".into(), table([("bytes", bytes.into()), ("every_ms", every_ms.into())]).into());
        }
        flow.insert("tcp".into(), tcp.into());
        flow.insert("sender".into(), if self.linux { Table::new() } else { self.sender(place) }.into());
        flow
    }

    /// Returns a sender's algorithms without detection and response.
    fn sender(&self, place: &Place) -> Table {
        let rto = match *place.one(Gene::Timer, &TIMERS) {
            "rfc6298 from 200 ms" => table([("name", "rfc6298".into()), ("minimum_ms", 200.into())]).into(),
            name => Value::from(name),
        };
        let mut recover = table([("name", (*place.one(Gene::Recovery, &LOSS_RECOVERY)).into())]);
        if recover["name"].as_str() == Some("rack-tlp") {
            recover.insert("reduction".into(), "prr".into());
        }
        let mut sender = table([("rto", rto), ("recover", recover.into())]);
        sender.insert("congest".into(), if place.has(Gene::Cubic, 0.5) { "cubic" } else { "reno" }.into());
        if let Some(pace) = self.pace.filter(|_| place.has(Gene::Paced, 0.7)) {
            sender.insert("pace".into(), pace.into());
        }
        sender
    }
}

/// The properties of one direction.
struct Way {
    loss: Gene,
    most_loss: f64,
    reorder: Gene,
    length: Gene,
    duplicate: Gene,
}

const THERE: Way = Way {
    loss: Gene::Loss,
    most_loss: 0.1,
    reorder: Gene::Reorder,
    length: Gene::ReorderLength,
    duplicate: Gene::Duplicate,
};
const BACK: Way = Way {
    loss: Gene::LossBack,
    most_loss: 0.4,
    reorder: Gene::ReorderBack,
    length: Gene::ReorderBackLength,
    duplicate: Gene::DuplicateBack,
};

/// Adds loss, reordering and duplication to one direction.
fn harm(link: &mut Table, place: &Place, way: &Way) {
    if let Some(share) = place.strength(way.loss, 0.5) {
        let rate = scaled(share, 0.0005, way.most_loss);
        let loss = match place.has(Gene::LossInBursts, 0.5) {
            true => table([
                ("kind", "gilbert-elliott".into()),
                ("good_to_bad", (rate / 4.0).into()),
                ("bad_to_good", 0.25.into()),
            ]),
            false => table([("kind", "random".into()), ("rate", rate.into())]),
        };
        link.insert("loss".into(), loss.into());
    }
    if let Some(share) = place.strength(way.reorder, 0.5) {
        let reorder = table([
            ("rate", scaled(share, 0.001, 0.2).into()),
            ("length", (place.scale(way.length, 1.0, 30.0).round() as i64).into()),
            ("longest_wait_s", place.scale(Gene::ReorderWait, 0.01, 5.0).into()),
        ]);
        link.insert("reorder".into(), reorder.into());
    }
    if let Some(share) = place.strength(way.duplicate, 0.75) {
        link.insert("duplicate".into(), table([("rate", scaled(share, 0.001, 0.3).into())]).into());
    }
}

fn spike(place: &Place) -> Option<Table> {
    let share = place.strength(Gene::Spike, 0.4)?;
    let both = ["bottleneck", "bottleneck-back"];
    let links = *place.one(Gene::SpikeLinks, &[&both[..], &both[..1], &both[1..]]);
    let longest = place.scale(Gene::SpikeLength, 0.03, 10.0);
    let interval = place.scale(Gene::SpikeInterval, 0.3, 15.0);
    let range = |low: f64, high: f64| Value::from(table([("uniform", vec![low, high].into())]));
    Some(table([
        ("links", links.iter().map(|&link| link.into()).collect::<Vec<Value>>().into()),
        ("holds", (*place.one(Gene::SpikeHolds, &["sending", "arriving"])).into()),
        ("first_s", 2.0.into()),
        ("length_s", range(longest * (1.0 - 0.8 * share), longest)),
        ("interval_s", range(interval, 2.0 * interval)),
        ("interval", "end-to-start".into()),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_sim::scenario::Scenario;
    use std::path::Path;

    const FIELD: Field = Field { without_timestamps: true, neighbours: true, pace: Some("pacing"), linux: false };

    #[test]
    fn a_linux_flow_has_nothing_of_its_own_but_window_and_application() {
        let linux = Field { linux: true, ..FIELD };
        let mut stream = Stream::new(5, &["test"]);
        for _ in 0..40 {
            let place = Place::draw(&mut stream);
            let text = linux.scenario(&place, 7).to_string();
            Scenario::parse(&text, Path::new("place")).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert!(text.contains("profile = \"linux\""), "{text}");
            let own = ["delayed_ack", "rto", "recover", "congest", "pace"];
            assert!(own.iter().all(|key| !text.contains(key)), "{text}");
        }
    }

    #[test]
    fn every_place_is_a_valid_scenario_and_every_property_occurs() {
        let mut stream = Stream::new(5, &["test"]);
        let mut seen = String::new();
        let places: Vec<Place> = (0..400).map(|_| Place::draw(&mut stream)).collect();
        for place in places.iter().chain([&Place::PLAIN]) {
            let text = FIELD.scenario(place, 7).to_string();
            Scenario::parse(&text, Path::new("place")).unwrap_or_else(|error| panic!("{error}\n{text}"));
            seen += &text;
        }
        for word in [
            "gilbert-elliott",
            "kind = \"random\"",
            "reorder]",
            "duplicate]",
            "back.reorder]",
            "back.loss]",
            "[[spike]]",
            "exchange",
            "reading]",
            "timestamps = false",
            "\"beside\"",
            "pace = \"pacing\"",
            "cubic",
            "minimum_ms",
            "rack-tlp",
            "newreno\"",
        ] {
            assert!(seen.matches(word).count() > 10, "{word}");
        }
    }

    #[test]
    fn shrinking_a_place_removes_one_property() {
        let place = Place::PLAIN.with(Gene::Loss, 0.7).with(Gene::Spike, 0.9);
        assert_eq!(place.simpler(), [place.with(Gene::Loss, 0.0), place.with(Gene::Spike, 0.0)]);
        let plain = FIELD.scenario(&Place::PLAIN, 7).to_string();
        assert!(!plain.contains("loss") && !plain.contains("spike") && !plain.contains("reorder"), "{plain}");
    }
}
