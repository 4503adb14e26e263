//! Every parameter of the timers at a value other than its default.

use eifel_base::time::Instant;
use eifel_recovery::congest::Window;
use eifel_recovery::engine::{Config, Negotiated};
use eifel_recovery::registry::{Choice, Value};
use eifel_recovery::rto::Rto;

use crate::rto_sequences::{build, sample, word};
use crate::script::open;
use crate::talk::{MSS, Talk, at, config, ms};

const WINDOW: Window = Window { cwnd: 4000, ssthresh: 3000 };

fn with(name: &str, parameter: &str, millis: u64) -> Box<dyn Rto> {
    build(&Choice::named(name).with(parameter, Value::Duration(ms(millis))))
}

fn millis(timer: &dyn Rto) -> u64 {
    timer.rto().as_nanos() / 1_000_000
}

/// Returns the RTO after these round trips in milliseconds, each of one segment, a second apart.
fn after(timer: &mut dyn Rto, round_trips: &[u64]) -> u64 {
    for (second, &rtt) in round_trips.iter().enumerate() {
        sample(timer, at(1000 * (second as u64 + 1)), ms(rtt), 1, WINDOW);
    }
    millis(timer)
}

pub fn initial(name: &str) {
    let mut timer = with(name, "initial_ms", 7000);
    assert_eq!(millis(&*timer), 7000);
    timer.back_off();
    assert_eq!(millis(&*timer), 14_000);
}

pub fn maximum(name: &str) {
    let mut timer = with(name, "maximum_ms", 2500);
    after(&mut *timer, &[100]);
    for _ in 0..40 {
        timer.back_off();
    }
    assert_eq!(millis(&*timer), 2500);
}

/// One sample of 100 ms: SRTT is 100 ms and 4 RTTVAR is 200 ms.
pub fn standard_minimum(name: &str) {
    assert_eq!(after(&mut *with(name, "minimum_ms", 200), &[100]), 300);
    assert_eq!(after(&mut *with(name, "minimum_ms", 350), &[100]), 350);
}

pub fn standard_granularity(name: &str) {
    let choice = Choice::named(name).with("minimum_ms", Value::Duration(ms(0)));
    let mut timer = build(&choice.with("granularity_ms", Value::Duration(ms(500))));
    assert_eq!(after(&mut *timer, &[100]), 600);
}

/// The maximum bounds the prediction and its back-off, but not the latest sample plus two ticks,
/// which is scaled like the prediction.
pub fn maximum_above_sample(name: &str) {
    maximum(name);
    let unbounded = after(&mut *with(name, "maximum_ms", 3_600_000), &[4000]);
    let mut timer = with(name, "maximum_ms", 2500);
    let bounded = after(&mut *timer, &[4000]);
    // The first prediction is three times the sample; two ticks are 20 ms.
    assert_eq!(bounded, unbounded * 4020 / 12_000);
    timer.back_off();
    assert_eq!(millis(&*timer), bounded);
}

pub fn lite_granularity() {
    for tick in [500, 200, 100, 10, 1] {
        let mut timer = with("lite", "granularity_ms", tick);
        assert_eq!(after(&mut *timer, &[0]), 2 * tick, "the minimum");
        assert_eq!(timer.expires(at(1001), at(1001)), at(1001 / tick * tick + 2 * tick));
    }
}

/// The 400 ms contain no tick of 500 ms. The heartbeat counts none, and whole numbers count at
/// least one. The definition has 900 + 4 x 450.
pub fn clock() {
    let granularity = Value::Duration(ms(500));
    for (clock, rtt, expected) in [
        ("heartbeat", 900, 3000),
        ("exact", 900, 2700),
        ("heartbeat", 400, 1000),
        ("scaled", 900, 3000),
        ("scaled", 400, 1500),
    ] {
        let lite = Choice::named("lite").with("granularity_ms", granularity.clone()).with("clock", word(clock));
        let mut timer = build(&lite);
        // 900 ms from 600 ms on contain two ticks, at 1000 and 1500 ms.
        sample(&mut *timer, at(1500 - u64::from(rtt == 400) * 50), ms(rtt), 1, WINDOW);
        assert_eq!(millis(&*timer), expected, "{clock} {rtt}");
    }
}

/// Samples of one to four seconds, half a second apart. Each later segment was sent before the
/// first sample was taken.
pub fn timing(name: &str) {
    let rtos = ["every", "every-second", "one-a-round-trip"].map(|timing| {
        let mut timer = build(&Choice::named(name).with("timing", word(timing)));
        [1000, 2000, 3000, 4000].map(|rtt| {
            sample(&mut *timer, at(10_000 + rtt / 2), ms(rtt), 1, WINDOW);
            timer.rto()
        })
    });
    let [every, second, round] = rtos;
    assert!(every.windows(2).all(|pair| pair[0] < pair[1]), "{every:?}");
    assert!(second[0] == second[1] && second[1] < second[2] && second[2] == second[3], "{second:?}");
    assert!(round.iter().all(|rto| *rto == round[0]), "{round:?}");
    let mut timer = build(&Choice::named(name).with("timing", word("one-a-round-trip")));
    sample(&mut *timer, at(10_000), ms(1000), 1, WINDOW);
    let before = timer.rto();
    sample(&mut *timer, at(12_999), ms(3000), 1, WINDOW);
    assert_eq!(timer.rto(), before, "sent a millisecond too early");
    sample(&mut *timer, at(13_000), ms(3000), 1, WINDOW);
    assert!(timer.rto() > before, "sent as the last sample was taken");
}

