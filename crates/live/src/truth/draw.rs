//! Scenarios for recordings, drawn from a seed.

use crate::system::Error;
use crate::system::namespace::Namespace;
use eifel_path::stream::Stream;
use std::fmt::Write as _;

/// What disturbs the packets of a recording.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// All packets are held for a while, then released together.
    Spike,
    /// Packets are lost at random.
    Loss,
    /// Packets are lost in bursts.
    Bursts,
    /// Single packets are overtaken by a number of others.
    ReorderByCount,
    /// Each packet is late by a time of its own.
    ReorderByTime,
    /// The network copies packets.
    Copies,
    /// ACKs are lost.
    AckLoss,
    /// Only the queue drops.
    Overflow,
    /// Reordering, losses and a hold.
    Mixed,
    /// Only the queue of a router on a LAN drops.
    Lan,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 10] = [
        Self::Spike,
        Self::Loss,
        Self::Bursts,
        Self::ReorderByCount,
        Self::ReorderByTime,
        Self::Copies,
        Self::AckLoss,
        Self::Overflow,
        Self::Mixed,
        Self::Lan,
    ];

    /// Returns the name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spike => "spike",
            Self::Loss => "loss",
            Self::Bursts => "bursts",
            Self::ReorderByCount => "reorder-by-count",
            Self::ReorderByTime => "reorder-by-time",
            Self::Copies => "copies",
            Self::AckLoss => "ack-loss",
            Self::Overflow => "overflow",
            Self::Mixed => "mixed",
            Self::Lan => "lan",
        }
    }
}

/// What the application of a flow writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pattern {
    /// A number of bytes at once.
    Bulk { bytes: u64 },
    /// A number of messages, with a pause after each.
    Messages { count: u32, bytes: u64, pause_ms: u64 },
}

impl Pattern {
    /// Returns the bytes of all writes together.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bulk { bytes } => bytes,
            Self::Messages { count, bytes, .. } => count as u64 * bytes,
        }
    }
}

/// The connections of a recording.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Traffic {
    /// Connections that begin together.
    pub flows: u32,
    pub v6: bool,
    /// The kernel's congestion control.
    pub congestion: &'static str,
    pub pattern: Pattern,
    /// The receiver's socket buffer in bytes; `None` for the kernel's choice.
    pub receive_buffer: Option<u32>,
}

/// A recording to make.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    /// Its number and class.
    pub name: String,
    pub class: Class,
    pub path: Path,
    /// Whether the sender's kernel hands several segments at once to the device.
    pub joins_segments: bool,
    /// Settings of the kernel at both ends, below `/proc/sys`.
    pub kernel: Vec<(&'static str, String)>,
    pub traffic: Traffic,
}

/// The path between the two kernels.
#[derive(Clone, PartialEq, Debug)]
pub enum Path {
    /// The box with this scenario.
    Box {
        scenario: String,
        /// Microseconds from the capture point on the path to the receiver, and back.
        behind_us: [u64; 2],
    },
    Lan(Lan),
}

/// A router between two devices of a LAN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lan {
    pub rate_bps: u64,
    pub queue_bytes: u64,
}

/// Bits per second of the way back.
const BACK_BPS: f64 = 1e9;
/// Bytes of a full packet, and of one with an ACK alone.
const PACKET: f64 = 1500.0;
const ACK: f64 = 60.0;
/// The longest time in seconds that a transfer takes on an empty path.
const LONGEST_S: f64 = 2.5;
/// The most bytes of all flows together.
const MOST_BYTES: f64 = 3e6;
/// The shortest and the longest round trip in milliseconds, and rate in Mbit/s.
const RTT_MS: (f64, f64) = (0.2, 400.0);
const RATE_MBPS: (f64, f64) = (0.5, 200.0);
/// The rate in Mbit/s and the queue in bytes of a router on a LAN, and the round trip there.
const LAN_RATE_MBPS: (f64, f64) = (20.0, 500.0);
const LAN_QUEUE: (f64, f64) = (20_000.0, 400_000.0);
const LAN_RTT_MS: f64 = 0.1;

