//! The replacement of an operating system: one association, its sockets, and its departed packets.

use std::collections::VecDeque;
use std::net::IpAddr;

use super::compare;
use super::item::{Item, split};
use super::numbers::Numbers;
use super::packet::{Body, Icmp, Packet};
use super::setup::Setup;
use super::shape::Family;
use super::variables::{Counts, Observed};
use crate::outcome::Seen;
use crate::run::end::{End, Returned, Taken};
use crate::run::sockets::Sockets;
use crate::script::{self, Action, Script, Traffic};
use crate::variables::{Read, Variable};
use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{HEADER_LEN, Header, Writer};
use eifel_recovery::detect::Outcome as Judged;
use eifel_recovery::event::Event as BrainEvent;
use eifel_recovery::fact::Kind;
use eifel_sctp::{Association, Event, Failure, Listener, ListenerAction, Ports, out_of_the_blue};

/// Ports of this end and of the peer.
pub(super) const PORTS: Ports = Ports { local: 8080, remote: 49_152 };
/// Maximum number of packets and expired timers of a script. It stops scripts that would not end.
const BUDGET: u32 = 200_000;

/// A packet that has left.
#[derive(Clone, Debug)]
struct Departed {
    at: Instant,
    addresses: Addresses,
    tag: u32,
    /// The tag of the newest packet that had arrived before.
    answered: u32,
    chunks: Vec<Item>,
}

/// One end with its association and sockets.
pub(crate) struct AssociationEnd {
    pub(super) setup: Setup,
    pub(super) association: Option<Association>,
    pub(super) listener: Option<Listener>,
    /// Whether an association waits to be accepted.
    pub(super) acceptable: bool,
    pub(super) sockets: Sockets,
    /// Bytes of a message that the last read left.
    pub(super) unread: u64,
    pub(super) numbers: Numbers,
    pub(super) counts: Counts,
    departed: VecDeque<Departed>,
    /// The peer's addresses that the script reaches. Packets to other addresses vanish.
    reached: Vec<IpAddr>,
    budget: u32,
}

impl AssociationEnd {
    pub(crate) fn new(setup: &Setup, script: &Script) -> Self {
        let mut reached = setup.peers.clone();
        for event in &script.events {
            let (Action::Arrives(traffic) | Action::Leaves(traffic)) = &event.action else { continue };
            let arrives = matches!(event.action, Action::Arrives(_));
            if let Traffic::Sctp(Packet { addresses: Some((from, to)), .. }) = traffic {
                reached.push(if arrives { *from } else { *to });
            }
        }
        Self {
            setup: setup.clone(),
            association: None,
            listener: None,
            acceptable: false,
            sockets: Sockets::default(),
            unread: 0,
            numbers: Numbers::default(),
            counts: Counts::default(),
            departed: VecDeque::new(),
            reached,
            budget: BUDGET,
        }
    }

    /// Collects departed packets and events.
    fn pump(&mut self, now: Instant) {
        let mut packet = eifel_sctp::Packet::default();
        while self.budget > 0
            && let Some(association) = &mut self.association
            && let Some(outgoing) = association.poll_transmit(now, &mut packet)
        {
            self.budget -= 1;
            let again = association.transmissions().iter().filter(|one| matches!(one.kind, Kind::Retransmission(_)));
            self.counts.retransmissions += again.count() as u64;
            let addresses = *association.addresses(&outgoing);
            self.depart(now, addresses, &packet.to_bytes());
        }
        let Some(association) = &mut self.association else { return };
        while let Some((_, event)) = association.poll_engine_event() {
            self.counts.note(&event);
        }
        while let Some(event) = association.poll_event() {
            match event {
                Event::Established => self.acceptable = true,
                Event::Restarted => self.counts.restarts += 1,
                Event::RemoteError(_) => self.counts.complaints += 1,
                Event::Expired { messages, .. } => self.counts.expired += messages as u64,
                Event::Failed(failure) => {
                    self.sockets.error = match failure {
                        Failure::NoAnswer | Failure::Unreachable => Some("ETIMEDOUT"),
                        Failure::Aborted { .. } if self.acceptable => Some("ECONNRESET"),
                        Failure::Aborted { .. } | Failure::NoSctp => Some("ECONNREFUSED"),
                        Failure::Violation(_) => Some("ECONNABORTED"),
                        Failure::AbortedHere => None,
                    };
                }
                _ => {}
            }
        }
    }

    fn depart(&mut self, at: Instant, addresses: Addresses, bytes: &[u8]) {
        let Some((header, body)) = bytes.split_at_checked(HEADER_LEN) else { return };
        let chunks = split(Family::Chunk, body).unwrap_or_default();
        self.numbers.note(&chunks);
        self.counts.packets_out += 1;
        if !self.reached.contains(&addresses.destination()) {
            return;
        }
        let tag = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let answered = self.numbers.answered;
        self.departed.push_back(Departed { at, addresses, tag, answered, chunks });
    }

    /// Makes the bytes of a packet that arrives.
    fn bytes(&mut self, packet: &Packet) -> Vec<u8> {
        let (chunks, raw) = match &packet.body {
            Body::Chunks(chunks, _) => (chunks.clone(), &[][..]),
            Body::Bytes(bytes) => (Vec::new(), &bytes[..]),
        };
        let tag = self.numbers.arriving_tag(packet.tag, chunks.first());
        self.numbers.answered = tag;
        let header = Header { source_port: PORTS.remote, destination_port: PORTS.local, verification_tag: tag };
        let mut body = Vec::new();
        for mut chunk in chunks {
            self.numbers.make_wire(&mut chunk);
            body.resize(body.len().next_multiple_of(4), 0);
            chunk.emit(&mut body);
        }
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(raw);
        let mut out = Vec::new();
        Writer::new(&header, &mut out).raw(&body);
        if packet.bad_checksum {
            out[HEADER_LEN - 1] ^= 1;
        }
        out
    }

