//! *Alters* every acknowledgement according to one of two tables. The kind of the last arrival
//! selects the entry. The entry sets the acknowledged number, the echoed timestamp and the reported
//! blocks. It also says whether the acknowledgement leaves at once, later, after more arrivals or
//! never, and whether the other table applies from then on. It forges no timestamp: a segment has
//! carried every echo to the receiver. *Against* any detector: a search varies the tables.

use std::collections::BTreeMap;

use eifel_base::time::Duration;
use eifel_packet::segment::{Flags, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::{Seq, unwrap, wrap};

use super::Lie;

/// The most segments remembered. Beyond it, the lowest are forgotten.
const MOST_REMEMBERED: usize = 4096;

/// The number that an acknowledgement carries. It never falls below the last acknowledged number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Number {
    /// Acknowledges all data that has arrived in order.
    #[default]
    All,
    /// Acknowledges all data that has arrived in order, except the last segment.
    OneLess,
    /// Repeats the last acknowledged number.
    Same,
    /// Acknowledges one more segment than before, if that segment has arrived.
    OneMore,
}

impl Number {
    /// Names in scenarios.
    pub const NAMES: &'static [&'static str] = &["all", "one-less", "same", "one-more"];
    /// In the order of the names.
    pub const ALL: [Self; 4] = [Self::All, Self::OneLess, Self::Same, Self::OneMore];
}

/// The timestamp that an acknowledgement echoes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Echoed {
    /// The timestamp that RFC 7323 requires.
    #[default]
    Due,
    /// The timestamp of the first segment that was not acknowledged before. It is the original's
    /// timestamp if the original has arrived.
    FirstUnacknowledged,
    /// The timestamp of the segment right before the lowest gap.
    BelowGap,
    /// The timestamp of the segment right after the lowest gap.
    AboveGap,
    /// The timestamp of the newest original.
    Newest,
}

impl Echoed {
    /// Names in scenarios.
    pub const NAMES: &'static [&'static str] = &["due", "first-unacknowledged", "below-gap", "above-gap", "newest"];
    /// In the order of the names.
    pub const ALL: [Self; 5] = [Self::Due, Self::FirstUnacknowledged, Self::BelowGap, Self::AboveGap, Self::Newest];
}

/// The duplicates that an acknowledgement reports (RFC 2883).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Duplicates {
    /// Reports the duplicates that have arrived.
    #[default]
    True,
    /// Reports none.
    Hidden,
    /// Reports the segment that arrived last, even if it is no duplicate.
    Invented,
}

impl Duplicates {
    /// Names in scenarios.
    pub const NAMES: &'static [&'static str] = &["true", "hidden", "invented"];
    /// In the order of the names.
    pub const ALL: [Self; 3] = [Self::True, Self::Hidden, Self::Invented];
}

/// The data above its acknowledged number that an acknowledgement reports (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gaps {
    /// Reports the data that has arrived above the missing data.
    #[default]
    True,
    /// Reports nothing.
    Hidden,
    /// Also reports all data in order after the first segment above the number, as if that segment
    /// were missing.
    Invented,
}

impl Gaps {
    /// Names in scenarios.
    pub const NAMES: &'static [&'static str] = &["true", "hidden", "invented"];
    /// In the order of the names.
    pub const ALL: [Self; 3] = [Self::True, Self::Hidden, Self::Invented];
}

/// The alterations of one acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    pub number: Number,
    pub echoed: Echoed,
    pub duplicates: Duplicates,
    pub gaps: Gaps,
    /// Whether it claims to answer an original, if retransmissions are marked.
    pub denies_mark: bool,
    /// Whether it never leaves.
    pub withheld: bool,
    /// How long it is held back, in milliseconds. Other acknowledgements may leave in the meantime.
    pub held_ms: u32,
    /// Of this many consecutive arrivals of one kind, only the last is answered.
    pub every: u8,
    /// Whether the other table applies from the next arrival on.
    pub turns: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            number: Number::All,
            echoed: Echoed::Due,
            duplicates: Duplicates::True,
            gaps: Gaps::True,
            denies_mark: false,
            withheld: false,
            held_ms: 0,
            every: 1,
            turns: false,
        }
    }
}

/// The kind of the last arrival, as far as the receiver can tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occasion {
    /// The next segment in order, with nothing missing.
    InOrder,
    /// A new segment above a gap.
    AboveGap,
    /// A segment that has arrived before.
    Again,
    /// A part of the missing data, with more still missing.
    Repair,
    /// The last part of the missing data.
    LastRepair,
}

