//! The persist timer and zero window probes (RFC 9293, section 3.8.6.1).

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Timestamps};
use eifel_packet::seq::wrap;
use eifel_recovery::engine::Offer;
use eifel_recovery::fact::{Kind, Transmission};

use crate::connection::Connection;
use crate::event::Event;
use crate::settings::WindowProbe;

/// Maximum interval between two probes, unless the retransmission timeout is longer. Stacks since
/// 4.4BSD use this value.
const LONGEST: Duration = Duration::from_secs(60);

/// State of the persist timer and its probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Persist {
    /// Expiry of the timer; [`Instant::NEVER`] while a probe is due or outstanding.
    pub(crate) at: Instant,
    /// Whether a probe has to be sent.
    due: bool,
    /// Probes since new data was last sent.
    probes: u16,
    /// Probes without data since the last segment of the peer.
    unanswered: u16,
}

impl Persist {
    /// Returns the duration of the timer. `first` is the duration of the retransmission timer. The
    /// interval grows even if the peer accepts the probes. Otherwise a window that stays closed
    /// would get a byte per round trip.
    fn interval(&self, first: Duration) -> Duration {
        (first * (1 << self.probes.min(30))).min(LONGEST.max(first))
    }

    const IDLE: Self = Self { at: Instant::NEVER, due: false, probes: 0, unanswered: 0 };
}

impl Connection {
    /// Returns the next transmission: new data, a retransmission, or a window probe if one is due.
    pub(crate) fn next_transmission(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        let sent = match self.persist {
            None => self.engine.poll_send(now, offer),
            Some(_) => self.persisting_transmission(now, offer),
        };
        if sent.is_none() && self.engine.una() == self.engine.nxt() {
            self.persist(now, self.stream.end());
        }
        sent
    }

    #[cold]
    fn persisting_transmission(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        if let Some(persist) = self.persist.as_mut().filter(|persist| persist.due) {
            persist.due = false;
            return self.probe_window(now, offer);
        }
        let sent = self.engine.poll_send(now, offer);
        if sent.is_some_and(|sent| sent.kind == Kind::New) {
            self.persist = None;
        }
        sent
    }

    /// Sends a window probe. It is the first outstanding byte, or new data of one byte or as much
    /// as the window takes.
    fn probe_window(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let room = offer.limit.saturating_sub(nxt).clamp(1, u64::from(self.mss));
        let len = room.min(offer.end.min(self.stream.whole()).saturating_sub(nxt)) as u32;
        if una == nxt && len == 0 {
            return None;
        }
        let persist = self.persist.get_or_insert(Persist::IDLE);
        persist.probes = persist.probes.saturating_add(1);
        Some(self.engine.probe_window(now, len, offer.stamp))
    }

    /// Starts the timer if data before `end` waits for the peer's window, and no data is
    /// outstanding that would bring an ACK.
    #[inline(never)]
    fn persist(&mut self, now: Instant, end: u64) {
        if end <= self.engine.nxt() || self.engine.is_held_back() {
            return;
        }
        let persist = self.persist.get_or_insert(Persist::IDLE);
        if persist.at == Instant::NEVER {
            persist.at = now + persist.interval(self.engine.full_timeout(now));
        }
    }

    /// Probes the window after the persist timer has expired.
    pub(crate) fn probe_at_timeout(&mut self, now: Instant) {
        let idle = self.engine.una() == self.engine.nxt();
        // A window that is open, but too small for silly window avoidance, is probed with data.
        let closed = self.peer.limit <= self.engine.nxt();
        match self.rare.open_settings.window_probe {
            WindowProbe::Empty if idle && closed => self.probe_without_data(now),
            WindowProbe::Empty | WindowProbe::Data => {
                self.engine.back_off();
                self.make_probe_due();
            }
        }
    }

    /// Sends a probe without data at the last acknowledged sequence number. The peer does not
    /// accept it, so it answers.
    fn probe_without_data(&mut self, now: Instant) {
        let persist = self.persist.get_or_insert(Persist::IDLE);
        (persist.probes, persist.unanswered) = (persist.probes.saturating_add(1), persist.unanswered.saturating_add(1));
        persist.at = now + persist.interval(self.engine.full_timeout(now));
        if u32::from(persist.unanswered) > self.rare.open_settings.most_timeouts {
            return self.fail(Event::TimedOut);
        }
        let (ack, window) = self.receiver.acknowledge();
        self.answer(wrap(self.engine.una() - 1, self.iss), ack, Flags::ACK);
        let timestamps = self.stamps.as_ref().map(|stamps| Timestamps { value: 0, echo: stamps.echo() });
        if let Some(probe) = &mut self.reply {
            // TSval is filled in when the probe is sent.
            (probe.window, probe.options.timestamps) = (window, timestamps);
        }
    }

    /// Records that the peer is alive.
    pub(crate) fn on_probe_answered(&mut self) {
        if let Some(persist) = &mut self.persist {
            persist.unanswered = 0;
        }
    }

    /// Returns when the persist timer expires, or [`Instant::NEVER`].
    #[inline]
    pub(crate) fn persist_deadline(&self) -> Instant {
        self.persist.map_or(Instant::NEVER, |persist| persist.at)
    }

    /// Makes a probe the next segment, after a timer has expired while the peer's window was
    /// closed.
    pub(crate) fn make_probe_due(&mut self) {
        let persist = self.persist.get_or_insert(Persist::IDLE);
        (persist.at, persist.due) = (Instant::NEVER, true);
    }
}
