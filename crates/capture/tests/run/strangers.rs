//! Captures of other people's networks, and captures in their likeness, each with its right answer.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use eifel_testkit::Folder;
use std::path::PathBuf;

use eifel_capture::files;
use eifel_capture::frame::read::Reader;
use eifel_capture::report::anonymise::Anonymiser;
use eifel_capture::report::{Report, text};
use eifel_capture::result::{Cause, Confidence, Number, Vantage, Verdict};

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faults").join(file)
}

fn read(file: &str) -> Report {
    Report::of_bytes(file, &std::fs::read(path(file)).unwrap()).unwrap()
}

/// Returns the frames of data that were sent again, with their verdicts.
fn data(report: &Report) -> Vec<(u64, Verdict)> {
    let rows = report.retransmissions.iter().filter(|row| row.cause != Cause::Syn && !row.repairs_nothing());
    rows.map(|row| (row.frame, row.verdict)).collect()
}

/// Returns the segments with data, in all directions of all connections.
fn segments(report: &Report) -> u64 {
    report.connections.iter().flat_map(|one| &one.directions).map(|one| one.counts.segments).sum()
}

fn twins(report: &Report) -> u64 {
    report.connections.iter().map(|one| one.twins).sum()
}

#[test]
fn data_that_sack_had_reported_are_spurious_for_certain() {
    let found = read("sacked_before.pcap").retransmissions;
    let said: Vec<_> = found.iter().map(|row| (row.frame, row.verdict, row.evidence_frame)).collect();
    let reported = |frame| (frame, Verdict::Spurious, Some(12));
    assert_eq!(said, [(13, Verdict::Needed, Some(17)), reported(14), reported(15), reported(16)]);
    assert!(found[1..].iter().all(|row| row.confidence == Confidence::Certain));
}

#[test]
fn an_ack_of_what_was_never_sent_acknowledges_nothing() {
    for file in ["ack_of_an_old_connection.pcapng", "old_ack_min.pcap"] {
        let report = read(file);
        let said: Vec<_> = report.retransmissions.iter().map(|row| (row.frame, row.cause, row.verdict)).collect();
        assert_eq!(said, [(4, Cause::Syn, Verdict::Needed)], "{file}");
        assert_eq!(report.connections[0].directions[0].counts.bytes_not_seen, 0, "{file}");
    }
}

#[test]
fn of_two_syn_acks_the_acknowledged_one_counts() {
    for file in ["two_syn_acks.pcapng", "two_syn_acks_min.pcap"] {
        let report = read(file);
        assert!(report.retransmissions.iter().all(|row| row.cause == Cause::Syn), "{file}");
        assert!(report.retransmissions.iter().all(|row| row.confidence != Confidence::Certain), "{file}");
        assert_eq!(report.connections[0].directions[1].counts.bytes_not_seen, 0, "{file}");
    }
}

#[test]
fn packets_that_overtake_many_others_are_no_retransmissions() {
    let report = read("reorder_beyond_half_rtt.pcapng");
    let (data, spurious) = (data(&report), report.count(Verdict::Spurious));
    assert_eq!((data.len(), spurious), (21 + 3, 7));
    assert!(data.iter().all(|(frame, _)| *frame > 62));
    let (early, late) = data.split_at(7);
    assert!(early.iter().all(|(frame, verdict)| *frame <= 125 && *verdict == Verdict::Spurious));
    assert!(late.iter().all(|(_, verdict)| *verdict == Verdict::Needed));
}

#[test]
fn data_below_the_first_segment_of_a_capture_are_followed() {
    let report = read("below_the_first.pcap");
    assert_eq!(data(&report), [(9, Verdict::Needed), (10, Verdict::Needed)]);
    assert_eq!(segments(&report), 7);
}

#[test]
fn a_reported_duplicate_with_the_bounds_of_the_original_is_the_original() {
    let found = data(&read("late_original_dsack.pcap"));
    assert_eq!(found, [9, 10, 16, 17, 18].map(|frame| (frame, Verdict::Spurious)));
}

#[test]
fn copies_of_packets_are_no_retransmissions_however_late_or_early_they_come() {
    for file in ["twins_late.pcapng", "twins_first_syn.pcapng", "netdup_ts.pcap"] {
        let report = read(file);
        assert_eq!(report.retransmissions, [], "{file}");
        assert!(twins(&report) > 0, "{file}");
    }
}

