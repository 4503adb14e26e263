//! Claims as text, and the search for what refutes one of them: the face of this crate for commands and bindings.

use toml::{Table, Value};

use crate::climb::{Effort, Found, Subject, search, simplest};
use crate::field::{Field, Place};
use crate::harm::Harm;
use crate::survey::{Surveyed, survey};
use crate::wrong::Wrong;

/// A claim about honest ends over a field of scenarios.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A sender is never much below another.
    Harm(Harm),
    /// A detector is never wrong.
    Wrong(Wrong),
}

/// A scenario that may refute a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// The value that the claim bounds, in runs that were not searched with.
    pub value: f64,
    /// Half of its 95 % interval; 0 where every case counts.
    pub error: f64,
    /// The scenario, with the sender that the claim is about.
    pub scenario: String,
}

/// The answer of a search.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answer {
    /// Scenarios drawn at random.
    pub drawn: usize,
    /// Of these, how many refute the claim at 95 %, as far as a look at a few runs raises the suspicion.
    pub refuting: usize,
    /// The mean over the drawn ones of the value at first sight.
    pub mean: f64,
    /// The worst candidate of the climb, shrunk if it refutes the claim.
    pub worst: Option<Counterexample>,
}

/// Runs that judge a scenario, of each sender.
const JUDGING: u32 = 20;
/// Runs at first sight.
const GLANCE: u32 = 2;
/// Scenarios of a search for each one that is spent on climbing.
const CLIMBING: u32 = 4;

fn table(claim: &Table, key: &str) -> Result<Table, String> {
    match claim.get(key) {
        None => Ok(Table::new()),
        Some(Value::Table(table)) => Ok(table.clone()),
        Some(other) => Err(format!("{key} = {other}; expected a table of algorithms, as in a scenario's sender")),
    }
}

impl Claim {
    /// Reads a claim: `kind = "harm"` with the tables `sender` and `other`, or `kind = "wrong"` with a `detector`.
    ///
    /// # Errors
    /// Says which key is wrong, and what is expected.
    pub fn parse(text: &str, seed: u64) -> Result<Self, String> {
        let claim: Table = text.parse().map_err(|error| format!("the claim is no TOML: {error}"))?;
        let field = Field { without_timestamps: false, neighbours: true, pace: Some("pacing") };
        let claim = match claim.get("kind").and_then(Value::as_str) {
            Some("harm") => {
                let (claimed, other) = (table(&claim, "sender")?, table(&claim, "other")?);
                let pace = claimed.get("pace").is_none_or(|pace| pace.as_str() == Some("none"));
                // A sender that says how it paces is compared as it is.
                let field = Field { pace: field.pace.filter(|_| pace), ..field };
                Self::Harm(Harm { field, claimed, other, seed })
            }
            Some("wrong") => {
                let detector = claim.get("detector").cloned().ok_or("detector is missing; expected its name")?;
                let field = Field { without_timestamps: true, neighbours: false, pace: None };
                Self::Wrong(Wrong { field, detector, seed })
            }
            other => return Err(format!("kind = {other:?}; expected \"harm\" or \"wrong\"")),
        };
        claim.check()?;
        Ok(claim)
    }

    /// Refuses algorithms that no scenario can have.
    fn check(&self) -> Result<(), String> {
        let text = self.scenario(&Place::PLAIN).to_string();
        let parsed = eifel_sim::scenario::Scenario::parse(&text, "claim".as_ref());
        parsed.map(|_| ()).map_err(|error| error.to_string())
    }

    fn scenario(&self, place: &Place) -> Table {
        match self {
            Self::Harm(harm) => harm.scenario(place, 1),
            Self::Wrong(wrong) => wrong.scenario(place),
        }
    }

    /// Looks at `scenarios` scenarios: most at random, the rest uphill from the worst. What refutes the claim has a value
    /// above `most` at 95 %. `progress` hears how many scenarios were looked at.
    pub fn hunt(&self, scenarios: u32, most: f64, effort: &Effort, progress: impl FnMut(u32)) -> Answer {
        match self {
            Self::Harm(harm) => self.hunted(harm, scenarios, most, effort, progress),
            Self::Wrong(wrong) => self.hunted(wrong, scenarios, most, effort, progress),
        }
    }

