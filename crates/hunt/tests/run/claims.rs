//! The scenarios on which a claim is tested.

use eifel_hunt::claim::{Claim, effort};
use eifel_hunt::climb::Effort;
use eifel_hunt::wrong::Wrong;

/// Two of five connections have no timestamps, and a detector that compares timestamps refuses
/// those.
#[test]
fn detectors_that_need_timestamps_are_searched_with_timestamps_on() {
    let effort = Effort { judging: 2, survivors: 1, ..effort(1, None) };
    let asked = |detector: &str| {
        let claim = Claim::parse(&format!("kind = \"wrong\"\ndetector = \"{detector}\""), 1).unwrap();
        let Claim::Wrong(Wrong { field, .. }) = &claim else { panic!("{claim:?}") };
        (field.without_timestamps, claim.hunt(16, 0.0, &effort, |_| {}).drawn)
    };
    assert_eq!(asked("eifel-timestamps"), (false, 12));
    assert_eq!(asked("eifel-or-f-rto"), (false, 12));
    assert_eq!(asked("eifel-bit"), (true, 12));
}