#[test]
fn equal_addresses_in_three_vlans_are_three_connections() {
    let report = read("three_vlans.pcap");
    assert_eq!(report.retransmissions, []);
    let vlans: Vec<_> = report.connections.iter().map(|one| (one.vlans.clone(), one.packets, one.twins)).collect();
    assert_eq!(vlans, [(vec![], 14, 0), (vec![42], 14, 0), (vec![10, 20], 14, 0)]);
}

/// Without the tags, the three connections between equal addresses would be one.
#[test]
fn an_anonymised_copy_keeps_vlans_apart_under_other_numbers() {
    let (mut reader, mut copy) = (Reader::new(), Anonymiser::new(Vec::new()).unwrap());
    reader.feed(&std::fs::read(path("three_vlans.pcap")).unwrap());
    while let Some(frame) = reader.frame().unwrap() {
        copy.frame(&frame).unwrap();
    }
    let report = Report::of_bytes("copy", &copy.finish().unwrap()).unwrap();
    assert_eq!(report.retransmissions, []);
    let vlans: Vec<_> = report.connections.iter().map(|one| (one.vlans.clone(), one.packets, one.twins)).collect();
    assert_eq!(vlans, [(vec![], 14, 0), (vec![1], 14, 0), (vec![2, 3], 14, 0)]);
}

#[test]
fn an_ack_of_new_data_that_carries_the_fin_again_is_no_retransmission() {
    // As stacks that come from BSD send it: once for data, and once for the other end's FIN.
    let report = read("fin_in_ack.pcap");
    let causes: Vec<_> = report.retransmissions.iter().map(|row| (row.frame, row.cause)).collect();
    assert_eq!(causes, [(8, Cause::RepeatedFin), (10, Cause::RepeatedFin)]);
    let said = text::summary(&report);
    assert!(said.starts_with("Nothing was retransmitted, in 2 segments with data.\n"), "{said}");
    assert!(
        said.ends_with("not counted as retransmissions, since they repair nothing: 2 FINs in later ACKs\n"),
        "{said}"
    );
    // A FIN that a timer repeats acknowledges nothing new.
    let again = read("fin_again.pcap");
    assert_eq!(
        again.retransmissions.iter().map(|row| (row.frame, row.verdict)).collect::<Vec<_>>(),
        [(7, Verdict::Needed)]
    );
    assert!(again.retransmissions.iter().all(|row| !row.repairs_nothing()));
}

#[test]
fn keep_alives_count_as_no_retransmissions() {
    let report = read("keep_alives.pcapng");
    let count = |verdict| report.count(verdict);
    assert_eq!([Verdict::Spurious, Verdict::Needed, Verdict::Undecidable].map(count), [0; 3]);
    assert_eq!(report.retransmissions.iter().filter(|row| row.cause == Cause::KeepAlive).count(), 15);
    assert!(report.connections.iter().flat_map(|one| &one.directions).all(|one| one.counts.retransmissions == 0));
    let said = text::summary(&report);
    assert!(said.starts_with("Nothing was retransmitted, in 100 segments with data.\n"), "{said}");
    assert!(said.ends_with("not counted as retransmissions, since they repair nothing: 15 keep-alives\n"), "{said}");
}

#[test]
fn segments_inside_fragments_of_a_tunnel_are_read() {
    let report = read("gtpu_in_fragments.pcap");
    let said: Vec<_> = report.retransmissions.iter().map(|row| (row.frame, row.cause)).collect();
    assert_eq!((segments(&report), said), (21, vec![(64, Cause::Fast)]));
}

#[test]
fn frames_of_mirrors_logs_and_wireless_networks_are_read() {
    for file in ["erspan.pcap", "nflog.pcap", "radiotap.pcap"] {
        let report = read(file);
        assert_eq!(data(&report), [(14, Verdict::Needed)], "{file}");
        assert_eq!((report.segments, report.others.len()), (15, 0), "{file}");
    }
}

#[test]
fn chunks_with_equal_checksums_are_told_apart() {
    let report = read("sctp_ipv6_checksum_offload.pcapng");
    let one = &report.connections[0];
    assert_eq!((one.packets, one.twins, segments(&report)), (105, 0, 49));
}

