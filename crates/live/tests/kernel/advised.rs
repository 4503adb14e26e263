//! The advice on a setting, beside what this kernel does with it.

use crate::live;
use crate::rig::allowed;
use eifel_testkit::Folder;

/// One scenario of each knob, recorded seven times. docs/reference/advise.md has what many found.
#[test]
fn a_larger_timeout_leaves_about_as_many_needless_ones_as_predicted() {
    if !allowed() {
        return;
    }
    let folder = Folder::new();
    let judge = |seed: &str| live().args(["advise", "--count", "3", "--seed", seed]).arg(&*folder).output().unwrap();
    let output = judge("5");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("tracefs") || said.contains("tracepoint") || said.contains("mount") {
        return eprintln!("SKIPPED: tracepoints cannot be read here: {said}");
    }
    assert!(output.status.success(), "{said}");
    let found = |name: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
    };
    let timer = found("0000-smallest-rto.json");
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    let before = count(&timer["before"][0]).max(count(&timer["before"][1]));
    let predicted = count(&timer["predicted"]);
    let after: Vec<u64> = timer["after"].as_array().unwrap().iter().map(count).collect();
    let after = after.iter().sum::<u64>() / after.len() as u64;
    // Predictions are off where the transfer goes on differently, so only gross errors are found here.
    assert!(after <= before && predicted <= before, "{timer}");
    assert!(predicted.abs_diff(after) <= count(&timer["undecidable"]) + 2 + before / 4, "{timer}");
    // Without F-RTO the kernel finds nothing by it.
    assert_eq!(found("0002-f-rto.json")["before"], serde_json::json!([0, 0]));
    assert_eq!(found("0001-duplicate-threshold.json")["knob"], "duplicate-threshold");
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(summary.starts_with("smallest-rto: ") && summary.lines().count() == 3, "{summary}");
    // The same call has nothing left to do, and another seed does not fit.
    let again = judge("5");
    assert!(again.stderr.is_empty() && String::from_utf8_lossy(&again.stdout) == summary);
    let other = judge("6");
    assert!(!other.status.success() && String::from_utf8_lossy(&other.stderr).contains("of the seed 5"));
}
