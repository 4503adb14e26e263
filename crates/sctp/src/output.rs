//! Builds packets to send (RFC 9260, sections 6.1, 6.2 and 6.10).

use eifel_base::time::Instant;
use eifel_packet::sctp::{self, Causes, Chunk, DataFlags, HEADER_LEN, Parameters, SackFlags};
use eifel_recovery::association::{Offer, PacketContents, PacketToSend, PathId};

use crate::association::{Association, Control, Outgoing};
use crate::handshake;
use crate::header_prediction::Departure;
use crate::packet::{Packet, Sack};
use crate::peer_address::AddressState;
use crate::settings::TimestampValues;
use crate::state::{Repeated, State};

/// Bytes of a DATA chunk with one byte of user data.
const LEAST_CHUNK: usize = sctp::Data::HEADER_LEN + 4;

/// The contents of the next packet to send.
struct Contents {
    path: PathId,
    /// The DATA to send; `None` for a packet without DATA.
    go: Option<PacketToSend>,
    /// Whether the packet carries the repeated chunk of the state, SHUTDOWN or SHUTDOWN ACK.
    repeats: bool,
}

impl Association {
    /// Writes the next packet to send now into `packet`. Returns `None` if there is none.
    // Inlined: if the usual packet's path and transmission went through memory, they would cost as
    // much as the packet.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<Outgoing> {
        self.transmissions.clear();
        if std::mem::take(&mut self.begins_burst) {
            self.engine.on_write(now);
        }
        match self.predict_departure(now, packet) {
            Departure::Nothing => None,
            Departure::Written(path, more) => Some(Outgoing { path: Some(path), more }),
            Departure::Unpredicted => self.any_departure(now, packet),
        }
    }

    #[inline(never)]
    fn any_departure(&mut self, now: Instant, packet: &mut Packet) -> Option<Outgoing> {
        if let Some((addresses, reply)) = self.replies.waiting.pop_front() {
            *packet = reply;
            self.replies.sent_to = Some(addresses);
            return Some(Outgoing { path: None, more: true });
        }
        match self.state {
            State::Closed => None,
            State::CookieWait(_) | State::CookieEchoed { .. } => self.poll_opening(now, packet),
            _ => {
                let contents = self.next_contents(now)?;
                packet.begin(self.header(self.peer_tag));
                Some(self.fill(now, &contents, packet))
            }
        }
    }

    /// Writes INIT or COOKIE ECHO. Nothing else is sent before the peer has answered.
    fn poll_opening(&mut self, now: Instant, packet: &mut Packet) -> Option<Outgoing> {
        let &Repeated { path, expiries: repeats, .. } = self.state.repeated().filter(|repeated| repeated.pending)?;
        self.start_repeated(now);
        match &self.state {
            State::CookieWait(_) => {
                let parameters = handshake::parameters(&self.settings);
                let init = handshake::init(&self.settings, self.local_tag, self.queue.initial(), &parameters);
                packet.begin(self.header(0));
                packet.push_chunk(&Chunk::Init(init));
            }
            State::CookieEchoed { cookie, error, .. } => {
                packet.begin(self.header(self.peer_tag));
                packet.push_chunk(&Chunk::CookieEcho(cookie));
                let pmdcs = self.engine.pmdcs(path) as usize;
                let report = Chunk::Error(Causes(error));
                if !error.is_empty() && packet.len() + report.length().next_multiple_of(4) <= HEADER_LEN + pmdcs {
                    packet.push_chunk(&report);
                }
                // No other packet may follow before the COOKIE ACK, so only the first COOKIE ECHO
                // carries data.
                if self.settings.data_with_cookie && repeats == 0 {
                    self.give_up_expired(now);
                    let offer = Offer { path, next: self.queue.next(), a_rwnd: u64::from(self.a_rwnd) };
                    if let Some(go) = self.engine.poll(now, &offer).filter(|go| go.path == path) {
                        self.write_data(now, &go, pmdcs, packet);
                    }
                }
            }
            _ => unreachable!("the state was looked at"),
        }
        Some(Outgoing { path: Some(path), more: true })
    }

    /// Starts the timer of the state's repeated chunk.
    fn start_repeated(&mut self, now: Instant) {
        let Some(path) = self.state.repeated().map(|repeated| repeated.path) else { return };
        let mut wait = self.engine.rto(path);
        if let (State::CookieWait(_), Some(longest)) = (&self.state, self.settings.longest_init_wait) {
            wait = wait.min(longest);
        }
        let due = now + wait;
        if let Some(repeated) = self.state.repeated_mut() {
            repeated.pending = false;
            repeated.sent_at = now;
            repeated.due = due;
        }
    }

    /// Chooses the next packet. Control chunks come first, then the state's repeated chunk, then a
    /// SACK, then DATA, then a FORWARD TSN without DATA.
    fn next_contents(&mut self, now: Instant) -> Option<Contents> {
        let go = self.go(now);
        let repeats = self.state.repeated().filter(|repeated| repeated.pending).map(|repeated| repeated.path);
        let sack_to = self.inbound.as_ref().filter(|inbound| inbound.tracker.is_due(now)).map(|i| i.answer_to);
        let path = self.control.front().map(|(path, _)| *path);
        let path = path.or(repeats).or(sack_to.map(|to| self.confirmed(to))).or(go.map(|go| go.path));
        let path = path.or(self.forward_path())?;
        let repeats = repeats == Some(path);
        Some(Contents { path, go: go.filter(|go| go.path == path && !repeats), repeats })
    }

    /// Writes these contents into the empty `packet`.
    fn fill(&mut self, now: Instant, contents: &Contents, packet: &mut Packet) -> Outgoing {
        let &Contents { path, go, repeats } = contents;
        let pmdcs = self.engine.pmdcs(path) as usize;
        self.write_control(path, pmdcs, packet);
        let sack = self.writes_sack(now, (path, pmdcs), go.is_some(), packet.len());
        let stamped = self.stamps.as_ref().filter(|_| sack || go.is_some());
        let stamped = stamped.map(|stamps| packet.push_stamp(stamps.chunk(now))).is_some();
        if sack {
            self.write_sack(pmdcs, packet);
        }
        if repeats {
            self.write_repeated(now, packet);
        }
        self.write_forward_tsn(now, (path, pmdcs), packet);
        if let Some(go) = go {
            self.write_data(now, &go, pmdcs, packet);
        }
        if let Some(stamps) = self.stamps.as_mut().filter(|_| stamped) {
            stamps.leave(now);
        }
        Outgoing { path: Some(path), more: true }
    }

    /// Returns the path for an answer to `path`: the path itself, unless it is unconfirmed and so
    /// limited to HEARTBEATs (section 5.4).
    #[inline]
    pub(crate) fn confirmed(&self, path: PathId) -> PathId {
        if self.paths[path.0].state == AddressState::Unconfirmed { self.data_path() } else { path }
    }

    /// Returns the permission to send data now, if there is any.
    fn go(&mut self, now: Instant) -> Option<PacketToSend> {
        if !self.state.sends_data() {
            return None;
        }
        self.give_up_expired(now);
        let path = self.new_data_path();
        let pmdcs = self.engine.pmdcs(path) as usize;
        let held_back = self.settings.nagle && self.engine.has_outstanding() && self.queue.unsent_up_to(pmdcs) < pmdcs;
        let next = if held_back { None } else { self.queue.next() };
        let offer = Offer { path, next, a_rwnd: u64::from(self.a_rwnd) };
        loop {
            let go = self.engine.poll(now, &offer)?;
            if !self.probes_expired(now, &go) {
                return Some(go);
            }
        }
    }

    fn write_control(&mut self, path: PathId, pmdcs: usize, packet: &mut Packet) {
        let end = HEADER_LEN + pmdcs;
        while let Some((to, control)) = self.control.front() {
            let chunk = match control {
                Control::CookieAck => Chunk::CookieAck,
                Control::Heartbeat(info) => Chunk::Heartbeat(Parameters(info)),
                Control::HeartbeatAck(info) => Chunk::HeartbeatAck(Parameters(info)),
                Control::Error(causes) => Chunk::Error(Causes(causes)),
            };
            let fits = packet.len() == HEADER_LEN || packet.len() + chunk.length().next_multiple_of(4) <= end;
            if *to != path || !fits {
                return;
            }
            packet.push_chunk(&chunk);
            self.control.pop_front();
        }
    }

    /// Returns whether the packet carries a SACK. It carries a SACK that is due, or a delayed SACK
    /// if its DATA leaves room.
    fn writes_sack(&self, now: Instant, (path, pmdcs): (PathId, usize), with_data: bool, written: usize) -> bool {
        let stamp = if self.stamps.is_some() { Chunk::TIMESTAMP_LEN } else { 0 };
        let free = (HEADER_LEN + pmdcs).saturating_sub(written + stamp);
        let data = self.queue.next().map_or(0, |size| size.wire as usize);
        let Some(inbound) = &self.inbound else { return false };
        let due = inbound.tracker.is_due(now);
        let rides = with_data
            && inbound.tracker.is_pending()
            && inbound.answer_to == path
            && sctp::Sack::MIN_LEN + data <= free;
        (due || rides) && free >= sctp::Sack::MIN_LEN
    }

    #[inline]
    pub(crate) fn write_sack(&mut self, pmdcs: usize, packet: &mut Packet) {
        let free = (HEADER_LEN + pmdcs).saturating_sub(packet.len());
        let Some(inbound) = &mut self.inbound else { return };
        let window = (self.settings.receive_buffer as usize).saturating_sub(inbound.reassembly.held());
        inbound.advertised = window;
        let cumulative = inbound.tracker.cumulative();
        if let Some(stamps) = &mut self.stamps {
            stamps.on_sack_sent(inbound.tracker.next());
        }
        let marked = inbound.tracker.take_retransmission_mark() && self.extensions.retransmit_bit;
        let gaps = inbound.tracker.take(free.saturating_sub(sctp::Sack::MIN_LEN), &mut packet.lists);
        let flags = if marked { SackFlags::ANSWERS_SENT_AGAIN } else { SackFlags::default() };
        packet.push_sack(Sack { flags, cumulative, a_rwnd: window as u32, gaps });
    }

    /// Writes SHUTDOWN or SHUTDOWN ACK.
    fn write_repeated(&mut self, now: Instant, packet: &mut Packet) {
        self.start_repeated(now);
        let chunk = match (&self.state, &self.inbound) {
            (State::ShutdownSent(_), Some(inbound)) => {
                if self.guard == Instant::NEVER {
                    self.guard = self.settings.guard().map_or(Instant::NEVER, |guard| now + guard);
                }
                Chunk::Shutdown { cumulative: inbound.tracker.cumulative() }
            }
            (State::ShutdownAckSent(_), _) => Chunk::ShutdownAck,
            _ => return,
        };
        packet.push_chunk(&chunk);
    }

    #[inline]
    fn write_data(&mut self, now: Instant, go: &PacketToSend, pmdcs: usize, packet: &mut Packet) {
        let idle = self.engine.una() == self.engine.nxt();
        let mut bytes = self.write_chunks(now, go, pmdcs, packet);
        let mut measures = matches!(go.contents, PacketContents::New { .. } | PacketContents::Probe);
        if bytes > 0
            && go.contents == PacketContents::Retransmissions
            && packet.len() + LEAST_CHUNK <= HEADER_LEN + pmdcs
        {
            // Section 6.1: new data may share the packet if no retransmission is left.
            let more =
                self.go(now).filter(|more| more.path == go.path && matches!(more.contents, PacketContents::New { .. }));
            let new = more.map_or(0, |more| self.write_chunks(now, &more, pmdcs, packet));
            measures = new > 0;
            bytes += new;
        }
        if bytes > 0 {
            if let Some(stamps) = &mut self.stamps {
                let outstanding = if idle { 0 } else { self.engine.nxt() - self.engine.una() };
                stamps.on_data(now, go.path, outstanding);
            }
            self.engine.on_packet(now, go, bytes);
            if measures {
                self.postpone_heartbeat(now, go.path);
            }
        }
    }

    /// Writes chunks while they fit. Returns their bytes.
    fn write_chunks(&mut self, now: Instant, go: &PacketToSend, pmdcs: usize, packet: &mut Packet) -> u32 {
        let end = HEADER_LEN + pmdcs;
        let stamp = self.stamps.as_ref().map(|stamps| stamps.value(now));
        // A timestamp shared by several packets identifies none of them.
        let original = stamp.filter(|_| self.settings.timestamp_values == TimestampValues::Distinct);
        let before = packet.len();
        let mut bytes = 0;
        let mut from = 0;
        let mut room = match go.contents {
            PacketContents::New { room } => room,
            _ => u64::MAX,
        };
        while bytes == 0 || packet.len() + LEAST_CHUNK <= end {
            if bytes > 0 {
                // The message behind the one that was just written may have expired.
                self.give_up_expired(now);
            }
            let next = match go.contents {
                PacketContents::Retransmissions => self.engine.next_retransmission(go.path, from),
                PacketContents::New { .. } => self.queue.next().map(|size| (self.engine.nxt(), size)),
                PacketContents::Probe => self.queue.next().filter(|_| bytes == 0).map(|size| (self.engine.nxt(), size)),
                PacketContents::TailLossProbe { position } => {
                    (bytes == 0).then(|| (position, self.engine.size(position)))
                }
            };
            let Some((position, size)) = next else { break };
            // A chunk made for a larger packet is sent alone, and IP fragments it (section 6.9).
            let alone = bytes == 0 && before <= HEADER_LEN + stamp.map_or(0, |_| Chunk::TIMESTAMP_LEN);
            let fits = packet.len() + size.wire as usize <= end || alone;
            if !fits || u64::from(size.data) > room {
                break;
            }
            let transmission = match go.contents {
                PacketContents::Retransmissions => self.engine.on_retransmitted(now, position, go.path, stamp),
                PacketContents::TailLossProbe { .. } => self.engine.on_tail_probe(now, go, stamp),
                PacketContents::New { .. } | PacketContents::Probe => {
                    room -= u64::from(size.data);
                    self.queue.advance();
                    self.engine.on_new(now, go.path, size, original)
                }
            };
            let mut also = match self.state {
                // Section 6.1: in SHUTDOWN-PENDING, this end wants the last SACK soon
                // [rfc8540:3.45.a].
                State::ShutdownPending => DataFlags::IMMEDIATE,
                _ => DataFlags::default(),
            };
            if transmission.copy > 0 && self.extensions.retransmit_bit {
                also = also.with(DataFlags::SENT_AGAIN);
            }
            let (mut data, payload) = self.queue.chunk(position);
            data.flags = data.flags.with(also);
            packet.push_data(data, payload);
            self.transmissions.push(transmission);
            bytes += size.wire;
            from = position + 1;
        }
        bytes
    }
}