impl Draw {
    /// Draws the recording of this number. It depends on nothing but the two numbers.
    pub fn new(seed: u64, number: u32) -> Self {
        let mut draws = Draws(Stream::new(seed, &["recording", &number.to_string()]));
        // The classes take turns, so that few recordings have all.
        let class = Class::ALL[number as usize % Class::ALL.len()];
        let (path, kernel, traffic) = if class == Class::Lan {
            let rate_bps = draws.log(LAN_RATE_MBPS) * 1e6;
            let lan = Lan { rate_bps: rate_bps as u64, queue_bytes: draws.log(LAN_QUEUE) as u64 };
            let flows = 1 + draws.below(8) as u32;
            let kernel = kernel(&mut draws);
            // Without identifications nothing tells two transmissions in one tick of the clock apart.
            let traffic = Traffic { v6: false, ..draws.traffic(rate_bps, LAN_RTT_MS, flows) };
            (Path::Lan(lan), kernel, traffic)
        } else {
            let rtt_ms = draws.log(RTT_MS);
            let rate_bps = draws.log(RATE_MBPS) * 1e6;
            let flows = if draws.chance(0.25) { 2 + draws.below(3) as u32 } else { 1 };
            let path = BoxPath { class, rtt_ms, rate_bps, seed: seed.wrapping_add(u64::from(number)) };
            let behind = [draws.unit(), draws.unit()].map(|share| 0.1 + 0.8 * share);
            let (scenario, behind_us) = path.scenario(&mut draws, behind);
            let kernel = kernel(&mut draws);
            (Path::Box { scenario, behind_us }, kernel, draws.traffic(rate_bps, rtt_ms, flows))
        };
        let joins_segments = draws.chance(0.7);
        Self { name: format!("{number:04}-{}", class.name()), class, path, joins_segments, kernel, traffic }
    }

    /// Returns the settings of the kernel as names below `/proc/sys` and values.
    pub fn kernel_settings(&self) -> Vec<(&str, &str)> {
        self.kernel.iter().map(|(key, value)| (*key, value.as_str())).collect()
    }

    /// Lets the device get one segment at a time, unless the sender joins segments.
    ///
    /// # Errors
    /// Those of `ip`.
    pub fn limit_segments(&self, namespace: &Namespace, device: &str) -> Result<(), Error> {
        if self.joins_segments {
            return Ok(());
        }
        namespace.configure(&format!("link set {device} gso_max_segs 1\n"))
    }
}

/// Settings that Linux has in each network namespace, most of them as a stock kernel has them.
fn kernel(draws: &mut Draws) -> Vec<(&'static str, String)> {
    let rto_min_us = draws.log((20_000.0, 500_000.0)) as u64;
    [
        ("net/ipv4/tcp_no_metrics_save", "1".to_owned()),
        ("net/ipv4/tcp_timestamps", draws.either(&[("1", 6), ("0", 3), ("2", 1)])),
        ("net/ipv4/tcp_sack", draws.either(&[("1", 5), ("0", 1)])),
        ("net/ipv4/tcp_dsack", draws.either(&[("1", 7), ("0", 1)])),
        ("net/ipv4/tcp_frto", draws.either(&[("2", 4), ("0", 1)])),
        ("net/ipv4/tcp_recovery", draws.either(&[("1", 5), ("0", 1)])),
        ("net/ipv4/tcp_early_retrans", draws.either(&[("3", 4), ("0", 1)])),
        ("net/ipv4/tcp_rto_min_us", if draws.chance(0.25) { rto_min_us.to_string() } else { "200000".to_owned() }),
    ]
    .into()
}

/// A path through the box to describe.
struct BoxPath {
    class: Class,
    rtt_ms: f64,
    rate_bps: f64,
    seed: u64,
}

