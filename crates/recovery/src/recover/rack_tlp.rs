//! *Looks at* when segments were sent, and which of them have been delivered.
//! *Decides* that a segment is lost if it was sent before a delivered one by more than a reordering
//! window, retransmissions included; the window widens with DSACKs. After two silent round trips it
//! sends a probe to get an ACK.
//! *Blind to* a delay of all packets: the probe is sent, and then the timer expires all the same.
//! After a timeout it goes back to the first segment and deems everything lost. Without SACK it
//! repairs as NewReno does.
//! *From* RFC 8985, sections 6 and 7. Over SCTP it is applied to chunks, path by path.

use super::fast_recovery::{FastRecovery, Phase, Signal};
use super::newreno::NewReno;
use super::policy::WithPolicy;
use super::prr::{AFTER_ECE, Prr, REDUCTION, Reduction};
use super::rack::{Rack, Repairing};
use super::rack_lost::{Found, LostSegments};
use super::rules::{BELOW_SPURIOUS_POINT, BUGFIX, DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, RESUME, Rules};
use super::tlp::{Tail, Tlp};
use super::{Alarm, Attention, Decisions, HighRxt, Next, Recovery, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::registry::{Entry, Parameter, Weakness};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "rack-tlp",
    summary: "data sent before delivered data is lost after a reordering window; a probe finds losses at the tail",
    source: "RFC 8985",
    parameters: &[
        DUPLICATE_THRESHOLD,
        LIMITED_TRANSMIT,
        BUGFIX,
        BELOW_SPURIOUS_POINT,
        RESUME,
        REDUCTION,
        AFTER_ECE,
        Parameter::milliseconds(
            "max_ack_delay_ms",
            "the peer's ACK delay, which a probe for a single segment waits in addition (section 7.2)",
            200,
            (Duration::ZERO, Duration::from_secs(10)),
        ),
    ],
    // RACK waits a round trip for a segment. On a path without delay that wait is zero, so each ACK
    // at one instant declares everything in flight lost.
    weakness: Some(Weakness::StormsWithoutDelay),
    ..Entry::recovery(|parameters| {
        let max_ack_delay = parameters.duration("max_ack_delay_ms");
        let reductions = [REDUCTION, AFTER_ECE].map(|parameter| Reduction::of(parameters, &parameter));
        Box::new(RackTlp::new(Rules::of(parameters), reductions, max_ack_delay))
    })
};

/// RACK deems segments lost by time, TLP probes the tail, and PRR paces the repair.
#[derive(Clone, Debug)]
pub struct RackTlp {
    recovery: FastRecovery,
    prr: Prr,
    /// The reduction after an ECN echo.
    after_ece: Prr,
    /// The reduction after an echo ends when this position is acknowledged; 0 if there is none.
    reduced_below: u64,
    rack: Rack,
    lost: LostSegments,
    tlp: Tlp,
    /// When congestion control last learned of a loss. A lost retransmission that was sent earlier
    /// belongs to the same window and is not reported again.
    loss_signalled_at: Instant,
    /// The recovery for connections without SACK, which the RFC does not cover.
    without_sack: WithPolicy<NewReno>,
}

impl RackTlp {
    /// Creates the algorithm, with or without PRR after a loss and after an echo, for a peer that delays ACKs by no more than
    /// `max_ack_delay`.
    pub fn new(rules: Rules, [after_loss, after_ece]: [Reduction; 2], max_ack_delay: Duration) -> Self {
        Self {
            recovery: FastRecovery::by_delivery(rules),
            prr: Prr::new(after_loss),
            after_ece: Prr::new(after_ece),
            reduced_below: 0,
            rack: Rack::new(),
            lost: LostSegments::new(rules.duplicate_threshold),
            tlp: Tlp::new(max_ack_delay),
            loss_signalled_at: Instant::ZERO,
            without_sack: WithPolicy::new(FastRecovery::new(rules), NewReno::default()),
        }
    }

    fn repairing(&self) -> Repairing {
        if self.recovery.phase() == Phase::Open { Repairing::Nothing } else { Repairing::Losses }
    }

    /// Begins or continues fast recovery if losses were found.
    fn follow(&mut self, found: Found, board: &Scoreboard, view: &View) -> Decisions {
        let mut step = Step::Stay;
        // Section 9.3: the lost retransmission cuts the window. PRR would send less anyway.
        if self.recovery.in_fast_recovery()
            && self.prr.is_at_once()
            && found.again.is_some_and(|sent| sent >= self.loss_signalled_at)
        {
            (step, self.loss_signalled_at) = (Step::LostRetransmission, view.now);
        }
        // A loss above the last recovery point begins its own recovery, even if it was found before
        // that point was reached.
        let lost = found.news || self.recovery.phase() == Phase::Open && found.lost_below > view.una;
        if lost && self.recovery.may_begin(view.una) {
            self.tlp.forget();
            (step, self.loss_signalled_at) = (self.recovery.enter(view.nxt), view.now);
            self.prr.begin(board);
            self.reduced_below = 0;
            if board.resent_below() > view.una {
                self.recovery.cancel_forced();
            }
        }
        if found.news {
            self.prr.on_loss();
        }
        let lost_below = self.recovery.in_fast_recovery().then_some(found.lost_below);
        Decisions { step, lost_below, ..Decisions::STAY }
    }

