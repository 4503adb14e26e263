//! A capture of packets, written as they pass.

use crate::system::Error;
use crate::system::clock::Clock;
use eifel_base::time::Instant;
use eifel_packet::pcapng::{Interface, Packet, Writer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// A pcapng file.
pub struct Capture {
    path: PathBuf,
    clock: Clock,
    writer: Writer<BufWriter<File>>,
}

impl Capture {
    /// Creates the file. Instants are those of `clock`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, clock: Clock) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::new(path.display().to_string(), &error, "");
        let file = BufWriter::new(File::create(path).map_err(failed)?);
        let writer = Writer::new(file, concat!("eifel-live ", env!("CARGO_PKG_VERSION"))).map_err(failed)?;
        Ok(Self { path: path.to_owned(), clock, writer })
    }

    /// Adds an interface, named after the place where its packets are seen.
    ///
    /// # Errors
    /// Those of the file.
    pub fn place(&mut self, name: &str) -> Result<Interface, Error> {
        self.writer.interface(name).map_err(|error| failed(&self.path, &error))
    }

    /// Writes a packet seen at a place at the instant `at`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn note(&mut self, at: Instant, place: Interface, bytes: &[u8], comment: Option<&str>) -> Result<(), Error> {
        self.note_at(self.clock.unix_nanos(at), place, bytes, comment)
    }

    /// Writes a packet seen at a place `nanos` nanoseconds after the beginning of 1970.
    ///
    /// # Errors
    /// Those of the file.
    pub fn note_at(&mut self, nanos: u64, place: Interface, bytes: &[u8], comment: Option<&str>) -> Result<(), Error> {
        let packet = Packet { bytes, wire_len: bytes.len() as u32, comment };
        self.writer.packet(place, nanos, packet).map_err(|error| failed(&self.path, &error))
    }

    /// Writes the start of a packet that had `wire_len` bytes.
    ///
    /// # Errors
    /// Those of the file.
    pub fn note_cut(&mut self, nanos: u64, place: Interface, bytes: &[u8], wire_len: u32) -> Result<(), Error> {
        let packet = Packet { bytes, wire_len, comment: None };
        self.writer.packet(place, nanos, packet).map_err(|error| failed(&self.path, &error))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(self) -> Result<(), Error> {
        self.writer.finish().map(drop).map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::new(path.display().to_string(), error, "")
}
