//! The driver for one path over a byte stream, as in TCP. It alone holds path, scoreboard and loss recovery together, and
//! applies what the seams decide.

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
use crate::path::{Flight, Path};
use crate::recover::{Alarm, Attention, Recovery};
use crate::registry::Error;
use crate::respond::Response;
use crate::rtt::RoundTrips;
use crate::scoreboard::Scoreboard;
use duplicates::Duplicated;
use eifel_base::time::{Duration, Instant};
use probe::Probe;

/// The state of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Handshake {
    /// Expiries of its timer.
    expiries: u32,
    /// Whether its segment is to leave again.
    repeats: bool,
}

/// The sender's brain for one path. See the crate's documentation.
#[derive(Clone, Debug)]
pub struct Engine {
    path: Path,
    board: Scoreboard,
    recovery: Box<dyn Recovery>,
    /// Whether loss recovery has a timer of its own.
    has_alarm: bool,
    /// `None` once the connection is open.
    handshake: Option<Handshake>,
    /// The new data that the acting detector wants to see acknowledged before further retransmissions leave.
    probe: Option<Probe>,
    /// First position beyond the peer's window, as last offered.
    limit: u64,
    /// Bytes of new data that may leave before the next input; `None` if loss recovery is to be asked.
    room: Option<u64>,
    /// What duplicate ACKs stand for where there is no SACK.
    duplicated: Duplicated,
    /// Whether an ACK of new data would be told to detectors and loss recovery in vain. See [`quiet`].
    quiet: bool,
    next_id: u64,
}

impl Engine {
    /// Makes an engine of the algorithms that `config` names.
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

    /// Opens the connection: data may be sent under these agreements. Where no SYN was sent, its position counts as
    /// acknowledged.
    pub fn established(&mut self, now: Instant, negotiated: Negotiated) {
        let Some(handshake) = self.handshake.take() else { return };
        self.room = None;
        if self.board.nxt() == 0 {
            self.board.skip_to(1);
        }
        self.path.open(now, negotiated, handshake.expiries);
        self.look(now);
    }

    /// Whether loss recovery wants duplicate ACKs also while nothing is outstanding: one may answer a tail loss probe.
    #[inline]
    pub fn awaits_duplicates(&self) -> bool {
        self.has_alarm
    }

    /// Replaces the response. Until a verdict of spurious or mixed asks it, senders that differ in it behave alike.
    pub fn respond_by(&mut self, response: Box<dyn Response>) {
        self.path.respond_by(response);
    }

    /// Lowers the payload of all segments sent from now on, retransmissions included, to `mss` bytes at most. The window in
    /// bytes stays as it is.
    pub fn reduce_mss(&mut self, mss: u32) {
        self.path.watch.reduce_mss(mss);
        self.room = None;
    }

    /// Returns when [`Engine::on_timeout`] wants to be called, or [`Instant::NEVER`].
    #[inline]
    pub fn deadline(&self) -> Instant {
        let deadline = self.path.timer.min(self.path.released_at);
        if self.has_alarm { deadline.min(self.alarm().at()) } else { deadline }
    }

    /// Returns whether the [`deadline`](Self::deadline) may be before `instant`. It is cheaper than
    /// the deadline itself; `false` is certain.
    #[inline]
    pub fn may_expire_before(&self, instant: Instant) -> bool {
        self.path.timer < instant || self.path.released_at < instant || self.has_alarm
    }

    /// Returns loss recovery's own timer. It runs on an open connection only.
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

    /// Backs the timer off: the connection probes a window that the peer has closed.
    pub fn back_off(&mut self) {
        self.path.rto.back_off();
    }

    /// Returns whether pacing holds back what could leave otherwise.
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

    /// Returns what is outstanding.
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// Returns what is known of the round-trip time.
    pub fn round_trips(&self) -> &RoundTrips {
        self.path.watch.round_trips()
    }

    /// Returns the expiries of the timer since the last ACK of new data.
    pub fn consecutive_timeouts(&self) -> u32 {
        self.path.consecutive_timeouts
    }

    /// Returns how often the window was cut: for a loss, or for an echo of a mark.
    pub fn reductions(&self) -> u32 {
        self.path.reductions
    }

    /// Returns cwnd as loss recovery keeps it while it comes down to ssthresh bit by bit after an echo of a mark; `None` at
    /// other times.
    pub fn cwnd_after_echo(&self) -> Option<u64> {
        self.recovery.cwnd_after_echo(&self.board, &self.path.window, self.path.watch.view())
    }

    /// Returns whether [`poll_event`](Self::poll_event) has one.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.path.watch.has_events()
    }

    /// Returns the next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.path.watch.poll_event()
    }

    /// Returns the episode that is open.
    pub fn episode(&self) -> Option<&Episode> {
        self.path.watch.episode()
    }

    /// Refreshes the seams' view.
    #[inline]
    fn look(&mut self, now: Instant) {
        self.path.watch.look(now, self.board.una(), self.board.nxt());
    }

    /// Returns how much is outstanding, and how much the peer takes.
    fn flight(&self) -> Flight {
        Flight { outstanding: self.board.outstanding(), peer_window: self.limit.saturating_sub(self.board.una()) }
    }
}
