//! Every parameter at a value other than its default, seen from outside.

use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Seam, Value, part};
use eifel_recovery::rto::TimerChange;

use crate::adapted;
use crate::congest_cubic;
use crate::congest_hystart;
use crate::congest_windows;
use crate::detect_dsack;
use crate::detect_linux;
use crate::pace;
use crate::recover_ns2;
use crate::recover_prr;
use crate::recover_rack_tlp;
use crate::recover_tcp_ncr;
use crate::rto_parameters;
use crate::script::{UNSET, open, spike, text};
use crate::talk::{Out, Talk, at, config, eifel, ms, start};

type Set = (Seam, &'static str, &'static str, fn());

macro_rules! rules {
    ($($name:literal),* ; $($rest:expr),* $(,)?) => {
        &[
            $(
                (Seam::Recover, $name, "duplicate_threshold", || duplicate_threshold($name)),
                (Seam::Recover, $name, "limited_transmit", || limited_transmit($name)),
                (Seam::Recover, $name, "bugfix", || bugfix($name)),
                (Seam::Recover, $name, "fast_retransmit_below_recovery_point", || below_recovery_point($name)),
                (Seam::Recover, $name, "after_spurious_timeout", || after_spurious_timeout($name)),
            )*
            $($rest),*
        ]
    };
}

