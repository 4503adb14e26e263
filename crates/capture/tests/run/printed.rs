//! All outputs for drawn results: summaries, tables, scores against a truth, comments on frames,
//! and plots.

use std::collections::BTreeMap;
use std::fmt::Write;

use eifel_capture::frame::decode::Packet;
use eifel_capture::frame::read::Frame;
use eifel_capture::quic::{CongestionEvent, LossVerdict, Losses, LostPacket, Rule, TraceSummary};
use eifel_capture::report::annotate::Annotator;
use eifel_capture::report::{Capture, Report};
use eifel_capture::report::{score, text, xpl};
use eifel_capture::result::Cause;
use eifel_capture::result::{Confidence, StackReaction, Verdict};
use eifel_capture::result::{
    Cost, Counts, DirectionSummary, Endpoint, Flow, Offered, Protocol, Summary, Vantage, When,
};
use eifel_capture::result::{DetectorVerdict, Effect, End, Number, Retransmission, Timing};
use eifel_packet::ip::{Addresses, Ecn};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment};
use eifel_packet::seq::Seq;
use eifel_testkit::random::Random;
use eifel_testkit::{digest, golden};

/// Returns a number below `bound`, and 0 half of the time.
fn count(random: &mut Random, bound: u64) -> u64 {
    random.below(2) * random.below(bound)
}

const CAUSES: [Cause; 10] = [
    Cause::Rto,
    Cause::Loss,
    Cause::Fast,
    Cause::Tlp,
    Cause::ZeroWindowProbe,
    Cause::KeepAlive,
    Cause::RepeatedFin,
    Cause::Syn,
    Cause::PathMtu,
    Cause::Unknown,
];
const VERDICTS: [Verdict; 3] = [Verdict::Spurious, Verdict::Needed, Verdict::Undecidable];
const CONFIDENCES: [Confidence; 3] = [Confidence::Certain, Confidence::Likely, Confidence::Weak];
const NOTICED: [StackReaction; 3] = [StackReaction::Undone, StackReaction::NotUndone, StackReaction::CannotBeTold];

fn retransmission(random: &mut Random, connections: u64) -> Retransmission {
    let told = |random: &mut Random| DetectorVerdict {
        detector: random.one_of(&["dsack", "f-rto"]),
        frame: 1 + random.below(8),
        spurious: random.below(2) == 0,
        reason: "so it is",
    };
    let value = random.below(3) as u32;
    Retransmission {
        capture: random.below(2) as usize,
        frame: 1 + random.below(8),
        time_s: random.below(8) as f64 / 1000.0 + random.below(3) as f64 / 1e6,
        connection: random.below(connections),
        sender: random.one_of(&[End::Client, End::Server]),
        number: random.one_of(&[Number::Seq(value), Number::Seq(value), Number::Tsn(value)]),
        bytes: random.below(2000) as u32,
        copy: 2 + random.below(2) as usize,
        cause: random.one_of(&CAUSES),
        other_cause: random.one_of(&[None, None, Some(Cause::Fast)]),
        verdict: random.one_of(&VERDICTS),
        confidence: random.one_of(&CONFIDENCES),
        reason: random.one_of(&["this is why", "or that"]),
        evidence_frame: random.one_of(&[None, Some(3), Some(9)]),
        timing: Timing {
            since_first_ms: random.one_of(&[None, Some(3.5), Some(250.25)]),
            answered_ms: random.one_of(&[None, Some(300.125), Some(2000.0)]),
            answered_as_duplicate: random.coin(),
            trigger: None,
        },
        stack_noticed: random.one_of(&NOTICED),
        effect: Effect {
            window_lost_bytes: random.one_of(&[None, Some(5)]),
            flight_back_ms: random.one_of(&[None, Some(0.25)]),
        },
        first_told: (0..random.below(3)).map(|_| told(random)).collect(),
    }
}

