//! Processes INIT, INIT ACK, COOKIE ECHO and COOKIE ACK, expected or not (RFC 9260, sections 5.1
//! and 5.2).

use core::net::IpAddr;
use core::ops::ControlFlow;

use eifel_base::siphash::siphash;
use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::{Cause, Causes, Chunk, Init, Parameter};
use eifel_packet::seq::Seq;

use crate::association::{Association, Control};
use crate::cookie::Cookie;
use crate::event::{Event, Failure};
use crate::handshake::{self, Offer, Refusal};
use crate::input::Origin;
use crate::peer_address::AddressState;
use crate::settings::{Ports, Settings};
use crate::state::{Repeated, State};

/// Maximum extension of a cookie's lifetime by the peer's Cookie Preservative, in milliseconds
/// (section 5.2.6).
const MOST_PRESERVATIVE_MS: u32 = 1000;

/// The parts of an INIT ACK.
pub(crate) struct InitAckContents<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) ports: Ports,
    pub(crate) tag: u32,
    pub(crate) initial_tsn: Seq,
    pub(crate) tie_tags: [u32; 2],
}

impl InitAckContents<'_> {
    /// Returns the parameters of the INIT ACK: this end's own, the cookie, and the offer's
    /// unrecognized parameters.
    pub(crate) fn parameters(&self, now: Instant, offer: &Offer) -> Vec<u8> {
        let Self { settings, ports, tag, initial_tsn, tie_tags } = *self;
        let preservative = offer.preservative_ms.min(MOST_PRESERVATIVE_MS);
        let cookie = Cookie {
            made: now,
            life: settings.cookie_life + Duration::from_millis(u64::from(preservative)),
            ports,
            local_tag: tag,
            peer_tag: offer.tag,
            tie_tags,
            local_tsn: initial_tsn,
            peer_tsn: offer.initial_tsn,
            a_rwnd: offer.a_rwnd,
            outbound_streams: settings.outbound_streams.min(offer.inbound_streams),
            inbound_streams: settings.inbound_streams.min(offer.outbound_streams),
            extensions: offer.extensions.agreed(settings),
            addresses: offer.addresses.clone(),
        };
        let mut out = handshake::parameters(settings);
        Parameter::Cookie(&cookie.sign(&settings.secret)).emit(&mut out);
        // Last, so that only the least important parameters may not fit.
        for parameter in &offer.unrecognized {
            if out.len() + parameter.len() < usize::from(u16::MAX) / 2 {
                Parameter::Unrecognized(parameter).emit(&mut out);
            }
        }
        out
    }
}

impl Association {
    /// Handles an INIT for an existing association (sections 5.2.1 and 5.2.2).
    pub(crate) fn on_init(&mut self, now: Instant, origin: &Origin, init: &Init<'_>) {
        let offer = match handshake::read(init, origin.back.destination()) {
            Ok(offer) => offer,
            Err(Refusal::Silently) => return,
            Err(Refusal::Abort(causes)) => return self.send_abort_to(origin.back, init.initiate_tag, &causes),
        };
        if let State::ShutdownAckSent(repeated) = &mut self.state {
            // Section 9.2: SHUTDOWN COMPLETE was lost, so SHUTDOWN ACK is repeated.
            repeated.pending = true;
            return;
        }
        if !matches!(self.state, State::CookieWait(_)) {
            let new: Vec<IpAddr> =
                offer.addresses.iter().copied().filter(|address| self.path_of(*address).is_none()).collect();
            if !new.is_empty() {
                return self.refuse_new_addresses(origin, init.initiate_tag, &new);
            }
        }
        // Section 5.2.1: in COOKIE-WAIT, only the addresses that the application called get an INIT
        // ACK [rfc8540:3.19].
        let mut back = origin.back;
        if origin.path.is_none() && matches!(self.state, State::CookieWait(_)) {
            let called = offer.addresses.iter().find_map(|address| self.path_of(*address));
            let Some(called) = called else { return };
            back = self.paths[called.0].addresses;
        }
        let (tag, tie_tags) = match self.state {
            // Section 5.2.1: the same values as in this end's INIT.
            State::CookieWait(_) => (self.local_tag, [0; 2]),
            State::CookieEchoed { .. } => (self.local_tag, self.tie_tags()),
            _ => ((self.draw() as u32).max(1), self.tie_tags()),
        };
        let initial_tsn = match self.state {
            State::CookieWait(_) | State::CookieEchoed { .. } => self.queue.initial(),
            _ => Seq(tag),
        };
        let settings = &self.settings;
        let answer = InitAckContents { settings, ports: self.ports, tag, initial_tsn, tie_tags };
        let parameters = answer.parameters(now, &offer);
        let init_ack = handshake::init_ack(settings, tag, initial_tsn, &offer, &parameters);
        self.reply(back, offer.tag, &Chunk::InitAck(init_ack));
    }

