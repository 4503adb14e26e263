//! The engine: the seams' decisions, applied. It alone holds window, timer, scoreboard and episode together.

mod ack;
mod config;
mod event;
mod judge;
mod probe;
mod quiet;
mod send;
mod timeout;

pub use crate::fact::{Ack, Block, Cause, Echo, Kind, Transmission, TxId};
pub use config::Config;
pub use event::{Event, Snapshot};
pub use judge::MIXED;
pub use quiet::Run;
pub use send::Offer;

use quiet::Quiet;
use std::collections::VecDeque;

use crate::congest::{Congest, Window};
use crate::detect::Detector;
use crate::episode::{Episode, Estimate};
use crate::grant::Grant;
use crate::pace::Pace;
use crate::recover::{Alarm, Attention, Recovery};
use crate::registry::Error;
use crate::respond::Response;
use crate::rto::after_spurious::AfterSpurious;
use crate::rto::{Rto, TimerChange};
use crate::rtt::RoundTrips;
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// What the peers have agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negotiated {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// SACK may be used.
    pub sack: bool,
    /// Timestamps are in use.
    pub timestamps: bool,
}

/// The one timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Timer {
    of: TimerOf,
    /// When it expires; never while it is off.
    at: Instant,
}

/// What the timer runs for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TimerOf {
    /// It is off.
    Nothing,
    /// Something is outstanding (RFC 6298, section 5).
    Retransmission,
    /// The peer's window is closed and nothing is outstanding (RFC 9293, section 3.8.6.1).
    Persist,
}

impl Timer {
    const OFF: Self = Self { of: TimerOf::Nothing, at: Instant::NEVER };

    fn retransmission(at: Instant) -> Self {
        Self { of: TimerOf::Retransmission, at }
    }

    fn persist(at: Instant) -> Self {
        Self { of: TimerOf::Persist, at }
    }
}

/// Whether the handshake is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Only the SYN is outstanding; `expiries` of its timer so far.
    Opening {
        expiries: u32,
    },
    Open,
}

/// Something that goes out whatever recovery says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    Nothing,
    Probe,
}

/// Whether the next retransmission is the first of its episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opening {
    Pending,
    Done,
}

/// Whether a detector's wish for new data before further retransmissions is being granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Probe {
    None,
    /// New data may go, so many bytes, and nothing else.
    Wanted {
        room: u64,
    },
    /// Some has gone; so many bytes more may.
    Sent {
        room: u64,
    },
}

/// Whether loss recovery has a timer of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Alarms {
    None,
    Own,
}

/// The sender's brain. See the crate's documentation.
#[derive(Clone)]
pub struct Engine {
    board: Scoreboard,
    window: Window,
    timer: Timer,
    recovery: Box<dyn Recovery>,
    alarms: Alarms,
    congest: Box<dyn Congest>,
    rto: Box<dyn Rto>,
    /// `None` where nothing is held back.
    pace: Option<Box<dyn Pace>>,
    /// Those that judge, each with its place: 0 acts, the others watch.
    detectors: Vec<(usize, Box<dyn Detector>)>,
    /// What the seams see. It is kept, and not made for each question: every ACK asks several.
    view: View,
    stage: Stage,
    due: Due,
    opening: Opening,
    /// First position beyond the peer's window, as last offered.
    limit: u64,
    /// What recovery still lets go as new data before the next input; `None` when it is to be asked.
    granted: Option<u64>,
    quiet: Quiet,
    /// The largest window that the peer has advertised.
    largest_window: u64,
    /// When pacing lets the next segment go.
    released_at: Instant,
    /// Since when nothing is outstanding.
    idle_since: Instant,
    /// Probes of the peer's window since it was last open for new data.
    probes: u32,
    next_id: u64,
    consecutive_timeouts: u32,
    episode: Option<Episode>,
    /// The last episode that is over: a verdict on it may still come.
    past: Option<Episode>,
    probe: Probe,
    episodes: u32,
    /// Whether the connection has ever detected a loss, spurious ones apart.
    loss_seen: bool,
    /// What was before a spurious timeout, and the first position that was unsent then, until its sample comes.
    lesson: Option<(Estimate, u64)>,
    initial_window: u64,
    response: Box<dyn Response>,
    grant: Box<dyn Grant>,
    after_spurious: Box<dyn AfterSpurious>,
    events: VecDeque<Event>,
}

