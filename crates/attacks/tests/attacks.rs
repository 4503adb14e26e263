//! Runs every attack briefly. Counted numbers must hold; only whole runs judge timed numbers.
#![expect(clippy::unwrap_used, reason = "a name that is not listed is a failed test")]

use eifel_attacks::{Effort, Finding, Limit, all};
use eifel_testkit::golden;

/// Returns the counted findings that do not hold.
fn broken(findings: &[Finding]) -> Vec<String> {
    let counted = findings.iter().filter(|finding| !finding.timed);
    counted.filter(|finding| !finding.holds()).map(ToString::to_string).collect()
}

fn withstands(name: &str) {
    let name = name.replace('_', "-");
    let attack = all().iter().find(|attack| attack.name == name).unwrap();
    let (findings, transcript) = attack.transcribed(Effort::Brief);
    assert!(!findings.is_empty());
    let broken = broken(&findings);
    assert!(broken.is_empty(), "{name}: {broken:#?}");
    golden!(format!("{name}.txt"), printed(&findings) + &format!("all that it did: {transcript:016x}\n"));
}

/// Findings whose number of bytes depends on the compiler and the allocator.
const OF_THE_BUILD: [&str; 2] = ["size of", "memory for"];

/// Prints a line for each finding. Costs are made up here, so timed numbers are fixed. Numbers of
/// the build differ between machines, and are left out.
fn printed(findings: &[Finding]) -> String {
    let differs = |finding: &Finding| OF_THE_BUILD.iter().any(|what| finding.what.starts_with(what));
    let line = |finding: &Finding| match differs(finding) {
        true => format!("{}, {}: {}, timed: {}\n", finding.what, finding.unit, finding.limit, finding.timed),
        false if finding.timed => format!("{finding}, timed\n"),
        false => format!("{finding}\n"),
    };
    findings.iter().map(line).collect()
}

#[test]
fn a_count_beyond_its_bound_fails() {
    let finding = |timed, limit| Finding { what: "resets", unit: "cases", measured: 6.0, limit, timed };
    let [beyond, within] = [Limit::AtMost(5.0), Limit::AtMost(6.0)];
    let findings = [finding(false, within), finding(true, beyond), finding(false, beyond), finding(false, Limit::None)];
    assert_eq!(broken(&findings), ["resets: 6 cases (bound: at most 5)"]);
}

/// Checks exact values, since a number may be within its bound although nothing was measured.
#[test]
fn zero_window_and_overgrowth_attacks_reach_their_bounds() {
    let measured = |name: &str, what: &str| {
        let findings = all().iter().find(|attack| attack.name == name).unwrap().run(Effort::Brief);
        findings.iter().find(|finding| finding.what == what).unwrap().measured
    };
    let held_ms = measured("t14-zero-window", "longest that one was held");
    let window = measured("s8-overgrowth", "alternate's window after 30 rounds, by RFC 9260");
    // The user timeout is a minute. The window begins with three packets of 1468 bytes, and grows
    // for SACKs that are accepted.
    assert_eq!([held_ms, window], [60_000.0, 5872.0]);
}

macro_rules! tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            withstands(stringify!($name));
        })*

        #[test]
        fn every_attack_has_its_test() {
            let tested = [$(stringify!($name).replace('_', "-")),*];
            let listed: Vec<&str> = all().iter().map(|attack| attack.name).collect();
            assert_eq!(listed, tested);
        }
    };
}

tests! {
    e1_forged_echo
    e2_forged_dsack
    e3_forged_mark
    e4_f_rto
    e5_round_trips
    e6_random_echo
    e7_undo_burst
    s1_chunk_storm
    s2_forged_gaps
    s3_init_flood
    s4_cookies
    s5_blind_abort
    s6_spoofed_addresses
    s7_duplicate_flood
    s8_overgrowth
    s9_forged_evidence
    t01_blind_rst
    t02_blind_syn
    t03_blind_data
    t04_challenge_side_channel
    t05_paws_poisoning
    t06_ack_division
    t07_dup_ack_spoofing
    t08_optimistic_ack
    t09_sack_reneging
    t10_lying_sack
    t11_sack_cost
    t12_gap_cost
    t13_syn_flood
    t14_zero_window
    t15_overlap
    t16_icmp
    t17_wrap
}
