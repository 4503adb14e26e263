//! Judges `eifel advise` by this kernel: records a scenario, predicts what another setting would do, and
//! records the scenario with that setting, several times: the kernel does not repeat its counts exactly.

mod draw;

pub use draw::{Change, name};

use crate::hiccup::Direction;
use crate::judge::causes::Cause;
use crate::judge::{self, Sources};
use crate::system::Error;
use crate::truth::draw::{Draw, Path as DrawnPath};
use crate::truth::record::{Beside, PLACES, run};
use draw::RTO_MIN_MS;
use eifel_capture::advise::{Asked, Knob, Settings, advise, of_report};
use eifel_capture::files;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// A prediction agrees if it differs by at most this share of the larger count.
const WITHIN: f64 = 0.1;
/// How often the other setting is recorded.
const REPEATS: usize = 5;
/// Student's t between whose negative and itself 90 % lie, with one degree of freedom less than [`REPEATS`].
const T90: f64 = 2.132;

/// The counts of one scenario. Of the smallest timeout these are needless timeouts, of the duplicate threshold
/// needless fast retransmissions, both by the truth of the box, and of F-RTO the timeouts that the kernel found
/// to be spurious by it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Compared {
    pub name: String,
    pub knob: Knob,
    pub value: u64,
    /// With the setting as it was, twice: how far the scenario repeats itself.
    pub before: [usize; 2],
    /// As predicted by the first recording, and the retransmissions that it could not judge.
    pub predicted: usize,
    pub undecidable: usize,
    /// With the other setting, each time.
    pub after: [usize; REPEATS],
}

/// Returns whether two counts agree within a tenth.
pub fn agrees(one: usize, other: usize) -> bool {
    one.abs_diff(other) as f64 <= WITHIN * one.max(other) as f64
}

impl Compared {
    /// Returns the mean of the counts with the other setting.
    pub fn mean(&self) -> f64 {
        self.after.iter().sum::<usize>() as f64 / REPEATS as f64
    }

    /// Returns whether a count is within a tenth of that mean.
    pub fn is_near_mean(&self, count: usize) -> bool {
        let (count, mean) = (count as f64, self.mean());
        (count - mean).abs() <= WITHIN * count.max(mean)
    }

    /// Returns whether the prediction, with none, some or all of those that it leaves open, lies in the 90 %
    /// interval of one more count with the other setting.
    pub fn is_within_spread(&self) -> bool {
        let mean = self.mean();
        let squares: f64 = self.after.iter().map(|&count| (count as f64 - mean).powi(2)).sum();
        let deviation = (squares / (REPEATS - 1) as f64).sqrt();
        // Counts are whole numbers.
        let half = (T90 * deviation * (1.0 + 1.0 / REPEATS as f64).sqrt()).max(0.5);
        let (least, most) = (self.predicted as f64, (self.predicted + self.undecidable) as f64);
        (mean - mean.clamp(least, most)).abs() <= half
    }

    /// Returns whether the share of the first count that goes, which is what `eifel advise` says first, is as predicted
    /// within ten points.
    pub fn agrees_in_share(&self) -> bool {
        (self.predicted as f64 - self.mean()).abs() <= WITHIN * self.before[0] as f64
    }
}

/// Records a scenario in `folder`, twice as it was drawn and several times with the other setting. If the prediction
/// lies outside of what these spread over, the sender's captures stay there, in `NAME.before` and `NAME.after`.
///
/// # Errors
/// Those of the system and of the connections.
pub fn compare(change: &Change, folder: &Path, port: u16) -> Result<Compared, Error> {
    let [before, again, after] =
        ["before", "again", "after"].map(|which| folder.join(format!("{}.{which}", change.draw.name)));
    let record = |draw: &Draw, own: &Path| {
        let DrawnPath::Box { scenario, .. } = &draw.path else { unreachable!("changes are drawn with a box") };
        remove(own)?;
        run(draw, scenario, own, port, Beside::Nothing)?;
        count(change.knob, own)
    };
    let counts = [record(&change.draw, &before)?, record(&change.draw, &again)?];
    let (predicted, undecidable) = predict(change, &before)?;
    let mut counts_after = [0; REPEATS];
    for count in &mut counts_after {
        *count = record(&change.changed(), &after)?;
    }
    let compared = Compared {
        name: change.draw.name.clone(),
        knob: change.knob,
        value: change.value,
        before: counts,
        predicted,
        undecidable,
        after: counts_after,
    };
    if compared.is_within_spread() {
        [before, again, after].iter().try_for_each(|own| remove(own))?;
    } else {
        remove(&again)?;
        [before, after].iter().try_for_each(|own| keep_capture(own))?;
    }
    Ok(compared)
}

