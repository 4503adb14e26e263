//! Whether an undo is granted: always, or not for a loss signal within a round trip after an undo.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::registry::{Choice, part};

use crate::dice::Dice;

const CONNECTIONS: u64 = 20_000;
const VERDICTS: u64 = 50;

/// When undoes were granted, and the smoothed round trip then.
fn naive(name: &str, granted: &[(u64, u64)], opened_at: u64) -> bool {
    match name {
        "always" => true,
        "once-a-round-trip" => granted.last().is_none_or(|&(at, srtt)| opened_at >= at + srtt),
        other => panic!("grant {other} has no transcription here"),
    }
}

/// Every rule of the registry.
#[test]
fn an_undo_is_granted_as_the_rule_says() {
    for entry in eifel_recovery::registry::Seam::Grant.entries() {
        let mut dice = Dice::new(17);
        let mut answers = [0_u64; 2];
        for _ in 0..CONNECTIONS {
            let mut grant = part::grant(&Choice::named(entry.name)).unwrap_or_else(|error| panic!("{error}"));
            let (mut now, mut granted) = (0, Vec::new());
            for _ in 0..VERDICTS {
                let opened_at = now + dice.below(500);
                now = opened_at + dice.below(500);
                let srtt = (!dice.once_in(5)).then(|| dice.below(1500));
                let smoothed = srtt.map(Duration::from_nanos);
                let answer = grant.grants(Instant::from_nanos(opened_at), Instant::from_nanos(now), smoothed);
                let expected = naive(entry.name, &granted, opened_at);
                assert_eq!(answer, expected, "{}", entry.name);
                if expected {
                    granted.push((now, srtt.unwrap_or(0)));
                }
                answers[usize::from(expected)] += 1;
            }
        }
        assert!(entry.name == "always" || answers.iter().all(|&count| count > CONNECTIONS), "{answers:?}");
    }
}
