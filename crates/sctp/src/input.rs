//! Processes packets: checks that they belong to this association (RFC 9260, section 8.5), and
//! handles their chunks.

use core::ops::ControlFlow;

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Cause, Causes, Chunk, Chunks, HEADER_LEN, Header, Unknown};
use eifel_packet::segment::Timestamps;
use eifel_recovery::association::PathId;

use crate::association::{Association, Control};
use crate::event::{Event, Failure};
use crate::header_prediction::Processed;
use crate::listener::out_of_the_blue;
use crate::packet::{Data, Packet};
use crate::state::{Repeated, State};

/// Maximum number of control chunks waiting to be sent.
const MOST_ANSWERS: usize = 64;

/// The origin of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// Addresses for a reply: from this end to the packet's source.
    pub(crate) back: Addresses,
    /// The path of these addresses; `None` if the peer is not known to have the address.
    pub(crate) path: Option<PathId>,
    /// The packet's verification tag.
    pub(crate) tag: u32,
    /// Whether the packet has only one chunk. A bundled INIT, INIT ACK or SHUTDOWN COMPLETE is ignored
    /// (section 6.10).
    pub(crate) alone: bool,
}

impl Association {
    /// Processes a packet with these addresses in its IP header. Ignores a packet that does not
    /// belong to this association.
    #[inline(always)]
    pub fn handle(&mut self, now: Instant, addresses: &Addresses, packet: &Packet) -> Processed {
        let predicted = self.predict(now, addresses, packet);
        if predicted == Processed::Fully {
            self.handle_any(now, addresses, packet);
        }
        predicted
    }

    #[inline(never)]
    fn handle_any(&mut self, now: Instant, addresses: &Addresses, packet: &Packet) {
        let header = &packet.header;
        if (header.destination_port, header.source_port) != (self.ports.local, self.ports.remote)
            || self.state == State::Closed
        {
            return;
        }
        if matches!(self.state, State::CookieWait(_) | State::CookieEchoed { .. })
            && packet.control_chunks().any(|chunk| chunk == Ok(Chunk::ShutdownAck))
        {
            // Section 8.5.1, rule E: the packet belongs to an earlier association. All its chunks
            // are ignored.
            return self.replies.waiting.extend(out_of_the_blue(addresses, packet));
        }
        let mut chunks = packet.chunks();
        let Some(Ok(first)) = chunks.next() else { return };
        if !self.accepts(header, &first) {
            return;
        }
        let alone = chunks.next().is_none();
        self.restart_t2_shutdown(now);
        self.take_all(now, (addresses, packet), packet.control_chunks(), alone);
    }

    /// Restarts the T2-shutdown timer. Section 9.2: in SHUTDOWN-SENT, any packet from the peer
    /// shows that it is still sending its data.
    pub(crate) fn restart_t2_shutdown(&mut self, now: Instant) {
        if let State::ShutdownSent(repeated) = &mut self.state {
            repeated.expiries = 0;
            if !repeated.pending {
                repeated.due = now + self.engine.rto(repeated.path);
            }
        }
    }

    /// Processes the chunks after the COOKIE ECHO that created this association.
    pub(crate) fn handle_rest(&mut self, now: Instant, addresses: &Addresses, packet: &Packet) {
        let mut control = packet.control_chunks();
        control.next();
        self.take_all(now, (addresses, packet), control, false);
    }

    /// Processes these control chunks of a packet, and its values. `alone` says whether the packet
    /// has only one chunk.
    fn take_all(&mut self, now: Instant, (addresses, packet): (&Addresses, &Packet), control: Chunks<'_>, alone: bool) {
        let back = addresses.reversed();
        let path = self.path_of(back.destination());
        let origin = Origin { back, path, tag: packet.header.verification_tag, alone };
        self.stamp = None;
        self.begin_packet();
        // The rest of the packet after a malformed chunk cannot be trusted.
        let _ = self.take_chunks(now, &origin, control, packet);
        self.end_packet(now);
        self.drain_ready();
    }

    /// Processes chunks in order. Breaks at the first chunk after which the rest is ignored.
    fn take_chunks(&mut self, now: Instant, origin: &Origin, control: Chunks<'_>, packet: &Packet) -> ControlFlow<()> {
        for chunk in control {
            let Ok(chunk) = chunk else { return ControlFlow::Break(()) };
            self.take(now, origin, &chunk)?;
            self.check_open()?;
        }
        if let Some(stamp) = packet.stamp {
            self.set_timestamp(stamp);
        }
        if let Some(sack) = packet.sack() {
            self.on_sack(now, &sack);
            self.check_open()?;
        }
        for data in packet.data() {
            self.on_data(origin, data, packet.payload(data))?;
            self.check_open()?;
        }
        ControlFlow::Continue(())
    }

