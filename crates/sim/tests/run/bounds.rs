//! Runs that would never end or would exhaust memory fail with an error that says why.

use crate::common::scenario;
use eifel_sim::record::Record;
use eifel_sim::{Error, Options, run_with};

const ENDLESS: &str = r#"
    duration_s = 60
    [point_to_point]
    rate_bps = "unlimited"
    delay_ms = 0
    [[flow]]
    name = "main"
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", endless = true }
"#;

fn failure(text: &str, options: Options) -> Error {
    run_with(&scenario(text), 0, options).unwrap_err()
}

#[test]
fn a_cycle_that_takes_no_time_is_found() {
    // Evaluated ahead of the clock, and event by event.
    let company = ENDLESS.replace("duration_s = 60", "duration_s = 60\n[sender]\nrecover = \"rack-tlp\"");
    for text in [ENDLESS, &company] {
        for checked in [false, true] {
            let options = Options { checked, most_events: checked.then_some(u64::MAX), ..Options::default() };
            assert!(matches!(failure(text, options), Error::Standstill { .. }), "{text}");
        }
    }
    let said = failure(ENDLESS, Options::default()).to_string();
    assert!(said.starts_with("time stands still at 0 s of the run: "), "{said}");
}

#[test]
fn a_cycle_that_takes_any_time_goes_on() {
    for (rate, delay) in [("\"unlimited\"", "0.000_001"), ("1_000_000_000", "0")] {
        let text = ENDLESS.replace("\"unlimited\"", rate).replace("delay_ms = 0", &format!("delay_ms = {delay}"));
        let text = text.replace("duration_s = 60", "duration_s = 0.000_001\n[tcp]\nreceive_window_bytes = 10_000");
        assert!(run_with(&scenario(&text), 0, Options::default()).is_ok(), "{text}");
    }
}

/// Datagrams of 40 bytes at 1 Gbit/s, over a link of 1 bit/s with an unlimited queue.
const FLOOD: &str = r#"
    duration_s = 3600
    [point_to_point]
    rate_bps = 1
    delay_ms = 0
    queue = { kind = "unlimited" }
    [[flow]]
    name = "flood"
    from = "sender"
    to = "receiver"
    application = { kind = "cbr", rate_bps = 1_000_000_000, packet_bytes = 40 }
"#;

#[test]
fn a_flood_in_an_unlimited_queue_ends_the_run() {
    let said = failure(FLOOD, Options::default()).to_string();
    assert!(
        said.starts_with("more than 4194304 packets under way at 3600 s of the run; allowed: queues with"),
        "{said}"
    );
    // In an observed run each datagram takes a turn, so the flood is detected early.
    let observed = Options { most_events: Some(u64::MAX), ..Options::default() };
    assert!(matches!(failure(FLOOD, observed), Error::Overfull { at } if at.as_secs_f64() < 10.0));
}

#[test]
fn a_flood_on_a_long_link_ends_the_run_though_no_queue_holds_it() {
    let far =
        FLOOD.replace("rate_bps = 1\n", "rate_bps = 10_000_000_000\n").replace("delay_ms = 0", "delay_ms = 60_000");
    assert!(matches!(failure(&far, Options::default()), Error::Overfull { .. }));
}

#[test]
fn a_queue_with_a_limit_bears_any_flood() {
    let limited = FLOOD.replace("kind = \"unlimited\"", "kind = \"drop-tail\", packets = 10");
    let limited = limited.replace("duration_s = 3600", "duration_s = 2");
    let outcome = run_with(&scenario(&limited), 0, Options::default()).unwrap();
    assert_eq!(outcome.summary.flows[0].bytes, 0, "a datagram takes 320 s");
}

#[test]
fn a_budget_of_events_counts_background_traffic() {
    let options = Options { most_events: Some(1000), ..Options::default() };
    assert!(matches!(failure(FLOOD, options), Error::TooManyEvents { .. }));
}

#[test]
fn events_that_are_counted_are_those_that_happened() {
    // The SYN leaves and is still under way when the run ends.
    let text = ENDLESS.replace("name = \"main\"", "name = \"main\"\nstart_s = 59.5");
    let text = text.replace("delay_ms = 0", "delay_ms = 5000");
    let counted = [Record::none(), Record::all(), Record::all().capturing(0)]
        .map(|record| run_with(&scenario(&text), 0, Options { record, ..Options::default() }).unwrap().summary.events);
    assert_eq!(counted, [1; 3]);
}
