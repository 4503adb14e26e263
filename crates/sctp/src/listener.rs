//! Packets that belong to no association: INIT, COOKIE ECHO, and packets out of the blue (RFC 9260,
//! sections 5.1 and 8.4).

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Cause, Causes, Chunk};
use eifel_packet::seq::Seq;
use eifel_recovery::association::PathId;
use eifel_recovery::registry::Error;

use crate::association::{Association, Control, tag};
use crate::cookie::Cookie;
use crate::handshake::{self, Refusal};
use crate::input::single;
use crate::opening::{InitAckContents, stale};
use crate::packet::Packet;
use crate::settings::{Ports, Settings};

/// The reaction to a packet that belongs to no association.
pub enum ListenerAction {
    Nothing,
    /// Send this packet, between these addresses.
    Reply(Addresses, Packet),
    /// A COOKIE ECHO with a valid cookie arrived: the association is established. Its packet has
    /// been processed.
    Accepted(Box<Association>),
}

/// Listens for associations at a port. Stores no state per peer until a cookie comes back.
#[derive(Clone)]
pub struct Listener {
    settings: Settings,
    port: u16,
    /// INITs so far. Makes the tags differ.
    calls: u64,
}

impl Listener {
    /// Listens at `port`.
    ///
    /// # Errors
    /// The registry does not know an algorithm or parameter.
    pub fn new(settings: Settings, port: u16) -> Result<Self, Error> {
        settings.engine.check()?;
        Ok(Self { settings, port, calls: 0 })
    }

    /// Processes a packet that no association owns. `addresses` are those of its IP header.
    pub fn handle(&mut self, now: Instant, addresses: &Addresses, packet: &Packet) -> ListenerAction {
        let header = &packet.header;
        let Some(chunks) = readable(addresses, packet) else { return ListenerAction::Nothing };
        if header.destination_port != self.port {
            return ListenerAction::Nothing;
        }
        let back = addresses.reversed();
        let ports = Ports { local: self.port, remote: header.source_port };
        match chunks.first() {
            None => ListenerAction::Nothing,
            Some(Chunk::Init(init)) => {
                // Section 8.5.1, rule A.
                if header.verification_tag != 0 || chunks.len() > 1 {
                    return ListenerAction::Nothing;
                }
                self.on_init(now, back, ports, init)
            }
            Some(_) if header.verification_tag == 0 => ListenerAction::Nothing,
            Some(Chunk::CookieEcho(cookie)) => self.on_cookie_echo(now, back, ports, (cookie, packet)),
            Some(_) => match answer(ports, header.verification_tag, &chunks) {
                Some(answer) => ListenerAction::Reply(back, answer),
                None => ListenerAction::Nothing,
            },
        }
    }

    fn on_init(&mut self, now: Instant, back: Addresses, ports: Ports, init: &sctp::Init<'_>) -> ListenerAction {
        let offer = match handshake::read(init, back.destination()) {
            Ok(offer) => offer,
            Err(Refusal::Silently) => return ListenerAction::Nothing,
            Err(Refusal::Abort(causes)) => {
                let abort = Chunk::Abort { reflected: false, causes: Causes(&causes) };
                return ListenerAction::Reply(back, single(ports.header(init.initiate_tag), &abort));
            }
        };
        self.calls += 1;
        let tag = tag(&self.settings, ports, self.calls << 1 | 1);
        let initial_tsn = Seq(tag);
        let answer = InitAckContents { settings: &self.settings, ports, tag, initial_tsn, tie_tags: [0; 2] };
        let parameters = answer.parameters(now, &offer);
        let init_ack = handshake::init_ack(&self.settings, tag, initial_tsn, &offer, &parameters);
        ListenerAction::Reply(back, single(ports.header(offer.tag), &Chunk::InitAck(init_ack)))
    }

    fn on_cookie_echo(
        &mut self,
        now: Instant,
        back: Addresses,
        ports: Ports,
        (cookie, echo): (&[u8], &Packet),
    ) -> ListenerAction {
        let Some(cookie) = Cookie::verify(&self.settings.secret, cookie) else { return ListenerAction::Nothing };
        if cookie.ports != ports || cookie.local_tag != echo.header.verification_tag {
            return ListenerAction::Nothing;
        }
        if let Some(late) = cookie.stale_for(now) {
            let error = Chunk::Error(Causes(&stale(late)));
            return ListenerAction::Reply(back, single(ports.header(cookie.peer_tag), &error));
        }
        let Ok(mut association) = Association::from_cookie(now, &self.settings, &cookie, back) else {
            return ListenerAction::Nothing;
        };
        let path = association.path_of(back.destination());
        let path = path.unwrap_or(PathId(0));
        association.control.push_front((path, Control::CookieAck));
        association.handle_rest(now, &back.reversed(), echo);
        ListenerAction::Accepted(Box::new(association))
    }
}

/// AddressState a packet for an end without association and listener. Returns the reply with its
/// addresses.
pub fn out_of_the_blue(addresses: &Addresses, packet: &Packet) -> Option<(Addresses, Packet)> {
    let header = &packet.header;
    let chunks = readable(addresses, packet)?;
    let ports = Ports { local: header.destination_port, remote: header.source_port };
    let answer = match chunks.first()? {
        // Section 8.4, rule 3: this end accepts no association.
        Chunk::Init(init) if header.verification_tag == 0 && chunks.len() == 1 => {
            let abort = Chunk::Abort { reflected: false, causes: Causes(&[]) };
            single(ports.header(init.initiate_tag), &abort)
        }
        _ if header.verification_tag == 0 => return None,
        _ => answer(ports, header.verification_tag, &chunks)?,
    };
    Some((addresses.reversed(), answer))
}

/// Returns the chunks of a packet. Returns `None` if section 8.4, rules 1 and 2, discard it.
fn readable<'a>(addresses: &Addresses, packet: &'a Packet) -> Option<Vec<Chunk<'a>>> {
    if ![addresses.source(), addresses.destination()].iter().all(handshake::is_unicast) {
        return None;
    }
    let chunks: Vec<Chunk<'_>> = packet.chunks().map_while(Result::ok).collect();
    let aborts = chunks.iter().any(|chunk| matches!(chunk, Chunk::Abort { .. }));
    (!aborts).then_some(chunks)
}

/// Returns the answer required by section 8.4, rules 5 to 8.
fn answer(ports: Ports, tag: u32, chunks: &[Chunk<'_>]) -> Option<Packet> {
    let has = |what: fn(&Chunk<'_>) -> bool| chunks.iter().any(what);
    let stale = |chunk: &Chunk<'_>| match chunk {
        Chunk::Error(causes) => causes.iter().any(|cause| matches!(cause, Ok(Cause::StaleCookie(_)))),
        _ => false,
    };
    let answer = |chunk: &Chunk<'_>| Some(single(ports.header(tag), chunk));
    if has(|chunk| matches!(chunk, Chunk::ShutdownAck)) {
        answer(&Chunk::ShutdownComplete { reflected: true })
    } else if has(|chunk| matches!(chunk, Chunk::ShutdownComplete { .. } | Chunk::CookieAck))
        || chunks.iter().any(stale)
    {
        None
    } else {
        answer(&Chunk::Abort { reflected: true, causes: Causes(&[]) })
    }
}
