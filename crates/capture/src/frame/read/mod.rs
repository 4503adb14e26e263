//! Turns the bytes of a capture file into frames. The formats pcap, pcapng and snoop are recognised
//! by their first bytes.
//!
//! A [`Reader`] is fed bytes in pieces of any size, from a file, a pipe or a web page. It keeps
//! only bytes that it has not yet handed out. It checks lengths before it allocates memory for
//! them, so its memory stays bounded whatever lengths a file claims.

mod bytes;
mod pcap;
mod pcapng;
mod snoop;

use std::io::{self, Read};

use crate::frame::Error;

/// The number of frames announced to a sink before it receives them.
const AHEAD: usize = 64;

/// The longest packet that a record may hold, in bytes; libpcap has the same limit.
const MOST_CAPTURED: u32 = 262_144;

/// The link type of a frame without a packet, which stands for a block that Wireshark numbers too.
pub const NO_PACKET: u32 = u32::MAX;

/// A packet as it is stored in a capture file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The number of the packet in the file, from 1 as in Wireshark.
    pub number: u64,
    /// Time in nanoseconds since 1970; for a record without a time, that of the packet before it.
    pub nanos: u64,
    /// Link type, as in the registry of tcpdump.org.
    pub link: u32,
    /// Number of the interface in its section; 0 for formats without interfaces.
    pub interface: u32,
    /// The packet's length on the wire, in bytes.
    pub wire_len: u32,
    /// The captured bytes: the packet, or its start.
    pub bytes: &'a [u8],
}

/// The result of reading the bytes at hand.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    /// The next record needs this number of bytes in total.
    More(usize),
    /// This number of bytes holds no packet and is skipped. Some of them may not have come yet.
    Skip(u64),
    Frame(Record),
}

/// The position of a packet's record in the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Record {
    /// The length of the whole record in bytes.
    length: usize,
    /// The offset in the record at which the packet's bytes start, and their number.
    start: usize,
    captured: usize,
    head: Head,
}

/// A frame without its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Head {
    nanos: u64,
    link: u32,
    interface: u32,
    wire_len: u32,
}

#[derive(Debug)]
enum Format {
    Unknown,
    Pcap(pcap::File),
    Pcapng(pcapng::File),
    Snoop(snoop::File),
}

impl Format {
    /// Returns the packet record at the start of `bytes`, if it is complete, valid and of a usual
    /// kind.
    #[inline]
    fn record(&mut self, bytes: &[u8]) -> Option<Record> {
        match self {
            Self::Pcap(file) => file.record(bytes),
            Self::Pcapng(file) => file.record(bytes),
            Self::Snoop(_) | Self::Unknown => None,
        }
    }
}

/// Reads the frames of one capture file.
#[derive(Debug)]
pub struct Reader {
    /// Bytes of the file. Only those below `end` are valid.
    buffer: Vec<u8>,
    end: usize,
    /// Where in `buffer` the next record starts.
    at: usize,
    /// The offset in the file of the first byte in `buffer`.
    offset: u64,
    /// Bytes still to be skipped.
    skip: u64,
    /// Bytes that must be at hand before the next record is tried again.
    wanted: usize,
    format: Format,
    frames: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// Returns a reader at the start of a file.
    pub fn new() -> Self {
        Self { buffer: Vec::new(), end: 0, at: 0, offset: 0, skip: 0, wanted: 4, format: Format::Unknown, frames: 0 }
    }

