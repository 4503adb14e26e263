//! Probes of a closed window (RFC 9260, section 6.1, rule A).

use eifel_base::time::{Duration, Instant};
use eifel_recovery::association::{Config, Engine, Offer, Sack, Size, What};
use eifel_recovery::registry::{Choice, Value};

/// Returns the microseconds before each of these probes. The peer acknowledges each at once, and its window stays closed.
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
        assert_eq!(go.what, What::Probe);
        engine.on_new(due, path, size, None);
        engine.on_packet(due, &go, size.wire);
        let cumulative = engine.nxt();
        engine.on_sack(due, &Sack { cumulative, blocks: &[], duplicates: &[], echo: None, echo_of: None, mark: None });
        due.since(std::mem::replace(&mut now, due)).as_nanos() / 1000
    };
    (0..probes).map(|_| wait()).collect()
}

/// The interval doubles from the timer's sixteen times, and is not beyond a minute.
#[test]
fn probes_become_rarer_up_to_a_minute() {
    for rto_us in [10, 1000] {
        let doubled = (0..20).map(|probe: u32| (rto_us << probe.min(16)).min(60_000_000));
        assert_eq!(waits_us(Duration::from_nanos(rto_us * 1000), 20), doubled.collect::<Vec<_>>());
    }
}