impl BoxPath {
    /// Returns the scenario, and the microseconds behind the capture point, there and back.
    fn scenario(&self, draws: &mut Draws, behind: [f64; 2]) -> (String, [u64; 2]) {
        let way_us = self.rtt_ms * 500.0;
        let behind_us = behind.map(|share| (way_us * share) as u64);
        let [before, after] = [0, 1].map(|way: usize| (way_us - behind_us[way] as f64) / 1e3);
        let bdp = self.rate_bps * self.rtt_ms / 1e3 / 8.0 / PACKET;
        let queue = match self.class {
            Class::Overflow => (bdp * draws.log((0.1, 1.0))).max(5.0),
            _ => (bdp * draws.log((0.5, 2.0))).max(20.0),
        };
        let forward = self.elements(draws);
        let backward = match self.class {
            Class::AckLoss => format!("loss = {{ kind = \"random\", rate = {:.4} }}\n", draws.log((0.05, 0.5))),
            _ => String::new(),
        };
        // A way back that is too slow for all ACKs thins them.
        let (back_bps, back_queue) = match self.class {
            Class::AckLoss if draws.chance(0.5) => (self.rate_bps * ACK / PACKET * draws.log((0.1, 0.5)), 10),
            _ => (BACK_BPS, 1000),
        };
        let behind_ms = behind_us.map(|us| us as f64 / 1e3);
        let mut text = format!(
            "duration_s = 60\nseed = {}\n\
             [[node]]\nname = \"sender\"\n[[node]]\nname = \"middle\"\n[[node]]\nname = \"receiver\"\n\
             [[link]]\nname = \"first\"\nfrom = \"sender\"\nto = \"middle\"\nrate_bps = {:.0}\ndelay_ms = {before:.4}\n\
             queue = {{ kind = \"drop-tail\", packets = {queue:.0} }}\n{forward}\
             [[link]]\nname = \"last\"\nfrom = \"middle\"\nto = \"receiver\"\nrate_bps = \"unlimited\"\ndelay_ms = {:.4}\n\
             [[link]]\nname = \"back\"\nfrom = \"receiver\"\nto = \"middle\"\nrate_bps = \"unlimited\"\ndelay_ms = {:.4}\n\
             [[link]]\nname = \"home\"\nfrom = \"middle\"\nto = \"sender\"\nrate_bps = {back_bps:.0}\ndelay_ms = {after:.4}\n\
             queue = {{ kind = \"drop-tail\", packets = {back_queue} }}\n{backward}",
            self.seed, self.rate_bps, behind_ms[0], behind_ms[1],
        );
        if matches!(self.class, Class::Spike | Class::Mixed) {
            text += &self.holds(draws);
        }
        // The flow is only there to name the two ends of the path.
        text += "[[flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\n\
                 application = { kind = \"bulk\", endless = true }\n";
        (text, behind_us)
    }

    /// Returns what the first link does to single packets.
    fn elements(&self, draws: &mut Draws) -> String {
        let mut text = String::new();
        let rate = |draws: &mut Draws, low, high| draws.log((low, high));
        // Writing to a string does not fail.
        let _ = match self.class {
            Class::Loss | Class::Mixed => {
                writeln!(text, "loss = {{ kind = \"random\", rate = {:.4} }}", rate(draws, 0.002, 0.05))
            }
            Class::Bursts => writeln!(
                text,
                "loss = {{ kind = \"gilbert-elliott\", good_to_bad = {:.4}, bad_to_good = {:.3}, loss_in_bad = 0.8 }}",
                rate(draws, 0.001, 0.01),
                rate(draws, 0.1, 0.5)
            ),
            Class::Copies => writeln!(text, "duplicate = {{ rate = {:.4} }}", rate(draws, 0.005, 0.1)),
            Class::ReorderByTime => {
                // From microseconds, as between two queues of a host, to most of a round trip.
                let late_ms = self.rtt_ms * rate(draws, 0.01, 0.8);
                writeln!(text, "jitter = {{ delay_ms = {{ uniform = [0, {late_ms:.5}] }}, keeps_order = false }}")
            }
            _ => Ok(()),
        };
        if matches!(self.class, Class::ReorderByCount | Class::Mixed) {
            let (rate, length) = (rate(draws, 0.005, 0.1), 1 + draws.below(20));
            let _ = writeln!(text, "reorder = {{ rate = {rate:.4}, length = {length}, longest_wait_s = 0.5 }}");
        }
        text
    }

