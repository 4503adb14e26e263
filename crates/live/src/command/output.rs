//! The output of commands: lines as iperf3 prints them, mixed with the engine's reports, or one
//! JSON document in iperf3's format.

use super::say;
use super::view::View;
use crate::apps::Notice;
use crate::apps::client::Outcome;
use crate::apps::meter::{Interval, Meter};
use eifel_base::time::{Duration, Instant};
use eifel_recovery::detect::Outcome as Verdict;
use eifel_recovery::engine::{Config, Event};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;

/// Prints a run as lines, as a view, or as one JSON document at its end.
#[derive(Clone, Debug)]
pub(super) struct Show {
    pub(super) json: bool,
    pub(super) sends: bool,
    /// Names of the detectors, the acting one first.
    detectors: Vec<String>,
    began: Rc<RefCell<Instant>>,
    events: Rc<RefCell<Vec<Value>>>,
    /// The view that replaces lines, if it was asked for.
    view: Option<Rc<RefCell<View>>>,
}

impl Show {
    pub(super) fn new(json: bool, sends: bool, sender: &Config) -> Self {
        let detectors = std::iter::once(&sender.detect).chain(&sender.observers).map(|choice| choice.name.to_string());
        let detectors = detectors.collect();
        Self { json, sends, detectors, began: Rc::default(), events: Rc::default(), view: None }
    }

    /// Draws a view in place of lines.
    pub(super) fn drawing(self) -> Self {
        Self { view: Some(Rc::default()), ..self }
    }

    /// Returns the observer of a run.
    pub(super) fn watch(&self) -> crate::apps::Watch<'static> {
        let show = self.clone();
        Box::new(move |now, news| show.tell(now, news))
    }

    fn tell(&self, now: Instant, news: &Notice<'_>) {
        if let Some(text) = self.told(now, news) {
            say(&text);
        }
    }

    /// Returns the lines to print for `news`; `None` if there are none.
    fn told(&self, now: Instant, news: &Notice<'_>) -> Option<String> {
        match (news, &self.view) {
            (Notice::Connected, view) => {
                *self.began.borrow_mut() = now;
                (!self.json && view.is_none()).then(|| heading(self.sends).to_owned())
            }
            (Notice::Interval(interval), Some(view)) => Some(view.borrow_mut().interval(interval)),
            (Notice::Interval(interval), None) => (!self.json).then(|| line(interval, self.sends)),
            (Notice::Recovery(event), _) => self.recovery(now, event),
        }
    }

    fn recovery(&self, now: Instant, event: &Event) -> Option<String> {
        let at = now.since(*self.began.borrow()).as_secs_f64();
        let (word, more) = self.said(event);
        if self.json {
            self.events.borrow_mut().push(json!({ "time_s": at, "event": word, "what": more }));
        } else if let Some(view) = &self.view {
            view.borrow_mut().report(format!("{at:>10.3} s  {word}: {more}"));
        } else {
            return Some(format!("  {at:>10.6} s  {word}: {more}"));
        }
        None
    }

    fn said(&self, event: &Event) -> (&'static str, String) {
        match event {
            Event::TimerExpired { timeouts } => ("timeout", format!("the timer has expired, {timeouts} in a row")),
            Event::EpisodeOpened { episode, saved } => {
                let saved = saved.window;
                let from = format!("position {} to {}", episode.start, episode.recovery_point);
                (
                    "episode",
                    format!("{} opened by {:?}: {from}, cwnd was {}", episode.number, episode.cause, saved.cwnd),
                )
            }
            Event::Judged { episode, detector, outcome, reason } => {
                let verdict = if *outcome == Verdict::Spurious { "spurious" } else { "genuine" };
                let name = self.detectors.get(*detector).map_or("?", String::as_str);
                ("verdict", format!("episode {episode} was {verdict}, says {name}: {reason}"))
            }
            Event::Distrusted { detector, reason } => {
                let name = self.detectors.get(*detector).map_or("?", String::as_str);
                ("distrust", format!("{name} no longer trusts the peer: {reason}"))
            }
            Event::Adjusted { episode, window } => {
                let ssthresh = threshold(window.ssthresh);
                ("undo", format!("episode {episode}: cwnd {} ssthresh {ssthresh}", window.cwnd))
            }
            Event::Echoed { window } => {
                ("mark", format!("echoed: cwnd {} ssthresh {}", window.cwnd, threshold(window.ssthresh)))
            }
            Event::EpisodeClosed { episode, timeouts } => {
                ("episode", format!("{episode} closed after {timeouts} timeouts"))
            }
        }
    }

    /// Returns the last lines, with the totals.
    pub(super) fn summary(&self, outcome: &Outcome) -> String {
        let rate = rate_of(outcome.written.max(outcome.read), outcome.lasted);
        format!(
            "- - - - - - - - - - - - - - - - - - - - - - - - -\n        0.00-{:<6.2} sec  {:>12}  {:>16}  {:>5}          {}",
            outcome.lasted.as_secs_f64(),
            amount(outcome.written.max(outcome.read)),
            bits(rate),
            outcome.tally.retransmissions,
            if self.sends { "sender" } else { "receiver" },
        )
    }

    /// Takes the engine's reports for the JSON document.
    pub(super) fn events(&self) -> Value {
        Value::Array(self.events.borrow_mut().drain(..).collect())
    }
}

