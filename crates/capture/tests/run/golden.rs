//! Whole reports of simulated captures: unchanged, with frames missing, cut, doubled or out of
//! order, and in other formats.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use eifel_testkit::Folder;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use eifel_capture::analysis::Analyzer;
use eifel_capture::analysis::shard::{self, Shard};
use eifel_capture::frame::decode::{self, Fragments};
use eifel_capture::frame::read::{Frame, Reader};
use eifel_capture::quic;
use eifel_capture::report::annotate::Annotator;
use eifel_capture::report::anonymise::Anonymiser;
use eifel_capture::report::{Capture, Report};
use eifel_capture::report::{score, text};
use eifel_capture::result::Retransmission;
use eifel_hostile::captured::{Weather, captured};
use eifel_hostile::generate;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::{Options, run_with};
use eifel_testkit::recorded::is_recorded;
use eifel_testkit::{digest, golden};

/// An owned frame.
#[derive(Clone)]
struct Kept {
    nanos: u64,
    bytes: Vec<u8>,
    wire_len: u32,
}

fn frames(pcapng: &[u8]) -> Vec<Kept> {
    let mut reader = Reader::new();
    reader.feed(pcapng);
    let mut found = Vec::new();
    while let Some(Frame { nanos, bytes, wire_len, .. }) = reader.frame().unwrap() {
        found.push(Kept { nanos, bytes: bytes.to_vec(), wire_len });
    }
    found
}

