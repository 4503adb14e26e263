//! The claim that a detector never calls an episode spurious if all its retransmissions were
//! needed.

use eifel_sim::record::{Record, Table as Recorded, Tables, codes};
use eifel_sim::scenario::Scenario;
use toml::{Table, Value};

use crate::climb::{Subject, Worth};
use crate::field::{Field, Place};
use crate::table::{outcomes, senders};

/// The claim, over any scenario of a field.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The scenarios.
    pub field: Field,
    /// The detector, as in a sender's `detect`. It is the acting detector, and the sender restores
    /// nothing.
    pub detector: Value,
    /// Every scenario's seed.
    pub seed: u64,
}

/// Episodes by the truth and the acting detector's first verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Episodes in which all retransmissions were needed.
    pub needed: u64,
    /// Episodes of `needed` that were called spurious.
    pub false_positives: u64,
    /// Timeouts after which no retransmission was needed.
    pub needless_timeouts: u64,
    /// Episodes of `needless_timeouts` that were called spurious.
    pub found_timeouts: u64,
    /// Episodes in which some retransmissions were needed, and some were not.
    pub mixed: u64,
    /// Episodes of `mixed` that were called spurious: an undo reverts the response to a loss.
    pub undone: u64,
}

impl Wrong {
    /// Returns a place's scenario.
    pub fn scenario(&self, place: &Place) -> Table {
        let mut scenario = self.field.scenario(place, self.seed);
        for sender in senders(&mut scenario) {
            sender.insert("detect".into(), self.detector.clone());
            sender.insert("respond".into(), "none".into());
        }
        scenario
    }
}

/// Runs a scenario, and counts the episodes of all its senders.
///
/// # Errors
/// The run's error.
pub fn count(scenario: &Scenario, repetition: u32) -> Result<Counts, eifel_sim::Error> {
    Ok(counts(&eifel_sim::run(scenario, repetition, record())?.tables))
}

/// Returns the tables from which episodes are counted.
fn record() -> Record {
    Record::none().with(Recorded::Transmissions).with(Recorded::Episodes).with(Recorded::Verdicts)
}

/// Needed and needless bytes of an episode's retransmissions, and its verdict.
#[derive(Clone, Copy, Default)]
struct Judged {
    opened_ns: i64,
    timeout: bool,
    needed: i64,
    needless: i64,
    verdict: u8,
}

fn counts(tables: &Tables) -> Counts {
    let (sent, episodes, verdicts) = (&tables.transmissions, &tables.episodes, &tables.verdicts);
    let mut senders: Vec<(i32, u8)> = episodes.flow.iter().copied().zip(episodes.end.iter().copied()).collect();
    senders.sort_unstable();
    senders.dedup();
    let mut counts = Counts::default();
    for sender in senders {
        let of = |flows: &[i32], ends: &[u8], row: usize| (flows[row], ends[row]) == sender;
        let rows = (0..episodes.flow.len()).filter(|&row| of(&episodes.flow, &episodes.end, row));
        let mut judged: Vec<Judged> = rows
            .map(|row| {
                let timeout = codes::CAUSES[usize::from(episodes.cause[row])] == "timeout";
                Judged { opened_ns: episodes.opened_ns[row], timeout, ..Judged::default() }
            })
            .collect();
        for row in (0..sent.flow.len()).filter(|&row| of(&sent.flow, &sent.end, row)) {
            // A retransmission belongs to the last episode that was opened by its departure.
            let after = judged.partition_point(|episode| episode.opened_ns <= sent.t_ns[row]);
            let Some(episode) = after.checked_sub(1).map(|place| &mut judged[place]) else { continue };
            match codes::NEEDS[usize::from(sent.needed[row])] {
                "needed" => episode.needed += sent.len[row],
                "spurious" => episode.needless += sent.len[row],
                _ => {}
            }
        }
        for row in
            (0..verdicts.flow.len()).filter(|&row| of(&verdicts.flow, &verdicts.end, row) && verdicts.acting[row])
        {
            let place = usize::try_from(verdicts.episode[row] - 1).unwrap_or(usize::MAX);
            if let Some(episode) = judged.get_mut(place).filter(|episode| episode.verdict == 0) {
                episode.verdict = verdicts.verdict[row];
            }
        }
        for episode in judged {
            let spurious = codes::VERDICTS[usize::from(episode.verdict)] == "spurious";
            if episode.needed > 0 && episode.needless == 0 {
                counts.needed += 1;
                counts.false_positives += u64::from(spurious);
            } else if episode.needed > 0 {
                counts.mixed += 1;
                counts.undone += u64::from(spurious);
            } else if episode.timeout && episode.needless > 0 {
                counts.needless_timeouts += 1;
                counts.found_timeouts += u64::from(spurious);
            }
        }
    }
    counts
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            needed: sum.needed + one.needed,
            false_positives: sum.false_positives + one.false_positives,
            needless_timeouts: sum.needless_timeouts + one.needless_timeouts,
            found_timeouts: sum.found_timeouts + one.found_timeouts,
            mixed: sum.mixed + one.mixed,
            undone: sum.undone + one.undone,
        })
    }
}

