//! Advice on captures whose truth is known: recordings of Linux over a path that was set, and
//! conversations that are written here.
//!
//! In `tests/advice`, next to the sender: `held` has a path that holds packets, `lost_acks` one that
//! drops half of the ACKs, and `reordered_without_dsack` one that reorders, to a receiver with
//! `tcp_dsack=0`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use eifel_capture::files;
use eifel_capture::report::Report;
use eifel_capture::report::advice::{Advice, Fault, advice};
use eifel_capture::report::text;
use eifel_capture::result::{Cause, Confidence, Verdict};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::pcapng::{Interface, Packet, Writer};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment};
use eifel_packet::seq::Seq;

fn read(file: &str) -> Report {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    files::analyze(&[path], &mut |_, _| Ok(())).unwrap()
}

fn faults(report: &Report) -> Vec<Fault> {
    advice(report).iter().map(|one| one.fault).collect()
}

fn find(report: &Report, fault: Fault) -> Advice {
    let found = advice(report).into_iter().find(|one| one.fault == fault);
    found.unwrap_or_else(|| panic!("no {fault:?}:\n{}\n{:#?}", text::summary(report), report.retransmissions))
}

const MS: u64 = 1_000_000;
const LEN: u32 = 1000;

/// A conversation with timestamps left out: the client sends segments of `LEN` bytes, and the server
/// acknowledges them.
struct Conversation {
    writer: Writer<Vec<u8>>,
    interface: Interface,
}

impl Conversation {
    /// Opens a connection. The server answers after `server` nanoseconds, and the client after `client`.
    fn new(server: u64, client: u64) -> Self {
        let mut writer = Writer::new(Vec::new(), "test").unwrap();
        let interface = writer.interface("here").unwrap();
        let mut conversation = Self { writer, interface };
        let options = Options { sack_permitted: true, ..Options::default() };
        let syn = Segment { seq: Seq(0), flags: Flags::SYN, options, ..Segment::EMPTY };
        conversation.packet(0, true, &syn);
        let answer = Segment { ack: Seq(1), flags: Flags::SYN.with(Flags::ACK), ..syn };
        conversation.packet(server, false, &answer);
        conversation.packet(
            server + client,
            true,
            &Segment { seq: Seq(1), ack: Seq(1), flags: Flags::ACK, ..Segment::EMPTY },
        );
        conversation
    }

    fn packet(&mut self, nanos: u64, from_client: bool, segment: &Segment) {
        let (source_port, destination_port) = if from_client { (4000, 80) } else { (80, 4000) };
        let segment = Segment { source_port, destination_port, window: 60_000, ..*segment };
        let ends = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let ends = if from_client { ends } else { ends.reversed() };
        let mut bytes = Vec::new();
        datagram::emit(&Header::new(ends), &segment, &vec![7; segment.payload_len as usize], &mut bytes).unwrap();
        let packet = Packet { bytes: &bytes, wire_len: bytes.len() as u32, comment: None };
        self.writer.packet(self.interface, 1_000_000_000 + nanos, packet).unwrap();
    }

    /// Sends segment `number`, from 0.
    fn data(&mut self, nanos: u64, number: u32) {
        let seq = Seq(1 + number * LEN);
        let flags = Flags::ACK;
        self.packet(nanos, true, &Segment { seq, ack: Seq(1), flags, payload_len: LEN, ..Segment::EMPTY });
    }

    /// Acknowledges everything up to segment `number`. Reports that segment as a duplicate, if it `is_one`.
    fn ack(&mut self, nanos: u64, number: u32, is_duplicate: bool) {
        let (from, to) = (Seq(1 + number * LEN), Seq(1 + (number + 1) * LEN));
        let mut sack = SackBlocks::EMPTY;
        if is_duplicate {
            sack.push(from, to);
        }
        let options = Options { sack, ..Options::default() };
        self.packet(nanos, false, &Segment { seq: Seq(1), ack: to, flags: Flags::ACK, options, ..Segment::EMPTY });
    }

    fn report(self) -> Report {
        Report::of_bytes("x.pcapng", &self.writer.finish().unwrap()).unwrap()
    }
}