/// Removes all files of a recording but the capture at its sender, by which the prediction can be repeated.
fn keep_capture(folder: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::new(folder.display().to_string(), &error, "");
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.file_stem() != Some(PLACES[0].as_ref()) || file.extension() != Some("pcapng".as_ref()) {
            fs::remove_file(&file).map_err(failed)?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::new(folder.display().to_string(), &error, "")),
        _ => Ok(()),
    }
}

/// Returns the count that a prediction is about.
fn count(knob: Knob, own: &Path) -> Result<usize, Error> {
    if knob == Knob::FRto {
        return counter(&own.join("sender.counters.csv"), "TCPSpuriousRTOs");
    }
    let sources = Sources { folder: own, sender: None, receiver: None, direction: Direction::There };
    let judgement = judge::join(sources)?;
    if let Some(silent) = judgement.counters_silent {
        return Err(Error::new("read the kernel's causes", &silent, ""));
    }
    let cause = if knob == Knob::SmallestRto { Cause::Rto } else { Cause::Fast };
    let is_counted = |one: &&judge::Retransmission| one.judged.spurious && one.cause == Some(cause);
    Ok(judgement.retransmissions.iter().filter(is_counted).count())
}

fn counter(file: &Path, name: &str) -> Result<usize, Error> {
    let text = fs::read_to_string(file).map_err(|error| Error::new(file.display().to_string(), &error, ""))?;
    let last = text.lines().rev().find_map(|line| line.split_once(&format!(",{name},")));
    Ok(last.and_then(|(_, value)| value.parse().ok()).unwrap_or_default())
}

/// Returns the predicted count by the sender's capture alone, and how many retransmissions it leaves open.
fn predict(change: &Change, own: &Path) -> Result<(usize, usize), Error> {
    let capture = own.join(format!("{}.pcapng", PLACES[0]));
    let report = files::analyze(&[capture], &mut |_, _| Ok(())).map_err(|what| Error::new("read", &what, ""))?;
    let settings = Settings { rto_min_ms: RTO_MIN_MS, rack: true };
    let asked = Asked::from([(change.knob, change.value)]);
    let advised = advise(&of_report(&report), settings, &asked);
    let curve = advised.curves.iter().find(|curve| curve.knob == change.knob);
    let point = curve.and_then(|curve| curve.points.first()).copied().unwrap_or_default();
    let predicted = if change.knob == Knob::FRto { point.needless_gone + point.mistaken } else { point.needless_left };
    Ok((predicted, point.undecidable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_is_judged_by_the_mean_and_by_the_spread_of_counts() {
        assert!(agrees(0, 0) && agrees(9, 10) && agrees(10, 9) && agrees(20, 18));
        assert!(!agrees(0, 1) && !agrees(8, 9) && !agrees(17, 20));
        let compared = |predicted, after| Compared {
            name: String::new(),
            knob: Knob::SmallestRto,
            value: 300,
            before: [50, 48],
            predicted,
            undecidable: 0,
            after,
        };
        // A mean of 20, and a deviation of 3.16: one more count is within 7.4 of it, nine times of ten.
        let spread = [16, 18, 20, 22, 24];
        let judged = |predicted| {
            let one = compared(predicted, spread);
            (one.is_near_mean(predicted), one.is_within_spread(), one.agrees_in_share())
        };
        assert_eq!(judged(18), (true, true, true));
        assert_eq!(judged(25), (false, true, true));
        assert_eq!(judged(27), (false, true, false));
        assert_eq!(judged(28), (false, false, false));
        let open = Compared { undecidable: 2, ..compared(11, spread) };
        assert!(open.is_within_spread() && !compared(11, spread).is_within_spread());
        assert!(!Compared { undecidable: 20, ..compared(28, spread) }.is_within_spread());
        // Where the counts are all the same, so must the prediction be.
        assert!(compared(7, [7; 5]).is_within_spread() && !compared(8, [7; 5]).is_within_spread());
    }
}
