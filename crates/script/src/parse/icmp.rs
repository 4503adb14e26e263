//! Reads ICMP messages about segments: `icmp unreachable frag_needed mtu N [FIRST:END(LENGTH)]`.

use super::cursor::Cursor;
use super::lexer::Kind;
use crate::error::Fault;
use crate::script::SegmentError;
use eifel_packet::ip::Version;
use eifel_tcp::IcmpError;

/// A name of a message's type and code, and their numbers. The names are those of Google's
/// packetdrill, and others for codes that it calls `code_N`.
type Name = (&'static str, &'static str, u8, u8);

const OF_V4: [Name; 23] = [
    ("unreachable", "net_unreachable", 3, 0),
    ("unreachable", "host_unreachable", 3, 1),
    ("unreachable", "protocol_unreachable", 3, 2),
    ("unreachable", "port_unreachable", 3, 3),
    ("unreachable", "frag_needed", 3, 4),
    ("unreachable", "source_route_failed", 3, 5),
    ("unreachable", "net_unknown", 3, 6),
    ("unreachable", "host_unknown", 3, 7),
    ("unreachable", "source_host_isolated", 3, 8),
    ("unreachable", "net_prohibited", 3, 9),
    ("unreachable", "host_prohibited", 3, 10),
    ("unreachable", "net_unreachable_for_tos", 3, 11),
    ("unreachable", "host_unreachable_for_tos", 3, 12),
    ("unreachable", "packet_filtered", 3, 13),
    ("unreachable", "precedence_violation", 3, 14),
    ("unreachable", "precedence_cutoff", 3, 15),
    ("source_quench", "", 4, 0),
    ("redirect", "", 5, 0),
    ("time_exceeded", "ttl_exceeded_in_transit", 11, 0),
    ("time_exceeded", "frag_reass_exceeded", 11, 1),
    ("parameter_problem", "code_0", 12, 0),
    ("parameter_problem", "code_1", 12, 1),
    ("parameter_problem", "code_2", 12, 2),
];

/// RFC 4443, section 3.
const OF_V6: [Name; 14] = [
    ("unreachable", "no_route", 1, 0),
    ("unreachable", "admin_prohibited", 1, 1),
    ("unreachable", "not_neighbour", 1, 2),
    ("unreachable", "address_unreachable", 1, 3),
    ("unreachable", "addr_unreachable", 1, 3),
    ("unreachable", "port_unreachable", 1, 4),
    ("packet_too_big", "", 2, 0),
    ("time_exceeded", "exceeded_hop_limit", 3, 0),
    ("time_exceeded", "exceeded_frag_time", 3, 1),
    ("time_exceeded", "frag_reass_exceeded", 3, 1),
    ("parameter_problem", "header_field", 4, 0),
    ("parameter_problem", "erroneous_header", 4, 0),
    ("parameter_problem", "unknown_next_header", 4, 1),
    ("parameter_problem", "unknown_option", 4, 2),
];

/// Reads a message over IP of this version, behind `icmp`.
pub(super) fn read(cursor: &mut Cursor<'_>, version: Version) -> Result<SegmentError, Fault> {
    let names: &[Name] = if version == Version::V4 { &OF_V4 } else { &OF_V6 };
    let kinds = || {
        let mut kinds: Vec<_> = names.iter().map(|name| name.0).collect();
        kinds.dedup();
        kinds.join(", ")
    };
    let word = |cursor: &Cursor<'_>| match cursor.kind() {
        Kind::Word(word) => word.clone(),
        _ => String::new(),
    };
    let kind = word(cursor);
    let of_kind: Vec<&Name> = names.iter().filter(|name| name.0 == kind).collect();
    if of_kind.is_empty() {
        return Err(cursor.unfit(&format!("one of {}", kinds())));
    }
    cursor.next();
    let number = of_kind[0].2;
    let named = word(cursor);
    let code = match of_kind.iter().find(|name| !name.1.is_empty() && name.1 == named) {
        Some(name) => Some(name.3),
        None => named.strip_prefix("code_").and_then(|code| code.parse().ok()),
    };
    let code: u8 = match code {
        Some(code) => {
            cursor.next();
            code
        }
        // As in packetdrill, a message without a code has code 0.
        None if cursor.kind() == &Kind::Mark('[') || named == "mtu" => 0,
        None => {
            let codes: Vec<_> = of_kind.iter().map(|name| name.1).filter(|code| !code.is_empty()).collect();
            let known =
                if codes.is_empty() { "code_N".to_owned() } else { format!("one of {}, code_N", codes.join(", ")) };
            return Err(cursor.unfit(&known));
        }
    };
    let mtu: u32 = if cursor.take_word("mtu") { cursor.number("the next hop's MTU", u16::MAX.into())? } else { 0 };
    let error = match version {
        Version::V4 => IcmpError::v4(number, code, mtu as u16),
        Version::V6 => IcmpError::v6(number, code, mtu),
    };
    cursor.need('[')?;
    let seq = cursor.number("the first sequence number", u32::MAX.into())?;
    while !cursor.take(']') {
        if cursor.kind() == &Kind::End {
            return Err(cursor.unfit("\"]\""));
        }
        cursor.next();
    }
    // On Linux, a port without a listener makes the application's call fail with ECONNREFUSED.
    let refused = (number, code) == if version == Version::V4 { (3, 3) } else { (1, 4) };
    Ok(SegmentError { error, refused, seq })
}
