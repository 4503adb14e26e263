//! Captures in files and pipes, compressed or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::analysis::{Analysis, Analyzer};
use crate::read::Reader;

/// Bytes read at a time.
const PIECE: usize = 1 << 18;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Opens a file, or standard input for `-`, and decompresses it if it has to be.
///
/// # Errors
/// Those of the file system.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let raw: Box<dyn Read> = if path.as_os_str() == "-" { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    decompressed(raw)
}

/// Recognises a compression by the first bytes.
///
/// # Errors
/// Those of `raw`, and a compressed file without a beginning.
pub fn decompressed(raw: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut buffered = BufReader::with_capacity(PIECE, raw);
    let first = buffered.fill_buf()?;
    if first.starts_with(&GZIP) {
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(buffered)));
    }
    if first.starts_with(&ZSTD) {
        let decoder = ruzstd::decoding::StreamingDecoder::new(buffered)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        return Ok(Box::new(decoder));
    }
    Ok(Box::new(buffered))
}

/// What a capture holds, and what stopped the reading of it, if anything did.
pub type Outcome = (Analysis, Result<(), String>);

/// Analyses one capture. What was read before an error counts.
pub fn analyse(mut source: impl Read, mut progress: impl FnMut(u64)) -> Outcome {
    let mut reader = Reader::new();
    let mut analyzer = Analyzer::default();
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    let mut read = || -> Result<(), String> {
        loop {
            let length = match source.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.to_string()),
            };
            total += length as u64;
            reader.feed(&piece[..length]);
            while let Some(frame) = reader.frame().map_err(|error| error.to_string())? {
                analyzer.frame(&frame);
            }
            progress(total);
        }
        reader.finish().map_err(|error| error.to_string())
    };
    let end = read();
    (analyzer.finish(), end)
}
