//! What was found as metrics: Prometheus' text, and OTLP in JSON.
//!
//! Cause and verdict are two labels of one counter, never values of one label: a needless
//! retransmission has a cause too.

use super::found::{Found, VERDICTS};
use crate::cause::Cause;
use crate::watch::Counts;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

/// OTLP's `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// A metric without labels: its names for Prometheus and OTLP, its unit in OTLP, its meaning, and its value.
struct Metric {
    name: &'static str,
    otlp: &'static str,
    unit: &'static str,
    help: &'static str,
    of: fn(&Counts) -> u64,
}

const RETRANSMISSIONS: [&str; 4] = [
    "eifel_tcp_retransmissions_total",
    "tcp.retrans",
    "{segment}",
    "Segments that were sent again and judged, by cause and verdict.",
];
const BYTES: [&str; 4] = [
    "eifel_tcp_retransmitted_bytes_total",
    "eifel.tcp.retransmitted",
    "By",
    "Payload bytes in them, by cause and verdict.",
];

const PLAIN: [Metric; 5] = [
    Metric {
        name: "eifel_tcp_undone_total",
        otlp: "eifel.tcp.undone",
        unit: "{reduction}",
        help: "Reductions of a congestion window that the kernel undid.",
        of: |counts| counts.undone,
    },
    Metric {
        name: "eifel_tcp_observations_total",
        otlp: "eifel.tcp.observations",
        unit: "{observation}",
        help: "Times from a loss sign of a connection to its repair.",
        of: |counts| counts.observations,
    },
    Metric {
        name: "eifel_watch_facts_total",
        otlp: "eifel.watch.facts",
        unit: "{fact}",
        help: "Facts that the kernel has told.",
        of: |counts| counts.facts,
    },
    Metric {
        name: "eifel_watch_facts_dropped_total",
        otlp: "eifel.watch.facts.dropped",
        unit: "{fact}",
        help: "Facts that the kernel's ring had no room for, or of which the kernel told nothing.",
        of: |counts| counts.facts_dropped,
    },
    Metric {
        name: "eifel_watch_retransmissions_dropped_total",
        otlp: "eifel.watch.retransmissions.dropped",
        unit: "{segment}",
        help: "Retransmissions among them. No other metric has these.",
        of: |counts| counts.retransmissions_dropped,
    },
];

impl Found {
    /// Returns the values of the metrics with labels: cause, verdict, retransmissions and bytes.
    fn labelled(&self) -> impl Iterator<Item = (String, String, [u64; 2])> {
        Cause::ALL.into_iter().flat_map(move |cause| {
            VERDICTS.map(|verdict| {
                let [count, bytes] = [&self.retransmissions, &self.bytes]
                    .map(|of_cause| of_cause.get(&cause).map_or(0, |one| one.of(verdict)));
                (word(&cause), word(&verdict), [count, bytes])
            })
        })
    }

    /// Returns the metrics in Prometheus' text format (version 0.0.4). Those with labels have a value for
    /// each cause and verdict.
    pub(super) fn prometheus(&self) -> String {
        let mut text = String::new();
        let mut say = |name: &str, help: &str, values: Vec<(String, u64)>| {
            _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n");
            values.into_iter().for_each(|(labels, value)| _ = writeln!(text, "{name}{labels} {value}"));
        };
        for (index, [name, _, _, help]) in [RETRANSMISSIONS, BYTES].into_iter().enumerate() {
            let labels = |cause, verdict| format!("{{cause=\"{cause}\",verdict=\"{verdict}\"}}");
            say(name, help, self.labelled().map(|(cause, verdict, of)| (labels(cause, verdict), of[index])).collect());
        }
        for metric in PLAIN {
            say(metric.name, metric.help, vec![(String::new(), (metric.of)(&self.counts))]);
        }
        text
    }

    /// Returns the metrics as an `ExportMetricsServiceRequest` of OTLP/JSON: cumulative sums from `began`
    /// to `now`, in nanoseconds since 1970. `host` is the name of this host.
    pub(super) fn otlp(&self, (began, now): (u64, u64), host: &str) -> Value {
        let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        // 64-bit integers are strings in the JSON of Protocol Buffers.
        let point = |attributes: Vec<Value>, value: u64| {
            let times = [began, now].map(|nanos| nanos.to_string());
            let [start, time] = times;
            json!({"attributes": attributes, "startTimeUnixNano": start, "timeUnixNano": time, "asInt": value.to_string()})
        };
        let sum = |[name, unit, help]: [&str; 3], points: Vec<Value>| {
            let sum = json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true});
            json!({"name": name, "unit": unit, "description": help, "sum": sum})
        };
        let mut metrics = Vec::new();
        for (index, [_, name, unit, help]) in [RETRANSMISSIONS, BYTES].into_iter().enumerate() {
            let labels = |cause: &str, verdict: &str| vec![text("eifel.cause", cause), text("eifel.verdict", verdict)];
            let points = self.labelled().map(|(cause, verdict, of)| point(labels(&cause, &verdict), of[index]));
            metrics.push(sum([name, unit, help], points.collect()));
        }
        for Metric { otlp, unit, help, of, .. } in PLAIN {
            metrics.push(sum([otlp, unit, help], vec![point(Vec::new(), of(&self.counts))]));
        }
        let resource = json!({"attributes": [text("service.name", "eifel"), text("host.name", host)]});
        let scope = json!({"name": "eifel", "version": env!("CARGO_PKG_VERSION")});
        json!({"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"scope": scope, "metrics": metrics}]}]})
    }
}

/// Returns the word for a cause or verdict in results.
pub(super) fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::found::tests::row;
    use super::*;

    fn found() -> Found {
        let mut found = Found::default();
        found.add(&[row(), row()]);
        found.counts = Counts { facts_dropped: 5, ..Counts::default() };
        found
    }

    #[test]
    fn prometheus_has_a_value_for_each_cause_and_verdict_and_describes_each_metric() {
        let text = found().prometheus();
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(values.len(), 2 * 3 * Cause::ALL.len() + PLAIN.len());
        for line in [
            "eifel_tcp_retransmissions_total{cause=\"tlp\",verdict=\"spurious\"} 2",
            "eifel_tcp_retransmissions_total{cause=\"rack-timer\",verdict=\"needed\"} 0",
            "eifel_tcp_retransmitted_bytes_total{cause=\"tlp\",verdict=\"spurious\"} 200",
            "eifel_watch_facts_dropped_total 5",
        ] {
            assert!(values.contains(&line), "{line}");
        }
        let mut described = "";
        for line in text.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(name) => described = name.strip_suffix(" counter").unwrap(),
                None if line.starts_with('#') => {}
                None => assert!(line.starts_with(described), "{line}"),
            }
        }
    }

    #[test]
    fn otlp_has_the_same_values_as_cumulative_sums() {
        let export = found().otlp((7, 9), "here");
        let metrics = export["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
        assert_eq!(metrics.len(), 2 + PLAIN.len());
        let points = metrics[0]["sum"]["dataPoints"].as_array().unwrap();
        assert_eq!(points.len(), 3 * Cause::ALL.len());
        let tlp = points.iter().find(|point| point["asInt"] == "2").unwrap();
        assert_eq!((&tlp["startTimeUnixNano"], &tlp["timeUnixNano"]), (&json!("7"), &json!("9")));
        assert_eq!(tlp["attributes"][0], json!({"key": "eifel.cause", "value": {"stringValue": "tlp"}}));
        assert_eq!(metrics[5]["sum"]["dataPoints"][0]["asInt"], "5");
    }
}
