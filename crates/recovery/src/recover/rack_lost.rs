//! RACK's step 5 over a connection's scoreboard: which segments and which retransmissions are lost (RFC 8985, section 6.2).

use super::rack::{Overdue, Rack, Repairing, Resent};
use crate::fact::Block;
use crate::scoreboard::{Scoreboard, SentSegment};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// The retransmissions under way, and the lost ones. The scoreboard marks only first losses.
#[derive(Clone, Debug)]
pub(super) struct LostSegments {
    /// DupThresh, in SACKed segments.
    threshold: u32,
    resent: Resent,
    /// Retransmissions that were lost, in the order of sending.
    lost_again: Vec<Block>,
    /// When the segments that are not lost yet are checked again; `None` if no segment waits.
    timeout: Option<Instant>,
}

/// The result of [`LostSegments::detect`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Everything below, unless SACKed, is lost.
    pub(super) lost_below: u64,
    /// Whether anything is newly lost.
    pub(super) news: bool,
    /// When the newest of the newly lost retransmissions was sent; `None` if there is none.
    pub(super) again: Option<Instant>,
}

impl LostSegments {
    pub(super) fn new(threshold: u32) -> Self {
        Self { threshold, resent: Resent::default(), lost_again: Vec::new(), timeout: None }
    }

    /// Finds lost segments: step 5, RACK_detect_loss.
    pub(super) fn detect(&mut self, rack: &Rack, board: &Scoreboard, repairing: Repairing, view: &View) -> Found {
        self.timeout = None;
        let before = board.lost_below();
        if !rack.has_deliveries() {
            return Found { lost_below: before, news: false, again: None };
        }
        let enough = u64::from(self.threshold - 1) * u64::from(view.mss);
        let wait = rack.wait(board.sacked_bytes() > enough, repairing, view);
        let again = self.detect_lost_retransmissions(rack, board, wait, view.now);
        let mut found = Found { lost_below: before, news: again.is_some(), again };
        let mut waiting = None;
        for segment in board.unreported(before) {
            match rack.overdue((segment.last_sent(), segment.end()), wait, view.now) {
                Overdue::Unknown => break,
                Overdue::At(lost_at) => waiting = waiting.max(Some(lost_at)),
                Overdue::Now if waiting.is_none() => found = Found { lost_below: segment.end(), news: true, ..found },
                Overdue::Now => {}
            }
        }
        self.timeout = self.timeout.max(waiting);
        found
    }

