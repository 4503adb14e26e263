//! The peer's addresses: confirmation, failure detection, and HEARTBEATs (RFC 9260, sections 5.4
//! and 8.1 to 8.3).

use core::net::IpAddr;

use eifel_base::siphash::siphash;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Parameter, Parameters};
use eifel_recovery::association::PathId;

use crate::association::{Association, Control};
use crate::event::Event;

/// The state of an address of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AddressState {
    /// Unconfirmed: only a HEARTBEAT may be sent to it.
    Unconfirmed,
    Active,
    /// The address has exceeded Path.Max.Retrans without an answer.
    Inactive,
}

/// An unanswered HEARTBEAT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OutstandingHeartbeat {
    nonce: u64,
    at: Instant,
    /// When the missing answer counts as an error.
    until: Instant,
    /// When the next one is due, unless data postpone it.
    next: Instant,
}

/// An address of the peer, with this end's address for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerAddress {
    /// This end's address as source, the peer's as destination.
    pub(crate) addresses: Addresses,
    pub(crate) state: AddressState,
    errors: u32,
    asked: Option<OutstandingHeartbeat>,
    /// When the next HEARTBEAT is sent.
    next: Instant,
}

impl PeerAddress {
    pub(crate) fn new(addresses: Addresses, state: AddressState) -> Self {
        Self { addresses, state, errors: 0, asked: None, next: Instant::NEVER }
    }

    pub(crate) fn remote(&self) -> IpAddr {
        self.addresses.destination()
    }

    /// Returns the time of the next HEARTBEAT or HEARTBEAT timeout.
    pub(crate) fn deadline(&self) -> Instant {
        self.asked.map_or(Instant::NEVER, |asked| asked.until).min(self.next)
    }
}

impl Association {
    /// Starts HEARTBEATs on all paths.
    pub(crate) fn begin_heartbeats(&mut self, now: Instant) {
        for index in 0..self.paths.len() {
            let path = PathId(index);
            self.engine.set_usable(path, self.paths[index].state == AddressState::Active);
            self.paths[index].next = match self.paths[index].state {
                AddressState::Unconfirmed => now,
                _ => now + self.heartbeat_period(path),
            };
        }
    }

    /// Draws the time to the next HEARTBEAT: the interval, plus the RTO with a jitter of 50 %
    /// (section 8.3).
    fn heartbeat_period(&mut self, path: PathId) -> Duration {
        let rto = self.engine.rto(path);
        let random = self.draw() % (rto.as_nanos() + 1);
        let jittered = Duration::from_nanos(rto.as_nanos() / 2 + random);
        let confirmed = self.paths[path.0].state != AddressState::Unconfirmed;
        match self.settings.heartbeat_interval {
            Some(interval) if confirmed => interval + jittered,
            // Section 5.4: an unconfirmed address is probed once per RTO, and less often after too
            // many failures.
            _ if !confirmed && self.paths[path.0].errors <= self.settings.path_max_retransmits => rto,
            Some(interval) => interval + jittered,
            None => Duration::from_secs(1 << 30),
        }
    }

    /// Postpones the HEARTBEAT: a packet that measures the round trip was sent, so the address is
    /// not idle.
    #[inline(always)]
    pub(crate) fn postpone_heartbeat(&mut self, now: Instant, path: PathId) {
        if let Some(interval) = self.settings.heartbeat_interval
            && let peer = &mut self.paths[path.0]
            && peer.state == AddressState::Active
        {
            peer.next = now + interval + self.engine.rto(path);
        }
    }

    /// Handles due timers: counts unanswered HEARTBEATs as errors, and sends new ones.
    pub(crate) fn run_heartbeats(&mut self, now: Instant) {
        if !self.state.heartbeats() {
            return;
        }
        for index in 0..self.paths.len() {
            let path = PathId(index);
            if self.paths[index].asked.is_some_and(|asked| asked.until <= now) {
                self.paths[index].asked = None;
                self.engine.back_off(path);
                let confirmed = self.paths[index].state != AddressState::Unconfirmed;
                // Section 8.1: silence of other paths must not end an association whose data path
                // is idle [rfc8540:3.6].
                let counts = confirmed && path == self.data_path();
                self.count_error(path, counts);
            }
            if self.paths[index].next <= now {
                self.ask(now, path);
            }
        }
    }

    /// Queues a HEARTBEAT to an address.
    pub(crate) fn ask(&mut self, now: Instant, path: PathId) {
        let nonce = self.draw();
        let until = now + self.engine.rto(path);
        let period = self.heartbeat_period(path);
        self.paths[path.0].asked = Some(OutstandingHeartbeat { nonce, at: now, until, next: now + period });
        self.paths[path.0].next = now + period;
        let mut info = Vec::new();
        let value = [&(path.0 as u64).to_be_bytes()[..], &nonce.to_be_bytes()].concat();
        Parameter::HeartbeatInfo(&value).emit(&mut info);
        self.control.push_back((path, Control::Heartbeat(info)));
    }

