//! Draws an algorithm of the registry for each seam, with random parameters.
//!
//! A newly registered algorithm takes part at once, with draws of its own. It changes only the cases
//! that it joins, and only that one setting of them.

use super::{Put, table};
use crate::dice::Dice;
use eifel_base::time::Duration;
use eifel_recovery::registry::{Entry, Kind, Need, Seam};
use eifel_testkit::recorded::{is_added, recorded};
use toml::{Table, Value};

/// Draws the table `sender` of an end with these connection settings.
pub(super) fn sender(dice: &mut Dice, tcp: &Table) -> Table {
    let mut sender = Table::new();
    for seam in Seam::ALL {
        sender.put(&seam.name().replace('-', "_"), connection_algorithm(dice, seam));
    }
    let mut observers: Vec<Value> =
        (0..*dice.one(&[0, 0, 1, 3])).map(|_| connection_algorithm(dice, Seam::Detect)).collect();
    // The scenario format refuses a detector that lacks its signal. It is removed after the draw,
    // so that the other draws stay the same.
    observers.retain(|detector| sees(detector, tcp));
    if !sees(&sender["detect"], tcp) {
        sender.remove("detect");
    }
    if !observers.is_empty() {
        sender.put("observers", observers);
    }
    sender
}

/// The seams of an association: all except loss recovery, and two of its own.
const OF_AN_ASSOCIATION: [Seam; 9] = [
    Seam::Detect,
    Seam::Respond,
    Seam::Grant,
    Seam::Rto,
    Seam::AfterSpurious,
    Seam::Congest,
    Seam::Pace,
    Seam::Retransmit,
    Seam::Credit,
];

/// Draws the table `sender` of an association with these settings.
pub(super) fn of_an_association(dice: &mut Dice, sctp: &Table) -> Table {
    let mut sender = Table::new();
    for seam in OF_AN_ASSOCIATION {
        let (entry, chosen) = algorithm(dice, seam.entries().iter().chain(seam.association_entries()));
        let blind = match entry.needs {
            Some(Need::Timestamps) => !sctp.contains_key("timestamp_chunk"),
            Some(Need::Marks) => !sctp.contains_key("retransmit_bit"),
            _ => false,
        };
        if !blind {
            sender.put(&seam.name().replace('-', "_"), chosen);
        }
    }
    sender
}

/// Returns whether the connection settings give the detector what it needs.
fn sees(detector: &Value, tcp: &Table) -> bool {
    let name = detector.get("name").unwrap_or(detector).as_str();
    let entry = name.and_then(|name| Seam::Detect.entry(name));
    let on = |key: &str| tcp.get(key).and_then(Value::as_bool) != Some(false);
    match entry.and_then(|entry| entry.needs) {
        None => true,
        Some(Need::Timestamps) => on("timestamps"),
        Some(Need::Marks) => tcp.contains_key("retransmission_marks"),
        Some(Need::Sack) => on("sack"),
        Some(Need::Duplicates) => on("sack") && on("dsack"),
    }
}

fn connection_algorithm(dice: &mut Dice, seam: Seam) -> Value {
    algorithm(dice, seam.entries().iter()).1
}

/// Draws one of a seam's algorithms, with its parameters.
fn algorithm(dice: &mut Dice, entries: impl Iterator<Item = &'static Entry>) -> (&'static Entry, Value) {
    let (recorded, newcomers): (Vec<_>, Vec<_>) =
        entries.partition(|entry| recorded(entry.seam.name()).contains(&entry.name));
    recorded_or_new(dice, &recorded, &newcomers)
}