/// Number of episodes that count as right in advance, because one wrong verdict of two proves
/// little.
const PRIOR: f64 = 20.0;

impl Subject for Wrong {
    type Candidate = Place;

    /// Returns the share of needed episodes that are called spurious.
    fn measure(&self, place: &Place, first: u32, repetitions: u32) -> Worth {
        let outcomes = outcomes(&self.scenario(place), first, repetitions, record());
        let all: Counts = outcomes.map(|outcome| counts(&outcome.tables)).sum();
        Worth { value: all.false_positives as f64 / (all.needed as f64 + PRIOR), error: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_path::stream::Stream;

    /// Draws a few episodes of three senders, with retransmissions and verdicts at any time.
    fn drawn(seed: u64) -> Tables {
        let dice = &mut Stream::new(seed, &["wrong"]);
        let mut tables = Tables::default();
        let sender = |dice: &mut Stream| [(0, 0), (0, 1), (3, 0)][dice.below(3) as usize];
        let mut opened = 0;
        for _ in 0..dice.below(8) {
            let (flow, end) = sender(dice);
            opened += dice.below(10) as i64;
            let episodes = &mut tables.episodes;
            episodes.flow.push(flow);
            episodes.end.push(end);
            episodes.opened_ns.push(opened);
            episodes.cause.push(1 + dice.below(2) as u8);
        }
        for _ in 0..dice.below(20) {
            let (flow, end) = sender(dice);
            let sent = &mut tables.transmissions;
            sent.flow.push(flow);
            sent.end.push(end);
            sent.t_ns.push(dice.below(50) as i64);
            sent.len.push(dice.below(3) as _);
            sent.needed.push(dice.below(3) as u8);
        }
        for _ in 0..dice.below(12) {
            let (flow, end) = sender(dice);
            let verdicts = &mut tables.verdicts;
            verdicts.flow.push(flow);
            verdicts.end.push(end);
            verdicts.acting.push(dice.below(4) > 0);
            verdicts.episode.push(dice.below(4) as _);
            verdicts.verdict.push(dice.below(3) as u8);
        }
        tables
    }

    /// Counts by searching all rows for each episode.
    fn naive(tables: &Tables) -> Counts {
        let (sent, episodes, verdicts) = (&tables.transmissions, &tables.episodes, &tables.verdicts);
        let mut counts = Counts::default();
        for row in 0..episodes.flow.len() {
            let sender = (episodes.flow[row], episodes.end[row]);
            let of_sender = |row: &usize| (episodes.flow[*row], episodes.end[*row]) == sender;
            let number = (0..=row).filter(of_sender).count();
            let next = (row + 1..episodes.flow.len()).find(of_sender).map_or(i64::MAX, |next| episodes.opened_ns[next]);
            let within = |place: &usize| {
                (sent.flow[*place], sent.end[*place]) == sender
                    && (episodes.opened_ns[row]..next).contains(&sent.t_ns[*place])
            };
            let bytes = |word: &str| -> i64 {
                let of_word = |place: &usize| codes::NEEDS[usize::from(sent.needed[*place])] == word;
                (0..sent.flow.len()).filter(within).filter(of_word).map(|place| sent.len[place]).sum()
            };
            let judged = (0..verdicts.flow.len()).find(|place| {
                (verdicts.flow[*place], verdicts.end[*place]) == sender
                    && verdicts.acting[*place]
                    && verdicts.episode[*place] as usize == number
                    && verdicts.verdict[*place] != 0
            });
            let spurious = u64::from(
                judged.is_some_and(|place| codes::VERDICTS[usize::from(verdicts.verdict[place])] == "spurious"),
            );
            match (bytes("needed"), bytes("spurious")) {
                (1.., 0) => {
                    counts.needed += 1;
                    counts.false_positives += spurious;
                }
                (1.., _) => {
                    counts.mixed += 1;
                    counts.undone += spurious;
                }
                (_, 1..) if codes::CAUSES[usize::from(episodes.cause[row])] == "timeout" => {
                    counts.needless_timeouts += 1;
                    counts.found_timeouts += spurious;
                }
                _ => {}
            }
        }
        counts
    }

    #[test]
    fn episode_counts_equal_a_naive_scan_of_all_rows() {
        let mut all = Counts::default();
        for seed in 0..3000 {
            let tables = drawn(seed);
            assert_eq!(counts(&tables), naive(&tables), "{seed}");
            all = [all, naive(&tables)].into_iter().sum();
        }
        let Counts { needed, false_positives, needless_timeouts, found_timeouts, mixed, undone } = all;
        assert!([false_positives, found_timeouts, undone].iter().all(|few| *few > 50), "{all:?}");
        assert!(needed > false_positives && needless_timeouts > found_timeouts && mixed > undone, "{all:?}");
    }
}
