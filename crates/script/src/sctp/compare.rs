//! Compares the chunks that left with those that the script expects.

use super::item::{Item, Value, shown};
use super::numbers::Numbers;
use super::shape::{Family, Field};

/// Describes each difference between two lists of elements. If the expected list is `open`, more
/// elements may follow.
pub(super) fn lists(
    family: Family,
    (expected, open): (&[Item], bool),
    seen: &[Item],
    numbers: &mut Numbers,
    found: &mut Vec<String>,
) {
    let what = match family {
        Family::Chunk => "chunks",
        Family::Parameter => "parameters",
        Family::Cause => "causes",
    };
    if expected.len() > seen.len() || expected.len() < seen.len() && !open {
        found.push(format!("it has {} {what}, not {}", seen.len(), expected.len()));
    }
    // The sender chooses the order of parameters.
    let mut left: Vec<&Item> = seen.iter().collect();
    for expected in expected {
        let mut fits = |seen: &&Item| {
            let mut differences = Vec::new();
            element(expected, seen, numbers, &mut differences);
            differences.is_empty()
        };
        let place = match family {
            Family::Parameter => {
                left.iter().position(&mut fits).or_else(|| left.iter().position(|seen| seen.kind() == expected.kind()))
            }
            Family::Chunk | Family::Cause => None,
        };
        let place = place.unwrap_or(0);
        if place < left.len() {
            element(expected, left.remove(place), numbers, found);
        }
    }
}

fn element(expected: &Item, seen: &Item, numbers: &mut Numbers, found: &mut Vec<String>) {
    // The script may write an element as generic although its type has a name.
    let Some(mut seen) = Item::read(expected.shape, &seen.bytes) else {
        found.push(format!("{} instead of {}", seen.shape.name, expected.shape.name));
        return;
    };
    numbers.learn(expected, &seen);
    numbers.make_scripts(&mut seen);
    for ((field, wanted), (_, seen)) in expected.fields().zip(seen.fields()) {
        value(expected, field, (wanted, seen), numbers, found);
    }
}

fn value(item: &Item, field: &Field, values: (&Value, &Value), numbers: &mut Numbers, found: &mut Vec<String>) {
    match values {
        (Value::Any, _) => {}
        (Value::Items(expected, open), Value::Items(seen, _)) => {
            let family = expected.first().or(seen.first()).map_or(Family::Parameter, |item| item.shape.family);
            lists(family, (expected, *open), seen, numbers, found);
        }
        (wanted, seen) if wanted == seen => {}
        (wanted, seen) => {
            let (name, kind) = (field.name, item.shape.name);
            found.push(format!("{name} of {kind} is {}, not {}", shown(field.form, seen), shown(field.form, wanted)));
        }
    }
}
