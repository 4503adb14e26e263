//! Reno called by itself: RFC 5681's equations, byte by byte.

use eifel_recovery::congest::Base;
use eifel_recovery::congest::reno::{Reno, Repeated, Settings};
use eifel_recovery::congest::{Congest, Counting, Echoed, Grow, Growth, Idle, Loss, SlowStart, Start, Window};
use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Choice, Value, part};
use eifel_recovery::rtt::RoundTrips;

use crate::script::{UNSET, progress, view};
use crate::talk::ms;

const SETTINGS: Settings = Settings {
    start: Start { window: 4, ssthresh: None, restart_after_idle: true },
    half_of: Base::Flight,
    repeated: Repeated::Hold,
    growth: Growth::new(Counting::Rfc5681, Grow::WhenLimiting),
    slow_start: SlowStart::Standard,
    echoed: Echoed::AsLoss,
};

fn window(cwnd: u64, ssthresh: u64) -> Window {
    Window { cwnd, ssthresh }
}

/// Returns the windows after ACKs of these numbers of bytes, each with a full flight.
fn grown(settings: Settings, mut now: Window, acks: &[u64]) -> Vec<u64> {
    let round_trips = RoundTrips::new(true);
    let mut reno = Reno::new(settings);
    let step = |&acked: &u64| {
        now = reno.on_ack(&now, &progress(acked, now.cwnd), &view(&round_trips));
        now.cwnd
    };
    acks.iter().map(step).collect()
}

fn lost(settings: Settings, now: Window, loss: Loss) -> (u64, u64) {
    let Window { cwnd, ssthresh } = Reno::new(settings).on_loss(&now, &loss, &view(&RoundTrips::new(true)));
    (cwnd, ssthresh)
}

const TIMEOUT: Loss = Loss { cause: Cause::Timeout, flight: 18_500, limit: 15_900, timeout_again: false };

#[test]
fn the_initial_window_and_threshold() {
    assert_eq!(Reno::new(SETTINGS).initial(1460), window(5840, UNSET));
    let set = Settings { start: Start { ssthresh: Some(65_535), ..SETTINGS.start }, ..SETTINGS };
    assert_eq!(Reno::new(set).initial(536), window(2144, 65_535));
}

#[test]
fn slow_start_adds_what_was_acknowledged_up_to_a_segment() {
    let found = grown(SETTINGS, window(4000, 8500), &[1000, 2000, 400, 2000, 2000, 2000, 2000]);
    // 8400 is below ssthresh, so it grows by one segment, beyond ssthresh. Then 1 000 000 / 9400 =
    // 106.
    assert_eq!(found, [5000, 6000, 6400, 7400, 8400, 9400, 9506]);
}

#[test]
fn congestion_avoidance_with_delayed_acks_adds_half_a_segment_a_round_trip() {
    // Five ACKs of two segments: 100, then 99.009..., 98.1..., 97.2..., 96.3..., remainders carried.
    let found = grown(SETTINGS, window(10_000, 10_000), &[2000; 5]);
    assert_eq!(found, [10_100, 10_199, 10_297, 10_394, 10_490]);
}

#[test]
fn a_window_of_segments_acknowledged_one_by_one_adds_nearly_a_segment() {
    let found = grown(SETTINGS, window(10_000, 10_000), &[1000; 10]);
    assert_eq!(found[9], 10_958);
}

#[test]
fn an_ack_of_part_of_a_segment_counts_for_that_part() {
    // RFC 3465, section 2.1: a thousand ACKs of a byte add no more than one ACK of a segment,
    // except for rounding.
    let whole = grown(SETTINGS, window(10_000, 10_000), &[1000])[0];
    let divided = grown(SETTINGS, window(10_000, 10_000), &[1; 1000])[999];
    assert_eq!((whole, divided), (10_100, 10_099));
}

#[test]
fn a_window_larger_than_the_square_of_a_segment_still_grows() {
    // A third of a byte an ACK: 1/3, 2/3, 1; then three times 1 000 000 are one short of 3 000 001.
    let found = grown(SETTINGS, window(3_000_000, 3_000_000), &[1000; 7]);
    assert_eq!(found, [3_000_000, 3_000_000, 3_000_001, 3_000_001, 3_000_001, 3_000_001, 3_000_002]);
}

