//! The claim that no receiver gains by lying: the ratio of its goodput to an honest receiver's, on
//! the same path and seeds.

use std::fmt::Write;

use eifel_path::stream::Stream;
use eifel_sim::liar::Kind;
use eifel_sim::liar::schedule::{Answer, Duplicates, Echoed, Gaps, Number, Occasion, Schedule};
use eifel_sim::record::Record;
use eifel_sim::scenario::{Scenario, Traffic};

use crate::climb::{Candidate, Effort, Found, Subject, Worth, ratio, search, simplest};

/// Receivers that lie to the sender of a scenario's first flow.
#[derive(Clone, Debug)]
pub struct Liars {
    scenario: Scenario,
    /// Goodput of an honest receiver in bit/s, by repetition.
    honest: Vec<f64>,
}

impl Liars {
    /// Takes the scenario, and runs it with an honest receiver over the first `repetitions`.
    ///
    /// # Errors
    /// The reason why no receiver of the scenario can gain: the first flow sends datagrams or
    /// delivers nothing, or a run fails.
    pub fn new(scenario: &Scenario, repetitions: u32) -> Result<Self, String> {
        let liars = Self { scenario: scenario.clone(), honest: Vec::new() };
        let honest = liars.with(None)?;
        let goodput = |repetition| match eifel_sim::run(&honest, repetition, Record::none()) {
            Ok(outcome) => Ok(outcome.summary.flows[0].goodput_bps),
            Err(error) => Err(format!("repetition {repetition}: {error}")),
        };
        let honest = (0..repetitions).map(goodput).collect::<Result<Vec<f64>, String>>()?;
        if honest.iter().sum::<f64>() == 0.0 {
            return Err("flow[0]: an honest receiver gets nothing; expected a flow that delivers data".to_owned());
        }
        Ok(Self { honest, ..liars })
    }

    /// Returns the scenario with this receiver.
    fn with(&self, liar: Option<Kind>) -> Result<Scenario, String> {
        let mut scenario = self.scenario.clone();
        match scenario.flows.first_mut().map(|flow| &mut flow.traffic) {
            Some(Traffic::Stream { connection, .. }) => connection.liar = liar,
            Some(Traffic::Messages { association, .. }) => association.liar = liar,
            _ => return Err("flow[0]: datagrams have no receiver that answers; expected a stream".to_owned()),
        }
        Ok(scenario)
    }

    fn goodput(&self, schedule: &Schedule, repetition: u32) -> f64 {
        let scenario = self.with(Some(Kind::Scheduled(*schedule))).expect("checked: not datagrams");
        let outcome =
            eifel_sim::run(&scenario, repetition, Record::none()).expect("an honest receiver's run did not fail");
        outcome.summary.flows[0].goodput_bps
    }
}

/// How much less a simpler liar may gain, as a ratio to the honest receiver's goodput.
const PRICE_OF_SIMPLICITY: f64 = 0.005;

/// Searches for the liar that gains most, and simplifies it. `progress` receives the number of runs
/// done so far.
pub fn best_liar(liars: &Liars, effort: &Effort, progress: impl FnMut(u32)) -> Found<Schedule> {
    let best = search(liars, effort, Vec::new(), progress).swap_remove(0);
    let enough = best.judged.value - PRICE_OF_SIMPLICITY;
    simplest(liars, best, effort, |worth| worth.value >= enough)
}

/// Returns the liar as the tables of a scenario that stand below `[[flow]]`.
pub fn to_toml(schedule: &Schedule) -> String {
    let mut text = String::new();
    for (state, answers) in ["", "other."].iter().zip(&schedule.tables) {
        for (key, answer) in Occasion::NAMES.iter().zip(answers) {
            if *answer != Answer::default() {
                let gap = if text.is_empty() { "" } else { "\n" };
                let _ = write!(text, "{gap}[flow.liar.{state}{key}]\n{}", told(answer));
            }
        }
    }
    text
}

