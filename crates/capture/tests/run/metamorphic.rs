//! The same capture, made or shown otherwise: with copies of packets, other identifications or VLAN tags,
//! cut at its start, with segments that were split, with a second SYN-ACK, with ACKs of another connection, with
//! packets that the capture missed, out of order, with coarse times, or with the first bytes alone. No verdict of
//! one may contradict a certain verdict of the other.
//!
//! `PROPTEST_CASES=10000` tries that many variants.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use eifel_capture::frame::read::Reader;
use eifel_capture::report::Report;
use eifel_capture::result::{Cause, Confidence, Retransmission, Verdict};
use eifel_packet::pcapng::{Packet, Writer};
use eifel_testkit::random::Random;
use proptest::prelude::*;

/// A frame of a variant, and the number of the frame that it comes from; `None` if it was added.
#[derive(Clone)]
struct Shown {
    from: Option<u64>,
    nanos: u64,
    link: u32,
    wire_len: u32,
    bytes: Vec<u8>,
}

/// The places of the headers in a frame with TCP over IPv4 or IPv6.
#[derive(Clone, Copy)]
struct Place {
    ip: usize,
    tcp: usize,
    is_v6: bool,
}

impl Shown {
    fn place(&self) -> Option<Place> {
        let ip = match self.link {
            1 if matches!(self.bytes.get(12..14)?, [8, 0] | [0x86, 0xdd]) => 14,
            101 | 228 => 0,
            _ => return None,
        };
        let is_v6 = self.bytes.get(ip)? >> 4 == 6;
        let (protocol, len) = if is_v6 { (6, 40) } else { (9, usize::from(self.bytes[ip] & 15) * 4) };
        let place = Place { ip, tcp: ip + len, is_v6 };
        (self.bytes.get(ip + protocol) == Some(&6) && self.bytes.len() >= place.tcp + 20).then_some(place)
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    fn put(&mut self, at: usize, value: &[u8]) {
        self.bytes[at..at + value.len()].copy_from_slice(value);
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(*self.bytes[at..].first_chunk().unwrap())
    }

    fn flags(&self, place: Place) -> u8 {
        self.bytes[place.tcp + 13]
    }

    /// Removes the identification of IPv4, because no host sends one twice.
    fn without_identification(&mut self, place: Place) {
        if !place.is_v6 {
            self.put(place.ip + 4, &[0; 2]);
        }
    }

    /// Returns the length of the payload, by IP's length field.
    fn payload(&self, place: Place) -> u16 {
        let header = u16::from(self.bytes[place.tcp + 12] >> 4) * 4;
        let total = match place.is_v6 {
            true => self.u16(place.ip + 4),
            false => self.u16(place.ip + 2).saturating_sub((place.tcp - place.ip) as u16),
        };
        total.saturating_sub(header)
    }

    /// Sets the length of the payload in IP's length field.
    fn set_payload(&mut self, place: Place, len: u16) {
        let at = place.ip + if place.is_v6 { 4 } else { 2 };
        let length = self.u16(at) - self.payload(place) + len;
        self.wire_len -= u32::from(self.u16(at) - length);
        self.put(at, &length.to_be_bytes());
        let end = place.tcp + usize::from(self.bytes[place.tcp + 12] >> 4) * 4 + usize::from(len);
        self.bytes.truncate(end);
    }
}

const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// All captures of the folder.
static CAPTURES: LazyLock<Vec<(String, Vec<Shown>)>> = LazyLock::new(captures);

fn captures() -> Vec<(String, Vec<Shown>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faults");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending != "csv"));
    files.sort();
    let read = |file: PathBuf| {
        let (mut reader, mut frames) = (Reader::new(), Vec::new());
        reader.feed(&std::fs::read(&file).unwrap());
        while let Some(frame) = reader.frame().unwrap() {
            let link = frame.link.min(147);
            let (from, bytes) = (Some(frame.number), frame.bytes.to_vec());
            frames.push(Shown { from, nanos: frame.nanos, link, wire_len: frame.wire_len, bytes });
        }
        (file.file_name().unwrap().to_string_lossy().into_owned(), frames)
    };
    files.into_iter().map(read).collect()
}

fn found(frames: &[Shown]) -> Vec<Retransmission> {
    let mut writer = Writer::new(Vec::new(), "metamorphic").unwrap();
    let mut interfaces = BTreeMap::new();
    for frame in frames {
        let link = frame.link as u16;
        let interface = *interfaces.entry(link).or_insert_with(|| writer.interface_of("a", link).unwrap());
        let packet = Packet { bytes: &frame.bytes, wire_len: frame.wire_len, comment: None };
        writer.packet(interface, frame.nanos, packet).unwrap();
    }
    Report::of_bytes("x.pcapng", &writer.finish().unwrap()).unwrap().retransmissions
}

/// Adds copies of packets that the network made: equal, and a little later.
fn with_copies(frames: &mut Vec<Shown>, random: &mut Random) {
    let sent = frames.len() as u64;
    for _ in 0..=random.below(5) {
        let copy = frames[random.below(sent) as usize].clone();
        let longest = random.one_of(&[10_000, 500_000, 50_000_000]);
        let nanos = copy.nanos + random.below(longest);
        frames.push(Shown { from: None, nanos, ..copy });
    }
    frames.sort_by_key(|frame| frame.nanos);
}

/// Gives all packets other identifications, which show no order: zeros or random ones.
fn with_identifications(frames: &mut [Shown], random: &mut Random) {
    let none = random.coin();
    for frame in frames {
        let Some(place) = frame.place().filter(|place| !place.is_v6) else { continue };
        let identification = if none { 0 } else { random.below(1 << 16) as u16 };
        frame.put(place.ip + 4, &identification.to_be_bytes());
    }
}

fn cut_at_the_start(frames: &mut Vec<Shown>, random: &mut Random) {
    frames.drain(..random.below(1 + frames.len() as u64 / 3) as usize);
}

/// Adds a VLAN tag to all packets.
fn with_tags(frames: &mut [Shown], random: &mut Random) {
    let number = 1 + random.below(4000) as u16;
    frames.iter_mut().for_each(|frame| tag(frame, number));
}

/// Adds a VLAN tag to a packet, and an Ethernet header if it has none.
fn tag(frame: &mut Shown, number: u16) {
    if !matches!(frame.link, 1 | 101) {
        return;
    }
    let version = frame.bytes.first().copied().unwrap_or(0) >> 4;
    if frame.link == 101 {
        let kind = if version == 6 { [0x86, 0xdd] } else { [8, 0] };
        frame.bytes.splice(0..0, [2; 12].into_iter().chain(kind));
        frame.wire_len += 14;
    }
    if frame.bytes.len() >= 14 {
        let [high, low] = number.to_be_bytes();
        frame.bytes.splice(12..12, [0x81, 0, high, low]);
        frame.wire_len += 4;
    }
    frame.link = 1;
}

/// Adds one VLAN tag in one direction of each connection and another in the other, as on a routed link.
fn with_tags_by_direction(frames: &mut [Shown]) {
    for frame in frames.iter_mut() {
        let Some(place) = frame.place() else { continue };
        let from_low = frame.u16(place.tcp) < frame.u16(place.tcp + 2);
        tag(frame, 10 + u16::from(from_low));
    }
}

/// Shows each packet a second time with a tag, as a mirrored port does.
fn mirrored(frames: &mut Vec<Shown>) {
    let twice = |frame: Shown| {
        let mut second = Shown { from: None, nanos: frame.nanos + 3000, ..frame.clone() };
        tag(&mut second, 7);
        [frame, second]
    };
    *frames = std::mem::take(frames).into_iter().flat_map(twice).collect();
}

/// Splits some segments in two, as a network card does.
fn with_split_segments(frames: &mut Vec<Shown>, random: &mut Random) {
    let mut split = Vec::new();
    for frame in frames.drain(..) {
        let place = frame.place().filter(|place| frame.payload(*place) > 2 && frame.flags(*place) & SYN == 0);
        let Some(place) = place.filter(|_| random.below(4) == 0) else {
            split.push(frame);
            continue;
        };
        let len = frame.payload(place);
        let first = 1 + random.below(u64::from(len) - 2) as u16;
        let mut one = frame;
        one.without_identification(place);
        let mut other = one.clone();
        // A FIN is on the last one.
        let flags = one.flags(place) & !1;
        one.put(place.tcp + 13, &[flags]);
        one.set_payload(place, first);
        let seq = other.u32(place.tcp + 4).wrapping_add(u32::from(first));
        other.put(place.tcp + 4, &seq.to_be_bytes());
        other.set_payload(place, len - first);
        split.extend([one, other]);
    }
    *frames = split;
}

/// Adds a second SYN-ACK with another sequence number.
fn with_second_syn_ack(frames: &mut Vec<Shown>, random: &mut Random) {
    let opens = |frame: &Shown| frame.place().is_some_and(|place| frame.flags(place) & (SYN | ACK) == SYN | ACK);
    let Some(at) = frames.iter().position(opens) else { return };
    let mut second = frames[at].clone();
    let place = second.place().unwrap();
    let seq = second.u32(place.tcp + 4).wrapping_add(1 << 20 | random.below(1 << 31) as u32);
    second.put(place.tcp + 4, &seq.to_be_bytes());
    second.without_identification(place);
    second.from = None;
    frames.insert(at + 1, second);
}

/// Adds ACKs of data that were never sent, as the hosts of an older connection send them.
fn with_foreign_acks(frames: &mut Vec<Shown>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(frames.len() as u64) as usize;
        let mut foreign = frames[at].clone();
        let Some(place) = foreign.place().filter(|place| foreign.flags(*place) & (SYN | RST) == 0) else { continue };
        let ack = foreign.u32(place.tcp + 8).wrapping_add(1 << 28 | random.below(1 << 30) as u32);
        foreign.set_payload(place, 0);
        foreign.put(place.tcp + 8, &ack.to_be_bytes());
        foreign.put(place.tcp + 13, &[ACK]);
        foreign.without_identification(place);
        foreign.from = None;
        frames.insert(at, foreign);
    }
}

