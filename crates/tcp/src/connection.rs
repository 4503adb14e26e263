//! The connection: what holds the parts together, and what the application calls.

use std::collections::VecDeque;

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::engine::{Engine, Negotiated};
use eifel_recovery::fact::Transmission;
use eifel_recovery::respond::Response;

use crate::challenge::Challenges;
use crate::event::Event;
use crate::handshake::offer;
use crate::icmp::PathMtu;
use crate::marks::Marking;
use crate::persist::Persist;
use crate::receive::{Arrival, Receiver};
use crate::send_stream::SendStream;
use crate::settings::{Ports, SackUse, Settings};
use crate::state::State;
use crate::timestamps::Stamps;
use crate::window::SendWindow;

/// What a segment that leaves means to its connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outgoing {
    /// Offset of its payload in the stream of data; where bytes are held, [`Connection::payload`] has them.
    pub start: u64,
    /// `None` where the engine has not decided on it: acknowledgements without data, and resets.
    pub transmission: Option<Transmission>,
}

impl Outgoing {
    /// Returns what a transmission means to its connection.
    #[inline(always)]
    pub(crate) fn of(transmission: Transmission) -> Self {
        Self { start: transmission.start.saturating_sub(1), transmission: Some(transmission) }
    }
}

/// How often something arrived that was not believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Segments refused by PAWS (RFC 7323, section 5).
    pub old_timestamps: u64,
    /// Segments without the timestamp that was agreed on (RFC 7323, section 3.2).
    pub missing_timestamps: u64,
    /// Timestamp echoes outside what is outstanding.
    pub ignored_echoes: u64,
    /// Timestamp echoes of what was never sent: where each segment has its own, only a peer that lies can name others.
    pub forged_echoes: u64,
    /// SACK blocks that cannot be true.
    pub ignored_sack_blocks: u64,
    /// Acknowledgements of what was never sent, or of what is long past (RFC 5961, section 5).
    pub refused_acks: u64,
    /// Segments outside the window.
    pub outside_window: u64,
    /// ICMP messages about nothing in flight, or that ask for nothing that this end would do.
    pub ignored_icmp: u64,
    /// Challenge ACKs sent.
    pub challenges: u64,
    /// Challenge ACKs not sent because there had been too many.
    pub withheld_challenges: u64,
}

/// Whether an application reads what arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reader {
    There,
    /// None any more: the application has [left](Connection::leave).
    Gone,
}

/// The parts that few segments touch, kept apart so that the rest stays in the caches.
#[derive(Clone)]
pub(crate) struct Cold {
    pub(crate) settings: Settings,
    /// What a SYN from this end offers, or confirms, but for the timestamps.
    pub(crate) offer: Options,
    pub(crate) negotiated: Negotiated,
    pub(crate) challenges: Challenges,
    pub(crate) counts: Counts,
    pub(crate) reader: Reader,
    /// What the data on the peer's SYN mean to the application, where both ends have called and neither is answered yet.
    pub(crate) early: Option<Arrival>,
}

/// Which segments may come, as far as the state tells, and what was agreed on in the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expects {
    /// Any: nothing is known of the peer yet, or what comes has marks or bytes that are wanted, or the end is near.
    Anything,
    /// Those of an open connection, and their lengths are all that is wanted.
    Plain,
}

