//! SCTP packets: written and read back, damaged, random, and compared with the figures of the RFC.

mod drawn;
mod made;

use eifel_packet::Error;
use eifel_packet::sctp::{Chunk, Header, Writer};

const HEADER: Header = Header { source_port: 5001, destination_port: 9899, verification_tag: 0x0102_0304 };

fn packet(chunks: &[Chunk<'_>]) -> Vec<u8> {
    let mut bytes = vec![0xee; 3];
    let mut writer = Writer::new(&HEADER, &mut bytes);
    for chunk in chunks {
        let before = writer.len();
        writer.chunk(chunk).expect("fits");
        assert_eq!(writer.len() - before, chunk.length().next_multiple_of(4));
    }
    assert_eq!(writer.is_empty(), chunks.is_empty());
    writer.finish();
    bytes.split_off(3)
}

fn offset(error: Error) -> usize {
    match error {
        Error::Truncated { offset, .. } | Error::Invalid { offset, .. } | Error::Crc32c { offset, .. } => offset,
        other => panic!("{other}"),
    }
}
