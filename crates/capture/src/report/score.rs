//! Compares an analysis with the true causes and verdicts.
//!
//! A truth file is CSV with a header. Each row is a retransmission. The columns `frame`, `seq` or
//! `tsn`, `nth` and `spurious` (0 or 1) are required. `cause` and `time` are optional, and other
//! columns are ignored. A row with an empty `spurious` is a retransmission whose truth is unknown. It
//! counts neither way.
//!
//! Rows and retransmissions are matched in the first of these ways that applies. The score names it,
//! because only the first two judge whether the right frame was found.
//!
//! - By frame and sequence number, if that matches any row. If no time of a row matches, the clock was
//!   changed, or the capture is from another place: then more than half of the rows have to match.
//! - By time and sequence number, if that matches any row. Frame numbers differ if frames were left
//!   out.
//! - Otherwise the capture is from another place: frames have other numbers and times, and copies
//!   may be missing. A retransmission then belongs to the latest row of its sequence number that
//!   had left by then, or, without times, to the row of the same copy.

use std::collections::{BTreeMap, BTreeSet};

use super::text::percentage;
use crate::result::Retransmission;
use crate::result::{Confidence, Verdict};
use serde::Serialize;

/// The largest difference between the clocks of two captures, in seconds.
const CLOCKS_DIFFER: f64 = 0.001;

/// Times that differ by less than this, in seconds, are equal but for rounding: the coarsest
/// captures count microseconds.
const AT_ONE_TIME: f64 = 0.000_002;

/// A retransmission with its true cause and verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownRetransmission {
    /// Its frame in the capture that the truth belongs to.
    pub frame: u64,
    /// When it left, in seconds since 1970; `None` without the column.
    pub time_s: Option<f64>,
    /// Its sequence number or TSN on the wire.
    pub seq: u32,
    /// The number of this transmission: 2 is the first retransmission.
    pub copy: usize,
    /// Whether an earlier transmission arrived; `None` if the truth does not know.
    pub spurious: Option<bool>,
    /// The true cause, if known.
    pub cause: Option<String>,
}

/// Reads a truth file.
///
/// # Errors
/// Returns one line that names the wrong line and the fault.
pub fn read_truth(text: &str) -> Result<Vec<KnownRetransmission>, String> {
    let mut lines = text.lines().enumerate();
    let Some((_, header)) = lines.next() else { return Err("truth: empty: expected a header".into()) };
    let names: Vec<_> = header.split(',').map(str::trim).collect();
    let place = |name: &str| {
        names.iter().position(|other| *other == name).ok_or_else(|| format!("truth: no column \"{name}\" in line 1"))
    };
    let seq = place("seq").or_else(|error| place("tsn").map_err(|_| error))?;
    let (frame, nth, spurious) = (place("frame")?, place("nth")?, place("spurious")?);
    let (cause, time) = (place("cause").ok(), place("time").ok());
    let mut rows = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Vec<_> = line.split(',').map(str::trim).collect();
        let read = |place: usize| -> Result<u64, String> {
            let text = fields.get(place).copied().unwrap_or_default();
            text.parse().map_err(|_| {
                format!("truth: line {}: {}: expected a whole number, found \"{text}\"", number + 1, names[place])
            })
        };
        rows.push(KnownRetransmission {
            frame: read(frame)?,
            time_s: time.and_then(|place| fields.get(place)?.parse().ok()),
            seq: read(seq)? as u32,
            copy: read(nth)? as usize,
            spurious: match fields.get(spurious) {
                Some(&"") => None,
                _ => Some(read(spurious)? != 0),
            },
            cause: cause.and_then(|place| fields.get(place)).filter(|text| !text.is_empty()).map(ToString::to_string),
        });
    }
    Ok(rows)
}

/// By what rows and retransmissions were matched, besides the sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchedBy {
    #[default]
    Frame,
    Time,
    /// The order of a segment's transmissions.
    Order,
}

