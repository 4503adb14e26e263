//! Random events at a sender: timeouts with go-back-N, fast retransmits, new data, and ACKs with
//! SACK blocks, DSACKs and marks. There are no windows, because detectors do not depend on them.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::fact::{Acked, Block, Cause, Covered, Echo, Kind, Mark, Transmission, TxId};
use eifel_recovery::view::View;

use crate::clock::Clock;
use crate::dice::Dice;

pub const MSS: u64 = 1000;

/// A retransmission.
#[derive(Clone, Debug)]
pub struct Again {
    pub transmission: Transmission,
    pub cause: Cause,
    /// Whether it is the first of its episode.
    pub opens: bool,
    /// Whether a timeout caused it, the first or a further one.
    pub by_timer: bool,
    /// Its TSval in milliseconds; a few have none.
    pub stamp: Option<Timestamp>,
}

impl Again {
    pub fn start(&self) -> u64 {
        self.transmission.start
    }

    pub fn end(&self) -> u64 {
        self.transmission.start + u64::from(self.transmission.len)
    }
}

#[derive(Clone, Debug)]
pub enum Happening {
    Nothing,
    Again(Again),
    /// An ACK, its SACK blocks, and the duplicate that it reports.
    Acked(Acked<'static>, Vec<Block>, Option<Block>),
}

/// The content of a view in plain numbers; times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Seen {
    pub now: u64,
    pub una: u64,
    pub nxt: u64,
    pub sack: bool,
    pub latest: Option<u64>,
    pub minimum: Option<u64>,
    pub srtt: Option<u64>,
}

#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    end: u64,
    copies: u32,
    last_sent: u64,
    sacked: bool,
}

pub struct World {
    now: u64,
    una: u64,
    nxt: u64,
    sack: bool,
    segments: Vec<Segment>,
    /// All retransmissions so far.
    resent: Vec<Block>,
    /// The cause of the episode, and `una` when it was opened.
    episode: Option<(Cause, u64)>,
    /// Where go-back-N continues.
    go_back: Option<u64>,
    clock: Clock,
    ids: u64,
}

impl World {
    pub fn new(dice: &mut Dice) -> Self {
        let sack = !dice.once_in(8);
        let mut world = Self {
            now: 0,
            una: 1,
            nxt: 1,
            sack,
            segments: Vec::new(),
            resent: Vec::new(),
            episode: None,
            go_back: None,
            clock: Clock::new(),
            ids: 0,
        };
        world.write(dice);
        world
    }

    pub fn view(&self) -> View {
        let (una, nxt, sack) = (self.una, self.nxt, self.sack);
        let round_trips = self.clock.round_trips();
        View { una, now: Instant::from_nanos(self.now), nxt, mss: MSS as u32, sack, round_trips: *round_trips }
    }

    pub fn seen(&self) -> Seen {
        Seen {
            now: self.now,
            una: self.una,
            nxt: self.nxt,
            sack: self.sack,
            latest: self.clock.latest(),
            minimum: self.clock.minimum(),
            srtt: self.clock.srtt(),
        }
    }

    /// Sends new data.
    pub fn write(&mut self, dice: &mut Dice) {
        for _ in 0..dice.from(1, 4) {
            let (start, end) = (self.nxt, self.nxt + dice.from(1, MSS));
            self.segments.push(Segment { start, end, copies: 0, last_sent: self.now, sacked: false });
            self.nxt = end;
        }
    }

    pub fn step(&mut self, dice: &mut Dice) -> Happening {
        self.now += dice.of_any_size(9);
        if self.segments.is_empty() {
            self.write(dice);
            return Happening::Nothing;
        }
        match dice.below(12) {
            0 => {
                self.write(dice);
                Happening::Nothing
            }
            1 => Happening::Again(self.timeout()),
            2 if dice.once_in(3) => Happening::Again(self.fast_retransmit()),
            2..=4 => self.go_back().map_or(Happening::Nothing, Happening::Again),
            _ => {
                let (acked, sacks, dsack) = self.ack(dice);
                Happening::Acked(acked, sacks, dsack)
            }
        }
    }

    /// Lets the oldest segment's timer expire. A further timeout of the same segment opens no
    /// episode.
    fn timeout(&mut self) -> Again {
        let opens = self.episode != Some((Cause::Timeout, self.una));
        self.episode = Some((Cause::Timeout, self.una));
        for segment in &mut self.segments {
            segment.sacked = false;
        }
        self.go_back = Some(self.segments[0].end);
        self.again(0, Cause::Timeout, opens, true)
    }

    fn fast_retransmit(&mut self) -> Again {
        self.episode = Some((Cause::FastRetransmit, self.una));
        self.go_back = Some(self.segments[0].end);
        self.again(0, Cause::FastRetransmit, true, false)
    }

