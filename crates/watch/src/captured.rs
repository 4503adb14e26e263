//! The packets of observed connections in a file, for `eifel analyze`.
//!
//! A thread receives the TCP packets of a network namespace, and holds their headers for some seconds. If their
//! connection is observed by then, or was when they passed, they go into the file.

use crate::error::Error;
use crate::observation::Judged;
use crate::tap::Tap;
use eifel_capture::frame::decode::{Fragments, packet};
use eifel_packet::pcapng::{Interface, Packet, Writer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// LINKTYPE_RAW: each packet starts with its IP header.
const LINKTYPE_RAW: u32 = 101;
/// Bytes kept of each packet: the headers of IP and TCP, and nothing or little of the data.
const KEPT: usize = 128;
/// How long packets are held, in nanoseconds: a loss sign comes later than the loss.
const HELD: u64 = 5_000_000_000;
/// Packets held at most, in some 40 MiB.
const MOST: usize = 200_000;
/// The longest packet that a socket gives, segments joined.
const LONGEST: usize = 1 << 18;
/// The longest wait for packets, so that the end is soon seen.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The ends of a connection, the smaller first.
type Ends = (SocketAddr, SocketAddr);

fn ends(one: SocketAddr, other: SocketAddr) -> Ends {
    (one.min(other), one.max(other))
}

struct Held {
    nanos: u64,
    ends: Ends,
    bytes: Box<[u8]>,
    wire_len: u32,
}

/// What was written, and what was not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Written {
    pub(crate) packets: u64,
    /// Packets that left before their time, as too many were held.
    pub(crate) early: u64,
    /// Packets that the kernel dropped, as they came faster than they were read.
    pub(crate) missed: u64,
}

/// Packets that wait for what becomes of their connection.
struct Line<W: Write> {
    held: VecDeque<Held>,
    /// When the observation of a connection ended, in nanoseconds since 1970; `None` if it goes on.
    observed: BTreeMap<Ends, Option<u64>>,
    /// `None` after a failure, and at the end.
    writer: Option<Writer<W>>,
    interface: Interface,
    written: Written,
    failed: Option<io::Error>,
}

impl<W: Write> Line<W> {
    fn new(out: W) -> io::Result<Self> {
        let mut writer = Writer::new(out, concat!("eifel-watch ", env!("CARGO_PKG_VERSION")))?;
        let interface = writer.interface("observed connections")?;
        let (held, observed) = (VecDeque::new(), BTreeMap::new());
        Ok(Self { held, observed, writer: Some(writer), interface, written: Written::default(), failed: None })
    }

    fn push(&mut self, one: Held) {
        if self.held.len() == MOST {
            self.written.early += 1;
            self.pop();
        }
        self.held.push_back(one);
    }

    /// Writes the oldest packet if it belongs to an observation.
    fn pop(&mut self) {
        let Some(one) = self.held.pop_front() else { return };
        let is_observed = self.observed.get(&one.ends).is_some_and(|end| end.is_none_or(|end| one.nanos <= end));
        if let Some(writer) = self.writer.as_mut().filter(|_| is_observed) {
            let packet = Packet { bytes: &one.bytes, wire_len: one.wire_len, comment: None };
            match writer.packet(self.interface, one.nanos, packet) {
                Ok(()) => self.written.packets += 1,
                Err(error) => (self.failed, self.writer) = (Some(error), None),
            }
        }
    }

    /// Takes the connections that are observed at `now`, and writes packets that were held long enough.
    fn observe(&mut self, open: &BTreeSet<Ends>, now: u64) {
        for (ends, end) in &mut self.observed {
            if end.is_none() && !open.contains(ends) {
                *end = Some(now);
            }
        }
        self.observed.extend(open.iter().map(|ends| (*ends, None)));
        while self.held.front().is_some_and(|one| one.nanos + HELD <= now) {
            self.pop();
        }
        // By then all packets of its time were written.
        self.observed.retain(|_, end| end.is_none_or(|end| end + 2 * HELD > now));
    }

    /// Writes what is held, and completes the file.
    fn finish(&mut self) {
        while !self.held.is_empty() {
            self.pop();
        }
        if let Some(Err(error)) = self.writer.take().map(Writer::finish) {
            self.failed = Some(error);
        }
    }
}

/// A file that gets the packets of observed connections.
pub(crate) struct Captured {
    path: PathBuf,
    line: Arc<Mutex<Line<BufWriter<File>>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Captured {
    /// Writes into a file the packets of the network namespace of another file, or of the own one, from now on.
    ///
    /// # Errors
    /// If the file cannot be written, or rights are missing.
    pub(crate) fn begin((path, file): (&str, File), namespace: Option<&str>, port: Option<u16>) -> Result<Self, Error> {
        let line = Line::new(BufWriter::new(file)).map_err(Error::of(path))?;
        let line = Arc::new(Mutex::new(line));
        let namespace = namespace.map(File::open).transpose().map_err(Error::of("open the network namespace"))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (ready, is_ready) = mpsc::channel();
        let own = (Arc::clone(&line), Arc::clone(&is_over));
        let thread = thread::spawn(move || {
            let tap = namespace.map_or(Ok(()), |namespace| enter(&namespace)).and_then(|()| Tap::open());
            match tap {
                Ok(tap) => ready.send(Ok(())).map_or(0, |()| receive(&tap, &own.0, &own.1, port)),
                Err(error) => ready.send(Err(error)).map_or(0, |()| 0),
            }
        });
        let began = is_ready.recv().unwrap_or_else(|_| Err(Error::new("receive packets", "the thread ended")));
        began.map(|()| Self { path: path.into(), line, is_over, thread: Some(thread) })
    }

    /// Takes the connections that are observed at `now`, in nanoseconds since 1970, and those that were. Returns why the
    /// file cannot be written, once.
    pub(crate) fn observe(
        &self,
        open: impl Iterator<Item = (SocketAddr, SocketAddr)>,
        judged: &[Judged],
        now: u64,
    ) -> Option<String> {
        // A short observation began and ended since the last call.
        let judged = judged.iter().map(|one| (one.local, one.remote));
        let open = open.chain(judged).map(|(local, remote)| ends(local, remote)).collect();
        let mut line = lock(&self.line);
        let had_failed = line.failed.is_some();
        line.observe(&open, now);
        line.failed.as_ref().filter(|_| !had_failed).map(|error| failure(&self.path, error))
    }

    /// Writes what is held, and completes the file.
    ///
    /// # Errors
    /// Returns why it could not be written.
    pub(crate) fn finish(mut self) -> Result<Written, String> {
        self.is_over.store(true, Ordering::Relaxed);
        let missed = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let mut line = lock(&self.line);
        line.finish();
        match &line.failed {
            Some(error) => Err(failure(&self.path, error)),
            None => Ok(Written { missed, ..line.written }),
        }
    }
}

fn failure(path: &Path, error: &io::Error) -> String {
    format!("--pcapng {}: {error}", path.display())
}

fn lock<T>(line: &Mutex<T>) -> MutexGuard<'_, T> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

fn enter(namespace: &File) -> Result<(), Error> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(Error::of("enter the network namespace"))
}

