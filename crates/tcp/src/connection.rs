//! The connection: its parts, and the application's interface.

use eifel_base::few::Few;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::engine::Engine;
use eifel_recovery::fact::Transmission;
use eifel_recovery::respond::Response;

use crate::counts::Counts;
use crate::ecn::EcnState;
use crate::event::{Event, Own};
use crate::marks::Marking;
use crate::persist::Persist;
use crate::rare::RareState;
use crate::receive::Receiver;
use crate::send_stream::SendStream;
use crate::settings::{Ports, SackUse, Settings};
use crate::state::State;
use crate::tail::{SendOptions, Tail};
use crate::timers::UserTimeout;
use crate::timestamps::Stamps;
use crate::window::SendWindow;

/// A segment to send, as the connection sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outgoing {
    /// Offset of the payload in the stream of data. [`Connection::payload`] returns the bytes if
    /// they are stored.
    pub start: u64,
    /// The engine's transmission; `None` for resets and acknowledgements without data.
    pub transmission: Option<Transmission>,
}

impl Outgoing {
    /// Returns the segment of a transmission.
    #[inline(always)]
    pub(crate) fn of(transmission: Transmission) -> Self {
        Self { start: transmission.start.saturating_sub(1), transmission: Some(transmission) }
    }
}

/// One end of a TCP connection.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) state: State,
    /// Whether header prediction may be tried. The connection must be open, without marks and ECN,
    /// past quick acknowledgements, and must not store received bytes.
    pub(crate) plain: bool,
    pub(crate) iss: Seq,
    pub(crate) ports: Ports,
    /// Bytes of payload in a full segment.
    pub(crate) mss: u32,
    pub(crate) tail: Tail,
    /// The payload of the largest segment that passes the path, by an ICMP message not yet
    /// confirmed by a timeout. `None` if full segments are assumed to pass.
    pub(crate) claimed_payload: Option<u32>,
    pub(crate) peer: SendWindow,
    /// State of the persist timer; `None` unless data waits for the peer's window.
    pub(crate) persist: Option<Persist>,
    pub(crate) stream: SendStream,
    pub(crate) receiver: Receiver,
    pub(crate) stamps: Option<Stamps>,
    pub(crate) marks: Marking,
    pub(crate) ecn: EcnState,
    pub(crate) user_timeout: UserTimeout,
    /// A segment to send outside the normal exchange, such as a reset.
    pub(crate) reply: Option<Box<Segment>>,
    pub(crate) events: Few<Own>,
    pub(crate) rare: Box<RareState>,
    pub(crate) engine: Engine,
}

impl Connection {
    /// Opens a connection to a peer. The first [`poll_transmit`](Self::poll_transmit) returns the SYN with sequence number
    /// `isn`.
    pub fn connect(settings: &Settings, engine: Engine, ports: Ports, isn: Seq) -> Self {
        Self::new(settings, engine, ports, isn, State::SynSent)
    }

    /// Waits for one peer's SYN. `isn` is the sequence number of the SYN-ACK. For many peers use
    /// [`Listener`](crate::Listener).
    pub fn listen(settings: &Settings, engine: Engine, ports: Ports, isn: Seq) -> Self {
        Self::new(settings, engine, ports, isn, State::Listen)
    }

    fn new(settings: &Settings, engine: Engine, ports: Ports, isn: Seq, state: State) -> Self {
        let mss = u32::from(settings.mss);
        Self {
            state,
            plain: false,
            iss: isn,
            ports,
            mss,
            tail: SendOptions::new(settings.nagle).once_pushed(),
            claimed_payload: None,
            peer: SendWindow::CLOSED,
            persist: None,
            stream: SendStream::new(settings.send),
            receiver: Receiver::new(settings, Seq(0), mss, 0, SackUse::Off),
            stamps: settings.timestamps.as_ref().map(|stamps| Stamps::new(stamps, ports.with(isn))),
            marks: Marking::Off,
            ecn: EcnState::NONE,
            user_timeout: UserTimeout::new(&settings.give_up),
            reply: None,
            events: Few::EMPTY,
            rare: RareState::new(settings, isn),
            engine,
        }
    }