pub const SET: &[Set] = rules!("reno", "newreno", "reno-sack", "newreno-sack", "fack", "rfc6675";
    (Seam::Recover, "reno", "suppress_late_fast_retransmit", || suppress_late_fast_retransmit("reno")),
    (Seam::Recover, "newreno", "suppress_late_fast_retransmit", || suppress_late_fast_retransmit("newreno")),
    (Seam::Recover, "reno", "follows", || recover_ns2::follows("reno")),
    (Seam::Recover, "newreno", "follows", || recover_ns2::follows("newreno")),
    (Seam::Recover, "reno-sack", "follows", || recover_ns2::follows("reno-sack")),
    (Seam::Recover, "newreno-sack", "follows", || recover_ns2::follows("newreno-sack")),
    (Seam::Recover, "fack", "follows", || recover_ns2::follows("fack")),
    (Seam::Detect, "eifel-timestamps", "proof", proof),
    (Seam::Detect, "dual-rtt", "tau", tau),
    (Seam::Detect, "dual-rtt", "tau_thousandths", tau),
    (Seam::Detect, "min-rtt", "limit", limit),
    (Seam::Detect, "dsack", "waits", detect_dsack::waits),
    (Seam::Respond, "linux", "restore_epoch", detect_linux::restore_epoch),
    (Seam::Recover, "newreno-sack", "when", when),
    (Seam::Recover, "newreno-sack", "timer_restarts_on_partial", timer_restarts_on_partial),
    (Seam::Recover, "rack-tlp", "duplicate_threshold", || duplicate_threshold("rack-tlp")),
    (Seam::Recover, "rack-tlp", "limited_transmit", || limited_transmit("rack-tlp")),
    (Seam::Recover, "rack-tlp", "bugfix", recover_rack_tlp::bugfix),
    (Seam::Recover, "rack-tlp", "fast_retransmit_below_recovery_point", recover_rack_tlp::below_recovery_point),
    (Seam::Recover, "rack-tlp", "after_spurious_timeout", recover_rack_tlp::after_spurious_timeout),
    (Seam::Recover, "rfc6675", "reduction", || recover_prr::reduction("rfc6675")),
    (Seam::Recover, "rack-tlp", "reduction", || recover_prr::reduction("rack-tlp")),
    (Seam::Recover, "rack-tlp", "after_echo", recover_prr::after_echo),
    (Seam::Recover, "rack-tlp", "max_ack_delay_ms", recover_rack_tlp::max_ack_delay),
    (Seam::Recover, "tcp-ncr", "extended_limited_transmit", recover_tcp_ncr::extended_limited_transmit),
    (Seam::Recover, "tcp-ncr", "bugfix", || bugfix("tcp-ncr")),
    (Seam::Recover, "tcp-ncr", "fast_retransmit_below_recovery_point", recover_tcp_ncr::below_recovery_point),
    (Seam::Recover, "tcp-ncr", "after_spurious_timeout", || after_spurious_timeout("tcp-ncr")),
    (Seam::Rto, "rfc6298", "initial_ms", rto_parameters::rfc6298_initial),
    (Seam::Rto, "rfc6298", "minimum_ms", rto_parameters::rfc6298_minimum),
    (Seam::Rto, "rfc6298", "maximum_ms", rto_parameters::rfc6298_maximum),
    (Seam::Rto, "rfc6298", "granularity_ms", rto_parameters::rfc6298_granularity),
    (Seam::Rto, "rfc6298", "back_off_ends", rto_parameters::back_off_ends),
    (Seam::Rto, "rfc6298", "slop_ms", rto_parameters::slop),
    (Seam::Rto, "lite", "initial_ms", || rto_parameters::initial("lite")),
    (Seam::Rto, "lite", "maximum_ms", || rto_parameters::maximum("lite")),
    (Seam::Rto, "lite", "granularity_ms", rto_parameters::lite_granularity),
    (Seam::Rto, "lite", "clock", rto_parameters::clock),
    (Seam::Rto, "lite", "timing", || rto_parameters::timing("lite")),
    (Seam::Rto, "lite", "restart", || rto_parameters::restart("lite")),
    (Seam::Rto, "eifel", "initial_ms", || rto_parameters::initial("eifel")),
    (Seam::Rto, "eifel", "maximum_ms", || rto_parameters::maximum_above_sample("eifel")),
    (Seam::Rto, "eifel", "granularity_ms", || rto_parameters::granularity("eifel")),
    (Seam::Rto, "eifel", "m", || rto_parameters::weight("eifel")),
    (Seam::Rto, "eifel", "timing", || rto_parameters::timing("eifel")),
    (Seam::Rto, "eifel", "restart", || rto_parameters::restart("eifel")),
    (Seam::Rto, "self-trained", "k_per_mille", rto_parameters::k),
    (Seam::Rto, "self-trained", "initial_ms", || rto_parameters::initial("self-trained")),
    (Seam::Rto, "self-trained", "maximum_ms", || rto_parameters::maximum_above_sample("self-trained")),
    (Seam::Rto, "self-trained", "granularity_ms", || rto_parameters::granularity("self-trained")),
    (Seam::Rto, "self-trained", "m", || rto_parameters::weight("self-trained")),
    (Seam::Rto, "self-trained", "timing", || rto_parameters::timing("self-trained")),
    (Seam::Rto, "self-trained", "restart", || rto_parameters::restart("self-trained")),
    (Seam::Rto, "linux", "initial_ms", || rto_parameters::initial("linux")),
    (Seam::Rto, "linux", "minimum_ms", rto_parameters::linux_minimum),
    (Seam::Rto, "linux", "maximum_ms", || rto_parameters::maximum("linux")),
    (Seam::Rto, "never-restarted", "initial_ms", || rto_parameters::initial("never-restarted")),
    (Seam::Rto, "never-restarted", "minimum_ms", || rto_parameters::standard_minimum("never-restarted")),
    (Seam::Rto, "never-restarted", "maximum_ms", || rto_parameters::maximum("never-restarted")),
    (Seam::Rto, "never-restarted", "granularity_ms", || rto_parameters::standard_granularity("never-restarted")),
    (Seam::Rto, "fixed", "rto_ms", rto_parameters::fixed_rto),
    (Seam::Rto, "fixed", "maximum_ms", || rto_parameters::maximum("fixed")),
    (Seam::Respond, "rfc4015", "decay", adapted::decay),
    (Seam::Recover, "rfc6675", "after_spurious_fast_retransmit", adapted::after_spurious_fast_retransmit),
    (Seam::Recover, "fack", "off_when_reordered", adapted::off_when_reordered),
    (Seam::Rto, "rfc6298", "restarted_by", adapted::restarted_by),
    (Seam::AfterSpurious, "min-plus-plus", "step_ms", step),
    (Seam::AfterSpurious, "min-plus-plus", "per", per),
    (Seam::AfterSpurious, "min-plus-plus", "on_genuine", || on_genuine("min-plus-plus", [3000, 1500])),
    (Seam::AfterSpurious, "min-by-delay", "on_genuine", || on_genuine("min-by-delay", [4000, 2000])),
    (Seam::AfterSpurious, "min-by-delay", "average_of", average_of),
    (Seam::Congest, "reno", "initial_window_segments", initial_window),
    (Seam::Congest, "reno", "initial_ssthresh_bytes", initial_ssthresh),
    (Seam::Congest, "reno", "ssthresh_from", ssthresh_from),
    (Seam::Congest, "reno", "repeated_timeout", repeated_timeout),
    (Seam::Congest, "reno", "counting", counting),
    (Seam::Congest, "reno", "echo_response", || congest_windows::echo_response("reno", 8000)),
    (Seam::Congest, "reno", "grow", grow),
    (Seam::Congest, "reno", "slow_start", || congest_hystart::slow_start("reno")),
    (Seam::Congest, "reno", "restart_after_idle", restart_after_idle),
    (Seam::Congest, "cubic", "initial_window_segments", congest_cubic::initial_window),
    (Seam::Congest, "cubic", "initial_ssthresh_bytes", congest_cubic::initial_ssthresh),
    (Seam::Congest, "cubic", "fast_convergence", congest_cubic::fast_convergence),
    (Seam::Congest, "cubic", "ssthresh_from", congest_cubic::ssthresh_from),
    (Seam::Congest, "cubic", "curve", congest_cubic::curve),
    (Seam::Congest, "cubic", "counting", congest_cubic::counting),
    (Seam::Congest, "cubic", "echo_response", || congest_windows::echo_response("cubic", 8500)),
    (Seam::Congest, "cubic", "grow", congest_cubic::grow),
    (Seam::Congest, "cubic", "slow_start", || congest_hystart::slow_start("cubic")),
    (Seam::Congest, "cubic", "restart_after_idle", congest_cubic::restart_after_idle),
    (Seam::Pace, "burst-limit", "segments", pace::burst_segments),
    (Seam::Pace, "pacing", "slow_start_percent", || pace::slow_start_percent("pacing")),
    (Seam::Pace, "pacing", "avoidance_percent", || pace::avoidance_percent("pacing")),
    (Seam::Pace, "lasting-pacing", "slow_start_percent", || pace::slow_start_percent("lasting-pacing")),
    (Seam::Pace, "lasting-pacing", "avoidance_percent", || pace::avoidance_percent("lasting-pacing")),
    (Seam::Pace, "tso", "slow_start_percent", || pace::tso_percent("slow_start_percent", 0)),
    (Seam::Pace, "tso", "avoidance_percent", || pace::tso_percent("avoidance_percent", 10_000)),
    (Seam::Pace, "burst-pacer", "segments", pace::bucket_segments),
    (Seam::Pace, "burst-pacer", "slow_start_percent", pace::bucket_slow_start_percent),
    (Seam::Pace, "burst-pacer", "avoidance_percent", pace::bucket_avoidance_percent),
);