/// Returns the parts of an answer that differ from the honest one, as TOML.
fn told(answer: &Answer) -> String {
    let honest = Answer::default();
    let mut text = String::new();
    let mut word = |key: &str, differs: bool, value: &str| {
        if differs {
            let _ = writeln!(text, "{key} = {value}");
        }
    };
    let quoted = |names: &[&str], index: usize| format!("{:?}", names[index]);
    word("number", answer.number != honest.number, &quoted(Number::NAMES, answer.number as usize));
    word("echo", answer.echoed != honest.echoed, &quoted(Echoed::NAMES, answer.echoed as usize));
    word("duplicates", answer.duplicates != honest.duplicates, &quoted(Duplicates::NAMES, answer.duplicates as usize));
    word("gaps", answer.gaps != honest.gaps, &quoted(Gaps::NAMES, answer.gaps as usize));
    word("denies_mark", answer.denies_mark, "true");
    word("withheld", answer.withheld, "true");
    word("held_ms", answer.held_ms != honest.held_ms, &answer.held_ms.to_string());
    word("every", answer.every != honest.every, &answer.every.to_string());
    word("turns", answer.turns, "true");
    text
}

/// Number of parts of an answer.
const PARTS: u64 = 9;
/// Index of the part that holds an answer back.
const HOLD: u64 = 7;
/// Numbers of arrivals that an answer may wait for.
const WAITS: [u8; 5] = [1, 2, 4, 16, 64];
/// Milliseconds for which an answer may be held back: parts of a round trip, several round trips,
/// and longer than most timeouts.
const HOLDS: [u32; 5] = [10, 50, 200, 500, 1500];
/// Probability of drawing a hold. It is low, because most holds ruin a liar.
const HELD: f64 = 0.1;
/// Probability that a liar has two states.
const TWO_STATES: f64 = 0.5;

/// Alters one part of an answer at random. The honest choice is likelier than all others together,
/// and for holds much likelier.
fn altered(mut answer: Answer, thing: u64, stream: &mut Stream) -> Answer {
    if thing == HOLD {
        answer.held_ms = if stream.chance(HELD) { HOLDS[stream.below(HOLDS.len() as u64) as usize] } else { 0 };
        return answer;
    }
    let mut pick = |count: usize| if stream.chance(0.5) { 0 } else { stream.below(count as u64) as usize };
    match thing {
        0 => answer.number = Number::ALL[pick(4)],
        1 => answer.echoed = Echoed::ALL[pick(5)],
        2 => answer.duplicates = Duplicates::ALL[pick(3)],
        3 => answer.gaps = Gaps::ALL[pick(3)],
        4 => answer.denies_mark = pick(2) == 1,
        5 => answer.withheld = pick(2) == 1,
        6 => answer.every = WAITS[pick(WAITS.len())],
        _ => answer.turns = pick(2) == 1,
    }
    answer
}

impl Candidate for Schedule {
    fn draw(stream: &mut Stream) -> Schedule {
        let mut schedule = Schedule::default();
        let (states, parts) = if stream.chance(TWO_STATES) { (2, PARTS) } else { (1, PARTS - 1) };
        for answer in schedule.tables[..states].as_flattened_mut() {
            for part in 0..parts {
                *answer = altered(*answer, part, stream);
            }
        }
        schedule
    }

    fn changed(&self, stream: &mut Stream) -> Schedule {
        let mut changed = *self;
        while changed == *self {
            // Two answers often have to change together.
            for _ in 0..=stream.below(2) {
                let answers = changed.tables.as_flattened_mut();
                // The other table matters only to a liar that turns to it.
                let reached = if answers.iter().any(|answer| answer.turns) { answers.len() } else { answers.len() / 2 };
                let answer = &mut answers[stream.below(reached as u64) as usize];
                *answer = altered(*answer, stream.below(PARTS), stream);
            }
        }
        changed
    }

    fn simpler(&self) -> Vec<Schedule> {
        let mut simpler = Vec::new();
        for (place, &answer) in self.tables.as_flattened().iter().enumerate() {
            let honest = Answer::default();
            let each = [
                Answer { number: honest.number, ..answer },
                Answer { echoed: honest.echoed, ..answer },
                Answer { duplicates: honest.duplicates, ..answer },
                Answer { gaps: honest.gaps, ..answer },
                Answer { denies_mark: false, ..answer },
                Answer { withheld: false, ..answer },
                Answer { every: honest.every, ..answer },
                Answer { held_ms: honest.held_ms, ..answer },
                Answer { turns: false, ..answer },
            ];
            for one in each.into_iter().filter(|one| *one != answer) {
                let mut with = *self;
                with.tables.as_flattened_mut()[place] = one;
                simpler.push(with);
            }
        }
        simpler
    }
}

