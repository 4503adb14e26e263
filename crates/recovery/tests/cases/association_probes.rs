//! Probes of a closed window (RFC 9260, section 6.1, rule A).

use eifel_base::time::{Duration, Instant};
use eifel_recovery::association::{Config, Engine, Offer, PacketContents, Sack, Size};
use eifel_recovery::registry::{Choice, Value};

/// Returns the microseconds before each of these probes. The peer acknowledges each probe at once,
/// and its window stays closed.
fn waits_us(rto: Duration, probes: usize) -> Vec<u64> {
    let mut config = Config::default();
    config.path.rto = Choice::named("fixed").with("rto_ms", Value::Duration(rto));
    let mut engine = Engine::new(config).expect("the registry's own");
    let path = engine.add_path(Instant::ZERO, 1000, false);
    engine.set_usable(path, true);
    let size = Size { data: 984, wire: 1000 };
    let offer = Offer { path, next: Some(size), a_rwnd: 0 };
    let mut now = Instant::ZERO;
    let mut wait = || {
        assert_eq!(engine.poll(now, &offer), None, "a closed window is not probed at once");
        let due = engine.deadline();
        let go = engine.poll(due, &offer).expect("a probe is due");
        assert_eq!(go.contents, PacketContents::Probe);
        engine.on_new(due, path, size, None);
        engine.on_packet(due, &go, size.wire);
        let cumulative = engine.nxt();
        engine.on_sack(due, &Sack { cumulative, blocks: &[], duplicates: &[], echo: None, echo_of: None, mark: None });
        due.since(std::mem::replace(&mut now, due)).as_nanos() / 1000
    };
    (0..probes).map(|_| wait()).collect()
}

/// The interval starts at the RTO, doubles up to sixteen times, and is at most a minute.
#[test]
fn probes_of_a_closed_window_back_off_to_a_minute() {
    for rto_us in [10, 1000] {
        let doubled = (0..20).map(|probe: u32| (rto_us << probe.min(16)).min(60_000_000));
        assert_eq!(waits_us(Duration::from_nanos(rto_us * 1000), 20), doubled.collect::<Vec<_>>());
    }
}

/// A lost probe is retransmitted without an episode. Karn's rule and the credit rule apply to it
/// all the same.
#[test]
fn a_probe_sent_twice_grows_no_window_if_only_originals_count() {
    let config = Config { credit: Choice::named("unambiguous"), ..Config::default() };
    let mut engine = Engine::new(config).expect("the registry's own");
    let path = engine.add_path(Instant::ZERO, 1000, false);
    engine.set_usable(path, true);
    let size = Size { data: 984, wire: 1000 };
    let offer = |a_rwnd| Offer { path, next: Some(size), a_rwnd };
    let sack = |cumulative| Sack { cumulative, blocks: &[], duplicates: &[], echo: None, echo_of: None, mark: None };
    assert_eq!(engine.poll(Instant::ZERO, &offer(0)), None);
    let now = engine.deadline();
    let go = engine.poll(now, &offer(0)).expect("a probe");
    engine.on_new(now, path, size, None);
    engine.on_packet(now, &go, size.wire);
    let now = engine.deadline();
    assert!(engine.on_timeout(now).is_some_and(|expired| expired.probe));
    let go = engine.poll(now, &offer(0)).expect("the probe again");
    assert_eq!(go.contents, PacketContents::Retransmissions);
    engine.on_retransmitted(now, 0, path, None);
    engine.on_packet(now, &go, size.wire);
    // The window opens, and three chunks fill cwnd; then the window is advertised once more.
    for _ in 0..3 {
        engine.on_sack(now, &sack(0));
        let go = engine.poll(now, &offer(20_000)).expect("new data");
        engine.on_new(now, path, size, None);
        engine.on_packet(now, &go, size.wire);
    }
    engine.on_sack(now, &sack(0));
    let before = engine.window(path);
    assert_eq!((before.cwnd, engine.flight(path)), (4000, 4000));
    let now = now + Duration::from_millis(40);
    assert_eq!(engine.on_quiet_sack(now, 1), None, "a chunk that left twice is no matter of quiet SACKs");
    engine.on_sack(now, &sack(1));
    assert_eq!(engine.window(path), before);
}

/// Section 7.2.1: three packets of 1500 bytes, less an IPv6 header each.
#[test]
fn the_initial_window_over_ipv6_is_three_packets_of_1448_bytes_or_two_larger_ones() {
    for (pmdcs, cwnd) in [(1000, 4000), (1448, 4344), (1600, 4344), (2172, 4344), (2200, 4400), (4000, 8000)] {
        let mut engine = Engine::new(Config::default()).expect("the registry's own");
        let path = engine.add_path(Instant::ZERO, pmdcs, true);
        assert_eq!(engine.window(path).cwnd, cwnd, "{pmdcs}");
    }
}
