//! When pacing sends the segments that the window allows, and every parameter of the pacers at a
//! value other than its default.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::parameters::reno;
use crate::script::text;
use crate::talk::{Out, Talk, config, new, start};

/// While pacing still holds back segments that the last ACK allowed, the next ACK comes and the
/// peer's window is exhausted.
#[test]
fn a_window_that_closes_while_pacing_waits_ends_the_pacing() {
    let mut talk = Talk::new(&Config { pace: Choice::named("pacing"), ..config("rfc6675") });
    talk.limit = start(13);
    assert_eq!(talk.send().len(), 10);
    assert_eq!(talk.ack(100, 10, &[], 0), [Out::New(11)]);
    talk.now = talk.engine.deadline();
    assert_eq!(talk.now.as_nanos(), 104_545_454);
    talk.engine.on_timeout(talk.now);
    assert_eq!(talk.send(), new(12..=12));
    assert_eq!(talk.ack(105, 12, &[], 100), []);
    assert!(!talk.engine.is_held_back(), "the window is closed: nothing waits for pacing");
}

pub fn burst_segments() {
    let pace = Choice::named("burst-limit").with("segments", Value::Integer(2));
    let mut talk = Talk::new(&Config { pace, ..config("reno-sack") });
    assert_eq!(text(&talk.send()), "1 2");
    assert_eq!(text(&talk.ack(100, 1, &[], 0)), "3 4");
}

/// With room for three segments, two are sent at once, and the third 100 ms / 11 / 2 later.
pub fn bucket_segments() {
    let pace = Choice::named("burst-pacer").with("segments", Value::Integer(2));
    let mut talk = Talk::new(&Config { pace, ..config("reno-sack") });
    assert_eq!(talk.send().len(), 10, "nothing is known of the round trip");
    assert_eq!(text(&talk.ack(100, 2, &[], 0)), "11 12");
    assert_eq!(talk.engine.deadline().as_nanos(), 104_545_454);
}

/// Returns when the second of two segments may be sent, with bursts of one segment, in nanoseconds.
fn bucket_release(parameter: &str, ssthresh: i64) -> u64 {
    let pace = Choice::named("burst-pacer").with("segments", Value::Integer(1)).with(parameter, Value::Integer(100));
    let mut talk = Talk::new(&Config { pace, ..reno(&[("initial_ssthresh_bytes", Value::Integer(ssthresh))]) });
    assert_eq!(talk.send().len(), 10, "nothing is known of the round trip");
    assert_eq!(text(&talk.ack(100, 2, &[], 0)), "11");
    talk.engine.deadline().as_nanos()
}

pub fn bucket_slow_start_percent() {
    // cwnd 11 000 in slow start: 100 ms / 11.
    assert_eq!(bucket_release("slow_start_percent", 0), 109_090_909);
    assert_eq!(bucket_release("avoidance_percent", 0), 104_545_454, "the default, twice as fast");
}

pub fn bucket_avoidance_percent() {
    // cwnd 10 100 in congestion avoidance: 100 ms / 10.1, and at 120 percent.
    assert_eq!(bucket_release("avoidance_percent", 10_000), 109_900_990);
    assert_eq!(bucket_release("slow_start_percent", 10_000), 108_250_825);
}

/// Returns when the second segment after the first ten may be sent, in nanoseconds.
fn second_release(pace: &str, parameter: &str, ssthresh: i64) -> u64 {
    let pace = Choice::named(pace).with(parameter, Value::Integer(100));
    let mut talk = Talk::new(&Config { pace, ..reno(&[("initial_ssthresh_bytes", Value::Integer(ssthresh))]) });
    talk.send();
    assert_eq!(text(&talk.ack(100, 1, &[], 0)), "11");
    talk.engine.deadline().as_nanos()
}

pub fn slow_start_percent(pace: &str) {
    // 100 ms / 11.
    assert_eq!(second_release(pace, "slow_start_percent", 0), 109_090_909);
    assert_eq!(second_release(pace, "avoidance_percent", 0), 104_545_454, "the default, twice as fast");
}

pub fn avoidance_percent(pace: &str) {
    // cwnd 10 100 in congestion avoidance: 100 ms / 10.1, and at 120 percent.
    assert_eq!(second_release(pace, "avoidance_percent", 10_000), 109_900_990);
    assert_eq!(second_release(pace, "slow_start_percent", 10_000), 108_250_825);
}

/// At 100 percent a segment takes 100 ms / 11 in slow start, where two are sent at once, and 100 ms
/// / 10.1 in congestion avoidance, where cwnd has room for one.
pub fn tso_percent(parameter: &str, ssthresh: i64) {
    let pace = Choice::named("tso").with(parameter, Value::Integer(100));
    let mut talk = Talk::new(&Config { pace, ..reno(&[("initial_ssthresh_bytes", Value::Integer(ssthresh))]) });
    talk.send();
    let (sent, next) = if ssthresh == 0 { ("11 12", 118_181_818) } else { ("11", 109_900_990) };
    assert_eq!(text(&talk.ack(100, 1, &[], 0)), sent);
    assert_eq!(text(&talk.ack(101, 3, &[], 0)), "");
    assert_eq!(talk.engine.deadline().as_nanos(), next);
}

/// 1448 bytes in 11.6 us are 125 MB/s: 1/1024 s of them are more than 64 KB, so a burst has 45
/// segments. At a hundredth of the rate it has two, and on a path of 100 us 45 again.
#[test]
fn a_burst_is_sized_by_rate_and_path() {
    use eifel_base::time::{Duration, Instant};
    use eifel_recovery::congest::Window;
    use eifel_recovery::pace::Gains;
    use eifel_recovery::pace::{Pace, Permit, tso::Tso};
    let burst = |cwnd_segments: u64, srtt: u64, shortest: u64| {
        let mut tso = Tso::new(Gains { slow_start_percent: 100, avoidance_percent: 100 });
        tso.on_sample(Instant::ZERO, Duration::from_micros(shortest));
        let window = Window { cwnd: cwnd_segments * 1448, ssthresh: u64::MAX };
        let now = Instant::ZERO + Duration::from_secs(1);
        let mut send = || tso.on_sent(now, 1448, &window, Some(Duration::from_micros(srtt)));
        (0..10).for_each(|_| send());
        let mut segments = 0;
        while tso.permit(now) == Permit::Now {
            tso.on_sent(now, 1448, &window, Some(Duration::from_micros(srtt)));
            segments += 1;
        }
        segments
    };
    // 1000 segments in 11.6 ms.
    assert_eq!(burst(1000, 11_600, 20_000), 45);
    assert_eq!(burst(10, 11_600, 20_000), 2);
    // 65215 / 2^0 and 65215 / 2^4 bytes, beside 1/1024 s of 1.25 MB/s.
    assert_eq!(burst(10, 11_600, 100), 45);
    assert_eq!(burst(10, 11_600, 2048), 3);
}