#[test]
fn a_path_that_holds_packets_is_a_stall() {
    let report = read("advice/held.pcap.gz");
    assert_eq!(faults(&report), [Fault::Losses, Fault::Stall]);
    let one = find(&report, Fault::Stall);
    assert!(
        one.evidence.contains("The longest wait for such an ACK was 3.31 s, from 3.016 s after the first packet"),
        "{}",
        one.evidence
    );
    assert!(one.action.contains("net.ipv4.tcp_frto"), "{}", one.action);
    // Both ends use timestamps already.
    assert!(!one.action.contains("tcp_timestamps"), "{}", one.action);
}

#[test]
fn lost_acks_are_no_stall() {
    let report = read("advice/lost_acks.pcap.gz");
    assert_eq!(faults(&report), [Fault::Losses, Fault::LostAcks]);
    let one = find(&report, Fault::LostAcks);
    assert!(one.action.starts_with("On the path from 10.9.0.2 to 10.9.0.1"), "{}", one.action);
}

#[test]
fn a_receiver_without_dsack_on_a_path_that_reorders_is_named() {
    let report = read("advice/reordered_without_dsack.pcap.gz");
    assert_eq!(faults(&report), [Fault::Reordering, Fault::NoDsack]);
    assert_eq!(find(&report, Fault::NoDsack).action, "On the receiver 10.9.0.2: sysctl net.ipv4.tcp_dsack=1.");
    let one = find(&report, Fault::Reordering);
    assert!(one.evidence.contains("40 of 46 fast retransmissions were needless"), "{}", one.evidence);
}

#[test]
fn reordering_is_seen_at_the_receiver_with_how_late_segments_came() {
    let report = read("faults/reorder_nots_receiver.pcap");
    assert_eq!(faults(&report), [Fault::Reordering, Fault::NoTimestamps]);
    let one = find(&report, Fault::Reordering);
    assert!(one.evidence.contains("3 segments passed here after data sent later, by up to 68 ms"), "{}", one.evidence);
}

#[test]
fn an_end_without_sack_is_named() {
    let report = read("faults/newreno_prr.pcap");
    assert_eq!(faults(&report), [Fault::Losses, Fault::NoSack]);
    assert!(find(&report, Fault::NoSack).action.contains("sysctl net.ipv4.tcp_sack=1"));
}

#[test]
fn copies_that_the_network_makes_and_probes_show_no_fault() {
    for file in ["netdup_ts.pcap", "netdup_between.pcap", "netdup_nots.pcap", "twins_late.pcapng", "keep_alives.pcapng"]
    {
        let report = read(&format!("faults/{file}"));
        assert!(!faults(&report).contains(&Fault::Reordering), "{file}: {:?}", advice(&report));
    }
}

#[test]
fn losses_show_no_fault_of_a_delay() {
    for file in ["held.pcap.gz", "lost_acks.pcap.gz", "reordered_without_dsack.pcap.gz"] {
        let mut report = read(&format!("advice/{file}"));
        report.retransmissions.iter_mut().for_each(|one| one.verdict = Verdict::Needed);
        assert_eq!(faults(&report), [Fault::Losses], "{file}");
    }
}

#[test]
fn losses_are_named_where_half_of_the_retransmissions_repaired_one() {
    let mut report = read("advice/reordered_without_dsack.pcap.gz");
    let all = report.retransmissions.len();
    let mut with = |needed: usize, cause: Option<Cause>| {
        for (index, one) in report.retransmissions.iter_mut().enumerate() {
            one.verdict = if index < needed { Verdict::Needed } else { Verdict::Undecidable };
            one.cause = cause.unwrap_or(one.cause);
        }
        advice(&report).into_iter().find(|one| one.fault == Fault::Losses)
    };
    let half = all.div_ceil(2);
    let said = with(half, None).unwrap().evidence;
    let expected =
        format!("{half} of {all} retransmissions were needed: their data had not arrived (most in connection 0");
    assert!(said.starts_with(&expected), "{said}");
    assert_eq!(with(half - 1, None), None);
    assert_eq!(with(all, Some(Cause::Syn)), None);
}

