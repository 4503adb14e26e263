//! Compares departed segments with the packet that the script expects.

use super::host::Departed;
use super::stamps::Stamps;
use super::wire::letters;
use crate::profile::Profile;
use crate::script::{Packet, TcpOption};
use eifel_packet::segment::Flags;

/// Returns how many departed segments the packet stands for: at least one.
pub(super) fn joined(expected: &Packet, departed: &[&Departed], strict: bool) -> usize {
    let Some(first) = departed.first() else { return 0 };
    let mut len = first.packet.len;
    let mut count = 1;
    if strict {
        return count;
    }
    for next in &departed[1..] {
        let Departed { at, packet } = next;
        let follows = *at == first.at
            && packet.len > 0
            && packet.seq == first.packet.seq.wrapping_add(len)
            && packet.ack == first.packet.ack
            && len < expected.len;
        if !follows {
            break;
        }
        len += packet.len;
        count += 1;
    }
    count
}

/// Joins consecutive segments to one packet.
pub(super) fn together(seen: &[Departed]) -> Option<Packet> {
    let (first, last) = (seen.first()?, seen.last()?);
    let len = seen.iter().map(|departed| departed.packet.len).sum();
    Some(Packet { flags: last.packet.flags, len, ..first.packet.clone() })
}

/// Describes each field that differs; empty if the packet is as expected.
pub(super) fn differences(expected: &Packet, seen: &Packet, stamps: &mut Stamps, profile: Profile) -> Vec<String> {
    let expected = &match profile {
        Profile::FreeBsd => without_repeated_fin(expected, seen),
        Profile::Standard | Profile::Linux => expected.clone(),
    };
    let mut found = Vec::new();
    let mut check = |name: &str, wanted: String, seen: String| {
        if wanted != seen {
            found.push(format!("{name} is {seen}, not {wanted}"));
        }
    };
    check("its flags", letters(pushed(expected.flags, seen.flags)), letters(seen.flags));
    if expected.compares_seq {
        check("its first sequence number", expected.seq.to_string(), seen.seq.to_string());
    }
    check("its length", expected.len.to_string(), seen.len.to_string());
    if expected.flags.has(Flags::ACK) && seen.flags.has(Flags::ACK) {
        check("ack", expected.ack.to_string(), seen.ack.to_string());
    }
    if let (Some(wanted), Some(seen)) = (expected.ecn, seen.ecn) {
        check("its ECN field", format!("{wanted:?}"), format!("{seen:?}"));
    }
    if let (Some(wanted), Some(seen)) = (expected.window, seen.window) {
        check("win", wanted.to_string(), seen.to_string());
    }
    if let (Some(wanted), Some(seen)) = (&expected.options, &seen.options) {
        let seen = seen_by(stamps, wanted, seen);
        let free = expected.flags.has(Flags::SYN);
        let differs = !free || offered(wanted) != offered(&seen);
        if differs {
            check("the list of options", list(wanted), list(&seen));
        }
    }
    found
}

/// Returns the expected packet without a repeated FIN, if `seen` has none. FreeBSD repeats an
/// unacknowledged FIN on every ACK. Without the FIN, the ACK's sequence number is one higher.
fn without_repeated_fin(expected: &Packet, seen: &Packet) -> Packet {
    let fin = Flags::ACK.with(Flags::FIN);
    let repeated = expected.flags == fin && expected.len == 0 && seen.flags == Flags::ACK && seen.len == 0;
    match repeated && seen.seq == expected.seq.wrapping_add(1) {
        true => Packet { flags: Flags::ACK, seq: seen.seq, ..expected.clone() },
        false => expected.clone(),
    }
}

/// Returns the expected flags without PSH if the sender did not push. The sender decides when to
/// push, so a missing PSH is no difference.
fn pushed(expected: Flags, seen: Flags) -> Flags {
    if seen.has(Flags::PSH) { expected } else { Flags(expected.0 & !Flags::PSH.0) }
}

/// Returns the options as the script would write them. Timestamps that agree are shown as the
/// script's.
fn seen_by(stamps: &mut Stamps, expected: &[TcpOption], seen: &[TcpOption]) -> Vec<TcpOption> {
    let wanted = expected.iter().find_map(|option| match option {
        TcpOption::Timestamps { value, .. } => Some(*value),
        _ => None,
    });
    let mut translate = |option: &TcpOption| match (option, wanted) {
        (TcpOption::Timestamps { value, echo }, Some(wanted)) => {
            let agrees = stamps.agree(wanted, *value);
            TcpOption::Timestamps { value: if agrees { wanted } else { stamps.shown(*value) }, echo: *echo }
        }
        _ => option.clone(),
    };
    seen.iter().map(&mut translate).collect()
}

/// Returns the options that a SYN offers, sorted and without padding, because the sender chooses
/// both.
fn offered(options: &[TcpOption]) -> Vec<String> {
    let padding = |option: &&TcpOption| matches!(option, TcpOption::Nop | TcpOption::End);
    let mut words: Vec<_> = options.iter().filter(|option| !padding(option)).map(ToString::to_string).collect();
    words.sort();
    words
}

fn list(options: &[TcpOption]) -> String {
    let words: Vec<_> = options.iter().map(ToString::to_string).collect();
    format!("<{}>", words.join(","))
}