    /// Retransmits the next segment of an open episode.
    fn go_back(&mut self) -> Option<Again> {
        let (cause, _) = self.episode?;
        let from = self.go_back?;
        let index = self.segments.iter().position(|segment| segment.start >= from && !segment.sacked)?;
        self.go_back = Some(self.segments[index].end);
        Some(self.again(index, cause, false, false))
    }

    fn again(&mut self, index: usize, cause: Cause, opens: bool, by_timer: bool) -> Again {
        let segment = &mut self.segments[index];
        segment.copies += 1;
        segment.last_sent = self.now;
        self.ids += 1;
        let transmission = Transmission {
            id: TxId(self.ids),
            start: segment.start,
            len: (segment.end - segment.start) as u32,
            kind: Kind::Retransmission(cause),
            copy: segment.copies,
        };
        self.resent.push(Block { start: segment.start, end: segment.end });
        let stamp = (!self.ids.is_multiple_of(5)).then_some(Timestamp((self.now / 1_000_000) as u32));
        Again { transmission, cause, opens, by_timer, stamp }
    }

    /// Returns an ACK, its SACK blocks, and the duplicate that it reports.
    fn ack(&mut self, dice: &mut Dice) -> (Acked<'static>, Vec<Block>, Option<Block>) {
        let count = self.segments.len() as u64;
        let whole = if dice.once_in(2) { 0 } else { 1 + dice.below(count).min(dice.below(4)) };
        let mut cumulative = if whole == 0 { self.una } else { self.segments[whole as usize - 1].end };
        // A peer may acknowledge a part of a segment.
        if dice.once_in(20) && cumulative < self.nxt {
            cumulative += dice.below(self.segments[whole as usize].end - cumulative);
        }
        let bytes = cumulative - self.una;
        let highest = self.segments.iter().rfind(|segment| segment.end <= cumulative).map(|segment| Covered {
            end: segment.end,
            copies: segment.copies,
            last_sent: Instant::from_nanos(segment.last_sent),
        });
        let outstanding = !self.segments.is_empty();
        self.segments.retain(|segment| segment.end > cumulative);
        if let Some(first) = self.segments.first_mut() {
            first.start = first.start.max(cumulative);
            first.sacked = false;
        }
        self.una = cumulative;
        let (mut sacked, mut sacked_up_to, mut blocks) = (0, 0, Vec::new());
        if self.sack && self.segments.len() > 1 {
            for _ in 0..dice.below(3) {
                let index = dice.from(1, self.segments.len() as u64 - 1) as usize;
                let segment = &mut self.segments[index];
                sacked += if segment.sacked { 0 } else { segment.end - segment.start };
                segment.sacked = true;
                sacked_up_to = segment.end.max(sacked_up_to);
                blocks.push(Block { start: segment.start, end: segment.end });
            }
        }
        let dsack = if self.sack && dice.once_in(4) { self.duplicate(dice) } else { None };
        let news = !self.sack || sacked > 0 || blocks.is_empty() && dsack.is_none();
        if bytes > 0 && !dice.once_in(4) {
            self.clock.sample(self.now, dice.from(20_000_000, 500_000_000));
        }
        let acked = Acked {
            cumulative,
            bytes,
            sacked,
            duplicate: bytes == 0 && outstanding && news && !dice.once_in(10),
            highest,
            sacked_up_to,
            echo: self.echo(),
            mark: (!dice.once_in(6)).then(|| if dice.once_in(2) { Mark::Original } else { Mark::Retransmission }),
            all: cumulative == self.nxt,
            ..Acked::default()
        };
        (acked, blocks, dsack)
    }

    /// Returns an echo that is up to six seconds old, or none. The instant alone decides, so that
    /// no draw depends on it.
    fn echo(&self) -> Option<Echo> {
        let age = Duration::from_secs(self.now % 7);
        let value = Timestamp((self.now.saturating_sub(age.as_nanos()) / 1_000_000) as u32);
        (!self.now.is_multiple_of(5)).then_some(Echo::Known { value, age })
    }

    /// Returns the block of a DSACK: mostly a whole retransmission, seldom a part of one, several
    /// in a row, or an implausible block.
    fn duplicate(&self, dice: &mut Dice) -> Option<Block> {
        if dice.once_in(60) {
            let start = dice.below(self.nxt);
            return Some(Block { start, end: start + dice.below(MSS) });
        }
        if dice.once_in(60) {
            return Some(Block { start: self.una, end: self.una });
        }
        let recent = self.resent.len().min(6) as u64;
        let known = *self.resent.get(self.resent.len().wrapping_sub(1 + dice.below(recent) as usize))?;
        match dice.below(10) {
            0 => {
                let start = known.start + dice.below(known.end - known.start);
                Some(Block { start, end: known.end })
            }
            1 => Some(Block { start: known.start, end: known.end + dice.below(MSS) }),
            _ => Some(known),
        }
    }
}
