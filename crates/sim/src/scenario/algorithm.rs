//! Checks, describes and selects algorithms, by their names in the registry and their parameters.

use super::check::{self, join};
use super::error::Fault;
use super::near;
use super::tree::{Entry as Pair, Node, Value};
use eifel_base::time::Duration;
use eifel_recovery::registry::{Choice, Entry, Error, Kind, Parameter, Seam, Value as Set};

/// Iterates over the algorithms of a seam. Algorithms only for associations come last.
pub(super) fn of(seam: Seam) -> impl Iterator<Item = &'static Entry> {
    seam.entries().iter().chain(seam.association_entries())
}

/// Checks that connections, which have one path and count bytes, can use the algorithm that a
/// checked value names. `fault` adds the place to the error.
pub(super) fn for_connections(node: &Node, seam: Seam, fault: impl Fn(String) -> Fault) -> Result<(), Fault> {
    let entry = entry(node, seam);
    if seam.entry(entry.name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = seam.entries().iter().map(|entry| entry.name).collect();
    Err(fault(format!("{} is for associations alone", entry.name)).allowed(names.join(", ")))
}

/// Returns the names of a seam's algorithms.
pub(super) fn names(seam: Seam) -> Vec<&'static str> {
    of(seam).map(|entry| entry.name).collect()
}

/// Checks the name of an algorithm, or a table of its `name` and parameters.
pub(super) fn check(node: &Node, seam: Seam, path: &str) -> Result<(), Fault> {
    read(node, seam, path).map(|_| ())
}

/// Returns the choice, with parameters, that a checked value names.
pub(super) fn choice(node: &Node, seam: Seam) -> Choice {
    read(node, seam, "").expect("checked already")
}

/// Returns the algorithm that a checked value names.
pub(super) fn entry(node: &Node, seam: Seam) -> &'static Entry {
    seam.found(&choice(node, seam).name).expect("checked already")
}

fn read(node: &Node, seam: Seam, path: &str) -> Result<Choice, Fault> {
    let Value::Table(pairs) = &node.value else {
        let entry = find(node, seam, path)?;
        return Ok(Choice { name: entry.name.to_owned(), parameters: Vec::new() });
    };
    let Some(named) = pairs.iter().find(|pair| pair.key == "name") else {
        return Err(Fault::new(node.line, join(path, "name"), "missing beside the algorithm's parameters")
            .allowed(names(seam).join(", ")));
    };
    let entry = find(&named.node, seam, &join(path, "name"))?;
    let mut parameters = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.key != "name") {
        let place = join(path, &pair.key);
        let Some(parameter) = entry.parameters.iter().find(|parameter| parameter.name == pair.key) else {
            return Err(unknown_parameter(pair, entry, place));
        };
        let set = value(&pair.node.value, parameter.kind).ok_or_else(|| {
            Fault::new(pair.node.line, place, format!("{} is not allowed", pair.node.value.describe()))
                .allowed(allowed(parameter))
        })?;
        parameters.push((parameter.name.to_owned(), set));
    }
    // In the registry's order, so that equal choices compare as equal in any order of writing.
    parameters.sort_by_key(|(name, _)| entry.parameters.iter().position(|parameter| parameter.name == name));
    Ok(Choice { name: entry.name.to_owned(), parameters })
}

fn find(node: &Node, seam: Seam, path: &str) -> Result<&'static Entry, Fault> {
    let list = || names(seam).join(", ");
    let Value::Text(name) = &node.value else {
        let what = format!("{} is not an algorithm's name", node.value.describe());
        return Err(Fault::new(node.line, path, what).allowed(list()));
    };
    seam.found(name).map_err(|error| match error {
        Error::NotProvided(why) => Fault::new(node.line, path, why),
        _ => Fault::new(node.line, path, near::unknown("algorithm", name, names(seam).into_iter())).allowed(list()),
    })
}

fn unknown_parameter(pair: &Pair, entry: &Entry, path: String) -> Fault {
    let known = || entry.parameters.iter().map(|parameter| parameter.name);
    let same = near::in_other_units(&pair.key, known());
    let what = match (same.as_slice(), near::nearest(&pair.key, known())) {
        ([], None) => format!("unknown parameter of {}", entry.name),
        ([], Some(near)) => format!("unknown parameter of {}; nearest: {near}", entry.name),
        (same, _) => format!("unknown parameter of {}; its unit here: {}", entry.name, same.join(" or ")),
    };
    let all: Vec<&str> = core::iter::once("name").chain(known()).collect();
    Fault::new(pair.line, path, what).allowed(all.join(", "))
}

fn value(value: &Value, kind: Kind) -> Option<Set> {
    match (kind, value) {
        (Kind::Integer { minimum, maximum, .. }, _) => {
            check::whole(value).filter(|number| (minimum..=maximum).contains(number)).map(Set::Integer)
        }
        (Kind::Milliseconds { minimum, maximum, .. }, _) => {
            let number = check::real(value).filter(|number| *number >= 0.0)?;
            let length = Duration::from_nanos((number * 1e6).round() as u64);
            (minimum..=maximum).contains(&length).then_some(Set::Duration(length))
        }
        (Kind::Switch { .. }, Value::Switch(switch)) => Some(Set::Switch(*switch)),
        (Kind::Word { allowed, .. }, Value::Text(word)) => {
            allowed.contains(&word.as_str()).then(|| Set::Word(word.clone()))
        }
        _ => None,
    }
}

/// Describes the allowed values of a parameter.
pub(super) fn allowed(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Integer { minimum, maximum: i64::MAX, .. } => format!("a whole number, {minimum} or more"),
        Kind::Integer { minimum, maximum, .. } => format!("a whole number, {minimum} to {maximum}"),
        Kind::Milliseconds { minimum, maximum, .. } => {
            format!("a number of milliseconds, {} to {}", milliseconds(minimum), milliseconds(maximum))
        }
        Kind::Switch { .. } => "true, false".to_owned(),
        Kind::Word { allowed, .. } => allowed.join(", "),
    }
}

/// Returns a duration in milliseconds, for messages and the schema.
pub(super) fn milliseconds(length: Duration) -> f64 {
    length.as_nanos() as f64 / 1e6
}
