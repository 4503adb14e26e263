//! CUBIC in an engine, and called by itself: RFC 9438's equations, worked out independently of the
//! code.

use eifel_recovery::congest::cubic::{Cubic, Rule, Settings};
use eifel_recovery::congest::{Base, Congest, Counting, Echoed, Grow, Growth, Loss, SlowStart, Start, Window};
use eifel_recovery::engine::Config;
use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Choice, Value};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::script::{UNSET, open, overtaken, progress, spike, text};
use crate::talk::{Talk, at, config, eifel, ms, start};

pub fn cubic(base: Config, parameters: &[(&str, Value)]) -> Config {
    let always = Choice::named("cubic").with("grow", Value::Word("always".into()));
    let congest = parameters.iter().fold(always, |choice, (name, value)| choice.with(name, value.clone()));
    Config { congest, ..base }
}

fn windows(talk: &Talk) -> (u64, u64) {
    (talk.cwnd(), talk.ssthresh())
}

pub fn initial_window() {
    let congest = Choice::named("cubic").with("initial_window_segments", Value::Integer(4));
    let mut talk = Talk::new(&Config { congest, ..config("reno-sack") });
    assert_eq!(text(&talk.send()), "1 2 3 4");
}

/// Before any loss, the curve begins flat at the start of congestion avoidance. Without cwnd_prior,
/// W_est grows like Reno's window.
pub fn initial_ssthresh() {
    let mut talk = Talk::new(&cubic(config("reno-sack"), &[("initial_ssthresh_bytes", Value::Integer(10_000))]));
    talk.send();
    talk.ack(100, 1, &[], 0);
    assert_eq!(windows(&talk), (10_100, 10_000));
}

/// Nothing was lost. By the RFC, Reno's window adds one segment per 40 segments. Linux adds at
/// least one per 20 segments.
pub fn curve() {
    for (word, cwnd) in [("rfc9438", 40_025), ("linux", 40_050)] {
        let parameters = [
            ("initial_window_segments", Value::Integer(40)),
            ("initial_ssthresh_bytes", Value::Integer(40_000)),
            ("curve", Value::Word(word.into())),
        ];
        let mut talk = Talk::new(&cubic(config("reno-sack"), &parameters));
        talk.send();
        talk.ack(100, 1, &[], 0);
        assert_eq!(windows(&talk), (cwnd, 40_000), "{word}");
    }
}

pub fn grow() {
    for (word, cwnd) in [("when-limiting", 10_000), ("when-limiting-window", 10_000), ("always", 11_000)] {
        let mut talk = Talk::new(&cubic(config("reno-sack"), &[("grow", Value::Word(word.into()))]));
        talk.end = start(3);
        talk.send();
        talk.ack(100, 1, &[], 0);
        assert_eq!(talk.cwnd(), cwnd, "{word}");
    }
}

/// Two segments are acknowledged at once.
pub fn counting() {
    for (word, cwnd) in [("rfc5681", 11_000), ("abc-2", 12_000)] {
        let mut talk = Talk::new(&cubic(config("reno-sack"), &[("counting", Value::Word(word.into()))]));
        talk.send();
        talk.ack(100, 2, &[], 0);
        assert_eq!(talk.cwnd(), cwnd, "{word}");
    }
}

pub fn restart_after_idle() {
    for (restart, sent) in [(true, 10), (false, 20)] {
        let mut talk = Talk::new(&cubic(config("reno-sack"), &[("restart_after_idle", Value::Switch(restart))]));
        talk.end = start(11);
        talk.send();
        for segment in 1..=10 {
            talk.ack(100 + segment, segment, &[], 0);
        }
        talk.now = at(111) + talk.engine.snapshot().rto;
        talk.end = start(100);
        assert_eq!(talk.send().len(), sent);
    }
}

/// Option 2 leaves ssthresh at the timeout's value, 0.7 of 11 segments, and so it leaves the curve
/// too. Below the 11 segments before the timeout, W_est grows by alpha, 9/17, per window. With the
/// curve before the timeout it would grow by 1.
#[test]
fn an_undo_that_restores_no_ssthresh_keeps_the_cubic_curve() {
    let mut talk = spike(&cubic(eifel("reno-sack", "option-2"), &[]));
    talk.ack(1150, 2, &[], 0);
    assert_eq!(talk.verdicts()[0].0, "Spurious");
    assert_eq!(windows(&talk), (7768, 7700));
}

