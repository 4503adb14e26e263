//! The box on two devices, with the real clock.

use super::counts::Counts;
use super::lateness::Lateness;
use super::log::Log;
use super::order::Order;
use super::truth::{Judged, Truth};
use super::{Direction, Fate, Hiccup, Transit};
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::signals;
use crate::system::tun::Tun;
use crate::system::wait::{self, Priority};
use eifel_base::time::{Duration, Instant};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

/// The most packets taken from a device before the loop turns to orders and deliveries.
const BATCH: usize = 32;
const LONGEST: usize = 65_535;
/// The longest order, in bytes.
const ORDER: usize = 256;

/// Where orders come from while the box runs.
#[derive(Default)]
pub struct Control {
    /// Input with one order a line; an empty line toggles. `None` once the input has ended.
    pub keys: Option<OwnedFd>,
    /// Socket whose datagrams are orders.
    pub socket: Option<UnixDatagram>,
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Counts of packets, there and back.
    pub counts: [Counts; 2],
    /// How late packets left the box.
    pub lateness: Lateness,
    /// Retransmissions of TCP flows.
    pub retransmissions: u64,
    /// Those of them that were spurious.
    pub spurious: u64,
    /// Packets that the kernel had no room for.
    pub refused: u64,
    /// When the first packet came in, on the clock. The box's time begins then.
    pub origin: Instant,
    /// From the first packet to the end.
    pub lasted: Duration,
    /// All packets and copies with their fates. Empty unless the relay is
    /// [`keeping`](Relay::keeping) them.
    pub passages: Vec<Transit>,
    /// The judged retransmissions. Empty unless the relay is [`keeping`](Relay::keeping) them.
    pub judged: Vec<Judged>,
}

/// The box at work between two devices.
pub struct Relay {
    hiccup: Hiccup,
    tuns: [Tun; 2],
    clock: Clock,
    control: Control,
    typed: LineBuffer,
    log: Option<Log>,
    /// When the first packet came in. The box's time begins then, as the simulator's does with its
    /// first flow.
    origin: Option<Instant>,
    truth: Truth,
    report: Report,
    /// Whether the report keeps all packets and all judged retransmissions.
    keeps: bool,
}

impl Relay {
    /// Makes a box between two devices. Packets from the first go there, those from the second
    /// back.
    pub fn new(hiccup: Hiccup, tuns: [Tun; 2], clock: Clock, control: Control, log: Option<Log>) -> Self {
        let report = Report {
            counts: Default::default(),
            lateness: Lateness::default(),
            retransmissions: 0,
            spurious: 0,
            refused: 0,
            origin: Instant::ZERO,
            lasted: Duration::ZERO,
            passages: Vec::new(),
            judged: Vec::new(),
        };
        let truth = Truth::default();
        Self {
            hiccup,
            tuns,
            clock,
            control,
            typed: LineBuffer::default(),
            log,
            origin: None,
            truth,
            report,
            keeps: false,
        }
    }

    /// Keeps all packets with their fates, and all judged retransmissions, for the report.
    pub fn keeping(self) -> Self {
        Self { keeps: true, ..self }
    }

    /// Runs until `done` returns true, or a signal asks to stop.
    ///
    /// # Errors
    /// Those of devices and files, and of `done`.
    pub fn run(mut self, mut done: impl FnMut() -> Result<bool, Error>) -> Result<Report, Error> {
        let signals = signals()?;
        let _precise = wait::PreciseTimers::begin(Priority::First);
        let mut room = vec![0; LONGEST];
        while !signals.ask_to_stop() && !done()? {
            let mut moved = 0;
            for direction in Direction::ALL {
                moved += self.take_in(direction, &mut room)?;
            }
            self.take_orders()?;
            self.hiccup.run(self.now());
            moved += self.let_out()?;
            let judged = self.truth.judged();
            self.note(judged)?;
            if moved == 0 {
                self.wait()?;
            }
        }
        self.finish()
    }

    /// Returns the box's time, which stands still until the first packet comes.
    fn now(&self) -> Instant {
        self.origin.map_or(Instant::ZERO, |origin| Instant::ZERO + self.clock.now().since(origin))
    }