/// The number of retransmissions by correctness of the judgement.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Score {
    pub matched_by: MatchedBy,
    /// Rows of the truth whose verdict is known.
    pub retransmissions: u64,
    /// Rows found in the capture.
    pub found: u64,
    /// Found, with the right cause.
    pub cause_right: u64,
    /// Found, with a second possible cause from another reading of the trace.
    pub cause_undecided: u64,
    /// Of these, those whose first cause is right.
    pub cause_undecided_right: u64,
    /// Found, with the right verdict.
    pub verdict_right: u64,
    /// Found, with the right cause and verdict.
    pub right: u64,
    /// Found, with the verdict undecidable.
    pub undecidable: u64,
    /// Spurious, but called needed.
    pub spurious_called_needed: u64,
    /// Needed, but called spurious with certainty.
    pub needed_called_spurious_certainly: u64,
    /// Needed, but called spurious without certainty.
    pub needed_called_spurious: u64,
    /// Retransmissions of the analysis that no row matches.
    pub not_in_truth: u64,
    /// The rows that were not found or were judged wrong.
    pub wrong: Vec<Mismatch>,
}

impl Score {
    /// Returns the score as a JSON object.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Returns the score for people, in lines.
    pub fn text(&self) -> String {
        let all = self.retransmissions;
        let mut lines = vec![format!(
            "{} of {all} retransmissions found, {} that the truth does not have",
            self.found, self.not_in_truth
        )];
        let by = match self.matched_by {
            MatchedBy::Frame => None,
            MatchedBy::Time => Some("time"),
            MatchedBy::Order => Some("order"),
        };
        lines.extend(
            by.map(|by| format!("the truth is of another capture: matched by {by} and sequence number, not by frame")),
        );
        let rights = [("cause right", self.cause_right), ("verdict right", self.verdict_right), ("right", self.right)];
        for (name, right) in rights {
            let share = if all == 0 { "-".to_owned() } else { percentage(right as usize, all as usize) };
            lines.push(format!("{name:15} {right:8} {share:>8}"));
        }
        lines.push(format!(
            "of {} undecided causes, {} are named right",
            self.cause_undecided, self.cause_undecided_right
        ));
        lines.push(format!(
            "undecidable {}, spurious called needed {}, needed called spurious {}, with certainty {}",
            self.undecidable,
            self.spurious_called_needed,
            self.needed_called_spurious,
            self.needed_called_spurious_certainly
        ));
        lines.extend(self.wrong.iter().map(|one| {
            format!("  frame {}, seq {}, copy {}: {}; {}", one.frame, one.seq, one.copy, one.truth, one.found)
        }));
        lines.join("\n") + "\n"
    }
}

/// A row that was not found, or was judged wrong.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mismatch {
    /// Its frame in the truth.
    pub frame: u64,
    /// Its sequence number or TSN on the wire.
    pub seq: u32,
    pub copy: usize,
    /// The true cause and verdict.
    pub truth: String,
    /// The judged cause and verdict, or "not found".
    pub found: String,
}

