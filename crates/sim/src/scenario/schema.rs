//! The JSON Schema (draft 7) of a scenario, for editors: keys, types, ranges, words and meanings.

use super::algorithm;
use super::format;
use super::near;
use super::shape::{Fallback, Key, Kind, Presence, Rule, Table};
use eifel_recovery::registry::{self, Seam};
use serde_json::{Map, Value, json};

/// Returns the schema as JSON text.
pub fn schema() -> String {
    let mut definitions = Definitions(Map::new());
    let Value::Object(mut root) = definitions.table(&format::SCENARIO, None) else { return String::new() };
    root.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    root.insert("title".to_owned(), json!("eifel scenario"));
    root.insert("definitions".to_owned(), Value::Object(definitions.0));
    format!("{:#}\n", Value::Object(root))
}

/// The definitions of the tables and seams seen so far, by name.
struct Definitions(Map<String, Value>);

impl Definitions {
    fn table(&mut self, table: &'static Table, tag: Option<&str>) -> Value {
        let mut properties: Map<String, Value> = Map::new();
        let mut required: Vec<&str> = Vec::new();
        if let Some(tag) = tag {
            properties.insert(tag.to_owned(), json!({ "const": table.name, "description": table.summary }));
            required.push(tag);
        }
        for key in table.keys {
            properties.insert(key.name.to_owned(), self.key(key));
            if matches!(key.presence, Presence::Required) {
                required.push(key.name);
            }
        }
        let rules: Vec<Value> = table.rules.iter().flat_map(rule).collect();
        let mut object = json!({
            "type": "object",
            "description": table.summary,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        if !rules.is_empty() {
            object["allOf"] = Value::Array(rules);
        }
        object
    }

    fn key(&mut self, key: &'static Key) -> Value {
        let unit = near::unit_of(key.name).map_or(String::new(), |unit| format!(" A number {unit}."));
        let mut described = json!({ "description": format!("{}{unit}", key.summary) });
        match self.kind(&key.kind) {
            // Draft 7 ignores the keys next to a reference.
            reference @ Value::Object(_) if reference.get("$ref").is_some() => described["allOf"] = json!([reference]),
            Value::Object(kind) => {
                for (name, value) in kind {
                    described[name] = value;
                }
            }
            _ => {}
        }
        if let Presence::Default(fallback) = key.presence {
            described["default"] = match fallback {
                Fallback::Integer(value) => json!(value),
                Fallback::Number(value) => json!(value),
                Fallback::Switch(value) => json!(value),
                Fallback::Word(value) => json!(value),
            };
        }
        described
    }

    fn kind(&mut self, kind: &'static Kind) -> Value {
        match kind {
            Kind::Integer { minimum, maximum: i64::MAX } => json!({ "type": "integer", "minimum": minimum }),
            Kind::Integer { minimum, maximum } => json!({ "type": "integer", "minimum": minimum, "maximum": maximum }),
            Kind::Number { minimum, maximum } => json!({ "type": "number", "minimum": minimum, "maximum": maximum }),
            Kind::Positive { maximum } => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": maximum }),
            Kind::Switch => json!({ "type": "boolean" }),
            Kind::Text | Kind::Name => json!({ "type": "string", "minLength": 1 }),
            Kind::Word(words) => json!({ "enum": words }),
            Kind::Table(table) => self.reference(table.name, |all| all.table(table, None)),
            Kind::Tagged { tag, tables } => {
                let each: Vec<Value> = tables.iter().map(|table| self.table(table, Some(tag))).collect();
                json!({ "oneOf": each })
            }
            Kind::List { of, at_least } => json!({ "type": "array", "items": self.kind(of), "minItems": at_least }),
            Kind::OneOrMore(of) => {
                let one = self.kind(of);
                json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
            }
            Kind::Either(kinds) => {
                let each: Vec<Value> = kinds.iter().map(|kind| self.kind(kind)).collect();
                json!({ "anyOf": each })
            }
            Kind::Algorithm(seam) => self.reference(seam.name(), |_| algorithms(*seam)),
        }
    }

    fn reference(&mut self, name: &str, define: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.0.contains_key(name) {
            // The name is reserved during the definition, in case the definition refers to itself.
            self.0.insert(name.to_owned(), Value::Null);
            let definition = define(self);
            self.0.insert(name.to_owned(), definition);
        }
        json!({ "$ref": format!("#/definitions/{name}") })
    }
}

/// Returns the schema's form of a rule between keys.
fn rule(rule: &Rule) -> Vec<Value> {
    match rule {
        Rule::Needs(key, other) => vec![json!({ "dependencies": { *key: [other] } })],
        Rule::ExactlyOne(keys) => {
            let each: Vec<Value> = keys.iter().map(|key| json!({ "required": [key] })).collect();
            vec![json!({ "oneOf": each })]
        }
        Rule::AtMostOne(keys) => {
            let pairs = keys.iter().enumerate().flat_map(|(index, first)| {
                keys[index + 1..].iter().map(move |second| json!({ "not": { "required": [first, second] } }))
            });
            pairs.collect()
        }
    }
}

/// Returns the schema of an algorithm of a seam: a name, or a table with a name and parameters.
fn algorithms(seam: Seam) -> Value {
    let mut each = vec![json!({ "enum": algorithm::names(seam) })];
    for entry in algorithm::of(seam) {
        let description = format!("{} ({})", entry.summary, entry.source);
        let mut properties: Map<String, Value> = Map::new();
        properties.insert("name".to_owned(), json!({ "const": entry.name, "description": description }));
        for parameter in entry.parameters {
            properties.insert(parameter.name.to_owned(), parameter_schema(parameter));
        }
        each.push(json!({
            "type": "object",
            "description": description,
            "properties": properties,
            "required": ["name"],
            "additionalProperties": false,
        }));
    }
    json!({ "anyOf": each })
}

fn parameter_schema(parameter: &registry::Parameter) -> Value {
    let mut schema = match parameter.kind {
        registry::Kind::Integer { default, minimum, maximum } => {
            json!({ "type": "integer", "default": default, "minimum": minimum, "maximum": maximum })
        }
        registry::Kind::Milliseconds { default, minimum, maximum } => json!({
            "type": "number",
            "default": algorithm::milliseconds(default),
            "minimum": algorithm::milliseconds(minimum),
            "maximum": algorithm::milliseconds(maximum),
        }),
        registry::Kind::Switch { default } => json!({ "type": "boolean", "default": default }),
        registry::Kind::Word { default, allowed } => json!({ "enum": allowed, "default": default }),
    };
    schema["description"] = json!(parameter.summary);
    schema
}