#[test]
fn the_graph_of_an_association_shows_its_chunks() {
    let report = files::analyze(&[path("sctp_verbose.pcapng")], &mut |_, _| Ok(())).unwrap();
    let folder = Folder::new();
    files::plot(&report, &folder).unwrap();
    let graph = std::fs::read_to_string(folder.join("0.client.xpl")).unwrap();
    let count = |word: &str| graph.lines().filter(|line| line.starts_with(word)).count();
    let chunks = segments(&report) as usize;
    assert_eq!((count("darrow"), count("red")), (chunks, report.retransmissions.len()));
    assert!(count("green") > 0 && report.retransmissions.iter().all(|row| matches!(row.number, Number::Tsn(_))));
}

#[test]
fn a_timeout_far_below_the_recommended_one_is_named() {
    let report = read("sctp_messages.pcap");
    let found = &report.retransmissions;
    assert_eq!(found.len(), 30);
    assert!(found.iter().all(|row| (row.cause, row.verdict) == (Cause::Rto, Verdict::Spurious)));
    // One message a second: no window holds the sender back.
    assert!(report.connections[0].directions[0].cost.held_back_ms < 10_000.0);
}

#[test]
fn blocks_without_a_packet_are_numbered_as_in_wireshark() {
    let report = read("custom_blocks.pcapng");
    assert_eq!((report.captures[0].frames, report.segments), (8, 0));
    assert_eq!(report.others["custom or journal block of the file"], 4);
    let said = text::summary(&report);
    assert!(said.starts_with("Nothing can be said about retransmissions"), "{said}");
}

/// Returns a pcap of these frames of Ethernet, of which `snapped` bytes were captured.
fn pcap(frames: &[Vec<u8>], snapped: usize) -> Vec<u8> {
    let mut file = [&0xa1b2_c3d4_u32.to_le_bytes()[..], &[2, 0, 4, 0], &[0; 8], &65535_u32.to_le_bytes()].concat();
    file.extend(1_u32.to_le_bytes());
    for (second, frame) in frames.iter().enumerate() {
        let kept = &frame[..frame.len().min(snapped)];
        for value in [second, 0, kept.len(), frame.len()] {
            file.extend((value as u32).to_le_bytes());
        }
        file.extend(kept);
    }
    file
}

/// Returns a frame with a packet of IPv4.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = [0; 12].to_vec();
    frame.extend([
        8,
        0,
        0x45,
        0,
        0,
        20 + payload.len() as u8,
        0,
        1,
        0,
        0,
        64,
        protocol,
        0,
        0,
        10,
        0,
        0,
        1,
        10,
        0,
        0,
        2,
    ]);
    frame.extend(payload);
    frame
}

#[test]
fn a_capture_without_retransmissions_to_judge_says_what_it_holds_and_how_to_capture() {
    const CAPTURE: &str =
        "Capture on the host that sends, while it sends data: tcpdump -i any -w file.pcap 'tcp or sctp'";
    let udp = ipv4(17, &[0x9c, 0x40, 1, 0xbb, 0, 12, 0, 0, 0xc0, 0, 0, 1]);
    let ack = ipv4(6, &[0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 3, 0xe8, 0, 0, 0, 0]);
    let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
    let of_quic = format!(
        "{CAPTURE}. QUIC (over UDP) hides\n  its retransmissions from captures: analyze the log (qlog) of the end that sends."
    );
    for (frames, snapped, found, way_on) in [
        (vec![], 99, "the capture holds no packet", CAPTURE),
        (vec![udp.clone(), arp, udp], 99, "the capture holds 3 frames, and none with TCP or SCTP", &of_quic),
        (vec![ack.clone(); 2], 30, "of 2 frames, 2 could not be read: headers cut off by the snapshot length", CAPTURE),
        (vec![ack], 99, "no packet carries data", CAPTURE),
    ] {
        let report = Report::of_bytes("x.pcap", &pcap(&frames, snapped)).unwrap();
        let said = text::summary(&report);
        let first = format!("Nothing can be said about retransmissions: {found}.\n\nx.pcap: {}", frames.len());
        assert!(said.starts_with(&first), "{said}");
        assert!(said.ends_with(&format!("\n\n{way_on}\n")), "{said}");
        assert!(!said.contains("0 TCP segments"), "{said}");
        // The page shows the first sentence and the way on too.
        let words = serde_json::to_value(text::words(&report)).unwrap();
        let whole = way_on.replace("\n  ", " ");
        assert_eq!(words["without_advice"], serde_json::json!(whole));
        assert!(report.json().contains(found), "{}", report.json());
    }
    let words = serde_json::to_value(text::words(&read("keep_alives.pcapng"))).unwrap();
    assert!(words["without_advice"].is_null());
}

