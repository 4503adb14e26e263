//! Draws scenarios in which a setting of the sender matters: paths that hold packets, for the smallest timeout
//! and for F-RTO, and paths that reorder, for the duplicate threshold.

use crate::truth::draw::{Class, Draw, Path, Pattern, Traffic};
use eifel_capture::advise::Knob;
use eifel_path::stream::Stream;
use std::fmt::Write;

/// The settings that every draw has in its namespaces.
const KERNEL: [(&str, &str); 3] =
    [("net/ipv4/tcp_no_metrics_save", "1"), ("net/ipv4/tcp_sack", "1"), ("net/ipv4/tcp_dsack", "1")];
/// The smallest timeout of a stock kernel, in milliseconds.
pub(super) const RTO_MIN_MS: f64 = 200.0;
/// How long a scenario sends, in seconds. A count has to be large before a tenth of it means something.
const SENDS_S: f64 = 30.0;
/// The longest hold of a path, in seconds, and the smallest message, in bytes.
const LONGEST_HOLD_S: f64 = 1.5;
const SMALLEST_BYTES: f64 = 200.0;
/// The knobs, in turn.
const KNOBS: [Knob; 3] = [Knob::SmallestRto, Knob::DuplicateThreshold, Knob::FRto];

/// A scenario, and the change to judge.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The scenario, with the setting as a stock kernel has it; for F-RTO without it.
    pub draw: Draw,
    pub knob: Knob,
    /// The other value of the knob.
    pub value: u64,
    /// The setting with that value, below `/proc/sys`.
    pub setting: (&'static str, String),
}

impl Change {
    /// Draws the change of this number. It depends on nothing but the two numbers.
    pub fn new(seed: u64, number: u32) -> Self {
        let mut draws = Stream::new(seed, &["advised", &number.to_string()]);
        let knob = KNOBS[number as usize % KNOBS.len()];
        let path = Drawn {
            rtt_ms: log(&mut draws, (5.0, 120.0)),
            rate_bps: log(&mut draws, (4.0, 40.0)) * 1e6,
            seed: seed.wrapping_add(number.into()),
        };
        let flows = 8 + draws.below(17) as u32;
        let (class, elements, holds, pattern) = match knob {
            Knob::DuplicateThreshold => {
                let bytes = (path.rate_bps / 8.0 * SENDS_S / f64::from(flows)) as u64;
                (Class::ReorderByCount, path.reordering(&mut draws), String::new(), Pattern::Bulk { bytes })
            }
            _ => {
                let (holds, ends_s) = holds(&mut draws);
                let each_bps = path.rate_bps * log(&mut draws, (0.2, 0.7)) / f64::from(flows);
                (Class::Spike, losses(&mut draws), holds, messages(&mut draws, ends_s, each_bps))
            }
        };
        let mut kernel: Vec<(&'static str, String)> = KERNEL.map(|(key, value)| (key, value.to_owned())).into();
        let stamps = if knob == Knob::FRto || draws.chance(0.3) { "0" } else { "1" };
        kernel.push(("net/ipv4/tcp_timestamps", stamps.to_owned()));
        let (value, setting) = match knob {
            Knob::DuplicateThreshold => {
                let value = log(&mut draws, (4.0, 30.0)) as u64;
                (value, ("net/ipv4/tcp_reordering", value.to_string()))
            }
            Knob::FRto => {
                kernel.push(("net/ipv4/tcp_frto", "0".to_owned()));
                (2, ("net/ipv4/tcp_frto", "2".to_owned()))
            }
            _ => {
                let value = log(&mut draws, (250.0, 1200.0)) as u64;
                (value, ("net/ipv4/tcp_rto_min_us", (value * 1000).to_string()))
            }
        };
        let traffic = Traffic { flows, v6: false, congestion: "cubic", pattern, receive_buffer: None };
        let path = Path::Box { scenario: path.scenario(&elements, &holds), behind_us: [0; 2] };
        let name = format!("{number:04}-{}", name(knob));
        let draw = Draw { name, class, path, joins_segments: false, kernel, traffic };
        Self { draw, knob, value, setting }
    }

    /// Returns the scenario with the other setting.
    pub fn changed(&self) -> Draw {
        let mut draw = self.draw.clone();
        let (key, value) = &self.setting;
        draw.kernel.retain(|(other, _)| other != key);
        draw.kernel.push((key, value.clone()));
        draw
    }
}

/// Returns a knob's name in files.
pub fn name(knob: Knob) -> &'static str {
    match knob {
        Knob::SmallestRto => "smallest-rto",
        Knob::DuplicateThreshold => "duplicate-threshold",
        Knob::ReorderingWindow => "reordering-window",
        Knob::FRto => "f-rto",
        Knob::TailLossProbes => "tail-loss-probes",
    }
}

