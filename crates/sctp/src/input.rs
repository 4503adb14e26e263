//! Handles a packet: checks that it belongs to this association (RFC 9260, section 8.5), and
//! processes its chunks.

use core::ops::ControlFlow;

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Cause, Causes, Chunk, Header, Unknown, Writer};
use eifel_recovery::association::PathId;

use crate::association::{Association, Control};
use crate::event::{Event, Failure};
use crate::listener::out_of_the_blue;
use crate::state::{Repeated, State};

/// The most control chunks that wait to be sent.
const MOST_ANSWERS: usize = 64;

/// Where a packet came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// From this end to where it came from.
    pub(crate) back: Addresses,
    /// The path to there, if the peer is known to have that address.
    pub(crate) path: Option<PathId>,
    /// The packet's verification tag.
    pub(crate) tag: u32,
    /// Whether the packet has one chunk. An INIT or INIT ACK in company is ignored (section 6.10).
    pub(crate) alone: bool,
}

impl Association {
    /// Takes in a packet that arrived between these addresses, as they stand in its IP header: the payload of IP, or of UDP
    /// where SCTP is encapsulated. One that is damaged or not of this association is ignored.
    pub fn handle_packet(&mut self, now: Instant, addresses: &Addresses, bytes: &[u8]) {
        let Ok((header, chunks)) = sctp::parse(bytes) else { return };
        if (header.destination_port, header.source_port) != (self.ports.local, self.ports.remote)
            || self.state == State::Closed
        {
            return;
        }
        if matches!(self.state, State::CookieWait(_) | State::CookieEchoed { .. })
            && chunks.clone().any(|chunk| chunk == Ok(Chunk::ShutdownAck))
        {
            // Section 8.5.1, rule E: it belongs to an earlier association. Nothing in it counts.
            return self.replies.extend(out_of_the_blue(addresses, bytes));
        }
        let back = addresses.reversed();
        let path = self.path_of(back.destination());
        let alone = chunks.clone().nth(1).is_none();
        let origin = Origin { back, path, tag: header.verification_tag, alone };
        let mut chunks = chunks.peekable();
        let Some(Ok(first)) = chunks.peek() else { return };
        if !self.accepts(&header, first) {
            return;
        }
        self.give_time(now);
        self.take_all(now, &origin, chunks);
    }

    /// Section 9.2: whatever the peer sends while it is asked to shut down gives it time for the rest.
    pub(crate) fn give_time(&mut self, now: Instant) {
        if let State::ShutdownSent(repeated) = &mut self.state {
            repeated.expiries = 0;
            if !repeated.pending {
                repeated.due = now + self.brain.rto(repeated.path);
            }
        }
    }

    /// Handles the chunks after the COOKIE ECHO that made this association.
    pub(crate) fn handle_rest(&mut self, now: Instant, addresses: &Addresses, bytes: &[u8]) {
        let Ok((header, chunks)) = sctp::parse(bytes) else { return };
        let back = addresses.reversed();
        let path = self.path_of(back.destination());
        let origin = Origin { back, path, tag: header.verification_tag, alone: false };
        self.take_all(now, &origin, chunks.skip(1));
    }