/// The original was sent at 0, the next segment at 10 or also at 0, and the retransmission at 1000.
/// If original and next segment share a timestamp, its echo does not prove that the original
/// arrived.
fn proof() {
    for (word, of_neighbour, shared) in [("older", "Spurious", "Spurious"), ("original", "Genuine", "Genuine")] {
        let detect = Choice::named("eifel-timestamps").with("proof", Value::Word(word.into()));
        let apart = [(10, 0, "Spurious"), (10, 10, of_neighbour), (10, 1000, "Genuine")];
        for (second, echo, outcome) in apart.into_iter().chain([(0, 0, shared)]) {
            let mut talk = Talk::new(&crate::judged::with(detect.clone()));
            for (millis, segment) in [(0, 1), (second, 2)] {
                (talk.now, talk.limit) = (at(millis), start(segment + 1));
                assert_eq!(talk.send().len(), 1);
            }
            assert_eq!(talk.expire().0, 1000);
            talk.ack(1010, 1, &[], echo);
            assert_eq!(talk.verdicts()[0].0, outcome, "{word} {second} {echo}");
        }
    }
}

/// 60 ms is below 0.7 of 100 ms, but neither below a tenth nor below the model's largest threshold.
fn tau() {
    for (config, judged) in [(crate::detect_dual_rtt::fixed(700), 1), (crate::judged::named("dual-rtt"), 0)] {
        let mut talk = spike(&config);
        talk.ack(3000, 2, &[], 0);
        talk.ack(3060, 3, &[], 0);
        assert_eq!(talk.verdicts().len(), judged);
    }
}