/// Returns a pcap file in microseconds with these frames of IP.
fn pcap(frames: &[Kept]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for Kept { nanos, bytes, wire_len } in frames {
        let (seconds, micros) = (nanos / 1_000_000_000, nanos % 1_000_000_000 / 1000);
        for word in [seconds as u32, micros as u32, bytes.len() as u32, *wire_len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(bytes);
    }
    file
}

type Change = fn(&[Kept]) -> Vec<Kept>;

/// Defects that a capture may have.
const CHANGES: [(&str, Change); 7] = [
    ("whole", <[Kept]>::to_vec),
    ("without every seventh", |all| every(all, |place| place % 7 != 3)),
    ("without the beginning", |all| all[all.len() / 4..].to_vec()),
    ("without a tenth in the middle", |all| every(all, |place| !(45..55).contains(&(place * 100 / all.len())))),
    ("cut after the headers", |all| {
        let cut = |one: &Kept| Kept { bytes: one.bytes[..one.bytes.len().min(72)].to_vec(), ..one.clone() };
        all.iter().map(cut).collect()
    }),
    ("every third twice", |all| {
        all.iter().enumerate().flat_map(|(place, one)| vec![one.clone(); 1 + usize::from(place % 3 == 0)]).collect()
    }),
    ("neighbours swapped", |all| {
        all.chunks(5).flat_map(|some| some.iter().take(1).chain(some.iter().skip(1).rev())).cloned().collect()
    }),
];

fn every(all: &[Kept], keep: impl Fn(usize) -> bool) -> Vec<Kept> {
    all.iter().enumerate().filter(|(place, _)| keep(*place)).map(|(_, one)| one.clone()).collect()
}

/// Returns captures of connections and of associations, with the truth if it is known.
fn captures() -> Vec<(String, Vec<u8>, Option<String>)> {
    let mut found = Vec::new();
    for (weather, seeds) in [(Weather::Plain, 0..9), (Weather::Wild, 0..14)] {
        for seed in seeds {
            let Ok(run) = captured(seed, weather) else { continue };
            let place = run.places.into_iter().nth(seed as usize % 3).unwrap();
            found.push((format!("{weather:?} {seed} {}", place.name), place.pcapng, Some(place.truth)));
        }
    }
    for seed in 0..60 {
        found.extend(association(seed, 0).map(|pcapng| (format!("SCTP {seed}"), pcapng, None)));
    }
    found
}

/// Returns the capture of a random association at a node; `None` for a scenario without SCTP.
fn association(seed: u64, node: usize) -> Option<Vec<u8>> {
    let text = generate::recorded(seed).to_string();
    if !text.contains("sctp") {
        return None;
    }
    let mut scenario = Scenario::parse(&text, "golden".as_ref()).unwrap();
    scenario.duration = eifel_base::time::Duration::from_secs(300).min(scenario.duration);
    let options = Options { record: Record::none().capturing(node), most_events: Some(40_000), ..Options::default() };
    let outcome = run_with(&scenario, 0, options).ok()?;
    Some(outcome.captures[0].pcapng.clone())
}

/// Returns all outputs for a capture.
fn made(file: &[u8], truth: Option<&str>) -> [String; 5] {
    let mut report = match Report::of_bytes("x.pcap", file) {
        Ok(report) => report,
        Err(error) => return [error.to_string(), String::new(), String::new(), String::new(), String::new()],
    };
    let recorded = |one: &mut Retransmission| one.first_told.retain(|told| is_recorded("detect", told.detector));
    report.retransmissions.iter_mut().for_each(recorded);
    let mut reader = Reader::new();
    reader.feed(file);
    let mut annotator = Annotator::new(Vec::new(), report.of_capture(0)).unwrap();
    let mut anonymiser = Anonymiser::new(Vec::new()).unwrap();
    let mut parts: Vec<Analyzer> = Shard::all(3).map(Analyzer::of).collect();
    while let Ok(Some(frame)) = reader.frame() {
        annotator.frame(&frame).unwrap();
        anonymiser.frame(&frame).unwrap();
        parts.iter_mut().for_each(|part| part.frame(&frame));
    }
    let totals: String = parts.iter().map(|part| format!("{:?}", part.totals())).collect();
    let mut joined = shard::join(parts.into_iter().map(Analyzer::finish_shard).collect());
    joined.retransmissions.iter_mut().for_each(recorded);
    let judged = truth.map(|truth| score::score(&score::read_truth(truth).unwrap(), &report.retransmissions).json());
    let copies = format!("{}{}", digest(annotator.finish().unwrap()), digest(anonymiser.finish().unwrap()));
    let rest = format!("{totals}{joined:?}{judged:?}{copies}");
    [text::summary(&report), report.json(), report.csv(), rest, judged.unwrap_or_default()]
}

#[test]
fn reports_of_captures_match_the_golden() {
    let (mut whole, mut digests) = (String::new(), String::new());
    for (number, (name, pcapng, truth)) in captures().iter().enumerate() {
        let frames = frames(pcapng);
        let made_of_all = made(pcapng, truth.as_deref());
        writeln!(whole, "# {name}\n{}{}", made_of_all[0], made_of_all[4]).unwrap();
        if number % 11 == 2 {
            let lines: Vec<&str> = made_of_all[2].lines().take(12).collect();
            writeln!(whole, "{}", lines.join("\n")).unwrap();
        }
        let changes = CHANGES.iter().map(|(change, changed)| (*change, pcap(&changed(&frames))));
        for (change, file) in changes.chain([("cut short", pcapng[..pcapng.len() * 2 / 3].to_vec())]) {
            let all = made(&file, truth.as_deref()).map(digest).join(" ");
            writeln!(digests, "{name}, {change}: {all}").unwrap();
        }
    }
    golden!("reports.txt", whole);
    golden!("report_digests.txt", digests);
}

/// The connections of separate captures are numbered consecutively.
/// Every packet in a VLAN takes the full path. Without a VLAN, nearly all take the fast path.
#[test]
fn the_fast_path_and_the_full_path_report_the_same() {
    for (name, file, _) in captures() {
        let all = frames(&file);
        for (what, change) in CHANGES {
            let (mut fast, mut full) = (Analyzer::default(), Analyzer::default());
            for (index, Kept { nanos, bytes, wire_len }) in change(&all).iter().enumerate() {
                let kind: [u8; 2] = if bytes[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
                let tagged = [&[0; 12], &[0x81, 0, 0, 0][..], &kind, bytes].concat();
                for (analyzer, link, bytes, headers) in [(&mut fast, 101, bytes, 0), (&mut full, 1, &tagged, 18)] {
                    let (number, wire_len) = (index as u64 + 1, wire_len + headers);
                    analyzer.frame(&Frame { number, nanos: *nanos, link, interface: 0, wire_len, bytes });
                }
            }
            assert_eq!(fast.finish(), full.finish(), "{name}, {what}");
        }
    }
}

#[test]
fn frames_and_connections_of_a_second_capture_are_numbered_after_the_first() {
    let run = captured(2, Weather::Plain).unwrap();
    let analysed = || {
        let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
        reader.feed(&run.places[0].pcapng);
        reader.each(&mut analyzer).unwrap();
        analyzer.finish()
    };
    let mut report = Report::default();
    for file in ["one", "two"] {
        let analysis = analysed();
        report.add(vec![Capture { file: file.to_owned(), frames: analysis.frames, error: None }], analysis);
    }
    let connections = report.connections.len() as u64 / 2 + report.connections_without_data / 2;
    let (one, two) = report.retransmissions.split_at(report.retransmissions.len() / 2);
    assert!(!one.is_empty() && connections > 0);
    for (one, two) in one.iter().zip(two) {
        let behind = Retransmission { capture: 1, connection: one.connection + connections, ..one.clone() };
        assert_eq!((one.capture, two), (0, &behind));
    }
    let numbers = |report: &Report| report.connections.iter().map(|one| one.connection).collect::<Vec<_>>();
    assert!(numbers(&report).windows(2).all(|pair| pair[0] < pair[1]));
}

/// Many more conversations than those stored as a whole, at every place.
#[test]
fn digests_of_many_reports_match_the_golden() {
    let mut text = String::new();
    for seed in 60..360 {
        let node = seed as usize % 2;
        let Some(pcapng) = association(seed, node) else { continue };
        writeln!(text, "SCTP {seed} {node}: {}", digest(Report::of_bytes("x.pcap", &pcapng).unwrap().json())).unwrap();
    }
    for (weather, seeds) in [(Weather::Plain, 20..32), (Weather::Wild, 20..44)] {
        for seed in seeds {
            for place in captured(seed, weather).into_iter().flat_map(|run| run.places) {
                let report = Report::of_bytes("x.pcap", &place.pcapng).unwrap();
                writeln!(text, "{weather:?} {seed} {}: {}", place.name, digest(report.json())).unwrap();
            }
        }
    }
    golden!("many.txt", text);
}

/// Layers below IP: the link type, and the bytes before the packet.
const LAYERS: [(u32, &[u8]); 16] = [
    (101, &[]),
    (228, &[]),
    (0, &[2, 0, 0, 0]),
    (108, &[0, 0, 0, 2]),
    (1, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0]),
    (1, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x81, 0, 0, 9, 8, 0]),
    (1, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x88, 0xa8, 0, 9, 0x81, 0, 0, 9, 8, 0]),
    (1, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x88, 0x47, 0, 0, 0x10, 64, 0, 0, 0x11, 64]),
    (1, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x88, 0x64, 0x11, 0, 0, 1, 0, 0, 0, 0x21]),
    (1, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 50, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]),
    (9, &[0xff, 3, 0, 0x21]),
    (50, &[0xff, 3, 0, 0x21]),
    (11, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]),
    (113, &[0, 0, 0, 1, 0, 6, 1, 1, 1, 1, 1, 1, 0, 0, 8, 0]),
    (276, &[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 1, 1, 1, 1, 1, 1, 0, 0]),
    // GRE in IPv4.
    (101, &[0x45, 0, 0, 0, 0, 1, 0, 0, 64, 47, 0, 0, 9, 9, 9, 9, 8, 8, 8, 8, 0, 0, 8, 0]),
];

