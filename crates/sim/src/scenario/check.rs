//! Checks a tree of values against the shapes: unknown keys, missing keys, wrong types, ranges and
//! words. After the check every value fits its shape, so readers need no checks.

use super::algorithm;
use super::error::Fault;
use super::near;
use super::shape::{Key, Kind, Presence, Rule, Table, names};
use super::tree::{Entry, Node, Value};

/// Returns the path of `key` inside the table at `path`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Checks that the node is a table of this shape. `tag` is the key that selected the shape, if any.
pub(super) fn table(node: &Node, shape: &'static Table, tag: Option<&str>, path: &str) -> Result<(), Fault> {
    let Value::Table(entries) = &node.value else { return Err(wrong_type(node, &Kind::Table(shape), path)) };
    for entry in entries {
        if tag == Some(entry.key.as_str()) {
            continue;
        }
        match shape.key(&entry.key) {
            Some(key) => value(&entry.node, &key.kind, &join(path, key.name))?,
            None => return Err(unknown_key(entry, shape, tag, path)),
        }
    }
    for rule in shape.rules {
        apply(rule, entries, node.line, path)?;
    }
    let present = |key: &Key| entries.iter().any(|entry| entry.key == key.name);
    match shape.keys.iter().find(|key| matches!(key.presence, Presence::Required) && !present(key)) {
        Some(key) => Err(Fault::new(node.line, join(path, key.name), "missing").allowed(key.kind.allowed(key.name))),
        None => Ok(()),
    }
}

fn value(node: &Node, kind: &'static Kind, path: &str) -> Result<(), Fault> {
    match (kind, &node.value) {
        (Kind::Integer { minimum, maximum }, Value::Integer(_) | Value::Float(_)) => match whole(&node.value) {
            Some(number) if number < *minimum => Err(refused(node, kind, path, "too small")),
            Some(number) if number > *maximum => Err(refused(node, kind, path, "too large")),
            Some(_) => Ok(()),
            None => Err(refused(node, kind, path, "not whole")),
        },
        (Kind::Number { .. } | Kind::Positive { .. }, Value::Integer(_) | Value::Float(_)) => {
            let number = real(&node.value).unwrap_or(f64::NAN);
            let (too_small, maximum) = match kind {
                Kind::Number { minimum, maximum } => (number < *minimum, *maximum),
                Kind::Positive { maximum } => (number <= 0.0, *maximum),
                _ => (false, f64::MAX),
            };
            match () {
                () if number.is_nan() => Err(refused(node, kind, path, "not a number")),
                () if too_small => Err(refused(node, kind, path, "too small")),
                () if number > maximum => Err(refused(node, kind, path, "too large")),
                () => Ok(()),
            }
        }
        (Kind::Switch, Value::Switch(_)) => Ok(()),
        (Kind::Text, Value::Text(text)) if !text.trim().is_empty() => Ok(()),
        (Kind::Name, Value::Text(text)) if is_name(text) => Ok(()),
        (Kind::Text | Kind::Name, Value::Text(text)) if text.trim().is_empty() => {
            Err(Fault::new(node.line, path, "empty").allowed(kind.allowed(last(path))))
        }
        (Kind::Word(words), Value::Text(word)) => match words.contains(&word.as_str()) {
            true => Ok(()),
            false => Err(Fault::new(node.line, path, near::unknown("word", word, words.iter().copied()))
                .allowed(kind.allowed(last(path)))),
        },
        (Kind::Table(shape), Value::Table(_)) => table(node, shape, None, path),
        (Kind::Tagged { tag, tables }, Value::Table(entries)) => {
            let shape = choose(node.line, entries, tag, tables, path)?;
            table(node, shape, Some(tag), path)
        }
        (Kind::List { of, at_least }, Value::List(items)) => {
            if items.len() < *at_least {
                let what = if items.is_empty() { "empty" } else { "too few" };
                return Err(Fault::new(node.line, path, what).allowed(kind.allowed(last(path))));
            }
            each(items, of, path)
        }
        (Kind::OneOrMore(of), Value::List(items)) if !items.is_empty() => each(items, of, path),
        (Kind::OneOrMore(of), Value::Table(_)) => value(node, of, path),
        (Kind::Either(kinds), _) => match kinds.iter().find(|kind| takes(kind, &node.value)) {
            // The error lists the values of all kinds, because each of them is allowed here.
            Some(meant @ Kind::Word(_)) => {
                value(node, meant, path).map_err(|fault| fault.allowed(kind.allowed(last(path))))
            }
            Some(meant) => value(node, meant, path),
            None => Err(wrong_type(node, kind, path)),
        },
        (Kind::Algorithm(seam), Value::Text(_) | Value::Table(_)) => algorithm::check(node, *seam, path),
        _ => Err(wrong_type(node, kind, path)),
    }
}

fn each(items: &[Node], of: &'static Kind, path: &str) -> Result<(), Fault> {
    items.iter().enumerate().try_for_each(|(index, item)| value(item, of, &format!("{path}[{index}]")))
}

