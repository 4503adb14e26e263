//! RACK's part of RACK-TLP: a segment is lost if it was sent before a delivered one, and long enough ago (RFC 8985, section
//! 6).

use std::collections::VecDeque;

use super::rack_min_rtt::MinRtt;
use crate::fact::{Acked, Block, Covered, Delivered, Echo};
use crate::scoreboard::{Scoreboard, SentSegment};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// Recoveries after the last DSACK until the reordering window shrinks back (RACK.reo_wnd_persist,
/// section 6.2).
const PERSIST: u32 = 16;

/// The progress of fast recovery, or of recovery from a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Repairing {
    Nothing,
    Losses,
    /// The recovery ends with this ACK.
    Ending,
}

/// RACK's variables.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// DupThresh, in SACKed segments.
    threshold: u32,
    /// RACK.segment, the delivered segment that was sent last: its send time and its end. `None`
    /// before the first delivery.
    newest: Option<(Instant, u64)>,
    min_rtt: MinRtt,
    /// RACK.rtt: the round trip of the latest segment that the last ACK delivered.
    rtt: Duration,
    /// RACK.fack: the highest position that was delivered.
    fack: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    multiplier: u64,
    persist: u32,
    /// RACK.dsack_round: until this position is acknowledged, further DSACKs do not widen the
    /// window. `None` if the next DSACK counts.
    dsack_round: Option<u64>,
    /// The send time and start of each retransmission, sorted by both (RACK_sent_after).
    again: VecDeque<(Instant, u64)>,
    /// Retransmissions that were lost, in the same order.
    lost_again: Vec<Block>,
    /// When the segments that are not lost yet are checked again; `None` if no segment waits.
    timeout: Option<Instant>,
}

/// The result of [`Rack::detect_loss`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Everything below, unless SACKed, is lost.
    pub(super) lost_below: u64,
    /// Whether anything is newly lost.
    pub(super) news: bool,
    /// When the newest of the newly lost retransmissions was sent; `None` if there is none.
    pub(super) again: Option<Instant>,
}

impl Rack {
    pub(super) fn new(threshold: u32) -> Self {
        Self {
            threshold,
            newest: None,
            min_rtt: MinRtt::UNKNOWN,
            rtt: Duration::ZERO,
            fack: 0,
            reordering_seen: false,
            multiplier: 1,
            persist: PERSIST,
            dsack_round: None,
            again: VecDeque::new(),
            lost_again: Vec::new(),
            timeout: None,
        }
    }

    /// Processes the deliveries of an ACK: steps 1 to 3 of section 6.2.
    pub(super) fn on_ack(&mut self, acked: &Acked, delivered: Option<&Delivered>, view: &View) {
        if let Some(Covered { copies: 0, last_sent, .. }) = acked.highest {
            self.min_rtt.note(view.now.since(last_sent), view);
        }
        let Some(delivered) = delivered else { return };
        let again = delivered.again.filter(|covered| self.answers_last_transmission(acked, covered, view));
        let sent = |covered: Covered| (covered.last_sent, covered.end);
        if let Some(latest) = delivered.original.map(sent).max(again.map(sent)) {
            self.rtt = view.now.since(latest.0);
            self.newest = self.newest.max(Some(latest));
        }
        self.reordering_seen |= delivered.lowest_original.is_some_and(|lowest| lowest.end < self.fack);
        self.fack = self.fack.max(acked.cumulative).max(acked.sacked_up_to);
    }

    /// Returns whether an ACK for a retransmitted segment answers its last transmission (step 2).
    /// It does not if it comes sooner than RACK.min_RTT or echoes an older timestamp. Half of
    /// RACK.min_RTT allows for the clock's granularity; the original was sent earlier than that.
    fn answers_last_transmission(&self, acked: &Acked, covered: &Covered, view: &View) -> bool {
        let rtt = view.now.since(covered.last_sent);
        let min_rtt = self.min_rtt.get(view).unwrap_or(Duration::ZERO);
        rtt >= min_rtt && acked.echo.and_then(Echo::age).is_none_or(|age| age <= rtt + min_rtt / 2)
    }