/// Compares an analysis with the truth.
pub fn score(truth: &[KnownRetransmission], found: &[Retransmission]) -> Score {
    let (matched_by, belongs) = assign(truth, found);
    let mut score = Score { matched_by, ..Score::default() };
    for (row, index) in truth.iter().zip(&belongs) {
        let Some(spurious) = row.spurious else { continue };
        score.retransmissions += 1;
        let truth = format!("{} {}", row.cause.as_deref().unwrap_or("?"), word(spurious));
        let Some(index) = index else {
            let (frame, seq, copy) = (row.frame, row.seq, row.copy);
            score.wrong.push(Mismatch { frame, seq, copy, truth, found: "not found".into() });
            continue;
        };
        let one = &found[*index];
        score.found += 1;
        let cause = row.cause.as_deref().is_none_or(|cause| cause == one.cause.name());
        let verdict = match (one.verdict, spurious) {
            (Verdict::Spurious, true) | (Verdict::Needed, false) => true,
            (Verdict::Undecidable, _) => {
                score.undecidable += 1;
                false
            }
            (Verdict::Needed, true) => {
                score.spurious_called_needed += 1;
                false
            }
            (Verdict::Spurious, false) => {
                if one.confidence == Confidence::Certain {
                    score.needed_called_spurious_certainly += 1;
                } else {
                    score.needed_called_spurious += 1;
                }
                false
            }
        };
        score.cause_right += u64::from(cause);
        score.cause_undecided += u64::from(one.other_cause.is_some());
        score.cause_undecided_right += u64::from(cause && one.other_cause.is_some());
        score.verdict_right += u64::from(verdict);
        score.right += u64::from(cause && verdict);
        if !(cause && verdict) {
            let found = format!("{} {:?} ({:?}: {})", one.cause.name(), one.verdict, one.confidence, one.reason);
            score.wrong.push(Mismatch { frame: row.frame, seq: row.seq, copy: row.copy, truth, found });
        }
    }
    // Several rows may match one retransmission.
    let named: BTreeSet<usize> = belongs.into_iter().flatten().collect();
    let invented = |(index, one): &(usize, &Retransmission)| !named.contains(index) && !one.repairs_nothing();
    score.not_in_truth = found.iter().enumerate().filter(invented).count() as u64;
    score
}

/// Returns the index of the retransmission that each row belongs to, if any.
fn assign(truth: &[KnownRetransmission], found: &[Retransmission]) -> (MatchedBy, Vec<Option<usize>>) {
    let places: BTreeMap<_, _> =
        found.iter().enumerate().map(|(index, one)| ((one.frame, one.number.value()), index)).collect();
    let here: Vec<_> = truth.iter().map(|row| places.get(&(row.frame, row.seq)).copied()).collect();
    // Another place sees packets at other times. So one row with a matching time shows that the
    // whole truth file belongs to this capture.
    let timed = passed_then(truth, found);
    let of_this_capture = timed.iter().any(Option::is_some) || truth.iter().all(|row| row.time_s.is_none());
    let matching = here.iter().flatten().count();
    if matching > 0 && of_this_capture || matching * 2 > truth.len() {
        return (MatchedBy::Frame, here);
    }
    if timed.iter().any(Option::is_some) {
        return (MatchedBy::Time, timed);
    }
    (MatchedBy::Order, in_order(truth, found))
}

/// Returns, for each row, the retransmission that follows it in a capture from another place.
fn in_order(truth: &[KnownRetransmission], found: &[Retransmission]) -> Vec<Option<usize>> {
    // The rows of each sequence number, in the order in which they left.
    let mut rows: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, row) in truth.iter().enumerate() {
        rows.entry(row.seq).or_default().push(place);
    }
    let mut belongs = vec![None; truth.len()];
    // Go from last to first: packets that were held back together then keep their order.
    for (index, one) in found.iter().enumerate().rev() {
        let Some(free) = rows.get_mut(&one.number.value()) else { continue };
        let had_left = |row: &KnownRetransmission| {
            row.time_s.map_or(row.copy == one.copy, |time| time <= one.time_s + CLOCKS_DIFFER)
        };
        if let Some(at) = free.iter().rposition(|place| had_left(&truth[*place])) {
            belongs[free.remove(at)] = Some(index);
        }
    }
    belongs
}

/// Returns, for each row, the retransmission that passed at the row's time.
fn passed_then(truth: &[KnownRetransmission], found: &[Retransmission]) -> Vec<Option<usize>> {
    let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, one) in found.iter().enumerate() {
        places.entry(one.number.value()).or_default().push(index);
    }
    let of_row = |row: &KnownRetransmission| {
        let time = row.time_s?;
        places.get(&row.seq)?.iter().copied().find(|index| (found[*index].time_s - time).abs() < AT_ONE_TIME)
    };
    truth.iter().map(of_row).collect()
}