    fn refuse_new_addresses(&mut self, origin: &Origin, tag: u32, new: &[IpAddr]) {
        let mut listed = Vec::new();
        for address in new {
            match address {
                IpAddr::V4(address) => Parameter::Ipv4(*address).emit(&mut listed),
                IpAddr::V6(address) => Parameter::Ipv6(*address).emit(&mut listed),
            }
        }
        let mut causes = Vec::new();
        Cause::RestartWithNewAddresses(&listed).emit(&mut causes);
        self.send_abort_to(origin.back, tag, &causes);
    }

    /// Returns numbers that identify this association in a cookie without revealing its tags
    /// (section 5.2.2).
    fn tie_tags(&self) -> [u32; 2] {
        let words = [u64::from(self.local_tag), u64::from(self.peer_tag)];
        let hash = siphash(&self.settings.secret, &words);
        [(hash as u32).max(1), ((hash >> 32) as u32).max(1)]
    }

    /// Handles INIT ACK (section 5.1, step C).
    pub(crate) fn on_init_ack(&mut self, now: Instant, origin: &Origin, init: &Init<'_>) {
        let State::CookieWait(repeated) = self.state else { return };
        let refused = match handshake::read(init, origin.back.destination()) {
            Ok(offer) if offer.cookie.is_some() => return self.echo(now, origin, repeated, offer),
            Ok(_) => {
                let mut causes = Vec::new();
                // The type of the State Cookie parameter.
                Cause::MissingParameters(&[[0, 7]]).emit(&mut causes);
                causes
            }
            // Section 3.3.3: sends an ABORT with the T bit, and ends the association.
            Err(Refusal::Silently) => {
                let mut causes = Vec::new();
                Cause::InvalidMandatoryParameter.emit(&mut causes);
                let abort = Chunk::Abort { reflected: true, causes: Causes(&causes) };
                self.reply(origin.back, origin.tag, &abort);
                return self.fail(Failure::Violation("INIT ACK with tag 0"));
            }
            Err(Refusal::Abort(causes)) => causes,
        };
        self.send_abort_to(origin.back, init.initiate_tag, &refused);
        self.fail(Failure::Violation("INIT ACK that cannot be accepted"));
    }

    /// Accepts the offer of an INIT ACK, and enters COOKIE-ECHOED.
    fn echo(&mut self, now: Instant, origin: &Origin, repeated: Repeated, offer: Offer) {
        let path = origin.path.unwrap_or(repeated.path);
        if repeated.expiries == 0 && path == repeated.path {
            self.engine.sample(now, path, now.since(repeated.sent_at));
        }
        self.peer_tag = offer.tag;
        self.a_rwnd = offer.a_rwnd;
        self.extensions = offer.extensions.agreed(&self.settings);
        self.queue.set_streams(self.settings.outbound_streams.min(offer.inbound_streams));
        self.queue.drop_beyond_streams();
        self.begin_inbound(offer.initial_tsn, self.settings.inbound_streams.min(offer.outbound_streams));
        for address in &offer.addresses {
            if self.path_of(*address).is_none() {
                self.add_path(now, *address, Some(origin.back), AddressState::Unconfirmed);
            }
        }
        let mut error = Vec::new();
        if !offer.unrecognized.is_empty() {
            let mut parameters = Vec::new();
            for parameter in &offer.unrecognized {
                parameters.resize(parameters.len().next_multiple_of(4), 0);
                parameters.extend_from_slice(parameter);
            }
            Cause::UnrecognizedParameters(&parameters).emit(&mut error);
        }
        let cookie = offer.cookie.expect("it was looked for");
        self.state = State::CookieEchoed { repeated: Repeated::on(path), cookie, error };
    }