/// Removes some packets, which the capture missed.
fn with_gaps(frames: &mut Vec<Shown>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        if frames.len() > 1 {
            frames.remove(random.below(frames.len() as u64) as usize);
        }
    }
}

/// Writes some packets before the one in front of them, as a card with several queues does: both with the
/// time of the later one, or each with its own.
fn out_of_order(frames: &mut [Shown], random: &mut Random) {
    let retimed = random.coin();
    for index in 1..frames.len() {
        let near = frames[index].nanos.saturating_sub(frames[index - 1].nanos) < 50_000;
        let differ = frames[index].bytes != frames[index - 1].bytes;
        if near && differ && random.below(4) == 0 {
            if retimed {
                frames[index - 1].nanos = frames[index].nanos;
            }
            frames.swap(index - 1, index);
        }
    }
}

/// Rounds the time of all packets down to a coarse clock's.
fn with_coarse_times(frames: &mut [Shown], random: &mut Random) {
    let tick = random.one_of(&[10_000, 100_000, 1_000_000]);
    frames.iter_mut().for_each(|frame| frame.nanos -= frame.nanos % tick);
}

/// Keeps the first bytes of all packets, which hold the headers.
fn cut_short(frames: &mut [Shown], random: &mut Random) {
    let most = 100 + random.below(60) as usize;
    frames.iter_mut().for_each(|frame| frame.bytes.truncate(most));
}

