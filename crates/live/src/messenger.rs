//! SCTP on a TUN device: one association, native (protocol 132) or in UDP (RFC 6951), and the loop that drives it.

use crate::apps::meter::{Interval, Meter};
use crate::capture::Capture;
use crate::host::Tally;
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::signals::Signals;
use crate::system::tun::Tun;
use crate::system::wait::{self, Priority};
use eifel_base::time::{Duration, Instant};
use eifel_packet::icmp;
use eifel_packet::ip::{self, Addresses, Header};
use eifel_packet::pcapng::Interface;
use eifel_packet::sctp;
use eifel_packet::udp;
use eifel_recovery::association::PathId;
use eifel_sctp::event::{Event, Failure};
use eifel_sctp::{Association, Delivery, Listener, ListenerAction, Packet};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::Arc;

/// The most packets that one call takes in or sends.
const BATCH: usize = 64;
const LONGEST: usize = 65_535;

/// The carrier of SCTP's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carrier {
    /// IP.
    Native,
    /// UDP, from and to these ports. The destination port is learned from the peer's packets.
    Udp(udp::Ports),
}

impl Carrier {
    /// Writes a packet that carries `bytes` of SCTP.
    fn wrap(&self, addresses: Addresses, identification: u16, bytes: &[u8], packet: &mut Vec<u8>) -> Result<(), Error> {
        packet.clear();
        let header = Header { identification, ..Header::new(addresses) };
        let failed = Error::of("make a packet");
        match self {
            Self::Native => {
                ip::emit(&header, sctp::PROTOCOL, bytes.len(), packet).map_err(failed)?;
                packet.extend_from_slice(bytes);
                Ok(())
            }
            Self::Udp(ports) => ip::emit(&header, udp::PROTOCOL, udp::HEADER_LEN + bytes.len(), packet)
                .and_then(|()| udp::emit(*ports, bytes, &addresses, packet))
                .map_err(failed),
        }
    }

    /// Returns the SCTP bytes of a packet; `None` if the packet carries no SCTP.
    fn unwrap<'a>(&mut self, packet: &ip::Packet<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Native => (packet.protocol == sctp::PROTOCOL).then_some(packet.payload),
            Self::Udp(own) => {
                if packet.protocol != udp::PROTOCOL {
                    return None;
                }
                let (ports, bytes) = udp::parse(packet.payload, &packet.header.addresses).ok()?;
                // A port that is only a NAT's translation may change (RFC 6951, section 5.4).
                own.destination = ports.source;
                (ports.destination == own.source).then_some(bytes)
            }
        }
    }
}

/// The task of an end.
#[derive(Clone, Debug)]
pub enum Task {
    /// Sends `bytes` bytes in messages of `message` bytes, and ends the association.
    Send {
        bytes: u64,
        /// Bytes of a message; the last may be shorter.
        message: usize,
        /// Streams that take turns.
        streams: u16,
    },
    /// Receives messages until the peer ends the association.
    Receive,
}

/// The result of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Messages sent or received.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// DATA chunks sent.
    pub chunks: u64,
    /// DATA chunks retransmitted.
    pub retransmissions: u64,
    /// From the opening to the end.
    pub lasted: Duration,
}

/// One end of an association, on a device.
pub struct Messenger {
    tun: Tun,
    clock: Clock,
    own: Vec<IpAddr>,
    carrier: Carrier,
    association: Option<Association>,
    listener: Option<Listener>,
    capture: Option<(Capture, Interface)>,
    identification: u16,
    task: Task,
    outcome: Outcome,
    begun: Option<Instant>,
    ended: bool,
    progress: Option<Progress>,
}

/// Reports the progress, interval by interval.
struct Progress {
    every: Duration,
    /// Counts from the opening on; `None` before the first report.
    meter: Option<Meter>,
    watch: Box<dyn FnMut(&Interval)>,
}

impl Messenger {
    /// Makes an end from an association that has not sent its INIT, or from a listener.
    pub fn new(
        (tun, clock, own): (Tun, Clock, Vec<IpAddr>),
        carrier: Carrier,
        end: Result<Association, Listener>,
        task: Task,
    ) -> Self {
        let (association, listener) = match end {
            Ok(association) => (Some(association), None),
            Err(listener) => (None, Some(listener)),
        };
        Self {
            tun,
            clock,
            own,
            carrier,
            association,
            listener,
            capture: None,
            identification: 0,
            task,
            outcome: Outcome::default(),
            begun: None,
            ended: false,
            progress: None,
        }
    }