impl Occasion {
    /// Keys in scenarios.
    pub const NAMES: [&'static str; 5] = ["in_order", "above_gap", "again", "repair", "last_repair"];
    /// In the order of the keys, and of [`Schedule`]'s answers.
    pub const ALL: [Self; 5] = [Self::InOrder, Self::AboveGap, Self::Again, Self::Repair, Self::LastRepair];
}

/// The answers of a liar with two states. Each state has a table with an answer for each
/// [`Occasion`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// Answers in the order of [`Occasion::ALL`]. The first table applies at the start.
    pub tables: [[Answer; 5]; 2],
}

/// The first arrival of a segment.
#[derive(Clone, Copy, Debug)]
struct FirstArrival {
    end: u64,
    stamp: u32,
}

/// A receiver that answers each arrival according to a [`Schedule`]. A caller of [`alter_by`](Self::alter_by)
/// chooses each answer instead.
#[derive(Clone, Debug)]
pub struct Scheduled {
    schedule: Schedule,
    /// Index of the table that applies.
    state: usize,
    occasion: Occasion,
    /// Consecutive arrivals of this kind.
    alike: u32,
    /// The sequence number of position 0, the first byte of data. If [`Lie::begins`] was not
    /// called, it is the first byte that arrived. `None` before either.
    base: Option<Seq>,
    /// Arrivals by their first position.
    arrivals: BTreeMap<u64, FirstArrival>,
    /// First position that has not arrived in order.
    complete: u64,
    /// First position above all data that has arrived.
    highest: u64,
    /// The number of the last acknowledgement that left.
    acknowledged: u64,
    /// TSval of the newest original; `None` before the first.
    newest: Option<u32>,
    /// The range of the last arrival; `None` before the first.
    last: Option<(u64, u64)>,
}

