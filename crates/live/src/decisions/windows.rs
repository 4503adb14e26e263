//! The windows of the model: those of the kernel before each ACK, and what the response `linux` and
//! congestion control make of them.

use super::events::Standing;
use super::sender::{Brought, Sender};
use eifel_recovery::congest::{Congest, Loss, Window};
use eifel_recovery::episode::Saved;
use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Choice, Error, Value, part};
use eifel_recovery::respond::{Response, Verdict};

/// `TCP_INFINITE_SSTHRESH` of Linux.
const INFINITE: u64 = 0x7fff_ffff;

/// Windows in bytes, beside a sender.
pub struct Windows {
    congest: Box<dyn Congest>,
    response: Box<dyn Response>,
    now: Window,
    /// The window before the last loss signal, and what the signal left.
    saved: Option<Saved>,
    /// The window before the fast recovery in which the timer expired, else that of `saved`.
    before_repair: Window,
    /// Whether the cut of the last loss signal was undone.
    is_undone: bool,
    /// Whether an ECN-Echo has arrived since the last loss signal.
    ece_in_episode: bool,
}

impl Windows {
    /// Creates the windows of a sender with this congestion control of Linux, set as in the profile
    /// `linux`. `None` for one that the registry does not have.
    pub fn new(congestion: &str) -> Result<Option<Self>, Error> {
        let word = |word: &str| Value::Word(word.to_owned());
        let shared = |name| {
            Choice::named(name)
                .with("counting", word("linux"))
                .with("grow", word("when-limiting-window"))
                .with("ssthresh_from", word("window"))
        };
        let choice = match congestion {
            "cubic" => shared("cubic").with("curve", word("linux")),
            "reno" => shared("reno"),
            _ => return Ok(None),
        };
        let now = Window { cwnd: 0, ssthresh: u64::MAX };
        Ok(Some(Self {
            congest: part::congest(&choice)?,
            response: part::response(&Choice::named("linux"))?,
            now,
            saved: None,
            before_repair: now,
            is_undone: false,
            ece_in_episode: false,
        }))
    }

    /// Takes the kernel's windows, before it processes a segment.
    pub fn take(&mut self, standing: &Standing, mss: u32) {
        let bytes = |segments: u64| if segments >= INFINITE { u64::MAX } else { segments * u64::from(mss) };
        self.now = Window { cwnd: bytes(standing.cwnd), ssthresh: bytes(standing.ssthresh) };
    }

    /// Saves the window before a loss signal that begins an episode, and cuts it. `recovers` says
    /// whether the signal is a timeout within fast recovery.
    pub fn on_signal(&mut self, cause: Cause, recovers: bool, sender: &Sender) {
        if !recovers || self.is_undone {
            self.before_repair = self.now;
        }
        let flight = sender.outstanding();
        let loss = Loss { cause, flight, limit: self.now.cwnd, timeout_again: false };
        let reduced = self.congest.on_loss(&self.now, &loss, sender.view());
        self.saved = Some(Saved { window: self.now, reduced, flight, peer_window: u64::MAX, estimate: None });
        (self.now, self.is_undone, self.ece_in_episode) = (reduced, false, false);
    }

    /// Applies an ACK. Returns cwnd in segments if the ACK undid the cut.
    pub fn on_ack(&mut self, brought: &Brought, cause: Cause, sender: &Sender) -> Option<u64> {
        self.ece_in_episode |= brought.ece;
        let undone = brought.undo.and(self.saved);
        if let Some(saved) = &undone {
            let verdict = Verdict {
                cause,
                timeouts: 1,
                fast_retransmitted: false,
                flight: sender.outstanding(),
                acked: brought.progress.acked,
                ece: brought.ece,
                ece_in_episode: self.ece_in_episode,
                loss_seen: false,
                before_repair: self.before_repair,
                mss: sender.view().mss,
                initial_window: self.now.cwnd,
            };
            self.now = self.response.respond(&verdict, saved, &self.now).window;
            self.is_undone = true;
        }
        let repairs = sender.is_recovering() && !self.is_undone;
        if brought.progress.acked > 0 && !brought.ece && !repairs {
            self.now = self.congest.on_ack(&self.now, &brought.progress, sender.view());
        }
        undone.map(|_| self.now.cwnd / u64::from(sender.view().mss).max(1))
    }
}
