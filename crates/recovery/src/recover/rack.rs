//! RACK's part of RACK-TLP: what was sent before something that was delivered, and long enough ago, is lost (RFC 8985,
//! section 6).

use std::collections::VecDeque;

use crate::fact::{Acked, Block, Covered, Delivered};
use crate::scoreboard::{Scoreboard, Sent};
use crate::time::{Duration, Instant};
use crate::view::View;

/// Recoveries after a DSACK until the reordering window falls back (RACK.reo_wnd_persist, section 6.2).
const PERSIST: u32 = 16;

/// Whether anything was delivered in another order than it was sent (RACK.reordering_seen).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reordering {
    NotSeen,
    Seen,
}

/// Whether fast recovery, or recovery from a timeout, is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Open,
    Repairing,
    /// It ends with this ACK.
    Leaving,
}

/// RACK's variables.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// DupThresh, in segments reported.
    threshold: u32,
    /// RACK.segment: when the segment was sent that was sent last of all that were delivered, and where it ends.
    newest: Option<(Instant, u64)>,
    /// RACK.rtt: how long it took.
    rtt: Duration,
    /// RACK.fack: the highest position that was delivered.
    fack: u64,
    reordering: Reordering,
    /// RACK.reo_wnd_mult.
    multiplier: u64,
    persist: u32,
    /// RACK.dsack_round: a further DSACK before this is acknowledged tells nothing new.
    dsack_round: Option<u64>,
    /// Where what was sent again begins, in the order of sending.
    again: VecDeque<u64>,
    /// What was sent again and lost again, in the same order.
    lost_again: Vec<Block>,
    /// When what is not lost yet is to be looked at once more.
    timeout: Option<Instant>,
}

/// What [`Rack::detect_loss`] has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Everything below, unless reported, is lost.
    pub(super) lost_below: u64,
    /// Whether anything has become lost that was not before.
    pub(super) news: bool,
    /// When the retransmission had left that was sent last of those that have become lost.
    pub(super) again: Option<Instant>,
}

impl Rack {
    pub(super) fn new(threshold: u32) -> Self {
        Self {
            threshold,
            newest: None,
            rtt: Duration::ZERO,
            fack: 0,
            reordering: Reordering::NotSeen,
            multiplier: 1,
            persist: PERSIST,
            dsack_round: None,
            again: VecDeque::new(),
            lost_again: Vec::new(),
            timeout: None,
        }
    }

    /// Steps 1 to 3 of section 6.2: what the ACK has delivered.
    pub(super) fn on_ack(&mut self, acked: &Acked, delivered: Option<&Delivered>, view: &View) {
        let Some(delivered) = delivered else { return };
        let again = delivered.again.filter(|covered| Self::answers_the_last(acked, covered, view));
        let sent = |covered: Covered| (covered.last_sent, covered.end);
        if let Some(latest) = delivered.original.map(sent).max(again.map(sent)) {
            self.rtt = view.now.since(latest.0);
            self.newest = self.newest.max(Some(latest));
        }
        if delivered.lowest_original.is_some_and(|end| end < self.fack) {
            self.reordering = Reordering::Seen;
        }
        self.fack = self.fack.max(acked.cumulative).max(acked.sacked_up_to);
    }

    /// Step 2: whether an ACK for what was sent more than once answers the last sending: not if that is sooner than any
    /// round trip was, nor if the echo is older. Half a round trip allows for the clock's granularity; the original left
    /// earlier than that.
    fn answers_the_last(acked: &Acked, covered: &Covered, view: &View) -> bool {
        let rtt = view.now.since(covered.last_sent);
        let shortest = view.round_trips.shortest().unwrap_or(Duration::ZERO);
        rtt >= shortest && acked.echo.is_none_or(|echo| echo.age <= rtt + shortest / 2)
    }

