//! The association: its state, its parts, and the application's interface.

use core::net::IpAddr;
use std::collections::VecDeque;
use std::sync::Arc;

use eifel_base::siphash::siphash;
use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Cause, Chunk};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;
use eifel_recovery::association::{Engine, PathId};
use eifel_recovery::fact::Transmission;
use eifel_recovery::registry::Error;

use crate::cookie::Cookie;
use crate::event::{Event, Failure};
use crate::handshake::Extensions;
use crate::packet::Packet;
use crate::peer_address::{AddressState, PeerAddress};
use crate::reassembly::{Message, Reassembly};
use crate::send_queue::{Content, Delivery, SendError, SendQueue};
use crate::settings::{MAX_SACK_DELAY, Ports, Settings, TimestampChunk, TimestampValues};
use crate::stamps::TimestampState;
use crate::state::{Phase, Repeated, State};
use crate::tracker::Tracker;

/// A chunk other than DATA and SACK that is queued for a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    CookieAck,
    Heartbeat(Vec<u8>),
    HeartbeatAck(Vec<u8>),
    Error(Vec<u8>),
}

/// The path of a packet to send. [`Association::addresses`] returns its addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// The path of the association; `None` for a reply to the sender of a packet.
    pub path: Option<PathId>,
    /// Whether another packet may follow now.
    pub more: bool,
}

/// Whole packets to send outside the normal exchange, such as an INIT ACK or ABORT.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replies {
    pub(crate) waiting: VecDeque<(Addresses, Packet)>,
    /// The addresses of the newest reply that was sent.
    pub(crate) sent_to: Option<Addresses>,
}

/// The receiving side.
#[derive(Clone, Debug)]
pub(crate) struct Inbound {
    pub(crate) tracker: Tracker,
    pub(crate) reassembly: Reassembly,
    /// Number of streams that the peer may send on.
    pub(crate) streams: u16,
    /// The window of the newest SACK, in bytes.
    pub(crate) advertised: usize,
    /// The path for SACKs: the path of the newest DATA.
    pub(crate) answer_to: PathId,
    /// Whether the receive buffer had room when the current packet arrived.
    pub(crate) has_room: bool,
}

/// One end of an SCTP association. It has more than twenty fields, because RFC 9260 (section 14.2)
/// lists as many parameters per association. The fields of streams and paths are in their own
/// structs.
#[derive(Clone)]
pub struct Association {
    pub(crate) settings: Settings,
    pub(crate) ports: Ports,
    pub(crate) state: State,
    pub(crate) local_tag: u32,
    /// 0 until the peer's tag is known.
    pub(crate) peer_tag: u32,
    pub(crate) extensions: Extensions,
    pub(crate) paths: Vec<PeerAddress>,
    pub(crate) primary: PathId,
    pub(crate) engine: Engine,
    pub(crate) queue: SendQueue,
    /// `None` until the peer's initial TSN is known.
    pub(crate) inbound: Option<Inbound>,
    /// The window in the peer's newest SACK, in bytes.
    pub(crate) a_rwnd: u32,
    /// Whether a SACK arrived since the retransmission timer last expired. If so, the expiry of a
    /// zero window probe is not an error.
    pub(crate) sacks_come: bool,
    /// `None` if packets carry no timestamp chunk.
    pub(crate) stamps: Option<TimestampState>,
    /// The timestamp chunk of the packet being processed.
    pub(crate) stamp: Option<Timestamps>,
    /// Bytes of the messages that were read on arrival; `None` if the application reads them.
    pub(crate) drained: Option<u64>,
    /// Whether [header prediction](crate::header_prediction) may apply.
    pub(crate) predicts: bool,
    /// Consecutive errors on all paths (section 8.1).
    pub(crate) errors: u32,
    pub(crate) control: VecDeque<(PathId, Control)>,
    pub(crate) replies: Replies,
    pub(crate) events: VecDeque<Event>,
    /// The transmissions in the newest packet.
    pub(crate) transmissions: Vec<Transmission>,
    pub(crate) draws: u64,
    /// When a shutdown has taken too long (T5-shutdown-guard). [`Instant::NEVER`] before SHUTDOWN
    /// was sent.
    pub(crate) guard: Instant,
    /// Whether a message was written while none waited, since the last packet was polled.
    pub(crate) begins_burst: bool,
}

