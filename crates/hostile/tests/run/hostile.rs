//! Runs thirty thousand random transfers, and proves that a violation among them would be found and
//! shrunk.

use eifel_hostile::generate;
use eifel_hostile::hunt::{case, hunt};
use eifel_hostile::judge::{Violation, judge};
use eifel_recovery::registry::entries;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::Summary;

const CASES: u64 = 30_000;

#[test]
fn thirty_thousand_transfers_complete_without_a_violation() {
    let tally = hunt(generate::scenario, 0..CASES, None, None, |_| {}).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(tally.cases, CASES);
    println!("{tally}");
    // The transfers are worthless unless the paths were hostile and the algorithms had to act.
    for (what, count) in [
        ("retransmissions", tally.retransmissions),
        ("spurious retransmissions", tally.spurious),
        ("drops", tally.drops),
        ("timeouts", tally.timeouts),
    ] {
        assert!(count > CASES, "{count} {what}");
    }
    assert!(tally.fast_retransmits > CASES / 4, "{} fast retransmits", tally.fast_retransmits);
    assert!(tally.detected_spurious > CASES / 50, "{} detected", tally.detected_spurious);
    assert!(tally.completed * 100 > tally.flows * 95, "{} of {} completed", tally.completed, tally.flows);
}

#[test]
fn every_algorithm_and_parameter_is_drawn() {
    let mut unseen: Vec<String> = entries().map(|entry| format!("\"{}\"", entry.name)).collect();
    unseen.extend(entries().flat_map(|entry| entry.parameters).map(|parameter| format!("{} =", parameter.name)));
    for seed in 0..2000 {
        let text = generate::scenario(seed).to_string();
        unseen.retain(|word| !text.contains(word.as_str()));
    }
    assert_eq!(unseen, [""; 0]);
}

/// A law that does not hold: no flow has more than one timeout.
fn one_timeout_at_most(_: &Scenario, summary: &Summary) -> Option<String> {
    let often = summary.flows.iter().find(|flow| flow.timeouts > 1)?;
    Some(format!("{} timeouts", often.timeouts))
}

#[test]
fn a_broken_law_is_found_and_shrunk_to_what_breaks_it() {
    let failure = hunt(generate::scenario, 0..CASES, Some(1), Some(one_timeout_at_most), |_| {}).unwrap_err();
    let Violation::Unlawful(broken) = &failure.shrunk else { panic!("{failure}") };
    assert!(broken.ends_with(" timeouts"), "{broken}");
    let (all, small) = (generate::scenario(failure.seed).to_string(), &failure.scenario);
    // A proxy needs a graph, which takes five tables of nodes and links.
    assert!(small.lines().count() < 40 && small.len() * 3 < all.len(), "{all}\nwas shrunk to\n{small}");
    // The printed scenario shows the same violation. The seed alone reproduces the failure.
    let again = judge(small, Some(one_timeout_at_most)).unwrap_err();
    assert_eq!(again, failure.shrunk);
    assert_eq!(case(generate::scenario, failure.seed, Some(one_timeout_at_most)).unwrap_err(), failure);
    assert!(failure.to_string().contains(&format!("--seed {}", failure.seed)));
}

/// A law that panics, as a checker does.
fn nothing_is_dropped(_: &Scenario, summary: &Summary) -> Option<String> {
    assert!(summary.flows.iter().all(|flow| flow.drops == 0), "something was dropped");
    None
}

#[test]
fn a_panic_is_a_violation_with_its_place() {
    let failure = hunt(generate::scenario, 0..CASES, Some(1), Some(nothing_is_dropped), |_| {}).unwrap_err();
    let Violation::Panicked { message, place } = failure.shrunk else { panic!("{}", failure.shrunk) };
    assert_eq!(message, "something was dropped");
    assert!(place.contains("tests/run/hostile.rs"), "{place}");
}

#[test]
fn an_invalid_scenario_is_a_violation() {
    let refused = judge("duration_s = 1", None).unwrap_err().to_string();
    assert!(refused.starts_with("the scenario is refused: case.toml:"), "{refused}");
}