    /// Returns one or two holds of the first link.
    fn holds(&self, draws: &mut Draws) -> String {
        let (start, length) = (0.2 + draws.unit(), draws.log((0.1, 2.0)));
        let holds = draws.either(&[("arriving", 1), ("sending", 1)]);
        let mut at = format!("{{ start_s = {start:.3}, length_s = {length:.3} }}");
        if draws.chance(0.4) {
            let (start, length) = (start + length + 0.2 + draws.unit(), draws.log((0.1, 1.0)));
            let _ = write!(at, ", {{ start_s = {start:.3}, length_s = {length:.3} }}");
        }
        format!("[[spike]]\nlinks = [\"first\"]\nholds = \"{holds}\"\nat = [{at}]\n")
    }
}

/// Random numbers for settings.
struct Draws(Stream);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    fn below(&mut self, count: u64) -> u64 {
        self.0.below(count)
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.0.chance(probability)
    }

    /// Draws between two bounds, each order of magnitude equally likely.
    fn log(&mut self, (low, high): (f64, f64)) -> f64 {
        low * libm::pow(high / low, self.unit())
    }

    /// Draws one of several values by their weights.
    fn either(&mut self, weighted: &[(&str, u64)]) -> String {
        let mut place = self.below(weighted.iter().map(|&(_, weight)| weight).sum());
        for &(value, weight) in weighted {
            match place.checked_sub(weight) {
                Some(rest) => place = rest,
                None => return value.to_owned(),
            }
        }
        String::new()
    }

    fn traffic(&mut self, rate_bps: f64, rtt_ms: f64, flows: u32) -> Traffic {
        let most = (rate_bps / 8.0 * LONGEST_S).min(MOST_BYTES) / f64::from(flows);
        let pattern = if self.chance(0.2) {
            let count = 10 + self.below(20) as u32;
            let pause_ms = (rtt_ms * self.log((0.1, 3.0))).clamp(1.0, 100.0) as u64;
            Pattern::Messages { count, bytes: 1 + self.log((200.0, most / f64::from(count) + 201.0)) as u64, pause_ms }
        } else {
            Pattern::Bulk { bytes: (most * (0.3 + 0.7 * self.unit())) as u64 + 20_000 }
        };
        let congestion = match self.below(10) {
            0..=5 => "cubic",
            6..=7 => "reno",
            _ => "bbr",
        };
        let receive_buffer = if self.chance(0.1) { Some(self.log((8000.0, 200_000.0)) as u32) } else { None };
        Traffic { flows, v6: self.chance(0.2), congestion, pattern, receive_buffer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_sim::scenario::Scenario;
    use std::collections::BTreeSet;

    #[test]
    fn every_draw_is_a_valid_scenario_and_every_setting_occurs() {
        let mut seen = BTreeSet::new();
        for number in 0..300 {
            let draw = Draw::new(7, number);
            if let Path::Box { scenario, .. } = &draw.path {
                Scenario::parse(scenario, "drawn.toml".as_ref()).unwrap_or_else(|error| panic!("{error}\n{scenario}"));
            }
            seen.extend(
                draw.kernel.iter().map(|(key, value)| format!("{key}={value}")).filter(|one| !one.contains("rto_min")),
            );
            seen.insert(draw.traffic.congestion.to_owned());
            seen.insert(format!("v6: {}, flows: {}", draw.traffic.v6, draw.traffic.flows > 1));
        }
        // Timestamps have three values and five settings two; three congestion controls; IP and flows.
        assert_eq!(seen.len(), 1 + 3 + 5 * 2 + 3 + 4, "{seen:#?}");
    }

    #[test]
    fn a_draw_depends_on_seed_and_number_only() {
        assert_eq!(Draw::new(3, 5), Draw::new(3, 5));
        assert_ne!(Draw::new(3, 5).path, Draw::new(4, 5).path);
        assert_ne!(Draw::new(3, 5).path, Draw::new(3, 5 + 10).path);
    }
}