impl Scheduled {
    /// Creates a receiver without arrivals.
    pub fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            state: 0,
            occasion: Occasion::InOrder,
            alike: 0,
            base: None,
            arrivals: BTreeMap::new(),
            complete: 0,
            highest: 0,
            acknowledged: 0,
            newest: None,
            last: None,
        }
    }

    /// Remembers a segment. Returns the kind of its arrival.
    fn note(&mut self, start: u64, end: u64, stamp: u32) -> Occasion {
        let had = end <= self.complete
            || self.arrivals.range(..=start).next_back().is_some_and(|(_, segment)| segment.end >= end);
        if had {
            return Occasion::Again;
        }
        let (missing, above) = (self.complete < self.highest, start >= self.highest);
        if above {
            self.newest = Some(stamp);
        }
        self.highest = self.highest.max(end);
        self.arrivals.insert(start, FirstArrival { end, stamp });
        while let Some((_, next)) = self.arrivals.range(..=self.complete).next_back()
            && next.end > self.complete
        {
            self.complete = next.end;
        }
        while self.arrivals.len() > MOST_REMEMBERED {
            self.arrivals.pop_first();
        }
        match (self.complete < self.highest, missing, above) {
            (false, false, _) => Occasion::InOrder,
            (false, true, _) => Occasion::LastRepair,
            (true, _, true) => Occasion::AboveGap,
            (true, _, false) => Occasion::Repair,
        }
    }

    /// Notes a data segment that arrives, before the connection answers it.
    pub fn observe_segment(&mut self, segment: &Segment) {
        let stamp = segment.options.timestamps.map_or(0, |stamps| stamps.value);
        let base = *self.base.get_or_insert(segment.seq);
        let start = unwrap(self.highest, base, segment.seq);
        let end = start + u64::from(segment.payload_len);
        if self.last.is_some() && self.answer().turns {
            self.state = 1 - self.state;
        }
        self.last = Some((start, end));
        let before = self.occasion;
        self.occasion = self.note(start, end, stamp);
        self.alike = if self.occasion == before { self.alike + 1 } else { 1 };
    }

    /// Alters an acknowledgement according to `answer`. Ignores the tables and [`Answer::every`].
    /// Returns whether the acknowledgement leaves.
    pub fn alter_by(&mut self, answer: &Answer, segment: &mut Segment) -> bool {
        let Some(base) = self.base else { return true };
        if answer.withheld {
            return false;
        }
        let honest = unwrap(self.complete, base, segment.ack);
        let number = self.number(answer.number, honest);
        let echo = self.echo(answer.echoed);
        let invents = answer.duplicates == Duplicates::Invented || answer.gaps == Gaps::Invented;
        if !segment.options.sack.is_empty() || invents {
            segment.options.sack = self.blocks(answer, number, segment, base);
        }
        if let (Some(echo), Some(Timestamps { echo: echoed, .. })) = (echo, &mut segment.options.timestamps) {
            *echoed = echo;
        }
        if answer.denies_mark {
            segment.flags = Flags(segment.flags.0 & !Flags::ANSWERS_SENT_AGAIN.0);
        }
        segment.ack = wrap(number, base);
        self.acknowledged = number;
        // Acknowledged segments are never echoed again, except the one before the gap.
        while let Some((&start, first)) = self.arrivals.first_key_value()
            && first.end < number
            && self.arrivals.len() > 1
        {
            self.arrivals.remove(&start);
        }
        true
    }

    /// Returns the answer to the last arrival.
    fn answer(&self) -> Answer {
        self.schedule.tables[self.state][self.occasion as usize]
    }

    fn number(&self, wanted: Number, honest: u64) -> u64 {
        let chosen = match wanted {
            Number::All => honest,
            Number::OneLess => self.arrivals.range(..honest).next_back().map_or(honest, |(&start, _)| start),
            Number::Same => self.acknowledged,
            Number::OneMore => self.arrivals.get(&self.acknowledged).map_or(self.acknowledged, |segment| segment.end),
        };
        chosen.min(honest).max(self.acknowledged)
    }

    fn echo(&self, wanted: Echoed) -> Option<u32> {
        match wanted {
            Echoed::Due => None,
            Echoed::FirstUnacknowledged => self.arrivals.get(&self.acknowledged).map(|segment| segment.stamp),
            Echoed::BelowGap => self.arrivals.range(..self.complete).next_back().map(|(_, segment)| segment.stamp),
            Echoed::AboveGap => self.arrivals.range(self.complete..).next().map(|(_, segment)| segment.stamp),
            Echoed::Newest => self.newest,
        }
    }

    /// Returns the range that has arrived in order after the first segment above `number`.
    fn beyond(&self, number: u64) -> Option<(u64, u64)> {
        let denied = self.arrivals.get(&number)?;
        (denied.end < self.complete).then_some((denied.end, self.complete))
    }

    fn blocks(&self, answer: &Answer, number: u64, segment: &Segment, base: Seq) -> SackBlocks {
        let honest = segment.options.sack.as_slice();
        let ack = unwrap(self.complete, base, segment.ack);
        let place = |&(left, right): &(Seq, Seq)| (unwrap(ack, base, left), unwrap(ack, base, right));
        let reports_duplicate = honest.first().is_some_and(|first| {
            let (left, right) = place(first);
            right <= ack || honest.get(1).map(place).is_some_and(|(l, r)| l <= left && right <= r)
        });
        let room = if segment.options.timestamps.is_some() { 3 } else { 4 };
        let mut blocks = SackBlocks::EMPTY;
        match answer.duplicates {
            Duplicates::True if reports_duplicate => {
                blocks.push(honest[0].0, honest[0].1);
            }
            Duplicates::Invented => {
                if let Some((start, end)) = self.last {
                    blocks.push(wrap(start, base), wrap(end, base));
                }
            }
            Duplicates::True | Duplicates::Hidden => {}
        }
        if answer.gaps == Gaps::Invented
            && let Some((start, end)) = self.beyond(number)
        {
            blocks.push(wrap(start, base), wrap(end, base));
        }
        if answer.gaps != Gaps::Hidden {
            for block in honest.iter().skip(usize::from(reports_duplicate)) {
                if blocks.len() < room {
                    blocks.push(block.0, block.1);
                }
            }
        }
        blocks
    }
}

impl Lie for Scheduled {
    fn begins(&mut self, first: Seq) {
        self.base.get_or_insert(first);
    }

    fn observe(&mut self, segment: &Segment, _: bool) {
        self.observe_segment(segment);
    }

    fn alter(&mut self, segment: &mut Segment) -> bool {
        let answer = self.answer();
        if self.last.is_none() {
            return true;
        }
        if !self.alike.is_multiple_of(answer.every.into()) {
            return false;
        }
        self.alter_by(&answer, segment)
    }

    fn holds(&self) -> Duration {
        Duration::from_millis(self.last.map_or(0, |_| self.answer().held_ms.into()))
    }
}

#[cfg(test)]
mod tests;
