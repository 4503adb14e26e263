//! The curve of a knob: what each value that makes a difference would have done.

use super::Asked;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The most values of a curve. Of more values, those at equal distances in rank are kept.
const MOST_POINTS: usize = 12;
/// A value is named in the sentence about a knob if this share of the needless retransmissions goes with it.
const NAMED: f64 = 0.8;

/// A setting of the sender.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    SmallestRto,
    DuplicateThreshold,
    ReorderingWindow,
    FRto,
    TailLossProbes,
}

/// What a value of a knob would have done.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Point {
    /// In the knob's unit.
    pub value: f64,
    /// Needless retransmissions that would not have left, and those that would.
    pub needless_gone: usize,
    pub needless_left: usize,
    /// Needless segments of go-back-N that followed them, and would not have left.
    pub repeats_gone: usize,
    /// Needed retransmissions that would have left later, and by how much in all, in milliseconds.
    pub needed_later: usize,
    pub later_ms: f64,
    /// Needed timeouts that F-RTO would take for needless ones.
    pub mistaken: usize,
    /// Retransmissions of which neither can be told.
    pub undecidable: usize,
}

/// The trade-off of a knob.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Curve {
    pub knob: Knob,
    /// The value that the retransmissions left with, in the knob's unit; `None` if it is not known.
    pub now: Option<f64>,
    pub points: Vec<Point>,
    /// The point that the sentence is about: the smallest value with which four fifths of the needless
    /// retransmissions go that can be judged.
    pub named: Option<usize>,
    /// Why the knob cannot be judged, or why there is no point.
    pub reason: Option<&'static str>,
    /// The settings of Linux at the named point, as commands for the sender of the data. None if nothing goes with it.
    pub commands: Vec<String>,
}

/// What a knob would have done to one retransmission.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Fate {
    NeedlessGone {
        repeats: usize,
    },
    NeedlessLeft,
    /// A needed one, and by how many milliseconds it would have left later.
    Needed(f64),
    /// A needed one that would be taken for needless.
    Mistaken,
    Undecidable,
}

impl Curve {
    /// Returns a curve without points.
    pub(super) fn without(knob: Knob, now: Option<f64>, reason: &'static str) -> Self {
        Self { knob, now, points: Vec::new(), named: None, reason: Some(reason), commands: Vec::new() }
    }

    /// Returns the curve over `values`. `fates` returns what a value does to each retransmission, and
    /// `commands` how it is set.
    pub(super) fn over(
        (knob, now): (Knob, Option<f64>),
        values: BTreeSet<u64>,
        reason: &'static str,
        fates: impl Fn(f64) -> Vec<Fate>,
        commands: impl Fn(f64) -> Vec<String>,
    ) -> Self {
        let points: Vec<Point> =
            thinned(&values.into_iter().collect::<Vec<_>>()).map(|value| Point::of(value as f64, &fates)).collect();
        if points.is_empty() {
            return Self::without(knob, now, reason);
        }
        let is_enough = |point: &Point| point.share_gone().is_some_and(|share| share >= NAMED);
        let best = || (0..points.len()).max_by_key(|index| (points[*index].needless_gone, points.len() - index));
        let named = points.iter().position(is_enough).or_else(best);
        let helps = named.filter(|named| points[*named].needless_gone > 0);
        let commands = helps.map(|named| commands(points[named].value)).unwrap_or_default();
        Self { knob, now, points, named, reason: None, commands }
    }
}

impl Point {
    pub(super) fn of(value: f64, fates: &impl Fn(f64) -> Vec<Fate>) -> Self {
        let mut point = Self { value, ..Self::default() };
        for fate in fates(value) {
            match fate {
                Fate::NeedlessGone { repeats } => {
                    point.needless_gone += 1;
                    point.repeats_gone += repeats;
                }
                Fate::NeedlessLeft => point.needless_left += 1,
                Fate::Needed(later) if later > 0.0 => {
                    point.needed_later += 1;
                    point.later_ms += later;
                }
                Fate::Needed(_) => {}
                Fate::Mistaken => point.mistaken += 1,
                Fate::Undecidable => point.undecidable += 1,
            }
        }
        point
    }

    /// Returns the share of the needless retransmissions that goes; `None` if there are none.
    pub fn share_gone(&self) -> Option<f64> {
        let all = self.needless_gone + self.needless_left;
        (all > 0).then(|| self.needless_gone as f64 / all as f64)
    }
}

/// Returns the value asked for, or those at which `found` says that something changes.
pub(super) fn values(asked: &Asked, knob: Knob, found: impl FnOnce() -> BTreeSet<u64>) -> BTreeSet<u64> {
    asked.get(&knob).map_or_else(found, |value| BTreeSet::from([*value]))
}

/// Returns values at equal distances in rank, the last included.
fn thinned(values: &[u64]) -> impl Iterator<Item = u64> {
    let kept = values.len().min(MOST_POINTS);
    (1..=kept).map(move |rank| values[rank * values.len() / kept - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_thinned_by_rank_and_keep_the_last() {
        assert_eq!(thinned(&[]).count(), 0);
        assert_eq!(thinned(&[3, 5]).collect::<Vec<_>>(), [3, 5]);
        let many: Vec<u64> = (1..=120).collect();
        assert_eq!(thinned(&many).collect::<Vec<_>>(), (1..=12).map(|rank| rank * 10).collect::<Vec<_>>());
    }

    #[test]
    fn the_named_value_is_the_smallest_with_which_four_fifths_go() {
        let fates = |value: f64| {
            let gone = value as usize;
            (0..10).map(|one| if one < gone { Fate::NeedlessGone { repeats: 2 } } else { Fate::NeedlessLeft }).collect()
        };
        let curve = |values: &[u64]| {
            let knob = (Knob::SmallestRto, Some(0.0));
            Curve::over(knob, values.iter().copied().collect(), "none", fates, |value| vec![value.to_string()])
        };
        let named = |values: &[u64]| curve(values).named.map(|named| curve(values).points[named].value);
        assert_eq!(named(&[7, 8, 9]), Some(8.0));
        assert_eq!((named(&[3, 7]), curve(&[3, 7]).commands), (Some(7.0), vec!["7".to_owned()]));
        assert_eq!((named(&[0]), curve(&[0]).commands), (Some(0.0), vec![]));
        assert_eq!((named(&[]), curve(&[]).reason), (None, Some("none")));
        assert_eq!(curve(&[3]).points[0].repeats_gone, 6);
    }

    #[test]
    fn only_a_longer_wait_counts_as_later() {
        let point = Point::of(1.0, &|_| vec![Fate::Needed(0.0), Fate::Needed(2.5), Fate::Undecidable]);
        assert_eq!((point.needed_later, point.later_ms, point.undecidable), (1, 2.5, 1));
        assert_eq!(point.share_gone(), None);
    }
}
