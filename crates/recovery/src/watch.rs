//! Watches one path: its round trips, its open or last episode, and the detectors that judge it.
//!
//! Its input is facts: transmissions, retransmissions and ACKs. Its output is samples and
//! judgements. A `Watch` holds no window and no timer. So a sender can use it, inside a
//! [`Path`](crate::path::Path), and also the analyser of a capture, which has no sender.
//! Outstanding segments are kept outside, on a [`Scoreboard`](crate::scoreboard::Scoreboard),
//! because several paths may share one.
//!
//! The analyser of a capture uses it like this:
//!
//! ```
//! use eifel_base::time::{Duration, Instant};
//! use eifel_base::units::Timestamp;
//! use eifel_recovery::detect::{Judgement, Outcome};
//! use eifel_recovery::fact::{Ack, Block, Cause, Echo, Kind, Transmission, TxId};
//! use eifel_recovery::recover::HighRxt;
//! use eifel_recovery::registry::{Choice, part};
//! use eifel_recovery::scoreboard::Scoreboard;
//! use eifel_recovery::view::Negotiated;
//! use eifel_recovery::watch::Watch;
//!
//! let at = |millis| Instant::ZERO + Duration::from_millis(millis);
//! let mut board = Scoreboard::default();
//! let mut watch = Watch::new(vec![part::detector(&Choice::named("eifel-timestamps"))?]);
//!
//! // The handshake: data begins at position 1.
//! board.skip_to(1);
//! watch.agree(Negotiated { mss: 1000, sack: true, timestamps: true });
//! watch.update_view(at(0), board.una(), board.nxt());
//!
//! // Three segments leave, each with a TSval of its own.
//! for millis in 0..3 {
//!     board.on_new(at(millis.into()), 1000, Some(Timestamp(millis)));
//!     watch.on_new(at(millis.into()), board.nxt());
//! }
//!
//! // The first one leaves again after a second, with TSval 1000: the timer must have expired.
//! let first = Block { start: 1, end: 1001 };
//! watch.update_view(at(1000), board.una(), board.nxt());
//! watch.open_episode(Cause::Timeout);
//! let (copy, original) = board.on_retransmission(at(1000), first, HighRxt::Advance);
//! let kind = Kind::Retransmission(Cause::Timeout);
//! let transmission = Transmission { id: TxId(3), start: first.start, len: 1000, kind, copy };
//! watch.on_retransmission(&transmission, Some(Timestamp(1000)), original);
//!
//! // The peer acknowledges it, and echoes the original's TSval.
//! let echo = Some(Echo::Known { value: Timestamp(0), age: Duration::from_millis(1100) });
//! let ack = Ack { cumulative: 1001, sacks: &[], dsacks: &[], echo, mark: None, plain: true, ece: false };
//! let acked = board.on_ack(&ack, true);
//! watch.update_view(at(1100), board.una(), board.nxt());
//! assert_eq!(watch.on_ack(&acked), Some(Duration::from_millis(1100)));
//! let judgement = watch.judge(&acked);
//! assert!(matches!(judgement, Judgement::Settled(Outcome::Spurious, _)));
//! assert_eq!(watch.settle(judgement).map(|episode| episode.number), Some(1));
//! watch.close_if_repaired(acked.cumulative);
//! # Ok::<(), eifel_recovery::registry::Error>(())
//! ```

use std::collections::VecDeque;

use crate::detect::{Detector, Judgement, Outcome};
use crate::episode::Episode;
use crate::event::Event;
use crate::fact::{Acked, Cause, Covered, Echo, Fact, Refusal, Transmission};
use crate::rtt::RoundTrips;
use crate::view::{Negotiated, View};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;

/// The reason in [`Event::Judged`] for [`Judgement::Mixed`].
pub const MIXED: &str = "some retransmissions repaired a loss, and some were spurious";

/// A detector and its index among the chosen ones: 0 acts, the others only watch.
pub type Placed = (usize, Box<dyn Detector>);

/// Watches one path. See the module's documentation.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The state that the seams see. It is kept up to date, because several seams read it for every
    /// ACK.
    view: View,
    /// The detectors that judge, without those that never judge and those that no longer trust the
    /// peer.
    detectors: Vec<Placed>,
    /// The open episode, or the last one. Only this one can be judged. It is boxed, because most
    /// connections never have an episode. `events` is boxed for this reason too.
    episode: Option<Box<Episode>>,
    /// Whether that episode's first retransmission is not sent yet. Until then detectors do not
    /// know of the episode.
    awaits_first: bool,
    /// Number of episodes so far.
    opened: u32,
    /// `None` without events.
    #[expect(clippy::box_collection, reason = "events are rare, and all connections have to hold the place")]
    events: Option<Box<VecDeque<Event>>>,
}