/// A path to describe.
struct Drawn {
    rtt_ms: f64,
    rate_bps: f64,
    seed: u64,
}

impl Drawn {
    fn scenario(&self, elements: &str, holds: &str) -> String {
        let way_ms = self.rtt_ms / 2.0;
        let queue = match holds {
            "" => (self.rate_bps * self.rtt_ms / 1e3 / 8.0 / 1500.0).max(100.0),
            // A hold fills it: a timeout's retransmission that is dropped there says nothing of its original.
            _ => self.rate_bps * LONGEST_HOLD_S / 8.0 / SMALLEST_BYTES,
        };
        format!(
            "duration_s = 60\nseed = {}\n\
             [[node]]\nname = \"sender\"\n[[node]]\nname = \"receiver\"\n\
             [[link]]\nname = \"first\"\nfrom = \"sender\"\nto = \"receiver\"\nrate_bps = {:.0}\ndelay_ms = {way_ms:.4}\n\
             queue = {{ kind = \"drop-tail\", packets = {queue:.0} }}\n{elements}\
             [[link]]\nname = \"back\"\nfrom = \"receiver\"\nto = \"sender\"\nrate_bps = \"unlimited\"\ndelay_ms = {way_ms:.4}\n\
             {holds}\
             [[flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\napplication = {{ kind = \"bulk\", endless = true }}\n",
            self.seed, self.rate_bps,
        )
    }

    fn reordering(&self, draws: &mut Stream) -> String {
        if draws.chance(0.5) {
            let (rate, length) = (log(draws, (0.005, 0.05)), 2 + draws.below(20));
            return format!("reorder = {{ rate = {rate:.4}, length = {length}, longest_wait_s = 0.5 }}\n");
        }
        let late_ms = self.rtt_ms * log(draws, (0.02, 0.5));
        format!("jitter = {{ delay_ms = {{ uniform = [0, {late_ms:.5}] }}, keeps_order = false }}\n")
    }
}

/// Returns the losses of half of the paths.
fn losses(draws: &mut Stream) -> String {
    if draws.chance(0.5) {
        return String::new();
    }
    format!("loss = {{ kind = \"random\", rate = {:.4} }}\n", log(draws, (0.001, 0.02)))
}

/// Returns holds of the first link, and when the last ends, in seconds.
fn holds(draws: &mut Stream) -> (String, f64) {
    let mut text = "[[spike]]\nlinks = [\"first\"]\nholds = \"sending\"\nat = [".to_owned();
    let mut at = 1.0;
    while at < SENDS_S {
        let length = log(draws, (0.15, LONGEST_HOLD_S));
        let comma = if at > 1.0 { ", " } else { "" };
        // Writing to a string does not fail.
        let _ = write!(text, "{comma}{{ start_s = {at:.3}, length_s = {length:.3} }}");
        at += length + 1.0 + draws.unit();
    }
    (text + "]\n", at)
}

/// Returns an application that has something under way in every hold, with this rate.
fn messages(draws: &mut Stream, ends_s: f64, rate_bps: f64) -> Pattern {
    let bytes = SMALLEST_BYTES as u64 + draws.below(2500);
    let pause_ms = ((bytes as f64 * 8.0 / rate_bps * 1e3) as u64).clamp(3, 100);
    Pattern::Messages { count: (ends_s * 1e3 / pause_ms as f64) as u32, bytes, pause_ms }
}

/// Draws between two bounds, each order of magnitude equally likely.
fn log(draws: &mut Stream, (low, high): (f64, f64)) -> f64 {
    low * libm::pow(high / low, draws.unit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_sim::scenario::Scenario;

    #[test]
    fn every_draw_is_a_valid_scenario_and_changes_one_setting() {
        for number in 0..90 {
            let change = Change::new(3, number);
            let Path::Box { scenario, .. } = &change.draw.path else { panic!("no box") };
            Scenario::parse(scenario, "drawn.toml".as_ref()).unwrap_or_else(|error| panic!("{error}\n{scenario}"));
            let changed = change.changed();
            let (key, value) = &change.setting;
            assert!(changed.kernel.contains(&(key, value.clone())), "{changed:?}");
            assert_eq!(changed.kernel.iter().filter(|(other, _)| other == key).count(), 1);
            assert_eq!(Draw { kernel: Vec::new(), ..changed }, Draw { kernel: Vec::new(), ..change.draw.clone() });
            assert_eq!(change, Change::new(3, number));
        }
    }
}