fn connection(random: &mut Random, number: u64) -> Summary {
    let end = |last: u8, port: u16| Endpoint { address: [10, 0, 0, last].into(), port };
    let known = Offered { timestamps: random.coin(), sack: random.coin() };
    let offered = random.one_of(&[None, Some(known)]);
    let mut direction = || DirectionSummary {
        vantage: random.one_of(&[Vantage::Sender, Vantage::Receiver, Vantage::Between, Vantage::Unknown]),
        rtt_ms_min: random.one_of(&[None, Some(12.3456)]),
        offered,
        reordered_ms_max: random.one_of(&[None, Some(1.25)]),
        reports_duplicates: random.one_of(&[None, Some(false), Some(true)]),
        model: random.one_of(&[None, Some("linux")]),
        cost: Cost {
            bytes_needless: count(random, 5000),
            window_lost_bytes: count(random, 9000),
            held_back_ms: random.below(4000) as f64 / 8.0,
            goodput_bps: random.below(9_000_000) as f64,
            goodput_without_bps: random.below(9_000_000) as f64,
        },
        counts: Counts {
            segments: random.below(100),
            bytes: random.below(100_000),
            reordered: count(random, 4),
            ..Counts::default()
        },
    };
    Summary {
        connection: number,
        protocol: Protocol::Tcp,
        client: end(1, 1000 + number as u16),
        server: end(2, 80),
        other_addresses: Default::default(),
        tunnel: 0,
        vlans: Vec::new(),
        time_s: 1.0,
        duration_s: 2.0,
        packets: 10,
        twins: 0,
        directions: [direction(), direction()],
    }
}

fn losses(random: &mut Random) -> Losses {
    let rule = |random: &mut Random, rule| Rule {
        rule,
        stacks: "some",
        takes_back: random.one_of(&[0.0, 0.25, 1.0]),
        time_ms: None,
    };
    let trace = |random: &mut Random| TraceSummary {
        file: "a\u{7}.qlog".to_owned(),
        vantage: random.one_of(&[None, Some("client".to_owned()), Some("ser\nver".to_owned())]),
        connection: None,
        other_end: None,
        duration_ms: 5.0,
        sent: random.below(50),
        lost: random.below(9),
        unnamed: count(random, 3),
        damaged: count(random, 3),
        notes: random.one_of(&[vec![], vec!["one note"]]),
    };
    let lost = |random: &mut Random| LostPacket {
        trace: 0,
        path_id: None,
        time_ms: 1.0,
        space: "application",
        packet_number: 1,
        bytes: 2,
        trigger: None,
        event: Some(1),
        verdict: random.one_of(&[LossVerdict::Spurious, LossVerdict::Genuine, LossVerdict::Undecidable]),
        confidence: Confidence::Weak,
        reason: "none",
        acknowledged_ms: None,
    };
    let event = |random: &mut Random| CongestionEvent {
        trace: 0,
        path_id: None,
        event: 1,
        time_ms: 1.0,
        lost: 1,
        unnamed: 0,
        late: 0,
        cwnd_before: None,
        cwnd_after: None,
        stack_noticed: random.one_of(&NOTICED),
        restored_ms: None,
        rules: ["one", "two", "three"].map(|name| rule(random, name)).to_vec(),
    };
    Losses {
        traces: (0..1 + random.below(2)).map(|_| trace(random)).collect(),
        packets: (0..count(random, 9)).map(|_| lost(random)).collect(),
        later: Vec::new(),
        events: (0..random.below(4)).map(|_| event(random)).collect(),
        rules: Vec::new(),
    }
}

fn report(seed: u64) -> Report {
    let mut random = Random(seed);
    let files = random.below(3);
    let capture = |random: &mut Random| Capture {
        file: random.one_of(&["a.pcap", "\u{1b}b.pcap"]).to_owned(),
        frames: random.below(99),
        error: random.one_of(&[None, Some("it \u{1}ended".to_owned())]),
    };
    let connections = 1 + random.below(8);
    let again = random.one_of(&[0, 1, 4, 40]);
    Report {
        captures: (0..files).map(|_| capture(&mut random)).collect(),
        segments: count(&mut random, 500),
        sctp_packets: count(&mut random, 500),
        others: random.one_of(&[BTreeMap::new(), BTreeMap::from([("IP fragment".to_owned(), 3)])]),
        times_clock_went_back: count(&mut random, 3),
        evicted: count(&mut random, 3),
        connections_without_data: count(&mut random, 5),
        // Some retransmissions have a connection that is not in the report.
        connections: (0..connections).map(|number| connection(&mut random, number)).collect(),
        retransmissions: (0..again).map(|_| retransmission(&mut random, connections + 1)).collect(),
        quic: (random.below(3) == 0).then(|| losses(&mut random)),
    }
}