impl Engine {
    /// An engine of the algorithms that `config` names.
    ///
    /// # Errors
    /// An algorithm or parameter that the registry does not know.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let parts = config.build()?;
        let mut board = Scoreboard::default();
        let follows = parts.recovery.attention() == Attention::EachDelivery;
        if follows {
            board.follow_deliveries();
        }
        Ok(Self {
            board,
            alarms: if follows { Alarms::Own } else { Alarms::None },
            window: Window { cwnd: 1, ssthresh: u64::MAX },
            timer: Timer::OFF,
            recovery: parts.recovery,
            congest: parts.congest,
            rto: parts.rto,
            pace: parts.pace,
            detectors: parts.detectors,
            view: View {
                una: 0,
                now: Instant::ZERO,
                nxt: 0,
                mss: 536,
                sack: false,
                round_trips: RoundTrips::new(false),
            },
            stage: Stage::Opening { expiries: 0 },
            due: Due::Nothing,
            opening: Opening::Done,
            limit: 0,
            granted: None,
            quiet: Quiet::No,
            largest_window: 0,
            released_at: Instant::NEVER,
            idle_since: Instant::ZERO,
            probes: 0,
            next_id: 0,
            consecutive_timeouts: 0,
            episode: None,
            past: None,
            probe: Probe::None,
            episodes: 0,
            loss_seen: false,
            lesson: None,
            initial_window: 0,
            response: parts.response,
            grant: parts.grant,
            after_spurious: parts.after_spurious,
            events: VecDeque::new(),
        })
    }

    /// The connection is open: data may be sent under these agreements. Where no SYN was sent, its position counts as
    /// acknowledged.
    pub fn established(&mut self, now: Instant, negotiated: Negotiated) {
        let Stage::Opening { expiries } = self.stage else { return };
        self.stage = Stage::Open;
        self.granted = None;
        self.view.mss = negotiated.mss;
        self.view.sack = negotiated.sack;
        if self.board.nxt() == 0 {
            self.board.skip_to(1);
        }
        let handshake = self.view.round_trips.latest();
        self.view.round_trips = self.view.round_trips.after_handshake(negotiated.timestamps);
        self.window = self.congest.initial(negotiated.mss);
        self.initial_window = self.window.cwnd;
        if expiries > 0 {
            // RFC 5681, section 3.1: a lost SYN leaves an initial window of one segment.
            self.window.cwnd = u64::from(negotiated.mss);
            if handshake.is_none() {
                // RFC 6298, section 5.7. [rfc6298:5.7]
                self.rto.change(TimerChange::RaiseInitial(Duration::from_secs(3)));
            }
        }
        self.idle_since = now;
        self.look(now);
    }

    /// Another response takes the place of the one that there is. As long as none was asked, by a verdict of spurious or by a
    /// mixed one, senders that differ in it are the same.
    pub fn respond_by(&mut self, response: Box<dyn Response>) {
        self.response = response;
    }

    /// The path takes no segments of more than `mss` bytes of payload: what is sent from now on, again too, is no longer.
    /// The window in bytes stays as it is.
    pub fn reduce_mss(&mut self, mss: u32) {
        self.view.mss = self.view.mss.min(mss);
        self.granted = None;
    }

    /// When [`Engine::on_timeout`] wants to be called, or [`Instant::NEVER`].
    #[inline]
    pub fn deadline(&self) -> Instant {
        let deadline = self.timer.at.min(self.released_at);
        if self.alarms == Alarms::None { deadline } else { deadline.min(self.alarm().at()) }
    }

    /// Whether that may be before `instant`. Asks less than [`deadline`](Self::deadline); `false` is certain.
    #[inline]
    pub fn may_expire_before(&self, instant: Instant) -> bool {
        self.timer.at < instant || self.released_at < instant || self.alarms == Alarms::Own
    }

    /// Loss recovery's own timer. It runs on an open connection only.
    fn alarm(&self) -> Alarm {
        match (self.alarms, self.stage) {
            (Alarms::Own, Stage::Open) => self.recovery.alarm(&self.board, &self.view),
            _ => Alarm::None,
        }
    }

    /// First position not acknowledged.
    pub fn una(&self) -> u64 {
        self.board.una()
    }

    /// First position never sent.
    pub fn nxt(&self) -> u64 {
        self.board.nxt()
    }

    /// What is outstanding.
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// What is known of the round-trip time.
    pub fn round_trips(&self) -> &RoundTrips {
        &self.view.round_trips
    }

    /// Expiries of the timer since the last ACK of new data.
    pub fn consecutive_timeouts(&self) -> u32 {
        self.consecutive_timeouts
    }

    /// Whether something has happened that nobody was told.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next thing that happened, oldest first. Rare: ACKs and samples are not among them.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The episode that is open.
    pub fn episode(&self) -> Option<&Episode> {
        self.episode.as_ref()
    }

    /// The variables as they stand.
    pub fn snapshot(&self) -> Snapshot {
        let estimate = self.rto.estimate();
        Snapshot {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            flight: self.board.outstanding(),
            pipe: self.board.pipe(),
            una: self.board.una(),
            nxt: self.board.nxt(),
            srtt: estimate.map(|estimate| estimate.srtt),
            rttvar: estimate.map(|estimate| estimate.rttvar),
            rto: self.rto.rto(),
            latest_rtt: self.view.round_trips.latest(),
            samples: self.view.round_trips.taken(),
            deadline: self.deadline(),
        }
    }

    /// The seams see how it stands now.
    #[inline]
    fn look(&mut self, now: Instant) {
        self.view.now = now;
        self.view.una = self.board.una();
        self.view.nxt = self.board.nxt();
    }

    /// Starts the timer for a segment that leaves now.
    /// From now on a full RTO: nothing leaves again earlier than that. [rfc6298:5.a]
    fn start_timer(&mut self, now: Instant) {
        self.timer = Timer::retransmission(self.rto.expires(now, now));
    }

    /// Starts the timer for what is under way.
    fn restart_timer(&mut self, now: Instant) {
        let oldest = self.board.under_way_since().unwrap_or(now);
        self.timer = Timer::retransmission(self.rto.expires(now, oldest).max(now));
    }
}