#[test]
fn a_handshake_that_was_answered_in_the_end_asks_for_no_listener() {
    let said = |file: &str| text::summary(&read(file));
    let answered = said("ack_of_an_old_connection.pcapng");
    assert!(answered.ends_with(
        "\n\nOnly handshakes were sent again, and all were answered in the end: the path lost or delayed their packets.\n"
    ));
    // The first SYN and its repetition, without anything else.
    let syn = ipv4(6, &[0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 3, 0xe8, 0, 0, 0, 0]);
    let silent = text::summary(&Report::of_bytes("x.pcap", &pcap(&[syn.clone(), syn], 99)).unwrap());
    assert!(silent.starts_with("1 retransmission, no bytes of data: none is known to be needless;"), "{silent}");
    assert!(silent.contains("0 of 1 retransmission spurious, 0 bytes in 0 segments\n  seen"), "{silent}");
    assert!(!silent.contains("sends like"), "a handshake shows little of a stack: {silent}");
    let listens = "see whether the other end listens there, and whether a firewall drops their packets.\n";
    assert!(silent.ends_with(listens), "{silent}");
}

#[test]
fn a_direction_is_described_in_the_words_of_its_protocol_and_without_a_round_trip_of_nothing() {
    let said = text::summary(&read("sctp_verbose.pcapng"));
    assert!(said.contains("7 of 7 retransmissions spurious, 50164 bytes in 35 DATA chunks\n"), "{said}");
    assert!(said.contains("  seen at the sender, round trip from there to the receiver at least 200.608 ms"), "{said}");
    let mut report = read("ack_at_once_nots.pcap");
    for (rtt, shown) in [(0.0004, None), (0.0005, Some("at least 0.001 ms")), (0.25, Some("at least 0.250 ms"))] {
        report.connections[0].directions.iter_mut().for_each(|way| way.rtt_ms_min = Some(rtt));
        let said = text::summary(&report);
        assert_eq!(said.contains("round trip from there to the receiver"), shown.is_some(), "{said}");
        assert!(shown.is_none_or(|shown| said.contains(shown)), "{said}");
    }
    for (goodput, without, shown) in [
        (46_000.0, 78_256.0, "34.84 s of sending lost: 46.00 kbit/s instead of 78.26"),
        (673_470.0, 673_560.0, "34.84 s of sending lost\n"),
        (3.14e6, 3.57e6, "34.84 s of sending lost: 3.14 Mbit/s instead of 3.57"),
    ] {
        for way in &mut report.connections[0].directions {
            (way.cost.goodput_bps, way.cost.goodput_without_bps, way.cost.held_back_ms) = (goodput, without, 34_842.0);
        }
        let said = text::summary(&report).replace("\n    ", " ");
        assert!(said.contains(shown), "{said}");
    }
    report.connections[0].directions.iter_mut().for_each(|way| way.cost.bytes_needless = 1);
    assert!(text::summary(&report).contains("cost: 1 byte sent needlessly, less than 0.01 % of its bytes"));
}

#[test]
fn behind_the_path_a_capture_at_the_sender_is_asked_for() {
    let mut report = read("ack_at_once_nots.pcap");
    report.connections[0].directions.iter_mut().for_each(|way| way.offered = None);
    for (vantage, is_asked) in
        [(Vantage::Sender, false), (Vantage::Between, false), (Vantage::Receiver, true), (Vantage::Unknown, true)]
    {
        report.connections[0].directions.iter_mut().for_each(|way| way.vantage = vantage);
        // No rule speaks.
        report.retransmissions.iter_mut().for_each(|one| one.copy = 3);
        let said = text::summary(&report).replace("\n  ", " ");
        let names = if is_asked { "\n\nSeen from here, the evidence names" } else { "\n\nThe evidence names" };
        assert!(said.contains(names), "{said}");
        assert_eq!(said.contains("ones: a capture at the sender may show more."), is_asked, "{said}");
        assert!(said.ends_with("and the frame that shows it.\n"), "{said}");
    }
}
