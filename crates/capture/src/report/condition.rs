//! Conditions on a report: `spurious>1%` of `eifel analyze --fail-if`.

use std::fmt::{self, Display, Formatter};

use super::Report;
use crate::frame::decode::Skipped;
use crate::quic::{LossVerdict, Losses};
use crate::result::Verdict;

/// What a condition counts: retransmissions, or the packets that QUIC logs declare lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    Verdict(Verdict),
    All,
}

/// The words for what is counted. Logs have two of their own.
const COUNTED: [(&str, Of); 6] = [
    ("spurious", Of::Verdict(Verdict::Spurious)),
    ("needed", Of::Verdict(Verdict::Needed)),
    ("undecidable", Of::Verdict(Verdict::Undecidable)),
    ("retransmissions", Of::All),
    ("genuine", Of::Verdict(Verdict::Needed)),
    ("lost", Of::All),
];
type Comparison = fn(&f64, &f64) -> bool;

/// The longer ones first, since they begin with the others.
const COMPARISONS: [(&str, Comparison); 5] =
    [(">=", f64::ge), ("<=", f64::le), (">", f64::gt), ("<", f64::lt), ("=", f64::eq)];

/// A comparison of a number of retransmissions, or of their share of all segments with data, with a bound.
#[derive(Clone, Debug)]
pub struct Condition {
    text: String,
    of: Of,
    compare: Comparison,
    bound: f64,
    percent: bool,
}

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// Returns one line that shows the text and what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let rest = text.trim();
            let words = rest.find(|letter: char| !letter.is_ascii_alphabetic())?;
            let (word, rest) = rest.split_at(words);
            let (_, of) = COUNTED.into_iter().find(|(name, _)| *name == word)?;
            let rest = rest.trim_start();
            let (sign, compare) = COMPARISONS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
            let rest = rest[sign.len()..].trim_start();
            let number = rest.strip_suffix('%');
            let (number, percent) = (number.unwrap_or(rest).trim_end(), number.is_some());
            let is_plain = number.starts_with(|digit: char| digit.is_ascii_digit())
                && number.ends_with(|digit: char| digit.is_ascii_digit())
                && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
            let bound = number.parse().ok().filter(|_| is_plain)?;
            Some(Self { text: text.to_owned(), of, compare, bound, percent })
        };
        let words = || COUNTED.map(|(word, _)| word).join(", ");
        read().ok_or_else(|| {
            format!(
                "--fail-if '{text}': expected one of {}, then >, >=, <, <= or =, then a number, perhaps with %",
                words()
            )
        })
    }

    fn holds(&self, counts: &Counts) -> bool {
        let count = counts.of(self.of) as f64;
        let value = match self.percent {
            true if counts.sent == 0 => 0.0,
            true => 100.0 * count / counts.sent as f64,
            false => count,
        };
        (self.compare)(&value, &self.bound)
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.text)
    }
}

/// What conditions count: retransmissions by verdict, without probes, and segments with data; of logs, the packets
/// declared lost and those sent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    pub spurious: usize,
    pub needed: usize,
    pub undecidable: usize,
    pub sent: u64,
}

impl Counts {
    fn of(&self, of: Of) -> usize {
        match of {
            Of::Verdict(Verdict::Spurious) => self.spurious,
            Of::Verdict(Verdict::Needed) => self.needed,
            Of::Verdict(Verdict::Undecidable) => self.undecidable,
            Of::All => self.spurious + self.needed + self.undecidable,
        }
    }

    /// Returns why the numbers cannot answer a condition, on verdicts or on numbers; `None` if they can.
    /// `what` names what is counted, and `none_sent` says that there is none.
    fn cannot_say(&self, verdicts: bool, what: &str, none_sent: &str) -> Option<String> {
        let all = self.of(Of::All);
        match () {
            () if self.sent == 0 => Some(none_sent.to_owned()),
            () if verdicts && all > 0 && all == self.undecidable => {
                Some(format!("nothing is known of any of the {all} {what}"))
            }
            () => None,
        }
    }

    fn of_captures(report: &Report) -> Self {
        let count = |verdict| report.count(verdict);
        Self {
            spurious: count(Verdict::Spurious),
            needed: count(Verdict::Needed),
            undecidable: count(Verdict::Undecidable),
            sent: report.directions().map(|way| way.counts.segments).sum(),
        }
    }

    /// Nothing is known of the packets that a log does not name.
    fn of_logs(losses: &Losses) -> Self {
        let unnamed = losses.traces.iter().map(|trace| trace.unnamed as usize).sum::<usize>();
        Self {
            spurious: losses.count(LossVerdict::Spurious),
            needed: losses.count(LossVerdict::Genuine),
            undecidable: losses.count(LossVerdict::Undecidable) + unnamed,
            sent: losses.traces.iter().map(|trace| trace.sent).sum(),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            spurious: self.spurious + other.spurious,
            needed: self.needed + other.needed,
            undecidable: self.undecidable + other.undecidable,
            sent: self.sent + other.sent,
        }
    }
}