const KINDS: [&str; 13] = [
    "copies",
    "identifications",
    "cut",
    "tags",
    "split",
    "second SYN-ACK",
    "tags by direction",
    "mirrored",
    "foreign ACKs",
    "gaps",
    "out of order",
    "coarse times",
    "cut short",
];

fn vary(kind: &str, frames: &mut Vec<Shown>, random: &mut Random) {
    match kind {
        "copies" => with_copies(frames, random),
        "identifications" => with_identifications(frames, random),
        "cut" => cut_at_the_start(frames, random),
        "tags" => with_tags(frames, random),
        "split" => with_split_segments(frames, random),
        "second SYN-ACK" => with_second_syn_ack(frames, random),
        "tags by direction" => with_tags_by_direction(frames),
        "mirrored" => mirrored(frames),
        "foreign ACKs" => with_foreign_acks(frames, random),
        "gaps" => with_gaps(frames, random),
        "out of order" => out_of_order(frames, random),
        "coarse times" => with_coarse_times(frames, random),
        "cut short" => cut_short(frames, random),
        _ => unreachable!("{kind} is not in KINDS"),
    }
}

/// Returns whether the row of a variant contradicts that of the capture and one of them is certain. A variant
/// with `gaps` shows less: not the data for whose sake a FIN was repeated.
fn contradicts(known: &Retransmission, row: &Retransmission, gaps: bool) -> bool {
    let decided = |row: &Retransmission| row.verdict != Verdict::Undecidable;
    let certain = |row: &Retransmission| row.confidence == Confidence::Certain;
    let needs_data = gaps && known.cause == Cause::RepeatedFin;
    !needs_data
        && (certain(row) || certain(known) && !gaps)
        && decided(known)
        && decided(row)
        && known.verdict != row.verdict
}

