//! Draws keys that the scenario format has gained. Each has draws of its own, so that it changes only
//! the cases that it joins, and no recorded case.

use super::{Put, Scale, table};
use crate::dice::Dice;
use toml::{Table, Value};

/// Adds newer keys to a whole case.
pub(super) fn add(dice: &Dice, scale: &Scale, top: &mut Table) {
    let on_links: [(&str, fn(&mut Dice, &Scale, &mut Table)); 2] =
        [("larger-than", loss_by_length), ("late_ms", lateness)];
    for (name, draw) in on_links {
        if let Some(mut dice) = dice.of_newcomer(name) {
            directions(top).into_iter().for_each(|link| {
                if dice.chance(0.15) {
                    draw(&mut dice, scale, link);
                }
            });
        }
    }
}

/// Returns the tables of all links, and of their ways back.
fn directions(top: &mut Table) -> Vec<&mut Table> {
    let mut found = Vec::new();
    for (key, value) in top.iter_mut() {
        let links = match value {
            Value::Table(link) if key == "point_to_point" => vec![link],
            Value::Array(links) if key == "link" => links.iter_mut().filter_map(Value::as_table_mut).collect(),
            _ => continue,
        };
        found.extend(links);
    }
    found
}

/// Adds loss by length to the losses of a link. A black hole lasts as long as the other
/// disturbances.
fn loss_by_length(dice: &mut Dice, scale: &Scale, link: &mut Table) {
    let longest = dice.scale(40, scale.payload + 100);
    let loss = table([("kind", "larger-than".into()), ("bytes", longest.into())]);
    match link.remove("loss") {
        Some(other) => link.put("loss", vec![other, loss.into()]),
        None => link.put("loss", loss),
    }
}

/// Makes packets late by time, in place of a reordering by count.
fn lateness(dice: &mut Dice, _: &Scale, link: &mut Table) {
    let longest = dice.scale_of_time(0.1, 5000.0);
    let late: Value = match dice.chance(0.5) {
        true => longest.into(),
        false => table([("uniform", vec![Value::from(0.0), longest.into()].into())]).into(),
    };
    link.put("reorder", table([("rate", dice.share(0.9).into()), ("late_ms", late)]));
}