/// Returns why `eifel analyze` fails: the conditions that hold, or why the report cannot answer them.
/// Without conditions it fails if what the capture holds could not be read.
pub fn failures(report: &Report, conditions: &[Condition]) -> Vec<String> {
    if !report.has_packets() && report.quic.is_none() {
        let mut unread: Vec<&str> = report.others.keys().map(String::as_str).collect();
        unread.retain(|other| *other != Skipped::NotTcp.to_string());
        if unread.is_empty() && conditions.is_empty() {
            return Vec::new();
        }
        let why = if unread.is_empty() { "it shows no TCP or SCTP packet".to_owned() } else { unread.join(", ") };
        return vec![format!("nothing in the capture can be judged: {why}")];
    }
    let captures = Counts::of_captures(report);
    let logs = report.quic.as_ref().map(Counts::of_logs);
    let counts = captures.and(logs.unwrap_or_default());
    judged(conditions, &counts, |verdicts| {
        let unclear = |logs: Counts| {
            logs.cannot_say(verdicts, "packets declared lost", "the logs show no packets that were sent")
        };
        logs.and_then(unclear).or_else(|| {
            let cut = report.captures.iter().any(|capture| capture.error.is_some());
            if cut { Some(CUT.to_owned()) } else { logs.is_none().then(|| unclear_captures(&captures, verdicts))? }
        })
    })
}

/// Why captures that could not be read to their end answer no condition.
const CUT: &str = "the rest of a file could not be read";

fn unclear_captures(counts: &Counts, verdicts: bool) -> Option<String> {
    counts.cannot_say(verdicts, "retransmissions", "no segment has data")
}

/// Returns the same for captures with these counts. `cut` if a file could not be read to its end.
pub fn failures_of(counts: &Counts, cut: bool, conditions: &[Condition]) -> Vec<String> {
    judged(conditions, counts, |verdicts| if cut { Some(CUT.to_owned()) } else { unclear_captures(counts, verdicts) })
}

/// Returns the conditions that hold, or if none does, why they cannot be answered. `unclear` tells this,
/// given whether a condition is on verdicts.
fn judged(conditions: &[Condition], counts: &Counts, unclear: impl Fn(bool) -> Option<String>) -> Vec<String> {
    let because = |why: &str| format!("fails because of --fail-if{why}");
    let holding: Vec<_> =
        conditions.iter().filter(|one| one.holds(counts)).map(|one| because(&format!(" {one}"))).collect();
    if !holding.is_empty() || conditions.is_empty() {
        return holding;
    }
    let verdicts = conditions.iter().any(|one| matches!(one.of, Of::Verdict(Verdict::Spurious | Verdict::Needed)));
    unclear(verdicts).map(|why| because(&format!(": {why}"))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_a_word_a_comparison_and_a_number() {
        for text in ["spurious>1%", " needed >= 2.5 % ", "lost=0", "retransmissions<=10", "genuine<3"] {
            assert!(Condition::parse(text).is_ok(), "{text}");
        }
        for text in
            ["", "spurious", "spurious>", "spurious>x", "spurious>-1", "spurious>1e3", "spurius>1", "spurious>1%%"]
        {
            let refused = Condition::parse(text).unwrap_err();
            assert!(refused.starts_with(&format!("--fail-if '{text}': expected one of spurious, needed")), "{refused}");
        }
        for text in ["spurious>.5", "spurious>5.", "spurious>inf"] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bound_is_compared_with_a_number_or_a_share() {
        let capture = include_bytes!("../../tests/faults/ack_at_once_nots.pcap");
        let report = Report::of_bytes("x.pcap", capture).unwrap();
        let counts = Counts::of_captures(&report);
        assert_eq!(counts.spurious, 6);
        let share = 100.0 * counts.spurious as f64 / counts.sent as f64;
        for (text, expected) in [
            ("spurious>5".to_owned(), true),
            ("spurious>6".to_owned(), false),
            ("spurious>=6".to_owned(), true),
            ("spurious=6".to_owned(), true),
            ("spurious<6".to_owned(), false),
            ("spurious<=6".to_owned(), true),
            (format!("spurious>{}%", share - 0.01), true),
            (format!("spurious>{}%", share + 0.01), false),
            ("retransmissions=9".to_owned(), true),
        ] {
            assert_eq!(Condition::parse(&text).unwrap().holds(&counts), expected, "{text}");
        }
    }

    #[test]
    fn conditions_on_verdicts_fail_where_all_are_undecidable() {
        let capture = include_bytes!("../../tests/faults/ack_at_once_nots.pcap");
        let mut report = Report::of_bytes("x.pcap", capture).unwrap();
        report.retransmissions.iter_mut().for_each(|one| one.verdict = Verdict::Undecidable);
        let unknown = "fails because of --fail-if: nothing is known of any of the 9 retransmissions";
        for (text, expected) in [
            ("spurious>1%", unknown),
            ("needed>0", unknown),
            ("retransmissions>9", ""),
            ("undecidable>0", "fails because of --fail-if 'undecidable>0'"),
        ] {
            assert_eq!(failures(&report, &[Condition::parse(text).unwrap()]).join(""), expected, "{text}");
        }
        report.captures[0].error = Some("cut".to_owned());
        let cut = "fails because of --fail-if: the rest of a file could not be read";
        assert_eq!(failures(&report, &[Condition::parse("retransmissions>9").unwrap()]), [cut]);
        assert!(failures(&report, &[]).is_empty());
    }
}