const SETTINGS: Settings = Settings {
    start: Start { window: 10, ssthresh: None, restart_after_idle: true },
    fast_convergence: true,
    from: Base::Flight,
    rule: Rule::Rfc9438,
    growth: Growth::new(Counting::Rfc5681, Grow::WhenLimiting),
    slow_start: SlowStart::Standard,
    echoed: Echoed::AsLoss,
};

/// A controller on a path with a round trip of 100 ms, and its window.
struct Run {
    cubic: Cubic,
    round_trips: RoundTrips,
    window: Window,
}

impl Run {
    fn new(settings: Settings, cwnd: u64) -> Self {
        let mut talk = open(&config("reno-sack"));
        talk.send();
        let round_trips = *talk.engine.round_trips();
        assert_eq!(round_trips.latest(), Some(ms(100)));
        Self { cubic: Cubic::new(settings), round_trips, window: Window { cwnd, ssthresh: UNSET } }
    }

    fn lose(&mut self, now: u64, cause: Cause) -> (u64, u64) {
        let flight = self.window.cwnd;
        let loss = Loss { cause, flight, limit: flight, timeout_again: false };
        self.window = self.cubic.on_loss(&self.window, &loss, &view(now, &self.round_trips));
        (self.window.cwnd, self.window.ssthresh)
    }

    /// Returns the windows after an ACK of a segment at each of these times.
    fn acks(&mut self, times: &[u64]) -> Vec<u64> {
        let step = |&now: &u64| {
            let flight = self.window.cwnd;
            self.window = self.cubic.on_ack(&self.window, &progress(1000, flight), &view(now, &self.round_trips));
            self.window.cwnd
        };
        times.iter().map(step).collect()
    }

    /// Takes an ACK while hardly anything is outstanding.
    fn unused(&mut self, now: u64) {
        self.window = self.cubic.on_ack(&self.window, &progress(1000, 1000), &view(now, &self.round_trips));
    }
}

fn view(now: u64, round_trips: &RoundTrips) -> View {
    View { now: at(now), una: 1, nxt: 1_000_001, mss: 1000, sack: true, round_trips: *round_trips }
}

/// W_max is 100, and K = cbrt(30 / 0.4) = 4.217 s. At first the window is Reno's, then it follows
/// the curve: steep, flat at K, and steep again.
#[test]
fn the_curve_goes_through_the_window_at_the_loss() {
    let mut run = Run::new(SETTINGS, 100_000);
    assert_eq!(run.lose(0, Cause::FastRetransmit), (70_000, 70_000));
    let found = run.acks(&[10_000, 11_000, 12_000, 13_000, 14_200, 15_000, 18_000, 30_000, 30_100]);
    assert_eq!(found, [70_007, 70_262, 70_632, 71_040, 71_447, 71_851, 72_351, 72_851, 73_351]);
}

/// A second loss at 85 of 100: W_max is 0.85 of 85, unless fast convergence is off.
#[test]
fn fast_convergence_lowers_w_max() {
    let again = |fast_convergence| {
        let mut run = Run::new(Settings { fast_convergence, ..SETTINGS }, 100_000);
        run.lose(0, Cause::FastRetransmit);
        run.window.cwnd = 85_000;
        assert_eq!(run.lose(5000, Cause::FastRetransmit), (59_500, 59_500));
        run.acks(&[10_000, 11_000, 13_000])
    };
    assert_eq!(again(true), [59_508, 59_663, 59_874]);
    assert_ne!(again(false), again(true));
}

/// Five segments are outstanding, and cwnd is ten.
pub fn ssthresh_from() {
    for (word, ssthresh) in [("flight", 3500), ("window", 7000)] {
        let mut talk = Talk::new(&cubic(config("reno-sack"), &[("ssthresh_from", Value::Word(word.into()))]));
        talk.end = start(6);
        talk.send();
        talk.expire();
        assert_eq!(talk.ssthresh(), ssthresh, "{word}");
    }
}

