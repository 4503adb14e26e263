//! Compares the scoreboard with a naive one that keeps the state of every position.

use proptest::prelude::*;

use super::*;
use crate::fact::Ack;

/// The state of one position in RFC 6675.
#[derive(Clone, Copy, Default)]
struct Octet {
    sacked: bool,
    lost: bool,
    resent: bool,
}

/// Every position from 0 to `nxt`, and where the segments begin.
#[derive(Default)]
struct Naive {
    octets: Vec<Octet>,
    starts: Vec<usize>,
    una: usize,
}

impl Naive {
    fn on_new(&mut self, len: u32) {
        self.starts.push(self.octets.len());
        self.octets.resize(self.octets.len() + len as usize, Octet::default());
    }

    fn outstanding(&self) -> &[Octet] {
        &self.octets[self.una..]
    }

    /// SetPipe (RFC 6675, section 4).
    fn pipe(&self) -> u64 {
        let count = |octet: &Octet| u64::from(!octet.sacked) * (u64::from(!octet.lost) + u64::from(octet.resent));
        self.outstanding().iter().map(count).sum()
    }

    fn sacked(&self) -> u64 {
        self.outstanding().iter().filter(|octet| octet.sacked).count() as u64
    }

    /// Advances `una`. Reports right above it are void: the peer asks for those positions, so it
    /// has reneged.
    fn acknowledge(&mut self, cumulative: usize) {
        self.una = cumulative;
        self.octets[cumulative..].iter_mut().take_while(|octet| octet.sacked).for_each(|octet| octet.sacked = false);
    }

    /// Applies a block, unless it contradicts the cumulative ACK or the record is already split
    /// finer than segments were sent.
    fn report(&mut self, block: Block) {
        if block.start as usize <= self.una {
            return;
        }
        let ranges = self.outstanding().chunk_by(|a, b| a.sacked == b.sacked).filter(|chunk| chunk[0].sacked).count();
        let segments = self.starts.iter().filter(|&&start| self.segment_end_of(start) > self.una).count();
        if ranges <= segments {
            for octet in self.octets.iter_mut().take(block.end as usize).skip(block.start as usize) {
                octet.sacked = true;
            }
        }
    }

    fn segment_end_of(&self, start: usize) -> usize {
        self.starts.iter().find(|&&next| next > start).map_or(self.octets.len(), |&next| next)
    }

    fn first_hole(&self, from: u64, below: u64) -> Option<u64> {
        (from..below).find(|&position| !self.octets[position as usize].sacked)
    }

    fn segment_end(&self, position: u64) -> u64 {
        let next = self.starts.iter().find(|&&start| start as u64 > position);
        let end = next.map_or(self.octets.len(), |&start| start);
        (position as usize + 1..end).find(|&at| self.octets[at].sacked).unwrap_or(end) as u64
    }
}

#[derive(Clone, Debug)]
enum Step {
    New(u32),
    Again,
    AgainThoughNotLost,
    Ack { advance: u16, blocks: Vec<(u16, u16)> },
    LoseBelow(u16),
    Timeout,
    Undo,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..40_u32).prop_map(Step::New),
        3 => Just(Step::Again),
        1 => Just(Step::AgainThoughNotLost),
        4 => (any::<u16>(), prop::collection::vec((any::<u16>(), any::<u16>()), 0..4))
            .prop_map(|(advance, blocks)| Step::Ack { advance: advance % 60, blocks }),
        2 => any::<u16>().prop_map(Step::LoseBelow),
        1 => Just(Step::Timeout),
        1 => Just(Step::Undo),
    ]
}

/// Returns a position from `una` to `nxt`, both included.
fn within(board: &Scoreboard, raw: u16) -> u64 {
    board.una() + u64::from(raw) % (board.outstanding() + 1)
}

