//! A kernel's sender as facts for the detector `linux`: what it sent and received, and its loss
//! signals. The detector only watches, so its verdicts change nothing that follows.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::congest::Progress;
use eifel_recovery::detect::Detector;
use eifel_recovery::engine::Duplicated;
use eifel_recovery::event::Event;
use eifel_recovery::fact::{Ack, Block, Cause, Echo, Kind, Transmission, TxId};
use eifel_recovery::recover::HighRxt;
use eifel_recovery::registry::{Choice, Error, part};
use eifel_recovery::scoreboard::Scoreboard;
use eifel_recovery::view::{Negotiated, View};
use eifel_recovery::watch::Watch;

/// The payload of a full segment if a SYN does not limit it (RFC 9293, section 3.7.1).
const DEFAULT_MSS: u32 = 536;
/// Bytes of the timestamps option, with padding.
const TIMESTAMPS: u32 = 12;

/// A sender with the detector, and its connection.
pub struct Sender {
    board: Scoreboard,
    watch: Watch,
    isn: Seq,
    duplicated: Duplicated,
    peer_window: Option<u16>,
    /// The highest TSval received.
    newest: Option<Timestamp>,
    /// Whether this end has sent its FIN, and received that of its peer.
    fins: [bool; 2],
}

/// What an ACK brought.
#[derive(Clone, Copy, Debug)]
pub struct Brought {
    /// The reason of the detector's undo.
    pub undo: Option<&'static str>,
    pub progress: Progress,
    /// Whether it carried ECN-Echo.
    pub ece: bool,
}

impl Sender {
    /// Creates the sender of a connection with these SYNs: its own and its peer's.
    ///
    /// # Errors
    /// If the registry does not know the detector.
    pub fn new(syn: &Segment, answer: &Segment) -> Result<Self, Error> {
        part::detector(&Choice::named("linux")).map(|detector| Self::with(syn, answer, detector))
    }

    /// Creates the sender with this detector.
    pub fn with(syn: &Segment, answer: &Segment, detector: Box<dyn Detector>) -> Self {
        let (own, peer) = (&syn.options, &answer.options);
        let timestamps = own.timestamps.is_some() && peer.timestamps.is_some();
        let mss = own.mss.min(peer.mss).map_or(DEFAULT_MSS, u32::from) - if timestamps { TIMESTAMPS } else { 0 };
        let mut watch = Watch::new(vec![detector]);
        watch.agree(Negotiated { mss, sack: own.sack_permitted && peer.sack_permitted, timestamps });
        let mut board = Scoreboard::default();
        board.skip_to(1);
        Self {
            board,
            watch,
            isn: syn.seq,
            duplicated: Duplicated::NOTHING,
            peer_window: None,
            newest: None,
            fins: [false; 2],
        }
    }

    /// Returns the connection as the detector sees it.
    pub fn view(&self) -> &View {
        self.watch.view()
    }

    /// Returns the oldest unacknowledged sequence number.
    pub fn una(&self) -> Seq {
        Seq(self.isn.0.wrapping_add(self.board.una() as u32))
    }

    /// Returns the bytes that are outstanding.
    pub fn outstanding(&self) -> u64 {
        self.board.outstanding()
    }

    /// Returns the positions that are outstanding.
    pub fn outstanding_positions(&self) -> Block {
        Block { start: self.board.una(), end: self.board.nxt() }
    }

    /// Returns whether an open episode began with fast recovery.
    pub fn is_recovering(&self) -> bool {
        self.watch.episode().is_some_and(|episode| episode.cause == Cause::FastRetransmit)
    }

    fn position(&self, seq: Seq) -> u64 {
        unwrap(self.board.nxt(), self.isn, seq)
    }

    /// Begins an episode.
    pub fn on_signal(&mut self, now: Instant, cause: Cause) {
        if cause == Cause::Timeout {
            self.duplicated = Duplicated::NOTHING;
        }
        self.watch.update_view(now, self.board.una(), self.board.nxt());
        self.watch.open_episode(cause);
    }

    /// Counts a further expiry of the timer. Returns `false` if it must begin an episode.
    pub fn on_timer_again(&mut self, now: Instant) -> bool {
        self.watch.update_view(now, self.board.una(), self.board.nxt());
        self.watch.count_timeout().is_some()
    }

    /// Returns whether the oldest segment, which was retransmitted before, is sent once more after a
    /// timeout.
    pub fn repeats_oldest(&self, segment: &Segment) -> bool {
        let start = self.position(segment.seq).max(self.board.una());
        let timeout = self.watch.episode().is_none_or(|episode| episode.cause == Cause::Timeout);
        let again = self.board.segment(start).is_some_and(|segment| segment.copies() > 0);
        timeout && again && start == self.board.una()
    }

