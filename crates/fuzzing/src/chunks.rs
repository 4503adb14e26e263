//! SCTP packets: the common header, chunks, parameters and error causes.

use eifel_packet::Error;
use eifel_packet::sctp::{Cause, Causes, Chunk, Parameter, Parameters, Writer, parse};

use crate::options::assert_one_line_within;

/// Reads any bytes as a packet, or refuses them with an offset inside them. Chunks, parameters and
/// causes that were read are written in the announced length, and read back equal. If only the
/// checksum is wrong, the error gives the right one.
///
/// # Panics
/// If an invariant does not hold.
pub fn chunks(data: &[u8]) {
    let mut bytes = data.to_vec();
    if let Err(Error::Crc32c { offset, expected, .. }) = parse(&bytes) {
        bytes[offset..offset + 4].copy_from_slice(&expected.to_be_bytes());
    }
    let (header, read) = match parse(&bytes) {
        Ok(read) => read,
        Err(error) => return assert_one_line_within(error, bytes.len()),
    };
    let mut good = Vec::new();
    for chunk in read {
        match chunk {
            Ok(chunk) => good.push(chunk),
            Err(error) => assert_one_line_within(error, bytes.len()),
        }
    }
    let mut written = Vec::new();
    let mut writer = Writer::new(&header, &mut written);
    for chunk in &good {
        let before = writer.len();
        // The padding of the last chunk may have been missing in the input.
        if let Err(error) = writer.chunk(chunk) {
            return assert!(matches!(error, Error::TooLong { .. }), "{error}");
        }
        assert_eq!(writer.len() - before, chunk.length().next_multiple_of(4));
    }
    writer.finish();
    let (again, chunks) = parse(&written).expect("it was just written");
    assert_eq!(again, header);
    assert!(chunks.eq(good.iter().map(|chunk| Ok(*chunk))));
    good.iter().for_each(inside);
}

/// Reads everything inside a chunk.
fn inside(chunk: &Chunk<'_>) {
    match chunk {
        Chunk::Init(init) | Chunk::InitAck(init) => parameters(init.parameters),
        Chunk::Heartbeat(info) | Chunk::HeartbeatAck(info) => parameters(*info),
        Chunk::Abort { causes: all, .. } | Chunk::Error(all) => causes(*all),
        _ => {}
    }
}

fn parameters(all: Parameters<'_>) {
    let mut out = Vec::new();
    let mut good: Vec<Parameter<'_>> = Vec::new();
    for parameter in all.iter() {
        match parameter {
            Ok(parameter) => {
                parameter.emit(&mut out);
                good.push(parameter);
            }
            Err(error) => assert_one_line_within(error, all.0.len()),
        }
    }
    assert!(Parameters(&out).iter().eq(good.into_iter().map(Ok)));
}

fn causes(all: Causes<'_>) {
    let mut out = Vec::new();
    let mut good: Vec<Cause<'_>> = Vec::new();
    for cause in all.iter() {
        match cause {
            Ok(cause) => {
                cause.emit(&mut out);
                good.push(cause);
            }
            Err(error) => assert_one_line_within(error, all.0.len()),
        }
    }
    assert!(Causes(&out).iter().eq(good.into_iter().map(Ok)));
}
