//! The driver for one path over a byte stream, as in TCP. It owns the path, the scoreboard and the
//! loss recovery, and applies the decisions of the seams.

mod ack;
mod duplicates;
mod probe;
mod quiet;
mod send;
mod snapshot;
mod timeout;

pub use crate::config::Config;
pub use crate::event::Event;
pub use crate::fact::{Ack, Block, Cause, Echo, Kind, Transmission, TxId};
pub use crate::view::Negotiated;
pub use crate::watch::MIXED;
pub use send::Offer;
pub use snapshot::Snapshot;

use crate::episode::Episode;
use crate::learnt::Learnt;
use crate::path::{Flight, Path};
use crate::recover::{Alarm, Attention, Recovery};
use crate::registry::Error;
use crate::respond::Response;
use crate::rtt::RoundTrips;
use crate::scoreboard::Scoreboard;
pub use duplicates::Duplicated;
use eifel_base::time::{Duration, Instant};
use probe::Probe;

/// The state of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Handshake {
    /// Expiries of the handshake's timer.
    expiries: u32,
    /// Whether the handshake's segment must be sent again.
    repeats: bool,
}

/// The sender's logic for one path. See the crate's documentation.
#[derive(Clone, Debug)]
pub struct Engine {
    path: Path,
    board: Scoreboard,
    recovery: Box<dyn Recovery>,
    /// Whether loss recovery has a timer of its own.
    has_alarm: bool,
    /// `None` once the connection is open.
    handshake: Option<Handshake>,
    /// New data that the acting detector wants acknowledged before further retransmissions are
    /// sent.
    probe: Option<Probe>,
    /// First position beyond the peer's window, from the last offer.
    limit: u64,
    /// Bytes of new data that may be sent before the next input; `None` if loss recovery must be
    /// asked.
    room: Option<u64>,
    /// Deliveries that duplicate ACKs stand for without SACK.
    duplicated: Duplicated,
    /// Whether detectors and loss recovery would ignore an ACK of new data. See [`quiet`].
    quiet: bool,
    next_id: u64,
}

impl Engine {
    /// Creates an engine with the algorithms that `config` names.
    ///
    /// # Errors
    /// An algorithm or parameter that the registry does not know.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let (parts, recovery) = config.build()?;
        let mut board = Scoreboard::default();
        let follows = recovery.attention() == Attention::EachDelivery;
        if follows {
            board.follow_deliveries();
        }
        Ok(Self {
            path: Path::new(parts),
            board,
            has_alarm: follows,
            recovery,
            handshake: Some(Handshake { expiries: 0, repeats: false }),
            probe: None,
            limit: 0,
            room: None,
            duplicated: Duplicated::NOTHING,
            quiet: false,
            next_id: 0,
        })
    }

    /// Opens the connection for data, with the negotiated options. If no SYN was sent, its position
    /// counts as acknowledged.
    pub fn established(&mut self, now: Instant, negotiated: Negotiated) {
        let Some(handshake) = self.handshake.take() else { return };
        self.room = None;
        if self.board.nxt() == 0 {
            self.board.skip_to(1);
        }
        self.path.open(now, negotiated, handshake.expiries);
        self.update_view(now);
    }

    /// Begins with what an earlier connection to the destination [learnt](Self::learnt). To be called
    /// before the first segment.
    pub fn inherit(&mut self, learnt: &Learnt) {
        self.path.inherit(learnt);
    }

    /// Returns what the next connection to the destination may [inherit](Self::inherit).
    pub fn learnt(&self) -> Learnt {
        self.path.rto.learnt()
    }

    /// Returns whether loss recovery needs duplicate ACKs even while nothing is outstanding: one
    /// may answer a tail loss probe.
    #[inline]
    pub fn awaits_duplicates(&self) -> bool {
        self.has_alarm
    }

    /// Replaces the response. Senders that differ only in the response behave alike until a
    /// spurious or mixed verdict.
    pub fn respond_by(&mut self, response: Box<dyn Response>) {
        self.path.respond_by(response);
    }

    /// Limits the payload of all segments sent from now on, including retransmissions, to `mss`
    /// bytes. The window in bytes does not change.
    pub fn reduce_mss(&mut self, mss: u32) {
        self.path.watch.reduce_mss(mss);
        self.room = None;
    }

    /// Returns when [`Engine::on_timeout`] must be called, or [`Instant::NEVER`].
    #[inline]
    pub fn deadline(&self) -> Instant {
        let deadline = self.path.timer.min(self.path.released_at);
        if self.has_alarm { deadline.min(self.alarm().at()) } else { deadline }
    }

    /// Returns whether the [`deadline`](Self::deadline) may be before `instant`. This is cheaper
    /// than the deadline itself. `false` is exact, `true` may be wrong.
    #[inline]
    pub fn may_expire_before(&self, instant: Instant) -> bool {
        self.path.timer < instant || self.path.released_at < instant || self.has_alarm
    }

    /// Returns loss recovery's own timer. It runs only on an open connection.
    fn alarm(&self) -> Alarm {
        if self.has_alarm && self.handshake.is_none() {
            self.recovery.alarm(&self.board, self.path.watch.view())
        } else {
            Alarm::None
        }
    }

    /// Returns how long the retransmission timer would run if it started now.
    pub fn full_timeout(&self, now: Instant) -> Duration {
        self.path.rto.expires(now, now).since(now)
    }

    /// Backs the timer off while the connection probes a window that the peer has closed.
    pub fn back_off(&mut self) {
        self.path.rto.back_off();
    }

    /// Returns whether pacing holds back data that could otherwise be sent.
    pub fn is_held_back(&self) -> bool {
        self.path.released_at != Instant::NEVER
    }

    /// Returns the first position not acknowledged.
    pub fn una(&self) -> u64 {
        self.board.una()
    }

    /// Returns the first position never sent.
    pub fn nxt(&self) -> u64 {
        self.board.nxt()
    }

    /// Returns the record of outstanding data.
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// Returns the round-trip samples and estimates.
    pub fn round_trips(&self) -> &RoundTrips {
        self.path.watch.round_trips()
    }

    /// Returns the timer expiries since the last ACK of new data.
    pub fn consecutive_timeouts(&self) -> u32 {
        self.path.consecutive_timeouts
    }

    /// Returns how often the window was cut, for a loss or an ECN-Echo.
    pub fn reductions(&self) -> u32 {
        self.path.reductions
    }

    /// Returns cwnd while loss recovery lowers it gradually to ssthresh after an ECN-Echo; `None`
    /// at other times.
    pub fn cwnd_after_echo(&self) -> Option<u64> {
        self.recovery.cwnd_after_echo(&self.board, &self.path.window, self.path.watch.view())
    }

    /// Returns whether [`poll_event`](Self::poll_event) would return an event.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.path.watch.has_events()
    }

    /// Returns the next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.path.watch.poll_event()
    }

    /// Returns the open episode.
    pub fn episode(&self) -> Option<&Episode> {
        self.path.watch.episode()
    }

    /// Refreshes the seams' view.
    #[inline]
    fn update_view(&mut self, now: Instant) {
        self.path.watch.update_view(now, self.board.una(), self.board.nxt());
    }

    /// Returns FlightSize and the peer's window.
    fn flight(&self) -> Flight {
        Flight { outstanding: self.board.outstanding(), peer_window: self.limit.saturating_sub(self.board.una()) }
    }
}
