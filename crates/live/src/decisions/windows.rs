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
    /// `None` until the kernel has told its windows, which it does with each ACK.
    now: Option<Window>,
    /// The window before the last loss signal, and what the signal left.
    saved: Option<Saved>,
    /// The window before the fast recovery in which the timer expired, else that of `saved`.
    before_repair: Option<Window>,
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
        Ok(Some(Self {
            congest: part::congest(&choice)?,
            response: part::response(&Choice::named("linux"))?,
            now: None,
            saved: None,
            before_repair: None,
            is_undone: false,
            ece_in_episode: false,
        }))
    }

    /// Takes the kernel's windows, before it processes a segment.
    pub fn take(&mut self, standing: &Standing, mss: u32) {
        let bytes = |segments: u64| if segments >= INFINITE { u64::MAX } else { segments * u64::from(mss) };
        self.now = Some(Window { cwnd: bytes(standing.cwnd), ssthresh: bytes(standing.ssthresh) });
    }

    /// Saves the window before a loss signal that begins an episode, and cuts it. `recovers` says
    /// whether the signal is a timeout within fast recovery. A signal before the first ACK cuts a
    /// window that nobody knows, so its undo is compared with nothing.
    pub fn on_signal(&mut self, cause: Cause, recovers: bool, sender: &Sender) {
        if !recovers || self.is_undone {
            self.before_repair = self.now;
        }
        let flight = sender.outstanding();
        self.saved = self.now.map(|window| {
            let loss = Loss { cause, flight, limit: window.cwnd, timeout_again: false };
            let reduced = self.congest.on_loss(&window, &loss, sender.view());
            Saved { window, reduced, flight, peer_window: u64::MAX, estimate: None }
        });
        self.now = self.saved.map(|saved| saved.reduced);
        (self.is_undone, self.ece_in_episode) = (false, false);
    }

    /// Applies an ACK. Returns cwnd in segments if the ACK undid the cut of a known window.
    pub fn on_ack(&mut self, brought: &Brought, cause: Cause, sender: &Sender) -> Option<u64> {
        self.ece_in_episode |= brought.ece;
        self.is_undone |= brought.undo.is_some();
        let mut window = self.now?;
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
                before_repair: self.before_repair.unwrap_or(saved.window),
                mss: sender.view().mss,
                initial_window: window.cwnd,
            };
            window = self.response.respond(&verdict, saved, &window).window;
        }
        let repairs = sender.is_recovering() && !self.is_undone;
        if brought.progress.acked > 0 && !brought.ece && !repairs {
            window = self.congest.on_ack(&window, &brought.progress, sender.view());
        }
        self.now = Some(window);
        undone.map(|_| window.cwnd / u64::from(sender.view().mss).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Instant;
    use eifel_packet::segment::{Options, Segment};
    use eifel_packet::seq::Seq;
    use eifel_recovery::congest::Progress;

    /// A sender without SACK and timestamps that has sent ten segments of 1000 bytes.
    fn sender() -> Sender {
        let syn = Segment { options: Options { mss: Some(1000), ..Options::NONE }, ..Segment::EMPTY };
        let mut sender = Sender::new(&syn, &syn).unwrap();
        for number in 0..10 {
            let segment = Segment { seq: Seq(1 + 1000 * number), payload_len: 1000, ..Segment::EMPTY };
            sender.on_sent(Instant::ZERO, &segment);
        }
        sender
    }

    fn acknowledged(sender: &mut Sender, ack: u32) -> Brought {
        sender.on_ack(Instant::ZERO, &Segment { ack: Seq(ack), ..Segment::EMPTY }).unwrap()
    }

    fn standing(cwnd: u64) -> Standing {
        Standing { cwnd, ssthresh: INFINITE, una: Seq(1) }
    }

    /// The first ACK has no window to compare with, so five of six are duplicates.
    #[test]
    fn without_sack_duplicate_acks_stand_for_deliveries() {
        let mut sender = sender();
        for _ in 0..6 {
            acknowledged(&mut sender, 1);
        }
        let Progress { acked, delivered, .. } = acknowledged(&mut sender, 6001).progress;
        assert_eq!((acked, delivered), (6000, 1000));
    }

    /// The kernel tells its window with each ACK. A timeout before the first one cuts an unknown window.
    #[test]
    fn the_undo_of_an_unknown_window_is_compared_with_nothing() {
        for (told, expected) in [(false, None), (true, Some(11))] {
            let (mut sender, mut windows) = (sender(), Windows::new("reno").unwrap().unwrap());
            if told {
                windows.take(&standing(10), 1000);
            }
            windows.on_signal(Cause::Timeout, false, &sender);
            windows.take(&standing(1), 1000);
            let brought = Brought { undo: Some("TCPLossUndo"), ..acknowledged(&mut sender, 1001) };
            assert_eq!(windows.on_ack(&brought, Cause::Timeout, &sender), expected);
        }
    }
}
