//! Codes: the numbers that stand for words in some columns.

use super::Table;
use eifel_path::parcel::DropCause;
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{Cause, Kind};

/// Words of `end`.
pub const ENDS: &[&str] = &["from", "to"];
/// Words of `kind`.
pub const KINDS: &[&str] = &["new", "retransmission", "probe"];
/// Words of `cause` of transmissions and episodes.
pub const CAUSES: &[&str] = &["-", "timeout", "fast-retransmit"];
/// Words of `fate`.
pub const FATES: &[&str] = &["under-way", "delivered", "dropped"];
/// Words of `needed`.
pub const NEEDS: &[&str] = &["-", "needed", "spurious"];
/// Words of `event` of the timer.
pub const TIMER_EVENTS: &[&str] = &["sample", "back-off", "expired", "adapted"];
/// Words of `verdict` of episodes and verdicts.
pub const VERDICTS: &[&str] = &["undecided", "spurious", "genuine"];
/// Words of `truth`.
pub const TRUTHS: &[&str] = &["-", "spurious", "genuine"];

/// Code of [`KINDS`]: data that was never sent before.
pub const NEW: u8 = 0;
/// Codes of [`FATES`].
pub const UNDER_WAY: u8 = 0;
pub const DELIVERED: u8 = 1;
pub const DROPPED: u8 = 2;
/// Codes of [`TIMER_EVENTS`].
pub const SAMPLE: u8 = 0;
pub const BACK_OFF: u8 = 1;
pub const EXPIRED: u8 = 2;
/// The timeout changed after a verdict.
pub const ADAPTED: u8 = 3;

/// Returns the codes of [`KINDS`] and [`CAUSES`].
pub fn kind_and_cause(kind: Kind) -> (u8, u8) {
    match kind {
        Kind::New => (0, 0),
        Kind::Retransmission(reason) => (1, cause(reason)),
        Kind::WindowProbe => (2, 0),
    }
}

/// Returns the code of [`CAUSES`].
pub fn cause(cause: Cause) -> u8 {
    match cause {
        Cause::Timeout => 1,
        Cause::FastRetransmit => 2,
    }
}

/// Returns the code of [`NEEDS`].
pub fn need(needed: bool) -> u8 {
    if needed { 1 } else { 2 }
}

/// Returns the code of [`TRUTHS`].
pub fn truth(needed: bool) -> u8 {
    if needed { 2 } else { 1 }
}

/// Returns the code of [`VERDICTS`].
pub fn verdict(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Spurious => 1,
        Outcome::Genuine => 2,
    }
}

/// Returns the code of a drop's cause: its index in [`DropCause::ALL`].
pub fn drop_cause(cause: DropCause) -> u8 {
    DropCause::ALL.iter().position(|other| *other == cause).unwrap_or_default() as u8
}

/// Words that become known only during the run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dictionaries {
    /// Names of links: the code is the link's index in the scenario.
    pub links: Vec<String>,
    /// Names of detectors.
    pub detectors: Vec<String>,
    /// Reasons of verdicts. The first is "-".
    pub reasons: Vec<String>,
}

impl Dictionaries {
    /// Returns the code of a reason; adds the reason if it is new.
    pub fn reason(&mut self, reason: &str) -> u8 {
        intern(&mut self.reasons, reason)
    }

    /// Returns the code of a detector's name; adds the name if it is new.
    pub fn detector(&mut self, name: &str) -> u8 {
        intern(&mut self.detectors, name)
    }

    /// Returns each column of codes of one table, with its words.
    pub(super) fn of(&self, table: Table) -> Vec<(&'static str, Vec<String>)> {
        let columns = self.by_column().into_iter().filter(|(of, ..)| *of == table);
        columns.map(|(_, column, words)| (column, words)).collect()
    }

    pub(super) fn by_column(&self) -> Vec<(Table, &'static str, Vec<String>)> {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let drop_causes: Vec<&str> = DropCause::ALL.iter().map(|cause| cause.name()).collect();
        vec![
            (Table::Transmissions, "end", words(ENDS)),
            (Table::Transmissions, "kind", words(KINDS)),
            (Table::Transmissions, "cause", words(CAUSES)),
            (Table::Transmissions, "fate", words(FATES)),
            (Table::Transmissions, "needed", words(NEEDS)),
            (Table::Arrivals, "end", words(ENDS)),
            (Table::Acks, "end", words(ENDS)),
            (Table::Drops, "end", words(ENDS)),
            (Table::Drops, "link", self.links.clone()),
            (Table::Drops, "cause", words(&drop_causes)),
            (Table::Window, "end", words(ENDS)),
            (Table::Timer, "end", words(ENDS)),
            (Table::Timer, "event", words(TIMER_EVENTS)),
            (Table::Episodes, "end", words(ENDS)),
            (Table::Episodes, "cause", words(CAUSES)),
            (Table::Episodes, "verdict", words(VERDICTS)),
            (Table::Episodes, "reason", self.reasons.clone()),
            (Table::Episodes, "truth", words(TRUTHS)),
            (Table::Verdicts, "end", words(ENDS)),
            (Table::Verdicts, "detector", self.detectors.clone()),
            (Table::Verdicts, "verdict", words(VERDICTS)),
            (Table::Verdicts, "reason", self.reasons.clone()),
            (Table::Queues, "link", self.links.clone()),
            (Table::Spikes, "link", self.links.clone()),
        ]
    }
}

/// Returns the index of `word`. Appends the word if it is new. The last index, 255, stands for the
/// 256th word and all later words.
fn intern(words: &mut Vec<String>, word: &str) -> u8 {
    let place = words.iter().position(|known| known == word).unwrap_or_else(|| {
        words.push(word.to_owned());
        words.len() - 1
    });
    u8::try_from(place).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_stands_for_its_word() {
        let (timeout, fast) = (Kind::Retransmission(Cause::Timeout), Kind::Retransmission(Cause::FastRetransmit));
        for (kind, words) in [
            (Kind::New, ["new", "-"]),
            (timeout, ["retransmission", "timeout"]),
            (fast, ["retransmission", "fast-retransmit"]),
            (Kind::WindowProbe, ["probe", "-"]),
        ] {
            let (kind, cause) = kind_and_cause(kind);
            assert_eq!([KINDS[usize::from(kind)], CAUSES[usize::from(cause)]], words);
        }
        assert_eq!([true, false].map(|needed| NEEDS[usize::from(need(needed))]), ["needed", "spurious"]);
        assert_eq!([true, false].map(|needed| TRUTHS[usize::from(truth(needed))]), ["genuine", "spurious"]);
        let outcomes = [Outcome::Spurious, Outcome::Genuine];
        assert_eq!(outcomes.map(|outcome| VERDICTS[usize::from(verdict(outcome))]), ["spurious", "genuine"]);
        for cause in DropCause::ALL {
            assert_eq!(DropCause::ALL[usize::from(drop_cause(cause))], cause);
        }
    }

    #[test]
    fn a_word_keeps_its_code_and_the_last_code_stands_for_all_beyond() {
        let mut words = Vec::new();
        for number in 0..300_usize {
            for _ in 0..2 {
                assert_eq!(usize::from(intern(&mut words, &number.to_string())), number.min(255));
            }
        }
        assert_eq!(words.len(), 300);
    }
}
