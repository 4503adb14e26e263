//! Analyses of drawn QUIC logs. They use few different times and packet numbers, so that limits are
//! often hit exactly.

use std::collections::BTreeMap;
use std::fmt::Write;

use eifel_capture::quic::{Losses, analyse, is_log};
use eifel_testkit::random::Random;
use eifel_testkit::{digest, golden};

const LOGS: u64 = 5000;
/// Cases per digest.
const TOGETHER: u64 = 50;

/// Draws events as objects, or as lists with the time first.
struct Events<'a> {
    random: &'a mut Random,
    listed: bool,
    /// Whether most losses are replaced by reports of windows.
    rare: bool,
    time: f64,
    next: u64,
}

impl Events<'_> {
    fn event(&mut self) -> String {
        // 333 ms is the assumed round trip before one is known. With round trips of 10 ms a stack
        // undoes within 20 ms.
        self.time += self.random.one_of(&[0.0, 0.5, 5.0, 5.0, 10.0, 20.0, 333.0]);
        let number = self.random.below(self.next + 1);
        let kind = self.random.one_of(&["1RTT", "1RTT", "1RTT", "0RTT", "initial", "handshake"]);
        let packet = |number: u64| {
            let raw = if number.is_multiple_of(3) { r#", "raw": {"length": 1200}"# } else { "" };
            let size = if number % 3 == 1 { r#", "packet_size": 900"# } else { "" };
            format!(r#""header": {{"packet_type": "{kind}", "packet_number": {number}{size}}}{raw}"#)
        };
        let (name, data) = match self.random.below(12) {
            0..3 => {
                self.next += 1;
                ("packet_sent", packet(self.next))
            }
            3..6 if !self.rare || self.random.below(6) == 0 => {
                let trigger = self.random.one_of(&["", r#", "trigger": "time_threshold""#]);
                ("packet_lost", format!("{}{trigger}", packet(number)))
            }
            6..9 => {
                let last = number + self.random.below(3);
                let ranges =
                    self.random.one_of(&["[[A, B]]", "[[A]]", "[\"A-B\"]", "[[B, A], [A, A]]", "[[0, B], {}]"]);
                let ranges = ranges.replace('A', &number.to_string()).replace('B', &last.to_string());
                let frame = self.random.one_of(&["ack", "ACK", "stream"]);
                let frames = format!(r#""frames": [{{"frame_type": "{frame}", "acked_ranges": {ranges}}}]"#);
                ("packet_received", format!("{}, {frames}", packet(number)))
            }
            3..6 | 9..11 => {
                let cwnd = self.random.one_of(&["1000", "2000", "2000", "3000", "\"1500\""]);
                let rtt = self.random.one_of(&["", r#", "smoothed_rtt": 10"#, r#", "smoothed_rtt": 5"#]);
                ("metrics_updated", format!(r#""congestion_window": {cwnd}{rtt}"#))
            }
            _ => {
                let choices = [("metrics_updated", r#""smoothed_rtt": 10"#), ("key_updated", ""), ("packet_lost", "")];
                let (name, data) = self.random.one_of(&choices);
                (name, data.to_owned())
            }
        };
        let time = self.time;
        if self.listed {
            format!(r#"[{time}, "recovery", "{name}", {{{data}}}]"#)
        } else {
            format!(r#"{{"time": {time}, "name": "recovery:{name}", "data": {{{data}}}}}"#)
        }
    }
}

/// Returns a file with one or two traces.
fn log(random: &mut Random) -> String {
    let mut traces = Vec::new();
    for _ in 0..1 + random.below(8) / 7 {
        let listed = random.below(3) == 0;
        let (count, rare) = (random.below(40), random.below(2) == 0);
        let vantage = random.one_of(&["client", "server", "server", "network"]);
        let named = random.one_of(&["", r#""ODCID": "a","#, r#""group_id": "b","#]);
        let format = random.one_of(&["absolute", "absolute", "relative_to_previous_event"]);
        let mut events = Events { random, listed, rare, time: 0.0, next: 0 };
        let events: Vec<String> = (0..count).map(|_| events.event()).collect();
        let fields = format!(r#""common_fields": {{{named} "time_format": "{format}"}}"#);
        traces.push(format!(
            r#"{{"vantage_point": {{"type": "{vantage}"}}, {fields}, "events": [{}]}}"#,
            events.join(",")
        ));
    }
    format!(r#"{{"qlog_version": "0.3", "traces": [{}]}}"#, traces.join(","))
}

fn count(losses: &Losses, counts: &mut BTreeMap<String, u64>) {
    for one in &losses.packets {
        *counts.entry(format!("{:?}: {}", one.verdict, one.reason)).or_default() += 1;
    }
    for event in &losses.events {
        *counts.entry(format!("{:?}", event.stack_noticed)).or_default() += 1;
    }
}

#[test]
fn verdicts_on_drawn_logs_match_the_golden() {
    let (mut text, mut together) = (String::new(), String::new());
    let mut counts = BTreeMap::new();
    for seed in 0..LOGS {
        let mut random = Random(seed);
        let logs: Vec<String> = (0..1 + random.below(3)).map(|_| log(&mut random)).collect();
        let named: Vec<_> = ["one", "two", "three"].into_iter().zip(logs.iter().map(String::as_str)).collect();
        let found = analyse(&named).unwrap();
        count(&found, &mut counts);
        writeln!(together, "{found:?}").unwrap();
        if seed % TOGETHER == TOGETHER - 1 {
            writeln!(text, "up to {seed}: {}", digest(std::mem::take(&mut together))).unwrap();
        }
    }
    for (said, count) in counts {
        writeln!(text, "{count} {said}").unwrap();
    }
    golden!("losses.txt", text);
}

/// A log starts with an object or with the separator of a sequence, perhaps after a byte order mark
/// and white space.
#[test]
fn a_log_is_recognised_by_its_first_character() {
    for (first, log) in
        [("{", true), ("\u{1e}", true), ("\u{feff} \n{", true), ("", false), ("[", false), ("\u{feff}", false)]
    {
        assert_eq!(is_log(first.as_bytes()), log, "{first:?}");
    }
}

/// Traces, ranges and windows beyond the limits are ignored.
#[test]
fn records_beyond_the_limits_of_a_log_are_ignored() {
    let trace = r#"{"events": []}"#;
    for (count, kept) in [(1023, 1023), (1024, 1024), (1025, 1024)] {
        let text = format!(r#"{{"traces": [{}]}}"#, vec![trace; count].join(","));
        assert_eq!(analyse(&[("many", &text)]).unwrap().traces.len(), kept);
    }
    let packet = r#""header": {"packet_type": "1RTT", "packet_number": 1}"#;
    for (before, late) in [(4095, 1), (4096, 0)] {
        let ranges = [vec!["[7]"; before].join(","), "[1]".to_owned()].join(",");
        let text = format!(
            r#"{{"traces": [{{"events": [{{"time": 0, "name": "packet_sent", "data": {{{packet}}}}},
            {{"time": 1, "name": "packet_lost", "data": {{{packet}}}}}, {{"time": 2, "name": "packet_received", "data": {{{packet},
            "frames": [{{"frame_type": "ack", "acked_ranges": [{ranges}]}}]}}}}]}}]}}"#
        );
        assert_eq!(analyse(&[("ranges", &text)]).unwrap().events[0].late, late);
    }
    for (more, after) in [(4095, Some(1000)), (4096, Some(5000))] {
        let window = |cwnd: u32| format!(r#"{{"time": 2, "name": "metrics_updated", "data": {{"cwnd": {cwnd}}}}}"#);
        let windows = [vec![window(5000); more].join(","), window(1000)].join(",");
        let text = format!(
            r#"{{"traces": [{{"events": [{{"time": 0, "name": "packet_lost", "data": {{{packet}}}}}, {windows}]}}]}}"#
        );
        assert_eq!(analyse(&[("windows", &text)]).unwrap().events[0].cwnd_after, after);
    }
}