/// The limit is half of 100 ms after 1100 ms.
fn limit() {
    for (at, outcome) in [(1149, "Spurious"), (1150, "Genuine")] {
        let mut talk = spike(&crate::detect_min_rtt::half_srtt());
        talk.ack(at, 2, &[], 0);
        assert_eq!(talk.verdicts()[0].0, outcome, "{at}");
    }
}

fn recover(name: &str, parameter: &str, value: Value) -> Choice {
    Choice::named(name).with(parameter, value)
}

/// Returns the segments sent for each of `count` duplicates that report segments from 3 on.
fn duplicates(talk: &mut Talk, count: u64) -> Vec<String> {
    (1..=count).map(|d| text(&talk.ack(100 + d, 1, &[(3, 2 + d)], 0))).collect()
}

fn duplicate_threshold(name: &str) {
    let with = |value| Config { recover: recover(name, "duplicate_threshold", Value::Integer(value)), ..config(name) };
    let sent = duplicates(&mut open(&with(2)), 2);
    assert_eq!((sent[0].as_str(), &sent[1][..2]), ("13", "2r"));
    // RFC 3042's first two duplicates, or RFC 6675's rule as pipe falls.
    let limited = if name == "rfc6675" { ["13", "14", "15", "16"] } else { ["13", "14", "", ""] };
    let sent = duplicates(&mut open(&with(5)), 5);
    assert_eq!((&sent[..4], &sent[4][..2]), (&limited.map(String::from)[..], "2r"));
}

fn limited_transmit(name: &str) {
    let recover = recover(name, "limited_transmit", Value::Switch(false));
    let mut talk = open(&Config { recover, ..config(name) });
    assert_eq!(duplicates(&mut talk, 3), ["", "", "2r"]);
    assert_eq!(talk.cwnd(), 5500);
}

/// Sends duplicates during the go-back-N after a timeout.
fn bugfix(name: &str) {
    for (on, cwnd) in [(true, 1000), (false, 5500)] {
        let mut talk = spike(&Config { recover: recover(name, "bugfix", Value::Switch(on)), ..config(name) });
        for d in 1..=3 {
            talk.ack(1200 + d, 1, &[(5, 4 + d)], 0);
        }
        assert_eq!(talk.cwnd(), cwnd, "{on}");
    }
}

/// Segment 3 is really lost in a spike.
fn below_recovery_point(name: &str) {
    for (word, repaired) in [("allowed", true), ("blocked", false)] {
        let recover = recover(name, "fast_retransmit_below_recovery_point", Value::Word(word.into()));
        let mut talk = spike(&Config { recover, ..eifel(name, "option-1") });
        talk.ack(3000, 2, &[], 0);
        let sent: Vec<_> = (1..=3).map(|d| text(&talk.ack(3000 + d, 2, &[(4, 3 + d)], 0))).collect();
        assert_eq!(sent.concat().contains("3r"), repaired, "{word}: {sent:?}");
    }
}

fn after_spurious_timeout(name: &str) {
    let recover = recover(name, "after_spurious_timeout", Value::Word("go-back-n".into()));
    let mut talk = spike(&Config { recover, ..eifel(name, "option-1") });
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r 5r 6r 7r 8r 9r 10r 11r 12r 13 14");
    assert_eq!(talk.cwnd(), 12_000);
}

/// Loses 2..=9: pipe is 13 - 3 + 1 = 11 segments, 9 after a partial ACK, under a cwnd of 5.5.
fn hole(parameter: &str, word: &str) -> Talk {
    let recover = recover("newreno-sack", parameter, Value::Word(word.into()));
    let mut talk = open(&Config { recover, ..config("newreno-sack") });
    for d in 1..=3 {
        talk.ack(100 + d, 1, &[(10, 9 + d)], 0);
    }
    talk
}