    /// Handles a cookie for an existing association (section 5.2.4).
    pub(crate) fn on_cookie_echo(&mut self, now: Instant, origin: &Origin, bytes: &[u8]) -> ControlFlow<()> {
        let Some(cookie) = Cookie::verify(&self.settings.secret, bytes) else { return ControlFlow::Break(()) };
        if cookie.ports != self.ports || cookie.local_tag != origin.tag {
            return ControlFlow::Break(());
        }
        let local = cookie.local_tag == self.local_tag;
        let peer = cookie.peer_tag == self.peer_tag;
        if let Some(late) = cookie.stale_for(now).filter(|_| !(local && peer)) {
            self.reply(origin.back, cookie.peer_tag, &Chunk::Error(Causes(&stale(late))));
            return ControlFlow::Break(());
        }
        let tied = cookie.tie_tags == self.tie_tags();
        // Table 12, by local tag, peer's tag and tie-tags.
        match (local, peer) {
            (false, false) if tied => self.restart(now, origin, &cookie),
            (true, false) => {
                self.learn_in_collision(&cookie);
                self.confirm(now, origin)
            }
            (true, true) => self.confirm(now, origin),
            _ => ControlFlow::Break(()),
        }
    }

    /// Action B: both ends sent INIT at the same time, and this cookie has the peer's tag.
    fn learn_in_collision(&mut self, cookie: &Cookie) {
        if matches!(self.state, State::CookieWait(_) | State::CookieEchoed { .. }) {
            self.learn(cookie);
        } else {
            self.peer_tag = cookie.peer_tag;
        }
    }

    /// Actions B and D: establishes the association if necessary, and confirms the cookie.
    fn confirm(&mut self, now: Instant, origin: &Origin) -> ControlFlow<()> {
        if matches!(self.state, State::CookieWait(_) | State::CookieEchoed { .. }) {
            self.open(now);
        }
        let path = origin.path.unwrap_or(self.primary);
        self.control.push_front((path, Control::CookieAck));
        ControlFlow::Continue(())
    }

    /// Action A: the peer has restarted.
    fn restart(&mut self, now: Instant, origin: &Origin, cookie: &Cookie) -> ControlFlow<()> {
        if let State::ShutdownAckSent(repeated) = &mut self.state {
            repeated.pending = true;
            self.report_error(origin, Cause::CookieWhileShuttingDown);
            return ControlFlow::Break(());
        }
        let Ok(fresh) = Self::from_cookie(now, &self.settings, cookie, origin.back) else {
            return ControlFlow::Break(());
        };
        let mut events = std::mem::take(&mut self.events);
        events.push_back(Event::Restarted);
        *self = Self { events, draws: self.draws, ..fresh };
        let path = origin.path.unwrap_or(self.primary);
        self.control.push_front((path, Control::CookieAck));
        ControlFlow::Continue(())
    }

    /// Handles COOKIE ACK (section 5.1, step E).
    pub(crate) fn on_cookie_ack(&mut self, now: Instant) {
        let State::CookieEchoed { repeated, .. } = &self.state else { return };
        if repeated.expiries == 0 {
            let (path, rtt) = (repeated.path, now.since(repeated.sent_at));
            self.engine.sample(now, path, rtt);
        }
        self.open(now);
        // The timer of data sent with the COOKIE ECHO may have expired in the meantime.
        self.handle_timeout(now);
    }
}

/// Returns the causes of an ERROR chunk about an expired cookie.
pub(crate) fn stale(late: Duration) -> Vec<u8> {
    let us = u32::try_from(late.as_nanos().div_ceil(1000)).unwrap_or(u32::MAX);
    let mut causes = Vec::new();
    Cause::StaleCookie(us).emit(&mut causes);
    causes
}