fn word(spurious: bool) -> &'static str {
    if spurious { "spurious" } else { "needed" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Cause;
    use crate::result::StackReaction;
    use crate::result::{Effect, End, Number, Timing};

    fn one(frame: u64, time_s: f64, seq: u32, sender: End) -> Retransmission {
        Retransmission {
            capture: 0,
            frame,
            time_s,
            connection: 0,
            sender,
            number: Number::Seq(seq),
            bytes: 3,
            copy: 2,
            cause: Cause::Rto,
            other_cause: None,
            verdict: Verdict::Spurious,
            confidence: Confidence::Certain,
            reason: "",
            evidence_frame: None,
            timing: Timing::default(),
            stack_noticed: StackReaction::CannotBeTold,
            effect: Effect::default(),
            first_told: Vec::new(),
        }
    }

    const TRUTH: &str = "frame,time,seq,nth,spurious,cause\n6,3.642514401,40,2,1,rto\n11,4.950037593,43,2,0,loss\n";

    #[test]
    fn a_row_whose_frame_is_no_retransmission_stays_unmatched() {
        // The first transmission of 43 was lost before the capture point, so frame 11 shows its
        // first copy. Frame 12 is a duplicate made by the network. In frame 167 the other end sends
        // the same number.
        let found = [
            one(6, 3.642514401, 40, End::Client),
            one(12, 4.951873994, 43, End::Client),
            one(167, 36.364516297, 43, End::Server),
        ];
        let score = score(&read_truth(TRUTH).unwrap(), &found);
        assert_eq!(
            (score.found, score.right, score.needed_called_spurious_certainly, score.not_in_truth),
            (1, 1, 0, 2)
        );
        assert_eq!(score.wrong[0].found, "not found");
    }

    #[test]
    fn an_original_taken_for_its_retransmission_is_not_found() {
        // Without times, the frames of two rows are those of the originals.
        let truth = "frame,seq,nth,spurious\n6,40,2,1\n11,43,2,1\n15,46,2,1\n";
        let found = [one(6, 3.6, 40, End::Client), one(10, 4.9, 43, End::Client), one(14, 5.0, 46, End::Client)];
        let score = score(&read_truth(truth).unwrap(), &found);
        assert_eq!((score.matched_by, score.found, score.not_in_truth), (MatchedBy::Frame, 1, 2));
    }

    #[test]
    fn in_a_capture_from_another_place_a_retransmission_gets_the_latest_earlier_row() {
        let found = [one(9, 3.71, 40, End::Client), one(15, 5.02, 43, End::Client)];
        let score = score(&read_truth(TRUTH).unwrap(), &found);
        assert_eq!((score.found, score.right, score.needed_called_spurious_certainly), (2, 1, 1));
        assert_eq!(score.matched_by, MatchedBy::Order);
    }

    #[test]
    fn a_row_without_a_known_verdict_counts_neither_way() {
        let found = [one(6, 3.642514401, 40, End::Client), one(11, 4.950037593, 43, End::Client)];
        let score = score(&read_truth(&TRUTH.replace("43,2,0", "43,2,")).unwrap(), &found);
        assert_eq!((score.retransmissions, score.found, score.right, score.not_in_truth), (1, 1, 1, 0));
    }

    #[test]
    fn two_rows_for_one_retransmission_leave_the_others_unmatched() {
        let row = "6,3.642514401,40,2,1,rto\n";
        let truth = format!("frame,time,seq,nth,spurious,cause\n{row}{row}");
        let found = [one(6, 3.642514401, 40, End::Client), one(9, 3.7, 40, End::Client)];
        let scored = |found: &[Retransmission]| {
            let score = score(&read_truth(&truth).unwrap(), found);
            (score.found, score.not_in_truth)
        };
        assert_eq!((scored(&found[..1]), scored(&found)), ((2, 0), (2, 1)));
    }
}