    fn take_in(&mut self, direction: Direction, room: &mut [u8]) -> Result<usize, Error> {
        for count in 0..BATCH {
            let Some(length) = self.tuns[direction as usize].read(room)? else { return Ok(count) };
            let packet = &room[..length];
            if !is_unicast(packet) {
                continue;
            }
            if self.origin.is_none() {
                let origin = self.clock.now();
                self.origin = Some(origin);
                if let Some(log) = &mut self.log {
                    log.begin(origin);
                }
            }
            let now = self.now();
            self.hiccup.take(now, direction, packet.to_vec());
            let dropped = self.hiccup.dropped();
            let own = |passage: &&Transit| passage.entered == now && passage.direction == direction;
            let comment = dropped.iter().rev().find(own).map(|passage| format!("dropped: {}", passage.fate.name()));
            let entered = self.hiccup.last().cloned();
            if let Some(passage) = entered {
                let frame = match &mut self.log {
                    Some(log) => log.enters(&passage, packet, comment.as_deref())?,
                    None => 0,
                };
                self.truth.enters(&passage, frame);
            }
            self.book(&dropped)?;
        }
        Ok(BATCH)
    }

    fn book(&mut self, dropped: &[Transit]) -> Result<(), Error> {
        for passage in dropped {
            self.report.counts[passage.direction as usize].note(passage);
            self.truth.ends(passage);
            if let Some(log) = &mut self.log {
                log.row(passage, None)?;
            }
            if self.keeps {
                self.report.passages.push(passage.clone());
            }
        }
        Ok(())
    }

    fn let_out(&mut self) -> Result<usize, Error> {
        let delivered = self.hiccup.delivered();
        let count = delivered.len();
        for (mut passage, packet) in delivered {
            let to = &self.tuns[1 - passage.direction as usize];
            self.report.refused += u64::from(!to.write(&packet)?);
            let left = self.now();
            passage.left = left;
            self.report.lateness.note(left.since(passage.due));
            self.report.counts[passage.direction as usize].note(&passage);
            self.truth.ends(&passage);
            if let Some(log) = &mut self.log {
                log.leaves(&passage, &packet, left)?;
            }
            if self.keeps {
                self.report.passages.push(passage);
            }
        }
        let dropped = self.hiccup.dropped();
        self.book(&dropped)?;
        Ok(count)
    }

    /// Records judged retransmissions.
    fn note(&mut self, judged: Vec<Judged>) -> Result<(), Error> {
        self.report.retransmissions += judged.len() as u64;
        self.report.spurious += judged.iter().filter(|one| one.spurious).count() as u64;
        if let Some(log) = &mut self.log {
            judged.iter().try_for_each(|one| log.judged(one))?;
        }
        if self.keeps {
            self.report.judged.extend(judged);
        }
        Ok(())
    }

    fn take_orders(&mut self) -> Result<(), Error> {
        let mut text = [0; ORDER];
        if let Some(keys) = &self.control.keys
            && wait::is_readable(keys.as_fd())?
        {
            let count = rustix::io::read(keys, &mut text).map_err(Error::of("standard input"))?;
            if count == 0 {
                self.control.keys = None;
            }
            let lines = self.typed.take(&text[..count]);
            self.follow(&lines);
        }
        while let Some(socket) = &self.control.socket
            && let Ok(count) = socket.recv(&mut text)
        {
            self.follow(&text[..count]);
        }
        Ok(())
    }

    fn follow(&mut self, text: &[u8]) {
        let now = self.now();
        for line in String::from_utf8_lossy(text).lines() {
            let order = if line.trim().is_empty() { "toggle" } else { line };
            match Order::parse(order) {
                Ok(order) => self.hiccup.obey(now, order),
                Err(what) => eprintln!("eifel live hiccup: {what}"),
            }
        }
    }

    fn wait(&self) -> Result<(), Error> {
        let due = self.hiccup.next_event();
        let limit = if due == Instant::NEVER { Duration::MAX } else { due.since(self.now()) };
        let keys = self.control.keys.as_ref().map(AsFd::as_fd);
        let socket = self.control.socket.as_ref().map(AsFd::as_fd);
        let descriptors: Vec<BorrowedFd<'_>> = self.tuns.iter().map(AsFd::as_fd).chain(keys).chain(socket).collect();
        wait::until_readable(&descriptors, limit)
    }

