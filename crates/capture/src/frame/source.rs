//! Frames of files and pipes, compressed or not.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use super::Error;
use super::read::{Frame, Reader};

/// Bytes read at a time.
const PIECE: usize = 1 << 18;
pub(crate) const STANDARD_INPUT: &str = "-";

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Why reading frames stopped.
#[derive(Debug)]
pub enum Stopped {
    /// The file is damaged, cut off, or no capture; the message names it.
    ByFile(String),
    /// The progress callback returned an error.
    ByCaller(String),
}

/// Returns the message of a file that is damaged after some frames; the report has it.
///
/// # Errors
/// Returns why no frame was read, or the error of the caller.
pub(crate) fn damage(read: Result<(), Stopped>, frames: u64) -> Result<Option<String>, String> {
    match read {
        Ok(()) => Ok(None),
        Err(Stopped::ByFile(message)) if frames > 0 => Ok(Some(message)),
        Err(Stopped::ByFile(message) | Stopped::ByCaller(message)) => Err(message),
    }
}

/// Reads all frames of a file, or of standard input.
///
/// # Errors
/// Returns why reading stopped before the end.
pub fn frames_of(
    path: &Path,
    mut take: impl FnMut(&Frame<'_>),
    mut progress: impl FnMut(u64) -> Result<(), String>,
) -> Result<(), Stopped> {
    pieces_of(path, |reader, read| {
        reader.each(&mut take)?;
        Ok(progress(read))
    })
}

/// Reads a file, or standard input, piece by piece. After each piece it calls `piece` with the
/// reader and the number of bytes read so far. `piece` takes the frames out of the reader. It
/// returns the fault of the file, or an error to stop.
pub(crate) fn pieces_of(
    path: &Path,
    mut piece: impl FnMut(&mut Reader, u64) -> Result<Result<(), String>, Error>,
) -> Result<(), Stopped> {
    let said = |message: String| Stopped::ByFile(format!("{}: {message}", path.display()));
    let count = Rc::new(Cell::new(0));
    let mut source = open(path, &count).map_err(|error| said(plain(&error)))?;
    let mut reader = Reader::new();
    loop {
        match reader.feed_from(&mut source, PIECE) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(said(plain(&error))),
        }
        piece(&mut reader, count.get()).map_err(|error| said(error.to_string()))?.map_err(Stopped::ByCaller)?;
    }
    reader.finish().map_err(|error| said(error.to_string()))
}

/// Returns the text of an error without the number that Rust adds.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| if file.is_file() { file.len() } else { 0 })
}

/// Opens a file, and decompresses it if its first bytes are those of gzip or zstd.
pub(crate) fn open(path: &Path, count: &Rc<Cell<u64>>) -> io::Result<Box<dyn Read>> {
    let raw: Box<dyn Read> =
        if path.as_os_str() == STANDARD_INPUT { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    let mut buffered = BufReader::with_capacity(PIECE / 8, Counting { inner: raw, count: Rc::clone(count) });
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

/// Counts the bytes that are read, as stored.
struct Counting<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.count.set(self.count.get() + length as u64);
        Ok(length)
    }
}
