//! Makes a failing scenario as small as possible while it fails in the same way. Removes keys and
//! elements, and lowers numbers. The code knows nothing of the format: a candidate that is no valid
//! scenario fails in another way.

use toml::{Table, Value};

/// The path from the top of a scenario to a value.
type Place = Vec<Step>;

#[derive(Clone, PartialEq, Debug)]
enum Step {
    Key(String),
    Element(usize),
}

/// Returns the smallest scenario found for which `fails` still holds. Calls `fails` at most `tries`
/// times.
pub fn shrink(scenario: &Table, tries: usize, mut fails: impl FnMut(&Table) -> bool) -> Table {
    let mut smallest = scenario.clone();
    let mut left = tries;
    loop {
        let before = smallest.clone();
        for candidate in removals(&smallest) {
            if left == 0 {
                return smallest;
            }
            // An earlier removal may have removed the table or list around this value.
            let mut smaller = smallest.clone();
            if remove(&mut smaller, &candidate) {
                left -= 1;
                if fails(&smaller) {
                    smallest = smaller;
                }
            }
        }
        for place in numbers(&smallest) {
            left = lower(&mut smallest, &place, left, &mut fails);
        }
        if smallest == before || left == 0 {
            return smallest;
        }
    }
}

/// Lists every value that can be removed: outer values first, and later elements of a list before
/// earlier ones.
fn removals(scenario: &Table) -> Vec<Place> {
    let mut places = Vec::new();
    walk(scenario, &mut |place, _| places.push(place.clone()));
    places.sort_by_key(Vec::len);
    let element = |place: &Place| if let Some(Step::Element(number)) = place.last() { *number } else { 0 };
    places.sort_by_key(|place| (place.len(), core::cmp::Reverse(element(place))));
    places
}

/// Lists every number.
fn numbers(scenario: &Table) -> Vec<Place> {
    let mut places = Vec::new();
    walk(scenario, &mut |place, value| {
        if matches!(value, Value::Integer(_) | Value::Float(_)) {
            places.push(place.clone());
        }
    });
    places
}

fn walk(scenario: &Table, visit: &mut impl FnMut(&Place, &Value)) {
    fn enter(place: &mut Place, value: &Value, visit: &mut impl FnMut(&Place, &Value)) {
        visit(place, value);
        match value {
            Value::Table(table) => {
                for (key, value) in table {
                    place.push(Step::Key(key.clone()));
                    enter(place, value, visit);
                    place.pop();
                }
            }
            Value::Array(list) => {
                for (number, value) in list.iter().enumerate() {
                    place.push(Step::Element(number));
                    enter(place, value, visit);
                    place.pop();
                }
            }
            _ => {}
        }
    }
    for (key, value) in scenario {
        enter(&mut vec![Step::Key(key.clone())], value, visit);
    }
}

fn find<'a>(scenario: &'a mut Table, place: &[Step]) -> Option<&'a mut Value> {
    let (Step::Key(first), rest) = place.split_first()? else { return None };
    rest.iter().try_fold(scenario.get_mut(first)?, |value, step| match (value, step) {
        (Value::Table(table), Step::Key(key)) => table.get_mut(key),
        (Value::Array(list), Step::Element(number)) => list.get_mut(*number),
        _ => None,
    })
}

/// Removes a value. Returns `false` if it does not exist.
fn remove(scenario: &mut Table, place: &[Step]) -> bool {
    match place {
        [Step::Key(key)] => scenario.remove(key).is_some(),
        [outer @ .., last] => match (find(scenario, outer), last) {
            (Some(Value::Table(table)), Step::Key(key)) => table.remove(key).is_some(),
            (Some(Value::Array(list)), Step::Element(number)) if *number < list.len() => {
                list.remove(*number);
                true
            }
            _ => false,
        },
        [] => false,
    }
}

/// Lowers a number as far as the failure allows. Returns the remaining tries.
fn lower(smallest: &mut Table, place: &[Step], mut left: usize, fails: &mut impl FnMut(&Table) -> bool) -> usize {
    loop {
        let Some(now) = find(smallest, place).cloned() else { return left };
        let smaller = simpler(&now).into_iter().find_map(|value| {
            let mut candidate = smallest.clone();
            *find(&mut candidate, place)? = value;
            left = left.checked_sub(1)?;
            fails(&candidate).then_some(candidate)
        });
        match smaller {
            Some(smaller) => *smallest = smaller,
            None => return left,
        }
    }
}

/// Returns simpler values for a number, simplest first.
fn simpler(value: &Value) -> Vec<Value> {
    match *value {
        Value::Integer(number) => {
            let mut tries = vec![0, 1, number / 10, number / 2, number - number / 4, number - 1];
            tries.retain(|&other| other >= 0 && other < number);
            tries.dedup();
            tries.into_iter().map(Value::Integer).collect()
        }
        Value::Float(number) => {
            let mut tries = vec![0.0, 1.0, number.floor(), (number / 2.0 * 1000.0).floor() / 1000.0];
            tries.retain(|&other| other < number);
            tries.dedup();
            tries.into_iter().map(Value::Float).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::table;

    fn scenario() -> Table {
        let numbers = [3, 100, 7].map(Value::Integer).to_vec();
        let loss = table([("rate", 0.5.into()), ("kind", "random".into())]);
        table([("loss", loss.into()), ("numbers", numbers.into()), ("bytes", 100_000.into())])
    }

    #[test]
    fn shrinking_removes_what_is_not_needed_and_lowers_numbers_to_their_limit() {
        let needed = |table: &Table| {
            let bytes = table.get("bytes").and_then(Value::as_integer);
            let numbers = table.get("numbers").and_then(Value::as_array);
            bytes.is_some_and(|bytes| bytes >= 1234)
                && numbers.is_some_and(|list| list.iter().any(|number| number.as_integer() > Some(6)))
        };
        let smallest = shrink(&scenario(), 10_000, needed);
        let expected = table([("numbers", vec![Value::Integer(7)].into()), ("bytes", 1234.into())]);
        assert_eq!(smallest, expected);
    }

    #[test]
    fn shrinking_asks_at_most_as_often_as_allowed() {
        let mut asked = 0;
        let all = scenario();
        let same = shrink(&all, 5, |_| {
            asked += 1;
            false
        });
        assert_eq!((asked, same), (5, all));
    }
}
