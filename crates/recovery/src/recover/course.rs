//! What all recovery algorithms share: counting duplicate ACKs, when three of them begin a fast retransmit, Limited
//! Transmit (RFC 3042), and go-back-N after a timeout.

use std::cell::Cell;

use super::{HighRxt, Next, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// Segments that Limited Transmit may send beyond cwnd (RFC 3042, section 2).
const LIMITED_TRANSMIT: u64 = 2;

/// Which duplicate ACKs count after a loss signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bugfix {
    /// Those below the recovery point do not begin another fast retransmit (RFC 2582, section 3; RFC 6582).
    On,
    /// All do, as in Reno of old.
    Off,
}

/// Whether a fast retransmit may begin below the recovery point of a timeout that was spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BelowPoint {
    /// Nothing was sent again, so duplicate ACKs can only mean a loss.
    Allowed,
    /// As after any timeout.
    Blocked,
}

/// Whether duplicate ACKs let new segments go before a fast retransmit: two of RFC 3042, or as many as RFC 6675 finds room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitedTransmit {
    /// They do.
    On,
    /// They do not.
    Off,
}

/// The settings that all recovery algorithms share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// DupThresh: duplicate ACKs that begin a fast retransmit.
    pub duplicate_threshold: u32,
    /// See [`LimitedTransmit`].
    pub limited_transmit: LimitedTransmit,
    /// See [`Bugfix`].
    pub bugfix: Bugfix,
    /// See [`BelowPoint`].
    pub below_point: BelowPoint,
    /// How sending goes on after a spurious timeout.
    pub resume: Resume,
}

/// Where loss recovery stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Nothing is being repaired.
    Open,
    /// A fast retransmit is being followed up until `point` is acknowledged.
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

/// What an ACK means for loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Nothing.
    Quiet,
    /// New data acknowledged outside of fast recovery.
    Progress,
    /// One more duplicate.
    Duplicate,
    /// The duplicate that begins a fast retransmit.
    Threshold,
    /// Fast recovery goes on: something below the recovery point was acknowledged.
    Partial,
    /// Fast recovery is over.
    Recovered,
}

/// Whether the oldest segment is to be sent again now, whatever the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owed {
    Nothing,
    Oldest,
}

/// When a fast retransmit may begin again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Again {
    /// Once something beyond the recovery point is acknowledged (RFC 6582, section 3.2, step 2).
    Beyond,
    /// Once all below it is acknowledged (RFC 6675, section 5.1: HighACK >= RecoveryPoint).
    Reached,
}

/// What counts as a duplicate ACK, and what duplicates let go before a fast retransmit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Duplicates {
    /// RFC 5681's; the first two let a segment go each (RFC 3042).
    Acks,
    /// Where SACK is in use, every ACK that reports something new, whatever else it says (RFC 6675, section 2); pipe says
    /// what they let go (section 5, step 3).
    Reports,
}

/// The course of loss recovery.
#[derive(Clone, Debug)]
pub struct Course {
    rules: Rules,
    again: Again,
    counted: Duplicates,
    phase: Phase,
    owed: Owed,
    duplicates: u32,
    /// What Limited Transmit has sent.
    limited: u64,
    /// Where cwnd ends, as of when new data was last let go beside duplicates: what goes beyond is Limited Transmit's.
    window_end: Cell<u64>,
    /// RFC 6582's recover, exclusive: `nxt` at the last loss signal.
    recover: u64,
}