#[test]
fn a_window_below_a_segment_grows_by_no_more_than_one() {
    // RFC 4015's FlightSize + min(bytes_acked, IW) can leave a window this small, and a small
    // initial ssthresh lies below it.
    let found = grown(SETTINGS, window(100, 50), &[1000, 1000]);
    assert_eq!(found, [1100, 2009]);
}

#[test]
fn a_window_that_does_not_limit_the_sender_does_not_grow() {
    let round_trips = RoundTrips::new(true);
    let grow = |grow, now, flight| {
        let mut reno = Reno::new(Settings { growth: Growth::new(Counting::Rfc5681, grow), ..SETTINGS });
        reno.on_ack(&now, &progress(1000, flight), &view(&round_trips)).cwnd
    };
    // Slow start: half of the window in flight is enough.
    assert_eq!(grow(Grow::WhenLimiting, window(10_000, UNSET), 4999), 10_000);
    assert_eq!(grow(Grow::WhenLimiting, window(10_000, UNSET), 5000), 11_000);
    // Congestion avoidance: more than all but a segment must be in flight.
    assert_eq!(grow(Grow::WhenLimiting, window(10_000, 10_000), 9000), 10_000);
    assert_eq!(grow(Grow::WhenLimiting, window(10_000, 10_000), 9001), 10_100);
    assert_eq!(grow(Grow::Always, window(10_000, 10_000), 1), 10_100);
}

/// In congestion avoidance RFC 8511 leaves `window` of ten segments. In slow start it leaves the
/// window that a loss leaves.
pub fn echo_response(name: &str, window: u64) {
    let found = |word: &str, ssthresh: u64| {
        let choice = Choice::named(name).with("echo_response", Value::Word(word.into()));
        let mut control = part::congest(&choice).expect("the registry's own");
        let now = Window { cwnd: 10_000, ssthresh };
        let loss = Loss { cause: Cause::FastRetransmit, flight: 10_000, limit: 10_000, timeout_again: false };
        control.on_ece(&now, &loss, &view(&RoundTrips::new(true)))
    };
    let lost = found("rfc3168", 10_000);
    assert!(lost.cwnd < window, "{lost:?}");
    assert_eq!(found("rfc8511", 10_000), Window { cwnd: window, ssthresh: window });
    assert_eq!(found("rfc8511", UNSET), found("rfc3168", UNSET));
}

fn counting(counting: Counting) -> Settings {
    Settings { growth: Growth::new(counting, Grow::WhenLimiting), ..SETTINGS }
}

#[test]
fn appropriate_byte_counting_adds_up_to_one_or_two_segments() {
    let acks = [1000, 2000, 400, 3000];
    assert_eq!(grown(counting(Counting::Abc(1)), window(4000, UNSET), &acks), [5000, 6000, 6400, 7400]);
    assert_eq!(grown(counting(Counting::Abc(2)), window(4000, UNSET), &acks), [5000, 7000, 7400, 9400]);
    assert_eq!(grown(counting(Counting::Linux), window(4000, UNSET), &acks), [5000, 7000, 7400, 10_400]);
}

/// RFC 3465, section 2.1: a window of 10 segments acknowledged adds one, however it is acknowledged.
#[test]
fn bytes_are_counted_in_congestion_avoidance() {
    for rule in [Counting::Abc(1), Counting::Abc(2), Counting::Linux] {
        assert_eq!(grown(counting(rule), window(10_000, 10_000), &[2000; 5])[3..], [10_000, 11_000], "{rule:?}");
        assert_eq!(
            grown(counting(rule), window(10_000, 10_000), &[9999, 1, 10_999, 1]),
            [10_000, 11_000, 11_000, 12_000]
        );
    }
}

/// Two bytes below ssthresh, Linux counts 2998 of 3000 for congestion avoidance.
#[test]
fn linux_leaves_slow_start_at_ssthresh_and_counts_the_rest() {
    let found = grown(counting(Counting::Linux), window(9998, 10_000), &[3000, 7001, 1]);
    assert_eq!(found, [10_000, 10_000, 11_000]);
    assert_eq!(grown(counting(Counting::Abc(2)), window(9998, 10_000), &[3000, 7001, 1])[0], 11_998);
}