    fn on_sacked(
        &mut self,
        acked: &Acked,
        (before, signal): (Phase, Signal),
        board: &Scoreboard,
        view: &View,
    ) -> Decisions {
        let needless = !acked.dsacks.is_empty() && !self.tlp.is_answered_by_dsack(acked);
        let repaired = self.tlp.on_ack(acked, view.now);
        self.rack.on_ack(acked, board.delivered(), acked.cumulative.max(acked.sacked_up_to), view);
        self.prr.on_ack(acked, board);
        self.after_ece.on_ack(acked, board);
        if acked.cumulative >= self.reduced_below {
            self.reduced_below = 0;
        }
        let leaving = before != Phase::Open && self.recovery.phase() == Phase::Open;
        self.rack.adapt(needless, if leaving { Repairing::Ending } else { self.repairing() }, view);
        let found = self.lost.detect(&self.rack, board, self.repairing(), view);
        let decisions = self.follow(found, board, view);
        match (decisions.step, signal, repaired) {
            (Step::Stay, Signal::Recovered, _) => {
                Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..decisions }
            }
            (Step::Stay, _, true) => Decisions { step: Step::Repaired, ..decisions },
            (Step::Stay, Signal::Progress, _) if !self.is_reduced() => {
                Decisions { lost_below: decisions.lost_below, ..Decisions::GROW }
            }
            _ => decisions,
        }
    }

    /// Returns whether the flight is being reduced after an echo.
    fn is_reduced(&self) -> bool {
        self.reduced_below > 0
    }

    /// Returns pipe without the lost retransmissions, in bytes.
    fn pipe(&self, board: &Scoreboard) -> u64 {
        board.pipe().saturating_sub(self.lost.bytes_of_lost_retransmissions())
    }

    /// Returns the probe if one is due: new data if there is some, else a retransmission of the
    /// highest segment (section 7.3).
    fn probe(&self, board: &Scoreboard, view: &View, unsent: bool) -> Option<Next> {
        if !self.tlp.is_due() {
            return None;
        }
        if unsent {
            return Some(Next::New { room: u64::from(view.mss) });
        }
        let at = board.last_hole()?;
        Some(Next::Retransmit { at, room: u64::MAX, mark: HighRxt::Leave })
    }
}

impl Recovery for RackTlp {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        if !view.sack {
            return self.without_sack.on_ack(acked, board, view);
        }
        let before = self.recovery.phase();
        let signal = self.recovery.on_ack(acked, view);
        self.on_sacked(acked, (before, signal), board, view)
    }

    fn on_timeout(&mut self, view: &View) {
        self.without_sack.on_timeout(view);
        self.recovery.on_timeout(view.nxt);
        self.prr.on_timeout(view.una);
        self.after_ece.on_timeout(view.una);
        self.reduced_below = 0;
        self.lost.forget_retransmissions();
        self.tlp.forget();
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        // `without_sack` has the same rules, so its result is the same.
        self.without_sack.on_spurious(cause);
        self.reduced_below = 0;
        let resume = self.recovery.on_spurious(cause);
        if resume == Resume::NextUnsent {
            self.lost.forget_retransmissions();
        }
        resume
    }

    fn on_ece(&mut self, board: &Scoreboard, view: &View) {
        if self.recovery.phase() == Phase::Open && view.sack && !self.after_ece.is_at_once() {
            self.after_ece.begin(board);
            self.reduced_below = view.nxt;
        }
    }

    fn cwnd_after_echo(&self, board: &Scoreboard, window: &Window, view: &View) -> Option<u64> {
        self.is_reduced().then(|| self.after_ece.cwnd(self.pipe(board), window, view.mss))
    }

    fn on_sent(&mut self, now: Instant, sent: Block, kind: Kind) {
        self.without_sack.on_sent(now, sent, kind);
        self.recovery.on_sent(sent, kind);
        self.prr.on_sent(sent);
        self.after_ece.on_sent(sent);
        let again = matches!(kind, Kind::Retransmission(_));
        if self.tlp.is_due() {
            self.tlp.on_sent(now, sent.end, again);
        } else if again {
            self.lost.on_retransmission(now, sent.start);
        }
    }

    fn attention(&self) -> Attention {
        Attention::EachDelivery
    }

    fn alarm(&self, board: &Scoreboard, view: &View) -> Alarm {
        if let Some(at) = self.lost.timeout() {
            return Alarm::Reordering(at);
        }
        match self.tlp.alarm(Tail::of(board), view) {
            Some(at) if self.recovery.phase() == Phase::Open => Alarm::Probe(at),
            _ => Alarm::None,
        }
    }

    fn on_alarm(&mut self, board: &Scoreboard, view: &View) -> Decisions {
        if self.lost.timeout().is_some() {
            self.prr.on_alarm();
            self.after_ece.on_alarm();
            let found = self.lost.detect(&self.rack, board, self.repairing(), view);
            return self.follow(found, board, view);
        }
        self.tlp.on_alarm(Tail::of(board), view);
        Decisions::STAY
    }

    fn next(&mut self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next {
        if !view.sack {
            return self.without_sack.next(board, window, view, unsent);
        }
        if let Some(probe) = self.probe(board, view, unsent) {
            return probe;
        }
        let again = self.lost.first_lost_retransmission();
        let pipe = self.pipe(board);
        if again.is_none() && !self.recovery.in_fast_recovery() {
            if self.is_reduced() {
                return Next::New { room: self.after_ece.room(pipe, window, view.mss) };
            }
            return self.recovery.next(board, window, view);
        }
        let room = match self.recovery.phase() {
            Phase::FastRecovery { .. } => self.prr.room(pipe, window, view.mss),
            _ => window.cwnd.saturating_sub(pipe),
        };
        if let Some(forced) = self.recovery.forced(board) {
            return forced;
        }
        if let Some(at) = again {
            return Next::Retransmit { at, room, mark: HighRxt::Leave };
        }
        match board.first_hole(board.resent_below(), board.lost_below()) {
            Some(at) => Next::Retransmit { at, room, mark: HighRxt::Advance },
            None => Next::New { room },
        }
    }
}
