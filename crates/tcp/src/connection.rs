//! The connection: its parts, and the calls of its application.

use eifel_base::few::Few;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::engine::Engine;
use eifel_recovery::fact::Transmission;
use eifel_recovery::respond::Response;

use crate::cold::Cold;
use crate::ecn::Congestion;
use crate::event::{Event, Own};
use crate::marks::Marking;
use crate::persist::Persist;
use crate::receive::Receiver;
use crate::send_stream::SendStream;
use crate::settings::{Ports, SackUse, Settings};
use crate::state::State;
use crate::tail::{Tail, Wishes};
use crate::timers::Patience;
use crate::timestamps::Stamps;
use crate::window::SendWindow;

/// The connection's view of a segment that leaves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outgoing {
    /// Offset of its payload in the stream of data. [`Connection::payload`] returns the bytes, where they are held.
    pub start: u64,
    /// The engine's transmission. Acknowledgements without data, and resets, have none.
    pub transmission: Option<Transmission>,
}

impl Outgoing {
    /// Returns the segment of a transmission.
    #[inline(always)]
    pub(crate) fn of(transmission: Transmission) -> Self {
        Self { start: transmission.start.saturating_sub(1), transmission: Some(transmission) }
    }
}

/// Numbers of arrivals that were not believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Segments refused by PAWS (RFC 7323, section 5).
    pub old_timestamps: u64,
    /// Segments without the negotiated timestamps (RFC 7323, section 3.2).
    pub missing_timestamps: u64,
    /// Timestamp echoes that match no outstanding segment.
    pub ignored_echoes: u64,
    /// Timestamp echoes of values that were never sent. Where each segment has its own value, only a lying peer sends them.
    pub forged_echoes: u64,
    /// SACK blocks that cannot be true.
    pub ignored_sack_blocks: u64,
    /// Acknowledgements of data that was never sent, or that was acknowledged long ago (RFC 5961, section 5).
    pub refused_acks: u64,
    /// Segments outside the window.
    pub outside_window: u64,
    /// ICMP messages that name nothing in flight, or ask for nothing that this end would do.
    pub ignored_icmp: u64,
    /// Challenge ACKs sent.
    pub challenges: u64,
    /// Challenge ACKs withheld by their limit.
    pub withheld_challenges: u64,
}

/// One end of a TCP connection.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) state: State,
    /// Whether header prediction may be tried: the connection is open, carries no marks, and needs only the lengths of
    /// what arrives.
    pub(crate) plain: bool,
    pub(crate) iss: Seq,
    pub(crate) ports: Ports,
    /// Bytes of payload in a full segment.
    pub(crate) mss: u32,
    pub(crate) tail: Tail,
    /// The payload of the largest segment that gets through, as an ICMP message claims; `None` while full segments are
    /// believed to.
    pub(crate) claimed_payload: Option<u32>,
    pub(crate) peer: SendWindow,
    /// The persist timer's state; `None` unless the window is closed.
    pub(crate) persist: Option<Persist>,
    pub(crate) stream: SendStream,
    pub(crate) receiver: Receiver,
    pub(crate) stamps: Option<Stamps>,
    pub(crate) marks: Marking,
    pub(crate) ecn: Congestion,
    pub(crate) patience: Patience,
    /// A reply to a segment outside the connection's own course, such as a reset.
    pub(crate) reply: Option<Box<Segment>>,
    pub(crate) events: Few<Own>,
    pub(crate) cold: Box<Cold>,
    pub(crate) engine: Engine,
}

impl Connection {
    /// Opens a connection to a peer. The first [`poll_transmit`](Self::poll_transmit) returns the SYN with sequence number
    /// `isn`.
    pub fn connect(settings: &Settings, engine: Engine, ports: Ports, isn: Seq) -> Self {
        Self::new(settings, engine, ports, isn, State::SynSent)
    }