/// The oldest segment was sent 300 ms ago.
pub fn restart(name: &str) {
    let expiry = |word_: &str| {
        let mut timer = build(&Choice::named(name).with("restart", word(word_)));
        after(&mut *timer, &[2000]);
        let rto = timer.rto();
        (timer.expires(at(9500), at(9200)), rto)
    };
    let (full, rto) = expiry("full");
    assert_eq!(full, at(9500) + rto);
    let (age, rto) = expiry("age");
    let tick = if name == "lite" { at(9000) } else { at(9200) };
    assert_eq!(age, tick + rto, "lite counts from the tick before");
}

/// After a steady round trip of 100 ms the RTO is the minimum.
pub fn granularity(name: &str) {
    let mut timer = with(name, "granularity_ms", 70);
    for _ in 0..600 {
        sample(&mut *timer, Instant::ZERO, ms(100), 1, WINDOW);
    }
    // AGG is nearly 0, but two ticks are the minimum.
    assert_eq!(millis(&*timer), if name == "self-trained" { 140 } else { 240 });
}

/// Returns AGG after a number of samples in cycles of 6 segments.
fn agg(k_per_mille: u32, samples: i32) -> f64 {
    (1.0 - f64::from(k_per_mille) / 1000.0 / 6.0).powi(samples)
}

/// GAIN is 1/4. After 100, a DELTA of 100 makes SRTT 125 and RTTVAR 50 / m + (100 - 50 / m) / 4,
/// whose weight is 4 m.
pub fn weight(name: &str) {
    for (m, expected) in [(1, 375.0), (2, 475.0), (4, 675.0)] {
        let mut timer = build(&Choice::named(name).with("m", Value::Integer(m)));
        let share = if name == "self-trained" { agg(50, 2) } else { 1.0 };
        assert_eq!(after(&mut *timer, &[100, 200]), (expected * share) as u64, "{m}");
    }
}

pub fn k() {
    for k in [10, 100, 999] {
        let mut timer = build(&Choice::named("self-trained").with("k_per_mille", Value::Integer(k)));
        assert_eq!(after(&mut *timer, &[100]), (300.0 * agg(k as u32, 1)) as u64);
    }
}

pub fn linux_minimum() {
    for (minimum, expected) in [(1, 300), (200, 300), (500, 600)] {
        assert_eq!(after(&mut *with("linux", "minimum_ms", minimum), &[100]), expected);
    }
}

pub fn fixed_rto() {
    assert_eq!(after(&mut *with("fixed", "rto_ms", 30), &[100, 5000]), 30);
}

fn rfc6298(parameters: &[(&str, u64)]) -> Config {
    let rto = parameters
        .iter()
        .fold(Choice::named("rfc6298"), |choice, (name, millis)| choice.with(name, Value::Duration(ms(*millis))));
    Config { rto, ..config("reno-sack") }
}

pub fn rfc6298_initial() {
    let mut talk = Talk::new(&rfc6298(&[("initial_ms", 3000)]));
    talk.send();
    assert_eq!(talk.expire().0, 3000);
    assert_eq!(talk.expire().0, 9000);
}

pub fn rfc6298_minimum() {
    assert_eq!(open(&rfc6298(&[("minimum_ms", 200)])).rto(), 300);
    assert_eq!(open(&rfc6298(&[("minimum_ms", 350)])).rto(), 350);
}

pub fn rfc6298_maximum() {
    let mut talk = open(&rfc6298(&[("maximum_ms", 5000)]));
    let expiries: Vec<_> = (0..5).map(|_| talk.expire().0).collect();
    assert_eq!(expiries, [1100, 3100, 7100, 12_100, 17_100]);
}

/// The first RTO, 1 s, has no slop. Then 2 s and 4 s, and 1 s after a sample, each have the slop,
/// up to the maximum.
pub fn slop() {
    let mut talk = Talk::new(&rfc6298(&[("slop_ms", 200), ("maximum_ms", 5000)]));
    talk.send();
    let expiries: Vec<_> = (0..4).map(|_| talk.expire().0).collect();
    assert_eq!(expiries, [1000, 3200, 7400, 12_400]);
    assert_eq!(open(&rfc6298(&[("slop_ms", 200)])).rto(), 1200);
}

pub fn rfc6298_granularity() {
    assert_eq!(open(&rfc6298(&[("minimum_ms", 0), ("granularity_ms", 500)])).rto(), 600);
    // Without minimum and granularity, a round trip of zero would make a timer that expires without
    // end.
    let refused =
        rfc6298(&[("minimum_ms", 0), ("granularity_ms", 0)]).check().expect_err("a clock must tick").to_string();
    assert_eq!(refused, "granularity_ms = 0 for rfc6298; allowed: a time from 0.001 to 10000 ms");
}

/// Compares the RTO after three ACKs: for 2, for all that had been sent when the timer expired, and
/// for one segment more. Without timestamps only the last gives a sample.
pub fn back_off_ends() {
    let after = |word: &str, timestamps: bool| {
        let rto = Choice::named("rfc6298").with("back_off_ends", Value::Word(word.into()));
        let negotiated = Negotiated { mss: MSS as u32, sack: true, timestamps };
        let mut talk = Talk::with(&Config { rto, ..config("reno-sack") }, negotiated);
        talk.send();
        talk.ack(100, 1, &[], 0);
        let last = (talk.engine.nxt() - 1) / MSS;
        talk.expire();
        [(3000, 2), (3100, last), (3200, last + 1)].map(|(at, segment)| {
            talk.ack(at, segment, &[], at - 100);
            talk.rto()
        })
    };
    let [first, second, third] = after("sample", true);
    assert_eq!(after("new-data", true), [2 * first, 2 * second, third]);
    let [first, second, third] = after("new-data", false);
    assert_eq!([first, second, third], after("sample", false));
    assert_eq!([first, second, third], [2000, 2000, 1000]);
}