/// One end of a TCP connection.
#[derive(Clone)]
pub struct Connection {
    pub(crate) state: State,
    pub(crate) expects: Expects,
    pub(crate) iss: Seq,
    pub(crate) ports: Ports,
    /// Bytes of payload in a full segment.
    pub(crate) mss: u32,
    pub(crate) nagle: bool,
    pub(crate) path_mtu: PathMtu,
    pub(crate) peer: SendWindow,
    /// `None` since new data left last without a closed window.
    pub(crate) persist: Option<Persist>,
    pub(crate) stream: SendStream,
    pub(crate) receiver: Receiver,
    pub(crate) stamps: Option<Stamps>,
    pub(crate) marks: Marking,
    /// When the user timeout ends the connection; never while nothing waits or none is set.
    pub(crate) give_up_at: Instant,
    /// The user timeout; the longest duration if there is none.
    pub(crate) user_timeout: Duration,
    /// Consecutive timeouts of the engine that do not count, since the peer answered with a closed window.
    pub(crate) forgiven_timeouts: u32,
    /// A segment that answers one outside the connection's own course.
    pub(crate) reply: Option<Box<Segment>>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) cold: Box<Cold>,
    pub(crate) engine: Engine,
}

impl Connection {
    /// Calls a peer: the first [`poll_transmit`](Self::poll_transmit) gives the SYN with sequence number `isn`.
    pub fn connect(settings: &Settings, engine: Engine, ports: Ports, isn: Seq) -> Self {
        Self::new(settings, engine, ports, isn, State::SynSent)
    }

    /// Waits for one peer's SYN; `isn` is this end's sequence number in the answer. For many peers see
    /// [`Listener`](crate::Listener).
    pub fn listen(settings: &Settings, engine: Engine, ports: Ports, isn: Seq) -> Self {
        Self::new(settings, engine, ports, isn, State::Listen)
    }

    fn new(settings: &Settings, engine: Engine, ports: Ports, isn: Seq, state: State) -> Self {
        let mss = u32::from(settings.mss);
        Self {
            state,
            expects: Expects::Anything,
            iss: isn,
            ports,
            mss,
            nagle: settings.nagle,
            path_mtu: PathMtu::Trusted,
            peer: SendWindow::CLOSED,
            persist: None,
            stream: SendStream::new(settings.send),
            receiver: Receiver::new(settings, Seq(0), mss, 0, SackUse::Off),
            stamps: settings.timestamps.as_ref().map(|stamps| Stamps::new(stamps, ports.with(isn))),
            marks: Marking::Off,
            give_up_at: Instant::NEVER,
            user_timeout: settings.give_up.user_timeout.unwrap_or(Duration::MAX),
            forgiven_timeouts: 0,
            reply: None,
            events: VecDeque::new(),
            cold: Box::new(Cold {
                settings: *settings,
                offer: offer(settings),
                negotiated: Negotiated { mss, sack: false, timestamps: false },
                challenges: Challenges::new(settings.challenge, isn),
                counts: Counts::default(),
                reader: Reader::There,
                early: None,
            }),
            engine,
        }
    }

