//! Which segments are lost, and what goes out next. One file an algorithm.

pub mod course;
mod late_fast_retransmit;
pub mod on_course;
pub mod prr;
mod rack;
mod rack_min_rtt;
pub mod rules;
mod tlp;

crate::registry::algorithms! { reno, newreno, reno_sack, newreno_sack, fack, rfc6675, rack_tlp }

use crate::congest::Window;
use crate::duplicate::DuplicateRecovery;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// Loss recovery's decisions about an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decisions {
    /// Whether fast recovery begins or ends.
    pub step: Step,
    /// Everything below, unless reported by SACK, is deemed lost.
    pub lost_below: Option<u64>,
    /// Whether congestion control may grow the window.
    pub grows: bool,
    /// Whether an ACK of new data restarts the retransmission timer (RFC 6298, section 5.3).
    pub restarts_timer: bool,
}

impl Decisions {
    /// Nothing begins or ends, and the window does not grow.
    pub const STAY: Self = Self { step: Step::Stay, lost_below: None, grows: false, restarts_timer: true };
    /// Nothing begins or ends, and the window grows.
    pub const GROW: Self = Self { grows: true, ..Self::STAY };
}

/// Whether fast recovery begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Nothing begins or ends.
    Stay,
    /// Fast recovery begins, and congestion control learns of the loss.
    Enter {
        /// Bytes that Limited Transmit has sent: they do not count in the flight (RFC 3042, section 2).
        limited: u64,
    },
    /// The window is restored to what it was before the timeout that opened the episode.
    Restore(Resume),
    /// A tail loss probe has repaired a loss: congestion control learns of it, and nothing is sent again.
    Repaired,
    /// A retransmission was lost: congestion control learns of another loss.
    LostAgain,
    /// Fast recovery ends.
    Leave {
        /// The upper limit of cwnd from now on, in bytes.
        cwnd_at_most: u64,
    },
    /// Fast recovery ends, and kept a window of its own.
    LeaveWith {
        /// cwnd from now on, in bytes.
        cwnd: u64,
    },
}

/// The next segment to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The segment at this position, again.
    Retransmit {
        /// Where it begins.
        at: u64,
        /// Bytes that may go; `u64::MAX` for a retransmission that goes whatever the window.
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
    /// Creates a retransmission that goes whatever the window.
    pub const fn owed(at: u64) -> Self {
        Self::Retransmit { at, room: u64::MAX, mark: HighRxt::Advance }
    }
}

/// Whether a retransmission moves HighRxt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HighRxt {
    /// HighRxt moves to its end.
    Advance,
    /// HighRxt stays: for a rescue retransmission (RFC 6675, section 4, NextSeg rule 4), a tail loss probe, and what lies
    /// below HighRxt.
    Leave,
}

/// A timer that loss recovery runs beside the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alarm {
    /// The timer is off.
    None,
    /// At that instant, what has not been reported counts as lost.
    Reordering(Instant),
    /// At that instant a probe goes; or when the retransmission timer expires, and in its place, if that is earlier.
    Probe(Instant),
}

impl Alarm {
    /// Returns when the alarm rings, or [`Instant::NEVER`].
    pub fn at(self) -> Instant {
        match self {
            Self::None => Instant::NEVER,
            Self::Reordering(at) | Self::Probe(at) => at,
        }
    }

    /// Returns whether the alarm has rung.
    pub fn due(self, now: Instant) -> bool {
        self.at() <= now
    }
}

/// How sending goes on after a spurious timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// With the next unsent segment; nothing is deemed lost any more.
    NextUnsent,
    /// By sending everything again, as after a genuine timeout.
    GoBackN,
}

/// How closely a recovery follows its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attention {
    /// An ACK of new data without SACK blocks would change nothing in the recovery and let the window grow, and new data
    /// may go as far as cwnd exceeds what is outstanding. The driver shows it neither such ACKs nor the new data.
    Quiet,
    /// The recovery sees every ACK and every transmission.
    EachAck,
    /// It also sees what each ACK has delivered, and runs an [`alarm`](Recovery::alarm). It does so throughout a connection.
    EachDelivery,
}

/// Finds losses and repairs them. It holds neither the window nor the retransmission timer.
///
/// Four of its ten methods have a default: RACK-TLP alone has an alarm, and spreads the cut that an echo asks for.
pub trait Recovery: Send + DuplicateRecovery {
    /// Decides about an ACK that the scoreboard has processed.
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions;
    /// Learns that the retransmission timer has expired: everything outstanding is deemed lost.
    fn on_timeout(&mut self, view: &View);
    /// Learns that the open episode was judged spurious, and decides how sending goes on.
    fn on_spurious(&mut self, cause: Cause) -> Resume;
    /// Learns that an ECN echo has cut the window, after [`on_ack`](Self::on_ack) with its ACK.
    fn on_echo(&mut self, _: &Scoreboard, _: &View) {}
    /// Returns cwnd for observers, if it comes down to ssthresh bit by bit after an echo.
    fn cwnd_after_echo(&self, _: &Scoreboard, _: &Window, _: &View) -> Option<u64> {
        None
    }
    /// Learns that `sent` leaves now.
    fn on_sent(&mut self, now: Instant, sent: Block, kind: Kind);
    /// Returns the ACKs that it wants to see from now on.
    fn attention(&self) -> Attention;
    /// Returns its alarm as things stand.
    fn alarm(&self, _: &Scoreboard, _: &View) -> Alarm {
        Alarm::None
    }
    /// Decides about its alarm. A probe is owed from then on until [`Recovery::next`] returns it.
    fn on_alarm(&mut self, _: &Scoreboard, _: &View) -> Decisions {
        Decisions::STAY
    }
    /// Returns what goes out next; `unsent` says whether there is new data that the peer has room for. An answer of new
    /// data holds while there is some, until the next ACK or timeout: the driver takes what it sends off the room.
    fn next(&mut self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next;
}