#[test]
fn packets_in_link_layers_and_tunnels_match_the_golden() {
    let run = captured(2, Weather::Plain).unwrap();
    let all = frames(&run.places[0].pcapng);
    let mut text = String::new();
    for (link, prefix) in LAYERS {
        let mut said = String::new();
        for (number, packet) in all.iter().take(12).enumerate() {
            let mut frame = prefix.to_vec();
            frame.extend(&packet.bytes);
            if prefix.first() == Some(&0x45) {
                let length = (frame.len() as u16).to_be_bytes();
                frame[2..4].copy_from_slice(&length);
            }
            for place in 0..frame.len().min(64) {
                for damage in [0, 1, 0x40, 0xff] {
                    let mut damaged = frame.clone();
                    damaged[place] ^= damage;
                    let mut fragments = Fragments::default();
                    for bytes in [&damaged, &frame, &damaged[..place].to_vec()] {
                        let wire_len = frame.len() as u32;
                        let found = decode::packet(link, bytes, wire_len, &mut fragments);
                        writeln!(said, "{found:?}").unwrap();
                        if number == 0 && damage == 0 && place == 0 {
                            writeln!(text, "{link} {} bytes: {found:?}", bytes.len()).unwrap();
                        }
                    }
                }
            }
        }
        writeln!(text, "{link} {} bytes: {}", prefix.len(), digest(said)).unwrap();
    }
    golden!("layers.txt", text);
}