impl Watch {
    /// Creates a watch with these detectors. The first one acts: [`judge`](Self::judge) returns its
    /// judgement.
    pub fn new(detectors: Vec<Box<dyn Detector>>) -> Self {
        let mut detectors: Vec<Placed> =
            detectors.into_iter().enumerate().filter(|(_, detector)| detector.judges()).collect();
        // There is usually one detector, and a vector starts with room for four.
        detectors.shrink_to_fit();
        Self::resumed(detectors)
    }

    /// Creates a watch with the detectors of an earlier one over the same connection. What they know
    /// of the peer lasts; they know no episode until the next loss signal.
    pub fn resumed(detectors: Vec<Placed>) -> Self {
        let view =
            View { una: 0, now: Instant::ZERO, nxt: 0, mss: 536, sack: false, round_trips: RoundTrips::new(false) };
        Self { view, detectors, episode: None, awaits_first: false, opened: 0, events: None }
    }

    /// Ends the watch, and returns the detectors that still judge.
    pub fn into_detectors(self) -> Vec<Placed> {
        self.detectors
    }

    /// Applies the options that the handshake negotiated. The round-trip statistics of the
    /// handshake are kept, but not its latest sample.
    pub fn agree(&mut self, negotiated: Negotiated) {
        self.view.mss = negotiated.mss;
        self.view.sack = negotiated.sack;
        self.view.round_trips = self.view.round_trips.after_handshake(negotiated.timestamps);
    }

    /// Lowers the payload of a full segment to `mss` bytes, if it was more.
    pub fn reduce_mss(&mut self, mss: u32) {
        self.view.mss = self.view.mss.min(mss);
    }

    /// Refreshes the view: `una` is the first position not acknowledged, `nxt` the first never
    /// sent. Must be called before every fact except a transmission of new data.
    #[inline]
    pub fn update_view(&mut self, now: Instant, una: u64, nxt: u64) {
        self.view.now = now;
        self.view.una = una;
        self.view.nxt = nxt;
    }

    /// Returns the seams' view.
    #[inline]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Returns the round-trip samples and estimates.
    #[inline]
    pub fn round_trips(&self) -> &RoundTrips {
        &self.view.round_trips
    }

    /// Records that positions up to `end` were sent for the first time.
    #[inline(always)]
    pub fn on_new(&mut self, now: Instant, end: u64) {
        self.view.round_trips.on_new(now, end);
        self.view.nxt = end;
    }

    /// Records that the segment at `start` was sent again without repairing a loss, and does not
    /// tell the detectors. Examples are a repeated SYN and a probe of a closed window.
    pub fn on_repeat(&mut self, start: u64) {
        self.view.round_trips.on_retransmission(start);
    }

    /// Records that `transmission`, which repairs a presumed loss, was sent with TSval `stamp`.
    /// Passes it to the detectors. `original` is as in [`Fact::Retransmitted`].
    pub fn on_retransmission(
        &mut self,
        transmission: &Transmission,
        stamp: Option<Timestamp>,
        original: Option<Timestamp>,
    ) {
        self.on_repeat(transmission.start);
        let opens = std::mem::replace(&mut self.awaits_first, false);
        let fact = Fact::Retransmitted { transmission, stamp, original, opens };
        for (_, detector) in &mut self.detectors {
            detector.observe(&fact, &self.view);
        }
    }

    /// Records the round trips of an ACK, and returns the sample that it gives, if any.
    pub fn on_ack(&mut self, acked: &Acked<'_>) -> Option<Duration> {
        let now = self.view.now;
        self.on_covered(acked.highest);
        self.view.round_trips.on_ack(now, acked)
    }

    /// Records the round trips of an ACK of new data; `highest` is the highest segment that it
    /// covers to its end.
    #[inline(always)]
    pub(crate) fn on_plain_ack(
        &mut self,
        highest: Option<Covered>,
        cumulative: u64,
        echo: Option<Echo>,
    ) -> Option<Duration> {
        self.on_covered(highest);
        self.view.round_trips.on_progress(self.view.now, cumulative, echo)
    }

