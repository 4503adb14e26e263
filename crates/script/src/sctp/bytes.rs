//! Converts elements to bytes and back.

use super::item::{Item, Value, split};
use super::shape::{Family, Field, Form, Shape};

/// Bytes of type, flags and length.
const HEAD: usize = 4;

impl Item {
    /// Appends the element without padding. A value that the script leaves open is empty, or zeros up to the length that
    /// the script gives.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let kind = self.kind().unwrap_or(0);
        let flags = self.fields().find(|(field, _)| matches!(field.form, Form::Flags(_)));
        match (self.shape.family, flags) {
            (Family::Chunk, Some((_, Value::Number(flags)))) => out.extend([kind as u8, *flags as u8]),
            (Family::Chunk, _) => out.extend([kind as u8, 0]),
            _ => out.extend(kind.to_be_bytes()),
        }
        out.extend([0; 2]);
        for (index, (field, value)) in self.fields().enumerate() {
            put(field, value, self.values.get(index + 1), out);
        }
        let length = match self.value(Form::Length) {
            Some(Value::Number(length)) => {
                let filled = (out.len() - start).max(*length as usize);
                out.resize(start + filled, 0);
                *length as u16
            }
            _ => (out.len() - start) as u16,
        };
        out[start + 2..start + HEAD].copy_from_slice(&length.to_be_bytes());
    }

    /// Reads an element by the shape of its type, or as the generic element.
    pub(crate) fn read_by_kind(family: Family, bytes: &[u8]) -> Option<Self> {
        let head = [*bytes.first()?, *bytes.get(1)?];
        let kind = if family == Family::Chunk { u16::from(head[0]) } else { u16::from_be_bytes(head) };
        let shapes = family.shapes();
        Self::read(family.of_kind(kind), bytes).or_else(|| Self::read(&shapes[shapes.len() - 1], bytes))
    }

    /// Reads an element of this shape. `bytes` are the whole element without padding. Returns
    /// `None` if they do not fit the shape.
    pub(crate) fn read(shape: &'static Shape, bytes: &[u8]) -> Option<Self> {
        let (head, value) = bytes.split_first_chunk::<HEAD>()?;
        let kind = match shape.family {
            Family::Chunk => u16::from(head[0]),
            Family::Parameter | Family::Cause => u16::from_be_bytes([head[0], head[1]]),
        };
        if shape.kind.is_some_and(|known| known != kind) {
            return None;
        }
        let mut reader = Reader { left: value, counts: [0; 2] };
        let mut values = Vec::with_capacity(shape.fields.len());
        for field in shape.fields {
            values.push(match field.form {
                Form::Kind => Value::Number(kind.into()),
                Form::Flags(_) => Value::Number(head[1].into()),
                Form::Length => Value::Number(u16::from_be_bytes([head[2], head[3]]).into()),
                form => reader.value(form)?,
            });
        }
        reader.left.is_empty().then(|| Self { shape, values, bytes: bytes.to_vec() })
    }
}

fn put(field: &Field, value: &Value, next: Option<&Value>, out: &mut Vec<u8>) {
    match (field.form, value) {
        (Form::Kind | Form::Flags(_) | Form::Length | Form::Payload, _) => {}
        (Form::Reserved, _) => out.extend([0; 2]),
        (Form::U16, Value::Number(number)) => out.extend((*number as u16).to_be_bytes()),
        (_, Value::Number(number)) => out.extend(number.to_be_bytes()),
        (_, Value::Bytes(bytes)) => out.extend(bytes),
        (form, Value::Pairs(pairs)) => {
            if form == Form::Gaps {
                out.extend((pairs.len() as u16).to_be_bytes());
                let duplicates = if let Some(Value::Numbers(numbers)) = next { numbers.len() } else { 0 };
                out.extend((duplicates as u16).to_be_bytes());
            }
            for (first, second) in pairs {
                out.extend(first.to_be_bytes());
                out.extend(second.to_be_bytes());
            }
        }
        (Form::ChunkTypes, Value::Numbers(numbers)) => out.extend(numbers.iter().map(|number| *number as u8)),
        (Form::Duplicates, Value::Numbers(numbers)) => {
            numbers.iter().for_each(|number| out.extend(number.to_be_bytes()));
        }
        (form, Value::Numbers(numbers)) => {
            if form == Form::CountedTypes {
                out.extend((numbers.len() as u32).to_be_bytes());
            }
            numbers.iter().for_each(|number| out.extend((*number as u16).to_be_bytes()));
        }
        (_, Value::Items(items, _)) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.resize(out.len().next_multiple_of(4), 0);
                }
                item.emit(out);
            }
        }
        (_, Value::Any) => {}
    }
}

