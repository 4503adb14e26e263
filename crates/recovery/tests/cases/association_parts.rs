//! SCTP's window and timer called by themselves: RFC 9260's rules, byte by byte.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::sctp::Sctp;
use eifel_recovery::congest::{Congest, Idle, Loss, Progress, Window};
use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Choice, Value, part};
use eifel_recovery::rto::{Rto, Sample};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::script::{UNSET, view};
use crate::talk::ms;

/// PMDCS of the views.
const PMDCS: u64 = 1000;

fn window(cwnd: u64, ssthresh: u64) -> Window {
    Window { cwnd, ssthresh }
}

fn acked(bytes: u64, flight: u64) -> Progress {
    Progress { acked: bytes, sacked: 0, delivered: bytes, flight }
}

fn with<T>(run: impl FnOnce(&View) -> T) -> T {
    let round_trips = RoundTrips::new(false);
    run(&view(&round_trips))
}

/// [rfc8540:3.16]
#[test]
fn the_initial_window_is_between_two_and_four_packets() {
    for (pmdcs, cwnd) in [(500, 2000), (1000, 4000), (1468, 4404), (2202, 4404), (4000, 8000), (8000, 16_000)] {
        assert_eq!(Sctp::default().initial(pmdcs), window(cwnd, UNSET), "{pmdcs}");
    }
}

#[test]
fn slow_start_adds_what_was_acknowledged_up_to_a_packet_if_the_window_was_used() {
    with(|view| {
        let mut sctp = Sctp::default();
        let now = window(4000, UNSET);
        assert_eq!(sctp.on_ack(&now, &acked(400, 4000), view).cwnd, 4400);
        assert_eq!(sctp.on_ack(&now, &acked(2000, 4500), view).cwnd, 5000);
        assert_eq!(sctp.on_ack(&now, &acked(2000, 3999), view).cwnd, 4000);
        // Chunks that gap ack blocks report count too, and a window equal to ssthresh is still in
        // slow start.
        let sacked = Progress { acked: 300, sacked: 300, delivered: 300, flight: 4000 };
        assert_eq!(sctp.on_ack(&window(4000, 4000), &sacked, view).cwnd, 4600);
    });
}

/// [rfc8540:3.12] [rfc8540:3.26]
#[test]
fn congestion_avoidance_adds_a_packet_for_each_window_acknowledged() {
    with(|view| {
        let mut sctp = Sctp::default();
        let mut now = window(5000, 4000);
        let mut grown = Vec::new();
        for _ in 0..12 {
            now = sctp.on_ack(&now, &acked(1000, 6000), view);
            grown.push(now.cwnd);
        }
        // 5 acknowledged packets add the sixth, and 6 add the seventh.
        assert_eq!(grown, [5000, 5000, 5000, 5000, 6000, 6000, 6000, 6000, 6000, 6000, 7000, 7000]);
        // A window that is not used does not grow, and partial_bytes_acked holds no more than one window.
        let mut sctp = Sctp::default();
        let now = window(5000, 4000);
        for _ in 0..20 {
            assert_eq!(sctp.on_ack(&now, &acked(1000, 4000), view), now);
        }
        assert_eq!(sctp.on_ack(&now, &acked(1000, 5000), view).cwnd, 6000);
        // Once all is acknowledged, the count restarts at 0.
        let mut sctp = Sctp::default();
        assert_eq!(sctp.on_ack(&now, &acked(4900, 4900), view), now);
        assert_eq!(sctp.on_ack(&now, &acked(4900, 5000), view), now);
        assert_eq!(sctp.on_ack(&now, &acked(100, 5000), view).cwnd, 6000);
        // Chunks that gap ack blocks report count as well [rfc8540:3.22.a].
        let sacked = |bytes| Progress { acked: 0, sacked: bytes, delivered: 0, flight: 5000 };
        let mut sctp = Sctp::default();
        assert_eq!(sctp.on_ack(&now, &sacked(4900), view), now);
        assert_eq!(sctp.on_ack(&now, &sacked(100), view).cwnd, 6000);
        // One SACK that acknowledges two windows adds a packet, and the rest counts for the next.
        let mut sctp = Sctp::default();
        let two = Progress { flight: 10_001, ..acked(10_000, 0) };
        assert_eq!(sctp.on_ack(&now, &two, view).cwnd, 6000);
    });
}

/// [rfc8540:3.11]
#[test]
fn a_timeout_resets_partial_bytes_acked() {
    with(|view| {
        for cause in [Cause::Timeout, Cause::FastRetransmit] {
            let mut sctp = Sctp::default();
            let now = window(5000, 4000);
            assert_eq!(sctp.on_ack(&now, &acked(4900, 5000), view), now);
            sctp.on_loss(&now, &Loss { cause, flight: 5000, limit: 5000, timeout_again: false }, view);
            assert_eq!(sctp.on_ack(&now, &acked(4900, 5000), view), now);
        }
    });
}

#[test]
fn a_loss_halves_the_window_down_to_four_packets() {
    with(|view| {
        let loss = |cause| Loss { cause, flight: 20_000, limit: 20_000, timeout_again: false };
        let mut sctp = Sctp::default();
        let fast = sctp.on_loss(&window(20_000, UNSET), &loss(Cause::FastRetransmit), view);
        assert_eq!(fast, window(10_000, 10_000));
        assert_eq!(sctp.on_loss(&window(5000, 9000), &loss(Cause::FastRetransmit), view), window(4000, 4000));
        assert_eq!(sctp.on_loss(&window(20_000, UNSET), &loss(Cause::Timeout), view), window(PMDCS, 10_000));
        assert_eq!(sctp.on_loss(&window(PMDCS, 10_000), &loss(Cause::Timeout), view), window(PMDCS, 4000));
    });
}

