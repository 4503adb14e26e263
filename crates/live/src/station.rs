//! A host on a device: the loop that brings packets, time and an application together.

use crate::capture::Capture;
use crate::host::{Config, Host};
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::signals;
use crate::system::tun::Tun;
pub use crate::system::wait::Waits;
use crate::system::wait::{self, Priority};
use eifel_base::time::Instant;
use eifel_packet::pcapng::Interface;
use std::os::fd::AsFd;

/// The most packets taken in during one round of the loop.
const TAKEN: usize = 64;
/// The most packets sent in one go, all at the same time of the clock.
const SENT: usize = 256;
/// Bytes sent in a row before the application gets a turn. Long rows are faster: a receiver on
/// another core falls behind, and then reads more at a time instead of sleeping after every few
/// segments.
pub const TURN: usize = 1 << 18;
/// The longest packet of IP.
const LONGEST: usize = 65_535;

/// The request of an application to the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A turn at this time, or earlier if something happens.
    Turn(Instant),
    /// No more turns: the application is done.
    Done,
}

/// An application on a host.
pub trait Application {
    /// Takes the host's events, and reads and writes its connections.
    ///
    /// # Errors
    /// The reason why the application cannot go on.
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error>;

    /// Stops the application: it ends its connections as soon as it can.
    fn stop(&mut self, now: Instant, host: &mut Host);

    /// Returns the application's own descriptors. The application gets a turn when one is ready.
    fn waits(&self) -> Vec<Waits<'_>> {
        Vec::new()
    }
}

/// A host on a device.
pub struct Station {
    pub host: Host,
    tun: Tun,
    clock: Clock,
    capture: Option<(Capture, Interface)>,
    /// The packet that leaves, in one piece. Unused if the device offloads and there is no capture.
    whole: Vec<u8>,
    urgency: Priority,
    /// Packets lost because the kernel had no room.
    lost: u64,
}

impl Station {
    /// Makes a host on `tun` with the time of `clock`.
    pub fn new(config: Config, tun: Tun, clock: Clock) -> Self {
        let (host, urgency) = (Host::new(config), Priority::Ordinary);
        Self { host, tun, clock, capture: None, whole: Vec::new(), urgency, lost: 0 }
    }

    /// Captures all packets in `capture` from now on.
    ///
    /// # Errors
    /// Those of the file.
    pub fn captured(&mut self, mut capture: Capture) -> Result<(), Error> {
        let place = capture.place(self.tun.name())?;
        self.capture = Some((capture, place));
        Ok(())
    }

    /// Gives the loop priority over ordinary threads, for a flow with pauses whose times matter.
    pub fn urgent(&mut self) {
        self.urgency = Priority::First;
    }

    /// Returns the number of packets lost because the kernel had no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Runs until the application is done, and finishes the capture.
    ///
    /// # Errors
    /// Those of the device, of the capture and of the application.
    pub fn run(&mut self, application: &mut dyn Application) -> Result<(), Error> {
        self.serve(application)?;
        self.capture.take().map_or(Ok(()), |(capture, _)| capture.finish())
    }

    /// Runs until the application is done. Another may follow.
    ///
    /// # Errors
    /// Those of the device, of the capture and of the application.
    pub fn serve(&mut self, application: &mut dyn Application) -> Result<(), Error> {
        let signals = signals()?;
        let _precise = wait::PreciseTimers::begin(self.urgency);
        let mut input = vec![0; LONGEST];
        let mut asked = false;
        loop {
            let taken = self.take_in(application, &mut input)?;
            let now = self.clock.now();
            self.host.handle_timeout(now);
            if signals.ask_to_stop() && !std::mem::replace(&mut asked, true) {
                application.stop(now, &mut self.host);
            }
            let next = application.turn(now, &mut self.host)?;
            let sent = self.send()?;
            match next {
                Next::Done if !self.host.may_send() => return Ok(()),
                Next::Turn(due) if taken + sent == 0 && !self.host.has_events() => {
                    let due = due.min(self.host.poll_timeout());
                    let mut waits = application.waits();
                    waits.push(Waits { descriptor: self.tun.as_fd(), to_read: true, to_write: false });
                    wait::until_ready(&waits, due.since(self.clock.now()))?;
                }
                _ => {}
            }
        }
    }

    /// Takes packets in. After each packet the application gets a turn, and the resulting packets
    /// are sent. If acknowledgements waited for each other, only one would leave, and detectors
    /// would see less than those of a simulated sender. If the host [may wait](Host::may_wait),
    /// further packets are taken in first: segments sent in one go cost their receiver less.
    fn take_in(&mut self, application: &mut dyn Application, room: &mut [u8]) -> Result<usize, Error> {
        for count in 0..TAKEN {
            let Some(length) = self.tun.read(room)? else { return Ok(count) };
            let now = self.clock.now();
            let packet = &room[..length];
            if let Some((capture, place)) = &mut self.capture {
                capture.note(now, *place, packet, None)?;
            }
            self.host.handle_packet(now, packet);
            if self.host.may_wait() {
                continue;
            }
            application.turn(now, &mut self.host)?;
            self.send()?;
        }
        Ok(TAKEN)
    }

    fn send(&mut self) -> Result<usize, Error> {
        let (now, mut bytes) = (self.clock.now(), 0);
        for count in 0..SENT {
            if bytes > TURN {
                return Ok(count);
            }
            let (how, leaving) = if self.tun.offloads() {
                let Some((how, leaving)) = self.host.poll_super_segment(now) else { return Ok(count) };
                (Some(how), leaving)
            } else {
                let Some(leaving) = self.host.poll_outgoing(now) else { return Ok(count) };
                (None, leaving)
            };
            bytes += leaving.len();
            if how.is_none() || self.capture.is_some() {
                self.whole.clear();
                leaving.append_to(&mut self.whole);
            }
            if let Some((capture, place)) = &mut self.capture {
                capture.note(self.clock.now(), *place, &self.whole, None)?;
            }
            // The kernel takes a short packet faster in one piece: three pieces cost it more than
            // the copy costs here.
            let written = match how {
                Some(how) => self.tun.write_offloaded(leaving.pieces(), how)?,
                None => self.tun.write(&self.whole)?,
            };
            self.lost += u64::from(!written);
        }
        Ok(SENT)
    }
}
