//! Reads packets: `sctp(tag=N): CHUNK[…]; CHUNK[…]`, and ICMP messages about packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::icmp;
use crate::error::{Fault, shown};
use crate::parse::cursor::Cursor;
use crate::parse::lexer::Kind;
use crate::script::Traffic;
use crate::sctp::item::{Item, Value};
use crate::sctp::packet::{Body, Packet};
use crate::sctp::shape::{Family, Field, Form, Shape};

/// Deepest nesting of elements.
const DEEPEST: u32 = 8;
/// The most bytes that an element may have.
const LONGEST: u64 = 65_535;

/// Reads a packet of the peer or an ICMP message, after `<`.
pub(crate) fn arriving(cursor: &mut Cursor<'_>) -> Result<Traffic, Fault> {
    let place = cursor.place();
    let addresses = addresses(cursor)?;
    if cursor.take_word("icmp") {
        return icmp::read(cursor, addresses.map(|(_, to)| to)).map(Traffic::Icmp);
    }
    let packet = packet(cursor, addresses)?;
    if let Body::Chunks(chunks, open) = &packet.body
        && (*open || !chunks.iter().all(is_complete))
    {
        let expected = "a number for each field: only lengths and values of cookies and heartbeats may be \"...\"";
        return Err(Fault::new(place, "a packet that arrives has an unspecified field", expected));
    }
    Ok(Traffic::Sctp(packet))
}

/// Reads a packet of the association, after `>`.
pub(crate) fn leaving(cursor: &mut Cursor<'_>) -> Result<Packet, Fault> {
    let addresses = addresses(cursor)?;
    packet(cursor, addresses)
}

fn is_complete(item: &Item) -> bool {
    item.fields().all(|(field, value)| match (field.form, value) {
        (Form::Length | Form::Bytes | Form::Payload | Form::Reserved, _) => true,
        (_, Value::Any) => false,
        (_, Value::Items(items, open)) => !open && items.iter().all(is_complete),
        _ => true,
    })
}

/// Reads `A > B`, if it is written. packetdrill's `ipv4 A > B:` means the same.
fn addresses(cursor: &mut Cursor<'_>) -> Result<Option<(IpAddr, IpAddr)>, Fault> {
    let named = cursor.take_word("ipv4") || cursor.take_word("ipv6");
    if !named && matches!(cursor.kind(), Kind::Word(word) if word == "sctp" || word == "icmp") {
        return Ok(None);
    }
    let from = address(cursor)?;
    cursor.need('>')?;
    let to = address(cursor)?;
    if named {
        cursor.need(':')?;
    }
    Ok(Some((from, to)))
}

/// Reads an address, whose parts are words, numbers, dots and colons.
fn address(cursor: &mut Cursor<'_>) -> Result<IpAddr, Fault> {
    let (place, begin) = (cursor.place(), cursor.start());
    let mut text = String::new();
    while text.parse::<Ipv4Addr>().is_err() && text.parse::<Ipv6Addr>().is_err() || continues(cursor, begin, &text) {
        let fits = matches!(cursor.kind(), Kind::Word(_) | Kind::Integer(_) | Kind::Decimal(_) | Kind::Mark(':' | '.'));
        if !fits || text.len() > 64 {
            return Err(Fault::new(
                place,
                format!("\"{}\" is not an address", shown(&text)),
                "an address and its packet",
            ));
        }
        cursor.next();
        text = cursor.text_since(begin).to_owned();
    }
    text.parse().map_err(|_| Fault::new(place, "no address", "an address of IPv4 or IPv6"))
}

/// Returns whether the next token continues an IPv6 address: it follows without a blank.
fn continues(cursor: &Cursor<'_>, begin: usize, text: &str) -> bool {
    cursor.start() == begin + text.len()
        && text.contains(':')
        && matches!(cursor.kind(), Kind::Word(_) | Kind::Integer(_) | Kind::Mark(':'))
}

fn packet(cursor: &mut Cursor<'_>, addresses: Option<(IpAddr, IpAddr)>) -> Result<Packet, Fault> {
    if !cursor.take_word("sctp") {
        return Err(cursor.unfit("sctp: and chunks"));
    }
    let (mut tag, mut bad_checksum) = (None, false);
    if cursor.take('(') {
        loop {
            if cursor.take_word("bad_crc32c") {
                bad_checksum = true;
            } else if cursor.take_word("tag") {
                cursor.need('=')?;
                tag = Some(cursor.number("the verification tag", u32::MAX.into())?);
            } else {
                return Err(cursor.unfit("tag=N or bad_crc32c"));
            }
            if cursor.take(')') {
                break;
            }
            cursor.need(',')?;
        }
    }
    cursor.need(':')?;
    let body = if cursor.kind() == &Kind::Mark('[') { Body::Bytes(bytes(cursor)?) } else { chunks(cursor)? };
    Ok(Packet { tag, bad_checksum, addresses, body })
}