    /// Finds lost retransmissions, in the order of sending. Returns when the newest of them was
    /// sent; `None` if none is newly lost.
    fn detect_lost_retransmissions(
        &mut self,
        rack: &Rack,
        board: &Scoreboard,
        wait: Duration,
        now: Instant,
    ) -> Option<Instant> {
        self.prune(board);
        let mut news = None;
        while let Some((_, start)) = self.resent.first() {
            let under_way = |segment: &&SentSegment| {
                start < board.resent_below() && board.sacked().containing(start).is_none() && segment.copies() > 0
            };
            if let Some(segment) = board.segment(start).filter(under_way) {
                match rack.overdue((segment.last_sent(), segment.end()), wait, now) {
                    Overdue::Unknown => break,
                    Overdue::At(lost_at) => {
                        self.timeout = Some(lost_at);
                        break;
                    }
                    Overdue::Now => {}
                }
                if let Some(block) = board.segment_at(start).filter(|_| !self.is_retransmission_lost(start)) {
                    self.lost_again.push(block);
                    news = news.max(Some(segment.last_sent()));
                }
            }
            self.resent.remove_first();
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

    /// Records a retransmission that is sent at `now` and begins at `start`.
    pub(super) fn on_retransmission(&mut self, now: Instant, start: u64) {
        self.lost_again.retain(|block| block.start != start);
        self.resent.on_retransmission(now, start);
    }

    /// Forgets all retransmissions, after a timeout or an undo.
    pub(super) fn forget_retransmissions(&mut self) {
        self.resent.clear();
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

    /// Returns when [`LostSegments::detect`] has to be called again.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Ack;
    use crate::recover::HighRxt;
    use crate::rtt::RoundTrips;

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

    /// RACK, its lost segments, and the scoreboard.
    struct Sender {
        rack: Rack,
        lost: LostSegments,
        board: Scoreboard,
    }

    impl Sender {
        fn detect(&mut self, view: &View) -> Found {
            self.lost.detect(&self.rack, &self.board, Repairing::Losses, view)
        }
    }

    /// Five segments, all retransmitted: 1 and 2 at 100 ms, 3 and 4 at 105, and 5 at 110. Segment 5
    /// is delivered at 210 ms.
    fn repaired() -> Sender {
        let mut board = Scoreboard::default();
        board.follow_deliveries();
        board.skip_to(1);
        (0..5).for_each(|_| board.on_new(at(0), 1000, None));
        board.mark_lost_below(5001);
        let mut lost = LostSegments::new(3);
        for (first, when) in [(0, 100), (1, 100), (2, 105), (3, 105), (4, 110)] {
            let block = Block { start: 1 + first * 1000, end: 1001 + first * 1000 };
            board.on_retransmission(at(when), block, HighRxt::Advance);
            lost.on_retransmission(at(when), block.start);
        }
        let sacks = [Block { start: 4001, end: 5001 }];
        let ack = Ack { cumulative: 1, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: true, ece: false };
        let acked = board.on_ack(&ack, true);
        let mut rack = Rack::new();
        rack.on_ack(&acked, board.delivered(), acked.sacked_up_to, &view(210, 1));
        Sender { rack, lost, board }
    }

    /// Segment 5 took 100 ms. Without reordering, the reordering window is 0 in recovery. Segments
    /// 1 and 2 were sent 110 ms ago, and 3 and 4 105 ms ago, so all four are lost.
    #[test]
    fn a_retransmission_is_lost_a_round_trip_and_the_reordering_window_later() {
        let mut sender = repaired();
        let found = sender.detect(&view(210, 1));
        assert_eq!(found, Found { lost_below: 5001, news: true, again: Some(at(105)) });
        assert_eq!(
            (sender.lost.first_lost_retransmission(), sender.lost.bytes_of_lost_retransmissions()),
            (Some(1), 4000)
        );
        // Each lost retransmission is reported once.
        assert!(!sender.detect(&view(210, 1)).news);
        sender.lost.on_retransmission(at(210), 1);
        assert_eq!(
            (sender.lost.first_lost_retransmission(), sender.lost.bytes_of_lost_retransmissions()),
            (Some(1001), 3000)
        );
        sender.lost.forget_retransmissions();
        assert_eq!(
            (
                sender.lost.first_lost_retransmission(),
                sender.lost.bytes_of_lost_retransmissions(),
                sender.lost.timeout()
            ),
            (None, 0, None)
        );
    }

    /// Higher segments were sent first, at the same instant. For equal times RACK_sent_after
    /// compares the ends.
    #[test]
    fn of_two_segments_sent_at_once_the_lower_one_was_sent_first() {
        let mut sender = repaired();
        sender.lost.forget_retransmissions();
        for start in [2001, 3001, 1, 1001] {
            sender.lost.on_retransmission(at(100), start);
        }
        sender.lost.on_retransmission(at(99), 4001);
        let order: Vec<u64> = sender.lost.resent.iter().map(|(_, start)| start).collect();
        assert_eq!(order, [4001, 1, 1001, 2001, 3001]);
        assert_eq!(sender.detect(&view(210, 1)).again, Some(at(105)));
        assert_eq!(sender.lost.bytes_of_lost_retransmissions(), 4000);
    }

    /// The reordering window is 25 ms, a quarter of the shortest round trip. So segments are lost
    /// at 225 and 230 ms.
    #[test]
    fn the_reordering_window_applies_to_retransmissions_too() {
        let mut sender = repaired();
        sender.rack.see_reordering();
        assert!(!sender.detect(&view(224, 1)).news);
        assert_eq!(sender.lost.timeout(), Some(at(225)));
        assert!(sender.detect(&view(225, 1)).news);
        assert_eq!((sender.lost.bytes_of_lost_retransmissions(), sender.lost.timeout()), (2000, Some(at(230))));
        sender.lost.forget_retransmissions();
        assert_eq!(sender.lost.timeout(), None);
        assert!(!sender.detect(&view(300, 1)).news, "nothing is left to look at");
    }

    /// A retransmission that is listed twice counts as lost once.
    #[test]
    fn a_retransmission_that_is_lost_counts_once() {
        let mut sender = repaired();
        sender.detect(&view(210, 1));
        sender.lost.resent.on_retransmission(at(210), 1);
        sender.detect(&view(210, 1));
        assert_eq!(sender.lost.bytes_of_lost_retransmissions(), 4000);
    }
}