fn qlog(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/qlog").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns a QUIC log in which every ninth packet is declared lost. Every second of these is
/// acknowledged later.
fn long_qlog() -> String {
    let mut log = String::from(
        "\u{1e}{\"qlog_version\": \"0.4\", \"trace\": {\"vantage_point\": {\"type\": \"server\"}, \"common_fields\": {\"ODCID\": \"ab\"}}}\n",
    );
    let mut event = |time: f64, name: &str, data: String| {
        writeln!(log, "\u{1e}{{\"time\": {time}, \"name\": \"{name}\", \"data\": {{{data}}}}}").unwrap();
    };
    let header =
        |kind: &str, number: u32| format!("\"header\": {{\"packet_type\": \"{kind}\", \"packet_number\": {number}}}");
    let mut cwnd = 40_000;
    for number in 0..200_u32 {
        let time = f64::from(number) * 3.5;
        event(time, "quic:packet_sent", header("1RTT", number));
        if number % 9 == 8 {
            cwnd -= if number % 2 == 0 { cwnd / 3 } else { 0 };
            let trigger = if number % 4 == 0 { "reordering_threshold" } else { "time_threshold" };
            event(
                time + 1.0,
                "quic:packet_lost",
                format!("{}, \"trigger\": \"{trigger}\"", header("1RTT", number - 4)),
            );
            event(
                time + 1.0,
                "quic:metrics_updated",
                format!("\"congestion_window\": {cwnd}, \"smoothed_rtt\": 40, \"pto_count\": {}", number % 3),
            );
            let upper = if number % 18 == 8 { number - 4 } else { number };
            let ranges = format!("[[0, {}], [{upper}, {number}]]", number.saturating_sub(5));
            event(
                time + 2.0,
                "quic:packet_received",
                format!(
                    "{}, \"frames\": [{{\"frame_type\": \"ack\", \"acked_ranges\": {ranges}}}]",
                    header("1RTT", number)
                ),
            );
        }
    }
    log
}

#[test]
fn verdicts_on_logs_match_the_golden() {
    let mut text = String::new();
    let long = long_qlog();
    let logs = [("drafts", qlog("drafts")), ("sequence", qlog("sequence")), ("cut", qlog("cut")), ("long", long)];
    for (name, log) in &logs {
        let found = quic::analyse(&[(name, log)]);
        writeln!(text, "{name}: {}", serde_json::to_string(&found).unwrap()).unwrap();
        if let Ok(losses) = found {
            let report = Report { quic: Some(losses), ..Report::default() };
            writeln!(text, "{}", text::summary(&report)).unwrap();
        }
        let lines: Vec<&str> = log.lines().collect();
        for left_out in (0..lines.len()).step_by(5) {
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(line, _)| *line != left_out).map(|(_, line)| *line).collect();
            let found = format!("{:?}", quic::analyse(&[(name, &rest.join("\n"))]));
            writeln!(text, "{name} without {left_out}: {}", digest(found)).unwrap();
        }
    }
    golden!("logs.txt", text);
}