impl Association {
    /// Opens an association to a peer at `remotes`. The first address is the primary path. The
    /// first [`poll_transmit`](Self::poll_transmit) returns the INIT. `number` has to differ
    /// between the associations of an end, so that their tags differ.
    ///
    /// # Errors
    /// The registry does not know an algorithm or parameter.
    ///
    /// # Panics
    /// If `remotes` has no address of an IP version for which this end has an address.
    pub fn connect(
        now: Instant,
        settings: &Settings,
        ports: Ports,
        remotes: &[IpAddr],
        number: u64,
    ) -> Result<Self, Error> {
        let tag = tag(settings, ports, number);
        let mut association = Self::new(settings, ports, (tag, Seq(tag)))?;
        for remote in remotes {
            association.add_path(now, *remote, None, AddressState::Active);
        }
        assert!(!association.paths.is_empty(), "no address to call");
        association.state = State::CookieWait(Repeated::on(PathId(0)));
        Ok(association)
    }

    /// Makes a closed association without a peer. `local` holds its verification tag and initial
    /// TSN.
    pub(crate) fn new(settings: &Settings, ports: Ports, local: (u32, Seq)) -> Result<Self, Error> {
        Ok(Self {
            ports,
            state: State::Closed,
            local_tag: local.0,
            peer_tag: 0,
            extensions: Extensions::default(),
            paths: Vec::new(),
            primary: PathId(0),
            engine: Engine::new(settings.engine.clone())?,
            queue: SendQueue::new(local.1, settings.send_buffer),
            inbound: None,
            a_rwnd: 0,
            sacks_come: false,
            stamps: None,
            stamp: None,
            drained: None,
            predicts: false,
            errors: 0,
            control: VecDeque::new(),
            replies: Replies::default(),
            events: VecDeque::new(),
            transmissions: Vec::new(),
            draws: 0,
            guard: Instant::NEVER,
            begins_burst: false,
            settings: Settings { sack_delay: settings.sack_delay.min(MAX_SACK_DELAY), ..settings.clone() },
        })
    }

    /// Makes the association described by a valid cookie. `addresses` are those of its COOKIE ECHO,
    /// reversed: the source is this end.
    pub(crate) fn from_cookie(
        now: Instant,
        settings: &Settings,
        cookie: &Cookie,
        addresses: Addresses,
    ) -> Result<Self, Error> {
        let mut association = Self::new(settings, cookie.ports, (cookie.local_tag, cookie.local_tsn))?;
        for (index, remote) in cookie.addresses.iter().enumerate() {
            // Section 5.4, rule 2: the destination of the INIT ACK is confirmed, other addresses
            // are not.
            let answers = if index == 0 { AddressState::Active } else { AddressState::Unconfirmed };
            association.add_path(now, *remote, Some(addresses), answers);
        }
        association.learn(cookie);
        association.open(now);
        Ok(association)
    }

    /// Stores the peer's properties from a cookie.
    pub(crate) fn learn(&mut self, cookie: &Cookie) {
        self.peer_tag = cookie.peer_tag;
        self.extensions = cookie.extensions;
        self.a_rwnd = cookie.a_rwnd;
        self.queue.set_streams(cookie.outbound_streams);
        self.queue.drop_beyond_streams();
        self.begin_inbound(cookie.peer_tsn, cookie.inbound_streams);
    }

    /// Sets up the receiving side.
    pub(crate) fn begin_inbound(&mut self, initial: Seq, streams: u16) {
        self.inbound = Some(Inbound {
            tracker: Tracker::new(initial),
            reassembly: Reassembly::default(),
            streams,
            advertised: self.settings.receive_buffer as usize,
            answer_to: self.primary,
            has_room: true,
        });
    }

    /// Enters ESTABLISHED.
    pub(crate) fn open(&mut self, now: Instant) {
        self.state = State::Established;
        self.errors = 0;
        self.begin_stamps(now);
        self.choose_prediction();
        self.begin_heartbeats(now);
        self.events.push_back(Event::Established);
    }

    /// Starts timestamps, if they are negotiated or always sent.
    fn begin_stamps(&mut self, now: Instant) {
        if self.extensions.timestamps {
            self.engine.agree_on_timestamps();
        } else if self.settings.timestamp_chunk != TimestampChunk::Always {
            return;
        }
        let drawn = self.draw();
        self.stamps = Some(match self.settings.timestamp_values {
            TimestampValues::Clock => TimestampState::clock((drawn as u32).max(1)),
            TimestampValues::Distinct => TimestampState::distinct(self.settings.secret, drawn, now),
        });
        self.fit_chunks();
    }