fn apply(board: &mut Scoreboard, naive: &mut Naive, step: &Step) {
    match step {
        Step::New(len) => {
            board.on_new(Instant::ZERO, *len, None);
            naive.on_new(*len);
        }
        Step::Again | Step::AgainThoughNotLost => {
            // NextSeg's rules 1 and 3.
            let below = if matches!(step, Step::Again) { board.lost_below() } else { board.highest_sacked() };
            let Some(at) = board.first_hole(board.resent_below(), below) else { return };
            let block = board.segment_at(at).unwrap();
            assert_eq!((block.start, block.end), (at, naive.segment_end(at)));
            board.on_retransmission(Instant::ZERO, block, HighRxt::Advance);
            for octet in &mut naive.octets[..block.end as usize] {
                octet.resent = true;
            }
        }
        Step::Ack { advance, blocks } => {
            let cumulative = within(board, *advance);
            let block = |&(a, b): &(u16, u16)| Block { start: within(board, a), end: within(board, b) };
            let sacks: Vec<_> = blocks.iter().map(block).collect();
            let ack = Ack { cumulative, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: true, ece: false };
            let acked = board.on_ack(&ack, true);
            assert_eq!(acked.bytes, cumulative - naive.una as u64);
            naive.acknowledge(cumulative as usize);
            let before = naive.sacked();
            for block in &sacks {
                naive.report(*block);
            }
            assert_eq!(acked.sacked, naive.sacked() - before);
        }
        Step::LoseBelow(raw) => {
            let position = within(board, *raw);
            board.mark_lost_below(position);
            for octet in &mut naive.octets[..position as usize] {
                octet.lost = true;
            }
        }
        Step::Timeout => {
            board.mark_all_lost();
            naive.octets.fill(Octet { lost: true, ..Octet::default() });
        }
        Step::Undo => {
            board.mark_none_lost();
            for octet in &mut naive.octets {
                (octet.lost, octet.resent) = (false, false);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30_000, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_a_naive_scoreboard(steps in prop::collection::vec(step(), 1..80)) {
        let (mut board, mut naive) = (Scoreboard::default(), Naive::default());
        for step in &steps {
            apply(&mut board, &mut naive, step);
            prop_assert_eq!(board.pipe(), naive.pipe());
            prop_assert_eq!(board.sacked_bytes(), naive.sacked());
            let hole = board.first_hole(board.una(), board.nxt());
            prop_assert_eq!(hole, naive.first_hole(board.una(), board.nxt()));
        }
    }
}

#[test]
fn a_segment_records_its_transmissions_and_the_time_of_the_last() {
    let at = |nanos| Instant::from_nanos(nanos);
    let mut board = Scoreboard::default();
    assert!(board.oldest().is_none());
    board.on_new(at(1), 10, Some(Timestamp(7)));
    board.on_new(at(2), 10, Some(Timestamp(8)));
    let oldest = |board: &Scoreboard| board.oldest().map(|sent| (sent.start(), sent.copies(), sent.last_sent()));
    assert_eq!(oldest(&board), Some((0, 0, at(1))));
    for copy in [1, 2] {
        let again = at(10 + u64::from(copy));
        let (copies, stamp) = board.on_retransmission(again, Block { start: 0, end: 10 }, HighRxt::Advance);
        assert_eq!((copies, stamp, oldest(&board)), (copy, Some(Timestamp(7)), Some((0, copy, again))));
    }
}

#[test]
fn only_outstanding_positions_have_a_segment() {
    let mut board = Scoreboard::default();
    board.on_new(Instant::ZERO, 10, None);
    board.on_new(Instant::ZERO, 10, None);
    let ack = Ack { cumulative: 5, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
    board.on_ack(&ack, true);
    let ends = [4, 5, 9, 10, 19, 20].map(|at| board.segment_at(at).map(|block| block.end));
    assert_eq!(ends, [None, Some(10), Some(10), Some(20), Some(20), None]);
    // Positions that are not outstanding cannot be retransmitted.
    assert_eq!(board.on_retransmission(Instant::ZERO, Block { start: 20, end: 30 }, HighRxt::Advance), (0, None));
}

#[test]
fn sack_blocks_of_unsent_data_and_inverted_blocks_are_ignored() {
    let mut board = Scoreboard::default();
    for _ in 0..3 {
        board.on_new(Instant::ZERO, 10, None);
    }
    let sacks = [Block { start: 20, end: 40 }, Block { start: 20, end: 20 }, Block { start: 25, end: 15 }];
    let ack = Ack { cumulative: 0, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: true, ece: false };
    assert_eq!(board.on_ack(&ack, true).sacked, 0);
}

#[test]
fn a_peer_cannot_split_the_record_finer_than_segments_were_sent() {
    let mut board = Scoreboard::default();
    for _ in 0..10 {
        board.on_new(Instant::ZERO, 1000, None);
    }
    for at in (0..10_000).step_by(2) {
        let sacks = [Block { start: at + 1, end: at + 2 }];
        board.on_ack(
            &Ack { cumulative: 0, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: true, ece: false },
            true,
        );
    }
    assert!(board.sacked().count() <= 11, "{}", board.sacked().count());
}

#[test]
fn the_last_hole_is_in_the_highest_segment_that_is_not_fully_sacked() {
    let mut board = Scoreboard::default();
    for _ in 0..4 {
        board.on_new(Instant::ZERO, 10, None);
    }
    let mut report = |start, end| {
        let ack = Ack {
            cumulative: 0,
            sacks: &[Block { start, end }],
            dsacks: &[],
            echo: None,
            mark: None,
            plain: true,
            ece: false,
        };
        board.on_ack(&ack, true);
        board.last_hole()
    };
    assert_eq!(report(10, 20), Some(30));
    assert_eq!(report(30, 40), Some(20));
    assert_eq!(report(20, 24), Some(24));
    assert_eq!(report(24, 30), Some(0));
    // The cumulative ACK says that this data has not arrived.
    assert_eq!(report(0, 10), Some(0));
}

#[test]
fn under_way_since_is_the_oldest_segments_time_and_none_if_it_is_deemed_lost() {
    let at = |nanos| Instant::from_nanos(nanos);
    let ack = |cumulative| Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
    let mut board = Scoreboard::default();
    assert_eq!(board.under_way_since(), None);
    for nanos in [1, 2, 3] {
        board.on_new(at(nanos), 10, None);
    }
    assert_eq!(board.under_way_since(), Some(at(1)));
    board.mark_all_lost();
    assert_eq!(board.under_way_since(), None);
    board.on_retransmission(at(7), Block { start: 0, end: 10 }, HighRxt::Advance);
    assert_eq!(board.under_way_since(), Some(at(7)));
    board.on_ack(&ack(10), true);
    assert_eq!(board.under_way_since(), None, "the second is to be sent again");
    board.mark_none_lost();
    assert_eq!(board.under_way_since(), Some(at(2)), "or is not");
}

/// Of the delivered segments, the one sent last counts, not the highest: 2 was retransmitted after
/// 3.
#[test]
fn of_delivered_segments_the_latest_transmission_counts() {
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    let mut board = Scoreboard::default();
    board.follow_deliveries();
    board.skip_to(1);
    (0..5).for_each(|segment| board.on_new(at(segment), 10, None));
    let block = |segment: u64| Block { start: 1 + (segment - 1) * 10, end: 1 + segment * 10 };
    board.on_retransmission(at(10), block(3), HighRxt::Leave);
    board.on_retransmission(at(20), block(2), HighRxt::Leave);
    let ack = Ack { cumulative: 51, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
    board.on_ack(&ack, true);
    let delivered = board.delivered().unwrap();
    let covered = |segment: u64, copies, millis| Covered { end: 1 + segment * 10, copies, last_sent: at(millis) };
    assert_eq!(delivered.again, Some(covered(2, 1, 20)));
    assert_eq!(delivered.original, Some(covered(5, 0, 4)));
    assert_eq!(delivered.lowest_original, Some(block(1)));
    assert_eq!(board.overtaken_by(), 0, "all came at once");
}