pub(super) fn heading(sends: bool) -> &'static str {
    if sends {
        "[ ID]  Interval            Transfer           Bitrate   Retr          Cwnd      Srtt       RTO"
    } else {
        "[ ID]  Interval            Transfer           Bitrate"
    }
}

pub(super) fn line(interval: &Interval, sends: bool) -> String {
    let (start, end) = (interval.start.as_secs_f64(), interval.end.as_secs_f64());
    let (moved, rate) = (amount(interval.bytes), bits(interval.rate_bps()));
    let begin = format!("[{:>3}] {start:>5.2}-{end:<6.2} sec  {moved:>12}  {rate:>16}", interval.stream);
    if !sends {
        return begin;
    }
    let variables = &interval.variables;
    let ms = |length: Option<Duration>| {
        length.map_or("-".to_owned(), |length| format!("{:.1} ms", length.as_secs_f64() * 1e3))
    };
    format!(
        "{begin}  {:>5}  {:>12}  {:>8}  {:>8}",
        interval.retransmissions,
        amount(variables.cwnd),
        ms(variables.srtt),
        ms(Some(variables.rto)),
    )
}

/// Formats bytes as iperf3 does, in units of 1024.
pub(super) fn amount(bytes: u64) -> String {
    let units = ["Bytes", "KBytes", "MBytes", "GBytes"];
    let (value, unit) = scaled(bytes as f64, 1024.0, units);
    format!("{value} {unit}")
}

/// Formats a rate as iperf3 does, in units of 1000.
fn bits(rate: f64) -> String {
    let units = ["bits/sec", "Kbits/sec", "Mbits/sec", "Gbits/sec"];
    let (value, unit) = scaled(rate, 1000.0, units);
    format!("{value} {unit}")
}