    /// Waits for one peer's SYN. `isn` is the sequence number of the SYN-ACK. For many peers see
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
            tail: Wishes::new(settings.nagle).usual(),
            claimed_payload: None,
            peer: SendWindow::CLOSED,
            persist: None,
            stream: SendStream::new(settings.send),
            receiver: Receiver::new(settings, Seq(0), mss, 0, SackUse::Off),
            stamps: settings.timestamps.as_ref().map(|stamps| Stamps::new(stamps, ports.with(isn))),
            marks: Marking::Off,
            ecn: Congestion::NONE,
            patience: Patience::new(&settings.give_up),
            reply: None,
            events: Few::EMPTY,
            cold: Cold::new(settings, isn),
            engine,
        }
    }

    /// Writes bytes, and returns the number for which there was room; 0 after a close. The bytes are held or only counted,
    /// by [`SendKind`](crate::settings::SendKind).
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        self.note_write();
        if self.takes_writes() { self.stream.write(bytes) } else { 0 }
    }

    /// Writes `count` bytes of which only the number is kept, and returns the number for which there was room; 0 where
    /// bytes are held, and after a close.
    pub fn write_counted(&mut self, count: u64) -> u64 {
        self.note_write();
        if self.takes_writes() { self.stream.write_counted(count) } else { 0 }
    }

    /// Reads bytes that have arrived in order, and returns their number; 0 where bytes are not held.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        self.receiver.read(into)
    }

    /// Discards at most `limit` bytes that have arrived in order, and returns their number.
    pub fn skip(&mut self, limit: u64) -> u64 {
        self.receiver.skip(limit)
    }

    /// Returns the number of bytes that can be read now.
    pub fn readable(&self) -> u64 {
        self.receiver.unread()
    }

    /// Returns the number of bytes that have arrived in order since the beginning, read or not.
    pub fn received(&self) -> u64 {
        self.receiver.arrived()
    }

    /// Returns the number of separate pieces of data beyond a gap. It is at most one for each 64 bytes of receive window,
    /// so that their records take no more memory than the window.
    pub fn pieces(&self) -> usize {
        self.receiver.pieces()
    }

    /// Closes this end's direction: a FIN follows what was written. The other direction stays open until the peer closes
    /// it, however long that takes. Before there is a peer, the connection is over at once.
    pub fn close(&mut self) {
        if !self.takes_writes() {
            return;
        }
        self.stream.finish();
        self.enter(self.state.after_close());
    }

    /// Closes both directions, as a socket's `close` does; [`close`](Self::close) is a socket's `shutdown` of one. Unread
    /// data, and data that arrives later, causes a reset, so that the peer learns of the loss (RFC 1122, section 4.2.2.13).
    /// The peer has [`Settings::fin_wait_2`](crate::Settings::fin_wait_2) to close its direction.
    pub fn leave(&mut self, now: Instant) {
        if self.readable() > 0 {
            return self.abort();
        }
        self.receiver.leave();
        self.cold.wishes.leave();
        self.close();
        if self.state == State::FinWait2 {
            self.patience.until = now + self.cold.habits.fin_wait_2;
        }
    }

    /// Ends the connection at once. A peer that knows of the connection gets a reset.
    pub fn abort(&mut self) {
        match self.state {
            State::Closed => return,
            State::Listen | State::SynSent | State::TimeWait { .. } => {}
            _ => {
                let seq = wrap(self.engine.nxt(), self.iss);
                let ack = wrap(self.receiver.nxt, self.receiver.irs);
                self.answer(seq, ack, Flags::RST.with(Flags::ACK));
                if let (Some(stamps), Some(reset)) = (&self.stamps, &mut self.reply) {
                    // RFC 7323, section 3.2. TSval is written when the reset leaves.
                    reset.options.timestamps = Some(Timestamps { value: 0, echo: stamps.echo() });
                }
            }
        }
        self.enter(State::Closed);
    }

    /// Returns `len` bytes from offset `start` of the stream of data: the payload of a segment that
    /// [`poll_transmit`](Self::poll_transmit) has just written. The second part follows the first. Both are empty where
    /// bytes are not held.
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

    /// Sets how long anything may wait for an acknowledgement, from now on; `None` sets no limit (RFC 9293, section 3.9.1.2).
    pub fn set_user_timeout(&mut self, now: Instant, limit: Option<Duration>) {
        self.patience.user_timeout = limit.unwrap_or(Duration::MAX);
        if self.engine.una() < self.engine.nxt() {
            self.patience.until = limit.map_or(Instant::NEVER, |limit| now + limit);
        }
    }

    /// Returns the payload bytes of a full segment, by both ends' MSS options.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Returns the peer's announced window in bytes, from the first unacknowledged position on.
    pub fn peer_window(&self) -> u64 {
        self.peer.limit.saturating_sub(self.engine.una())
    }

    /// Returns the position in the peer's stream that one of its sequence numbers stands for: the nearest to what is missing next.
    pub fn position_of(&self, seq: Seq) -> u64 {
        self.receiver.position(seq)
    }

    /// Returns the first position beyond every window that was announced to the peer. Data from there on is refused.
    pub fn announced(&self) -> u64 {
        self.receiver.window.edge
    }

    /// Returns the first position of `segment` that this end would refuse if it arrived now. With a timestamp from the
    /// past (RFC 7323, section 5.3, R1), that is the first position still missing; otherwise the end of the
    /// [announced](Self::announced) window.
    #[inline]
    pub fn takes_below(&self, now: Instant, segment: &Segment) -> u64 {
        match (&self.stamps, &segment.options.timestamps) {
            (Some(stamps), Some(stamp)) if stamps.is_old(now, stamp.value) => self.receiver.nxt,
            _ => self.announced(),
        }
    }

    /// Returns the first position after all data and FIN to be sent. [`Engine::una`] and [`Engine::nxt`] tell how much of
    /// them is acknowledged and sent.
    pub fn end(&self) -> u64 {
        self.stream.end()
    }

    /// Returns the numbers of arrivals that were not believed.
    pub fn counts(&self) -> Counts {
        self.cold.counts.as_deref().copied().unwrap_or_default()
    }

    fn takes_writes(&self) -> bool {
        self.state.takes_writes() && !self.stream.is_finished()
    }

    /// Enters a state, and tells the application if the connection is closed now.
    pub(crate) fn enter(&mut self, state: State) {
        if state == State::Closed && self.state != State::Closed {
            self.events.push_back(Event::Closed);
        }
        self.stand(state);
    }

    /// Sets the state without telling the application.
    pub(crate) fn stand(&mut self, state: State) {
        self.state = state;
        let open = matches!(state, State::Established | State::FinWait1 | State::FinWait2 | State::CloseWait);
        self.plain = open
            && self.marks.is_off()
            && !self.ecn.is_agreed()
            && !self.receiver.holds_bytes()
            && self.cold.quick.are_over();
        if open {
            self.cold.end_handshake();
        }
    }

    /// Ends the connection for a reason other than a close.
    pub(crate) fn fail(&mut self, event: Own) {
        self.events.push_back(event);
        self.stand(State::Closed);
    }

    /// Prepares a reply without data to a segment outside the connection's own course.
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
