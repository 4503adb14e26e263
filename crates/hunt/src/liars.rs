//! The claim that no receiver gains by lying: its goodput over an honest one's, on the same path and seeds.

use std::fmt::Write;
use std::path::Path;

use eifel_path::stream::Stream;
use eifel_sim::liar::schedule::{Answer, Duplicates, Echoed, Number, Occasion, Schedule};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;

use crate::climb::Subject;

/// Receivers that lie to one sender over one path: 10 Mbit/s, 100 ms, a queue of 80 packets, random loss.
pub struct Liars {
    sender: String,
    loss: f64,
    /// Goodput of an honest receiver, by repetition.
    honest: Vec<f64>,
}

/// How long each transfer lasts: hundreds of losses at 1 %.
const DURATION_S: u32 = 30;

impl Liars {
    /// The liars of a sender, given as the inside of the scenario's table `sender`, at a rate of loss. Runs the honest
    /// receiver over the first `repetitions`.
    ///
    /// # Errors
    /// What the scenario's check says of the sender.
    pub fn new(sender: &str, loss: f64, repetitions: u32) -> Result<Self, String> {
        let mut liars = Self { sender: sender.to_owned(), loss, honest: Vec::new() };
        let scenario = Scenario::parse(&liars.scenario(&Schedule::default()), Path::new("liars"))
            .map_err(|error| error.to_string())?;
        liars.honest = (0..repetitions).map(|repetition| goodput(&scenario, repetition)).collect();
        Ok(liars)
    }

    /// The scenario of one liar, as TOML.
    pub fn scenario(&self, schedule: &Schedule) -> String {
        let (sender, loss) = (&self.sender, self.loss);
        let mut text = format!(
            r#"duration_s = {DURATION_S}

[point_to_point]
rate_bps = 10_000_000
delay_ms = 50
queue = {{ kind = "drop-tail", packets = 80 }}
loss = {{ kind = "random", rate = {loss} }}
back = {{ rate_bps = 10_000_000, queue = {{ kind = "unlimited" }} }}

[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = {{ kind = "bulk", endless = true }}
tcp = {{ payload_bytes = 1448, retransmission_marks = "bits" }}
sender = {{ {sender} }}
"#
        );
        for (key, answer) in Occasion::NAMES.iter().zip(&schedule.answers) {
            if *answer != Answer::default() {
                let _ = write!(text, "\n[flow.liar.{key}]\n{}", told(answer));
            }
        }
        text
    }
}

/// One answer as TOML: what differs from the honest one.
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
    word("hides_sack", answer.hides_sack, "true");
    word("denies_mark", answer.denies_mark, "true");
    word("withheld", answer.withheld, "true");
    text
}

fn goodput(scenario: &Scenario, repetition: u32) -> f64 {
    let outcome = eifel_sim::run(scenario, repetition, Record::none()).expect("the scenario was checked");
    outcome.summary.flows[0].goodput_bps
}

/// One of six things about an answer, drawn; the honest choice as often as all others together.
fn altered(mut answer: Answer, thing: u64, stream: &mut Stream) -> Answer {
    let mut pick = |count: usize| if stream.chance(0.5) { 0 } else { stream.below(count as u64) as usize };
    match thing {
        0 => answer.number = Number::ALL[pick(4)],
        1 => answer.echoed = Echoed::ALL[pick(5)],
        2 => answer.duplicates = Duplicates::ALL[pick(3)],
        3 => answer.hides_sack = pick(2) == 1,
        4 => answer.denies_mark = pick(2) == 1,
        _ => answer.withheld = pick(2) == 1,
    }
    answer
}

impl Subject for Liars {
    type Candidate = Schedule;

    fn draw(&self, stream: &mut Stream) -> Schedule {
        let mut schedule = Schedule::default();
        for answer in &mut schedule.answers {
            for thing in 0..6 {
                *answer = altered(*answer, thing, stream);
            }
        }
        schedule
    }

    fn change(&self, candidate: &Schedule, stream: &mut Stream) -> Schedule {
        let mut changed = *candidate;
        while changed == *candidate {
            // Two answers often have to change together.
            for _ in 0..=stream.below(2) {
                let answer = &mut changed.answers[stream.below(5) as usize];
                *answer = altered(*answer, stream.below(6), stream);
            }
        }
        changed
    }

    fn simpler(&self, candidate: &Schedule) -> Vec<Schedule> {
        let mut simpler = Vec::new();
        for place in 0..candidate.answers.len() {
            let (answer, honest) = (candidate.answers[place], Answer::default());
            let each = [
                Answer { number: honest.number, ..answer },
                Answer { echoed: honest.echoed, ..answer },
                Answer { duplicates: honest.duplicates, ..answer },
                Answer { hides_sack: false, ..answer },
                Answer { denies_mark: false, ..answer },
                Answer { withheld: false, ..answer },
            ];
            for one in each.into_iter().filter(|one| *one != answer) {
                let mut with = *candidate;
                with.answers[place] = one;
                simpler.push(with);
            }
        }
        simpler
    }

    /// The mean goodput of the liar over that of the honest receiver.
    fn measure(&self, candidate: &Schedule, first: u32, repetitions: u32) -> f64 {
        let scenario = Scenario::parse(&self.scenario(candidate), Path::new("liars")).expect("drawn by the format");
        let repetitions = first..first + repetitions;
        let lying: f64 = repetitions.clone().map(|repetition| goodput(&scenario, repetition)).sum();
        let honest: f64 = repetitions.map(|repetition| self.honest[repetition as usize]).sum();
        lying / honest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::climb::{Effort, search};

    #[test]
    fn every_schedule_is_a_scenario_that_says_the_same() {
        let liars = Liars { sender: "detect = \"dsack\"".to_owned(), loss: 0.01, honest: Vec::new() };
        let mut stream = Stream::new(3, &["test"]);
        let mut seen = [0; 6];
        for _ in 0..300 {
            let schedule = liars.draw(&mut stream);
            let scenario = Scenario::parse(&liars.scenario(&schedule), Path::new("liars")).expect("a scenario");
            assert_eq!(liars_schedule(&scenario), schedule);
            for answer in schedule.answers {
                seen[0] += usize::from(answer.number == Number::OneMore);
                seen[1] += usize::from(answer.echoed == Echoed::Newest);
                seen[2] += usize::from(answer.duplicates == Duplicates::Invented);
                seen[3] += usize::from(answer.hides_sack);
                seen[4] += usize::from(answer.denies_mark);
                seen[5] += usize::from(answer.withheld);
            }
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }

    fn liars_schedule(scenario: &Scenario) -> Schedule {
        use eifel_sim::scenario::Traffic;
        match &scenario.flows[0].traffic {
            Traffic::Stream { connection, .. } => match connection.liar {
                Some(eifel_sim::liar::Kind::Scheduled(schedule)) => schedule,
                _ => Schedule::default(),
            },
            Traffic::Datagrams { .. } => panic!("a stream"),
        }
    }

    /// A detector that believes whatever a peer reports: a search that finds no gain against it finds nothing anywhere.
    #[test]
    fn a_search_of_seconds_finds_the_liar_against_dsack() {
        let effort = Effort { runs: 120, glance: 1, judging: 4, survivors: 4, seed: 1 };
        let liars = Liars::new("detect = \"dsack\", grant = \"always\"", 0.02, 5).expect("a sender");
        let found = search(&liars, &effort, |_| {});
        assert!(found[0].judged > 1.3, "{:?}", found[0]);
    }
}