#[test]
fn advice_needs_causes_and_verdicts_that_are_not_in_doubt() {
    let doubted = |change: fn(&mut eifel_capture::result::Retransmission)| {
        let mut report = read("advice/held.pcap.gz");
        report.retransmissions.iter_mut().for_each(change);
        faults(&report)
    };
    assert_eq!(doubted(|_| ()), [Fault::Losses, Fault::Stall]);
    assert_eq!(doubted(|one| one.other_cause = Some(Cause::Fast)), [Fault::Losses]);
    assert_eq!(doubted(|one| one.copy = 3), [Fault::Losses]);
    assert_eq!(doubted(|one| one.timing.answered_ms = None), [Fault::Losses]);
    assert_eq!(doubted(|one| one.timing.answered_as_duplicate = true), [Fault::Losses]);
}

#[test]
fn an_ack_a_round_trip_after_the_retransmission_is_of_the_original_if_a_duplicate_would_be_reported() {
    let found = |reports_duplicates, confidence| {
        let mut report = read("advice/held.pcap.gz");
        for one in &mut report.retransmissions {
            one.timing.answered_ms = one.timing.since_first_ms.map(|sent| sent + 5.7);
            one.confidence = confidence;
        }
        let ways = report.connections.iter_mut().flat_map(|one| &mut one.directions);
        ways.for_each(|way| way.reports_duplicates = reports_duplicates);
        faults(&report)
    };
    assert_eq!(found(Some(true), Confidence::Certain), [Fault::Losses, Fault::Stall]);
    assert_eq!(found(Some(true), Confidence::Likely), [Fault::Losses]);
    assert_eq!(found(None, Confidence::Certain), [Fault::Losses]);
}

/// A path of 300 ms, and a timer of 100 ms.
#[test]
fn a_timer_below_the_shortest_round_trip_is_named() {
    let mut conversation = Conversation::new(300 * MS, MS / 10);
    for number in 0..4 {
        let begin = 1000 * MS * u64::from(number + 1);
        conversation.data(begin, number);
        conversation.data(begin + 100 * MS, number);
        conversation.ack(begin + 300 * MS, number, false);
        conversation.ack(begin + 400 * MS, number, true);
    }
    let report = conversation.report();
    let one = find(&report, Fault::TimerBelowDelay);
    assert!(one.evidence.contains("expired 4 times sooner"), "{}", one.evidence);
    assert!(one.evidence.contains("after 100 ms, with a round trip of at least 300 ms"), "{}", one.evidence);
    assert!(one.action.contains("rto_min 600ms"), "{}", one.action);
    assert!(!faults(&report).contains(&Fault::Stall));
}

/// Next to a receiver that delays ACKs for 400 ms, while the sender's timer expires after 300 ms.
#[test]
fn a_receiver_that_delays_acks_is_named() {
    let mut conversation = Conversation::new(MS / 10, 20 * MS);
    for number in 0..4 {
        let begin = 1000 * MS * u64::from(number + 1);
        conversation.data(begin, number);
        conversation.data(begin + 300 * MS, number);
        conversation.ack(begin + 300 * MS + MS / 100, number, true);
    }
    let report = conversation.report();
    let one = find(&report, Fault::DelayedAcks);
    assert!(one.evidence.contains("up to 300 ms after arrival"), "{}", one.evidence);
    assert!(one.action.starts_with("On the receiver 10.0.0.2"), "{}", one.action);
}

#[test]
fn the_text_has_the_total_first_and_lines_that_fit() {
    for file in ["held", "lost_acks", "reordered_without_dsack"] {
        let report = read(&format!("advice/{file}.pcap.gz"));
        let said = text::summary(&report);
        let first = said.lines().next().unwrap();
        let counts = format!("{} of {}", report.count(Verdict::Spurious), report.retransmissions.len());
        assert!(first.starts_with(&counts) && first.contains(" % of the bytes sent"), "{first}");
        // File names may be longer.
        let long = said.lines().skip(1).filter(|line| !line.contains(".pcap") && line.chars().count() > 120);
        assert_eq!(long.collect::<Vec<_>>(), Vec::<&str>::new(), "{file}");
        for one in advice(&report) {
            assert!(said.contains(one.fault.name()), "{file}: {one:?}");
        }
    }
}