    fn finish(mut self) -> Result<Report, Error> {
        self.report.origin = self.origin.unwrap_or_default();
        self.report.lasted = self.now().since(Instant::ZERO);
        let left: Vec<Transit> = self.hiccup.left().cloned().collect();
        for passage in &left {
            debug_assert_eq!(passage.fate, Fate::Inside);
        }
        self.book(&left)?;
        let rest = std::mem::take(&mut self.truth).finish();
        self.note(rest)?;
        if let Some(log) = self.log.take() {
            log.finish()?;
        }
        Ok(self.report)
    }
}

/// The bytes of a line that has not ended. A pipe may deliver a line in parts.
#[derive(Debug, Default)]
struct LineBuffer(Vec<u8>);

impl LineBuffer {
    /// Takes the bytes read next; none mean the end of the input. Returns the complete lines. The
    /// rest is complete at the end, and when it is as long as an order may be.
    fn take(&mut self, next: &[u8]) -> Vec<u8> {
        self.0.extend_from_slice(next);
        let whole = match self.0.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => end + 1,
            None if !next.is_empty() && self.0.len() < ORDER => 0,
            None => self.0.len(),
        };
        self.0.drain(..whole).collect()
    }
}

/// Returns whether a packet passes the box. Broadcast, multicast, and IPv6 link-local packets do
/// not: a kernel sends them on its own, for example to search for routers.
fn is_unicast(packet: &[u8]) -> bool {
    match packet {
        [first, ..] if first >> 4 == 4 => packet.get(16).is_some_and(|&byte| byte < 224),
        [first, ..] if first >> 4 == 6 => {
            // Multicast, and link-local addresses.
            packet.get(24..26).is_some_and(|to| to[0] != 0xff && !(to[0] == 0xfe && to[1] & 0xc0 == 0x80))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_arrive_whole_for_any_split_of_the_input() {
        let text = b"hold 2\n\nrelease there\n  \ntoggle\ndrop 3";
        for length in 1..=text.len() {
            let mut typed = LineBuffer::default();
            let mut taken = Vec::new();
            for piece in text.chunks(length) {
                let lines = typed.take(piece);
                assert!(lines.is_empty() || lines.ends_with(b"\n"), "{length}: {lines:?}");
                taken.extend(lines);
                // Only the incomplete line is left.
                let read = taken.len() + typed.0.len();
                let begun = text[..read].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
                assert_eq!((taken.as_slice(), typed.0.as_slice()), (&text[..begun], &text[begun..read]));
            }
            assert_eq!(typed.take(b""), b"drop 3");
            assert_eq!(typed.take(b""), b"", "nothing is taken twice");
        }
    }

    #[test]
    fn a_typed_line_is_buffered_up_to_the_longest_order() {
        let mut typed = LineBuffer::default();
        assert!(typed.take(&[b'x'; ORDER - 1]).is_empty());
        assert_eq!(typed.take(b"x"), [b'x'; ORDER]);
        assert!(typed.take(b"y").is_empty());
    }

    #[test]
    fn only_unicast_packets_pass_the_box() {
        let v4 = |to: u8| [&[0x45; 16][..], &[to]].concat();
        let v6 = |to: [u8; 2]| [&[0x60; 24][..], &to].concat();
        assert!(is_unicast(&v4(223)) && !is_unicast(&v4(224)) && !is_unicast(&v4(255)));
        assert!(is_unicast(&v6([0xfd, 0])) && is_unicast(&v6([0xfe, 0x40])) && is_unicast(&v6([0xfc, 0x80])));
        assert!(!is_unicast(&v6([0xff, 2])) && !is_unicast(&v6([0xfe, 0x80])) && !is_unicast(&v6([0xfe, 0xbf])));
        // A packet that is cut off in front of its destination does not pass.
        assert!(![&v4(1)[..16], &v6([0xfd, 0])[..25], &[0x15; 40], &[]].into_iter().any(is_unicast));
    }
}
