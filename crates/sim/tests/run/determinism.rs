//! Equal scenarios and seeds give equal results, to the byte. Idle elements change nothing.

use crate::common::{ROUGH, SPIKES, observed, scenario};
use eifel_sim::record::Record;
use eifel_sim::run;

/// Returns the FNV-1a hash of the printed tables and summary.
fn hash(outcome: &eifel_sim::Outcome) -> u64 {
    let tables = format!("{:?}", outcome.tables.clone().into_columns());
    let summary = outcome.summary.to_json();
    tables
        .bytes()
        .chain(summary.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn the_same_run_twice_is_the_same_to_the_byte() {
    for text in [ROUGH, SPIKES] {
        let scenario = scenario(text);
        assert_eq!(hash(&observed(&scenario, 3)), hash(&observed(&scenario, 3)));
        assert_ne!(hash(&observed(&scenario, 3)), hash(&observed(&scenario, 4)));
    }
}

#[test]
fn the_order_and_the_thread_do_not_matter() {
    let scenario = scenario(ROUGH);
    let alone: Vec<u64> = (0..4).map(|repetition| hash(&observed(&scenario, repetition))).collect();
    let together: Vec<u64> = std::thread::scope(|scope| {
        let scenario = &scenario;
        let threads: Vec<_> =
            (0..4).rev().map(|repetition| scope.spawn(move || hash(&observed(scenario, repetition)))).collect();
        threads.into_iter().rev().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}

#[test]
fn observing_changes_nothing() {
    // A run that is not observed merges background traffic in at other times.
    let crowded = format!("{SPIKES}{}", ["on-off", "cbr", "other"].map(background).concat());
    for text in [ROUGH, SPIKES, &crowded] {
        let scenario = scenario(text);
        let options = eifel_sim::Options::default();
        let plain = eifel_sim::run_with(&scenario, 0, options).unwrap();
        assert_eq!(plain.summary, observed(&scenario, 0).summary);
        assert!(run(&scenario, 0, Record::none()).unwrap().tables.into_columns().is_empty());
    }
}

/// Returns a flow of datagrams over only the bottleneck of a dumbbell.
fn background(name: &str) -> String {
    let application = match name {
        "on-off" => r#"{ kind = "on-off", rate_bps = 1_500_000, packet_bytes = 300, on_ms = 500, off_ms = 700 }"#,
        _ => r#"{ kind = "cbr", rate_bps = 400_000, packet_bytes = 200, jitter = 0.5 }"#,
    };
    format!(
        r#"
        [[flow]]
        name = "{name}"
        from = "entry"
        to = "exit"
        end_s = 90
        application = {application}
    "#
    )
}

#[test]
fn an_idle_element_changes_nothing_else() {
    let idle = r#"
        [[flow]]
        name = "idle"
        from = "left2"
        to = "right1"
        start_s = 2999
        application = { kind = "cbr", rate_bps = 1_000_000, packet_bytes = 1000, jitter = 0.5 }
    "#;
    for repetition in 0..3 {
        let without = observed(&scenario(SPIKES), repetition);
        let with = observed(&scenario(&format!("{SPIKES}{idle}")), repetition);
        assert_eq!(with.summary.flows[0], without.summary.flows[0]);
        assert_eq!(with.tables.transmissions, without.tables.transmissions);
        assert_eq!(with.tables.acks, without.tables.acks);
        assert_eq!(with.tables.queues, without.tables.queues);
        assert_eq!(with.tables.timer, without.tables.timer);
        assert_eq!(with.tables.spikes, without.tables.spikes);
    }
}
