//! Capture files.

use arbitrary::{Result, Unstructured};
use eifel_packet::{pcap, pcapng};

/// Bytes before the first packet of a pcap file, and before each packet's bytes.
const PCAP_HEADER: usize = 24;
const PCAP_RECORD: usize = 16;

/// Writes any packets, names and comments. Those that the formats can express become blocks with
/// consistent lengths. The others are refused without writing a byte.
///
/// # Panics
/// If an invariant does not hold.
pub fn capture(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut old = pcap::Writer::new(Vec::new()).expect("a Vec takes all");
    let mut new = pcapng::Writer::new(Vec::new(), u.arbitrary()?).expect("no such long name is made here");
    let mut interfaces = Vec::new();
    let (mut blocks, mut old_len) = (1, PCAP_HEADER);
    while !u.is_empty() {
        if interfaces.is_empty() || u.ratio(1, 8)? {
            interfaces.push(new.interface(u.arbitrary()?).expect("no such long name is made here"));
            blocks += 1;
        }
        let nanos = u.arbitrary()?;
        let bytes: &[u8] = u.arbitrary()?;
        let wire_len = u.int_in_range(0..=bytes.len() as u32 + 1500)?;
        let fits = bytes.len() <= wire_len as usize;
        let packet = pcapng::Packet { bytes, wire_len, comment: u.arbitrary()? };
        let written = new.packet(*u.choose(&interfaces)?, nanos, packet);
        assert_eq!(written.is_ok(), fits, "{} bytes of {wire_len}", bytes.len());
        blocks += u32::from(fits);
        // A pcap file's seconds have 32 bits.
        let expressible = fits && nanos / 1_000_000_000 <= u64::from(u32::MAX);
        assert_eq!(old.packet(nanos, bytes, wire_len).is_ok(), expressible);
        if expressible {
            old_len += PCAP_RECORD + bytes.len();
        }
    }
    assert_eq!(old.finish().expect("a Vec takes all").len(), old_len);
    assert_eq!(blocks_of(&new.finish().expect("a Vec takes all")), blocks);
    Ok(())
}

/// Counts the blocks of a pcapng file. Each block gives its length at both ends.
fn blocks_of(mut file: &[u8]) -> u32 {
    let mut blocks = 0;
    while let [_, _, _, _, a, b, c, d, ..] = *file {
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        assert!(length >= 12 && length.is_multiple_of(4), "a block of {length} bytes");
        let (block, rest) = file.split_at_checked(length).expect("a block within the file");
        assert!(block.ends_with(&[a, b, c, d]), "a block with two lengths");
        file = rest;
        blocks += 1;
    }
    assert!(file.is_empty(), "{} bytes after the last block", file.len());
    blocks
}