#[test]
fn the_output_of_the_command_matches_the_golden() {
    let folder = Folder::new();
    let run = captured(1, Weather::Wild).unwrap();
    let other = captured(5, Weather::Plain).unwrap();
    let file = |name: &str| -> PathBuf { folder.join(name) };
    std::fs::write(file("a.pcapng"), &run.places[0].pcapng).unwrap();
    std::fs::write(file("b.pcap"), pcap(&frames(&other.places[2].pcapng))).unwrap();
    std::fs::write(file("a.csv"), &run.places[0].truth).unwrap();
    std::fs::write(file("wrong.csv"), "frame\nx\n").unwrap();
    std::fs::write(file("a.qlog"), long_qlog()).unwrap();
    std::fs::write(file("none"), "no capture").unwrap();
    // What it says names the files as they were given.
    let local = |text: Vec<u8>| String::from_utf8(text).unwrap().replace(&format!("{}/", folder.display()), "");
    let calls = [
        "",
        "--help",
        "--other",
        "a.pcapng",
        "a.pcapng b.pcap",
        "--json a.pcapng",
        "--lines b.pcap",
        "--lines a.pcapng b.pcap",
        "--csv - b.pcap",
        "--csv b.csv b.pcap",
        "--csv b.pcap b.pcap",
        "--fail-if spurious>0 --fail-if needed>=0 a.pcapng",
        "--fail-if needed>99% a.pcapng",
        "--fail-if much a.pcapng",
        "--fail-if",
        "--score a.csv a.pcapng",
        "--score wrong.csv a.pcapng",
        "--score",
        "--annotate out.pcapng a.pcapng",
        "--annotate out.pcapng a.pcapng b.pcap",
        "--anonymise clean.pcapng a.pcapng",
        "--xpl plots a.pcapng",
        "a.qlog",
        "a.qlog b.pcap",
        "--json a.qlog",
        "none",
        "absent",
        "- a.pcapng",
    ];
    let mut text = String::new();
    for call in calls {
        let is_name = |word: &&str| word.contains('.') || ["none", "absent", "plots"].contains(word);
        let place = |word: &str| file(word).display().to_string();
        let words: Vec<String> =
            call.split_whitespace().map(|word| if is_name(&word) { place(word) } else { word.to_owned() }).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = eifel_capture::command::main(&words, &mut out, &mut err);
        let [out, err] = [out, err].map(local);
        let out = if out.len() > 3000 { format!("{} {}\n", out.len(), digest(out)) } else { out };
        writeln!(text, "$ eifel analyze {call}\n{out}{err}{code}\n").unwrap();
    }
    for name in ["out.pcapng", "clean.pcapng", "b.csv"] {
        writeln!(text, "{name}: {}", digest(std::fs::read(file(name)).unwrap())).unwrap();
    }
    let mut plots: Vec<PathBuf> = std::fs::read_dir(file("plots")).unwrap().map(|one| one.unwrap().path()).collect();
    plots.sort();
    for plot in plots {
        let name = plot.file_name().unwrap().to_string_lossy().into_owned();
        writeln!(text, "{name}: {}", digest(std::fs::read(&plot).unwrap())).unwrap();
    }
    golden!("command.txt", text);
}

