//! A view of a sender for a terminal, redrawn each interval: its variables over time, and the
//! engine's reports.

use crate::apps::meter::Interval;
use std::collections::VecDeque;

/// The most values in a line of bars.
const BARS: usize = 60;
/// The most reports shown.
const REPORTS: usize = 8;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The series that are shown.
#[derive(Debug, Default)]
pub(super) struct View {
    rate: VecDeque<f64>,
    cwnd: VecDeque<f64>,
    srtt: VecDeque<f64>,
    retransmissions: u64,
    bytes: u64,
    reports: VecDeque<String>,
    /// Lines of the view on the terminal; 0 before the first interval.
    drawn: usize,
}

impl View {
    /// Adds a report of the engine.
    pub(super) fn report(&mut self, line: String) {
        if self.reports.len() == REPORTS {
            self.reports.pop_front();
        }
        self.reports.push_back(line);
    }

    /// Adds an interval. Returns the lines to write to the terminal. They begin with a move back to
    /// the view's first line.
    pub(super) fn interval(&mut self, interval: &Interval) -> String {
        self.bytes += interval.bytes;
        self.retransmissions += interval.retransmissions;
        let variables = &interval.variables;
        let srtt_ms = variables.srtt.map_or(0.0, |srtt| srtt.as_secs_f64() * 1e3);
        for (values, value) in [
            (&mut self.rate, interval.rate_bps() / 1e6),
            (&mut self.cwnd, variables.cwnd as f64 / 1e3),
            (&mut self.srtt, srtt_ms),
        ] {
            if values.len() == BARS {
                values.pop_front();
            }
            values.push_back(value);
        }
        let ssthresh = match variables.ssthresh {
            u64::MAX => "unset".to_owned(),
            bytes => format!("{:.1} kB", bytes as f64 / 1e3),
        };
        let mut lines = vec![
            format!(
                "{:8.1} s  {:.1} MB sent, {} segments retransmitted; in flight {:.1} kB, ssthresh {ssthresh}, RTO {:.0} ms",
                interval.end.as_secs_f64(),
                self.bytes as f64 / 1e6,
                self.retransmissions,
                variables.flight as f64 / 1e3,
                variables.rto.as_secs_f64() * 1e3
            ),
            line("Mbit/s", &self.rate),
            line("cwnd kB", &self.cwnd),
            line("SRTT ms", &self.srtt),
        ];
        lines.extend(self.reports.iter().cloned());
        let back = if self.drawn > 0 { format!("\x1b[{}A", self.drawn) } else { String::new() };
        let drawn: Vec<String> = lines.iter().map(|line| format!("\x1b[2K{line}")).collect();
        self.drawn = lines.len();
        back + &drawn.join("\n")
    }
}

/// Returns a line of bars, scaled from 0 to the largest value, with the last value in front.
fn line(name: &str, values: &VecDeque<f64>) -> String {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| {
        let level = if largest > 0.0 { (value / largest * LEVELS.len() as f64).ceil() as usize } else { 0 };
        LEVELS[level.clamp(1, LEVELS.len()) - 1]
    };
    let bars: String = values.iter().map(bar).collect();
    format!("{name:>8} {:>9.2} {bars}", values.back().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_scale_from_zero_to_the_largest_value() {
        let values = VecDeque::from([0.0, 1.0, 4.0, 8.0]);
        assert_eq!(line("x", &values), "       x      8.00 ▁▁▄█");
        assert_eq!(line("x", &VecDeque::from([0.0])), "       x      0.00 ▁");
    }

    /// Two intervals: variables in the first line, bars below it, and the second drawn over the first.
    #[test]
    fn the_view_overwrites_the_previous_interval() {
        use eifel_base::time::{Duration, Instant};
        let variables = |srtt, ssthresh| eifel_recovery::engine::Snapshot {
            cwnd: 30_000,
            ssthresh,
            flight: 12_345,
            pipe: 0,
            una: 1,
            nxt: 1,
            srtt,
            rttvar: None,
            rto: Duration::from_millis(1500),
            latest_rtt: None,
            samples: 0,
            deadline: Instant::NEVER,
        };
        let ms = Duration::from_millis;
        let interval = |start, end, bytes, retransmissions, variables| Interval {
            stream: 1,
            start: ms(start),
            end: ms(end),
            bytes,
            retransmissions,
            variables,
        };
        let mut view = View::default();
        let first = view.interval(&interval(0, 1000, 500_000, 2, variables(Some(ms(80)), u64::MAX)));
        view.report("undone".to_owned());
        let second = view.interval(&interval(1000, 3000, 250_000, 1, variables(None, 20_000)));
        let lines = |text: &str| text.split("\n\x1b[2K").map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            lines(&first),
            [
                "\x1b[2K     1.0 s  0.5 MB sent, 2 segments retransmitted; in flight 12.3 kB, ssthresh unset, RTO 1500 ms",
                "  Mbit/s      4.00 █",
                " cwnd kB     30.00 █",
                " SRTT ms     80.00 █",
            ]
        );
        assert_eq!(
            lines(&second),
            [
                "\x1b[4A\x1b[2K     3.0 s  0.8 MB sent, 3 segments retransmitted; in flight 12.3 kB, ssthresh 20.0 kB, RTO 1500 ms",
                "  Mbit/s      1.00 █▂",
                " cwnd kB     30.00 ██",
                " SRTT ms      0.00 █▁",
                "undone",
            ]
        );
    }

    #[test]
    fn undo_reports_are_bounded_and_the_newest_kept() {
        let mut view = View::default();
        (0..20).for_each(|number| view.report(number.to_string()));
        assert_eq!((view.reports.len(), view.reports.back().map(String::as_str)), (REPORTS, Some("19")));
    }
}