/// Draws a recorded algorithm. Then each newcomer may replace it.
fn recorded_or_new(
    dice: &mut Dice,
    recorded: &[&'static Entry],
    newcomers: &[&'static Entry],
) -> (&'static Entry, Value) {
    let entry = *dice.algorithm(recorded);
    let chosen = parameters(dice, entry);
    let share = 1.0 / (recorded.len() + 1) as f64;
    let replacement = newcomers.iter().find_map(|entry| {
        let mut own = dice.of_newcomer(entry.name)?;
        own.chance(share).then(|| (*entry, parameters(&mut own, entry)))
    });
    replacement.unwrap_or((entry, chosen))
}

/// Draws the parameters of an algorithm. Added ones have their own draws.
fn parameters(dice: &mut Dice, entry: &Entry) -> Value {
    let mut chosen = table([("name", entry.name.into())]);
    let (added, recorded): (Vec<_>, Vec<_>) =
        entry.parameters.iter().partition(|parameter| is_added(entry.name, parameter.name));
    for parameter in recorded {
        if dice.chance(0.3) {
            chosen.put(parameter.name, value(dice, &parameter.kind));
        }
    }
    for parameter in added {
        let Some(mut own) = dice.of_newcomer(parameter.name) else { continue };
        if own.chance(0.3) {
            chosen.put(parameter.name, value(&mut own, &parameter.kind));
        }
    }
    if chosen.len() == 1 { entry.name.into() } else { chosen.into() }
}

/// Draws a value within a factor of eight of the default. Other tests cover the ends of the range:
/// a timer of one microsecond would only flood the path.
fn value(dice: &mut Dice, kind: &Kind) -> Value {
    match *kind {
        Kind::Switch { .. } => dice.chance(0.5).into(),
        Kind::Word { allowed, .. } => (*dice.one(allowed)).into(),
        Kind::Integer { default: 0, minimum, maximum } => {
            let most = maximum.min(100_000);
            if dice.chance(0.3) { minimum.max(0).into() } else { dice.scale(minimum.max(1), most).into() }
        }
        Kind::Integer { default, minimum, maximum } => {
            dice.scale((default / 8).clamp(minimum.max(1), maximum), default.saturating_mul(8).min(maximum)).into()
        }
        Kind::Milliseconds { default, minimum, maximum } => {
            let ms = |duration: Duration| duration.as_nanos() as f64 / 1e6;
            let (low, high) = match ms(default) {
                0.0 => (1.0, 100.0),
                default => (default / 8.0, default * 8.0),
            };
            dice.scale_of_time(low.max(ms(minimum)).max(0.001), high.min(ms(maximum))).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Algorithms;

    /// Draws detectors, each followed by another setting. `newcomers` of them are not recorded.
    fn draws(algorithms: Algorithms, newcomers: usize) -> Vec<(&'static str, Value, i64)> {
        let entries: Vec<_> = Seam::Detect.entries().iter().collect();
        let (new, recorded) = entries.split_at(2);
        let mut dice = Dice::new(7, algorithms);
        let mut draw = |_| {
            let (entry, chosen) = recorded_or_new(&mut dice, recorded, &new[..newcomers]);
            (entry.name, chosen, dice.whole(0, 1_000_000))
        };
        (0..2000).map(&mut draw).collect()
    }

    #[test]
    fn a_newcomer_changes_only_the_choices_that_it_wins() {
        let before = draws(Algorithms::All, 0);
        for newcomers in [1, 2] {
            let after = draws(Algorithms::All, newcomers);
            let names = Seam::Detect.entries().iter().take(newcomers).map(|entry| entry.name).collect::<Vec<_>>();
            let won = after.iter().filter(|(name, ..)| names.contains(name)).count();
            let expected = 2000 * newcomers / Seam::Detect.entries().len();
            assert!((expected * 3 / 4..expected * 4 / 3).contains(&won), "{won}");
            for (old, new) in before.iter().zip(&after) {
                assert_eq!(old.2, new.2, "another setting");
                assert!(old == new || names.contains(&new.0), "{old:?} became {new:?}");
            }
        }
    }

    #[test]
    fn a_recorded_case_has_no_newcomers() {
        assert_eq!(draws(Algorithms::Recorded, 2), draws(Algorithms::All, 0));
    }

    #[test]
    fn every_recorded_algorithm_is_registered() {
        for seam in Seam::ALL.into_iter().chain(Seam::OF_ASSOCIATIONS) {
            let names = seam.entries().iter().chain(seam.association_entries()).map(|entry| entry.name);
            let names: Vec<_> = names.collect();
            for name in recorded(seam.name()) {
                assert!(names.contains(name), "{} {name}", seam.name());
            }
        }
    }
}
