//! Compressed files that expand a thousandfold are read in pieces, or refused.
#![cfg(feature = "files")]

use std::io::Write;
use std::path::PathBuf;

use eifel_capture::files::analyze;
use eifel_capture::report::Report;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The header of a pcap file: microseconds, packets of at most 65 535 bytes, raw IP.
const PCAP: [u8; 24] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0];
/// The number of bytes that a bomb expands to.
const EXPANDED: usize = 1 << 24;

fn gzip(head: &[u8], zeros: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(head).expect("into memory");
    encoder.write_all(&vec![0; zeros]).expect("into memory");
    encoder.finish().expect("into memory")
}

/// Returns a zstd frame (RFC 8878): one raw block, then blocks of one repeated byte, 128 KiB each.
fn zstd(head: &[u8], window: u8, zeros: usize) -> Vec<u8> {
    const BLOCK: usize = 1 << 17;
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0, window];
    bytes.extend_from_slice(&((head.len() as u32) << 3).to_le_bytes()[..3]);
    bytes.extend_from_slice(head);
    let blocks = zeros / BLOCK;
    for number in 1..=blocks {
        let header = u32::from(number == blocks) | 1 << 1 | (BLOCK as u32) << 3;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.push(0);
    }
    bytes
}

/// Analyses bytes as a file.
fn read(name: &str, bytes: &[u8]) -> Result<Report, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bombs");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file for tests");
    analyze(&[path], &mut |_, _| Ok(()))
}

#[test]
fn a_flood_of_empty_packets_is_counted_but_not_stored() {
    // 16 bytes of zeros are the header of an empty packet.
    for (name, bytes) in [("empty.gz", gzip(&PCAP, EXPANDED)), ("empty.zst", zstd(&PCAP, 0x38, EXPANDED))] {
        assert!(bytes.len() * 500 < EXPANDED, "{name}: {}", bytes.len());
        let report = read(name, &bytes).expect("a capture");
        assert_eq!(report.captures[0].frames, EXPANDED as u64 / 16, "{name}");
        assert_eq!((report.connections.len(), report.retransmissions.len()), (0, 0));
    }
}

#[test]
fn a_packet_that_claims_to_be_huge_is_refused_before_it_is_expanded() {
    let head = [&PCAP[..], &[0; 8], &[0xff; 8]].concat();
    for (name, bytes) in [("huge.gz", gzip(&head, EXPANDED)), ("huge.zst", zstd(&head, 0x38, EXPANDED))] {
        let message = read(name, &bytes).expect_err("no packet of 4 GiB");
        assert!(message.contains(name) && !message.contains('\n'), "{message}");
    }
}

#[test]
fn a_window_larger_than_memory_is_refused() {
    // The largest exponent: a window of at least 2 TiB.
    let message = read("window.zst", &zstd(&PCAP, 0xff, 1 << 17)).expect_err("no such window");
    assert!(message.contains("window.zst") && !message.contains('\n'), "{message}");
}

#[test]
fn a_log_that_expands_a_hundredfold_is_refused() {
    let head = br#"{"qlog_version": "0.3", "traces": [{"events": ["#;
    let message = read("bomb.qlog.gz", &gzip(head, EXPANDED)).expect_err("a bomb");
    assert!(
        message.ends_with("expected a log of at most 1 GiB, and of at most 100 times its stored bytes"),
        "{message}"
    );
    // A log that compresses like real logs is read, and then refused because of its content.
    let text = [&head[..], &[b' '; 4000]].concat();
    let message = read("cut.qlog.gz", &gzip(&text, 0)).expect_err("no end");
    assert!(message.contains("not qlog"), "{message}");
}
