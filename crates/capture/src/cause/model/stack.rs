//! A model of one sender, driven by the packets that passed between the two ends.
//!
//! *Looks at* when segments left and ACKs arrived, in the sender's time, and the contents of these
//! ACKs.
//! *Decides* the cause of a retransmission, the one whose time and circumstances fit best, and its
//! cost.
//! *Blind to* everything that packets do not show: settings of a connection, the application, other
//! connections' congestion.
//! *From* RFC 6298, RFC 8985 and RFC 5682; for undone timeouts RFC 3522 and RFC 3708, in the forms that Linux has.

use super::costs::{
    ACTIVE, BY_TIMER, GOES_ON, LOST_AGAIN, NEW_DATA, ONE_SEGMENT, PROBE_LEFT_OUT, REPAIR_LEFT_OUT, UNEXPLAINED,
    UNSEEN_EVIDENCE, UNSEEN_REPAIR, UNSEEN_REPORT, UNSEEN_TIMEOUT, WITHOUT_EVIDENCE,
};
use super::duplicates::{DUPLICATES, Duplicates};
use super::fit::{HELD, clocked, departure, is_at_once, ln, misfit, misfit_of_timer};
use super::state::{State, Undo};
use super::{AckReceived, Cause, Retransmitted, Settings};
use crate::cause::sender::Overtaken;
use crate::order::AckPlace;
use eifel_base::ranges::Block;

/// The longest and the shortest two jiffies of Linux, in nanoseconds.
const TICK: u64 = 8_000_000;
const SHORTEST_TICK: u64 = 2_000_000;
const DELAYED_ACK: u64 = 200_000_000;
const MOST_BACK_OFF: u32 = 10;

#[derive(Clone, Debug)]
pub(crate) struct StackModel {
    settings: &'static Settings,
    state: State,
    back_off: u32,
    /// Whether a tail-loss probe is under way.
    probed: bool,
    /// What go-back-N has still to repair: from the end of the last retransmission, if a timeout or
    /// go-back-N sent it, otherwise from `u64::MAX`.
    gone_back: Block,
    /// The end of the data that fast recovery repairs; 0 in go-back-N.
    recovers_until: u64,
    /// When a retransmission last set the timer, in nanoseconds.
    armed: u64,
    /// The start of the last retransmission, and `nxt` when it left; (`u64::MAX`, 0) for go-back-N.
    last_retransmission: (u64, u64),
    /// The `nxt` at the time when the last acknowledged retransmission left. By RACK all data below
    /// it that are not acknowledged or reported are lost (RFC 8985, section 6.2).
    left_before: u64,
    duplicates: Duplicates,
    /// The retransmissions of data that SACK had reported, outside of go-back-N by a sender that forgets.
    reports_lost: u32,
    cost: f64,
}

impl StackModel {
    /// Returns the model of a sender with nothing outstanding.
    pub(crate) fn new(settings: &'static Settings) -> Self {
        Self {
            settings,
            state: State::Open,
            back_off: 0,
            probed: false,
            gone_back: Block { start: u64::MAX, end: 0 },
            recovers_until: 0,
            armed: 0,
            last_retransmission: (u64::MAX, 0),
            left_before: 0,
            duplicates: Duplicates::default(),
            reports_lost: 0,
            cost: settings.rarity,
        }
    }

