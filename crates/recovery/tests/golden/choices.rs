//! Each algorithm by itself, and with each of its parameters at a value other than its default.

use eifel_base::time::Duration;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Entry, Kind, Parameter, Seam, Value, entries};
use eifel_testkit::hash;
use eifel_testkit::recorded::{is_added, recorded};

use crate::dice::Dice;

/// Returns values of a parameter other than its default.
fn others(parameter: &Parameter) -> Vec<Value> {
    match parameter.kind {
        Kind::Switch { default } => vec![Value::Switch(!default)],
        Kind::Word { default, allowed } => {
            allowed.iter().filter(|word| **word != default).map(|word| Value::Word((*word).into())).collect()
        }
        Kind::Integer { default, minimum, maximum } => [default - 1, default + 1]
            .into_iter()
            .filter(|near| (minimum..=maximum).contains(near))
            .map(Value::Integer)
            .collect(),
        Kind::Milliseconds { default, minimum, maximum } => {
            let near = if default == Duration::ZERO { Duration::from_millis(20) } else { default / 3 };
            vec![Value::Duration(near.clamp(minimum, maximum))]
        }
    }
}

fn of_entry(entry: &Entry) -> Vec<Choice> {
    let mut found = vec![Choice::named(entry.name)];
    for parameter in entry.parameters {
        found.extend(others(parameter).into_iter().map(|value| Choice::named(entry.name).with(parameter.name, value)));
    }
    found
}

pub fn choices() -> Vec<(Seam, Choice)> {
    entries().flat_map(|entry| of_entry(entry).into_iter().map(|choice| (entry.seam, choice))).collect()
}

/// Returns the name of a choice: its seam, its algorithm, and the parameters that are set.
pub fn name(seam: Seam, choice: &Choice) -> String {
    let set: String = choice.parameters.iter().map(|(name, value)| format!(" {name} = {value}")).collect();
    format!("{} {}{set}", seam.name(), choice.name)
}

/// Returns the draws of a choice's case of this number. Its name is the seed.
pub fn dice(seam: Seam, choice: &Choice, number: u64) -> Dice {
    Dice::new(hash(name(seam, choice)).wrapping_add(number))
}

/// Returns a sender with this choice and the others drawn from the recorded algorithms. At least a
/// third of the senders have RFC 3522's detection, so that undos are frequent but not everywhere.
/// Half of them have no pacing.
pub fn around(seam: Seam, choice: &Choice, dice: &mut Dice) -> Config {
    let mut any = |seam: Seam| {
        let entries: Vec<_> = recorded(seam.name()).iter().filter_map(|name| seam.entry(name)).collect();
        let entry = entries[dice.below(entries.len() as u64) as usize];
        let mut drawn = Choice::named(entry.name);
        for parameter in entry.parameters.iter().filter(|parameter| !is_added(entry.name, parameter.name)) {
            let mut others = others(parameter);
            if !others.is_empty() && dice.once_in(3) {
                drawn = drawn.with(parameter.name, others.swap_remove(dice.below(others.len() as u64) as usize));
            }
        }
        drawn
    };
    let mut config = Config {
        detect: any(Seam::Detect),
        observers: vec![any(Seam::Detect)],
        respond: any(Seam::Respond),
        grant: any(Seam::Grant),
        rto: any(Seam::Rto),
        after_spurious: any(Seam::AfterSpurious),
        recover: any(Seam::Recover),
        congest: any(Seam::Congest),
        pace: any(Seam::Pace),
    };
    if dice.once_in(2) {
        config.pace = Choice::named("none");
    }
    if dice.once_in(3) {
        config.detect = Choice::named("eifel-timestamps");
    }
    let part = match seam {
        Seam::Detect => &mut config.detect,
        Seam::Respond => &mut config.respond,
        Seam::Grant => &mut config.grant,
        Seam::Rto => &mut config.rto,
        Seam::AfterSpurious => &mut config.after_spurious,
        Seam::Recover => &mut config.recover,
        Seam::Congest => &mut config.congest,
        Seam::Pace => &mut config.pace,
        Seam::Retransmit | Seam::Credit => unreachable!("a connection has none"),
    };
    *part = choice.clone();
    config
}