    fn deliver(&mut self, now: Instant, addresses: &Addresses, bytes: &[u8]) {
        let Ok(packet) = eifel_sctp::Packet::parse(bytes) else { return };
        let association = self.association.as_mut().filter(|one| !one.is_closed() && one.owns(addresses));
        if let Some(association) = association {
            association.handle(now, addresses, &packet);
            return;
        }
        let answer = match &mut self.listener {
            None => out_of_the_blue(addresses, &packet),
            Some(listener) => match listener.handle(now, addresses, &packet) {
                ListenerAction::Nothing => None,
                ListenerAction::Reply(back, answer) => Some((back, answer)),
                ListenerAction::Accepted(association) => {
                    self.association = Some(*association);
                    None
                }
            },
        };
        if let Some((back, answer)) = answer {
            self.depart(now, back, &answer.to_bytes());
        }
    }

    fn icmp(&mut self, icmp: &Icmp) {
        let to = icmp.to.unwrap_or(self.setup.peers[0]);
        if let (Some(association), Some(error)) = (&mut self.association, icmp.error) {
            association.handle_icmp(to, icmp.tag, None, error);
        }
    }

    fn shown(&self, departed: &Departed) -> Seen {
        let mut chunks = Vec::new();
        for mut chunk in departed.chunks.clone() {
            self.numbers.make_scripts(&mut chunk);
            chunks.push(chunk.to_string());
        }
        let (from, to) = (departed.addresses.source(), departed.addresses.destination());
        let prefix = if self.reached.iter().any(|one| *one != self.reached[0]) {
            format!("{from} > {to} ")
        } else {
            String::new()
        };
        Seen { at: departed.at, text: format!("> {prefix}sctp: {}", chunks.join("; ")) }
    }

    fn compare(&mut self, expected: &Packet, seen: &Departed) -> Vec<String> {
        let mut found = Vec::new();
        if let Some((from, to)) = expected.addresses {
            let (source, destination) = (seen.addresses.source(), seen.addresses.destination());
            if (source, destination) != (from, to) {
                found.push(format!("it goes from {source} to {destination}"));
            }
        }
        found.extend(self.numbers.wrong_tag(seen.tag, seen.answered, seen.chunks.first()));
        match &expected.body {
            Body::Chunks(chunks, open) => {
                compare::lists(Family::Chunk, (chunks, *open), &seen.chunks, &mut self.numbers, &mut found);
            }
            Body::Bytes(bytes) => {
                let all: Vec<u8> = seen.chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect();
                if *bytes != all {
                    found.push("its bytes differ".into());
                }
            }
        }
        found
    }
}

impl Counts {
    fn note(&mut self, event: &BrainEvent) {
        match event {
            BrainEvent::TimerExpired { .. } => self.timeouts += 1,
            BrainEvent::EpisodeOpened { .. } => {
                self.episodes += 1;
                self.verdict = 0;
            }
            BrainEvent::Judged { detector: 0, outcome: Judged::Spurious, .. } => {
                self.spurious += 1;
                self.verdict = 1;
            }
            BrainEvent::Judged { detector: 0, outcome: Judged::Genuine, .. } => {
                self.genuine += 1;
                self.verdict = 2;
            }
            _ => {}
        }
    }
}

impl End for AssociationEnd {
    fn due(&self) -> Instant {
        self.association.as_ref().map_or(Instant::NEVER, Association::poll_timeout)
    }

    fn wake(&mut self, now: Instant) {
        self.budget = self.budget.saturating_sub(1);
        if let Some(association) = &mut self.association {
            association.handle_timeout(now);
        }
        self.pump(now);
    }

    fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    fn arrive(&mut self, now: Instant, packet: &Traffic) -> Result<(), String> {
        match packet {
            Traffic::Sctp(packet) => {
                let (from, to) = packet.addresses.unwrap_or((self.setup.peers[0], self.setup.settings.addresses[0]));
                let addresses = Addresses::new(from, to).ok_or("its addresses are of two versions of IP")?;
                let bytes = self.bytes(packet);
                self.counts.packets_in += 1;
                self.deliver(now, &addresses, &bytes);
            }
            Traffic::Icmp(icmp) => self.icmp(icmp),
            Traffic::Segment(_) | Traffic::SegmentError(_) => unreachable!("the parser reads packets of SCTP"),
        }
        self.pump(now);
        Ok(())
    }

    fn call(&mut self, now: Instant, call: &script::Call, number: i64) -> Returned {
        let returned = self.perform(now, call, number).unwrap_or_else(Returned::Error);
        self.pump(now);
        returned
    }

    fn read(&self, _: Instant, variable: &Variable) -> Option<i128> {
        let observed = Observed { association: self.association.as_ref()?, counts: &self.counts };
        match variable.read {
            Read::Association(read) => Some(read(&observed)),
            Read::Connection(_) => None,
        }
    }

    fn has_departed(&self) -> bool {
        !self.departed.is_empty()
    }

    fn take(&mut self, expected: &Traffic) -> Taken {
        let departed = self.departed.pop_front().expect("something has departed");
        let differences = match expected {
            Traffic::Sctp(expected) => self.compare(expected, &departed),
            Traffic::Segment(_) | Traffic::Icmp(_) | Traffic::SegmentError(_) => {
                unreachable!("the parser reads packets of SCTP")
            }
        };
        Taken { at: departed.at, seen: vec![self.shown(&departed)], differences }
    }

    fn rest(&mut self) -> Vec<Seen> {
        let rest: Vec<Departed> = self.departed.drain(..).collect();
        rest.iter().map(|departed| self.shown(departed)).collect()
    }
}
