//! Draws an algorithm of the registry for each seam, with random parameters. A newly registered
//! algorithm takes part at once.

use super::{Put, table};
use crate::dice::Dice;
use eifel_base::time::Duration;
use eifel_recovery::registry::{Entry, Kind, Need, Seam};
use toml::{Table, Value};

/// Draws the table `sender` of an end with these connection settings.
pub(super) fn sender(dice: &mut Dice, tcp: &Table) -> Table {
    let mut sender = Table::new();
    for seam in Seam::ALL {
        sender.put(&seam.name().replace('-', "_"), choice(dice, seam));
    }
    let mut observers: Vec<Value> = (0..*dice.one(&[0, 0, 1, 3])).map(|_| choice(dice, Seam::Detect)).collect();
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
        let entries: Vec<&Entry> = seam.entries().iter().chain(seam.association_entries()).collect();
        let entry = *dice.one(&entries);
        let blind = match entry.needs {
            Some(Need::Timestamps) => !sctp.contains_key("timestamp_chunk"),
            Some(Need::Marks) => !sctp.contains_key("retransmit_bit"),
            _ => false,
        };
        let chosen = drawn(dice, entry);
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

fn choice(dice: &mut Dice, seam: Seam) -> Value {
    let entry = dice.one(seam.entries());
    drawn(dice, entry)
}

/// Draws the parameters of an algorithm.
fn drawn(dice: &mut Dice, entry: &Entry) -> Value {
    let mut chosen = table([("name", entry.name.into())]);
    for parameter in entry.parameters {
        if dice.chance(0.3) {
            chosen.put(parameter.name, value(dice, &parameter.kind));
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
