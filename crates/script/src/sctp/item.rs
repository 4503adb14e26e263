//! A chunk, parameter or cause as a script writes it.

use core::fmt::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

use super::shape::{Family, Field, Form, Shape};

/// Most bytes of a value that are shown. A longer value is shown as `...`.
const MOST_SHOWN: usize = 16;

/// One element. It has a value for each field of its shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) shape: &'static Shape,
    pub(crate) values: Vec<Value>,
    /// Its bytes without padding; empty if it was not read from bytes.
    pub(crate) bytes: Vec<u8>,
}

/// The value of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// `...`: not compared.
    Any,
    Number(u32),
    /// Bytes, an address or a text.
    Bytes(Vec<u8>),
    Pairs(Vec<(u16, u16)>),
    Numbers(Vec<u32>),
    /// Elements, and whether more may follow.
    Items(Vec<Item>, bool),
}

impl Item {
    /// Returns the type on the wire; `None` if the script leaves it open.
    pub(crate) fn kind(&self) -> Option<u16> {
        self.shape.kind.or_else(|| match self.value(Form::Kind) {
            Some(Value::Number(kind)) => u16::try_from(*kind).ok(),
            _ => None,
        })
    }

    /// Returns the fields with their values.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static Field, &Value)> {
        self.shape.fields.iter().zip(&self.values)
    }

    /// Returns the value of the first field of this form.
    pub(crate) fn value(&self, form: Form) -> Option<&Value> {
        self.fields().find(|(field, _)| field.form == form).map(|(_, value)| value)
    }

    /// Changes the value of each field, including those of nested elements.
    pub(crate) fn change(&mut self, change: &mut impl FnMut(Form, &mut Value)) {
        for (field, value) in self.shape.fields.iter().zip(&mut self.values) {
            change(field.form, value);
            if let Value::Items(items, _) = value {
                items.iter_mut().for_each(|item| item.change(change));
            }
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.shape.name)?;
        let mut parts = Vec::new();
        for (field, value) in self.fields() {
            let text = shown(field.form, value);
            match (field.form, field.name) {
                (Form::Reserved | Form::Payload, _) => {}
                (_, "") if text.is_empty() => {}
                (_, "") => parts.push(text),
                (_, name) => parts.push(format!("{name}={text}")),
            }
        }
        write!(f, "{}]", parts.join(", "))
    }
}

/// Writes a value as a script does.
pub(crate) fn shown(form: Form, value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match (form, value) {
        (_, Value::Any) => "...".into(),
        (Form::Flags(letters), Value::Number(flags)) => flags_shown(letters, *flags),
        (Form::Kind, Value::Number(kind)) => format!("{kind:#04x}"),
        (_, Value::Number(number)) => number.to_string(),
        (Form::Ipv4, Value::Bytes(bytes)) => {
            <[u8; 4]>::try_from(bytes.as_slice()).map_or("...".into(), |octets| Ipv4Addr::from(octets).to_string())
        }
        (Form::Ipv6, Value::Bytes(bytes)) => {
            <[u8; 16]>::try_from(bytes.as_slice()).map_or("...".into(), |octets| Ipv6Addr::from(octets).to_string())
        }
        (Form::Text, Value::Bytes(bytes)) => {
            let text: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
            format!("\"{}\"", text.escape_ascii())
        }
        (_, Value::Bytes(bytes)) if bytes.len() > MOST_SHOWN => "...".into(),
        (_, Value::Bytes(bytes)) => format!("[{}]", joined(bytes.iter().map(|byte| format!("{byte:#04x}")).collect())),
        (Form::Streams, Value::Pairs(pairs)) => {
            format!("[{}]", joined(pairs.iter().map(|(a, b)| format!("{{{a},{b}}}")).collect()))
        }
        (_, Value::Pairs(pairs)) => format!("[{}]", joined(pairs.iter().map(|(a, b)| format!("{a}:{b}")).collect())),
        (_, Value::Numbers(numbers)) => format!("[{}]", joined(numbers.iter().map(u32::to_string).collect())),
        (form, Value::Items(items, open)) => {
            let mut parts: Vec<String> = items.iter().map(Item::to_string).collect();
            if *open {
                parts.push("...".into());
            }
            match form {
                Form::Named(_) => format!("[{}]", joined(parts)),
                _ => joined(parts),
            }
        }
    }
}

fn flags_shown(letters: &[(char, u8)], flags: u32) -> String {
    let known: u32 = letters.iter().map(|(_, bit)| u32::from(*bit)).sum();
    let mut text = String::new();
    for (letter, _) in letters.iter().filter(|(_, bit)| flags & u32::from(*bit) != 0) {
        let _ = text.write_char(*letter);
    }
    if flags & !known != 0 || text.is_empty() { flags.to_string() } else { text }
}

/// Reads consecutive elements, each padded to four bytes; `None` if one cannot be read.
pub(crate) fn split(family: Family, bytes: &[u8]) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    let mut left = bytes;
    while !left.is_empty() {
        let length = usize::from(u16::from_be_bytes([*left.get(2)?, *left.get(3)?]));
        let element = left.get(..length).filter(|_| length >= 4)?;
        items.push(Item::read_by_kind(family, element)?);
        left = left.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(items)
}