/// Returns three packets in each format, in files small enough to be cut after every byte.
fn small_files() -> [(&'static str, Vec<u8>); 5] {
    let words =
        |order: fn(u32) -> [u8; 4], words: &[u32]| words.iter().flat_map(|&word| order(word)).collect::<Vec<u8>>();
    let packets: [&[u8]; 3] = [b"four", b"eight of", b""];
    let classic = |order: fn(u32) -> [u8; 4], magic: u32, version: u32| {
        let mut file = words(order, &[magic, version, 0, 0, 65_535, 101]);
        for (number, packet) in (1..).zip(packets) {
            file.extend(words(order, &[number, 5, packet.len() as u32, 60]));
            file.extend(packet);
        }
        file
    };
    let block = |order: fn(u32) -> [u8; 4], kind: u32, body: &[u8]| {
        let length = [body.len() as u32 + 12];
        [words(order, &[kind]), words(order, &length), body.to_vec(), words(order, &length)].concat()
    };
    let blocks = |order: fn(u32) -> [u8; 4], version: u32, link: u32| {
        let mut file = block(order, 0x0a0d_0d0a, &words(order, &[0x1a2b_3c4d, version, u32::MAX, u32::MAX]));
        file.extend(block(order, 1, &words(order, &[link, 0])));
        // A name resolution block, which is skipped.
        file.extend(block(order, 4, &[0; 8]));
        for (number, packet) in (1..).zip(packets) {
            let head = words(order, &[0, 0, number, packet.len() as u32, 60]);
            file.extend(block(order, 6, &[&head, packet].concat()));
        }
        file
    };
    let mut snoop = [b"snoop\0\0\0".to_vec(), words(u32::to_be_bytes, &[2, 4])].concat();
    for (number, packet) in (1..).zip(packets) {
        let length = packet.len() as u32;
        snoop.extend(words(u32::to_be_bytes, &[60, length, length + 24, 0, number, 5]));
        snoop.extend(packet);
    }
    [
        ("pcap", classic(u32::to_le_bytes, 0xa1b2_c3d4, 0x0004_0002)),
        ("pcap, big", classic(u32::to_be_bytes, 0xa1b2_3c4d, 0x0002_0004)),
        ("pcapng", blocks(u32::to_le_bytes, 1, 101)),
        ("pcapng, big", blocks(u32::to_be_bytes, 0x0001_0000, 101 << 16)),
        ("snoop", snoop),
    ]
}

/// Reads a file in pieces and returns the frames read and the errors: frames one by one, or all at
/// once.
fn far(file: &[u8], piece: usize, at_once: bool) -> String {
    let (mut reader, mut lengths) = (Reader::new(), Vec::new());
    let mut failed = None;
    for bytes in file.chunks(piece) {
        reader.feed(bytes);
        let mut take = |frame: &Frame<'_>| lengths.push((frame.number, frame.bytes.len()));
        let read = if at_once {
            reader.each(&mut take)
        } else {
            loop {
                match reader.frame() {
                    Ok(Some(frame)) => take(&frame),
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            }
        };
        failed = failed.or(read.err());
    }
    let end = failed.map_or_else(|| reader.finish(), Err);
    format!("{lengths:?} {}", end.map_or_else(|error| error.to_string(), |()| "whole".to_owned()))
}

#[test]
fn files_cut_anywhere_match_the_golden() {
    let mut text = String::new();
    for (name, file) in small_files() {
        writeln!(text, "# {name}").unwrap();
        for end in 0..=file.len() {
            let whole = far(&file[..end], usize::MAX, false);
            for piece in [1, 3, 16, 50] {
                assert_eq!(far(&file[..end], piece, false), whole, "{name} to {end} in pieces of {piece}");
                assert_eq!(far(&file[..end], piece, true), whole, "{name} to {end} in pieces of {piece}");
            }
            writeln!(text, "{end}: {whole}").unwrap();
        }
    }
    golden!("ends.txt", text);
}