    /// Reports the progress to `watch` after each interval of length `every`.
    pub fn watched(&mut self, every: Duration, watch: Box<dyn FnMut(&Interval)>) {
        self.progress = Some(Progress { every, meter: None, watch });
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

    /// Runs until the association has ended. While none has begun, `attended` is called before each
    /// wait, and its error ends the run.
    ///
    /// # Errors
    /// Those of the device and of `attended`, and why the association has failed.
    pub fn run(mut self, mut attended: impl FnMut() -> Result<(), Error>) -> Result<Outcome, Error> {
        let signals = Signals::note()?;
        let _precise = wait::PreciseTimers::begin(Priority::Ordinary);
        let (mut room, mut packet) = (vec![0; LONGEST], Vec::with_capacity(LONGEST));
        let (mut asked, mut written) = (false, 0);
        while !self.ended || self.association.is_some() {
            let taken = self.take_in(&mut room, &mut packet)?;
            let now = self.clock.now();
            if signals.ask_to_stop() && !std::mem::replace(&mut asked, true) {
                let Some(association) = &mut self.association else { break };
                association.abort(b"");
            }
            self.work(now, &mut written)?;
            self.tell(now, false);
            let sent = self.send(now, &mut packet)?;
            if self.ended {
                break;
            }
            if taken + sent == 0 {
                if self.begun.is_none() {
                    attended()?;
                }
                let timer = self.association.as_ref().map_or(Instant::NEVER, Association::poll_timeout);
                let meter = self.progress.as_ref().and_then(|progress| progress.meter.as_ref());
                let due = timer.min(meter.map_or(Instant::NEVER, Meter::due));
                wait::until_readable(&[self.tun.as_fd()], due.since(self.clock.now()))?;
            }
        }
        self.tell(self.clock.now(), true);
        if let Some((capture, _)) = self.capture.take() {
            capture.finish()?;
        }
        Ok(self.outcome)
    }

    /// Reports the interval that is over, or the rest of one if `last` is set, with the first
    /// path's variables.
    fn tell(&mut self, now: Instant, last: bool) {
        let (Some(Progress { every, meter, watch }), Some(begun)) = (&mut self.progress, self.begun) else { return };
        let meter = meter.get_or_insert_with(|| Meter::new(begun, *every));
        let Outcome { bytes, chunks, retransmissions, .. } = self.outcome;
        let Some(association) = &self.association else { return };
        let (tally, variables) =
            (Tally { segments: chunks, retransmissions }, association.engine().snapshot(PathId(0)));
        let interval = match last {
            true => meter.finish(now, bytes, tally, variables),
            false => (meter.due() <= now).then(|| meter.cut(now, bytes, tally, variables)),
        };
        interval.into_iter().for_each(watch);
    }

    fn take_in(&mut self, room: &mut [u8], packet: &mut Vec<u8>) -> Result<usize, Error> {
        for count in 0..BATCH {
            let Some(length) = self.tun.read(room)? else { return Ok(count) };
            let now = self.clock.now();
            if let Some((capture, place)) = &mut self.capture {
                capture.note(now, *place, &room[..length], None)?;
            }
            let Ok(read) = ip::parse(&room[..length]) else { continue };
            let addresses = read.header.addresses;
            if !self.own.contains(&addresses.destination()) {
                continue;
            }
            // The peer's kernel reports that it has no SCTP, or no socket at this UDP port.
            if read.protocol == icmp::PROTOCOL_V4 && matches!(read.payload, [3, 2 | 3, ..]) && self.begun.is_none() {
                return Err(Error::new(addresses.source().to_string(), &"the host does not accept SCTP", ""));
            }
            let Some(Ok(arrived)) = self.carrier.unwrap(&read).map(Packet::parse) else { continue };
            match (&mut self.association, &mut self.listener) {
                (Some(association), _) if association.owns(&addresses) => {
                    association.handle(now, &addresses, &arrived);
                }
                (None, Some(listener)) => match listener.handle(now, &addresses, &arrived) {
                    ListenerAction::Nothing => {}
                    ListenerAction::Reply(back, answer) => self.put(back, &answer.to_bytes(), packet)?,
                    ListenerAction::Accepted(association) => self.association = Some(*association),
                },
                _ => {}
            }
            self.send(now, packet)?;
        }
        Ok(BATCH)
    }

    fn put(&mut self, addresses: Addresses, bytes: &[u8], packet: &mut Vec<u8>) -> Result<(), Error> {
        self.identification = self.identification.wrapping_add(1);
        self.carrier.wrap(addresses, self.identification, bytes, packet)?;
        if let Some((capture, place)) = &mut self.capture {
            capture.note(self.clock.now(), *place, packet, None)?;
        }
        // A packet that the kernel has no room for is lost, as on any network.
        self.tun.write(packet).map(drop)
    }

    fn send(&mut self, now: Instant, packet: &mut Vec<u8>) -> Result<usize, Error> {
        let (mut leaving, mut bytes) = (Packet::default(), Vec::new());
        for count in 0..BATCH {
            let Some(association) = &mut self.association else { return Ok(count) };
            let Some(outgoing) = association.poll_transmit(now, &mut leaving) else { return Ok(count) };
            bytes.clear();
            leaving.emit(&mut bytes);
            for transmission in association.transmissions() {
                self.outcome.chunks += 1;
                self.outcome.retransmissions += u64::from(transmission.copy > 0);
            }
            let addresses = *association.addresses(&outgoing);
            self.put(addresses, &bytes, packet)?;
        }
        Ok(BATCH)
    }

    /// Handles a timer that is due, takes events, and moves messages.
    fn work(&mut self, now: Instant, written: &mut u64) -> Result<(), Error> {
        let Some(association) = &mut self.association else { return Ok(()) };
        if association.poll_timeout() <= now {
            association.handle_timeout(now);
        }
        while let Some(event) = association.poll_event() {
            match event {
                Event::Established => self.begun = Some(now),
                Event::Closed => self.ended = true,
                Event::Failed(failure) => return Err(Error::new("the association", &said(&failure), "")),
                _ => {}
            }
        }
        self.outcome.lasted = self.begun.map_or(Duration::ZERO, |begun| now.since(begun));
        match self.task {
            Task::Send { bytes, message, streams } => {
                let offered = association.streams();
                while self.begun.is_some() && *written < bytes && association.send_room() >= message {
                    let length = (bytes - *written).min(message as u64);
                    let stream = stream_of(self.outcome.messages, streams, offered);
                    let content: Arc<[u8]> = vec![stream as u8; length as usize].into();
                    if association.send(Delivery { stream, ..Delivery::default() }, content).is_err() {
                        break;
                    }
                    *written += length;
                    self.outcome.messages += 1;
                    self.outcome.bytes += length;
                }
                if *written >= bytes && self.begun.is_some() {
                    association.shutdown();
                }
            }
            Task::Receive => {
                while let Some(message) = association.receive() {
                    self.outcome.messages += u64::from(message.ends);
                    self.outcome.bytes += message.bytes.len() as u64;
                }
            }
        }
        Ok(())
    }
}

/// Returns the stream of a message. Messages rotate over the wanted streams, at most as many as the peer offers.
fn stream_of(message: u64, wanted: u16, offered: u16) -> u16 {
    (message % u64::from(wanted.min(offered).max(1))) as u16
}

fn said(failure: &Failure) -> String {
    match failure {
        Failure::NoAnswer => "no answer".to_owned(),
        Failure::Unreachable => "the peer no longer answers".to_owned(),
        Failure::Aborted { reason } => {
            format!("aborted by the peer: {}", String::from_utf8_lossy(reason).escape_debug())
        }
        Failure::AbortedHere => "interrupted".to_owned(),
        Failure::Violation(what) => format!("the peer broke the protocol: {what}"),
        Failure::NoSctp => "the peer has no SCTP".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_use_the_streams_in_turn_up_to_the_negotiated_number() {
        for (wanted, offered, expected) in [
            (1, 10, [0, 0, 0, 0, 0]),
            (3, 10, [0, 1, 2, 0, 1]),
            (10, 2, [0, 1, 0, 1, 0]),
            (4, 4, [0, 1, 2, 3, 0]),
            (3, 0, [0; 5]),
        ] {
            assert_eq!([0, 1, 2, 3, 4].map(|message| stream_of(message, wanted, offered)), expected);
        }
    }

    #[test]
    fn a_failure_prints_a_sentence() {
        let reason = b"go\x07".to_vec();
        let failures = [
            Failure::NoAnswer,
            Failure::Unreachable,
            Failure::Aborted { reason },
            Failure::AbortedHere,
            Failure::Violation("no DATA"),
            Failure::NoSctp,
        ];
        let words = [
            "no answer",
            "the peer no longer answers",
            "aborted by the peer: go\\u{7}",
            "interrupted",
            "the peer broke the protocol: no DATA",
            "the peer has no SCTP",
        ];
        assert_eq!(failures.each_ref().map(said), words);
    }
}