    /// Takes a segment that was sent. It may be as long as several of the path's.
    pub fn on_sent(&mut self, now: Instant, segment: &Segment) {
        let fin = segment.flags.has(Flags::FIN);
        self.fins[0] |= fin;
        let mut start = self.position(segment.seq);
        let end = start + u64::from(segment.payload_len) + u64::from(fin);
        let stamp = segment.options.timestamps.map(|stamps| Timestamp(stamps.value));
        let mss = u64::from(self.watch.view().mss);
        while start < end {
            let (una, nxt) = (self.board.una(), self.board.nxt());
            let most = if end - start <= mss + 1 { end } else { start + mss };
            let until = if start < nxt { most.min(nxt) } else { most };
            self.watch.update_view(now, una, nxt);
            if start >= nxt {
                self.board.on_new(now, (until - start) as u32, stamp);
                self.watch.on_new(now, self.board.nxt());
            } else if until > una {
                self.on_retransmission(now, Block { start: start.max(una), end: until }, stamp);
            }
            start = until;
        }
    }

    fn on_retransmission(&mut self, now: Instant, block: Block, stamp: Option<Timestamp>) {
        let cause = self.watch.episode().map_or(Cause::Timeout, |episode| episode.cause);
        let (copy, original) = self.board.on_retransmission(now, block, HighRxt::Leave);
        let (len, kind) = ((block.end - block.start) as u32, Kind::Retransmission(cause));
        let transmission = Transmission { id: TxId(0), start: block.start, len, kind, copy };
        self.watch.on_retransmission(&transmission, stamp, original);
    }

    /// Takes a segment that was received. Returns `None` if it acknowledges nothing that counts.
    pub fn on_ack(&mut self, now: Instant, segment: &Segment) -> Option<Brought> {
        // After both FINs are acknowledged there is only TIME-WAIT, which undoes nothing.
        if self.fins == [true; 2] && self.board.una() == self.board.nxt() {
            return None;
        }
        self.fins[1] |= segment.flags.has(Flags::FIN);
        let plain = segment.payload_len == 0 && self.peer_window == Some(segment.window);
        self.peer_window = Some(segment.window);
        let cumulative = self.position(segment.ack);
        let stamps = segment.options.timestamps;
        let value = stamps.map(|stamps| Timestamp(stamps.value));
        let refused = value.zip(self.newest).is_some_and(|(value, newest)| value.precedes(newest));
        if !refused {
            self.newest = value.or(self.newest);
        }
        // Of an old ACK only the report counts, as that of duplicates often is, unless PAWS refuses it.
        let is_old = cumulative < self.board.una();
        if cumulative > self.board.nxt() || is_old && (refused || segment.options.sack.is_empty()) {
            return None;
        }
        let block = |&(start, end): &(Seq, Seq)| Block { start: self.position(start), end: self.position(end) };
        let blocks: Vec<Block> = segment.options.sack.as_slice().iter().map(block).collect();
        // RFC 2883: the first block reports a duplicate if it is acknowledged, or lies in the second.
        let of_duplicate = |first: &&Block| {
            let second = blocks.get(1).is_some_and(|other| other.start <= first.start && first.end <= other.end);
            first.start < cumulative || second
        };
        let count = usize::from(blocks.first().filter(of_duplicate).is_some());
        let (dsacks, sacks) = blocks.split_at(count);
        let echo = stamps.map(|stamps| Echo::Known { value: Timestamp(stamps.echo), age: Duration::ZERO });
        let (echo, ece) = if is_old { (None, false) } else { (echo, segment.flags.has(Flags::ECE)) };
        let (cumulative, plain) = (cumulative.max(self.board.una()), plain && !is_old);
        let (flight, before) = (self.board.outstanding(), self.board.una() + self.board.sacked_bytes());
        let ack = Ack { cumulative, sacks, dsacks, echo, mark: None, plain, ece };
        let acked = self.board.on_ack(&ack, self.watch.view().sack);
        let delivered = self.duplicated.newly_delivered(&acked, before, &self.board, self.watch.view());
        self.watch.update_view(now, self.board.una(), self.board.nxt());
        self.watch.on_ack(&acked);
        self.watch.judge(&acked);
        let mut undo = None;
        while let Some(event) = self.watch.poll_event() {
            if let Event::Judged { reason, .. } = event {
                undo = Some(reason);
            }
        }
        self.watch.close_if_repaired(cumulative);
        let progress = Progress { acked: acked.bytes, sacked: acked.sacked, delivered, flight };
        Some(Brought { undo, progress, ece })
    }
}

/// Returns the name of the kernel's counter in the reason of an undo.
pub fn counter(reason: &'static str) -> &'static str {
    reason.split_once('(').map_or(reason, |(_, name)| name.trim_end_matches(')'))
}