    /// Limits the size of chunks so that they fit packets on every path.
    pub(crate) fn fit_chunks(&mut self) {
        let stamps = if self.stamps.is_some() { Chunk::TIMESTAMP_LEN as u32 } else { 0 };
        self.queue.set_amdcs(self.engine.amdcs() - stamps);
    }

    /// Adds an address of the peer. `via` holds the addresses of a packet from the peer, reversed:
    /// its source is this end. Ignores an address that this end cannot reach.
    pub(crate) fn add_path(&mut self, now: Instant, remote: IpAddr, via: Option<Addresses>, state: AddressState) {
        let index = self.paths.len();
        let Some(addresses) = self.settings.source_for(index, remote, via) else { return };
        let path = self.engine.add_path(now, self.settings.pmdcs(remote), remote.is_ipv6());
        self.engine.set_usable(path, state == AddressState::Active);
        self.paths.push(PeerAddress::new(addresses, state));
        self.fit_chunks();
    }

    /// Queues a message for sending.
    ///
    /// # Errors
    /// The association is closed or shutting down, the stream does not exist, the message is empty,
    /// or the send buffer is full.
    pub fn send(&mut self, delivery: Delivery, bytes: impl Into<Arc<[u8]>>) -> Result<(), SendError> {
        self.push(delivery, Content::Bytes(bytes.into()), 1)
    }