/// Makes a variant of a capture, and fails if its verdicts contradict those of the capture.
fn agrees(seed: u64) -> Result<(), TestCaseError> {
    let mut random = Random(seed);
    let (name, frames) = &CAPTURES[random.below(CAPTURES.len() as u64) as usize];
    let mut varied = frames.clone();
    let first = random.below(KINDS.len() as u64) as usize;
    let second = random.below(2 * KINDS.len() as u64) as usize;
    let second = KINDS.get(second).filter(|kind| **kind != KINDS[first]);
    let kinds: Vec<_> = std::iter::once(KINDS[first]).chain(second.copied()).collect();
    kinds.iter().for_each(|kind| vary(kind, &mut varied, &mut random));
    let before = found(frames);
    for row in found(&varied) {
        let from = varied[row.frame as usize - 1].from;
        // A packet that the sender never sent is no retransmission. A mirror shows all of them, and a copy may be
        // of a packet that the capture missed.
        let added = from.is_none() && !kinds.contains(&"mirrored") && !kinds.contains(&"gaps");
        prop_assert!(!added || row.confidence != Confidence::Certain, "{name}, {kinds:?}: {row:?}");
        let same = before.iter().find(|known| Some(known.frame) == from && known.sender == row.sender);
        if let Some(known) = same {
            prop_assert!(
                !contradicts(known, &row, kinds.contains(&"gaps")),
                "{name}, {kinds:?}: {known:?} became {row:?}"
            );
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn no_variant_of_a_capture_contradicts_a_certain_verdict(seed in any::<u64>()) {
        agrees(seed)?;
    }
}

#[test]
fn a_fin_that_answers_a_copied_fin_is_no_retransmission() {
    let (_, frames) = CAPTURES.iter().find(|(name, _)| name == "fin_in_ack.pcap").unwrap();
    let mut varied = frames.clone();
    let copied = varied.iter().position(|frame| frame.from == Some(9)).unwrap();
    let copy = Shown { from: None, nanos: varied[copied].nanos + 7000, ..varied[copied].clone() };
    varied.insert(copied + 1, copy);
    for frame in &mut varied {
        let place = frame.place().unwrap();
        frame.without_identification(place);
    }
    let causes: Vec<_> = found(&varied).iter().map(|row| (row.frame, row.cause)).collect();
    assert!(causes.contains(&(8, Cause::RepeatedFin)) && causes.contains(&(11, Cause::RepeatedFin)), "{causes:?}");
}

type Change = fn(&mut Vec<Shown>);

#[test]
fn tags_and_a_second_syn_ack_change_no_verdict_but_to_undecidable() {
    let changes: [(&str, Change); 4] = [
        ("tags", |frames| with_tags(frames, &mut Random(1))),
        ("tags by direction", |frames| with_tags_by_direction(frames)),
        ("mirrored", mirrored),
        ("second SYN-ACK", |frames| with_second_syn_ack(frames, &mut Random(1))),
    ];
    for (name, frames) in CAPTURES.iter() {
        // Three connections between the same ends have tags of their own.
        if name == "three_vlans.pcap" {
            continue;
        }
        let rows = |frames: &[Shown]| -> Vec<(Option<u64>, Verdict)> {
            let row = |row: &Retransmission| (frames[row.frame as usize - 1].from, row.verdict);
            found(frames).iter().map(row).collect()
        };
        let before = rows(frames);
        for (change, make) in changes {
            let mut varied = frames.clone();
            make(&mut varied);
            let after = rows(&varied);
            let same = |((from, verdict), (before, known)): (&_, &_)| {
                from == before && (verdict == known || *verdict == Verdict::Undecidable)
            };
            let agree = after.len() == before.len() && after.iter().zip(&before).all(same);
            assert!(agree, "{name}, {change}: {before:?} became {after:?}");
        }
    }
}