fn chunks(cursor: &mut Cursor<'_>) -> Result<Body, Fault> {
    let mut found = Vec::new();
    loop {
        if cursor.kind() == &Kind::Ellipsis {
            cursor.next();
            return Ok(Body::Chunks(found, true));
        }
        found.push(element(cursor, Family::Chunk, DEEPEST)?);
        if !cursor.take(';') {
            return Ok(Body::Chunks(found, false));
        }
    }
}

/// Reads `NAME[field=value, …]`.
fn element(cursor: &mut Cursor<'_>, family: Family, depth: u32) -> Result<Item, Fault> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Fault::new(cursor.place(), "nested too deep", format!("at most {DEEPEST} levels")));
    };
    let shape = match cursor.kind() {
        Kind::Word(name) => family.named(name),
        _ => None,
    };
    let shape = shape.ok_or_else(|| cursor.unfit(&family.names()))?;
    cursor.next();
    cursor.need('[')?;
    if cursor.kind() == &Kind::Ellipsis && !shape.fields.is_empty() {
        cursor.next();
        cursor.need(']')?;
        return Ok(Item { shape, values: vec![Value::Any; shape.fields.len()], bytes: Vec::new() });
    }
    let mut values = Vec::new();
    let mut first = true;
    for field in shape.fields {
        values.push(match field.form {
            Form::Payload | Form::Reserved => Value::Any,
            Form::List(family) => {
                let more = first || cursor.take(',');
                if more { list(cursor, family, depth)? } else { Value::Items(Vec::new(), false) }
            }
            _ => {
                if !first {
                    cursor.need(',')?;
                }
                named(cursor, shape, field, depth)?
            }
        });
        first = false;
    }
    cursor.need(']')?;
    Ok(Item { shape, values, bytes: Vec::new() })
}

/// Reads elements up to the bracket that closes the list. Does not consume the bracket.
fn list(cursor: &mut Cursor<'_>, family: Family, depth: u32) -> Result<Value, Fault> {
    let mut items = Vec::new();
    if cursor.kind() == &Kind::Mark(']') {
        return Ok(Value::Items(items, false));
    }
    loop {
        if cursor.kind() == &Kind::Ellipsis {
            cursor.next();
            return Ok(Value::Items(items, true));
        }
        items.push(element(cursor, family, depth)?);
        if !cursor.take(',') {
            return Ok(Value::Items(items, false));
        }
    }
}

fn named(cursor: &mut Cursor<'_>, shape: &Shape, field: &Field, depth: u32) -> Result<Value, Fault> {
    if !cursor.take_word(field.name) {
        return Err(cursor.unfit(&format!("{}= of {}", field.name, shape.name)));
    }
    cursor.need('=')?;
    if cursor.kind() == &Kind::Ellipsis {
        cursor.next();
        return Ok(Value::Any);
    }
    let number = |cursor: &mut Cursor<'_>, most| cursor.number(field.name, most).map(Value::Number);
    match field.form {
        Form::Kind => kind(cursor, shape.family),
        Form::Flags(letters) => flags(cursor, letters),
        Form::Length | Form::U16 => number(cursor, LONGEST),
        Form::U32 | Form::Tag | Form::OwnTsn | Form::OtherTsn | Form::OwnStamp | Form::OtherStamp => {
            number(cursor, u32::MAX.into())
        }
        Form::Ipv4 | Form::Ipv6 => ip(cursor, field.form),
        Form::Text => text(cursor).map(|bytes| Value::Bytes([&bytes[..], &[0]].concat())),
        Form::One(family) => element(cursor, family, depth).map(|item| Value::Items(vec![item], false)),
        Form::Named(family) => {
            cursor.need('[')?;
            let items = list(cursor, family, depth)?;
            cursor.need(']')?;
            Ok(items)
        }
        Form::Bytes if cursor.kind() == &Kind::Text => text(cursor).map(Value::Bytes),
        Form::Bytes => open_or(cursor, |cursor| bytes(cursor).map(Value::Bytes)),
        Form::Gaps => open_or(cursor, |cursor| pairs(cursor, |cursor| pair(cursor, ':'))),
        Form::Streams => open_or(cursor, |cursor| {
            pairs(cursor, |cursor| {
                cursor.need('{')?;
                let found = pair(cursor, ',')?;
                cursor.need('}').map(|()| found)
            })
        }),
        Form::Duplicates => open_or(cursor, |cursor| numbers(cursor, u32::MAX.into())),
        Form::ChunkTypes => open_or(cursor, |cursor| {
            let number = |cursor: &mut Cursor<'_>| kind(cursor, Family::Chunk);
            let kinds = bracketed(cursor, number)?.into_iter().filter_map(|kind| match kind {
                Value::Number(kind) => Some(kind),
                _ => None,
            });
            Ok(Value::Numbers(kinds.collect()))
        }),
        Form::Types | Form::CountedTypes => open_or(cursor, |cursor| numbers(cursor, LONGEST)),
        Form::Payload | Form::Reserved | Form::List(_) => unreachable!("these have no name"),
    }
}