    /// Measures the round trip of a segment that was sent only once. For others it is unknown which
    /// transmission the ACK answers.
    #[inline(always)]
    fn on_covered(&mut self, highest: Option<Covered>) {
        let once = highest.filter(|covered| covered.copies == 0);
        self.view.round_trips.on_unambiguous(once.map(|covered| self.view.now.since(covered.last_sent)));
    }

    /// Records a round trip that no ACK of data measured, for example that of a HEARTBEAT.
    pub fn on_sample(&mut self, rtt: Duration) {
        self.view.round_trips.on_sample(rtt);
    }

    /// Records SRTT after the newest sample. The owner of the smoothing must call this, for example
    /// a sender's timer.
    #[inline]
    pub fn on_smoothed(&mut self, srtt: Option<Duration>) {
        self.view.round_trips.on_smoothed(srtt);
    }

    /// Passes an ACK to the detectors, reports their judgements as events, and returns the acting
    /// detector's judgement. It changes no episode: see [`settle`](Self::settle). It refuses a
    /// probe to detectors that only watch.
    pub fn judge(&mut self, acked: &Acked<'_>) -> Judgement {
        let fact = Fact::Acked(acked);
        let mut acting = Judgement::Undecided;
        let mut index = 0;
        while let Some((place, detector)) = self.detectors.get_mut(index) {
            index += 1;
            let judgement = detector.observe(&fact, &self.view);
            let place = *place;
            match judgement {
                Judgement::Undecided => continue,
                Judgement::Probe if place > 0 => {
                    detector.observe(&Fact::NotProbed(Refusal::Watches), &self.view);
                }
                Judgement::Probe | Judgement::GenuineLossWithin(_) => {}
                Judgement::Distrusted(reason) => {
                    index -= 1;
                    self.dismiss(index, reason);
                }
                Judgement::Settled(..) | Judgement::NothingResent(_) | Judgement::Mixed(_) => {
                    self.report(place, judgement)
                }
            }
            if place == 0 {
                acting = judgement;
            }
        }
        acting
    }

    /// Tells the acting detector that there is no new data for the probe that it asked for, and
    /// returns its judgement.
    pub fn refuse_probe(&mut self) -> Judgement {
        let Some((0, acting)) = self.detectors.first_mut() else { return Judgement::Undecided };
        let judgement = acting.observe(&Fact::NotProbed(Refusal::NothingNew), &self.view);
        self.report(0, judgement);
        judgement
    }

    /// Returns whether any detector judges.
    pub(crate) fn has_detectors(&self) -> bool {
        !self.detectors.is_empty()
    }

    /// Returns whether every detector waits for a retransmission, and would ignore an ACK of new
    /// data.
    pub(crate) fn detectors_wait(&self) -> bool {
        self.detectors.iter().all(|(_, detector)| detector.is_idle())
    }

    /// Returns whether an ACK of new data may make a detector judge before the next retransmission.
    pub fn may_judge(&self) -> bool {
        self.detectors.iter().any(|(_, detector)| detector.may_judge())
    }

    /// Removes a detector that no longer trusts the peer. If there is an episode to judge, it
    /// counts as genuine.
    #[cold]
    fn dismiss(&mut self, index: usize, reason: &'static str) {
        let (detector, _) = self.detectors.remove(index);
        self.report(detector, Judgement::Settled(Outcome::Genuine, reason));
        self.tell(Event::Distrusted { detector, reason });
    }

    /// Reports a detector's verdict on the open or last episode.
    fn report(&mut self, detector: usize, judgement: Judgement) {
        let (outcome, reason) = match judgement {
            Judgement::Settled(outcome, reason) => (outcome, reason),
            Judgement::NothingResent(reason) => (Outcome::Spurious, reason),
            Judgement::Mixed(_) => (Outcome::Genuine, MIXED),
            Judgement::Undecided | Judgement::Probe | Judgement::GenuineLossWithin(_) | Judgement::Distrusted(_) => {
                return;
            }
        };
        if let Some(Episode { number, .. }) = self.judged_by(judgement).copied() {
            self.tell(Event::Judged { episode: number, detector, outcome, reason });
        }
    }

    /// Returns the episode that a verdict now applies to, if its detector knows of the episode.
    fn judged_by(&mut self, judgement: Judgement) -> Option<&mut Episode> {
        let known = !self.awaits_first || matches!(judgement, Judgement::NothingResent(_));
        self.episode.as_deref_mut().filter(|_| known)
    }