fn scaled(mut value: f64, step: f64, units: [&'static str; 4]) -> (String, &'static str) {
    let mut unit = 0;
    while value >= step && unit < 3 {
        value /= step;
        unit += 1;
    }
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    (format!("{value:.digits$}"), units[unit])
}

fn rate_of(bytes: u64, lasted: Duration) -> f64 {
    let seconds = lasted.as_secs_f64();
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

fn threshold(ssthresh: u64) -> String {
    if ssthresh == u64::MAX { "unset".to_owned() } else { ssthresh.to_string() }
}

fn micros(length: Option<Duration>) -> u64 {
    length.map_or(0, |length| length.as_nanos() / 1000)
}

/// Returns an interval in the format of iperf3's `--json`.
fn interval_json(interval: &Interval, sends: bool) -> Value {
    let (start, end) = (interval.start.as_secs_f64(), interval.end.as_secs_f64());
    let mut sum = json!({
        "start": start, "end": end, "seconds": end - start, "bytes": interval.bytes,
        "bits_per_second": interval.rate_bps(), "omitted": false, "sender": sends,
    });
    let mut stream = sum.clone();
    stream["socket"] = json!(1);
    if sends {
        let variables = &interval.variables;
        sum["retransmits"] = json!(interval.retransmissions);
        stream["retransmits"] = json!(interval.retransmissions);
        stream["snd_cwnd"] = json!(variables.cwnd);
        stream["rtt"] = json!(micros(variables.srtt));
        stream["rttvar"] = json!(micros(variables.rttvar));
        // Beyond iperf3's format.
        stream["rto"] = json!(micros(Some(variables.rto)));
        stream["ssthresh"] = if variables.ssthresh == u64::MAX { Value::Null } else { json!(variables.ssthresh) };
        stream["flight"] = json!(variables.flight);
    }
    json!({ "streams": [stream], "sum": sum })
}

/// Returns a run in the format of iperf3's `--json`, with the engine's reports under `eifel`.
pub(super) fn document(start: Value, outcome: &Outcome, meter: &Meter, sends: bool, events: Value) -> Value {
    let seconds = outcome.lasted.as_secs_f64();
    let intervals: Vec<Value> = meter.intervals().iter().map(|interval| interval_json(interval, sends)).collect();
    let sum = |bytes: u64| {
        json!({
            "start": 0, "end": seconds, "seconds": seconds, "bytes": bytes,
            "bits_per_second": rate_of(bytes, outcome.lasted), "sender": sends,
        })
    };
    let mut sent = sum(if sends { outcome.written } else { 0 });
    sent["retransmits"] = json!(outcome.tally.retransmissions);
    let received = sum(if sends { outcome.acknowledged } else { outcome.read });
    let largest = meter.intervals().iter().map(|interval| interval.variables.cwnd).max();
    let mut sender = sent.clone();
    sender["max_snd_cwnd"] = json!(largest);
    json!({
        "start": start,
        "intervals": intervals,
        "end": {
            "streams": [{ "sender": sender, "receiver": received.clone() }],
            "sum_sent": sent, "sum_received": received,
        },
        "eifel": { "events": events, "segments": outcome.tally.segments, "mss": outcome.mss },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Tally;
    use eifel_recovery::congest::Window;
    use eifel_recovery::episode::{Episode, Saved};
    use eifel_recovery::fact::Cause;
    use eifel_recovery::registry::Choice;

    #[test]
    fn a_rate_prints_three_digits() {
        for (rate, shown) in [
            (0.0, "0.00 bits/sec"),
            (9.99, "9.99 bits/sec"),
            (10.0, "10.0 bits/sec"),
            (99.9, "99.9 bits/sec"),
            (100.0, "100 bits/sec"),
            (999.0, "999 bits/sec"),
            (1000.0, "1.00 Kbits/sec"),
            (25e9, "25.0 Gbits/sec"),
            (25e12, "25000 Gbits/sec"),
        ] {
            assert_eq!(bits(rate), shown);
        }
    }

    /// Returns the variables of a sender with a window of `bytes`.
    fn variables(bytes: u64) -> eifel_recovery::engine::Snapshot {
        let ms = |ms: u64| Some(Duration::from_micros(1000 * ms + 250));
        eifel_recovery::engine::Snapshot {
            cwnd: bytes,
            ssthresh: u64::MAX,
            flight: bytes / 2,
            pipe: bytes / 3,
            una: 1,
            nxt: bytes,
            srtt: ms(80),
            rttvar: ms(40),
            rto: Duration::from_millis(1500),
            latest_rtt: ms(90),
            samples: 2,
            deadline: Instant::NEVER,
        }
    }

    fn interval(start_ms: u64, end_ms: u64, bytes: u64) -> Interval {
        let [start, end] = [start_ms, end_ms].map(Duration::from_millis);
        Interval { stream: 1, start, end, bytes, retransmissions: bytes % 7, variables: variables(bytes) }
    }

    #[test]
    fn intervals_as_text_and_json_match_their_golden() {
        let mut text = String::new();
        let mut capped = interval(900, 10_900, 3_000_000_000);
        capped.variables.ssthresh = 20_000;
        for interval in [interval(0, 1000, 10_000), interval(1000, 1000, 1023), capped] {
            for sends in [true, false] {
                let json = interval_json(&interval, sends);
                text += &format!("{}\n{}\n{json}\n", heading(sends), line(&interval, sends));
            }
        }
        eifel_testkit::golden!("intervals.txt", text);
    }

    fn outcome() -> Outcome {
        Outcome {
            written: 100_000,
            acknowledged: 99_000,
            read: 700,
            head: Vec::new(),
            lasted: Duration::from_millis(2500),
            tally: Tally { segments: 90, retransmissions: 4 },
            counts: Default::default(),
            mss: 1448,
            variables: variables(20_000),
        }
    }

    /// One event of each kind, and verdicts of two detectors.
    fn events() -> [Event; 9] {
        let window = |ssthresh| Window { cwnd: 5000, ssthresh };
        let saved =
            Saved { window: window(7000), reduced: window(7000), flight: 6000, peer_window: 65_535, estimate: None };
        let episode = Episode {
            number: 3,
            cause: Cause::Timeout,
            opened_at: Instant::ZERO,
            start: 10_001,
            recovery_point: 16_001,
            timeouts: 1,
            settled: false,
            closed: false,
        };
        let reason = "a reason";
        let verdict = |detector, outcome| Event::Judged { episode: 3, detector, outcome, reason };
        [
            Event::TimerExpired { timeouts: 2 },
            Event::EpisodeOpened { episode, saved },
            verdict(0, Verdict::Spurious),
            verdict(0, Verdict::Genuine),
            verdict(9, Verdict::Spurious),
            Event::Distrusted { detector: 0, reason },
            Event::Adjusted { episode: 3, window: window(u64::MAX) },
            Event::Echoed { window: window(4000) },
            Event::EpisodeClosed { episode: 3, timeouts: 1 },
        ]
    }

    #[test]
    fn the_json_of_a_run_matches_its_golden() {
        let mut text = String::new();
        let mut meter = Meter::new(Instant::ZERO, Duration::from_secs(1));
        let tally = |retransmissions| Tally { segments: 90, retransmissions };
        meter.cut(Instant::ZERO + Duration::from_secs(1), 90_000, tally(3), variables(30_000));
        meter.cut(Instant::ZERO + Duration::from_secs(2), 100_000, tally(4), variables(20_000));
        let lasted = outcome().lasted;
        for (sends, lasted) in [(true, lasted), (false, lasted), (true, Duration::ZERO)] {
            let outcome = Outcome { lasted, ..outcome() };
            let made = document(json!({ "x": 1 }), &outcome, &meter, sends, json!(["undo"]));
            text += &format!("{made:#}\n");
        }
        eifel_testkit::golden!("documents.txt", text);
    }

    #[test]
    fn the_text_of_engine_events_matches_its_golden() {
        let show = Show::new(true, true, &Config::default());
        for event in events() {
            assert_eq!(show.told(Instant::ZERO + Duration::from_millis(1500), &Notice::Recovery(&event)), None);
        }
        let events = show.events();
        let said: Vec<String> = events.as_array().unwrap().iter().map(|one| format!("{one}\n")).collect();
        eifel_testkit::golden!("said.txt", said.concat());
        assert_eq!(show.events(), json!([]), "each report is handed over once");
    }

    /// Shows more intervals and events than a view holds, as lines, as a document, and as a view.
    #[test]
    fn the_text_of_a_run_matches_its_golden() {
        let mut text = String::new();
        let config = Config { observers: vec![Choice::named("f-rto")], ..Config::default() };
        for (how, json, view, sends) in [
            ("a sender's lines", false, false, true),
            ("a receiver's lines", false, false, false),
            ("a document", true, false, true),
            ("a view", false, true, true),
        ] {
            let show = Show::new(json, sends, &config);
            let show = if view { show.drawing() } else { show };
            let at = |ms| Instant::ZERO + Duration::from_millis(ms);
            let mut told = vec![show.told(at(250), &Notice::Connected)];
            for number in 0..64 {
                if let Some(event) = events().get(number as usize) {
                    told.push(show.told(at(1000 * number + 900), &Notice::Recovery(event)));
                }
                let mut interval = interval(1000 * number, 1000 * (number + 1), 1000 + number * number % 97);
                interval.variables.cwnd = 10_000 + 700 * number;
                interval.variables.srtt = (number > 0).then(|| Duration::from_millis(100 - number));
                interval.variables.ssthresh = if number < 5 { u64::MAX } else { 1000 * number };
                told.push(show.told(at(1000 * (number + 1) + 250), &Notice::Interval(&interval)));
            }
            told.push(Some(show.summary(&outcome())));
            told.push(Some(show.summary(&Outcome { read: 200_000, ..outcome() })));
            let lines: Vec<String> = told.into_iter().flatten().collect();
            let shown = lines.join("\n").replace('\x1b', "ESC");
            // The lines in the middle are like the first and the last, so they are left out.
            let lines: Vec<&str> = shown.lines().collect();
            let kept = lines.iter().enumerate().filter(|(place, _)| *place < 60 || place + 30 >= lines.len());
            text += &format!("# {how}: {} lines, {}\n", lines.len(), eifel_testkit::digest(&shown));
            kept.for_each(|(_, line)| text += &format!("{line}\n"));
        }
        eifel_testkit::golden!("terminal.txt", text);
    }
}