impl Subject for Liars {
    type Candidate = Schedule;

    /// Returns the mean goodput of the liar, divided by the honest receiver's.
    fn measure(&self, candidate: &Schedule, first: u32, repetitions: u32) -> Worth {
        let repetitions = first..first + repetitions;
        let lying = repetitions.clone().map(|repetition| self.goodput(candidate, repetition));
        ratio(lying.zip(repetitions.map(|repetition| self.honest[repetition as usize])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Returns a scenario of 10 Mbit/s and a round trip of 100 ms, in which one segment in fifty is
    /// lost.
    fn scenario(flow: &str) -> Scenario {
        let text = format!(
            r#"
            duration_s = 30
            [point_to_point]
            rate_bps = 10_000_000
            delay_ms = 50
            queue = {{ kind = "drop-tail", packets = 80 }}
            loss = {{ kind = "random", rate = 0.02 }}
            [[flow]]
            name = "main"
            from = "sender"
            to = "receiver"
            {flow}
            "#
        );
        Scenario::parse(&text, Path::new("test")).unwrap()
    }

    const BULK: &str = "application = { kind = \"bulk\", endless = true }";
    const EFFORT: Effort = Effort { runs: 300, glance: 1, judging: 4, survivors: 4, seed: 1, threads: None };

    #[test]
    fn every_schedule_survives_a_round_trip_through_a_scenario() {
        let mut stream = Stream::new(3, &["test"]);
        let mut seen = [0; 9];
        for _ in 0..300 {
            let schedule = Schedule::draw(&mut stream);
            let read = scenario(&format!("{BULK}\n{}", to_toml(&schedule)));
            let Traffic::Stream { connection, .. } = &read.flows[0].traffic else { panic!("a stream") };
            // A liar that never lies is read as an honest receiver.
            let expected = (schedule != Schedule::default()).then_some(Kind::Scheduled(schedule));
            assert_eq!(connection.liar, expected);
            for answer in schedule.tables.as_flattened() {
                seen[0] += usize::from(answer.number == Number::OneMore);
                seen[1] += usize::from(answer.echoed == Echoed::Newest);
                seen[2] += usize::from(answer.duplicates == Duplicates::Invented);
                seen[3] += usize::from(answer.gaps == Gaps::Invented);
                seen[4] += usize::from(answer.denies_mark);
                seen[5] += usize::from(answer.withheld);
                seen[6] += usize::from(answer.every > 4);
                seen[7] += usize::from(answer.turns);
                seen[8] += usize::from(answer.held_ms > 100);
            }
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }

    /// DSACK believes everything that a peer reports: a search that finds no gain against it is
    /// broken.
    #[test]
    fn a_search_of_seconds_finds_the_liar_against_dsack() {
        let sender = "sender = { detect = \"dsack\", grant = \"always\" }";
        let liars = Liars::new(&scenario(&format!("{BULK}\n{sender}")), 5).unwrap();
        let found = best_liar(&liars, &EFFORT, |_| {});
        assert!(found.judged.value > 1.3, "{found:?}");
    }

    /// Tests the rule of `eifel-timestamps` about later retransmissions. Without the rule, an
    /// equally short search finds a gain of 50 %.
    #[test]
    fn a_search_of_seconds_finds_no_gain_against_the_default() {
        for seed in [1, 2] {
            let liars = Liars::new(&scenario(BULK), 5).unwrap();
            let found = best_liar(&liars, &Effort { seed, ..EFFORT }, |_| {});
            assert!(found.judged.value <= 1.05, "{found:?}");
        }
    }

    #[test]
    fn a_flow_without_a_receiver_that_could_gain_is_refused() {
        let refused = |flow: &str| Liars::new(&scenario(flow), 1).err().unwrap();
        let datagrams = "application = { kind = \"cbr\", rate_bps = 1_000, packet_bytes = 100 }";
        assert!(refused(datagrams).contains("expected a stream"));
        assert!(refused(&format!("start_s = 29.99\n{BULK}")).contains("gets nothing"));
    }
}
