//! What detection by timestamps shares in TCP and SCTP: the state of an episode, later
//! retransmissions, and forged echoes.

use super::unproven::Unproven;
use super::{Judgement, MOST_CONTRADICTIONS, Outcome};
use crate::fact::{Acked, Echo, Transmission};
use eifel_base::units::Timestamp;

/// Which echoes prove an original.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proof {
    /// Any echo that is older than the first retransmission's timestamp (RFC 3522, section 3.2).
    Older,
    /// Only the original's timestamp (RFC 3522, section 3.4).
    #[default]
    Original,
}

/// Reason of a verdict on an echo that is older than the retransmission, but not the original's.
pub(super) const UNPROVEN: &str = "the echo is not the original's timestamp";

/// Detection by timestamps. `S` is the state of an episode that is suspected.
#[derive(Clone, Debug)]
pub(super) struct ByTimestamps<S> {
    pub(super) proof: Proof,
    state: State<S>,
    /// Number of echoes of timestamps that were never sent.
    forged: u32,
}

#[derive(Clone, Debug)]
enum State<S> {
    /// Nothing is suspected.
    Idle,
    /// The episode is not judged yet. Its later retransmissions are not proven spurious.
    Suspected(S, Unproven),
    /// The episode was judged spurious. Its later retransmissions are unproven, because the verdict
    /// says nothing about them. Only [`Proof::Original`] tries them.
    Spurious(Unproven),
}

impl<S> ByTimestamps<S> {
    pub(super) fn new(proof: Proof) -> Self {
        Self { proof, state: State::Idle, forged: 0 }
    }

    pub(super) fn is_idle(&self) -> bool {
        match &self.state {
            State::Idle => true,
            State::Suspected(..) => false,
            State::Spurious(unproven) => unproven.is_empty(),
        }
    }

    /// Starts an episode. `suspected` is `None` if its first retransmission has no timestamp.
    pub(super) fn begin(&mut self, suspected: Option<S>) {
        let trusted = suspected.filter(|_| self.forged < MOST_CONTRADICTIONS);
        self.state = trusted.map_or(State::Idle, |suspected| State::Suspected(suspected, Unproven::default()));
    }

    /// Returns the state of the suspected episode.
    pub(super) fn suspected(&mut self) -> Option<&mut S> {
        match &mut self.state {
            State::Suspected(suspected, _) => Some(suspected),
            _ => None,
        }
    }

    /// Adds a retransmission that has to be proven spurious. `original` is its original's timestamp.
    pub(super) fn add(&mut self, transmission: &Transmission, original: Option<Timestamp>) {
        if self.proof == Proof::Original
            && let State::Suspected(_, unproven) | State::Spurious(unproven) = &mut self.state
        {
            unproven.add(transmission.start, original);
        }
    }

    /// Processes an ACK. `judge` judges the suspected episode.
    pub(super) fn on_ack(
        &mut self,
        acked: &Acked<'_>,
        judge: impl FnOnce(&mut S, &mut Unproven) -> Judgement,
    ) -> Judgement {
        if acked.echo == Some(Echo::Forged) {
            // RFC 4015, section 6, only warns of receivers that forge.
            self.forged += 1;
            if self.forged >= MOST_CONTRADICTIONS {
                self.state = State::Idle;
                return Judgement::Distrusted("echoes of timestamps that were never sent");
            }
        }
        match &mut self.state {
            State::Idle => Judgement::Undecided,
            State::Suspected(suspected, unproven) => {
                let judgement = judge(suspected, unproven);
                if let Judgement::Settled(outcome, _) = judgement {
                    let tries = self.proof == Proof::Original && outcome == Outcome::Spurious;
                    self.state = if tries { State::Spurious(core::mem::take(unproven)) } else { State::Idle };
                }
                judgement
            }
            State::Spurious(unproven) => {
                if !unproven.remove_acked(acked) {
                    return Judgement::Undecided;
                }
                self.state = State::Idle;
                Judgement::GenuineLossWithin("a later retransmission is acknowledged without the original's timestamp")
            }
        }
    }
}
