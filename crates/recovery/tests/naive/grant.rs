//! Whether an undo is granted. The rules are: always; not for a loss signal within a round trip
//! after an undo; less often after undos that losses have followed.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::registry::{Choice, part};

use crate::dice::Dice;

const CONNECTIONS: u64 = 20_000;
const VERDICTS: u64 = 50;

/// The history of a connection; times in nanoseconds.
#[derive(Default)]
struct Past {
    /// When undos were granted, and the smoothed round trip at that time.
    granted: Vec<(u64, u64)>,
    /// Whether the last undo may still be blamed for a loss.
    on_trial: bool,
    doubts: u32,
    refusals: u64,
}

impl Past {
    fn naive(&mut self, name: &str, opened_at: u64) -> bool {
        let last = self.granted.last().copied();
        let once = last.is_none_or(|(at, srtt)| opened_at >= at + srtt);
        match name {
            "always" => true,
            "once-a-round-trip" => once,
            "unless-losses-follow" => {
                if self.on_trial && last.is_some_and(|(at, srtt)| opened_at > at + 2 * srtt) {
                    // No loss has followed the undo.
                    self.on_trial = false;
                    self.doubts = self.doubts.saturating_sub(1);
                }
                match self.refusals {
                    0 => once,
                    _ => {
                        self.refusals -= 1;
                        false
                    }
                }
            }
            other => panic!("grant {other} has no transcription here"),
        }
    }

    /// Records a genuine loss of data that was sent at `sent_at`.
    fn lost(&mut self, sent_at: u64) {
        if self.on_trial && self.granted.last().is_some_and(|&(at, srtt)| sent_at <= at + 2 * srtt) {
            self.on_trial = false;
            self.doubts = (self.doubts + 1).min(6);
            self.refusals = 2_u64.pow(self.doubts) - 1;
        }
    }
}

/// Compares every rule of the registry.
#[test]
fn each_grant_agrees_with_a_model_of_its_rule() {
    for entry in eifel_recovery::registry::Seam::Grant.entries() {
        let mut dice = Dice::new(17);
        let mut answers = [0_u64; 2];
        for _ in 0..CONNECTIONS {
            let mut grant = part::grant(&Choice::named(entry.name)).unwrap_or_else(|error| panic!("{error}"));
            let (mut now, mut past) = (0, Past::default());
            let losses = 1 + dice.below(10);
            for _ in 0..VERDICTS {
                let opened_at = now + dice.below(500);
                now = opened_at + dice.below(500);
                let srtt = (!dice.once_in(5)).then(|| dice.below(1500));
                let smoothed = srtt.map(Duration::from_nanos);
                let answer = grant.grants(Instant::from_nanos(opened_at), Instant::from_nanos(now), smoothed);
                let expected = past.naive(entry.name, opened_at);
                assert_eq!(answer, expected, "{}", entry.name);
                if expected {
                    past.granted.push((now, srtt.unwrap_or(0)));
                    past.on_trial = true;
                }
                if dice.once_in(losses) {
                    let sent_at = now + dice.below(1000);
                    grant.lost(Instant::from_nanos(sent_at));
                    past.lost(sent_at);
                }
                answers[usize::from(expected)] += 1;
            }
        }
        assert!(entry.name == "always" || answers.iter().all(|&count| count > CONNECTIONS), "{answers:?}");
    }
}
