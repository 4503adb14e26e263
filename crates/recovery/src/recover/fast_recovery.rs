//! What all recovery algorithms share: they count duplicate ACKs, begin a fast retransmit
//! at the third, allow Limited Transmit (RFC 3042), and go back N after a timeout.

use super::rules::{Follows, Raised, Rules};
use super::{HighRxt, Next, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// Segments that Limited Transmit may send beyond cwnd (RFC 3042, section 2).
const LIMITED_TRANSMIT: u64 = 2;

/// The phase of loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery, until `point` is acknowledged.
    FastRecovery {
        /// The recovery point.
        point: u64,
    },
    /// Go-back-N in slow start until `point` is acknowledged.
    AfterTimeout {
        /// The recovery point.
        point: u64,
    },
}

/// The meaning of an ACK for loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Nothing new is acknowledged, and the ACK is no duplicate.
    Quiet,
    /// New data acknowledged outside of fast recovery.
    Progress,
    /// One more duplicate.
    Duplicate,
    /// The duplicate that begins a fast retransmit.
    Threshold,
    /// Fast recovery continues: new data below the recovery point was acknowledged.
    Partial,
    /// Fast recovery is over.
    Recovered,
}

/// When a fast retransmit may begin again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reentry {
    /// Once data beyond the recovery point is acknowledged (RFC 6582, section 3.2, step 2).
    Beyond,
    /// Once everything below it is acknowledged (RFC 6675, section 5.1: HighACK >= RecoveryPoint).
    Reached,
}

/// The definition of a duplicate ACK, and the segments that duplicates release before a fast retransmit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DuplicateRule {
    /// RFC 5681's definition. The first two duplicates allow one new segment each (RFC 3042).
    Acks,
    /// With SACK, every ACK that reports newly SACKed data (RFC 6675, section 2). Duplicates allow
    /// as much new data as pipe leaves room for (section 5, step 3).
    Reports,
}

/// The state of loss recovery that all algorithms share.
#[derive(Clone, Debug)]
pub struct FastRecovery {
    rules: Rules,
    again: Reentry,
    counted: DuplicateRule,
    phase: Phase,
    /// Whether the oldest segment is retransmitted next, regardless of the window.
    oldest_forced: bool,
    /// Whether nothing may be sent outside of fast recovery. Only FACK as in ns-2 sets it.
    suspended: bool,
    duplicates: u32,
    /// DupThresh as configured. That of the rules may have risen.
    configured_threshold: u32,
    /// Duplicates that the last fast retransmit's segment caused, until an ACK of new data came.
    length: u32,
    /// Bytes that Limited Transmit has sent since new data was last acknowledged.
    limited: u64,
    /// The first position beyond cwnd at the last call of `next`. New data beyond it counts as
    /// Limited Transmit's.
    window_end: u64,
    /// RFC 6582's recover, exclusive: `nxt` at the last loss signal.
    recover: u64,
}