/// Returns whether a value of this type is meant for this kind, even if its content is invalid.
fn takes(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::Integer { .. } | Kind::Number { .. } | Kind::Positive { .. } => {
            matches!(value, Value::Integer(_) | Value::Float(_))
        }
        Kind::Switch => matches!(value, Value::Switch(_)),
        Kind::Text | Kind::Name | Kind::Word(_) => matches!(value, Value::Text(_)),
        Kind::Table(_) | Kind::Tagged { .. } => matches!(value, Value::Table(_)),
        Kind::List { .. } => matches!(value, Value::List(_)),
        Kind::OneOrMore(of) => matches!(value, Value::List(_)) || takes(of, value),
        Kind::Either(kinds) => kinds.iter().any(|kind| takes(kind, value)),
        Kind::Algorithm(_) => matches!(value, Value::Text(_) | Value::Table(_)),
    }
}

/// Returns the table that the tag selects.
pub(super) fn choose(
    line: u32,
    entries: &[Entry],
    tag: &str,
    tables: &'static [Table],
    path: &str,
) -> Result<&'static Table, Fault> {
    let known = || tables.iter().map(|table| table.name);
    let allowed = || known().collect::<Vec<_>>().join(", ");
    let path = join(path, tag);
    match entries.iter().find(|entry| entry.key == tag) {
        None => Err(Fault::new(line, path, "missing").allowed(allowed())),
        Some(Entry { node: Node { line, value: Value::Text(word) }, .. }) => tables
            .iter()
            .find(|table| table.name == word)
            .ok_or_else(|| Fault::new(*line, path, near::unknown("word", word, known())).allowed(allowed())),
        Some(entry) => {
            Err(Fault::new(entry.line, path, format!("{} is not a word", entry.node.value.describe()))
                .allowed(allowed()))
        }
    }
}

/// Returns a whole number in any notation. Above 2^53 it must have no point and no exponent.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 => {
            Some(*number as i64)
        }
        _ => None,
    }
}

/// Returns a number in any notation.
pub(super) fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "._-:/()#".contains(c))
}

/// Returns the last key of a path, which carries the unit.
pub(super) fn last(path: &str) -> &str {
    let path = path.trim_end_matches(|c: char| c == ']' || c == '[' || c.is_ascii_digit());
    path.rsplit('.').next().unwrap_or(path)
}

fn refused(node: &Node, kind: &Kind, path: &str, why: &str) -> Fault {
    Fault::new(node.line, path, format!("{} is {why}", node.value.describe())).allowed(kind.allowed(last(path)))
}

fn wrong_type(node: &Node, kind: &Kind, path: &str) -> Fault {
    if let (Kind::List { of: Kind::Table(table), .. }, Value::Table(_)) = (kind, &node.value) {
        let what = format!("a single table where a list of them is meant: [[{}]]", last(path));
        return Fault::new(node.line, path, what).allowed(Kind::Table(table).allowed(last(path)));
    }
    let what = match kind {
        Kind::Integer { .. } => "not a whole number",
        Kind::Number { .. } | Kind::Positive { .. } => "not a number",
        Kind::Switch => "not a switch",
        Kind::Text => "not a text",
        Kind::Name => "not a name",
        Kind::Word(_) => "not a word",
        Kind::Table(_) | Kind::Tagged { .. } => "not a table",
        Kind::List { .. } => "not a list",
        Kind::OneOrMore(_) => "neither a table nor a list of tables",
        Kind::Either(_) => "not of a type that is meant here",
        Kind::Algorithm(_) => "neither an algorithm's name nor a table with its name",
    };
    refused(node, kind, path, what)
}

fn unknown_key(entry: &Entry, shape: &Table, tag: Option<&str>, path: &str) -> Fault {
    let known = || tag.into_iter().chain(shape.keys.iter().map(|key| key.name));
    let same = near::in_other_units(&entry.key, known());
    let what = match (same.as_slice(), near::nearest(&entry.key, known())) {
        ([], None) => "unknown key".to_owned(),
        ([], Some(near)) => format!("unknown key; nearest: {near}"),
        (same, _) => format!("unknown key; its unit here: {}", same.join(" or ")),
    };
    let allowed = tag.map_or(names(shape.keys), |tag| format!("{tag}, {}", names(shape.keys)));
    Fault::new(entry.line, join(path, &entry.key), what).allowed(allowed.trim_end_matches(", "))
}

fn apply(rule: &Rule, entries: &[Entry], line: u32, path: &str) -> Result<(), Fault> {
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    match rule {
        Rule::Needs(key, other) => match (find(key), find(other)) {
            (Some(entry), None) => {
                Err(Fault::new(entry.line, join(path, key), format!("makes no sense without {other}"))
                    .allowed(format!("{key} and {other} together")))
            }
            _ => Ok(()),
        },
        Rule::ExactlyOne(keys) | Rule::AtMostOne(keys) => {
            let given: Vec<&Entry> = keys.iter().filter_map(|key| find(key)).collect();
            match (given.as_slice(), rule) {
                ([], Rule::ExactlyOne(_)) => {
                    Err(Fault::new(line, path, format!("missing: {}", keys.join(" or ")))
                        .allowed("exactly one of them"))
                }
                ([first, second, ..], _) => {
                    let later = if second.line >= first.line { second } else { first };
                    let what = format!("{} and {} contradict each other", first.key, second.key);
                    Err(Fault::new(later.line, join(path, &later.key), what)
                        .allowed(format!("one of {}", keys.join(", "))))
                }
                _ => Ok(()),
            }
        }
    }
}