#[test]
fn texts_of_drawn_reports_match_the_golden() {
    let mut printed = String::new();
    for seed in 0..400 {
        let report = report(seed);
        let made = format!("{}{}{}", text::summary(&report), report.csv(), report.json());
        let counts = VERDICTS.map(|verdict| report.count(verdict));
        let of_capture = report.of_capture(1).count();
        if seed % 20 == 0 {
            writeln!(printed, "# {seed}\n{}", text::summary(&report)).unwrap();
        }
        if seed % 100 == 7 {
            writeln!(printed, "{}", report.csv()).unwrap();
        }
        writeln!(printed, "{seed}: {counts:?} {of_capture} {}", digest(made)).unwrap();
    }
    golden!("printed.txt", printed);
}

#[test]
fn scores_of_drawn_reports_match_the_golden() {
    let mut scored = String::new();
    for seed in 0..2000 {
        let mut random = Random(seed);
        let mut found: Vec<_> = (0..random.below(7)).map(|_| retransmission(&mut random, 2)).collect();
        found.sort_by_key(|one| one.frame);
        let [number, causes, times] = [(); 3].map(|()| random.below(2) == 0);
        let mut truth = format!(
            " frame , {},nth,spurious,more{}{}\n",
            if number { "seq" } else { "tsn" },
            if causes { ",cause" } else { "" },
            if times { ",time" } else { "" }
        );
        for place in 0..random.below(7) {
            // Rows of known retransmissions, with other frames, times or copies, and rows of
            // unknown ones.
            let mut one = retransmission(&mut random, 2);
            if let Some(known) = found.get(place as usize).filter(|_| random.below(4) > 0) {
                one = known.clone();
                one.frame += random.below(2) * random.below(2);
                one.time_s += random.one_of(&[0.0, 0.0, 0.000_001, -0.001, 0.000_9, -0.002]);
                one.cause = random.one_of(&[one.cause, Cause::Rto]);
            }
            let spurious = random.one_of(&["0", "1"]);
            write!(truth, "{}, {},{},{spurious},x", one.frame, one.number.value(), one.copy).unwrap();
            if causes {
                write!(truth, ",{}", random.one_of(&[one.cause.name(), ""])).unwrap();
            }
            if times {
                write!(truth, ",{}", random.one_of(&[one.time_s.to_string(), "x".to_owned()])).unwrap();
            }
            writeln!(truth, "{}", random.one_of(&["", "\n  "])).unwrap();
        }
        let rows = score::read_truth(&truth).unwrap();
        let score = score::score(&rows, &found);
        if seed < 20 {
            writeln!(scored, "{truth}{}", score.json()).unwrap();
        }
        writeln!(scored, "{}", digest(format!("{rows:?}{score:?}"))).unwrap();
    }
    // Columns may be missing, and fields may hold anything.
    let whole = ["frame", "seq", "nth", "spurious", "cause", "time"];
    for left_out in whole {
        let names: Vec<_> = whole.into_iter().filter(|name| *name != left_out).collect();
        writeln!(scored, "without {left_out}: {:?}", score::read_truth(&format!("{}\n1,2,3,4\n", names.join(","))))
            .unwrap();
    }
    for rows in ["", "x", "1,2,x,1", "1,2,3\n", "1,-2,3,1", "1,2,3,9", "1,4294967297,2,0,,"] {
        let truth = format!("{}\n\n{rows}", whole.join(","));
        writeln!(scored, "{rows:?}: {:?}", score::read_truth(&truth)).unwrap();
    }
    writeln!(scored, "{:?}", score::read_truth("")).unwrap();
    golden!("scores.txt", scored);
}