    /// Writes bytes. Returns the number of bytes accepted; 0 after a close.
    /// [`SendKind`](crate::settings::SendKind) decides whether the bytes are stored or only
    /// counted.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        self.note_write();
        if self.takes_writes() { self.stream.write(bytes) } else { 0 }
    }

    /// Writes `count` bytes without contents. Returns the number of bytes accepted; 0 if this end
    /// stores bytes, and after a close.
    pub fn write_counted(&mut self, count: u64) -> u64 {
        self.note_write();
        if self.takes_writes() { self.stream.write_counted(count) } else { 0 }
    }

    /// Reads bytes that have arrived in order. Returns their number; 0 if this end does not store
    /// bytes.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        self.receiver.read(into)
    }

    /// Discards at most `limit` bytes that have arrived in order. Returns their number.
    pub fn skip(&mut self, limit: u64) -> u64 {
        self.receiver.skip(limit)
    }

    /// Returns the number of bytes that can be read now.
    pub fn readable(&self) -> u64 {
        self.receiver.unread()
    }

    /// Returns the number of bytes that have arrived in order since the connection was opened, read
    /// or not.
    pub fn received(&self) -> u64 {
        self.receiver.arrived()
    }

    /// Returns the number of separate blocks of data beyond a gap. The limit is one per 64 bytes of
    /// receive window, or 64 for a small window. So their records take no more memory than the
    /// window.
    pub fn pieces(&self) -> usize {
        self.receiver.pieces()
    }

    /// Closes this end's direction: a FIN follows the written data. The other direction stays open
    /// until the peer closes it, without a time limit. Before the peer has answered, the connection
    /// ends at once.
    pub fn shutdown_write(&mut self) {
        if !self.takes_writes() {
            return;
        }
        self.stream.finish();
        self.enter(self.state.after_close());
    }

    /// Closes both directions, like a socket's `close`. ([`shutdown_write`](Self::shutdown_write) is like a socket's
    /// `shutdown` of one direction.) Unread data, and data that arrives later, cause a reset. So
    /// the peer learns of the loss (RFC 1122, section 4.2.2.13). The peer has
    /// [`Settings::fin_wait_2`](crate::Settings::fin_wait_2) to close its direction.
    pub fn close(&mut self, now: Instant) {
        if self.readable() > 0 {
            return self.abort();
        }
        self.receiver.stop_reading();
        self.rare.send_options.leave();
        self.shutdown_write();
        if self.state == State::FinWait2 {
            self.user_timeout.until = now + self.rare.open_settings.fin_wait_2;
        }
    }

    /// Aborts the connection. Sends a reset if the peer knows of the connection.
    pub fn abort(&mut self) {
        match self.state {
            State::Closed => return,
            State::Listen | State::SynSent | State::TimeWait { .. } => {}
            _ => {
                let seq = wrap(self.engine.nxt(), self.iss);
                let ack = wrap(self.receiver.nxt, self.receiver.irs);
                self.answer(seq, ack, Flags::RST.with(Flags::ACK));
                if let (Some(stamps), Some(reset)) = (&self.stamps, &mut self.reply) {
                    // RFC 7323, section 3.2. TSval is filled in when the reset is sent.
                    reset.options.timestamps = Some(Timestamps { value: 0, echo: stamps.echo() });
                }
            }
        }
        self.enter(State::Closed);
    }

    /// Returns `len` bytes from offset `start` of the stream of data: the payload of a segment that
    /// [`poll_transmit`](Self::poll_transmit) has just written. The second part follows the first.
    /// Both are empty if this end does not store bytes.
    pub fn payload(&self, start: u64, len: u32) -> (&[u8], &[u8]) {
        self.stream.bytes(start, len)
    }

    /// Returns whether [`poll_event`](Self::poll_event) has an event.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty() || self.engine.has_events()
    }

    /// Returns the next event, oldest first.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        match self.events.pop_front() {
            None => self.engine.poll_event().map(Event::Recovery),
            event => event.map(Event::from),
        }
    }

    /// Returns the state of RFC 9293, section 3.3.2.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the sending side's engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Replaces the sending side's response: see [`Engine::respond_by`].
    pub fn respond_by(&mut self, response: Box<dyn Response>) {
        self.engine.respond_by(response);
    }

    /// Sets the user timeout from now on: the maximum time without an acknowledgement of
    /// outstanding data. `None` sets no limit (RFC 9293, section 3.9.1.2).
    pub fn set_user_timeout(&mut self, now: Instant, limit: Option<Duration>) {
        self.user_timeout.length = limit.unwrap_or(Duration::MAX);
        if self.engine.una() < self.engine.nxt() {
            self.user_timeout.until = limit.map_or(Instant::NEVER, |limit| now + limit);
        }
    }

    /// Returns the payload bytes of a full segment, after negotiation.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Returns the peer's advertised window in bytes, counted from SND.UNA.
    pub fn peer_window(&self) -> u64 {
        self.peer.limit.saturating_sub(self.engine.una())
    }

    /// Returns the position in the peer's stream of a sequence number: the nearest to RCV.NXT.
    pub fn position_of(&self, seq: Seq) -> u64 {
        self.receiver.position(seq)
    }

    /// Returns the first position beyond all windows advertised to the peer. Data from there on is
    /// refused.
    pub fn announced(&self) -> u64 {
        self.receiver.window.edge
    }

    /// Returns the first position of `segment` that this end would refuse if the segment arrived
    /// now. With an old timestamp (RFC 7323, section 5.3, R1), that is RCV.NXT, otherwise the end
    /// of the [advertised](Self::announced) window.
    #[inline]
    pub fn takes_below(&self, now: Instant, segment: &Segment) -> u64 {
        match (&self.stamps, &segment.options.timestamps) {
            (Some(stamps), Some(stamp)) if stamps.is_old(now, stamp.value) => self.receiver.nxt,
            _ => self.announced(),
        }
    }

    /// Returns the first position after all data and FIN to be sent. [`Engine::una`] and
    /// [`Engine::nxt`] are the first unacknowledged and the first unsent position.
    pub fn end(&self) -> u64 {
        self.stream.end()
    }

    /// Returns the numbers of rejected arrivals.
    pub fn counts(&self) -> Counts {
        self.rare.counts.as_deref().copied().unwrap_or_default()
    }

    fn takes_writes(&self) -> bool {
        self.state.takes_writes() && !self.stream.is_finished()
    }

    /// Enters a state. Reports [`Event::Closed`] on the transition to CLOSED.
    pub(crate) fn enter(&mut self, state: State) {
        if state == State::Closed && self.state != State::Closed {
            self.events.push_back(Event::Closed);
        }
        self.set_state(state);
    }

    /// Sets the state without an event.
    pub(crate) fn set_state(&mut self, state: State) {
        self.state = state;
        let open = matches!(state, State::Established | State::FinWait1 | State::FinWait2 | State::CloseWait);
        self.plain = open
            && self.marks.is_off()
            && !self.ecn.is_agreed()
            && !self.receiver.holds_bytes()
            && self.rare.quick.are_over();
        if open {
            self.rare.end_handshake();
        }
    }

    /// Closes the connection for a reason other than a close, with `event`.
    pub(crate) fn fail(&mut self, event: Own) {
        self.events.push_back(event);
        self.set_state(State::Closed);
    }

    /// Prepares a segment without data, outside the normal exchange.
    pub(crate) fn answer(&mut self, seq: Seq, ack: Seq, flags: Flags) {
        self.reply = Some(Box::new(Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq,
            ack,
            flags,
            window: 0,
            options: Options::default(),
            payload_len: 0,
            ecn: Ecn::NotEct,
        }));
    }
}
