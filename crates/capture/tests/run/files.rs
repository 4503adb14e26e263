//! Captures in files: in any order, damaged, compressed, streamed, followed, annotated, and
//! plotted.
#![cfg(feature = "files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use eifel_testkit::Folder;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use eifel_capture::files;
use eifel_capture::frame::read::Reader;
use eifel_capture::report::Report;
use eifel_hostile::captured::{Weather, captured};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_testkit::{digest, golden};

/// Times in nanoseconds since 1970, and bytes.
type Packets = Vec<(u64, Vec<u8>)>;

/// Returns a pcap file of raw IP with nanoseconds.
fn pcap(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file: Vec<u8> =
        [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 101].iter().flat_map(|word| word.to_le_bytes()).collect();
    for (nanos, bytes) in packets {
        let (seconds, rest, length) =
            ((nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32, bytes.len() as u32);
        file.extend([seconds, rest, length, length].iter().flat_map(|word| word.to_le_bytes()));
        file.extend(bytes);
    }
    file
}

/// Returns the packets of a connection that loses some.
fn packets() -> Packets {
    let run = captured(2, Weather::Plain).unwrap();
    let (mut reader, mut found) = (Reader::new(), Vec::new());
    reader.feed(&run.places[0].pcapng);
    while let Some(frame) = reader.frame().unwrap() {
        found.push((frame.nanos, frame.bytes.to_vec()));
    }
    found
}

/// Writes parts of a capture into a folder: whole, cut off, empty, compressed, and no capture.
fn written() -> Folder {
    let folder = Folder::new();
    let packets = packets();
    let third = packets.len() / 3;
    let save = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    save("first", &pcap(&packets[..third]));
    save("second", &pcap(&packets[third..2 * third]));
    save("third", &pcap(&packets[2 * third..]));
    save("across", &pcap(&packets[third / 2..third + 9]));
    save("empty", &pcap(&[]));
    save("nothing", b"");
    let cut = pcap(&packets[..third]);
    save("cut", &cut[..cut.len() - 7]);
    save("none", b"no capture at all");
    save("header", &cut[..30]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&cut).unwrap();
    save("first.gz", &encoder.finish().unwrap());
    save("log", br#" {"traces": [{"events": [{"time": 0, "name": "packet_lost", "data": {"packet_number": 1}}]}]}"#);
    save("wrong.log", b"{\"traces\": 5}");
    folder
}

/// Returns the files of a report and their content as text, with names independent of the folder.
fn said(report: &Report, folder: &Path) -> String {
    let name = |file: &str| file.replace(&folder.display().to_string(), "");
    let files: Vec<_> =
        report.captures.iter().map(|one| (name(&one.file), one.frames, one.error.as_deref().map(name))).collect();
    let numbers: Vec<_> = report.connections.iter().map(|one| (one.connection, one.packets)).collect();
    let again: Vec<_> = report.retransmissions.iter().map(|one| (one.capture, one.frame, one.evidence_frame)).collect();
    let logs = report.quic.as_ref().map(|quic| quic.packets.len());
    format!("{files:?} {numbers:?} {} {} {logs:?}\n", again.len(), digest(format!("{again:?}")))
}

#[test]
fn files_that_follow_each_other_are_one_capture() {
    let folder = written();
    let mut text = String::new();
    let lists: [&[&str]; 19] = [
        &["first"],
        &["first", "second", "third"],
        &["third", "first", "second"],
        &["first", "across"],
        &["across", "third", "first"],
        &["empty", "first"],
        &["first", "empty", "second"],
        &["cut", "second"],
        &["first.gz", "second"],
        &["first", "none"],
        &["none"],
        &["nothing"],
        &["nothing", "second"],
        &["header"],
        &["first", "header"],
        &["log", "second"],
        &["log"],
        &["wrong.log"],
        &["first", "absent"],
    ];
    for list in lists {
        let files: Vec<_> = list.iter().map(|name| folder.join(name)).collect();
        let mut heard = Vec::new();
        let found = files::analyze(&files, &mut |read, all| {
            heard.push((read, all));
            Ok(())
        });
        let found = found.map_or_else(
            |error| error.replace(&folder.display().to_string(), "") + "\n",
            |report| said(&report, &folder),
        );
        write!(text, "{list:?}: {heard:?} {found}").unwrap();
        // The progress callback may stop the analysis.
        if !heard.is_empty() {
            let stopped = files::analyze(&files, &mut |_, _| Err("enough".to_owned()));
            assert_eq!(stopped.err().as_deref(), Some("enough"), "{list:?}");
        }
    }
    let beside = files::analyze(&[folder.join("first"), "-".into()], &mut |_, _| Ok(()));
    writeln!(text, "{:?}", beside.unwrap_err()).unwrap();
    golden!("joined.txt", text);
}

#[test]
fn a_file_is_streamed_and_followed_as_it_is_analysed() {
    let folder = written();
    let mut text = String::new();
    for name in ["first", "cut", "first.gz", "none", "nothing", "empty", "absent"] {
        let file = folder.join(name);
        let (mut heard, mut taken) = (Vec::new(), (Vec::new(), Vec::new()));
        let mut take = |ended: Vec<_>, again: Vec<_>| {
            assert!(!ended.is_empty() || !again.is_empty());
            taken.0.extend(ended);
            taken.1.extend(again);
        };
        let streamed = files::stream(
            &file,
            &mut |read, all| {
                heard.push((read, all));
                Ok(())
            },
            &mut take,
        );
        let mut totals = Vec::new();
        let followed = files::follow(&file, &mut |now| {
            totals.push(now);
            Ok(())
        });
        let place = folder.display().to_string();
        writeln!(text, "{name}: {heard:?} {totals:?}").unwrap();
        match (streamed, followed) {
            (Ok(mut streamed), Ok(followed)) => {
                streamed.connections.extend(taken.0);
                streamed.retransmissions.extend(taken.1);
                streamed.retransmissions.sort_by_key(|one| one.frame);
                assert_eq!(streamed, followed);
                assert_eq!(files::analyze(std::slice::from_ref(&file), &mut |_, _| Ok(())), Ok(followed));
                text += &said(&streamed, &folder);
            }
            (streamed, followed) => {
                assert_eq!(streamed, followed);
                writeln!(text, "{}", streamed.unwrap_err().replace(&place, "")).unwrap();
            }
        }
        if !heard.is_empty() {
            let stop = || Err("enough".to_owned());
            let streamed = files::stream(&file, &mut |_, _| stop(), &mut |_, _| ());
            let followed = files::follow(&file, &mut |_| stop());
            assert_eq!([streamed.err(), followed.err()].map(Option::unwrap_or_default), ["enough", "enough"]);
        }
    }
    golden!("streamed.txt", text);
}

#[test]
fn copies_hold_the_frames_before_the_damage() {
    let folder = written();
    let mut text = String::new();
    let place = folder.display().to_string();
    let clean = |result: Result<(), String>| format!("{result:?}").replace(&place, "");
    for name in ["first", "cut", "first.gz", "none", "nothing"] {
        let (input, output) = (folder.join(name), folder.join("copy"));
        let _ = std::fs::remove_file(&output);
        let done = files::anonymise(&input, &output);
        let copy = std::fs::read(&output).ok().map(digest);
        writeln!(text, "{name}: {} {copy:?}", clean(done)).unwrap();
        let _ = std::fs::remove_file(&output);
        if let Ok(report) = files::analyze(&[input], &mut |_, _| Ok(())) {
            let done = files::annotate(&report, &output);
            let copy = std::fs::read(&output).ok().map(digest);
            writeln!(text, "{name}: {} {copy:?}", clean(done)).unwrap();
        }
    }
    // The capture of a run gets its comments. Without comments it stays unchanged.
    let (file, before) = (folder.join("first"), std::fs::read(folder.join("first")).unwrap());
    assert_eq!(files::comment(&file, "node", BTreeMap::new()), Ok(()));
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let comments = BTreeMap::from([(1, "the first".to_owned()), (7, "another".to_owned())]);
    assert_eq!(files::comment(&folder.join("absent"), "node", comments.clone()), Ok(()));
    assert!(!folder.join("absent").exists());
    assert_eq!(files::comment(&file, "node", comments), Ok(()));
    let after = std::fs::read(&file).unwrap();
    let holds = |what: &[u8]| after.windows(what.len()).any(|bytes| bytes == what);
    assert_eq!([b"the first".as_slice(), b"another", b"node", b"none"].map(holds), [true, true, true, false]);
    let nowhere = folder.join("no folder").join("copy");
    writeln!(text, "{}", clean(files::anonymise(&file, &nowhere))).unwrap();
    golden!("copied.txt", text);
}

/// Returns a capture of `connections` connections. Both ends of each retransmit.
fn many(connections: u16) -> Packets {
    let mut packets = Vec::new();
    for step in 0..4_u64 {
        for port in 0..connections {
            let from_server = step % 2 == 1;
            let (source_port, destination_port) = if from_server { (80, 1000 + port) } else { (1000 + port, 80) };
            let segment = Segment {
                source_port,
                destination_port,
                seq: Seq(1),
                flags: Flags::ACK,
                payload_len: 9,
                ..Segment::EMPTY
            };
            let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
            let mut header = Header::new(if from_server { addresses.reversed() } else { addresses });
            header.identification = step as u16 + 1;
            let mut bytes = Vec::new();
            datagram::emit(&header, &segment, &[7; 9], &mut bytes).unwrap();
            packets.push((1_000_000_000 * (step + 1) + u64::from(port), bytes));
        }
    }
    packets
}

#[test]
fn the_first_fifty_directions_are_plotted_in_one_file_each() {
    let folder = Folder::new();
    for (connections, plots) in [(24, 48), (25, 50), (26, 50)] {
        let file = folder.join("many");
        std::fs::write(&file, pcap(&many(connections))).unwrap();
        let report = files::analyze(&[file], &mut |_, _| Ok(())).unwrap();
        assert_eq!(report.retransmissions.len(), usize::from(connections) * 2);
        let into = folder.join(format!("plots-{connections}"));
        files::plot(&report, &into).unwrap();
        let files: Vec<_> = std::fs::read_dir(&into).unwrap().map(|one| one.unwrap().path()).collect();
        assert_eq!((files.len(), files::MOST_PLOTS), (plots, 50));
        for (connection, end, port) in [(3, "client", 1003), (7, "server", 80)] {
            let plot = std::fs::read_to_string(into.join(format!("{connection}.{end}.xpl"))).unwrap();
            assert!(plot.lines().any(|line| line.contains(&format!(":{port}_==>_"))), "{plot}");
            assert_eq!((plot.matches("white").count(), plot.matches("red").count()), (1, 1));
        }
    }
}

#[test]
fn only_a_single_regular_file_is_read_again() {
    let report = |files: &[&str]| {
        let capture = |file: &&str| eifel_capture::report::Capture { file: (*file).to_owned(), frames: 1, error: None };
        Report { captures: files.iter().map(capture).collect(), ..Report::default() }
    };
    assert_eq!(files::only_file(&report(&["a"])), Ok(PathBuf::from("a")));
    let said = |files: &[&str]| files::only_file(&report(files)).unwrap_err();
    assert_eq!(said(&["-"]), "-: standard input cannot be read twice; expected a file");
    assert_eq!(said(&["a", "b"]), "expected one file, because its frames are read once more");
    assert_eq!(said(&[]), said(&["a", "b"]));
}