/// Receives packets until it is over, and returns how many the kernel dropped.
fn receive<W: Write>(tap: &Tap, line: &Mutex<Line<W>>, is_over: &AtomicBool, port: Option<u16>) -> u64 {
    let (mut room, mut fragments) = (vec![0; LONGEST], Fragments::default());
    while !is_over.load(Ordering::Relaxed) {
        // A wait that fails is one without packets.
        let _ = poll(&mut [PollFd::new(tap, PollFlags::IN)], Some(&WAIT));
        while !is_over.load(Ordering::Relaxed)
            && let Ok(Some((length, nanos))) = tap.read(&mut room)
        {
            let bytes = &room[..length.min(KEPT)];
            let Ok(found) = packet(LINKTYPE_RAW, bytes, length as u32, &mut fragments) else { continue };
            let (source, destination) = (found.segment.source_port, found.segment.destination_port);
            if port.is_some_and(|port| port != source && port != destination) {
                continue;
            }
            let ends =
                ends((found.addresses.source(), source).into(), (found.addresses.destination(), destination).into());
            lock(line).push(Held { nanos, ends, bytes: bytes.into(), wire_len: length as u32 });
        }
    }
    tap.missed().map_or(0, u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn of(port: u16, nanos: u64) -> Held {
        let ends = ends(([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into());
        Held { nanos, ends, bytes: vec![port as u8; 40].into(), wire_len: 1500 }
    }

    fn line() -> Line<Vec<u8>> {
        Line::new(Vec::new()).unwrap()
    }

    fn open(ports: &[u16]) -> BTreeSet<Ends> {
        ports.iter().map(|port| of(*port, 0).ends).collect()
    }

    #[test]
    fn packets_before_and_in_an_observation_are_written_and_others_are_not() {
        let mut line = line();
        // Observed from 3 s to 4 s.
        (1..=9).for_each(|second| line.push(of(7, second * SECOND)));
        line.push(of(8, 3 * SECOND));
        line.observe(&open(&[7]), 3 * SECOND);
        assert_eq!((line.written.packets, line.held.len()), (0, 10));
        line.observe(&open(&[]), 4 * SECOND);
        // Held for five seconds.
        line.observe(&open(&[]), 6 * SECOND);
        assert_eq!((line.written.packets, line.held.len()), (1, 9));
        line.finish();
        assert_eq!(line.written, Written { packets: 4, early: 0, missed: 0 });
        assert!(line.failed.is_none());
    }

    #[test]
    fn a_connection_that_is_observed_again_is_written_again_and_a_past_one_is_forgotten() {
        let mut line = line();
        line.observe(&open(&[7]), SECOND);
        line.observe(&open(&[]), 2 * SECOND);
        line.observe(&open(&[7]), 3 * SECOND);
        line.push(of(7, 4 * SECOND));
        line.observe(&open(&[]), 5 * SECOND);
        line.observe(&open(&[]), 9 * SECOND);
        assert_eq!(line.written.packets, 1);
        assert_eq!(line.observed.len(), 1);
        line.observe(&open(&[]), 15 * SECOND);
        assert!(line.observed.is_empty());
    }

    #[test]
    fn no_more_packets_are_held_than_there_is_room_for() {
        let mut line = line();
        (0..MOST as u64 + 5).for_each(|nanos| line.push(of(7, nanos)));
        assert_eq!((line.held.len(), line.written.early), (MOST, 5));
    }

    #[test]
    fn a_full_disk_is_told_once_and_ends_the_writing() {
        let full = Captured {
            path: "/dev/full".into(),
            line: Arc::new(Mutex::new(
                Line::new(BufWriter::with_capacity(600, File::create("/dev/full").unwrap())).unwrap(),
            )),
            is_over: Arc::default(),
            thread: None,
        };
        let pair = || open(&[7]).into_iter();
        (0..20).for_each(|nanos| lock(&full.line).push(of(7, nanos)));
        let told = "--pcapng /dev/full: No space left on device (os error 28)";
        assert_eq!(full.observe(pair(), &[], SECOND), None);
        assert_eq!(full.observe(pair(), &[], 6 * SECOND).as_deref(), Some(told));
        assert_eq!(full.observe(pair(), &[], 7 * SECOND), None);
        assert_eq!(full.finish().map_err(|error| error == told), Err(true));
    }
}