    /// Writes bytes; returns how many there was room for (of those that are held: see
    /// [`SendKind`](crate::settings::SendKind)). None after a close.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        if self.takes_writes() { self.stream.write(bytes) } else { 0 }
    }

    /// Writes `count` bytes of which only the length is kept; returns how many were taken: those that there is room for,
    /// and none where bytes are held or after a close.
    pub fn write_counted(&mut self, count: u64) -> u64 {
        if self.takes_writes() { self.stream.write_counted(count) } else { 0 }
    }

    /// Reads bytes that have arrived in order; returns how many. None where they are not held.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        self.receiver.read(into)
    }

    /// Reads at most `limit` bytes that have arrived in order without looking at them; returns how many.
    pub fn skip(&mut self, limit: u64) -> u64 {
        self.receiver.skip(limit)
    }

    /// Returns how many bytes can be read now.
    pub fn readable(&self) -> u64 {
        self.receiver.unread()
    }

    /// Returns how many bytes of data have arrived in order since the beginning, read or not.
    pub fn received(&self) -> u64 {
        self.receiver.arrived()
    }

    /// Returns how many pieces of data have arrived beyond a gap: at most one for each 64 bytes of receive window, so that a
    /// peer cannot make them take more memory than the window.
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

    /// Closes, and nobody will read any more: what sockets know as `close`, while [`close`](Self::close) is their shutdown
    /// of one direction. Data that was not read, or that arrives from now on, is answered by a reset, so that the peer
    /// knows of the loss (RFC 1122, section 4.2.2.13); and a peer that does not close has
    /// [`Settings::fin_wait_2`](crate::Settings::fin_wait_2) to do so.
    pub fn leave(&mut self, now: Instant) {
        if self.readable() > 0 {
            return self.abort();
        }
        self.receiver.leave();
        self.cold.reader = Reader::Gone;
        self.close();
        if self.state == State::FinWait2 {
            self.give_up_at = now + self.cold.settings.fin_wait_2;
        }
    }

    /// Ends the connection at once, with a reset for a peer that knows of it.
    pub fn abort(&mut self) {
        match self.state {
            State::Closed => return,
            State::Listen | State::SynSent | State::TimeWait { .. } => {}
            _ => {
                let seq = wrap(self.engine.nxt(), self.iss);
                let ack = wrap(self.receiver.nxt, self.receiver.irs);
                self.answer(seq, ack, Flags::RST.with(Flags::ACK));
                if let (Some(stamps), Some(reset)) = (&self.stamps, &mut self.reply) {
                    // RFC 7323, section 3.2. What the clock shows is written when it leaves.
                    reset.options.timestamps = Some(Timestamps { value: 0, echo: stamps.echo() });
                }
            }
        }
        self.enter(State::Closed);
    }

    /// Returns `len` bytes from offset `start` of the stream of data, in two parts of which the second follows the first:
    /// the payload of a segment just written by [`poll_transmit`](Self::poll_transmit). Empty where bytes are not held.
    pub fn payload(&self, start: u64, len: u32) -> (&[u8], &[u8]) {
        self.stream.bytes(start, len)
    }

    /// Whether [`poll_event`](Self::poll_event) has one.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty() || self.engine.has_events()
    }

    /// Returns the next event, oldest first.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        match self.events.pop_front() {
            None => self.engine.poll_event().map(Event::Recovery),
            event => event,
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

    /// Returns how many bytes of payload a full segment carries, as agreed.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Returns the peer's announced window in bytes, from the first unacknowledged position on.
    pub fn peer_window(&self) -> u64 {
        self.peer.limit.saturating_sub(self.engine.una())
    }

    /// Returns the first position beyond every window that was announced to the peer. Later data has no room.
    pub fn announced(&self) -> u64 {
        self.receiver.window.edge
    }

    /// First position that this end would not take of `segment`, if it arrived now: where its timestamp is from the past
    /// (RFC 7323, section 5.3, R1), it brings nothing that is not here already; otherwise what is
    /// [announced](Self::announced).
    #[inline]
    pub fn takes_below(&self, now: Instant, segment: &Segment) -> u64 {
        match (&self.stamps, &segment.options.timestamps) {
            (Some(stamps), Some(stamp)) if stamps.is_old(now, stamp.value) => self.receiver.nxt,
            _ => self.announced(),
        }
    }

    /// The first position for which there is nothing to send; see [`Engine::una`] and [`Engine::nxt`] for how much of it
    /// is acknowledged and sent.
    pub fn end(&self) -> u64 {
        self.stream.end()
    }

    /// Returns how often something arrived that was not believed.
    pub fn counts(&self) -> Counts {
        self.cold.counts
    }

    fn takes_writes(&self) -> bool {
        self.state.takes_writes() && !self.stream.is_finished()
    }

    /// Enters a state, and tells the application if that is the end.
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
        let plain = open && self.marks.is_off() && !self.receiver.holds_bytes();
        self.expects = if plain { Expects::Plain } else { Expects::Anything };
    }

    /// Ends the connection for a reason other than a close.
    pub(crate) fn fail(&mut self, event: Event) {
        self.events.push_back(event);
        self.stand(State::Closed);
    }

    /// Prepares a segment without data outside the connection's own course.
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
        }));
    }
}
