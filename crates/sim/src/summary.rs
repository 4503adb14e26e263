//! The results of a run, flow by flow.

use crate::scenario::Scenario;
use eifel_base::time::Duration;
use std::fmt;

/// The results of a flow.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FlowSummary {
    pub flow: String,
    /// Whether its application has read everything.
    pub completed: bool,
    /// Seconds from the start of the flow to the last byte read, or to the end of the run if the
    /// flow is not completed.
    pub time_s: f64,
    /// Bytes of data that the applications have read, in both directions. For datagrams, bytes that
    /// arrived, headers included.
    pub bytes: u64,
    /// Data segments sent, including retransmissions. For datagrams, the datagrams sent.
    pub segments_sent: u64,
    /// Data segments that were retransmissions.
    pub retransmissions: u64,
    /// Retransmissions that the oracle judged spurious.
    pub spurious_retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Episodes that a timeout opened.
    pub timeout_episodes: u64,
    /// Timeout episodes whose first retransmission was spurious.
    pub spurious_timeouts: u64,
    /// Timeout episodes whose first retransmission was needed.
    pub genuine_timeouts: u64,
    /// Sum over genuine timeouts of the seconds from the segment's last transmission to the expiry
    /// of the timer.
    pub genuine_timeouts_wait_s: f64,
    /// Episodes that duplicate ACKs or SACKs opened.
    pub fast_retransmits: u64,
    /// Fast-retransmit episodes whose first retransmission was spurious.
    pub spurious_fast_retransmits: u64,
    /// Episodes that the acting detector called spurious.
    pub detected_spurious: u64,
    /// Verdicts after which the response changed the window.
    pub undos: u64,
    /// Data segments or datagrams that links dropped.
    pub drops: u64,
    /// Drops within a smoothed round trip after an undo.
    pub drops_after_undo: u64,
    /// `bytes` over `time_s`, in bits per second.
    pub goodput_bps: f64,
    /// The latencies of requests; `None` if no request was answered.
    pub requests: Option<Requests>,
}

/// The times from requests to the last bytes of their responses, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Requests {
    /// Requests whose response was read.
    pub answered: u64,
    pub mean_s: f64,
    /// The median: the smallest time that at least 50 % of all times do not exceed.
    pub p50_s: f64,
    /// The 90th percentile, defined like `p50_s`.
    pub p90_s: f64,
    /// The 99th percentile, defined like `p50_s`.
    pub p99_s: f64,
    pub longest_s: f64,
}

impl Requests {
    /// Summarises the latencies of requests; `None` without requests.
    pub fn of(latencies: &[Duration]) -> Option<Self> {
        let mut sorted: Vec<f64> = latencies.iter().map(|latency| latency.as_secs_f64()).collect();
        sorted.sort_by(f64::total_cmp);
        let (count, longest_s) = (sorted.len(), *sorted.last()?);
        let at = |percent: usize| sorted[(count * percent).div_ceil(100).max(1) - 1];
        Some(Self {
            answered: count as u64,
            mean_s: sorted.iter().sum::<f64>() / count as f64,
            p50_s: at(50),
            p90_s: at(90),
            p99_s: at(99),
            longest_s,
        })
    }

    /// The names of the numbers, in order.
    pub const NAMES: [&str; 6] =
        ["requests", "request_mean_s", "request_p50_s", "request_p90_s", "request_p99_s", "request_longest_s"];

    /// Returns every number with its name, in order. Without requests, the times are NaN.
    pub fn numbers(requests: Option<&Self>) -> [(&'static str, Number); 6] {
        let times = |of: &Self| [of.mean_s, of.p50_s, of.p90_s, of.p99_s, of.longest_s].map(Number::Measure);
        let [mean, half, most, nearly_all, longest] = requests.map_or([Number::Measure(f64::NAN); 5], times);
        let answered = Number::Count(requests.map_or(0, |of| of.answered));
        let numbers = [answered, mean, half, most, nearly_all, longest];
        std::array::from_fn(|place| (Self::NAMES[place], numbers[place]))
    }
}

/// The results of all flows, in the scenario's order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    pub flows: Vec<FlowSummary>,
    /// Seconds of virtual time until the run stopped.
    pub duration_s: f64,
    pub events: u64,
}

/// A number of a summary.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    Count(u64),
    Measure(f64),
    Flag(bool),
}

