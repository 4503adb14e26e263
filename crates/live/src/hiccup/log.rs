//! The box's files: a line for each packet's fate, captures of both sides, and the truth about
//! retransmissions.

use super::truth::Judged;
use super::{Direction, Fate, Transit};
use crate::capture::Capture;
use crate::system::Error;
use crate::system::clock::Clock;
use eifel_base::time::Instant;
use eifel_packet::pcapng::Interface;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The columns of `path.csv`. Times are seconds since 1970. `t_due` is when the links released or
/// dropped the packet, `t_out` when the kernel had it. A field without a value is empty.
pub const COLUMNS: &str =
    "dir,t_in,t_out,fate,seq,ack,len,flags,ipid,tsval,tsecr,t_due,flow,n,protocol,bytes,segment,copy,sport,dport";
/// The columns of `truth.csv`.
const TRUTH: &str = "frame,time,seq,len,nth,fate,spurious,orig_known,dir,flow";

/// The names of the two captures, by the side of the box.
const CAPTURES: [&str; 2] = ["sender.pcapng", "receiver.pcapng"];

/// The files of a run.
pub struct Log {
    clock: Clock,
    /// When the box's time began, on the clock.
    origin: Instant,
    path: BufWriter<File>,
    captures: [(Capture, Interface); 2],
    frames: [u64; 2],
    truth: BufWriter<File>,
    line: String,
}

impl Log {
    /// Creates the files in `folder`, and the folder if it is missing.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(folder: &Path, clock: Clock) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::new(folder.display().to_string(), &error, "");
        std::fs::create_dir_all(folder).map_err(failed)?;
        let table = |name: &str, columns: &str| {
            let mut table = BufWriter::new(File::create(folder.join(name)).map_err(failed)?);
            writeln!(table, "{columns}").map_err(failed)?;
            Ok::<_, Error>(table)
        };
        let (path, truth) = (table("path.csv", COLUMNS)?, table("truth.csv", TRUTH)?);
        let capture = |name: &str| {
            let mut capture = Capture::create(&folder.join(name), clock)?;
            let place = capture.place(name.trim_end_matches(".pcapng"))?;
            Ok::<_, Error>((capture, place))
        };
        let captures = [capture(CAPTURES[0])?, capture(CAPTURES[1])?];
        Ok(Self { clock, origin: Instant::ZERO, path, captures, frames: [0; 2], truth, line: String::new() })
    }

    /// Sets the beginning of the box's time, `origin` on the clock.
    pub fn begin(&mut self, origin: Instant) {
        self.origin = origin;
    }

    /// Records a packet that comes in, and returns its number in the capture of its side. `comment`
    /// tells a fate that is already known.
    ///
    /// # Errors
    /// Those of the files.
    pub fn enters(&mut self, passage: &Transit, packet: &[u8], comment: Option<&str>) -> Result<u64, Error> {
        self.note(passage.direction as usize, passage.entered, packet, comment)
    }

    /// Records a packet that was handed to the kernel.
    ///
    /// # Errors
    /// Those of the files.
    pub fn leaves(&mut self, passage: &Transit, packet: &[u8], left: Instant) -> Result<(), Error> {
        let held = passage.due.since(passage.entered).as_secs_f64();
        let late = left.since(passage.due).as_nanos() / 1000;
        let again = if passage.fate == Fate::Copied { "a copy, " } else { "" };
        let comment = format!("{again}{held:.6} s in the box, released {late} us late");
        self.note(1 - passage.direction as usize, left, packet, Some(&comment))?;
        self.row(passage, Some(left))
    }

    fn note(&mut self, side: usize, at: Instant, packet: &[u8], comment: Option<&str>) -> Result<u64, Error> {
        let at = at + self.origin.since(Instant::ZERO);
        let (capture, place) = &mut self.captures[side];
        capture.note(at, *place, packet, comment)?;
        self.frames[side] += 1;
        Ok(self.frames[side])
    }

    /// Writes a line of `path.csv`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn row(&mut self, passage: &Transit, left: Option<Instant>) -> Result<(), Error> {
        let seconds = |at: Instant| self.seconds(at);
        let (seen, t_in) = (&passage.seen, seconds(passage.entered));
        let t_out = left.map(seconds).unwrap_or_default();
        let t_due = seconds(passage.due);
        let dir = if passage.direction == Direction::There { "A" } else { "B" };
        self.line.clear();
        // Writing to a string does not fail.
        let _ = write!(self.line, "{dir},{t_in},{t_out},{},", passage.fate.name());
        let _ = match &seen.tcp {
            Some(tcp) => {
                let (seq, ack, len, flags) = (tcp.seq.0, tcp.ack.0, tcp.payload_len, tcp.flags.0);
                write!(self.line, "{seq},{ack},{len},{flags},{},", seen.identification)
            }
            None => write!(self.line, ",,,,{},", seen.identification),
        };
        let _ = match seen.tcp.and_then(|tcp| tcp.options.timestamps) {
            Some(stamps) => write!(self.line, "{},{},", stamps.value, stamps.echo),
            None => write!(self.line, ",,"),
        };
        let label = &seen.label;
        let _ = write!(
            self.line,
            "{t_due},{},{},{},{},{},{},",
            label.flow, seen.number, seen.protocol, passage.bytes, label.segment, label.copy
        );
        let _ = match &seen.tcp {
            Some(tcp) => writeln!(self.line, "{},{}", tcp.source_port, tcp.destination_port),
            None => writeln!(self.line, ","),
        };
        self.path.write_all(self.line.as_bytes()).map_err(Error::of("path.csv"))
    }

    /// Formats an instant of the box as seconds since 1970, to the microsecond.
    fn seconds(&self, at: Instant) -> String {
        let nanos = self.clock.unix_nanos(at + self.origin.since(Instant::ZERO));
        format!("{}.{:06}", nanos / 1_000_000_000, nanos % 1_000_000_000 / 1000)
    }

    /// Writes a line of `truth.csv`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn judged(&mut self, one: &Judged) -> Result<(), Error> {
        let (spurious, known) = (u8::from(one.spurious), u8::from(one.original_known));
        let (time, fate, flow) = (self.seconds(one.at), one.fate.name(), one.flow);
        let dir = if one.direction == Direction::There { "A" } else { "B" };
        let (frame, seq, len, nth) = (one.frame, one.seq, one.len, one.nth);
        let line = format!("{frame},{time},{seq},{len},{nth},{fate},{spurious},{known},{dir},{flow}\n");
        self.truth.write_all(line.as_bytes()).map_err(Error::of("truth.csv"))
    }

    /// Completes the files.
    ///
    /// # Errors
    /// Those of the files.
    pub fn finish(mut self) -> Result<(), Error> {
        self.truth.flush().map_err(Error::of("truth.csv"))?;
        self.path.flush().map_err(Error::of("path.csv"))?;
        self.captures.into_iter().try_for_each(|(capture, _)| capture.finish())
    }
}
