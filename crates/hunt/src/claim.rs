//! Claims as text, and the search for counterexamples: the interface of this crate for commands and
//! bindings.

use eifel_sim::scenario::Scenario;
use toml::{Table, Value};

use crate::climb::{Effort, Found, Subject, Worth, search, simplest};
use crate::field::{Field, Gene, Place};
use crate::harm::Harm;
use crate::liars::{Liars, best_liar, to_toml};
use crate::survey::{Surveyed, confirmed, survey};
use crate::table::flows;
use crate::wrong::Wrong;

/// A claim about honest ends over a field of scenarios, or about lying receivers in one scenario.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A sender's goodput is never much below another's.
    Harm(Harm),
    /// A detector is never wrong.
    Wrong(Wrong),
    /// No receiver gains by lying to the sender of a scenario's first flow. The table is the
    /// scenario as read.
    Liars(Box<Liars>, Table),
}

/// A scenario that may refute a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// The value that the claim bounds, in runs that the search did not use.
    pub value: f64,
    /// Half of the width of its 95 % confidence interval; 0 if a single case refutes the claim.
    pub error: f64,
    /// The scenario in TOML, with the sender that the claim is about.
    pub scenario: String,
}

/// The result of a search.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answer {
    /// Number of candidates tried; for claims about honest ends, only those drawn at random.
    pub drawn: usize,
    /// The drawn scenarios that refute the claim at 95 %, the worst first. Only scenarios that are
    /// suspicious after a few runs are judged.
    pub against: Vec<Counterexample>,
    /// Mean of the value at a glance over the drawn scenarios; for lying receivers, the value of
    /// the best one.
    pub mean: f64,
    /// The worst scenario, drawn or climbed to, simplified if it refutes the claim.
    pub worst: Option<Counterexample>,
}

/// Number of runs that judge a scenario, for each sender.
const JUDGING: u32 = 20;
/// Number of runs of a scenario at a glance, for each sender.
const GLANCE: u32 = 2;
/// One in this many scenarios of a search is spent on climbing.
const CLIMBING: u32 = 4;

fn table(claim: &Table, key: &str) -> Result<Table, String> {
    match claim.get(key) {
        None => Ok(Table::new()),
        Some(Value::Table(table)) => Ok(table.clone()),
        Some(other) => Err(format!("{key} = {other}; expected a table of algorithms, as in a scenario's sender")),
    }
}

fn is_scenario(table: &Table) -> bool {
    Scenario::parse(&table.to_string(), "claim".as_ref()).is_ok()
}

impl Claim {
    /// Reads a claim: `kind = "harm"` with the tables `sender` and `other`, `kind = "wrong"` with a `detector`, or
    /// `kind = "liars"` with a `scenario`. The first two may have a `profile`, that of all flows.
    ///
    /// # Errors
    /// Says which key is wrong, and what is expected.
    pub fn parse(text: &str, seed: u64) -> Result<Self, String> {
        let claim: Table = text.parse().map_err(|error| format!("the claim is not valid TOML: {error}"))?;
        let linux = match claim.get("profile") {
            None => false,
            Some(profile) if profile.as_str() == Some("linux") => true,
            Some(other) => return Err(format!("profile = {other}; expected \"linux\"")),
        };
        let field = Field { without_timestamps: false, neighbours: true, pace: Some("pacing"), linux };
        let claim = match claim.get("kind").and_then(Value::as_str) {
            Some("harm") => {
                let (claimed, other) = (table(&claim, "sender")?, table(&claim, "other")?);
                let pace = claimed.get("pace").is_none_or(|pace| pace.as_str() == Some("none"));
                // A sender that chooses its own pacing is compared unchanged.
                let field = Field { pace: field.pace.filter(|_| pace), ..field };
                Self::Harm(Harm { field, claimed, other, seed })
            }
            Some("wrong") => {
                let detector = claim.get("detector").cloned().ok_or("detector is missing; expected its name")?;
                let field = Field { without_timestamps: true, neighbours: false, pace: None, linux };
                let wrong = Wrong { field, detector, seed };
                // A detector that needs timestamps is tested only on connections with timestamps.
                let without = wrong.scenario(&Place::PLAIN.with(Gene::Timestamps, 1.0));
                let field = Field { without_timestamps: is_scenario(&without), ..field };
                Self::Wrong(Wrong { field, ..wrong })
            }
            Some("liars") => {
                let read = table(&claim, "scenario")?;
                let scenario =
                    Scenario::parse(&read.to_string(), "scenario".as_ref()).map_err(|error| error.to_string())?;
                return Ok(Self::Liars(Box::new(Liars::new(&scenario, GLANCE + JUDGING)?), read));
            }
            other => return Err(format!("kind = {other:?}; expected \"harm\", \"wrong\" or \"liars\"")),
        };
        claim.check()?;
        Ok(claim)
    }

