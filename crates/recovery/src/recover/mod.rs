//! Which segments are lost, and what goes out next. One file an algorithm.

pub mod course;
pub mod fack;
pub mod late_fast_retransmit;
pub mod newreno;
pub mod newreno_sack;
pub mod prr;
mod rack;
pub mod rack_tlp;
pub mod reno;
pub mod reno_sack;
pub mod rfc6675;
mod tlp;

use crate::congest::Window;
use crate::duplicate::DuplicateRecovery;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// What follows from an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decisions {
    /// Whether fast recovery begins or ends.
    pub step: Step,
    /// Everything below, unless reported by SACK, is deemed lost.
    pub lost_below: Option<u64>,
    /// Whether congestion control may grow the window.
    pub growth: Growth,
    /// Whether an ACK of new data restarts the retransmission timer.
    pub timer: Timer,
}

impl Decisions {
    /// Business as usual.
    pub const STAY: Self = Self { step: Step::Stay, lost_below: None, growth: Growth::Hold, timer: Timer::Restart };
    /// Business as usual, and the window grows.
    pub const GROW: Self = Self { growth: Growth::Grow, ..Self::STAY };
}

/// Whether fast recovery begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Neither.
    Stay,
    /// It begins: congestion control is told of the loss.
    Enter {
        /// Bytes that Limited Transmit has sent: they do not count in the flight (RFC 3042, section 2).
        limited: u64,
    },
    /// Whatever the timeout that opened the episode has reduced is as it was before.
    Restore(Resume),
    /// A probe has repaired a loss: congestion control is told of it, and nothing is to be sent again.
    Repaired,
    /// What was sent again was lost again: congestion control is told of another loss.
    LostAgain,
    /// It ends.
    Leave {
        /// cwnd becomes no larger than this, in bytes.
        cwnd_at_most: u64,
    },
}

/// Whether the window may grow on this ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// It stays.
    Hold,
    /// It grows as congestion control says.
    Grow,
}

/// What an ACK of new data does to the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timer {
    /// It starts anew (RFC 6298, section 5.3).
    Restart,
    /// It runs on.
    RunOn,
}

/// What goes out next. `room` is how many bytes may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The segment at this position, again.
    Retransmit {
        /// Where it begins.
        at: u64,
        /// Bytes that may go; a retransmission that is owed whatever the window has `u64::MAX`.
        room: u64,
        /// Whether it moves RFC 6675's HighRxt.
        mark: HighRxt,
    },
    /// New data.
    New {
        /// Bytes that may go.
        room: u64,
    },
}

impl Next {
    /// A retransmission that goes whatever the window.
    pub const fn owed(at: u64) -> Self {
        Self::Retransmit { at, room: u64::MAX, mark: HighRxt::Advance }
    }
}

/// Whether a retransmission moves HighRxt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HighRxt {
    /// It does.
    Advance,
    /// A rescue retransmission does not (RFC 6675, section 4, NextSeg rule 4), nor one of what lies below it.
    Leave,
}

/// A timer of loss recovery's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alarm {
    /// None runs.
    None,
    /// Then what has not been reported counts as lost.
    Reordering(Instant),
    /// Then a probe goes; or at the expiry of the retransmission timer and in its place, if that comes first.
    Probe(Instant),
}

impl Alarm {
    /// When it comes, or [`Instant::NEVER`].
    pub fn at(self) -> Instant {
        match self {
            Self::None => Instant::NEVER,
            Self::Reordering(at) | Self::Probe(at) => at,
        }
    }

    /// Whether it has come.
    pub fn due(self, now: Instant) -> bool {
        self.at() <= now
    }
}

/// How sending goes on after a spurious timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// With the next unsent segment: nothing is deemed lost any more.
    NextUnsent,
    /// By sending everything again, as after any timeout.
    GoBackN,
}

/// Finds losses and repairs them. It holds neither window nor timer.
pub trait Recovery: Send + DuplicateRecovery {
    /// The scoreboard has taken an ACK in.
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions;
    /// The retransmission timer has expired; everything outstanding is deemed lost.
    fn on_timeout(&mut self, view: &View);
    /// The episode that is open was judged spurious.
    fn on_spurious(&mut self, cause: Cause) -> Resume;
    /// `sent` has left.
    fn on_sent(&mut self, sent: Block, kind: Kind);
    /// Whether an ACK of new data, without SACK blocks, would change nothing in it and let the window grow, and new data may
    /// go after it as far as cwnd is larger than what is outstanding. Where it says so, it is not asked about such ACKs, nor
    /// told of the new data.
    fn is_quiet(&self) -> bool {
        false
    }
    /// Whether it wants to know what each ACK has delivered.
    fn follows_deliveries(&self) -> bool {
        false
    }
    /// Whether it has a timer of its own.
    fn has_alarm(&self) -> bool {
        false
    }
    /// That timer, as things stand.
    fn alarm(&self, _: &Scoreboard, _: &View) -> Alarm {
        Alarm::None
    }
    /// The alarm has come. A probe is owed from then on until [`Recovery::next`] lets it go.
    fn on_alarm(&mut self, _: &Scoreboard, _: &View) -> Decisions {
        Decisions::STAY
    }
    /// What has left was a rescue retransmission.
    fn on_rescue(&mut self) {}
    /// What goes out next; `unsent` says whether there is new data that the peer has room for. Where the answer is new
    /// data, it holds as long as there is some and until the next ACK or timeout: what is sent takes from its room.
    fn next(&self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next;
}