impl FastRecovery {
    /// Creates the recovery for an algorithm that trusts duplicate ACKs only beyond the recovery
    /// point. Below it, needless retransmissions may have caused them.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            again: Reentry::Beyond,
            counted: DuplicateRule::Acks,
            phase: Phase::Open,
            oldest_forced: false,
            suspended: false,
            duplicates: 0,
            configured_threshold: rules.duplicate_threshold,
            length: 0,
            limited: 0,
            window_end: 0,
            recover: 0,
        }
    }

    /// Creates the recovery for an algorithm that relies on deliveries. It may begin another fast
    /// retransmit once everything below the recovery point is acknowledged.
    pub fn by_delivery(rules: Rules) -> Self {
        Self { again: Reentry::Reached, ..Self::new(rules) }
    }

    /// Creates the recovery for an algorithm that counts SACK reports as duplicates.
    pub fn by_sack(rules: Rules) -> Self {
        Self { counted: DuplicateRule::Reports, ..Self::by_delivery(rules) }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the number of duplicate ACKs since the last ACK of new data.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Returns whether fast recovery is under way.
    pub fn in_fast_recovery(&self) -> bool {
        matches!(self.phase, Phase::FastRecovery { .. })
    }

    /// Returns whether ACKs may begin a fast retransmit now.
    pub fn may_begin(&self, una: u64) -> bool {
        let past = match self.again {
            Reentry::Beyond => una > self.recover,
            Reentry::Reached => una >= self.recover,
        };
        !self.in_fast_recovery() && (past || !self.rules.bugfix)
    }

    /// Classifies an ACK. An ACK of new data outside of fast recovery can also be a duplicate, which
    /// [`duplicates`](Self::duplicates) then counts.
    pub fn on_ack(&mut self, acked: &Acked, view: &View) -> Signal {
        let mut signal = Signal::Quiet;
        if acked.bytes > 0 {
            self.note_length();
            self.duplicates = 0;
            self.limited = 0;
            signal = self.advance(acked.cumulative);
        }
        if !self.is_duplicate(acked, view) || matches!(signal, Signal::Partial | Signal::Recovered) {
            return signal;
        }
        self.duplicates += 1;
        if self.duplicates == self.rules.duplicate_threshold && self.may_begin(acked.cumulative) {
            return Signal::Threshold;
        }
        if signal == Signal::Quiet { Signal::Duplicate } else { signal }
    }

    /// Keeps the number of duplicates that the segment of a fast retransmit has caused.
    fn note_length(&mut self) {
        if self.in_fast_recovery() {
            self.length = self.length.max(self.duplicates);
        }
    }

    /// Raises DupThresh: the network reorders. A raised one never falls here.
    fn raise_threshold(&mut self) {
        let threshold = &mut self.rules.duplicate_threshold;
        *threshold = match self.rules.raised {
            Raised::Never => *threshold,
            Raised::ByOne => *threshold + 1,
            Raised::AboveLength => (*threshold).max(self.length + 1),
        };
    }

    fn is_duplicate(&self, acked: &Acked, view: &View) -> bool {
        match self.counted {
            DuplicateRule::Reports if view.sack => acked.sacked > 0,
            // ns-2's senders with SACK count only duplicates that report something new.
            DuplicateRule::Acks if view.sack && self.rules.follows == Follows::Ns2 => {
                acked.duplicate && acked.sacked > 0
            }
            _ => acked.duplicate,
        }
    }

    fn advance(&mut self, cumulative: u64) -> Signal {
        match self.phase {
            Phase::Open => Signal::Progress,
            Phase::FastRecovery { point } if cumulative < point => Signal::Partial,
            Phase::FastRecovery { .. } => {
                self.phase = Phase::Open;
                Signal::Recovered
            }
            Phase::AfterTimeout { point } => {
                if cumulative >= point {
                    self.phase = Phase::Open;
                }
                Signal::Progress
            }
        }
    }

    /// Begins fast recovery with the oldest segment; it lasts until `point` is acknowledged.
    pub fn enter(&mut self, point: u64) -> Step {
        self.phase = Phase::FastRecovery { point };
        self.recover = point;
        self.length = 0;
        self.oldest_forced = true;
        Step::Enter { limited: self.limited }
    }

    /// Schedules the oldest segment for retransmission at once, because it is lost too.
    pub fn force_retransmit(&mut self) {
        self.oldest_forced = true;
    }

    /// Cancels the owed retransmission, because the oldest segment was already retransmitted.
    pub fn cancel_forced(&mut self) {
        self.oldest_forced = false;
    }

    /// Returns whether an ACK of new data without SACK blocks would only mean [`Signal::Progress`].
    pub fn is_quiet(&self) -> bool {
        self.phase == Phase::Open && self.duplicates == 0 && self.limited == 0
    }

    /// Returns the retransmission that is owed regardless of the window, if there is one.
    pub fn forced(&self, board: &Scoreboard) -> Option<Next> {
        self.oldest_forced.then(|| Next::forced(board.una()))
    }

    /// Sets whether nothing may be sent outside of fast recovery.
    pub fn suspend(&mut self, suspended: bool) {
        self.suspended = suspended;
    }

    /// Continues a fast recovery whose recovery point is acknowledged.
    pub fn continue_beyond_point(&mut self) {
        self.phase = Phase::FastRecovery { point: self.recover };
    }

    /// Ends fast recovery before its recovery point.
    pub fn leave(&mut self) {
        self.phase = Phase::Open;
    }

    /// Begins go-back-N: the retransmission timer has expired.
    pub fn on_timeout(&mut self, nxt: u64) {
        self.phase = Phase::AfterTimeout { point: nxt };
        self.recover = nxt;
        self.rules.duplicate_threshold = self.configured_threshold;
        self.duplicates = 0;
        self.limited = 0;
        self.oldest_forced = false;
        self.suspended = false;
    }

    /// Undoes the last loss signal, which was spurious. Returns how sending continues.
    pub fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.oldest_forced = false;
        let resume = match cause {
            Cause::Timeout => self.rules.resume,
            Cause::FastRetransmit => {
                self.note_length();
                self.raise_threshold();
                Resume::NextUnsent
            }
        };
        if resume == Resume::NextUnsent {
            self.phase = Phase::Open;
            self.duplicates = 0;
            // [rfc4015:4]
            if cause == Cause::FastRetransmit || self.rules.below_spurious_point {
                self.recover = 0;
            }
        }
        resume
    }

    /// Records that `sent` was sent.
    pub fn on_sent(&mut self, sent: Block, kind: Kind) {
        if matches!(kind, Kind::Retransmission(_)) {
            self.oldest_forced = false;
        }
        if self.in_limited_transmit() && kind == Kind::New && sent.end > self.window_end {
            self.limited += sent.end - sent.start;
        }
    }

    /// Returns whether new data beyond cwnd counts as Limited Transmit's.
    fn in_limited_transmit(&self) -> bool {
        self.duplicates > 0 && self.phase == Phase::Open
    }

    /// Returns how many of the `counted` bytes may be sent, for algorithms that estimate pipe by
    /// counting duplicate ACKs. Data sent within the shortest round trip is still in flight. No
    /// duplicate can refer to it yet, so it is subtracted from cwnd. A peer that forges duplicates
    /// gets at most one window per round trip (Savage and others, "TCP Congestion Control with a
    /// Misbehaving Receiver", section 2.2; RFC 5681, section 3.2, step 4).
    pub fn room(counted: u64, board: &Scoreboard, window: &Window, view: &View) -> u64 {
        let Some(shortest) = view.round_trips.shortest() else { return counted };
        let since = Instant::from_nanos(view.now.as_nanos().saturating_sub(shortest.as_nanos()));
        counted.min(window.cwnd.saturating_sub(board.sent_since(since)))
    }

    /// Returns the next segment of ns-2's go-back-N. It also retransmits data that was SACKed since
    /// the timeout, and its Limited Transmit also sends lost data. RFC 2018, section 8, and RFC
    /// 3042 do neither.
    fn next_on_ns2(&self, board: &Scoreboard, window: &Window, view: &View) -> Next {
        let beyond = if self.rules.limited_transmit { u64::from(self.duplicates).min(LIMITED_TRANSMIT) } else { 0 };
        let open = window.cwnd + beyond * u64::from(view.mss);
        let at = board.resent_below().max(board.una());
        if at < board.lost_below() {
            return Next::Retransmit { at, room: open.saturating_sub(at - board.una()), mark: HighRxt::Advance };
        }
        Next::New { room: open.saturating_sub(board.outstanding()) }
    }

    /// Returns the next segment outside of fast recovery: lost data first, then new data.
    pub fn next(&mut self, board: &Scoreboard, window: &Window, view: &View) -> Next {
        if self.suspended {
            return Next::New { room: 0 };
        }
        if board.lost_below() > board.una() {
            if self.rules.follows == Follows::Ns2 {
                return self.next_on_ns2(board, window, view);
            }
            let room = window.cwnd.saturating_sub(board.pipe());
            return Next::hole_or_new(board.first_hole(board.resent_below(), board.lost_below()), room);
        }
        let limits = self.in_limited_transmit() && self.rules.limited_transmit;
        self.window_end = board.una() + window.cwnd;
        let room = match self.counted {
            _ if !limits => window.cwnd.saturating_sub(board.outstanding()),
            DuplicateRule::Reports if view.sack => window.cwnd.saturating_sub(board.pipe()),
            _ => {
                let beyond = u64::from(self.duplicates).min(LIMITED_TRANSMIT) * u64::from(view.mss);
                (window.cwnd + beyond).saturating_sub(board.outstanding())
            }
        };
        Next::New { room }
    }
}
