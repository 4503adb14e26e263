//! SCTP on a TUN device: one association, native (protocol 132) or in UDP (RFC 6951), and the loop that drives it.

use crate::apps::meter::{Interval, Meter};
use crate::capture::Capture;
use crate::host::Tally;
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::signals;
use crate::system::tun::Tun;
use crate::system::wait::{self, Priority};
use eifel_base::time::{Duration, Instant};
use eifel_packet::icmp::{self, Quotation};
use eifel_packet::ip::{self, Addresses, Header, Version};
use eifel_packet::pcapng::Interface;
use eifel_packet::sctp;
use eifel_packet::udp;
use eifel_recovery::association::PathId;
use eifel_sctp::event::{Event, Failure};
use eifel_sctp::{Association, Delivery, IcmpError, Listener, ListenerAction, Packet};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::Arc;

/// The most packets that one call takes in or sends.
const BATCH: usize = 64;
const LONGEST: usize = 65_535;
/// Where the verification tag stands in the common header, and the Initiate Tag in an INIT chunk.
const TAG_OFFSET: usize = 4;
const INITIATE_TAG_OFFSET: usize = 4;
/// The type of an INIT chunk.
const INIT: u8 = 1;

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

    /// Returns the SCTP bytes of a packet, and the carrier of an answer. `None` if the packet carries
    /// no SCTP.
    fn unwrap<'a>(&self, packet: &ip::Packet<'a>) -> Option<(&'a [u8], Self)> {
        match *self {
            Self::Native => (packet.protocol == sctp::PROTOCOL).then_some((packet.payload, *self)),
            Self::Udp(own) => {
                if packet.protocol != udp::PROTOCOL {
                    return None;
                }
                let (ports, bytes) = udp::parse(packet.payload, &packet.header.addresses).ok()?;
                let answer = Self::Udp(udp::Ports { destination: ports.source, ..own });
                (ports.destination == own.source).then_some((bytes, answer))
            }
        }
    }
}

impl Carrier {
    /// Returns what an ICMP message says of a packet with SCTP that it quotes, and that packet's
    /// beginning. `None` if it quotes another packet, or says nothing that matters.
    fn complaint<'a>(&self, quoted: &Quotation<'a>) -> Option<(IcmpError, &'a [u8])> {
        let Quotation { version, kind, code, mtu, .. } = *quoted;
        let of_version = || match version {
            Version::V4 => IcmpError::v4(kind, code, mtu as u16),
            Version::V6 => IcmpError::v6(kind, code, mtu),
        };
        match self {
            Self::Native if quoted.protocol == sctp::PROTOCOL => Some((of_version()?, quoted.payload)),
            Self::Udp(own) if quoted.protocol == udp::PROTOCOL => {
                let (header, start) = quoted.payload.split_first_chunk::<{ udp::HEADER_LEN }>()?;
                let ports = [[header[0], header[1]], [header[2], header[3]]].map(u16::from_be_bytes);
                // Without a socket at the port of the encapsulation, the host has no SCTP.
                let port_unreachable = matches!((version, kind, code), (Version::V4, 3, 3) | (Version::V6, 1, 4));
                let error = if port_unreachable { IcmpError::NoSctp } else { of_version()? };
                (ports == [own.source, own.destination]).then_some((error, start))
            }
            _ => None,
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
    /// Bytes of the association's send buffer.
    buffer: usize,
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
        self.progress = Some(Progress { every, buffer: 0, meter: None, watch });
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
        let signals = signals()?;
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
        let (Some(Progress { every, buffer, meter, watch }), Some(begun)) = (&mut self.progress, self.begun) else {
            return;
        };
        let meter = meter.get_or_insert_with(|| Meter::new(begun, *every));
        let Outcome { mut bytes, chunks, retransmissions, .. } = self.outcome;
        let Some(association) = &self.association else { return };
        if let Task::Send { .. } = self.task {
            // Bytes in the buffer have not arrived yet.
            bytes -= (*buffer - association.send_room()) as u64;
        }
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
            let icmp = if addresses.destination().is_ipv4() { icmp::PROTOCOL_V4 } else { icmp::PROTOCOL_V6 };
            if read.protocol == icmp {
                self.handle_icmp(&read);
                continue;
            }
            let Some((bytes, answering)) = self.carrier.unwrap(&read) else { continue };
            let Ok(arrived) = Packet::parse(bytes) else { continue };
            match (&mut self.association, &mut self.listener) {
                (Some(association), _) if association.owns(&addresses) => {
                    // A port that is only a NAT's translation may change, but not at the word of a
                    // stranger (RFC 6951, section 5.4).
                    if arrived.header().verification_tag == association.local_tag() {
                        self.carrier = answering;
                    }
                    association.handle(now, &addresses, &arrived);
                }
                (None, Some(listener)) => match listener.handle(now, &addresses, &arrived) {
                    ListenerAction::Nothing => {}
                    ListenerAction::Reply(back, answer) => {
                        self.carrier = answering;
                        self.put(back, &answer.to_bytes(), packet)?;
                    }
                    ListenerAction::Accepted(association) => {
                        (self.carrier, self.association) = (answering, Some(*association));
                    }
                },
                _ => {}
            }
            self.send(now, packet)?;
        }
        Ok(BATCH)
    }

    /// Processes an ICMP message. Only one that quotes a packet of the association has an effect: its
    /// addresses, ports and tag are compared, over either version of IP (RFC 9260, section 10, ICMP5
    /// and ICMP6).
    fn handle_icmp(&mut self, packet: &ip::Packet<'_>) {
        let (Ok(Some(quoted)), Some(association)) = (icmp::quotation(packet), &mut self.association) else { return };
        let Some((error, start)) = self.carrier.complaint(&quoted) else { return };
        let port = |at: usize| start.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| u16::from_be_bytes(*bytes));
        let ports = association.ports();
        if !self.own.contains(&quoted.addresses.source())
            || (port(0), port(2)) != (Some(ports.local), Some(ports.remote))
        {
            return;
        }
        // The common header, and behind it the chunk's type, flags, length and Initiate Tag.
        let word = |at: usize| start.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_be_bytes(*bytes));
        let Some(tag) = word(TAG_OFFSET) else { return };
        let is_init = start.get(sctp::HEADER_LEN) == Some(&INIT);
        let init = if is_init { word(sctp::HEADER_LEN + INITIATE_TAG_OFFSET) } else { None };
        association.handle_icmp(quoted.addresses.destination(), tag, init, error);
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
                Event::Established => {
                    self.begun = Some(now);
                    if let Some(progress) = &mut self.progress {
                        progress.buffer = association.send_room();
                    }
                }
                Event::Closed => self.ended = true,
                Event::Failed(failure) => {
                    let of = match failure {
                        Failure::NoSctp => association.primary().to_string(),
                        _ => "the association".to_owned(),
                    };
                    return Err(Error::new(of, &said(&failure), ""));
                }
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
        Failure::NoSctp => "the host does not accept SCTP".to_owned(),
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
            "the host does not accept SCTP",
        ];
        assert_eq!(failures.each_ref().map(said), words);
    }
}
