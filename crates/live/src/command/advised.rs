//! `advise`: judges `eifel advise` by this kernel.

use super::setup::namespace;
use super::truth::{Drawn, each};
use super::{Failure, OK, print};
use crate::advised::{Change, Compared, agrees, compare, name};
use crate::system::Error;
use eifel_capture::advise::Knob;
use std::fmt::{Display, Write};
use std::fs;
use std::path::Path;
use std::sync::Mutex;

const USAGE: &str = "\
Judges `eifel advise` by this kernel: records a drawn scenario, predicts from the capture at its sender what another smallest
timeout, duplicate threshold or F-RTO would do, records it again with that setting, and compares the counts. Needs root.

usage: eifel live advise [OPTIONS] FOLDER

  --count N          scenarios, the three knobs in turn (default: 30)
  --first N          the number of the first one (default: 0)
  --seed S           the seed of all draws (default: 1)
  --at-once N        scenarios at the same time (default: 3)

FOLDER gets NAME.json for each scenario: the counts before (two recordings), as predicted, and after (five). If the
prediction lies outside of the 90 % interval of those after, the captures at the sender stay in NAME.before and
NAME.after. A call that is interrupted goes on where it was.

example: eifel live advise --count 30 --seed 7 out/advised
";

/// The first port that a recording listens at.
const PORT: u16 = 30_000;

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some((Drawn { folder, first, count, seed, at_once }, _)) = Drawn::read(words, (&[], &[]))? else {
        return print(USAGE).map(|()| OK);
    };
    // Missing rights are one line, before anything is written.
    drop(namespace()?);
    let folder = Path::new(&folder);
    let failed = |path: &Path, cause: &dyn Display| Error::new(path.display().to_string(), cause, "");
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    super::decisions::claim(&folder.join("seed.txt"), seed)?;
    let changes: Vec<Change> = (first..first + count).map(|number| Change::new(seed, number)).collect();
    let found = Mutex::new(Vec::new());
    let of = |change: &Change| folder.join(format!("{}.json", change.draw.name));
    let mut missing = Vec::new();
    for change in &changes {
        match fs::read_to_string(of(change)) {
            Ok(text) => add(&found, serde_json::from_str(&text).map_err(|error| failed(&of(change), &error))?),
            Err(_) => missing.push(change.draw.clone()),
        }
    }
    each(&missing, at_once, |draw| {
        let Some(change) = changes.iter().find(|change| change.draw == *draw) else { return Ok(()) };
        let number: u16 = draw.name[..4].parse().unwrap_or(0);
        let compared = compare(change, folder, PORT + number)?;
        eprintln!("{}", said(&compared));
        let (path, new) = (of(change), folder.join(format!("{}.new", draw.name)));
        let text = serde_json::to_string(&compared).unwrap_or_default();
        // A call that is killed leaves the whole file or none.
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(|error| failed(&path, &error))?;
        add(&found, compared);
        Ok(())
    })?;
    let found = found.into_inner().unwrap_or_default();
    print(&summary(&found)).map(|()| OK)
}

fn add(found: &Mutex<Vec<Compared>>, compared: Compared) {
    if let Ok(mut found) = found.lock() {
        found.push(compared);
    }
}

fn said(compared: &Compared) -> String {
    let Compared { name, value, before: [first, second], predicted, undecidable, after, .. } = compared;
    let word = if compared.is_within_spread() { "agrees" } else { "differs" };
    format!(
        "{name}: at {value} {predicted} predicted ({undecidable} undecidable), {after:?} counted: {word}; {first} and \
         {second} before"
    )
}

/// Returns how often predictions agree, by knob. Beside it, how often the scenario agrees with itself, and how
/// often the counts before would have been as good a prediction.
fn summary(found: &[Compared]) -> String {
    let mut text = String::new();
    for knob in [Knob::SmallestRto, Knob::DuplicateThreshold, Knob::FRto] {
        let of: Vec<&Compared> = found.iter().filter(|one| one.knob == knob).collect();
        let count = |is: fn(&Compared) -> bool| of.iter().filter(|one| is(one)).count();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{}: {} of {} predictions within the 90 % interval of the counts after, {} within a tenth of their mean, \
             {} of the share that goes within ten points. The kernel itself: {} pairs before within a tenth, \
             {} counts after within a tenth of their mean. No change predicted: {} within a tenth",
            name(knob),
            count(Compared::is_within_spread),
            of.len(),
            count(|one| one.is_near_mean(one.predicted)),
            count(Compared::agrees_in_share),
            count(|one| agrees(one.before[0], one.before[1])),
            count(|one| one.is_near_mean(one.after[0])),
            count(|one| one.is_near_mean(one.before[0])),
        );
    }
    text
}
