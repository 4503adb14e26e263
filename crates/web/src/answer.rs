//! The byte format of an answer.

use eifel_sim::record::Columns;
use eifel_sim::record::column::Column;
use serde_json::{Value, json};

/// Columns begin at a multiple of this many bytes, as a page's typed arrays require.
const ALIGNED: usize = 8;

/// A JSON object, and columns that its members describe. The bytes are the object's length (four
/// bytes, little-endian), the object, and the columns from the next multiple of eight. The
/// description of a column has `name`, `kind` (`f64`, `i32`, `u16`, `u8`), `at` (bytes from the
/// start of the answer) and `length`.
#[derive(Debug, Default)]
pub struct Answer {
    object: serde_json::Map<String, Value>,
    columns: Vec<u8>,
}

impl Answer {
    /// Makes an answer from a JSON object.
    pub fn of(object: Value) -> Self {
        match object {
            Value::Object(object) => Self { object, columns: Vec::new() },
            other => Self::of(json!({ "value": other })),
        }
    }

    /// Makes the answer to a failed request.
    pub fn error(message: impl ToString) -> Self {
        Self::of(json!({ "error": message.to_string() }))
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.object.insert(name.to_owned(), value);
        self
    }

    /// Adds a table of a run's record.
    pub fn table(&mut self, name: &str, columns: Columns) {
        let mut described = Vec::new();
        for (name, column) in columns {
            described.push(match column {
                // A page computes in floating point, which is exact for the nanoseconds of a
                // hundred days.
                Column::Integers(values) => self.reals(name, values.into_iter().map(|value| value as f64)),
                Column::Small(values) => {
                    self.column(name, "i32", values.len(), values.iter().flat_map(|value| value.to_le_bytes()))
                }
                Column::Codes(values) => self.column(name, "u8", values.len(), values),
                Column::WideCodes(values) => {
                    self.column(name, "u16", values.len(), values.iter().flat_map(|value| value.to_le_bytes()))
                }
                Column::Flags(values) => self.column(name, "u8", values.len(), values.into_iter().map(u8::from)),
            });
        }
        let tables = self.object.entry("tables").or_insert_with(|| json!({}));
        tables[name] = Value::from(described);
    }

    /// Adds a column of real numbers. Returns its description.
    pub fn reals(&mut self, name: &str, values: impl ExactSizeIterator<Item = f64>) -> Value {
        self.column(name, "f64", values.len(), values.flat_map(f64::to_le_bytes))
    }

    /// Adds bytes. Returns their description.
    pub fn bytes(&mut self, name: &str, bytes: Vec<u8>) -> Value {
        self.column(name, "u8", bytes.len(), bytes)
    }

    fn column(&mut self, name: &str, kind: &str, length: usize, bytes: impl IntoIterator<Item = u8>) -> Value {
        self.columns.resize(self.columns.len().next_multiple_of(ALIGNED), 0);
        let at = self.columns.len();
        self.columns.extend(bytes);
        json!({ "name": name, "kind": kind, "at": at, "length": length })
    }

    pub fn into_bytes(self) -> Vec<u8> {
        let object = Value::Object(self.object).to_string();
        let mut bytes = Vec::with_capacity(4 + object.len() + ALIGNED + self.columns.len());
        bytes.extend((object.len() as u32).to_le_bytes());
        bytes.extend(object.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(ALIGNED), b' ');
        bytes.extend(self.columns);
        bytes
    }
}