    /// Refuses algorithms that no scenario can have.
    fn check(&self) -> Result<(), String> {
        let text = self.scenario(&Place::PLAIN).to_string();
        let parsed = Scenario::parse(&text, "claim".as_ref());
        parsed.map(|_| ()).map_err(|error| error.to_string())
    }

    fn scenario(&self, place: &Place) -> Table {
        match self {
            Self::Harm(harm) => harm.scenario(place, 1),
            Self::Wrong(wrong) => wrong.scenario(place),
            Self::Liars(_, scenario) => scenario.clone(),
        }
    }

    /// Tries `scenarios` scenarios: most at random, the rest uphill from the worst. A scenario
    /// refutes the claim if its value is above `most` at 95 %. `progress` receives the number of
    /// scenarios tried so far.
    pub fn hunt(&self, scenarios: u32, most: f64, effort: &Effort, progress: impl FnMut(u32)) -> Answer {
        match self {
            Self::Harm(harm) => self.hunted(harm, scenarios, most, effort, progress),
            Self::Wrong(wrong) => self.hunted(wrong, scenarios, most, effort, progress),
            Self::Liars(liars, scenario) => lied(liars, scenario, scenarios, most, effort, progress),
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
        let mut drawn = survey(subject, &runs(random), most, |runs| progress(runs / effort.glance));
        let mean = drawn.iter().map(|one| one.glanced.value).sum::<f64>() / drawn.len() as f64;
        drawn.sort_by(|one, other| least(other).total_cmp(&least(one)));
        let refuting = drawn.iter().take_while(|one| least(one) > most);
        let against = refuting.map(|one| self.counterexample(&one.candidate, one.judged.unwrap_or_default())).collect();
        drawn.truncate(effort.survivors.max(1));
        let start: Vec<Found<Place>> = drawn.into_iter().map(found).collect();
        let climbed =
            search(subject, &runs(climbing.max(1)), start.clone(), |runs| progress(random + runs / effort.glance));
        let (candidates, mut judged): (Vec<Place>, Vec<Worth>) =
            climbed.into_iter().map(|found| (found.candidate, found.judged)).unzip();
        confirmed(subject, &candidates, effort, &mut judged, most);
        let climbed =
            candidates.into_iter().zip(judged).map(|(candidate, judged)| Found { candidate, glanced: 0.0, judged });
        // Climbing ranks by few runs, and may drop the worst scenario.
        let worst =
            start.into_iter().chain(climbed).max_by(|one, other| one.judged.least().total_cmp(&other.judged.least()));
        let worst = worst.map(|worst| self.shrunk(subject, worst, effort, most));
        Answer { drawn: random as usize, against, mean, worst }
    }

    /// Simplifies a scenario that refutes the claim. Returns it unchanged if runs that were not
    /// used for simplifying do not confirm the simpler scenario.
    fn shrunk<S: Subject<Candidate = Place>>(
        &self,
        subject: &S,
        worst: Found<Place>,
        effort: &Effort,
        most: f64,
    ) -> Counterexample {
        if worst.judged.least() > most {
            let plain = simplest(subject, worst.clone(), effort, |worth| worth.least() > most);
            let mut judged = [plain.judged];
            confirmed(subject, std::slice::from_ref(&plain.candidate), effort, &mut judged, most);
            if judged[0].least() > most {
                return self.counterexample(&plain.candidate, judged[0]);
            }
        }
        self.counterexample(&worst.candidate, worst.judged)
    }

    fn counterexample(&self, place: &Place, Worth { value, error }: Worth) -> Counterexample {
        Counterexample { value, error, scenario: self.scenario(place).to_string() }
    }
}

/// Tries `looks` lying receivers, at random and by climbing. The receiver that gains most is the
/// worst for the claim.
fn lied(
    liars: &Liars,
    scenario: &Table,
    looks: u32,
    most: f64,
    effort: &Effort,
    mut progress: impl FnMut(u32),
) -> Answer {
    let runs = Effort { runs: looks * effort.glance, ..*effort };
    let best = best_liar(liars, &runs, |runs| progress(runs / effort.glance));
    let mut told = scenario.clone();
    let liar = format!("[[flow]]\n{}", to_toml(&best.candidate)).parse::<Table>().expect("a table of the liar's own");
    if let (Some(flow), [Value::Table(liar)]) = (flows(&mut told).first_mut(), &*flows(&mut liar.clone()))
        && let Value::Table(flow) = flow
    {
        flow.extend(liar.clone());
    }
    let Worth { value, error } = best.judged;
    let worst = Counterexample { value, error, scenario: told.to_string() };
    let against = Vec::from_iter((best.judged.least() > most).then(|| worst.clone()));
    Answer { drawn: looks as usize, against, mean: value, worst: Some(worst) }
}

fn least(one: &Surveyed<Place>) -> f64 {
    one.judged.map_or(f64::NEG_INFINITY, |judged| judged.least())
}

fn found(one: Surveyed<Place>) -> Found<Place> {
    // A candidate that was not judged refutes nothing.
    let judged = one.judged.unwrap_or(Worth { value: 0.0, error: 0.0 });
    Found { candidate: one.candidate, glanced: one.glanced.value, judged }
}

/// Returns the effort of one search with this seed and number of threads.
pub fn effort(seed: u64, threads: Option<usize>) -> Effort {
    Effort { runs: 0, glance: GLANCE, judging: JUDGING, survivors: 4, seed, threads }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_sim::scenario::Traffic;

    #[test]
    fn an_incomplete_claim_is_refused() {
        let refused = |text: &str| Claim::parse(text, 1).err().unwrap_or_else(|| panic!("{text} was taken"));
        assert!(refused("kind = \"else\"").contains("expected \"harm\", \"wrong\""));
        assert!(refused("kind = \"wrong\"").contains("detector is missing"));
        assert!(refused("kind = \"wrong\"\ndetector = \"eifel\"").contains("eifel"));
        assert!(refused("kind = \"harm\"\nsender = 3").contains("expected a table"));
        assert!(refused("kind = \"harm\"\nprofile = \"bsd\"").contains("expected \"linux\""));
    }

    /// DSACK believes every report, so a liar gains. The reported scenario contains the liar.
    #[test]
    fn a_planted_lie_is_found_and_written_as_a_scenario() {
        let text = "kind = \"liars\"\n[scenario]\nduration_s = 20\npoint_to_point = { rate_bps = 10_000_000, delay_ms = 50, \
                    queue = { kind = \"drop-tail\", packets = 80 }, loss = { kind = \"random\", rate = 0.02 } }\n\
                    [[scenario.flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\n\
                    application = { kind = \"bulk\", endless = true }\nsender = { detect = \"dsack\", grant = \"always\" }";
        let answer = Claim::parse(text, 1).unwrap().hunt(100, 1.05, &effort(1, None), |_| {});
        let worst = answer.worst.unwrap();
        assert!(worst.value > 1.2 && answer.against == [worst.clone()], "{worst:?}");
        let Traffic::Stream { connection, .. } =
            &Scenario::parse(&worst.scenario, "told".as_ref()).unwrap().flows[0].traffic
        else {
            panic!("a stream")
        };
        assert!(connection.liar.is_some());
        // A gain that is not above the bound refutes nothing.
        let least = worst.value - worst.error;
        let again = Claim::parse(text, 1).unwrap().hunt(100, least, &effort(1, None), |_| {});
        assert_eq!((again.worst, again.against), (Some(worst), Vec::new()));
        assert!(Claim::parse("kind = \"liars\"", 1).is_err());
    }

    /// A sender that begins in congestion avoidance with a window of one segment is far below any
    /// other, and a short search finds that.
    #[test]
    fn a_much_slower_sender_is_found_and_shrunk() {
        let text = "kind = \"harm\"\nsender = { detect = \"none\", congest = { name = \"reno\", initial_window_segments = 1, \
                    initial_ssthresh_bytes = 1448 } }\nother = { detect = \"none\" }";
        let effort = Effort { judging: 8, survivors: 1, ..effort(3, None) };
        let answer = Claim::parse(text, 1).unwrap().hunt(16, 0.02, &effort, |_| {});
        assert!(!answer.against.is_empty(), "{answer:?}");
        let worst = answer.worst.unwrap();
        assert!(worst.value - worst.error > 0.02 && !worst.scenario.contains("[[spike]]"), "{worst:?}");
    }

    /// The smallest round trip is poor evidence: a short search finds losses that the detector
    /// calls spurious.
    #[test]
    fn a_planted_wrong_detector_is_found() {
        let effort = Effort { judging: 4, ..effort(1, None) };
        let claim =
            Claim::parse("kind = \"wrong\"\ndetector = { name = \"min-rtt\", limit = \"half-srtt\" }", 1).unwrap();
        let answer = claim.hunt(60, 0.0, &effort, |_| {});
        assert!(answer.worst.as_ref().is_some_and(|worst| worst.value > 0.0), "{answer:?}");
    }
}