    /// Breaks if the association is over.
    fn check_open(&self) -> ControlFlow<()> {
        if self.state == State::Closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Stores the timestamp of the packet being processed. If the chunk is not negotiated, the high
    /// bits of its type require to skip it.
    fn set_timestamp(&mut self, stamp: Timestamps) {
        self.stamp = Some(stamp).filter(|_| self.extensions.timestamps);
    }

    /// Returns whether the verification tag is valid for the packet's first chunk (section 8.5).
    fn accepts(&self, header: &Header, first: &Chunk<'_>) -> bool {
        let tag = header.verification_tag;
        match first {
            Chunk::Init(_) => tag == 0,
            Chunk::Abort { reflected, .. } | Chunk::ShutdownComplete { reflected } => {
                if *reflected {
                    tag == self.peer_tag && tag != 0
                } else {
                    tag == self.local_tag
                }
            }
            // The tag is compared with the cookie later.
            Chunk::CookieEcho(_) => true,
            _ => tag == self.local_tag,
        }
    }

    /// Processes a chunk. Breaks if the rest of the packet must be ignored; earlier chunks stay
    /// processed [rfc8540:3.25]. SACK and ERROR may come in either order [rfc8540:3.33].
    fn take(&mut self, now: Instant, origin: &Origin, chunk: &Chunk<'_>) -> ControlFlow<()> {
        match chunk {
            Chunk::Data(data) => return self.on_data(origin, &Data::new(data, None), data.payload),
            Chunk::Sack(sack) => self.on_sack(now, sack),
            Chunk::Init(init) => {
                if origin.alone {
                    self.on_init(now, origin, init);
                }
                return ControlFlow::Break(());
            }
            Chunk::InitAck(init) => {
                if origin.alone {
                    self.on_init_ack(now, origin, init);
                }
                return ControlFlow::Break(());
            }
            Chunk::CookieEcho(cookie) => return self.on_cookie_echo(now, origin, cookie),
            Chunk::CookieAck => self.on_cookie_ack(now),
            Chunk::Heartbeat(info) => {
                if let Some(path) = origin.path.filter(|_| self.answers_heartbeats()) {
                    self.answer(path, Control::HeartbeatAck(info.0.to_vec()));
                }
            }
            Chunk::HeartbeatAck(info) => self.on_heartbeat_ack(now, *info),
            // Section 8.5.1, rule B, also for an ABORT after other chunks.
            Chunk::Abort { reflected: true, .. } if origin.tag != self.peer_tag => return ControlFlow::Break(()),
            Chunk::Abort { causes, .. } => {
                self.fail(Failure::Aborted { reason: reason(*causes) });
                return ControlFlow::Break(());
            }
            Chunk::Error(causes) => self.on_error(*causes),
            Chunk::Shutdown { cumulative } => self.on_shutdown(now, *cumulative),
            Chunk::ShutdownAck => self.on_shutdown_ack(origin),
            Chunk::ShutdownComplete { reflected } => {
                let ours = !reflected || origin.tag == self.peer_tag;
                if ours && origin.alone && matches!(self.state, State::ShutdownAckSent(_)) {
                    self.finish();
                }
                // Its tag does not authenticate other chunks.
                return ControlFlow::Break(());
            }
            Chunk::ForwardTsn(forward) if self.extensions.forward_tsn => self.on_forward_tsn(forward),
            // RFC 3758, section 3.3.1: if not negotiated, the chunk is unknown, and its type
            // requires a report.
            Chunk::ForwardTsn(forward) => self.report_forward_tsn(origin, forward),
            // Reserved by RFC 9260. ECN is not negotiated, so both are ignored.
            Chunk::Ecne { .. } | Chunk::Cwr { .. } => {}
            // This end did not offer it, so the high bits of the type decide: the rest of the
            // packet is ignored.
            Chunk::NrSack(_) => return ControlFlow::Break(()),
            Chunk::Timestamp(stamp) => self.set_timestamp(*stamp),
            Chunk::Unknown(unknown) => return self.on_unknown(origin, unknown),
        }
        ControlFlow::Continue(())
    }

    /// Returns whether HEARTBEATs are answered in this state (section 8.3).
    fn answers_heartbeats(&self) -> bool {
        !matches!(self.state, State::Closed | State::CookieWait(_) | State::ShutdownAckSent(_))
    }

    /// Handles an unknown chunk by the two high bits of its type (section 3.2).
    fn on_unknown(&mut self, origin: &Origin, unknown: &Unknown<'_>) -> ControlFlow<()> {
        let unaware = unknown.unaware();
        if unaware.reports() {
            self.report_error(origin, Cause::UnrecognizedChunk(unknown.bytes));
        }
        if unaware.goes_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Queues an ERROR chunk for the packet's origin.
    pub(crate) fn report_error(&mut self, origin: &Origin, cause: Cause<'_>) {
        // A report that does not fit a packet is dropped.
        let mut causes = Vec::new();
        cause.emit(&mut causes);
        let path = origin.path.unwrap_or(self.primary);
        if causes.len() + 4 <= self.engine.pmdcs(path) as usize {
            self.answer(path, Control::Error(causes));
        }
    }

    /// Queues a chunk. Drops it if the queue is so long that the peer must be flooding.
    fn answer(&mut self, path: PathId, control: Control) {
        if self.control.len() < MOST_ANSWERS {
            self.control.push_back((path, control));
        }
    }

    fn on_error(&mut self, causes: Causes<'_>) {
        let stale = causes.iter().any(|cause| matches!(cause, Ok(Cause::StaleCookie(_))));
        match &self.state {
            // Section 5.2.6, alternative 1: this end asks for a new cookie.
            State::CookieEchoed { repeated, .. } if stale => {
                let (path, expiries) = (repeated.path, repeated.expiries + 1);
                if expiries > self.settings.max_init_retransmits {
                    return self.fail(Failure::NoAnswer);
                }
                self.state = State::CookieWait(Repeated { expiries, ..Repeated::on(path) });
            }
            State::CookieWait(_) | State::CookieEchoed { .. } => {}
            _ if stale => {}
            _ => self.events.push_back(Event::RemoteError(causes.0.to_vec())),
        }
    }

    /// Checks once per packet whether the receive buffer has room. With room, the whole packet is
    /// accepted, otherwise only chunks that fill gaps. The application reads between packets, so
    /// in-order chunks wait for one packet at most.
    #[inline]
    pub(crate) fn begin_packet(&mut self) {
        let buffer = self.settings.receive_buffer as usize;
        if let Some(inbound) = &mut self.inbound {
            inbound.has_room = inbound.reassembly.held() < buffer;
        }
    }

    /// Does the work that follows the last chunk of a packet.
    #[inline]
    pub(crate) fn end_packet(&mut self, now: Instant) {
        let (every, delay) = (self.settings.sack_every, self.settings.sack_delay);
        let buffer = self.settings.receive_buffer as usize;
        if let Some(inbound) = &mut self.inbound {
            let had_data = inbound.tracker.end_packet(now, every, delay);
            if let (true, State::ShutdownSent(repeated)) = (had_data, &mut self.state) {
                // Section 9.2: SHUTDOWN answers data, and carries the cumulative TSN. A SACK is
                // needed only for the rest.
                repeated.pending = true;
                inbound.tracker.drop_sack_for_shutdown();
            }
            if inbound.reassembly.held() > buffer / 2 {
                inbound.reassembly.deliver_part(inbound.tracker.next());
            }
        }
        if matches!(self.state, State::ShutdownPending | State::ShutdownReceived) {
            self.advance_shutdown();
        }
    }

    /// Sends an ABORT to the peer.
    pub(crate) fn send_abort(&mut self, causes: &[u8]) {
        let Some(peer) = self.paths.get(self.data_path().0) else { return };
        let addresses = peer.addresses;
        if self.peer_tag != 0 {
            self.send_abort_to(addresses, self.peer_tag, causes);
        }
    }

    /// Sends an ABORT with the verification tag `tag`.
    pub(crate) fn send_abort_to(&mut self, addresses: Addresses, tag: u32, causes: &[u8]) {
        self.reply(addresses, tag, &Chunk::Abort { reflected: false, causes: Causes(causes) });
    }

    /// Queues a packet with one chunk, outside the normal exchange.
    pub(crate) fn reply(&mut self, addresses: Addresses, tag: u32, chunk: &Chunk<'_>) {
        self.replies.waiting.push_back((addresses, single(self.header(tag), chunk)));
    }

    /// Returns the header of a packet to the peer.
    pub(crate) fn header(&self, tag: u32) -> Header {
        self.ports.header(tag)
    }

    /// Aborts the association because the peer violated the protocol.
    pub(crate) fn abort_for_violation(&mut self, cause: Cause<'_>, what: &'static str) {
        let mut causes = Vec::new();
        cause.emit(&mut causes);
        self.send_abort(&causes);
        self.fail(Failure::Violation(what));
    }
}

/// Makes a packet of one chunk.
pub(crate) fn single(header: Header, chunk: &Chunk<'_>) -> Packet {
    let mut packet = Packet::new(header);
    if HEADER_LEN + chunk.length().next_multiple_of(4) <= usize::from(u16::MAX) {
        packet.push_chunk(chunk);
    } else {
        // Callers limit the chunk's size. If it does not fit after all, an ABORT without causes
        // replaces it.
        packet.push_chunk(&Chunk::Abort { reflected: false, causes: Causes(&[]) });
    }
    packet
}

/// Returns the peer application's reason for an ABORT; empty if there is none.
fn reason(causes: Causes<'_>) -> Vec<u8> {
    let mut user = causes.iter().filter_map(|cause| match cause {
        Ok(Cause::UserAbort(reason)) => Some(reason.to_vec()),
        _ => None,
    });
    user.next().unwrap_or_default()
}