    /// Handles the answer to a HEARTBEAT.
    pub(crate) fn on_heartbeat_ack(&mut self, now: Instant, parameters: Parameters<'_>) {
        let Some(Ok(Parameter::HeartbeatInfo(info))) = parameters.iter().next() else { return };
        let (Some((path, rest)), 16) = (info.split_first_chunk::<8>(), info.len()) else { return };
        let path = PathId(usize::try_from(u64::from_be_bytes(*path)).unwrap_or(usize::MAX));
        let nonce = u64::from_be_bytes(rest.try_into().expect("sixteen bytes less eight"));
        let Some(peer) = self.paths.get_mut(path.0) else { return };
        let Some(asked) = peer.asked.filter(|asked| asked.nonce == nonce) else { return };
        peer.asked = None;
        self.engine.sample(now, path, now.since(asked.at));
        // Section 8.1: HEARTBEATs may pass where data does not. With data outstanding, only its
        // acknowledgement resets the counter [rfc8540:3.13].
        if self.engine.una() == self.engine.nxt() {
            self.errors = 0;
        }
        self.mark_active(path);
        // The next one was due by an RTO that may have been backed off. Data may have postponed it since.
        if self.paths[path.0].next == asked.next {
            self.paths[path.0].next = asked.at + self.heartbeat_period(path);
        }
    }

    /// Marks an address as active: it has answered.
    #[inline]
    pub(crate) fn mark_active(&mut self, path: PathId) {
        let peer = &mut self.paths[path.0];
        peer.errors = 0;
        if peer.state != AddressState::Active {
            peer.state = AddressState::Active;
            let remote = peer.remote();
            self.engine.set_usable(path, true);
            // Section 8.2 [rfc8540:3.23].
            self.events.push_back(Event::Active(remote));
        }
    }

    /// Counts an error of a silent address. `counts` says whether the association's error counter
    /// grows too.
    pub(crate) fn count_error(&mut self, path: PathId, counts: bool) {
        let most = self.settings.path_max_retransmits;
        let peer = &mut self.paths[path.0];
        // Section 8.2: an address becomes inactive above the limit, not at it [rfc8540:3.1].
        peer.errors = peer.errors.saturating_add(1).min(most + 1);
        if peer.errors > most && peer.state == AddressState::Active {
            peer.state = AddressState::Inactive;
            let remote = peer.remote();
            self.engine.set_usable(path, false);
            self.events.push_back(Event::Inactive(remote));
        }
        if counts {
            self.errors += 1;
            if self.errors > self.settings.association_max_retransmits {
                self.give_up();
            }
        }
    }

    /// Returns the path for new data: the primary, or the first active path while the primary is
    /// not active (section 6.4.1).
    #[inline]
    pub(crate) fn data_path(&self) -> PathId {
        if self.paths.get(self.primary.0).is_some_and(|peer| peer.state == AddressState::Active) {
            return self.primary;
        }
        let active = |path: &PathId| self.paths[path.0].state == AddressState::Active;
        (0..self.paths.len()).map(PathId).find(active).unwrap_or(self.primary)
    }

    /// Returns the path for the next new data: that for data, or with
    /// [`concurrent_paths`](crate::Settings::concurrent_paths) the next active path after that of the
    /// newest chunk whose window has room.
    pub(crate) fn new_data_path(&self) -> PathId {
        if !self.settings.concurrent_paths {
            return self.data_path();
        }
        let count = self.paths.len();
        let first = self.engine.newest_path().map_or(self.primary.0, |newest| newest.0 + 1);
        let has_room = |path: &PathId| {
            let active = self.paths[path.0].state == AddressState::Active;
            active && self.engine.flight(*path) < self.engine.window(*path).cwnd
        };
        let mut each = (first..first + count).map(|path| PathId(path % count));
        each.find(has_room).unwrap_or_else(|| self.data_path())
    }

    /// Returns the peer's address on the primary path.
    pub fn primary(&self) -> IpAddr {
        self.paths[self.primary.0].remote()
    }

    /// Returns the path to the peer's address `remote`.
    #[inline]
    pub fn path_of(&self, remote: IpAddr) -> Option<PathId> {
        self.paths.iter().position(|peer| peer.remote() == remote).map(PathId)
    }

    /// Returns a random number that is hard to guess.
    pub(crate) fn draw(&mut self) -> u64 {
        self.draws += 1;
        siphash(&self.settings.secret, &[u64::from(self.local_tag), u64::from(self.ports.remote), self.draws])
    }
}