/// Reduced once at eleven segments and once below. A second later the curve aims at the lowered
/// W_max, or at the window at the loss.
pub fn fast_convergence() {
    let later = |on| {
        let mut talk = overtaken(&cubic(config("reno-sack"), &[("fast_convergence", Value::Switch(on))]));
        talk.ack(203, 14, &[], 103);
        talk.ack(303, 15, &[], 203);
        for last in 17..=19 {
            talk.ack(290 + last, 15, &[(17, last)], 203);
        }
        let nxt = (talk.engine.nxt() - 1) / 1000;
        talk.ack(400, nxt, &[], 309);
        let reduced = talk.cwnd();
        talk.ack(500, nxt + 1, &[], 400);
        talk.ack(1500, nxt + 2, &[], 500);
        (reduced, talk.cwnd())
    };
    let (on, off) = (later(true), later(false));
    assert_eq!(on.0, off.0);
    assert!(on.1 < off.1, "{on:?} {off:?}");
}

/// Section 4.8: K is 0, and the curve rises from the window at which congestion avoidance begins.
#[test]
fn after_a_timeout_the_curve_begins_where_slow_start_ends() {
    let mut run = Run::new(SETTINGS, 100_000);
    assert_eq!(run.lose(0, Cause::Timeout), (1000, 70_000));
    assert_eq!(run.acks(&[100, 200]), [2000, 3000]);
    run.window = Window { cwnd: 50_000, ssthresh: 50_000 };
    assert_eq!(run.acks(&[10_000, 11_000, 12_000]), [50_010, 50_021, 50_094]);
}

#[test]
fn time_in_which_the_window_is_not_used_does_not_count() {
    let mut run = Run::new(SETTINGS, 100_000);
    run.lose(0, Cause::FastRetransmit);
    assert_eq!(run.acks(&[10_000]), [70_007]);
    run.unused(10_000);
    assert_eq!(run.acks(&[16_000]), [70_015], "as if it were 10 s");
    assert_eq!(run.acks(&[17_000]), [70_270]);
}

#[test]
fn an_undo_restores_the_epoch_without_the_time_since_the_loss() {
    let mut run = Run::new(SETTINGS, 100_000);
    run.lose(0, Cause::FastRetransmit);
    run.acks(&[10_000, 11_000]);
    let window = run.window;
    assert_eq!(run.lose(11_000, Cause::Timeout), (1000, 49_183));
    run.acks(&[11_500]);
    run.cubic.on_undo(&run.window, &view(18_000, &run.round_trips));
    run.window = window;
    // As if it were 12 s. The fraction of a byte is dropped.
    assert_eq!(run.acks(&[19_000]), [70_631]);
    // There is nothing left to restore.
    run.cubic.on_undo(&run.window, &view(19_000, &run.round_trips));
    assert_eq!(run.acks(&[20_000]), [71_039]);
}

/// Section 4.9.2: if cwnd is back at cwnd_prior, the current curve is the better one.
#[test]
fn an_undo_at_or_above_cwnd_prior_keeps_the_curve() {
    let after = |regained: u64, undone: bool| {
        let mut run = Run::new(SETTINGS, 100_000);
        run.lose(0, Cause::FastRetransmit);
        run.window = Window { cwnd: regained, ssthresh: 70_000 };
        if undone {
            run.cubic.on_undo(&run.window, &view(1000, &run.round_trips));
        }
        run.acks(&[1100, 11_000])
    };
    assert_ne!(after(99_999, true), after(99_999, false));
    assert_eq!(after(100_000, true), after(100_000, false));
}

/// Slow start needs half of the window in flight. Congestion avoidance needs all of it but less
/// than a segment.
#[test]
fn the_window_grows_only_while_it_limits_the_sender() {
    let grown = |window, flight| {
        let mut run = Run::new(SETTINGS, 0);
        run.cubic.on_ack(&window, &progress(1000, flight), &view(0, &run.round_trips)).cwnd
    };
    let slow_start = Window { cwnd: 10_000, ssthresh: 10_001 };
    assert_eq!([4999, 5000].map(|flight| grown(slow_start, flight)), [10_000, 11_000]);
    // From ssthresh on, half of the window is not enough. Before any loss alpha is 1, which adds a
    // tenth of a segment.
    let avoidance = Window { cwnd: 10_000, ssthresh: 10_000 };
    assert_eq!([5000, 9000, 9001].map(|flight| grown(avoidance, flight)), [10_000, 10_000, 10_100]);
}

/// A reduction leaves 0.7 of the flight, but at least two segments.
#[test]
fn a_reduction_leaves_at_least_two_segments() {
    let lose = |cwnd| Run::new(SETTINGS, cwnd).lose(0, Cause::FastRetransmit);
    assert_eq!([lose(2000), lose(2857), lose(2860)], [(2000, 2000), (2000, 2000), (2002, 2002)]);
}
