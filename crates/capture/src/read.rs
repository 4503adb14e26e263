//! Capture files as bytes in, frames out: pcap, pcapng and snoop, recognised by their first bytes.
//!
//! A [`Reader`] is fed with whatever bytes have come, from a file, a pipe or a page, and keeps only what it has not yet
//! handed out. Lengths are checked before anything is kept for them, so its memory is bounded whatever a file claims.

mod bytes;
mod pcap;
mod pcapng;
mod snoop;

use std::io::{self, Read};

use crate::error::Error;

/// Frames that a sink hears of before it takes them, where it wants to.
const AHEAD: usize = 64;

/// The longest packet that a record may hold, as libpcap has it.
const MOST_CAPTURED: u32 = 262_144;

/// A packet as a capture file holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// Counts from 1 in the file, as Wireshark counts.
    pub number: u64,
    /// Nanoseconds since 1970; 0 where the format records no time.
    pub nanos: u64,
    /// Link type, from the registry of tcpdump.org.
    pub link: u32,
    /// Number of the interface in its section; 0 where the format knows none.
    pub interface: u32,
    /// Bytes that it had on the wire.
    pub wire_len: u32,
    /// Its first bytes.
    pub bytes: &'a [u8],
}

/// The result of reading the bytes at hand.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    /// The next record needs this number of bytes in all.
    More(usize),
    /// This number of bytes, which may still be to come, holds nothing to hand out.
    Skip(u64),
    /// A packet.
    Frame(Record),
}

/// A packet's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Record {
    /// Bytes of all of it.
    length: usize,
    /// Where in it the packet's bytes start, and how many there are.
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
    /// The record of a packet that the bytes begin with, if it is a usual one.
    #[inline]
    fn record(&mut self, bytes: &[u8]) -> Option<Record> {
        match self {
            Self::Pcap(file) => file.record(bytes),
            Self::Pcapng(file) => file.record(bytes),
            Self::Snoop(_) | Self::Unknown => None,
        }
    }
}

/// Reads one capture file.
#[derive(Debug)]
pub struct Reader {
    /// Of its bytes, those below `end` are the file's.
    buffer: Vec<u8>,
    end: usize,
    /// Where in `buffer` the next record starts.
    at: usize,
    /// Where `buffer` starts in the file.
    offset: u64,
    /// Bytes still to be passed over.
    skip: u64,
    /// Bytes that the next record needs.
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
    /// A reader at the start of a file.
    pub fn new() -> Self {
        Self { buffer: Vec::new(), end: 0, at: 0, offset: 0, skip: 0, wanted: 4, format: Format::Unknown, frames: 0 }
    }

    /// Takes in the bytes that follow those it was fed with before.
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

    /// Takes in up to `most` of the bytes that follow, straight from where they come. Returns how many there were; 0 is the
    /// end.
    ///
    /// # Errors
    /// As the source says it.
    pub fn feed_from(&mut self, source: &mut impl Read, most: usize) -> io::Result<usize> {
        self.make_room(most);
        let read = source.read(&mut self.buffer[self.end..self.end + most])?;
        self.end += read;
        Ok(read)
    }

    /// Moves what was not handed out to the start of the buffer, and makes sure that `more` bytes fit behind it.
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
    /// What is wrong with the record that comes next; nothing behind it can be read.
    #[inline]
    pub fn frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        let left = &self.buffer[self.at..self.end];
        let found = if self.skip == 0 { self.format.record(left) } else { None };
        match found {
            Some(record) => Ok(Some(self.hand_out(record))),
            None => self.next(),
        }
    }

    /// Hands out all frames whose bytes are at hand, as [`frame`](Self::frame) does one by one.
    ///
    /// # Errors
    /// As [`frame`](Self::frame); the frames before it were handed out.
    #[inline(always)]
    pub fn each(&mut self, sink: &mut impl Sink) -> Result<(), Error> {
        loop {
            let ahead = sink.looks_ahead();
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

    /// Tells the sink of the next [`AHEAD`] usual records.
    #[inline(never)]
    fn announce(&mut self, sink: &mut impl Sink) {
        let mut left = &self.buffer[self.at..self.end];
        for _ in 0..AHEAD {
            let found = if self.skip == 0 { self.format.record(left) } else { None };
            let Some(Record { length, start, captured, head }) = found else { break };
            sink.comes_soon(head.link, &left[start..start + captured]);
            left = &left[length..];
        }
        sink.begins();
    }

    /// Hands out up to `most` frames until something else than a usual record comes. Nothing but the bytes that are left and the
    /// count changes. Returns whether there may be more.
    #[inline(always)]
    fn each_usual(&mut self, sink: &mut impl Sink, most: usize) -> bool {
        if self.skip > 0 {
            return false;
        }
        let (mut left, mut frames) = (&self.buffer[self.at..self.end], self.frames);
        let last = frames.saturating_add(most as u64);
        // Each usual format has a loop of its own, so that no frame asks which one it is.
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

    /// Returns the next frame of any format, or what is wrong with it.
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

    /// Says whether the file may end here.
    ///
    /// # Errors
    /// [`Error::Cut`] where a record has begun, [`Error::Unknown`] where there was too little to recognise a format. An
    /// empty file is no error.
    pub fn finish(&self) -> Result<(), Error> {
        let found = self.end - self.at;
        if self.skip > 0 {
            return Err(Error::Cut { offset: self.offset + self.at as u64, expected: self.skip, found: 0 });
        }
        if found == 0 {
            return Ok(());
        }
        // A header of which more is wanted belongs to a format that is known.
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

    /// Frames handed out so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }
}

/// Takes frames.
pub trait Sink {
    /// Whether it wants to hear of frames before it takes them.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// A frame of this link type comes soon, if the file is not cut off or damaged before it.
    fn comes_soon(&mut self, _link: u32, _bytes: &[u8]) {}

    /// Those that were announced begin to come.
    fn begins(&mut self) {}

    /// Takes the next one.
    fn frame(&mut self, frame: &Frame<'_>);
}

impl<F: FnMut(&Frame<'_>)> Sink for F {
    #[inline(always)]
    fn frame(&mut self, frame: &Frame<'_>) {
        self(frame);
    }
}

/// Takes a record off the bytes that are left. Returns its frame.
#[inline(always)]
fn cut_off<'a>(left: &mut &'a [u8], Record { length, start, captured, head }: Record, number: u64) -> Frame<'a> {
    let (whole, rest) = left.split_at(length);
    *left = rest;
    let Head { nanos, link, interface, wire_len } = head;
    Frame { number, nanos, link, interface, wire_len, bytes: &whole[start..start + captured] }
}

/// Hands over a frame of an unusual record; the usual ones become a part of the loop.
#[cold]
#[inline(never)]
fn hand_over(sink: &mut impl Sink, frame: &Frame<'_>) {
    sink.frame(frame);
}

/// Recognises the format, then asks it.
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