/// RFC 3465, section 2.3: slow start that follows a timeout counts one segment, until a loss by duplicates, or an undo.
#[test]
fn after_a_timeout_an_ack_counts_for_one_segment() {
    let round_trips = RoundTrips::new(true);
    let mut reno = Reno::new(counting(Counting::Abc(2)));
    let ack = |reno: &mut Reno, now| reno.on_ack(&now, &progress(3000, now.cwnd), &view(&round_trips)).cwnd;
    assert_eq!(ack(&mut reno, window(4000, UNSET)), 6000);
    reno.on_loss(&window(6000, UNSET), &TIMEOUT, &view(&round_trips));
    assert_eq!(ack(&mut reno, window(4000, UNSET)), 5000);
    reno.on_undo(&window(5000, UNSET), &view(&round_trips));
    assert_eq!(ack(&mut reno, window(4000, UNSET)), 6000);
}

/// Linux's rule: the last ACKs of a flight of nine segments still count nine of ten as used. The
/// first ACK of the next flight does not.
#[test]
fn the_largest_flight_of_a_round_trip_decides_whether_the_window_was_used() {
    let round_trips = RoundTrips::new(true);
    let growth = Growth::new(Counting::Linux, Grow::WhenLimitingWindow);
    let mut reno = Reno::new(Settings { growth, ..SETTINGS });
    let mut now = window(10_000, UNSET);
    let mut ack = |acked, flight| {
        now = reno.on_ack(&now, &progress(acked, flight), &view(&round_trips));
        now.cwnd
    };
    let found = [(2000, 9000), (2000, 7000), (2000, 5000), (2000, 3000), (1000, 1000), (1000, 2000)];
    assert_eq!(found.map(|(acked, flight)| ack(acked, flight)), [12_000, 14_000, 16_000, 18_000, 18_000, 18_000]);
}

#[test]
fn a_loss_halves_the_flight_or_the_window_in_segments() {
    let now = window(20_000, UNSET);
    assert_eq!(lost(SETTINGS, now, TIMEOUT), (1000, 9250));
    let fast = Loss { cause: Cause::FastRetransmit, ..TIMEOUT };
    assert_eq!(lost(SETTINGS, now, fast), (9250, 9250));
    let by_window = Settings { half_of: Base::Window, ..SETTINGS };
    assert_eq!(lost(by_window, now, TIMEOUT), (1000, 7000), "15 segments halved to 7");
    assert_eq!(lost(by_window, now, fast), (7000, 7000));
}

#[test]
fn ssthresh_is_never_below_two_segments() {
    let small = Loss { flight: 3999, limit: 3999, ..TIMEOUT };
    for half_of in [Base::Flight, Base::Window] {
        assert_eq!(lost(Settings { half_of, ..SETTINGS }, window(4000, UNSET), small), (1000, 2000));
    }
}

#[test]
fn a_further_timeout_holds_or_reduces_ssthresh_as_configured() {
    let again = Loss { timeout_again: true, flight: 6000, limit: 6000, ..TIMEOUT };
    for half_of in [Base::Flight, Base::Window] {
        let hold = Settings { half_of, ..SETTINGS };
        assert_eq!(lost(hold, window(1000, 9250), again), (1000, 9250));
        let reduce = Settings { repeated: Repeated::Reduce, ..hold };
        assert_eq!(lost(reduce, window(1000, 9250), again), (1000, 3000));
    }
}

#[test]
fn after_idle_the_restart_window_is_no_larger_than_the_window_was() {
    let start = |restart_after_idle| Start { restart_after_idle, ..SETTINGS.start };
    let idle = |restart, cwnd| {
        Reno::new(Settings { start: start(restart), ..SETTINGS })
            .on_idle(&window(cwnd, 7000), &Idle { time: ms(5000), rto: ms(1000), mss: 1000 })
    };
    assert_eq!(idle(true, 20_000), window(4000, 7000));
    assert_eq!(idle(true, 3000), window(3000, 7000));
    assert_eq!(idle(false, 20_000), window(20_000, 7000));
}

#[test]
fn a_loss_resets_the_fraction_of_congestion_avoidance() {
    let round_trips = RoundTrips::new(true);
    let mut reno = Reno::new(SETTINGS);
    // 1 000 000 = 333 * 3000 + 1000, and the remainder of 1000 is kept.
    assert_eq!(reno.on_ack(&window(3000, 3000), &progress(1000, 3000), &view(&round_trips)).cwnd, 3333);
    reno.on_loss(&window(3333, 3000), &TIMEOUT, &view(&round_trips));
    let cwnd = reno.on_ack(&window(1_000_001, 2000), &progress(1000, 1_000_001), &view(&round_trips)).cwnd;
    assert_eq!(cwnd, 1_000_001, "a millionth of a byte is missing, which the 1000 left would have given");
}