/// The unread rest of an element's value.
struct Reader<'a> {
    left: &'a [u8],
    /// Number of gaps and of duplicates that follow.
    counts: [usize; 2],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.left.split_at_checked(count)?;
        self.left = rest;
        Some(first)
    }

    fn number(&mut self, bytes: usize) -> Option<u32> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn numbers(&mut self, bytes: usize, count: usize) -> Option<Value> {
        (0..count).map(|_| self.number(bytes)).collect::<Option<_>>().map(Value::Numbers)
    }

    fn pairs(&mut self, count: usize) -> Option<Value> {
        let pair = |reader: &mut Self| Some((reader.number(2)? as u16, reader.number(2)? as u16));
        (0..count).map(|_| pair(self)).collect::<Option<_>>().map(Value::Pairs)
    }

    fn value(&mut self, form: Form) -> Option<Value> {
        let rest = self.left.len();
        match form {
            Form::U16 | Form::Reserved => self.number(2).map(Value::Number),
            Form::U32 | Form::Tag | Form::OwnTsn | Form::OtherTsn | Form::OwnStamp | Form::OtherStamp => {
                self.number(4).map(Value::Number)
            }
            Form::Gaps => {
                self.counts = [self.number(2)? as usize, self.number(2)? as usize];
                self.pairs(self.counts[0])
            }
            Form::Duplicates => self.numbers(4, self.counts[1]),
            Form::Ipv4 => self.take(4).map(|octets| Value::Bytes(octets.to_vec())),
            Form::Ipv6 => self.take(16).map(|octets| Value::Bytes(octets.to_vec())),
            Form::Bytes | Form::Payload | Form::Text => self.take(rest).map(|bytes| Value::Bytes(bytes.to_vec())),
            Form::Types => self.numbers(2, rest / 2),
            Form::CountedTypes => {
                let count = self.number(4)? as usize;
                if count <= rest / 2 { self.numbers(2, count) } else { None }
            }
            Form::ChunkTypes => self.numbers(1, rest),
            Form::Streams => self.pairs(rest / 4),
            Form::List(family) | Form::Named(family) | Form::One(family) => {
                let bytes = self.take(rest)?;
                split(family, bytes).map(|items| Value::Items(items, false))
            }
            Form::Kind | Form::Flags(_) | Form::Length => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Every shape with values of every short length: the elements read, and whether the same bytes
    /// are written again.
    #[test]
    fn sctp_elements_of_every_length_match_their_golden() {
        let mut text = String::new();
        for family in [Family::Chunk, Family::Parameter, Family::Cause] {
            for shape in family.shapes() {
                let kind = shape.kind.unwrap_or(0x3f).to_be_bytes();
                let head = if family == Family::Chunk { [kind[1], 3] } else { kind };
                let mut own = 0;
                for length in 0..=28_u8 {
                    // A long value contains another element with a length of 5, 6 or 8, and counts
                    // of 1 and 0 in a SACK.
                    for fill in [[0, 1, 0, 5], [0, 5, 0, 8], [0, 12, 0, 6], [0, 0, 0, 1], [9, 9, 9, 9]] {
                        let value: Vec<u8> = (0..length).map(|at| fill[usize::from(at % 4)]).collect();
                        let bytes = [&head[..], &[0, length + 4], &value].concat();
                        let item = Item::read_by_kind(family, &bytes).expect("the generic element takes any bytes");
                        own += u32::from(item.shape == shape);
                        let mut again = Vec::new();
                        item.emit(&mut again);
                        let same = if again == bytes { "" } else { " other bytes" };
                        writeln!(text, "{} {length}: {:?}{same}", item.shape.name, item.values).unwrap();
                    }
                }
                writeln!(text, "{}: {own} of its own shape", shape.name).unwrap();
            }
        }
        for bytes in [&[][..], &[1], &[1, 0, 0]] {
            assert_eq!(Item::read_by_kind(Family::Chunk, bytes), None, "{bytes:?}");
        }
        let mut digests = String::new();
        for line in text.lines().filter(|line| line.ends_with("of its own shape")) {
            writeln!(digests, "{line}").unwrap();
        }
        writeln!(digests, "all of it: {}", eifel_testkit::digest(&text)).unwrap();
        eifel_testkit::golden!("elements.txt", digests);
    }

    /// Lists with a count, and lists up to the end, by hand.
    #[test]
    fn lists_hold_any_number_of_elements() {
        let mut reader = Reader { left: &[0, 0, 0, 2, 0, 7, 0, 8], counts: [0; 2] };
        assert_eq!(reader.value(Form::CountedTypes), Some(Value::Numbers(vec![7, 8])));
        let mut short = Reader { left: &[0, 0, 0, 3, 0, 7, 0, 8], counts: [0; 2] };
        assert_eq!(short.value(Form::CountedTypes), None);
        let mut many = Reader { left: &[0xff, 0xff, 0xff, 0xff, 0, 7], counts: [0; 2] };
        assert_eq!(many.value(Form::CountedTypes), None);
        let of = |form, left| Reader { left, counts: [0; 2] }.value(form);
        assert_eq!(of(Form::Types, &[0, 5, 0, 6]), Some(Value::Numbers(vec![5, 6])));
        assert_eq!(of(Form::ChunkTypes, &[5, 6]), Some(Value::Numbers(vec![5, 6])));
        assert_eq!(of(Form::Streams, &[0, 1, 0, 2, 0, 3, 0, 4]), Some(Value::Pairs(vec![(1, 2), (3, 4)])));
    }
}