#[test]
fn comments_for_drawn_findings_match_the_golden() {
    let mut written = String::new();
    for seed in 0..40 {
        let mut random = Random(seed);
        let found: Vec<_> = (0..random.below(9)).map(|_| retransmission(&mut random, 2)).collect();
        let mut annotator = Annotator::new(Vec::new(), found.iter()).unwrap();
        for number in 1..=9 {
            let interface = random.below(3) as u32;
            let link = random.one_of(&[1, 101, 70_000]);
            let frame = Frame { number, nanos: number * 7, link, interface, wire_len: 9, bytes: b"nine" };
            annotator.frame(&frame).unwrap();
        }
        let file = annotator.finish().unwrap();
        if seed < 3 {
            // Printable characters; a dot for every other byte.
            let lines: String =
                file.iter().map(|byte| if (32..127).contains(byte) { char::from(*byte) } else { '.' }).collect();
            writeln!(written, "{lines}").unwrap();
        }
        writeln!(written, "{seed}: {}", digest(file)).unwrap();
    }
    // A comment has room for 4000 bytes.
    for length in [3999, 4000, 4001] {
        let comments = BTreeMap::from([(1, "x".repeat(length)), (3, "short".to_owned())]);
        let mut annotator = Annotator::of_run(Vec::new(), "node", comments).unwrap();
        for number in 1..4 {
            annotator.frame(&Frame { number, nanos: 7, link: 101, interface: 0, wire_len: 9, bytes: b"nine" }).unwrap();
        }
        let file = annotator.finish().unwrap();
        let letters = file.iter().filter(|byte| **byte == b'x').count();
        writeln!(written, "{length}: {letters} {}", digest(file)).unwrap();
    }
    golden!("annotated.txt", written);
}

#[test]
fn plots_of_drawn_packets_match_the_golden() {
    let mut plotted = String::new();
    for seed in 0..100 {
        let mut random = Random(seed);
        let mut found: Vec<_> = (0..random.below(9)).map(|_| retransmission(&mut random, 1)).collect();
        found.sort_by_key(|one| one.frame);
        found.dedup_by_key(|one| one.frame);
        let there = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let mut plot = xpl::Plot::new(Flow::new(&there, (1000, 80), 0), found.iter());
        for frame in 1..30 {
            let from_server = random.below(2) == 0;
            let (mut source_port, destination_port) = if from_server { (80, 1000) } else { (1000, 80) };
            // Some packets belong to other connections.
            source_port += u16::from(random.below(10) == 0);
            let flags = random.one_of(&[
                Flags::ACK,
                Flags::ACK,
                Flags::ACK,
                Flags::SYN,
                Flags::SYN.with(Flags::ACK),
                Flags::RST,
            ]);
            let mut number = || Seq((u32::MAX - 500).wrapping_add(random.below(20) as u32 * 100));
            let (seq, ack, left, right) = (number(), number(), number(), number());
            let mut sack = SackBlocks::EMPTY;
            if random.below(4) == 0 {
                sack.push(left, right);
            }
            let window_scale = random.one_of(&[None, Some(3), Some(14), Some(15)]);
            let segment = Segment {
                source_port,
                destination_port,
                seq,
                ack,
                flags,
                window: random.below(5) as u16 * 100,
                options: Options { window_scale, sack, ..Options::default() },
                payload_len: random.one_of(&[0, 1, 100]),
                ecn: Ecn::NotEct,
            };
            let tunnel = u32::from(random.below(12) == 0);
            let addresses = if from_server { there.reversed() } else { there };
            let packet = Packet { addresses, identification: 1, hop_limit: 64, tunnel, segment };
            plot.packet(&packet, When { nanos: 1_999_999_000 + frame * random.below(3000), frame });
        }
        let file = plot.finish();
        if seed < 2 {
            writeln!(plotted, "{file}").unwrap();
        }
        writeln!(plotted, "{seed}: {}", digest(file)).unwrap();
    }
    golden!("plots.txt", plotted);
}
