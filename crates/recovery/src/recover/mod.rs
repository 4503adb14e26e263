//! Loss recovery: which segments are lost, and which segment is sent next. One file per algorithm.

pub mod fast_recovery;
mod late_fast_retransmit;
pub mod policy;
pub mod prr;
pub(crate) mod rack;
mod rack_lost;
mod rack_min_rtt;
pub mod rules;
pub(crate) mod tlp;

crate::registry::algorithms! { reno, newreno, reno_sack, newreno_sack, fack, rfc6675, rack_tlp, tcp_ncr }
crate::duplicate::duplicate!(Recovery by DuplicateRecovery);

use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// Loss recovery's decisions about an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decisions {
    /// Whether fast recovery begins or ends.
    pub step: Step,
    /// Everything below this position that is not SACKed is deemed lost; `None` changes nothing.
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
    /// Duplicate ACKs show that the timer expired too early. Its timeout was spurious, but the loss
    /// that they report counts.
    SpuriousTimeout,
    /// A tail loss probe has repaired a loss: congestion control learns of it, and nothing is
    /// retransmitted.
    Repaired,
    /// A retransmission was lost: congestion control learns of another loss.
    LostRetransmission,
    /// Data that seemed lost was only overtaken, and the sender resumes as before.
    Reordered(Window),
    /// Fast recovery ends.
    Leave {
        /// The upper limit of cwnd from now on, in bytes.
        cwnd_at_most: u64,
    },
    /// Fast recovery ends. It kept a window of its own, which becomes cwnd.
    LeaveWith {
        /// cwnd from now on, in bytes.
        cwnd: u64,
    },
}

/// The next segment to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A retransmission of the segment at this position.
    Retransmit {
        /// The position where the segment begins.
        at: u64,
        /// Bytes that may be sent; `u64::MAX` for a retransmission that ignores the window.
        room: u64,
        /// Whether the retransmission moves RFC 6675's HighRxt.
        mark: HighRxt,
    },
    /// New data.
    New {
        /// Bytes that may be sent.
        room: u64,
    },
}

impl Next {
    /// Retransmits the hole at `hole`, or sends new data if there is none.
    pub const fn hole_or_new(hole: Option<u64>, room: u64) -> Self {
        match hole {
            Some(at) => Self::Retransmit { at, room, mark: HighRxt::Advance },
            None => Self::New { room },
        }
    }

    /// Creates a retransmission that ignores the window.
    pub const fn forced(at: u64) -> Self {
        Self::Retransmit { at, room: u64::MAX, mark: HighRxt::Advance }
    }
}

/// Whether a retransmission moves HighRxt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HighRxt {
    /// HighRxt moves to the end of the segment.
    Advance,
    /// HighRxt stays: for a rescue retransmission (RFC 6675, section 4, NextSeg rule 4), a tail
    /// loss probe, or a segment below HighRxt.
    Leave,
}

/// A timer that loss recovery runs beside the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alarm {
    /// The timer is off.
    None,
    /// At this instant, overdue segments that have not been delivered count as lost.
    Reordering(Instant),
    /// At this instant a probe is sent. If the retransmission timer expires earlier, the probe is
    /// sent then, in place of the timeout.
    Probe(Instant),
}

impl Alarm {
    /// Returns when the alarm fires, or [`Instant::NEVER`].
    pub fn at(self) -> Instant {
        match self {
            Self::None => Instant::NEVER,
            Self::Reordering(at) | Self::Probe(at) => at,
        }
    }

    /// Returns whether the alarm fires at `now` or earlier.
    pub fn due(self, now: Instant) -> bool {
        self.at() <= now
    }
}

/// How sending continues after a spurious timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// With the next unsent segment; nothing is deemed lost any more.
    NextUnsent,
    /// By retransmitting everything, as after a genuine timeout.
    GoBackN,
}

/// How closely a recovery follows its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attention {
    /// An ACK of new data without SACK blocks would only let the window grow. New data may be sent
    /// as far as cwnd exceeds the outstanding bytes. The driver shows the recovery neither these
    /// ACKs nor the new data.
    Quiet,
    /// The recovery sees every ACK and every transmission.
    EachAck,
    /// The recovery also sees the deliveries of each ACK, and runs an [`alarm`](Recovery::alarm).
    /// It keeps this level throughout a connection.
    EachDelivery,
}

/// Finds losses and repairs them. It holds neither the window nor the retransmission timer.
///
/// Four of its ten methods have a default. Only RACK-TLP overrides them: it has an alarm, and
/// spreads the window reduction after an ECN echo.
pub trait Recovery: Send + DuplicateRecovery {
    /// Decides about an ACK that the scoreboard has processed.
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions;
    /// Learns that the retransmission timer has expired: everything outstanding is deemed lost.
    fn on_timeout(&mut self, view: &View);
    /// Learns that the open episode was judged spurious, and decides how sending continues.
    fn on_spurious(&mut self, cause: Cause) -> Resume;
    /// Learns that an ECN echo has cut the window. Called after [`on_ack`](Self::on_ack) with the
    /// echo's ACK.
    fn on_ece(&mut self, _: &Scoreboard, _: &View) {}
    /// Returns cwnd for observers while it falls gradually to ssthresh after an echo, else `None`.
    fn cwnd_after_echo(&self, _: &Scoreboard, _: &Window, _: &View) -> Option<u64> {
        None
    }
    /// Learns that `sent` is sent at `now`.
    fn on_sent(&mut self, now: Instant, sent: Block, kind: Kind);
    /// Returns which ACKs and transmissions the recovery needs to see from now on.
    fn attention(&self) -> Attention;
    /// Returns the current alarm.
    fn alarm(&self, _: &Scoreboard, _: &View) -> Alarm {
        Alarm::None
    }
    /// Decides when the alarm fires. After [`Alarm::Probe`], a probe is owed until
    /// [`Recovery::next`] returns it.
    fn on_alarm(&mut self, _: &Scoreboard, _: &View) -> Decisions {
        Decisions::STAY
    }
    /// Returns the next segment to send. `unsent` says whether there is new data that fits the
    /// peer's window. A returned [`Next::New`] stays valid until the next ACK or timeout, as long
    /// as there is new data. The driver subtracts the bytes that it sends from its room.
    fn next(&mut self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next;
}