impl Course {
    /// The course of a connection that has lost nothing yet, for an algorithm that trusts duplicate ACKs only beyond the
    /// recovery point: below it they may come from what was sent again needlessly.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            again: Again::Beyond,
            counted: Duplicates::Acks,
            phase: Phase::Open,
            owed: Owed::Nothing,
            duplicates: 0,
            limited: 0,
            window_end: Cell::new(0),
            recover: 0,
        }
    }

    /// The same for one that goes by what is delivered, which tells of new data: at the recovery point it may begin again.
    pub fn by_delivery(rules: Rules) -> Self {
        Self { again: Again::Reached, ..Self::new(rules) }
    }

    /// The same for one whose duplicate ACKs are SACK's.
    pub fn by_sack(rules: Rules) -> Self {
        Self { counted: Duplicates::Reports, ..Self::by_delivery(rules) }
    }

    /// Where it stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The settings.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Duplicate ACKs since the last ACK of new data.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Whether fast recovery is under way.
    pub fn repairing(&self) -> bool {
        matches!(self.phase, Phase::FastRecovery { .. })
    }

    /// Whether a loss signal by ACKs may begin a fast retransmit now.
    pub fn permitted(&self, una: u64) -> bool {
        let past = match self.again {
            Again::Beyond => una > self.recover,
            Again::Reached => una >= self.recover,
        };
        !self.repairing() && (self.rules.bugfix == Bugfix::Off || past)
    }

    /// Classifies an ACK. One of new data outside of fast recovery can be a duplicate too: [`duplicates`](Self::duplicates)
    /// says so.
    pub fn on_ack(&mut self, acked: &Acked, view: &View) -> Signal {
        let mut signal = Signal::Quiet;
        if acked.bytes > 0 {
            self.duplicates = 0;
            self.limited = 0;
            signal = self.advance(acked.cumulative);
        }
        if !self.is_duplicate(acked, view) || matches!(signal, Signal::Partial | Signal::Recovered) {
            return signal;
        }
        self.duplicates += 1;
        if self.duplicates == self.rules.duplicate_threshold && self.permitted(acked.cumulative) {
            return Signal::Threshold;
        }
        if signal == Signal::Quiet { Signal::Duplicate } else { signal }
    }

    fn is_duplicate(&self, acked: &Acked, view: &View) -> bool {
        match self.counted {
            Duplicates::Reports if view.sack => acked.sacked > 0,
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

    /// Fast recovery begins with the oldest segment; its recovery point is what has been sent.
    pub fn enter(&mut self, nxt: u64) -> Step {
        self.phase = Phase::FastRecovery { point: nxt };
        self.recover = nxt;
        self.owed = Owed::Oldest;
        Step::Enter { limited: self.limited }
    }

    /// The oldest segment is lost too: it is sent again at once.
    pub fn owe_oldest(&mut self) {
        self.owed = Owed::Oldest;
    }

    /// The oldest segment is on its way again already.
    pub fn owe_nothing(&mut self) {
        self.owed = Owed::Nothing;
    }

    /// Whether an ACK of new data only says that there is progress.
    pub fn is_quiet(&self) -> bool {
        self.phase == Phase::Open && self.duplicates == 0 && self.limited == 0
    }

    /// The retransmission that is owed whatever the window.
    pub fn owed(&self, board: &Scoreboard) -> Option<Next> {
        (self.owed == Owed::Oldest).then(|| Next::owed(board.una()))
    }

    /// Fast recovery ends before its recovery point.
    pub fn leave(&mut self) {
        self.phase = Phase::Open;
    }

    /// The timer has expired.
    pub fn on_timeout(&mut self, nxt: u64) {
        self.phase = Phase::AfterTimeout { point: nxt };
        self.recover = nxt;
        self.duplicates = 0;
        self.limited = 0;
        self.owed = Owed::Nothing;
    }

    /// The last loss signal was spurious.
    pub fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.owed = Owed::Nothing;
        let resume = match cause {
            Cause::Timeout => self.rules.resume,
            Cause::FastRetransmit => Resume::NextUnsent,
        };
        if resume == Resume::NextUnsent {
            self.phase = Phase::Open;
            self.duplicates = 0;
            // [rfc4015:4]
            if cause == Cause::FastRetransmit || self.rules.below_point == BelowPoint::Allowed {
                self.recover = 0;
            }
        }
        resume
    }

    /// `sent` has left.
    pub fn on_sent(&mut self, sent: Block, kind: Kind) {
        if matches!(kind, Kind::Retransmission(_)) {
            self.owed = Owed::Nothing;
        }
        if self.may_limit() && kind == Kind::New && sent.end > self.window_end.get() {
            self.limited += sent.end - sent.start;
        }
    }

    /// Whether new data can be Limited Transmit's.
    fn may_limit(&self) -> bool {
        self.duplicates > 0 && self.phase == Phase::Open
    }

    /// What may go under `cwnd` where what is under way is found by counting duplicate ACKs, `counted`: no more than
    /// leaves room for what was sent within the shortest round trip, which no duplicate can be about. So a peer that sends
    /// duplicates at will gets a window in a round trip, and no more (Savage and others, "TCP Congestion Control with a
    /// Misbehaving Receiver", section 2.2; RFC 5681, section 3.2, step 4).
    pub fn room(counted: u64, board: &Scoreboard, window: &Window, view: &View) -> u64 {
        let Some(turn) = view.round_trips.shortest() else { return counted };
        let since = Instant::from_nanos(view.now.as_nanos().saturating_sub(turn.as_nanos()));
        counted.min(window.cwnd.saturating_sub(board.sent_since(since)))
    }

    /// What goes out outside of fast recovery: what is deemed lost first, then new data.
    pub fn next(&self, board: &Scoreboard, window: &Window, view: &View) -> Next {
        if board.lost_below() > board.una() {
            let room = window.cwnd.saturating_sub(board.pipe());
            return match board.first_hole(board.resent_below(), board.lost_below()) {
                Some(at) => Next::Retransmit { at, room, mark: HighRxt::Advance },
                None => Next::New { room },
            };
        }
        let limits = self.may_limit() && self.rules.limited_transmit == LimitedTransmit::On;
        self.window_end.set(board.una() + window.cwnd);
        let room = match self.counted {
            _ if !limits => window.cwnd.saturating_sub(board.outstanding()),
            Duplicates::Reports if view.sack => window.cwnd.saturating_sub(board.pipe()),
            _ => {
                let beyond = u64::from(self.duplicates).min(LIMITED_TRANSMIT) * u64::from(view.mss);
                (window.cwnd + beyond).saturating_sub(board.outstanding())
            }
        };
        Next::New { room }
    }
}