    /// Adapts the reordering window (step 4). A DSACK widens it at most once per round trip.
    /// Sixteen recoveries without a DSACK reset it.
    pub(super) fn adapt(&mut self, needless: bool, repairing: Repairing, view: &View) {
        if self.dsack_round.is_some_and(|round| view.una >= round) {
            self.dsack_round = None;
        }
        if needless && self.dsack_round.is_none() {
            self.dsack_round = Some(view.nxt);
            self.multiplier += 1;
            self.persist = PERSIST;
        } else if repairing == Repairing::Ending {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.multiplier = 1;
            }
        }
    }

    /// Computes RACK.reo_wnd.
    fn reordering_window(&self, board: &Scoreboard, repairing: Repairing, view: &View) -> Duration {
        let enough = u64::from(self.threshold - 1) * u64::from(view.mss);
        let reported = board.sacked_bytes() > enough;
        if !self.reordering_seen && (repairing == Repairing::Losses || reported) {
            return Duration::ZERO;
        }
        let Some(min_rtt) = self.min_rtt.get(view) else { return Duration::ZERO };
        let wide = min_rtt * self.multiplier / 4;
        view.round_trips.smoothed().map_or(wide, |srtt| wide.min(srtt))
    }

    /// Finds lost segments: step 5, RACK_detect_loss.
    pub(super) fn detect_loss(&mut self, board: &Scoreboard, repairing: Repairing, view: &View) -> Found {
        self.timeout = None;
        let before = board.lost_below();
        let mut found = Found { lost_below: before, news: false, again: None };
        let Some(newest) = self.newest else { return found };
        let wait = self.rtt + self.reordering_window(board, repairing, view);
        found.again = self.detect_lost_retransmissions(board, newest, wait, view.now);
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

    /// Finds lost retransmissions, in the order of sending. Returns when the newest of them was
    /// sent; `None` if none is newly lost.
    fn detect_lost_retransmissions(
        &mut self,
        board: &Scoreboard,
        newest: (Instant, u64),
        wait: Duration,
        now: Instant,
    ) -> Option<Instant> {
        self.prune(board);
        let mut news = None;
        while let Some(&(_, start)) = self.again.front() {
            let under_way = |segment: &&SentSegment| {
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
                if let Some(block) = board.segment_at(start).filter(|_| !self.is_retransmission_lost(start)) {
                    self.lost_again.push(block);
                    news = news.max(Some(segment.last_sent()));
                }
            }
            self.again.pop_front();
        }
        news
    }

    fn is_retransmission_lost(&self, start: u64) -> bool {
        self.lost_again.iter().any(|block| block.start == start)
    }

    /// Forgets lost retransmissions that have been delivered after all.
    fn prune(&mut self, board: &Scoreboard) {
        let una = board.una();
        self.lost_again.retain(|block| block.start >= una && board.sacked().containing(block.start).is_none());
    }

    /// Records a retransmission that is sent at `now` and begins at `start`. Of several sent at the
    /// same instant, the lowest counts as sent first, whatever their order (RACK_sent_after,
    /// section 6.2).
    pub(super) fn on_retransmission(&mut self, now: Instant, start: u64) {
        self.lost_again.retain(|block| block.start != start);
        let later = self.again.iter().rev().take_while(|&&earlier| earlier > (now, start)).count();
        self.again.insert(self.again.len() - later, (now, start));
    }

    /// Forgets all retransmissions, after a timeout or an undo.
    pub(super) fn forget_retransmissions(&mut self) {
        self.again.clear();
        self.lost_again.clear();
        self.timeout = None;
    }

    /// Returns where the first lost retransmission begins.
    pub(super) fn first_lost_retransmission(&self) -> Option<u64> {
        self.lost_again.first().map(|block| block.start)
    }

    /// Returns the bytes of lost retransmissions, which the scoreboard's pipe still counts.
    pub(super) fn bytes_of_lost_retransmissions(&self) -> u64 {
        self.lost_again.iter().map(|block| block.end - block.start).sum()
    }

    /// Returns when [`Rack::detect_loss`] has to be called again.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::{Ack, Echo};
    use crate::recover::HighRxt;
    use crate::rtt::RoundTrips;
    use eifel_base::units::Timestamp;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + ms(millis)
    }

    /// A view with a shortest round trip of 100 ms.
    fn view(now: u64, una: u64) -> View {
        let mut round_trips = RoundTrips::new(true);
        round_trips.on_unambiguous(Some(ms(100)));
        View { now: at(now), una, nxt: 10_001, mss: 1000, sack: true, round_trips }
    }

    fn acked(echo_age: Option<u64>) -> Acked<'static> {
        let echo = echo_age.map(|age| Echo::Known { value: Timestamp(0), age: ms(age) });
        Acked {
            cumulative: 1001,
            bytes: 1000,
            sacked: 0,
            originals: None,
            duplicate: false,
            highest: None,
            sacked_up_to: 0,
            sacks: &[],
            dsacks: &[],
            echo,
            mark: None,
            ece: false,
            all: false,
        }
    }

    /// The segment was retransmitted at 50 ms, and the shortest round trip is 100 ms. An answer
    /// counts from 150 ms on, if it echoes a timestamp at most 150 ms old.
    #[test]
    fn an_ack_of_the_last_transmission_comes_no_sooner_than_min_rtt_and_echoes_no_older_timestamp() {
        let again = Covered { end: 1001, copies: 1, last_sent: at(50) };
        let rack = Rack::new(3);
        let answers = |now, age| rack.answers_last_transmission(&acked(age), &again, &view(now, 1));
        assert_eq!([149, 150].map(|now| answers(now, None)), [false, true]);
        assert_eq!([150, 151].map(|age| answers(150, Some(age))), [true, false]);
    }

    /// Sixteen recoveries that end without a DSACK reset the window. A second DSACK in a round trip
    /// does not widen it.
    #[test]
    fn the_window_adapts_to_dsacks() {
        let mut rack = Rack::new(3);
        rack.adapt(true, Repairing::Nothing, &view(0, 1));
        rack.adapt(true, Repairing::Nothing, &view(0, 10_000));
        assert_eq!(rack.multiplier, 2);
        rack.adapt(true, Repairing::Nothing, &view(0, 10_001));
        assert_eq!(rack.multiplier, 3);
        for _ in 0..40 {
            rack.adapt(false, Repairing::Losses, &view(0, 30_001));
            rack.adapt(false, Repairing::Nothing, &view(0, 30_001));
        }
        assert_eq!(rack.multiplier, 3, "no recovery has ended");
        (0..15).for_each(|_| rack.adapt(false, Repairing::Ending, &view(0, 30_001)));
        assert_eq!(rack.multiplier, 3);
        rack.adapt(false, Repairing::Ending, &view(0, 30_001));
        assert_eq!(rack.multiplier, 1);
    }

    /// Five segments, all retransmitted: 1 and 2 at 100 ms, 3 and 4 at 105, and 5 at 110. Segment 5
    /// is delivered at 210 ms.
    fn repaired() -> (Rack, Scoreboard) {
        let mut board = Scoreboard::default();
        board.follow_deliveries();
        board.skip_to(1);
        (0..5).for_each(|_| board.on_new(at(0), 1000, None));
        board.mark_lost_below(5001);
        let mut rack = Rack::new(3);
        for (first, when) in [(0, 100), (1, 100), (2, 105), (3, 105), (4, 110)] {
            let block = Block { start: 1 + first * 1000, end: 1001 + first * 1000 };
            board.on_retransmission(at(when), block, HighRxt::Advance);
            rack.on_retransmission(at(when), block.start);
        }
        let sacks = [Block { start: 4001, end: 5001 }];
        let ack = Ack { cumulative: 1, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: true, ece: false };
        let acked = board.on_ack(&ack, true);
        rack.on_ack(&acked, board.delivered(), &view(210, 1));
        (rack, board)
    }

    /// Segment 5 took 100 ms. Without reordering, the reordering window is 0 in recovery. Segments
    /// 1 and 2 were sent 110 ms ago, and 3 and 4 105 ms ago, so all four are lost.
    #[test]
    fn a_retransmission_is_lost_a_round_trip_and_the_reordering_window_later() {
        let (mut rack, board) = repaired();
        let found = rack.detect_loss(&board, Repairing::Losses, &view(210, 1));
        assert_eq!(found, Found { lost_below: 5001, news: true, again: Some(at(105)) });
        assert_eq!((rack.first_lost_retransmission(), rack.bytes_of_lost_retransmissions()), (Some(1), 4000));
        // Each lost retransmission is reported once.
        assert!(!rack.detect_loss(&board, Repairing::Losses, &view(210, 1)).news);
        rack.on_retransmission(at(210), 1);
        assert_eq!((rack.first_lost_retransmission(), rack.bytes_of_lost_retransmissions()), (Some(1001), 3000));
        rack.forget_retransmissions();
        assert_eq!(
            (rack.first_lost_retransmission(), rack.bytes_of_lost_retransmissions(), rack.timeout()),
            (None, 0, None)
        );
    }

    /// Higher segments were sent first, at the same instant. For equal times RACK_sent_after
    /// compares the ends.
    #[test]
    fn of_two_segments_sent_at_once_the_lower_one_was_sent_first() {
        let (mut rack, board) = repaired();
        rack.forget_retransmissions();
        for start in [2001, 3001, 1, 1001] {
            rack.on_retransmission(at(100), start);
        }
        rack.on_retransmission(at(99), 4001);
        let order: Vec<u64> = rack.again.iter().map(|&(_, start)| start).collect();
        assert_eq!(order, [4001, 1, 1001, 2001, 3001]);
        assert_eq!(rack.detect_loss(&board, Repairing::Losses, &view(210, 1)).again, Some(at(105)));
        assert_eq!(rack.bytes_of_lost_retransmissions(), 4000);
    }

    /// The reordering window is 25 ms, a quarter of the shortest round trip. So segments are lost
    /// at 225 and 230 ms.
    #[test]
    fn the_reordering_window_applies_to_retransmissions_too() {
        let (mut rack, board) = repaired();
        rack.reordering_seen = true;
        assert!(!rack.detect_loss(&board, Repairing::Losses, &view(224, 1)).news);
        assert_eq!(rack.timeout(), Some(at(225)));
        assert!(rack.detect_loss(&board, Repairing::Losses, &view(225, 1)).news);
        assert_eq!((rack.bytes_of_lost_retransmissions(), rack.timeout()), (2000, Some(at(230))));
        rack.forget_retransmissions();
        assert_eq!(rack.timeout(), None);
        assert!(!rack.detect_loss(&board, Repairing::Losses, &view(300, 1)).news, "nothing is left to look at");
    }

    /// A retransmission that is listed twice counts as lost once.
    #[test]
    fn a_retransmission_that_is_lost_counts_once() {
        let (mut rack, board) = repaired();
        rack.detect_loss(&board, Repairing::Losses, &view(210, 1));
        rack.again.push_back((at(210), 1));
        rack.detect_loss(&board, Repairing::Losses, &view(210, 1));
        assert_eq!(rack.bytes_of_lost_retransmissions(), 4000);
    }
}