    /// Queues a message of `len` zeros, which take no memory.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    pub fn send_zeros(&mut self, delivery: Delivery, len: usize) -> Result<(), SendError> {
        self.push(delivery, Content::Zeros(len), 1)
    }

    /// Queues up to `most` messages of `len` zeros, as many as the send buffer has room for.
    /// Returns their number.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    #[inline]
    pub fn send_zeros_repeatedly(&mut self, delivery: Delivery, len: usize, most: usize) -> Result<usize, SendError> {
        let times = self.queue.room().checked_div(len).unwrap_or(1).clamp(1, most.max(1));
        self.push(delivery, Content::Zeros(len), times)?;
        Ok(times)
    }

    /// Returns whether a part of a message was never sent.
    pub fn has_waiting(&self) -> bool {
        self.queue.has_waiting()
    }

    /// Returns whether at least `bytes` of the message at the head of the send queue, and of equal
    /// messages after it, were never sent.
    #[inline]
    pub fn has_unsent(&self, bytes: usize) -> bool {
        self.queue.has_unsent(bytes)
    }

    fn push(&mut self, delivery: Delivery, content: Content, times: usize) -> Result<(), SendError> {
        match self.state {
            State::CookieWait(_) | State::CookieEchoed { .. } | State::Established => {
                self.begins_burst |= !self.queue.has_waiting();
                self.predicts &= delivery.expires.is_none();
                self.queue.push(delivery, content, times)
            }
            _ => Err(SendError::State),
        }
    }

    /// Returns the number of bytes in use in the receive buffer.
    pub fn buffered(&self) -> usize {
        self.inbound.as_ref().map_or(0, |inbound| inbound.reassembly.held())
    }

    /// Takes the next received message.
    pub fn receive(&mut self) -> Option<Message> {
        let buffer = self.settings.receive_buffer as usize;
        let inbound = self.inbound.as_mut()?;
        let message = inbound.reassembly.take()?;
        inbound.update_window(buffer);
        Some(message)
    }

    /// Lets the association read each message as soon as the packet that completes it is processed.
    /// Messages are counted, and not kept.
    pub fn drain(&mut self) {
        self.drained = Some(0);
        self.drain_ready();
    }

    /// Returns the bytes of all messages read since [`drain`](Self::drain).
    #[inline]
    pub fn drained(&self) -> u64 {
        self.drained.unwrap_or(0)
    }

    /// Reads all messages, if the association does that itself.
    pub(crate) fn drain_ready(&mut self) {
        while self.drained.is_some()
            && let Some(message) = self.receive()
        {
            self.drained = self.drained.map(|bytes| bytes + message.len as u64);
        }
    }

    /// Returns whether there is a message to [receive](Self::receive).
    pub fn is_readable(&self) -> bool {
        self.inbound.as_ref().is_some_and(|inbound| inbound.reassembly.is_readable())
    }

    /// Shuts the association down once all data is acknowledged (section 9.2).
    pub fn shutdown(&mut self) {
        match self.state {
            State::Established => self.state = State::ShutdownPending,
            State::CookieWait(_) | State::CookieEchoed { .. } => self.fail(Failure::AbortedHere),
            _ => return, // Also ignored in SHUTDOWN-RECEIVED [rfc8540:3.2].
        }
        self.advance_shutdown();
    }

    /// Aborts the association, and tells the peer why (section 9.1).
    pub fn abort(&mut self, reason: &[u8]) {
        if self.state == State::Closed {
            return;
        }
        let mut causes = Vec::new();
        Cause::UserAbort(reason).emit(&mut causes);
        self.send_abort(&causes);
        self.fail(Failure::AbortedHere);
    }

    /// Makes an address of the peer the primary path. This does not confirm the address
    /// [rfc8540:3.17]. Returns `false` if the peer does not have it.
    pub fn set_primary(&mut self, remote: IpAddr) -> bool {
        let path = self.path_of(remote);
        if let Some(path) = path {
            self.primary = path;
        }
        path.is_some()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the number of streams that the peer may send on; 0 before the handshake.
    pub fn inbound_streams(&self) -> u16 {
        self.inbound.as_ref().map_or(0, |inbound| inbound.streams)
    }

    /// Returns whether there is no association any more.
    #[inline]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    pub fn phase(&self) -> Phase {
        (&self.state).into()
    }

    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// Returns the number of outgoing streams; 0 before the peer's answer.
    pub fn streams(&self) -> u16 {
        self.queue.streams()
    }

    /// Returns the free space for [`send`](Self::send), in bytes.
    #[inline]
    pub fn send_room(&self) -> usize {
        self.queue.room()
    }

    /// Returns the verification tag of the peer's packets.
    pub fn local_tag(&self) -> u32 {
        self.local_tag
    }

    /// Returns whether a received packet with these addresses in its header may belong to this
    /// association.
    pub fn owns(&self, addresses: &Addresses) -> bool {
        self.path_of(addresses.source()).is_some()
    }

    /// Returns the engine that makes the sending decisions.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the engine's next event, and its path.
    pub fn poll_engine_event(&mut self) -> Option<(PathId, eifel_recovery::event::Event)> {
        self.engine.poll_event()
    }

    /// Returns the TSN of position 0 in this end's data.
    pub fn initial_tsn(&self) -> Seq {
        self.queue.initial()
    }

    /// Returns the window in the peer's newest SACK, in bytes.
    pub fn peer_window(&self) -> u32 {
        self.a_rwnd
    }

    /// Returns whether the peer's chunk at `position` has arrived. `false` if it was dropped again
    /// for lack of room.
    #[inline]
    pub fn has_received(&self, position: u64) -> bool {
        self.inbound.as_ref().is_some_and(|inbound| inbound.tracker.has(position))
    }

    /// Returns the addresses of the newest packet: this end's as source, the peer's as destination.
    ///
    /// # Panics
    /// If the association did not return `outgoing`.
    #[inline]
    pub fn addresses(&self, outgoing: &Outgoing) -> &Addresses {
        match outgoing.path {
            Some(path) => &self.paths[path.0].addresses,
            None => self.replies.sent_to.as_ref().expect("the newest packet is a reply"),
        }
    }

    /// Returns the transmissions in the newest packet, one per chunk.
    #[inline]
    pub fn transmissions(&self) -> &[Transmission] {
        &self.transmissions
    }

    /// Returns whether [`poll_event`](Self::poll_event) or
    /// [`poll_engine_event`](Self::poll_engine_event) has an event.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty() || self.engine.has_events()
    }

    /// Returns the next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Ends the association because the peer does not answer [rfc8540:3.23]. Sends an ABORT in case
    /// the peer is still reachable.
    pub(crate) fn give_up(&mut self) {
        let mut causes = Vec::new();
        Cause::ProtocolViolation(b"too many retransmissions").emit(&mut causes);
        self.send_abort(&causes);
        self.fail(Failure::Unreachable);
    }

    /// Ends the association with a failure.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.state = State::Closed;
        self.events.push_back(Event::Failed(failure));
    }
}

/// Makes a verification tag that is not 0 and hard to guess.
pub(crate) fn tag(settings: &Settings, ports: Ports, number: u64) -> u32 {
    let ports = u64::from(ports.local) << 16 | u64::from(ports.remote);
    let drawn = siphash(&settings.secret, &[ports, number]) as u32;
    drawn.max(1)
}
