//! Loss recovery made of the shared [`FastRecovery`] and a policy. Policies differ in two ways: how
//! they react to a signal, and which segments they send during fast recovery.

use super::fast_recovery::{FastRecovery, Signal};
use super::{Attention, Decisions, Next, Recovery, Resume};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// An ACK that the scoreboard has processed.
#[derive(Clone, Copy, Debug)]
pub struct ProcessedAck<'a> {
    pub acked: &'a Acked<'a>,
    pub board: &'a Scoreboard,
    pub view: &'a View,
}

/// The steps that an algorithm adds to [`FastRecovery`].
pub trait RecoveryPolicy: Clone + core::fmt::Debug + Send + 'static {
    /// Decides about an ACK that the recovery has classified as `signal`.
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions;

    /// Returns the next segment to send during fast recovery. A forced
    /// retransmission is sent first.
    fn next(&mut self, recovery: &FastRecovery, board: &Scoreboard, window: &Window, view: &View, unsent: bool)
    -> Next;

    /// Returns the bytes of new data that may be sent outside of fast recovery; `None` for the
    /// shared rule.
    fn room(&mut self, _: &Scoreboard, _: &Window, _: &View) -> Option<u64> {
        None
    }

    /// Returns whether an ACK of new data without SACK blocks would change nothing outside of fast
    /// recovery.
    fn is_quiet(&self) -> bool {
        true
    }

    /// Learns that the retransmission timer has expired.
    fn on_timeout(&mut self, _: &View) {}

    /// Learns that the last loss signal was spurious.
    fn on_spurious(&mut self, _cause: Cause) {}

    /// Learns that `sent` was sent.
    fn on_sent(&mut self, _sent: Block, _: Kind) {}
}

/// An algorithm as a policy on [`FastRecovery`].
#[derive(Clone, Debug)]
pub struct WithPolicy<A> {
    recovery: FastRecovery,
    policy: A,
}

impl<A: RecoveryPolicy> WithPolicy<A> {
    /// Creates a recovery that has not seen a loss yet.
    pub fn new(recovery: FastRecovery, policy: A) -> Self {
        Self { recovery, policy }
    }
}

impl<A: RecoveryPolicy> Recovery for WithPolicy<A> {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        let signal = self.recovery.on_ack(acked, view);
        self.policy.on_signal(signal, &mut self.recovery, &ProcessedAck { acked, board, view })
    }

    fn on_timeout(&mut self, view: &View) {
        self.recovery.on_timeout(view.nxt);
        self.policy.on_timeout(view);
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.policy.on_spurious(cause);
        self.recovery.on_spurious(cause)
    }

    fn on_sent(&mut self, _: Instant, sent: Block, kind: Kind) {
        self.policy.on_sent(sent, kind);
        self.recovery.on_sent(sent, kind);
    }

    fn attention(&self) -> Attention {
        if self.recovery.is_quiet() && self.policy.is_quiet() { Attention::Quiet } else { Attention::EachAck }
    }

    fn next(&mut self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next {
        if !self.recovery.in_fast_recovery() {
            let room = self.policy.room(board, window, view);
            return room.map_or_else(|| self.recovery.next(board, window, view), |room| Next::New { room });
        }
        let next = self.policy.next(&self.recovery, board, window, view, unsent);
        self.recovery.forced(board).unwrap_or(next)
    }
}
