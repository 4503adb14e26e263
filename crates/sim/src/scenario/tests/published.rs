//! The published descriptions of the format: the JSON Schema, and the reference in the documents.

use super::super::format::SCENARIO;
use super::super::schema;
use super::super::shape::{Kind, Table};
use serde_json::Value;
use std::path::Path;

/// Returns every table of the format once.
fn tables() -> Vec<&'static Table> {
    fn follow(kind: &'static Kind, found: &mut Vec<&'static Table>) {
        match kind {
            Kind::Table(table) => enter(table, found),
            Kind::Tagged { tables, .. } => tables.iter().for_each(|table| enter(table, found)),
            Kind::List { of, .. } | Kind::OneOrMore(of) => follow(of, found),
            Kind::Either(kinds) => kinds.iter().for_each(|kind| follow(kind, found)),
            _ => {}
        }
    }
    fn enter(table: &'static Table, found: &mut Vec<&'static Table>) {
        if !found.iter().any(|other| core::ptr::eq(*other, table)) {
            found.push(table);
            table.keys.iter().for_each(|key| follow(&key.kind, found));
        }
    }
    let mut found = Vec::new();
    enter(&SCENARIO, &mut found);
    found
}

#[test]
fn every_key_is_in_the_reference() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    let text = std::fs::read_to_string(file).expect("the reference");
    let quoted = text.split('`').skip(1).step_by(2);
    let words: Vec<&str> = quoted.map(|word| word.trim_matches(['[', ']'])).collect();
    for table in tables() {
        for key in table.keys {
            assert!(
                words.contains(&key.name),
                "docs/reference/scenario.md does not describe `{}` of {}",
                key.name,
                table.name
            );
        }
    }
}

#[test]
fn rules_speak_of_keys_that_are_there() {
    use super::super::shape::Rule;
    for table in tables() {
        for rule in table.rules {
            let keys = match rule {
                Rule::ExactlyOne(keys) | Rule::AtMostOne(keys) => keys.to_vec(),
                Rule::Needs(key, other) => vec![*key, *other],
            };
            for key in keys {
                assert!(table.key(key).is_some(), "{key} of {}", table.name);
            }
        }
    }
}

#[test]
fn the_schema_names_algorithms_and_says_what_keys_mean() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let recover = &schema["definitions"]["recover"]["anyOf"];
    assert!(recover[0]["enum"].as_array().expect("names").contains(&Value::from("newreno-sack")));
    let rto = &schema["definitions"]["rto"]["anyOf"][1]["properties"];
    assert_eq!(rto["name"]["const"], "rfc6298");
    assert_eq!(rto["minimum_ms"]["type"], "number");
    assert_eq!(schema["properties"]["duration_s"]["exclusiveMinimum"], 0);
    assert_eq!(schema["required"], serde_json::json!(["duration_s", "flow"]));
    assert_eq!(
        schema["definitions"]["link"]["properties"]["queue"]["oneOf"][1]["properties"]["kind"]["const"],
        "drop-tail"
    );
    for (name, definition) in schema["definitions"].as_object().expect("definitions") {
        assert!(definition.is_object(), "{name} is defined");
    }
}

#[test]
fn table_names_are_unique_among_definitions() {
    // Tables that a tag selects are defined in place, so their names may repeat.
    let names: Vec<&str> = tables().iter().map(|table| table.name).collect();
    let tagged =
        ["request-response", "random", "unlimited", "drop-tail", "red", "adaptive-red", "bulk", "cbr", "on-off"];
    for (index, name) in names.iter().enumerate() {
        assert!(tagged.contains(name) || !names[..index].contains(name), "{name}");
    }
}