/// Reads `[...]`, or a list with `read`, which starts at the bracket.
fn open_or(
    cursor: &mut Cursor<'_>,
    read: impl FnOnce(&mut Cursor<'_>) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    if cursor.kind() == &Kind::Mark('[') && cursor.follows(&Kind::Ellipsis) {
        cursor.next();
        cursor.next();
        cursor.need(']')?;
        return Ok(Value::Any);
    }
    read(cursor)
}

/// Reads `[item, …]`.
fn bracketed<T>(
    cursor: &mut Cursor<'_>,
    mut item: impl FnMut(&mut Cursor<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    cursor.need('[')?;
    let mut found = Vec::new();
    while !cursor.take(']') {
        if !found.is_empty() {
            cursor.need(',')?;
        }
        if found.len() == LONGEST as usize {
            return Err(cursor.unfit("a list that fits a packet"));
        }
        found.push(item(cursor)?);
    }
    Ok(found)
}

fn bytes(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Fault> {
    bracketed(cursor, |cursor| cursor.number("a byte", u8::MAX.into()))
}

fn pair(cursor: &mut Cursor<'_>, between: char) -> Result<(u16, u16), Fault> {
    let first = cursor.number("the first number of a pair", LONGEST)?;
    cursor.need(between)?;
    Ok((first, cursor.number("the second number of a pair", LONGEST)?))
}

fn pairs(
    cursor: &mut Cursor<'_>,
    pair: impl FnMut(&mut Cursor<'_>) -> Result<(u16, u16), Fault>,
) -> Result<Value, Fault> {
    bracketed(cursor, pair).map(Value::Pairs)
}

fn numbers(cursor: &mut Cursor<'_>, most: u64) -> Result<Value, Fault> {
    let number = |cursor: &mut Cursor<'_>| {
        // The types of address parameters, and the parameter that an INIT ACK must have.
        for (word, kind) in [("IPv4", 5), ("IPv6", 6), ("HOSTNAME", 11), ("STATE_COOKIE", 7)] {
            if cursor.take_word(word) {
                return Ok(kind);
            }
        }
        cursor.number("a number", most)
    };
    bracketed(cursor, number).map(Value::Numbers)
}

/// Reads a type: a number, or the name of an element.
fn kind(cursor: &mut Cursor<'_>, family: Family) -> Result<Value, Fault> {
    let named = match cursor.kind() {
        Kind::Word(name) => family.named(name).and_then(|shape| shape.kind),
        _ => None,
    };
    if let Some(kind) = named {
        cursor.next();
        return Ok(Value::Number(kind.into()));
    }
    let most = if family == Family::Chunk { u8::MAX.into() } else { LONGEST };
    cursor.number("the type", most).map(Value::Number)
}

/// Reads flags: a number, or letters.
fn flags(cursor: &mut Cursor<'_>, letters: &[(char, u8)]) -> Result<Value, Fault> {
    let Kind::Word(word) = cursor.kind().clone() else {
        return cursor.number("the flags", u8::MAX.into()).map(Value::Number);
    };
    let mut flags = 0;
    for letter in word.chars() {
        let known = letters.iter().find(|(known, _)| *known == letter).map(|(_, bit)| u32::from(*bit));
        let letters: String = letters.iter().map(|(letter, _)| *letter).collect();
        flags |= known.ok_or_else(|| cursor.unfit(&format!("a number, or flags out of \"{letters}\"")))?;
    }
    cursor.next();
    Ok(Value::Number(flags))
}

fn ip(cursor: &mut Cursor<'_>, form: Form) -> Result<Value, Fault> {
    let place = cursor.place();
    match (address(cursor)?, form) {
        (IpAddr::V4(address), Form::Ipv4) => Ok(Value::Bytes(address.octets().to_vec())),
        (IpAddr::V6(address), Form::Ipv6) => Ok(Value::Bytes(address.octets().to_vec())),
        _ => Err(Fault::new(place, "an address of the other version", "one of the parameter's")),
    }
}

/// Reads a text in quotation marks.
fn text(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Fault> {
    let begin = cursor.start();
    if cursor.kind() != &Kind::Text {
        return Err(cursor.unfit("a text in quotation marks"));
    }
    cursor.next();
    Ok(cursor.text_since(begin).trim_matches('"').as_bytes().to_vec())
}