fn when() {
    assert_eq!(text(&hole("when", "always").ack(203, 2, &[(10, 12)], 103)), "3r");
    assert_eq!(text(&hole("when", "after-spurious").ack(203, 2, &[(10, 12)], 103)), "");
}

fn timer_restarts_on_partial() {
    for (word, second) in [("every", 1303), ("first", 1203)] {
        let mut talk = hole("timer_restarts_on_partial", word);
        talk.ack(203, 2, &[(10, 12)], 103);
        assert_eq!(talk.engine.deadline(), at(1203));
        talk.ack(303, 3, &[(10, 12)], 203);
        assert_eq!(talk.engine.deadline(), at(second), "{word}");
    }
}

/// Returns a sender long after a spike with two expiries and a delay of 4 s, when every round trip takes 10 ms.
fn calmed(after_spurious: Choice) -> Talk {
    let mut talk = spike(&Config { after_spurious, ..eifel("reno-sack", "option-1") });
    talk.expire();
    talk.ack(4000, 2, &[], 0);
    for (at, segment) in (4010..9000).step_by(10).zip(3..) {
        talk.ack(at, segment, &[], at - 10);
    }
    talk
}

fn long_after(after_spurious: Choice) -> u64 {
    calmed(after_spurious).rto()
}

/// The raised minimum, and half of it after a genuine timeout, are given.
fn on_genuine(name: &str, [raised, halved]: [u64; 2]) {
    for (word, left) in [("reset", 1000), ("halve", halved)] {
        let mut choice = Choice::named(name).with("on_genuine", Value::Word(word.into()));
        if name == "min-plus-plus" {
            choice = choice.with("step_ms", Value::Duration(ms(2000)));
        }
        let mut talk = calmed(choice);
        assert_eq!(talk.rto(), raised);
        let (expired, sent) = talk.expire();
        let Out::Again(lost) = sent[0] else { panic!("{sent:?}") };
        talk.ack(expired + 10, lost, &[], expired);
        talk.ack(expired + 20, lost + 1, &[], expired + 10);
        assert_eq!(talk.verdicts().last().map(|verdict| verdict.0.as_str()), Some("Genuine"));
        assert_eq!(talk.rto(), left, "{name} {word}");
    }
}

/// After delays of 4 and 1.5 s the average is (3 * 4000 + 1500) / 4, and after one of 12 s (3 * 3375 + 12 000) / 4.
fn average_of() {
    for (of, minima) in [(1, [4000, 1500, 12_000]), (4, [4000, 3375, 5531])] {
        let choice = Choice::named("min-by-delay").with("average_of", Value::Integer(of));
        let mut adaptation = part::after_spurious(&choice).expect("an algorithm of the registry");
        let mut minimum = |delay| match adaptation.on_verdict(Outcome::Spurious, Some(ms(delay)), 1) {
            TimerChange::RaiseMinimumTo(least) => least.as_nanos() / 1_000_000,
            other => panic!("{other:?}"),
        };
        assert_eq!([minimum(4000), minimum(1500), minimum(12_000)], minima, "{of}");
    }
}

fn step() {
    let with = |millis| Choice::named("min-plus-plus").with("step_ms", Value::Duration(ms(millis)));
    assert_eq!(long_after(with(500)), 1500);
    assert_eq!(long_after(with(1700)), 2700);
}

fn per() {
    let with = |word: &str| Choice::named("min-plus-plus").with("per", Value::Word(word.into()));
    assert_eq!(long_after(with("verdict")), 2000);
    assert_eq!(long_after(with("expiry")), 3000);
}

pub fn reno(parameters: &[(&str, Value)]) -> Config {
    let congest =
        parameters.iter().fold(config("reno-sack").congest, |choice, (name, value)| choice.with(name, value.clone()));
    Config { congest, ..config("reno-sack") }
}

fn initial_window() {
    let mut talk = Talk::new(&reno(&[("initial_window_segments", Value::Integer(4))]));
    assert_eq!(text(&talk.send()), "1 2 3 4");
}