/// RFC 9260, section 7.2.3, has no exception for a further timeout of the same chunk, as RFC 5681, section 3.1, has.
#[test]
fn a_further_timeout_holds_ssthresh_if_so_configured() {
    for (word, ssthresh) in [("reduce", 4000), ("hold", 10_000)] {
        let chosen = Choice::named("sctp").with("repeated_timeout", Value::Word(word.into()));
        let mut sctp = part::congest(&chosen).unwrap();
        let again = Loss { cause: Cause::Timeout, flight: 20_000, limit: 20_000, timeout_again: true };
        let left = with(|view| sctp.on_loss(&window(PMDCS, 10_000), &again, view));
        assert_eq!(left, window(PMDCS, ssthresh), "{word}");
    }
}

#[test]
fn two_packets_are_the_initial_window_and_the_least_ssthresh_by_rfc_2960() {
    let mut sctp = part::congest(&Choice::named("sctp").with("rules", Value::Word("rfc2960".into()))).unwrap();
    assert_eq!(sctp.initial(PMDCS as u32), window(2000, UNSET));
    let loss = Loss { cause: Cause::Timeout, flight: 3000, limit: 3000, timeout_again: false };
    with(|view| assert_eq!(sctp.on_loss(&window(3000, UNSET), &loss, view), window(PMDCS, 2000)));
    let idle = Idle { time: Duration::from_secs(9), rto: Duration::from_secs(1), mss: PMDCS as u32 };
    assert_eq!(sctp.on_idle(&window(40_000, 5000), &idle), window(2000, 40_000));
}

/// [rfc8540:3.27]
#[test]
fn an_idle_path_loses_half_of_its_window_each_rto() {
    let idle = |ms: u64| Idle { time: Duration::from_millis(ms), rto: Duration::from_secs(1), mss: PMDCS as u32 };
    assert_eq!(Sctp::default().on_idle(&window(40_000, 5000), &idle(999)), window(40_000, 40_000));
    assert_eq!(Sctp::default().on_idle(&window(40_000, 5000), &idle(1000)), window(20_000, 40_000));
    assert_eq!(Sctp::default().on_idle(&window(40_000, 5000), &idle(3500)), window(5000, 40_000));
    assert_eq!(Sctp::default().on_idle(&window(40_000, 5000), &idle(60_000)), window(4000, 40_000));
    // A window below the floor is not raised, and ssthresh is set before the first decay only.
    let mut sctp = Sctp::default();
    assert_eq!(sctp.on_idle(&window(1000, 5000), &idle(5000)), window(1000, 1000));
    assert_eq!(sctp.on_idle(&window(900, 1000), &idle(5000)), window(900, 1000));
}

/// Gives a timer these samples, so far apart that each is the first of its round trip.
fn samples(timer: &mut Box<dyn Rto>, samples: &[u64]) -> Vec<u64> {
    let long = ms(1_000_000);
    let from = with(|view| view.now);
    samples.iter().zip(1..).map(|(rtt, number)| sample(timer, from + long * number, *rtt)).collect()
}

/// Gives a timer a sample at an instant, and returns its RTO in milliseconds.
fn sample(timer: &mut Box<dyn Rto>, now: Instant, rtt: u64) -> u64 {
    with(|view| {
        timer.sample(&Sample { rtt: ms(rtt), acked: 0, window: window(1, 1) }, &View { now, ..*view });
        timer.rto().as_nanos() / 1_000_000
    })
}

/// RTO.Initial is a second [rfc8540:3.32].
#[test]
fn the_timer_is_that_of_section_6_3_1() {
    let mut timer = part::rto(&Choice::named("rfc9260")).unwrap();
    assert_eq!(timer.rto(), ms(1000));
    // SRTT 800 and RTTVAR 400; then RTTVAR 300; then RTTVAR 225, which makes the RTO 1700.
    assert_eq!(samples(&mut timer, &[800, 800, 800]), [2400, 2000, 1700]);
    timer.back_off();
    timer.back_off();
    assert_eq!(timer.rto(), ms(6800));
    // A sample collapses the back-off: RTTVAR 168.75.
    let later = with(|view| view.now) + ms(9_000_000);
    assert_eq!(sample(&mut timer, later, 800), 1475);
    for _ in 0..20 {
        timer.back_off();
    }
    assert_eq!(timer.rto(), ms(60_000));
    // Rule C6: never below RTO.Min; rule G1: an RTTVAR of zero counts as the clock's granularity.
    let mut timer = part::rto(&Choice::named("rfc9260")).unwrap();
    assert_eq!(samples(&mut timer, &[10; 100]).last(), Some(&1000));
}

/// Rule C4: with timestamps every SACK gives a sample, and RTTVAR's memory would last a fraction of
/// a round trip.
#[test]
fn the_timer_takes_one_sample_a_round_trip() {
    let mut timer = part::rto(&Choice::named("rfc9260")).unwrap();
    let began = with(|view| view.now) + ms(1000);
    assert_eq!(sample(&mut timer, began, 800), 2400);
    timer.back_off();
    // Their segments were sent before the last sample was taken, so they are not taken and do not
    // end the back-off.
    assert_eq!([1, 400, 799].map(|later| sample(&mut timer, began + ms(later), 800)), [4800; 3]);
    assert_eq!(sample(&mut timer, began + ms(800), 800), 2000);
}