    /// Returns the name of the stack that the model stands for.
    pub(crate) fn name(&self) -> &'static str {
        self.settings.name
    }

    /// Returns the cost of everything so far that the model does not explain; 0 if it explains
    /// everything.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    /// Returns whether the model considers nothing lost.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Returns whether the model would ignore an ACK of new data without SACK blocks.
    pub(crate) fn is_idle(&self) -> bool {
        let acknowledged = self.last_retransmission.0 == u64::MAX || self.left_before == self.last_retransmission.1;
        self.is_open() && self.back_off == 0 && !self.probed && self.duplicates.seen == 0 && acknowledged
    }

    /// Returns the causes that a retransmission may have, each with the cost of what it leaves
    /// unexplained.
    pub(crate) fn candidates(&self, resent: &Retransmitted) -> impl Iterator<Item = (Cause, f64)> + use<> {
        let known = [self.timeout(resent), self.tail_loss_probe(resent), self.go_back_n(resent), self.fast(resent)];
        known.into_iter().flatten().chain([(Cause::Unknown, UNEXPLAINED)])
    }

    /// Accepts a cause, and moves on as the sender would have.
    pub(crate) fn take(&mut self, cause: Cause, cost: f64, resent: &Retransmitted) {
        self.cost += cost;
        self.enter(cause, resent);
    }

    /// Returns whether both models are in states of the same kind.
    pub(crate) fn is_in_state_of(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.state) == std::mem::discriminant(&other.state)
    }

    fn timeout(&self, resent: &Retransmitted) -> Option<(Cause, f64)> {
        // The timer repairs the oldest segment. A sender that repeats acknowledged data has not
        // received their ACK.
        let acked_here = resent.end <= resent.una;
        if acked_here && resent.may_be_unseen {
            let repeated = resent.repeated || self.is_last_again(resent);
            let repaired = resent.suspected_lost && !repeated;
            // The timer was set at the earliest by the ACK that ends where the segment starts, or
            // by its last expiry.
            let began = match resent.ack_place {
                AckPlace::End(received) => received.max(self.armed),
                AckPlace::Within => return None,
                AckPlace::Unknown => 0,
            };
            let expected = self.rto(resent) << self.back_off.min(MOST_BACK_OFF);
            let took = resent.now.saturating_sub(began);
            let early = if took < expected { misfit(took, expected) } else { 0.0 };
            let cost = early
                + match (self.was_silent(resent), repaired) {
                    (true, _) => UNSEEN_REPAIR,
                    // Only the timer goes back to the start of the last retransmission.
                    (false, _) if repeated && resent.follows_another => UNSEEN_REPAIR,
                    (false, true) => ACTIVE + REPAIR_LEFT_OUT,
                    (false, false) => ACTIVE,
                };
            return Some((Cause::Rto, cost));
        }
        if acked_here || resent.start > resent.una {
            return None;
        }
        let expected = self.rto(resent) << self.back_off.min(MOST_BACK_OFF);
        let mut cost = misfit_of_timer(resent, self.timer_set(resent), expected);
        if let State::Recovery { partial: Some(partial), .. } = self.state
            && self.settings.impatient
        {
            cost = cost.min(misfit_of_timer(resent, (partial, partial), expected));
        }
        if self.would_probe(resent) {
            cost += PROBE_LEFT_OUT;
        }
        // Far from the sender, times tell less than the ACKs that it received.
        let partial = matches!(self.state, State::Recovery { high, .. } if resent.may_be_unseen && resent.start < high);
        if (resent.missing || partial) && !resent.repeated && !matches!(self.state, State::Loss { .. }) {
            cost += REPAIR_LEFT_OUT;
        }
        Some((Cause::Rto, cost))
    }

    fn tail_loss_probe(&self, resent: &Retransmitted) -> Option<(Cause, f64)> {
        if resent.end != resent.nxt || !self.would_probe(resent) {
            return None;
        }
        let since = resent.last_sent.max(resent.timer_set.1);
        let (smoothed, _) = resent.estimate.unwrap_or((500_000_000, 0));
        let patience = |tick| smoothed * 2 + if resent.segments == 1 { DELAYED_ACK } else { tick };
        // RFC 8985, section 7.2: a probe leaves no later than the retransmission timer would
        // expire.
        let rest = (resent.timer_set.1 + self.rto(resent)).saturating_sub(since).max(TICK);
        let from = since.min(resent.timer_set.0.max(self.armed));
        // Between the two, every time fits.
        let took = resent.now.saturating_sub(since);
        let patience = took.clamp(patience(SHORTEST_TICK), patience(TICK));
        Some((Cause::Tlp, misfit_of_timer(resent, (from, since), patience.min(rest))))
    }

    fn go_back_n(&self, resent: &Retransmitted) -> Option<(Cause, f64)> {
        let acked_here = resent.end <= resent.una;
        match self.state {
            State::Loss { high, reached, answered, .. } if resent.start < high => {
                let too_early = if answered { 0.0 } else { WITHOUT_EVIDENCE };
                let lost_again = match Self::is_repeated(resent) && resent.start < reached {
                    // Fast recovery replaces go-back-N.
                    true if self.is_lost_again(resent) && !resent.may_be_unseen => WITHOUT_EVIDENCE,
                    true => LOST_AGAIN,
                    false => 0.0,
                };
                let report = if self.settings.forgets_sack { 0.0 } else { self.lost_report(resent) };
                Some((Cause::Loss, clocked(resent) + too_early + lost_again + report))
            }
            // The sender would not send acknowledged data: it continues what it began before it
            // received the ACK.
            _ if acked_here && self.is_gone_back_to(resent) => {
                // ACKs drive go-back-N, so it is never silent for as long as a timeout.
                Some((Cause::Loss, if self.was_silent(resent) { UNSEEN_TIMEOUT } else { 0.0 }))
            }
            State::Open if self.follows_unseen_timeout(resent) => Some((Cause::Loss, clocked(resent) + UNSEEN_REPAIR)),
            // Segments that a path has held pass after the ACKs of the segments held before them.
            _ if resent.may_be_unseen && self.goes_on(resent) => Some((Cause::Loss, GOES_ON)),
            // The retransmission by the timer itself may have been lost before the capture point, or
            // its original, so that it looks like one.
            _ if resent.may_be_unseen
                && !resent.missing
                && (self.was_silent(resent) || self.lacks_duplicates(resent)) =>
            {
                Some((Cause::Loss, clocked(resent) + UNSEEN_TIMEOUT))
            }
            _ => None,
        }
    }

    /// Returns whether a timeout seems to have repeated the segment in front of this one. The capture shows it as new
    /// data if its original was lost before the capture point.
    fn follows_unseen_timeout(&self, resent: &Retransmitted) -> bool {
        let Settings { variance_at_least, rto_at_least, .. } = self.settings;
        let is_long = |(silence, alone): (u64, u64)| silence >= (alone + variance_at_least).max(*rto_at_least) / 4 * 3;
        self.is_open() && resent.silence_before.is_some_and(is_long)
    }

    /// Returns whether fast recovery's last retransmission was of the same segment.
    fn is_last_again(&self, resent: &Retransmitted) -> bool {
        let (last, _) = self.last_retransmission;
        last == resent.start
    }

    /// Returns whether the retransmission starts where go-back-N stopped.
    fn continues(&self, resent: &Retransmitted) -> bool {
        resent.follows_another && resent.start == self.gone_back.start
    }

    /// Returns whether the retransmission starts at or above the position where go-back-N stopped, in
    /// the data that it repairs.
    fn is_gone_back_to(&self, resent: &Retransmitted) -> bool {
        (self.gone_back.start..self.gone_back.end).contains(&resent.start)
    }

    /// Returns whether the same holds, and no new data were sent in between.
    fn goes_on(&self, resent: &Retransmitted) -> bool {
        resent.follows_another && self.is_gone_back_to(resent)
    }

    /// Returns whether the sender has sent nothing for at least three quarters of its timeout.
    fn was_silent(&self, resent: &Retransmitted) -> bool {
        resent.now.saturating_sub(resent.last_sent) >= self.rto(resent) / 4 * 3
    }

    fn fast(&self, resent: &Retransmitted) -> Option<(Cause, f64)> {
        let acked_here = resent.end <= resent.una && resent.may_be_unseen;
        let evident = match self.state {
            // A partial ACK ends where the retransmission starts.
            _ if acked_here => {
                self.is_reported_by_rack(resent)
                    || resent.in_gap
                    || resent.suspected_lost && resent.ack_place != AckPlace::Within
                    || self.recovers(resent)
            }
            // A partial ACK is evidence too. The window may delay the repair until a later ACK.
            State::Recovery { high, .. } => {
                self.is_reported(resent) || resent.start <= resent.una && resent.start < high
            }
            State::Open | State::Loss { .. } => self.is_reported(resent),
        };
        let in_loss = matches!(self.state, State::Loss { high, .. } if resent.start < high);
        let mut cost = match (acked_here, evident) {
            // It is unknown when it left.
            (true, true) if self.was_silent(resent) => HELD,
            (true, true) => 0.0,
            (true, false) => WITHOUT_EVIDENCE,
            (false, true) => self.in_time(resent),
            (false, false) if resent.may_be_unseen && !self.lacks_duplicates(resent) => {
                clocked(resent) + UNSEEN_EVIDENCE
            }
            // No ACK reports data above a FIN, so nothing repairs it fast.
            (false, false) if !resent.may_be_unseen && resent.start + 1 == resent.nxt => return None,
            (false, false) => clocked(resent) + WITHOUT_EVIDENCE,
        };
        // Its own ACK is no evidence that it was lost.
        if acked_here && self.is_last_again(resent) {
            cost += WITHOUT_EVIDENCE;
        }
        if in_loss && !self.is_lost_again(resent) {
            cost += if resent.may_be_unseen { GOES_ON } else { WITHOUT_EVIDENCE };
        } else if self.continues(resent) {
            cost += GOES_ON;
        }
        if self.follows_unseen_timeout(resent) {
            cost += ONE_SEGMENT;
        }
        cost += self.lost_report(resent);
        if let Some(duplicates) = resent.duplicates
            && !acked_here
        {
            cost += self.without_sack(resent, duplicates);
        }
        // Without SACK only the timer detects a lost retransmission.
        if resent.repeated && !(resent.may_be_unseen && self.is_reported_by_rack(resent)) {
            cost += match self.overtaken(resent) {
                Some(_) => 0.0,
                None if resent.sack() && resent.may_be_unseen => LOST_AGAIN,
                None => WITHOUT_EVIDENCE,
            };
        }
        Some((Cause::Fast, cost))
    }

    /// Returns the cost of repeating data that SACK has reported, for a sender that keeps these reports.
    fn lost_report(&self, resent: &Retransmitted) -> f64 {
        match (resent.reported, resent.may_be_unseen) {
            (false, _) => 0.0,
            (true, true) => UNSEEN_REPORT / f64::from(self.reports_lost + 1),
            (true, false) => WITHOUT_EVIDENCE,
        }
    }

    /// Returns the cost of the time at which a repair leaves: with an ACK, or by RACK's timer. That
    /// timer waits for a reordering window of at most the smoothed round trip.
    fn in_time(&self, resent: &Retransmitted) -> f64 {
        let by_ack = clocked(resent);
        let Some(Overtaken { from, advanced }) = self.overtaken(resent) else { return by_ack };
        let (smoothed, variation) = resent.estimate.unwrap_or((500_000_000, 0));
        let until = advanced.max(from).saturating_add(smoothed + variation + TICK);
        if (from..=until).contains(&resent.now) { by_ack.min(BY_TIMER) } else { by_ack }
    }

    /// Returns when RACK declares the segment lost, if the stack uses RACK.
    fn overtaken(&self, resent: &Retransmitted) -> Option<Overtaken> {
        resent.overtaken.filter(|_| self.settings.rack)
    }

    /// Returns whether the segment may have been sent again before, perhaps where the capture did not show it.
    fn is_repeated(resent: &Retransmitted) -> bool {
        resent.repeated || resent.may_be_unseen && resent.stamp.is_some()
    }

    /// Returns whether RACK finds that go-back-N's retransmission of the segment was lost. Then
    /// Linux begins a fast recovery.
    fn is_lost_again(&self, resent: &Retransmitted) -> bool {
        matches!(self.state, State::Loss { reached, .. } if Self::is_repeated(resent) && resent.start < reached)
            && self.overtaken(resent).is_some_and(|overtaken| overtaken.from <= resent.now)
    }

    /// Returns whether too few duplicate ACKs have passed for a fast retransmission without SACK. The
    /// sender has received no more of them than have passed here.
    fn lacks_duplicates(&self, resent: &Retransmitted) -> bool {
        let open = matches!(self.state, State::Open) && resent.end > resent.una;
        open && !resent.sack() && resent.duplicates_passed < DUPLICATES
    }

    /// Returns whether the retransmission goes on with a recovery. The sender may not have received
    /// the ACKs that end it.
    fn recovers(&self, resent: &Retransmitted) -> bool {
        let (last, _) = self.last_retransmission;
        last < resent.start && resent.start < self.recovers_until
    }

    /// Returns the cost of a fast retransmission by a sender without SACK. It repairs the oldest
    /// segment only (RFC 6582), at the duplicate ACK that reaches its threshold.
    fn without_sack(&self, resent: &Retransmitted, duplicates: u32) -> f64 {
        if resent.start > resent.una {
            return WITHOUT_EVIDENCE;
        }
        match self.state {
            State::Open if duplicates > self.duplicates.threshold => {
                ln(f64::from(duplicates) / f64::from(self.duplicates.threshold)) / 2.0
            }
            State::Loss { high, .. } if resent.start < high => WITHOUT_EVIDENCE,
            _ => 0.0,
        }
    }

    /// Returns whether ACKs report the loss. Without SACK the third duplicate ACK does, and the
    /// sender reacts to it at once.
    fn is_reported(&self, resent: &Retransmitted) -> bool {
        let in_time = resent.sack() || resent.may_be_unseen || is_at_once(resent, resent.last_ack);
        self.overtaken(resent).is_some() || self.is_reported_by_rack(resent) || resent.missing && in_time
    }

    /// Returns whether by RACK the ACK of a retransmission reports the loss.
    fn is_reported_by_rack(&self, resent: &Retransmitted) -> bool {
        let goes_on = resent.follows_another || is_at_once(resent, resent.last_ack);
        self.settings.rack && resent.sack() && goes_on && resent.start < self.left_before
    }

    fn would_probe(&self, resent: &Retransmitted) -> bool {
        self.settings.probes_tail
            && resent.sack()
            && !self.probed
            && !resent.missing
            && matches!(self.state, State::Open)
    }

    /// Returns when the timer behind this retransmission was set, at the earliest and at the
    /// latest.
    fn timer_set(&self, resent: &Retransmitted) -> (u64, u64) {
        let ack_end = match resent.ack_place {
            AckPlace::End(received) => received,
            _ => 0,
        };
        let latest = resent.timer_set.1.max(self.armed);
        (resent.timer_set.0.max(ack_end).max(self.armed).min(latest), latest)
    }

    fn rto(&self, resent: &Retransmitted) -> u64 {
        let Some((smoothed, variation)) = resent.estimate else { return 1_000_000_000 };
        (smoothed + (4 * variation).max(self.settings.variance_at_least)).max(self.settings.rto_at_least)
    }

    fn enter(&mut self, cause: Cause, resent: &Retransmitted) {
        let keeps = cause == Cause::Fast || cause == Cause::Loss && !self.settings.forgets_sack;
        self.reports_lost += u32::from(resent.reported && keeps);
        let goes_back = matches!(cause, Cause::Rto | Cause::Loss) || self.continues(resent);
        self.gone_back.start = if goes_back { resent.end } else { u64::MAX };
        // After a timeout everything counts as lost anyway.
        self.last_retransmission = if goes_back { (u64::MAX, 0) } else { (resent.start, resent.nxt) };
        match cause {
            Cause::Rto => {
                let in_loss = matches!(self.state, State::Loss { .. });
                let undo = match self.state {
                    State::Loss { undo, .. } if self.back_off > 0 => Undo { unreported: undo.unreported + 1, ..undo },
                    State::Recovery { undo, .. } => undo,
                    _ => Undo::of(resent),
                };
                // As in Linux: no F-RTO for a timeout that interrupts recovery, unless it is a
                // repeated timeout.
                let fresh = matches!(self.state, State::Open) || in_loss && self.back_off > 0;
                self.state = State::Loss {
                    high: resent.nxt,
                    reached: resent.end,
                    forward: self.settings.forward_rto && fresh,
                    undo,
                    answered: false,
                };
                let expected = self.rto(resent) << self.back_off.min(MOST_BACK_OFF);
                self.armed = departure(resent, self.timer_set(resent), expected);
                self.back_off += 1;
            }
            Cause::Tlp => {
                self.probed = true;
                self.armed = resent.now;
            }
            Cause::Fast => {
                // Without SACK, a recovery repairs at the first ACKs after a partial one. If it takes
                // duplicate ACKs, the stack had undone that recovery and begins another.
                let again = !resent.sack() && resent.missing && !matches!(self.state, State::Loss { .. });
                if again || self.is_lost_again(resent) || matches!(self.state, State::Open) {
                    self.state = State::Recovery { high: resent.nxt, partial: None, undo: Undo::of(resent) };
                    self.duplicates.threshold = self.duplicates.threshold.max(resent.duplicates.unwrap_or(0));
                }
                self.armed = self.armed.max(if resent.start <= resent.una { resent.earliest } else { 0 });
            }
            Cause::Loss => {
                if let State::Loss { undo, reached, answered, .. } = &mut self.state {
                    *answered = true;
                    undo.unreported += 1;
                    *reached = resent.end.max(*reached);
                } else if resent.end > resent.una {
                    let (high, reached, undo) = (resent.nxt, resent.end, Undo::of(resent));
                    self.state = State::Loss { high, reached, forward: false, undo, answered: true };
                }
            }
            _ => {}
        }
        match self.state {
            State::Loss { high, .. } => (self.gone_back.end, self.recovers_until) = (high, 0),
            State::Recovery { high, .. } => self.recovers_until = high,
            State::Open => {}
        }
    }

    /// Handles new data that leave behind a retransmission, as [`Models::on_new`](super::Models::on_new) does. Returns
    /// whether they contradict the model. F-RTO sends new data before other retransmissions.
    pub(crate) fn on_new(&mut self, missing: impl Fn(u64) -> u64) -> bool {
        let contradict = match self.state {
            State::Loss { high, reached, forward: false, .. } => missing(reached) < high,
            _ => false,
        };
        self.cost += if contradict { NEW_DATA } else { 0.0 };
        contradict
    }

    /// Handles an ACK that the sender receives.
    pub(crate) fn on_ack(&mut self, ack: &AckReceived) {
        self.duplicates.on_ack(ack, self.is_open());
        if ack.advances {
            self.back_off = 0;
            self.probed = false;
        }
        let (start, left_before) = self.last_retransmission;
        if ack.advances && ack.una > start
            || start != u64::MAX && ack.sacks.iter().any(|block| block.start <= start && start < block.end)
        {
            self.left_before = left_before;
        }
        match &mut self.state {
            State::Open => {}
            State::Recovery { high, partial, .. } => {
                if ack.una > *high || ack.sack && ack.una == *high {
                    self.state = State::Open;
                } else if ack.advances {
                    partial.get_or_insert(ack.now);
                }
            }
            State::Loss { high, forward, undo, answered, .. } => {
                *answered = true;
                if let Some(block) = ack.dsack {
                    undo.on_duplicate(block);
                }
                let by_echo = matches!((ack.echo, undo.stamp), (Some(echo), Some(stamp)) if echo.precedes(stamp));
                let undone = self.settings.undoes && ack.advances && (by_echo || undo.unreported == 0);
                let forwarded = *forward && ack.original_below.is_some_and(|position| position < *high);
                if undone || forwarded || ack.una > *high || ack.sack && ack.una == *high {
                    self.state = State::Open;
                } else if *forward && ack.nxt > *high {
                    // New data have left: RFC 5682, section 3.1, step 3a.
                    *forward = !ack.duplicate;
                } else if *forward && ack.advances {
                    *high = ack.nxt;
                }
            }
        }
    }
}