fn initial_ssthresh() {
    let mut talk = Talk::new(&reno(&[("initial_ssthresh_bytes", Value::Integer(10_000))]));
    talk.send();
    talk.ack(100, 1, &[], 0);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (10_100, 10_000), "congestion avoidance from the beginning");
}

fn ssthresh_from() {
    for (word, ssthresh) in [("flight", 5500), ("window", 5000)] {
        let talk = spike(&reno(&[("ssthresh_from", Value::Word(word.into()))]));
        assert_eq!(talk.ssthresh(), ssthresh, "{word}");
    }
    // Four of the 12 segments that the peer allows are acknowledged, so its window is below cwnd's
    // 13.
    let mut talk = Talk::new(&reno(&[("ssthresh_from", Value::Word("window".into()))]));
    talk.limit = start(13);
    talk.send();
    for segment in 1..=3 {
        talk.ack(100 + segment, segment, &[], 0);
    }
    talk.ack(104, 4, &[], 0);
    talk.expire();
    assert_eq!(talk.ssthresh(), 4000, "half of 12 - 4 segments");
}

fn repeated_timeout() {
    for (word, ssthresh) in [("hold", 5000), ("reduce", 2000)] {
        let window = ("ssthresh_from", Value::Word("window".into()));
        let mut talk = spike(&reno(&[window, ("repeated_timeout", Value::Word(word.into()))]));
        talk.expire();
        assert_eq!((talk.cwnd(), talk.ssthresh()), (1000, ssthresh), "{word}");
    }
}

/// Four segments are acknowledged at once.
fn counting() {
    for (word, cwnd) in
        [("rfc5681", 11_000), ("abc-1", 11_000), ("abc-2", 12_000), ("abc-8", 14_000), ("linux", 14_000)]
    {
        let mut talk = Talk::new(&reno(&[("counting", Value::Word(word.into()))]));
        talk.send();
        talk.ack(100, 4, &[], 0);
        assert_eq!(talk.cwnd(), cwnd, "{word}");
    }
}

/// Two segments of a window of ten are used.
fn grow() {
    for (word, cwnd) in [("when-limiting", 10_000), ("when-limiting-window", 10_000), ("always", 11_000)] {
        let mut talk = Talk::new(&reno(&[("grow", Value::Word(word.into()))]));
        talk.end = start(3);
        talk.send();
        talk.ack(100, 1, &[], 0);
        assert_eq!((talk.cwnd(), talk.ssthresh()), (cwnd, UNSET), "{word}");
    }
}

fn restart_after_idle() {
    for (restart, sent) in [(true, 10), (false, 20)] {
        let mut talk = Talk::new(&reno(&[("restart_after_idle", Value::Switch(restart))]));
        talk.end = start(11);
        talk.send();
        for segment in 1..=10 {
            talk.ack(100 + segment, segment, &[], 0);
        }
        assert_eq!(talk.cwnd(), 20_000);
        // Exactly an RTO is not longer than an RTO.
        talk.now = at(110) + talk.engine.snapshot().rto;
        talk.end = start(12);
        assert_eq!(text(&talk.send()), "11");
        assert_eq!(talk.cwnd(), 20_000);
        talk.ack(1200, 11, &[], 1110);
        assert_eq!(talk.cwnd(), 21_000);
        talk.now = at(1201) + talk.engine.snapshot().rto;
        talk.end = start(100);
        assert_eq!(talk.send().len(), if restart { sent } else { sent + 1 });
    }
}

/// The third duplicate for segment 2 comes after its timeout.
fn suppress_late_fast_retransmit(name: &str) {
    for (on, cwnd) in [(true, 11_000), (false, 1000)] {
        let recover = recover(name, "suppress_late_fast_retransmit", Value::Switch(on));
        let mut talk = spike(&Config { recover, respond: Choice::named("option-1"), ..config(name) });
        for d in 1..=3 {
            assert_eq!(text(&talk.ack(1200 + d, 1, &[], 0)), "");
        }
        assert_eq!(talk.cwnd(), cwnd, "{on}");
    }
}