    /// Step 4: a DSACK widens the window once a round trip, and sixteen recoveries without one narrow it again.
    pub(super) fn adapt(&mut self, needless: bool, stage: Stage, view: &View) {
        if self.dsack_round.is_some_and(|round| view.una >= round) {
            self.dsack_round = None;
        }
        if needless && self.dsack_round.is_none() {
            self.dsack_round = Some(view.nxt);
            self.multiplier += 1;
            self.persist = PERSIST;
        } else if stage == Stage::Leaving {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.multiplier = 1;
            }
        }
    }

    /// RACK.reo_wnd.
    fn reordering_window(&self, board: &Scoreboard, stage: Stage, view: &View) -> Duration {
        let enough = u64::from(self.threshold - 1) * u64::from(view.mss);
        let reported = board.sacked_bytes() > enough;
        if self.reordering == Reordering::NotSeen && (stage == Stage::Repairing || reported) {
            return Duration::ZERO;
        }
        let Some(shortest) = view.round_trips.shortest() else { return Duration::ZERO };
        let wide = shortest * self.multiplier / 4;
        view.round_trips.smoothed().map_or(wide, |srtt| wide.min(srtt))
    }

    /// Step 5, RACK_detect_loss.
    pub(super) fn detect_loss(&mut self, board: &Scoreboard, stage: Stage, view: &View) -> Found {
        self.timeout = None;
        let before = board.lost_below();
        let mut found = Found { lost_below: before, news: false, again: None };
        let Some(newest) = self.newest else { return found };
        let wait = self.rtt + self.reordering_window(board, stage, view);
        found.again = self.detect_lost_again(board, newest, wait, view.now);
        found.news = found.again.is_some();
        let mut waiting = None;
        for segment in board.unreported(before) {
            if newest <= (segment.last_sent(), segment.end()) {
                break;
            }
            let lost_at = segment.last_sent() + wait;
            if lost_at > view.now {
                waiting = waiting.max(Some(lost_at));
            } else if waiting.is_none() {
                found = Found { lost_below: segment.end(), news: true, ..found };
            }
        }
        self.timeout = self.timeout.max(waiting);
        found
    }

    /// The same for what was sent again, in the order of sending.
    fn detect_lost_again(
        &mut self,
        board: &Scoreboard,
        newest: (Instant, u64),
        wait: Duration,
        now: Instant,
    ) -> Option<Instant> {
        self.prune(board);
        let mut news = None;
        while let Some(&start) = self.again.front() {
            let under_way = |segment: &&Sent| {
                start < board.resent_below() && board.sacked().containing(start).is_none() && segment.copies() > 0
            };
            if let Some(segment) = board.segment(start).filter(under_way) {
                if newest <= (segment.last_sent(), segment.end()) {
                    break;
                }
                if segment.last_sent() + wait > now {
                    self.timeout = Some(segment.last_sent() + wait);
                    break;
                }
                if let Some(block) = board.segment_at(start).filter(|_| !self.is_lost_again(start)) {
                    self.lost_again.push(block);
                    news = news.max(Some(segment.last_sent()));
                }
            }
            self.again.pop_front();
        }
        news
    }

    fn is_lost_again(&self, start: u64) -> bool {
        self.lost_again.iter().any(|block| block.start == start)
    }

    /// What was lost again and has been delivered after all.
    fn prune(&mut self, board: &Scoreboard) {
        let una = board.una();
        self.lost_again.retain(|block| block.start >= una && board.sacked().containing(block.start).is_none());
    }

    /// Something was sent again.
    pub(super) fn on_again(&mut self, start: u64) {
        self.lost_again.retain(|block| block.start != start);
        self.again.push_back(start);
    }

    /// A timeout, or an undo: what was sent again is no longer of interest.
    pub(super) fn forget_again(&mut self) {
        self.again.clear();
        self.lost_again.clear();
        self.timeout = None;
    }

    /// The first block that was lost again.
    pub(super) fn first_lost_again(&self) -> Option<u64> {
        self.lost_again.first().map(|block| block.start)
    }

    /// Bytes that were sent again and lost again: pipe still counts them.
    pub(super) fn bytes_lost_again(&self) -> u64 {
        self.lost_again.iter().map(|block| block.end - block.start).sum()
    }

    /// When [`Rack::detect_loss`] is to be called once more.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.timeout
    }
}