    fn hunted<S: Subject<Candidate = Place>>(
        &self,
        subject: &S,
        scenarios: u32,
        most: f64,
        effort: &Effort,
        mut progress: impl FnMut(u32),
    ) -> Answer {
        let climbing = scenarios / CLIMBING;
        let random = (scenarios - climbing).max(1);
        let runs = |count: u32| Effort { runs: count * effort.glance, ..*effort };
        let drawn = survey(subject, &runs(random), most, |runs| progress(runs / effort.glance));
        let refuting = drawn.iter().filter(|one| one.judged.is_some_and(|judged| judged.least() > most)).count();
        let mean = drawn.iter().map(|one| one.glanced.value).sum::<f64>() / drawn.len() as f64;
        let start = worst(drawn, effort.survivors);
        let mut best = search(subject, &runs(climbing.max(1)), start, |runs| progress(random + runs / effort.glance));
        let mut worst = best.swap_remove(0);
        if worst.judged.least() > most {
            worst = simplest(subject, worst, effort, |worth| worth.least() > most);
        }
        let counterexample = Counterexample {
            value: worst.judged.value,
            error: worst.judged.error,
            scenario: self.scenario(&worst.candidate).to_string(),
        };
        Answer { drawn: random as usize, refuting, mean, worst: Some(counterexample) }
    }
}

/// Returns the drawn scenarios from which climbing starts.
fn worst(mut drawn: Vec<Surveyed<Place>>, count: usize) -> Vec<Found<Place>> {
    let value = |one: &Surveyed<Place>| one.judged.map_or(0.0, |judged| judged.least());
    drawn.sort_by(|one, other| value(other).total_cmp(&value(one)));
    drawn.truncate(count.max(1));
    drawn
        .into_iter()
        .map(|one| Found {
            candidate: one.candidate,
            glanced: one.glanced.value,
            judged: one.judged.unwrap_or_default(),
        })
        .collect()
}

/// Returns the effort of one search by its seed and threads.
pub fn effort(seed: u64, threads: Option<usize>) -> Effort {
    Effort { runs: 0, glance: GLANCE, judging: JUDGING, survivors: 4, seed, threads }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_says_too_little_is_refused() {
        let refused = |text: &str| Claim::parse(text, 1).err().unwrap_or_else(|| panic!("{text} was taken"));
        assert!(refused("kind = \"else\"").contains("expected \"harm\" or \"wrong\""));
        assert!(refused("kind = \"wrong\"").contains("detector is missing"));
        assert!(refused("kind = \"wrong\"\ndetector = \"eifel\"").contains("eifel"));
        assert!(refused("kind = \"harm\"\nsender = 3").contains("expected a table"));
    }

    /// A sender that waits 60 s for every loss is far below any other, and a short search finds that.
    #[test]
    fn a_sender_that_is_far_below_another_is_found_and_shrunk() {
        let text = "kind = \"harm\"\nsender = { detect = \"none\", congest = { name = \"reno\", initial_window_segments = 1, \
                    initial_ssthresh_bytes = 1448 } }\nother = { detect = \"none\" }";
        let effort = Effort { judging: 3, survivors: 1, ..effort(3, None) };
        let answer = Claim::parse(text, 1).unwrap().hunt(16, 0.02, &effort, |_| {});
        assert!(answer.refuting > 0, "{answer:?}");
        let worst = answer.worst.unwrap();
        assert!(worst.value - worst.error > 0.02 && !worst.scenario.contains("[[spike]]"), "{worst:?}");
    }

    /// The smallest round trip is a poor witness: a short search finds losses that it calls spurious.
    #[test]
    fn a_detector_that_is_wrong_is_caught() {
        let effort = Effort { judging: 4, ..effort(1, None) };
        let claim =
            Claim::parse("kind = \"wrong\"\ndetector = { name = \"min-rtt\", limit = \"half-srtt\" }", 1).unwrap();
        let answer = claim.hunt(60, 0.0, &effort, |_| {});
        assert!(answer.worst.as_ref().is_some_and(|worst| worst.value > 0.0), "{answer:?}");
    }
}