    fn take_all<'a>(
        &mut self,
        now: Instant,
        origin: &Origin,
        chunks: impl Iterator<Item = Result<Chunk<'a>, eifel_packet::Error>>,
    ) {
        self.stamp = None;
        self.begin_packet();
        for chunk in chunks {
            // After a malformed chunk, the rest of the packet cannot be trusted.
            let Ok(chunk) = chunk else { break };
            if self.take(now, origin, &chunk).is_break() || self.state == State::Closed {
                break;
            }
        }
        self.end_packet(now);
    }

    /// Section 8.5: whether the verification tag is the one that the packet's first chunk asks for.
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
            // The cookie determines its tag.
            Chunk::CookieEcho(_) => true,
            _ => tag == self.local_tag,
        }
    }

    /// Handles a chunk. Breaks if the rest of the packet is not to be read; what stood before it counts [rfc8540:3.25]. SACK
    /// and ERROR may come in either order [rfc8540:3.33].
    fn take(&mut self, now: Instant, origin: &Origin, chunk: &Chunk<'_>) -> ControlFlow<()> {
        match chunk {
            Chunk::Data(data) => return self.on_data(origin, data, 0),
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
            // Section 8.5.1, rule B, also for one behind other chunks.
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
                if ours && matches!(self.state, State::ShutdownAckSent(_)) {
                    self.finish();
                }
                // Section 6.10: it has no company, which its tag would not cover.
                return ControlFlow::Break(());
            }
            Chunk::ForwardTsn(forward) if self.extensions.forward_tsn => self.on_forward_tsn(forward),
            // RFC 3758, section 3.3.1: without an agreement it is unknown, and its type asks for a report.
            Chunk::ForwardTsn(forward) => self.report_forward_tsn(origin, forward),
            // Reserved by RFC 9260: this end neither marks packets nor was told that the peer does.
            Chunk::Ecne { .. } | Chunk::Cwr { .. } => {}
            // It was not offered, so its type's high bits decide: nothing more of the packet is read.
            Chunk::NrSack(_) => return ControlFlow::Break(()),
            // Where it was not agreed on, its type's high bits ask to skip it.
            Chunk::Timestamp(stamp) => self.stamp = Some(*stamp).filter(|_| self.extensions.timestamps),
            Chunk::Unknown(unknown) => return self.on_unknown(origin, unknown),
        }
        ControlFlow::Continue(())
    }

    /// Section 8.3.
    fn answers_heartbeats(&self) -> bool {
        !matches!(self.state, State::Closed | State::CookieWait(_) | State::ShutdownAckSent(_))
    }

    /// Handles an unknown chunk as the two high bits of its type ask (section 3.2).
    fn on_unknown(&mut self, origin: &Origin, unknown: &Unknown<'_>) -> ControlFlow<()> {
        let unaware = unknown.unaware();
        if unaware.reports() {
            self.complain(origin, Cause::UnrecognizedChunk(unknown.bytes));
        }
        if unaware.goes_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Sends an ERROR chunk back.
    pub(crate) fn complain(&mut self, origin: &Origin, cause: Cause<'_>) {
        // A report that fits no packet is no help.
        let mut causes = Vec::new();
        cause.emit(&mut causes);
        let path = origin.path.unwrap_or(self.primary);
        if causes.len() + 4 <= self.brain.pmdcs(path) as usize {
            self.answer(path, Control::Error(causes));
        }
    }

    /// Queues an answer, unless the queue is so long that the peer must want to cause work.
    fn answer(&mut self, path: PathId, control: Control) {
        if self.control.len() < MOST_ANSWERS {
            self.control.push_back((path, control));
        }
    }

    fn on_error(&mut self, causes: Causes<'_>) {
        let stale = causes.iter().any(|cause| matches!(cause, Ok(Cause::StaleCookie(_))));
        match &self.state {
            // Section 5.2.6, alternative 1: a new cookie is asked for.
            State::CookieEchoed { repeated, .. } if stale => {
                let (path, expiries) = (repeated.path, repeated.expiries + 1);
                if expiries > self.settings.max_init_retransmits {
                    return self.fail(Failure::NoAnswer);
                }
                self.state = State::CookieWait(Repeated { expiries, ..Repeated::on(path) });
            }
            State::CookieWait(_) | State::CookieEchoed { .. } => {}
            _ if stale => {}
            _ => self.events.push_back(Event::Complaint(causes.0.to_vec())),
        }
    }

    /// Looks at the room for a packet before its chunks. The application reads between packets, so chunks that are in order
    /// wait for no more than one packet's time: a packet is taken whole, or only where it fills gaps.
    #[inline]
    pub(crate) fn begin_packet(&mut self) {
        let buffer = self.settings.receive_buffer as usize;
        if let Some(inbound) = &mut self.inbound {
            inbound.has_room = inbound.reassembly.held() < buffer;
        }
    }

    /// Does the work that is due after all chunks of a packet.
    #[inline]
    pub(crate) fn end_packet(&mut self, now: Instant) {
        let (every, delay) = (self.settings.sack_every, self.settings.sack_delay);
        let buffer = self.settings.receive_buffer as usize;
        if let Some(inbound) = &mut self.inbound {
            let had_data = inbound.tracker.end_packet(now, every, delay);
            if let (true, State::ShutdownSent(repeated)) = (had_data, &mut self.state) {
                // Section 9.2: SHUTDOWN answers data, and acknowledges what came in order. SACK says the rest.
                repeated.pending = true;
                inbound.tracker.leave_to_shutdown();
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
        let Some(reach) = self.paths.get(self.data_path().0) else { return };
        let addresses = reach.addresses;
        if self.peer_tag != 0 {
            self.send_abort_to(addresses, self.peer_tag, causes);
        }
    }

    /// Sends an ABORT with a tag of its own to an address.
    pub(crate) fn send_abort_to(&mut self, addresses: Addresses, tag: u32, causes: &[u8]) {
        self.reply(addresses, tag, &Chunk::Abort { reflected: false, causes: Causes(causes) });
    }

    /// Answers outside of the association's course with one chunk.
    pub(crate) fn reply(&mut self, addresses: Addresses, tag: u32, chunk: &Chunk<'_>) {
        let header = self.header(tag);
        self.replies.push_back((addresses, packet(&header, chunk)));
    }

    /// Returns the header of a packet to the peer.
    pub(crate) fn header(&self, tag: u32) -> Header {
        self.ports.header(tag)
    }

    /// Ends the association because the peer broke the protocol.
    pub(crate) fn violated(&mut self, cause: Cause<'_>, what: &'static str) {
        let mut causes = Vec::new();
        cause.emit(&mut causes);
        self.send_abort(&causes);
        self.fail(Failure::Violation(what));
    }
}

/// Makes a packet of one chunk.
pub(crate) fn packet(header: &Header, chunk: &Chunk<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(header, &mut bytes);
    if writer.chunk(chunk).is_err() {
        // Whatever is sent here has been cut to size; an ABORT says less rather than nothing.
        writer.chunk(&Chunk::Abort { reflected: false, causes: Causes(&[]) }).expect("four bytes fit");
    }
    writer.finish();
    bytes
}

/// Returns the reason that the peer's user gave for an ABORT.
fn reason(causes: Causes<'_>) -> Vec<u8> {
    let mut user = causes.iter().filter_map(|cause| match cause {
        Ok(Cause::UserAbort(reason)) => Some(reason.to_vec()),
        _ => None,
    });
    user.next().unwrap_or_default()
}