    /// Adds the next bytes of the file.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        self.make_room(0);
        if self.end == 0 {
            let passed = self.skip.min(bytes.len() as u64);
            self.skip -= passed;
            self.offset += passed;
            bytes = &bytes[passed as usize..];
        }
        self.make_room(bytes.len());
        self.buffer[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Reads up to `most` of the file's next bytes directly from a source. Returns the number of
    /// bytes read; 0 means the end of the file.
    ///
    /// # Errors
    /// Any error of the source.
    pub fn feed_from(&mut self, source: &mut impl Read, most: usize) -> io::Result<usize> {
        self.make_room(most);
        let read = source.read(&mut self.buffer[self.end..self.end + most])?;
        self.end += read;
        Ok(read)
    }

    /// Moves the unread bytes to the start of the buffer and makes room for `more` bytes behind
    /// them.
    fn make_room(&mut self, more: usize) {
        self.offset += self.at as u64;
        self.buffer.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        if self.buffer.len() < self.end + more {
            self.buffer.resize(self.end + more, 0);
        }
    }

    /// Returns the next frame, or `None` when it needs more bytes.
    ///
    /// # Errors
    /// Returns the fault of the next record. Nothing behind that record can be read.
    #[inline]
    pub fn frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        let left = &self.buffer[self.at..self.end];
        let found = if self.skip == 0 { self.format.record(left) } else { None };
        match found {
            Some(record) => Ok(Some(self.hand_out(record))),
            None => self.next(),
        }
    }

    /// Passes all frames at hand to the sink, in the order of [`frame`](Self::frame).
    ///
    /// # Errors
    /// As for [`frame`](Self::frame). The frames before the fault were passed on.
    #[inline(always)]
    pub fn each(&mut self, sink: &mut impl Sink) -> Result<(), Error> {
        loop {
            let ahead = sink.wants_announcements();
            if ahead {
                self.announce(sink);
            }
            if self.each_usual(sink, if ahead { AHEAD } else { usize::MAX }) {
                continue;
            }
            match self.next()? {
                Some(frame) => hand_over(sink, &frame),
                None => return Ok(()),
            }
        }
    }

    /// Announces the next [`AHEAD`] usual records to the sink.
    #[inline(never)]
    fn announce(&mut self, sink: &mut impl Sink) {
        let mut left = &self.buffer[self.at..self.end];
        for _ in 0..AHEAD {
            let found = if self.skip == 0 { self.format.record(left) } else { None };
            let Some(Record { length, start, captured, head }) = found else { break };
            sink.on_announced(head.link, &left[start..start + captured]);
            left = &left[length..];
        }
        sink.on_announcements_end();
    }

    /// Passes up to `most` frames to the sink, until an unusual record comes. Changes only the
    /// position in the bytes and the count of frames. Returns whether more usual records may
    /// follow.
    #[inline(always)]
    fn each_usual(&mut self, sink: &mut impl Sink, most: usize) -> bool {
        if self.skip > 0 {
            return false;
        }
        let (mut left, mut frames) = (&self.buffer[self.at..self.end], self.frames);
        let last = frames.saturating_add(most as u64);
        // Each usual format has its own loop, so the format is not tested for each frame.
        match &mut self.format {
            Format::Pcap(file) if file.is_little() => {
                while frames < last
                    && let Some(record) = file.little(left)
                {
                    frames += 1;
                    sink.frame(&cut_off(&mut left, record, frames));
                }
            }
            Format::Pcapng(file) if file.is_little() => {
                while frames < last
                    && let Some(record) = file.little(left)
                {
                    frames += 1;
                    sink.frame(&cut_off(&mut left, record, frames));
                }
            }
            format => {
                while frames < last
                    && let Some(record) = format.record(left)
                {
                    frames += 1;
                    hand_over(sink, &cut_off(&mut left, record, frames));
                }
            }
        }
        if frames > self.frames {
            (self.at, self.frames, self.wanted) = (self.end - left.len(), frames, 4);
        }
        frames == last
    }