impl FlowSummary {
    /// Returns every number with its name, in order.
    pub fn numbers(&self) -> [(&'static str, Number); 18] {
        [
            ("completed", Number::Flag(self.completed)),
            ("time_s", Number::Measure(self.time_s)),
            ("bytes", Number::Count(self.bytes)),
            ("segments_sent", Number::Count(self.segments_sent)),
            ("retransmissions", Number::Count(self.retransmissions)),
            ("spurious_retransmissions", Number::Count(self.spurious_retransmissions)),
            ("timeouts", Number::Count(self.timeouts)),
            ("timeout_episodes", Number::Count(self.timeout_episodes)),
            ("spurious_timeouts", Number::Count(self.spurious_timeouts)),
            ("genuine_timeouts", Number::Count(self.genuine_timeouts)),
            ("genuine_timeouts_wait_s", Number::Measure(self.genuine_timeouts_wait_s)),
            ("fast_retransmits", Number::Count(self.fast_retransmits)),
            ("spurious_fast_retransmits", Number::Count(self.spurious_fast_retransmits)),
            ("detected_spurious", Number::Count(self.detected_spurious)),
            ("undos", Number::Count(self.undos)),
            ("drops", Number::Count(self.drops)),
            ("drops_after_undo", Number::Count(self.drops_after_undo)),
            ("goodput_bps", Number::Measure(self.goodput_bps)),
        ]
    }

    /// Returns the numbers with those of the requests, if any was answered.
    pub fn all_numbers(&self) -> impl Iterator<Item = (&'static str, Number)> {
        self.numbers().into_iter().chain(self.requests.iter().flat_map(|of| Requests::numbers(Some(of))))
    }

    /// Returns the summary of a flow between two nodes as a JSON object, in the order of
    /// `all_numbers`. A measure without a value is null.
    pub fn json(&self, from: &str, to: &str) -> String {
        let words = [("flow", self.flow.as_str()), ("from", from), ("to", to)];
        let words = words.map(|(name, word)| format!("\"{name}\": {}", json_text(word)));
        let numbers = self.all_numbers().map(|(name, number)| match number {
            Number::Measure(measure) => format!("\"{name}\": {}", serde_json::Value::from(measure)),
            other => format!("\"{name}\": {other}"),
        });
        let numbers: Vec<String> = numbers.collect();
        format!("{{{}, {}}}", words.join(", "), numbers.join(", "))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Measure(measure) => write!(f, "{measure}"),
            Self::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

impl Summary {
    /// Returns the summaries of the scenario's flows as a JSON list.
    pub fn flows_json(&self, scenario: &Scenario) -> String {
        let name = |node: usize| scenario.nodes[node].name.as_str();
        let flows = scenario.flows.iter().zip(&self.flows);
        let flows: Vec<String> = flows.map(|(flow, summary)| summary.json(name(flow.from), name(flow.to))).collect();
        format!("[{}]", flows.join(", "))
    }

    /// Returns the summary as a JSON object.
    pub fn to_json(&self) -> String {
        let of_flow = |flow: &FlowSummary| {
            let numbers = flow.all_numbers().map(|(name, number)| format!("\"{name}\": {number}"));
            format!("{{\"flow\": {}, {}}}", json_text(&flow.flow), numbers.collect::<Vec<_>>().join(", "))
        };
        let flows: Vec<String> = self.flows.iter().map(of_flow).collect();
        let (duration_s, events) = (self.duration_s, self.events);
        format!("{{\"duration_s\": {duration_s}, \"events\": {events}, \"flows\": [{}]}}", flows.join(", "))
    }
}

/// Quotes a text as a JSON string.
fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_occurred() {
        let millis = |times: &[u64]| times.iter().map(|&time| Duration::from_millis(time)).collect::<Vec<_>>();
        assert_eq!(Requests::of(&[]), None);
        let one = Requests::of(&millis(&[40])).unwrap();
        assert_eq!((one.p50_s, one.p99_s, one.longest_s), (0.04, 0.04, 0.04));
        let hundred: Vec<u64> = (1..=100).rev().collect();
        let all = Requests::of(&millis(&hundred)).unwrap();
        assert_eq!((all.answered, all.p50_s, all.p90_s, all.p99_s, all.longest_s), (100, 0.05, 0.09, 0.099, 0.1));
        assert!((all.mean_s - 0.0505).abs() < 1e-12);
        let three = Requests::of(&millis(&[10, 20, 30])).unwrap();
        assert_eq!((three.p50_s, three.p90_s), (0.02, 0.03));
        let summary = Summary {
            flows: vec![FlowSummary { requests: Some(three), ..FlowSummary::default() }],
            ..Summary::default()
        };
        assert!(summary.to_json().contains("\"requests\": 3, \"request_mean_s\": 0.02, \"request_p50_s\": 0.02"));
    }

    #[test]
    fn without_requests_none_was_answered_and_no_time_is_a_number() {
        let [(_, answered), times @ ..] = Requests::numbers(None);
        assert_eq!(answered, Number::Count(0));
        assert!(times.iter().all(|(_, time)| matches!(time, Number::Measure(seconds) if seconds.is_nan())));
    }

    #[test]
    fn names_are_quoted_for_json() {
        assert_eq!(json_text("a\"b\\c\u{7}"), r#""a\"b\\c\u0007""#);
        let summary = Summary { flows: vec![FlowSummary::default()], duration_s: 1.5, events: 3 };
        assert!(summary.to_json().starts_with(
            r#"{"duration_s": 1.5, "events": 3, "flows": [{"flow": "", "completed": false, "time_s": 0, "#
        ));
    }
}
