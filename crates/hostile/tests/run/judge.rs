//! Plants faults in the bounds of a run, and checks that each kind of violation is found.

use eifel_base::time::Duration;
use eifel_hostile::bounds::{self, Bounds};
use eifel_hostile::judge::{Violation, hold, judge};
use eifel_sim::scenario::Scenario;

/// A transfer of 20 round trips of a second: 10 segments, one per round trip, and the rest.
const SLOW: &str = r#"
    duration_s = 1
    [point_to_point]
    rate_bps = 1_000_000
    delay_ms = 500
    [tcp]
    payload_bytes = 1000
    receive_window_bytes = 1000
    give_up_timeouts = 1_000_000
    give_up_handshake_timeouts = 1_000_000
    time_wait_s = 1_000_000
    [[flow]]
    name = "main"
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", bytes = 10_000 }
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "case.toml".as_ref()).expect("a scenario")
}

fn held(text: &str, change: impl FnOnce(&mut Bounds)) -> Result<(), Violation> {
    let scenario = scenario(text);
    let mut bounds = bounds::of(&scenario);
    change(&mut bounds);
    hold(scenario, &bounds, None).map(drop)
}

#[test]
fn a_sound_run_passes() {
    assert_eq!(held(SLOW, |_| {}), Ok(()));
}

#[test]
fn a_run_of_too_many_events_is_restless() {
    let violation = held(SLOW, |bounds| bounds.events = 20).unwrap_err();
    assert!(matches!(violation, Violation::Restless { .. }), "{violation}");
    assert!(violation.to_string().starts_with("more events than allowed"), "{violation}");
}

#[test]
fn a_path_that_never_heals_has_no_bound_on_events() {
    let endless = SLOW.replace("delay_ms = 500", "delay_ms = 500\nloss = { kind = \"random\", rate = 1.0 }");
    assert_eq!(bounds::of(&scenario(&endless)).until, None);
    assert_eq!(held(&endless, |bounds| bounds.events = 5), Ok(()));
    assert_eq!(judge(&endless, None).map(drop), Ok(()), "nothing ever arrives");
}

#[test]
fn a_run_that_is_not_over_in_time_is_unfinished() {
    let violation = held(SLOW, |bounds| bounds.until = Some(Duration::from_secs(5))).unwrap_err();
    assert_eq!(violation, Violation::Unfinished { after_s: 5.0 });
}

#[test]
fn a_flow_that_is_over_without_all_its_bytes_is_incomplete() {
    // Nothing arrives for 100 s, and the sender gives up after one timeout. It is incomplete if
    // `completes` demands all bytes.
    let gives_up = SLOW
        .replace("give_up_handshake_timeouts = 1_000_000", "give_up_handshake_timeouts = 1")
        .replace("delay_ms = 500", "delay_ms = 500\nloss = { kind = \"random\", rate = 1.0 }\ndisturbed_until_s = 100");
    assert_eq!(held(&gives_up, |_| {}), Ok(()), "it is not asked to complete");
    let violation = held(&gives_up, |bounds| bounds.completes = true).unwrap_err();
    assert_eq!(violation, Violation::Incomplete { flow: "main".to_owned(), bytes: 0 });
}

#[test]
fn violations_are_alike_by_kind_and_panics_by_place() {
    let panicked =
        |message: &str, place: &str| Violation::Panicked { message: message.to_owned(), place: place.to_owned() };
    assert!(panicked("one", "a.rs:1:1").is_like(&panicked("another", "a.rs:1:1")));
    assert!(!panicked("one", "a.rs:1:1").is_like(&panicked("one", "b.rs:1:1")));
    let unfinished = Violation::Unfinished { after_s: 1.0 };
    assert!(unfinished.is_like(&Violation::Unfinished { after_s: 2.0 }));
    assert!(!unfinished.is_like(&Violation::Restless { message: String::new() }));
}