    /// Returns the next frame of any format, usual or not, or the fault of its record.
    #[cold]
    #[inline(never)]
    fn next(&mut self) -> Result<Option<Frame<'_>>, Error> {
        let record = loop {
            if self.skip > 0 {
                let passed = self.skip.min((self.end - self.at) as u64);
                self.at += passed as usize;
                self.skip -= passed;
                if self.skip > 0 {
                    return Ok(None);
                }
            }
            let left = &self.buffer[self.at..self.end];
            if left.len() < self.wanted {
                return Ok(None);
            }
            match step(&mut self.format, left, self.offset + self.at as u64)? {
                Step::More(wanted) => self.wanted = wanted,
                Step::Skip(length) => {
                    self.skip = length;
                    self.wanted = 4;
                }
                Step::Frame(record) => break record,
            }
        };
        Ok(Some(self.hand_out(record)))
    }

    #[inline(always)]
    fn hand_out(&mut self, Record { length, start, captured, head }: Record) -> Frame<'_> {
        let start = self.at + start;
        self.at += length;
        self.wanted = 4;
        self.frames += 1;
        let Head { nanos, link, interface, wire_len } = head;
        let bytes = &self.buffer[start..start + captured];
        Frame { number: self.frames, nanos, link, interface, wire_len, bytes }
    }

    /// Checks that the file may end here.
    ///
    /// # Errors
    /// Returns [`Error::Cut`] if a record is incomplete, and [`Error::Unknown`] if there were too
    /// few bytes to recognise a format. An empty file is no error.
    pub fn finish(&self) -> Result<(), Error> {
        let found = self.end - self.at;
        if self.skip > 0 {
            return Err(Error::Cut { offset: self.offset + self.at as u64, expected: self.skip, found: 0 });
        }
        if found == 0 {
            return Ok(());
        }
        // If more than 4 bytes are wanted, the format was recognised and its file header is
        // incomplete.
        if matches!(self.format, Format::Unknown) && self.wanted == 4 {
            let mut magic = [0; 4];
            magic[..found.min(4)].copy_from_slice(&self.buffer[self.at..][..found.min(4)]);
            return Err(Error::Unknown { magic });
        }
        Err(Error::Cut {
            offset: self.offset + self.at as u64,
            expected: self.wanted.max(found + 1) as u64,
            found: found as u64,
        })
    }

    /// Returns the number of frames handed out so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }
}

/// Receives frames.
pub trait Sink {
    /// Returns whether the sink wants frames announced before it receives them.
    fn wants_announcements(&self) -> bool {
        false
    }

    /// Announces a frame of this link type. It follows soon, unless the file is cut off or damaged
    /// first.
    fn on_announced(&mut self, _link: u32, _bytes: &[u8]) {}

    /// Marks the end of an announcement: the announced frames follow.
    fn on_announcements_end(&mut self) {}

    /// Receives the next frame.
    fn frame(&mut self, frame: &Frame<'_>);
}

impl<F: FnMut(&Frame<'_>)> Sink for F {
    #[inline(always)]
    fn frame(&mut self, frame: &Frame<'_>) {
        self(frame);
    }
}

/// Removes a record from the front of the remaining bytes. Returns its frame.
#[inline(always)]
fn cut_off<'a>(left: &mut &'a [u8], Record { length, start, captured, head }: Record, number: u64) -> Frame<'a> {
    let (whole, rest) = left.split_at(length);
    *left = rest;
    let Head { nanos, link, interface, wire_len } = head;
    Frame { number, nanos, link, interface, wire_len, bytes: &whole[start..start + captured] }
}

/// Passes on a frame of an unusual record, out of line. Frames of usual records are inlined into
/// the loop.
#[cold]
#[inline(never)]
fn hand_over(sink: &mut impl Sink, frame: &Frame<'_>) {
    sink.frame(frame);
}

/// Recognises the format if it is unknown; otherwise reads the next record.
fn step(format: &mut Format, bytes: &[u8], offset: u64) -> Result<Step, Error> {
    match format {
        Format::Pcap(file) => file.step(bytes, offset),
        Format::Pcapng(file) => file.step(bytes, offset),
        Format::Snoop(file) => file.step(bytes, offset),
        Format::Unknown => {
            let magic = bytes::four(bytes, 0);
            if magic == pcapng::SECTION_HEADER {
                *format = Format::Pcapng(pcapng::File::default());
                return Ok(Step::Skip(0));
            }
            let snoop = magic == *b"snoo";
            if !snoop && !pcap::recognises(magic) {
                return Err(Error::Unknown { magic });
            }
            let length = if snoop { snoop::HEADER_LEN } else { pcap::HEADER_LEN };
            if bytes.len() < length {
                return Ok(Step::More(length));
            }
            *format =
                if snoop { Format::Snoop(snoop::File::new(bytes)?) } else { Format::Pcap(pcap::File::new(bytes)?) };
            Ok(Step::Skip(length as u64))
        }
    }
}

#[cfg(test)]
mod tests;