    /// Settles the open or last episode with a judgement, and returns it. Returns `None` if the
    /// judgement decides nothing, or there is no episode that is still to be settled.
    pub fn settle(&mut self, judgement: Judgement) -> Option<Episode> {
        if matches!(judgement, Judgement::Undecided | Judgement::Probe | Judgement::GenuineLossWithin(_)) {
            return None;
        }
        let episode = self.judged_by(judgement).filter(|episode| !episode.settled)?;
        episode.settled = true;
        let episode = *episode;
        // A false loss signal leaves nothing to retransmit. What is retransmitted later belongs to
        // no episode.
        self.awaits_first &= !matches!(judgement, Judgement::NothingResent(_));
        Some(episode)
    }

    /// Settles the open episode without a verdict, and returns it. Returns `None` if none is open,
    /// or it was settled before.
    pub(crate) fn settle_open(&mut self) -> Option<Episode> {
        let episode = self.episode.as_deref_mut().filter(|episode| !episode.closed && !episode.settled)?;
        episode.settled = true;
        Some(*episode)
    }

    /// Opens an episode after a loss signal, at the view's instant and positions. An episode that
    /// is still open is closed, and the previous one can no longer be judged. Must be called before
    /// the episode's first retransmission.
    pub fn open_episode(&mut self, cause: Cause) -> Episode {
        self.close_episode();
        self.opened += 1;
        let View { now, una, nxt, .. } = self.view;
        let episode = Episode {
            number: self.opened,
            cause,
            opened_at: now,
            start: una,
            recovery_point: nxt,
            timeouts: u32::from(cause == Cause::Timeout),
            settled: false,
            closed: false,
        };
        self.episode = Some(Box::new(episode));
        self.awaits_first = true;
        self.signal_loss(cause, true);
        episode
    }

    /// Returns whether the open episode is a fast retransmit of the oldest segment, and this was sent.
    pub(crate) fn oldest_is_fast_retransmitted(&self) -> bool {
        let una = self.view.una;
        let oldest = |episode: &Episode| episode.cause == Cause::FastRetransmit && episode.start == una;
        self.episode().is_some_and(oldest) && !self.awaits_first
    }

    /// Counts a timer expiry in the open episode, if an earlier expiry for the same oldest segment
    /// opened it. Returns the number of expiries, or `None` if this one must open an episode.
    pub fn count_timeout(&mut self) -> Option<u32> {
        let una = self.view.una;
        let again = |episode: &&mut Episode| !episode.closed && episode.cause == Cause::Timeout && episode.start == una;
        let episode = self.episode.as_deref_mut().filter(again)?;
        episode.timeouts += 1;
        let timeouts = episode.timeouts;
        self.signal_loss(Cause::Timeout, false);
        Some(timeouts)
    }

    /// Tells the detectors of a loss signal.
    fn signal_loss(&mut self, cause: Cause, opens: bool) {
        for (_, detector) in &mut self.detectors {
            detector.on_loss_signal(cause, opens, &self.view);
        }
    }

    /// Closes the open episode, if everything below its recovery point is acknowledged.
    pub fn close_if_repaired(&mut self, cumulative: u64) {
        if self.episode().is_some_and(|episode| cumulative >= episode.recovery_point) {
            self.close_episode();
        }
    }

    fn close_episode(&mut self) {
        if let Some(episode) = self.episode.as_deref_mut().filter(|episode| !episode.closed) {
            episode.closed = true;
            let Episode { number, timeouts, .. } = *episode;
            self.tell(Event::EpisodeClosed { episode: number, timeouts });
        }
    }

    /// Closes the open episode, and drops the last one, so that neither can be judged any more.
    pub(crate) fn forget(&mut self) {
        self.close_episode();
        self.episode = None;
        self.awaits_first = false;
    }

    /// Drops the last episode if it is closed, so that it can no longer be judged.
    pub(crate) fn forget_closed(&mut self) {
        self.episode.take_if(|episode| episode.closed);
    }

    /// Returns the open episode.
    #[inline]
    pub fn episode(&self) -> Option<&Episode> {
        self.episode.as_deref().filter(|episode| !episode.closed)
    }

    /// Returns the open or last episode.
    pub(crate) fn last_episode(&self) -> Option<&Episode> {
        self.episode.as_deref()
    }

    /// Returns whether [`poll_event`](Self::poll_event) would return an event.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// Returns the next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        let events = self.events.as_mut()?;
        let first = events.pop_front();
        if events.is_empty() {
            self.events = None;
        }
        first
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.events.get_or_insert_default().push_back(event);
    }
}
