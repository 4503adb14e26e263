//! What the number of ACKs shows of arrivals, where there is no SACK.
//!
//! *Looks at* the order in which segments passed, and at the ACKs without news between two ACKs of new data. A
//! receiver acknowledges at once each segment above a gap and each duplicate (RFC 5681, section 4.2).
//! *Decides* which transmission filled a gap, and which arrived as a duplicate: the segments that pass between two
//! that brought news cause as many ACKs as arrive.
//! *Blind to* order that the path changed, to ACKs for several segments that a card of the receiver joined, and to
//! lost ACKs: they leave fewer ACKs, and then fewer segments are judged. A copy by the network leaves one more.

use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use std::collections::VecDeque;

/// Transmissions remembered. An ACK does not answer older ones.
const MOST: usize = 1 << 12;
/// The longest segment of an Ethernet, in bytes; a longer one is several that a card divides.
const LONGEST: u64 = 1500;
/// The shortest segments into which a card divides one, in bytes (RFC 9293, section 3.7.1).
const SHORTEST: u64 = 536;

/// A card joins no segments that arrive at least this long after each other, in nanoseconds.
const APART: u64 = 200_000;

/// ACKs of new data that a kept order has to explain after one that it does not, before it is believed.
const AGREED: u32 = 1;

/// A transmission that the receiver may not have answered yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    pub(super) block: Block,
    pub(super) nanos: u64,
    pub(super) stamp: Option<Timestamp>,
}

/// A transmission that may have caused an ACK of new data. Places count transmissions from the first one on.
#[derive(Clone, Copy, Debug)]
struct Filler {
    nanos: u64,
    /// The place of the last transmission that had arrived with it.
    last: u64,
}

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    /// What it covers.
    pub(super) block: Block,
    pub(super) nanos: u64,
    pub(super) echo: Option<Timestamp>,
    /// How soon a segment is answered, in nanoseconds.
    pub(super) soonest: u64,
}

/// What the number of ACKs shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The segment at this position arrived by the transmission at this time.
    Filled { position: u64, nanos: u64 },
    /// This transmission arrived as a duplicate.
    Twice(Sent),
    /// Each segment behind the one that filled the gap at this position caused one ACK.
    Settled { position: u64 },
    /// A kept order explains the ACK of new data.
    Agrees,
    /// No kept order does. `overtaken` if data that were sent once arrived late.
    Disagrees { overtaken: bool },
}

/// Transmissions and ACKs since the last ACK of new data.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    sent: VecDeque<Sent>,
    /// The place of the first of `sent`.
    first: u64,
    /// What may have filled the gap at `filled`, in the order of places; empty if it is not known.
    fillers: Vec<Filler>,
    filled: u64,
    /// ACKs without news since then, and ACKs that were lost.
    answers: u64,
    lost: u64,
    /// ACKs that were lost before the last ACK of new data.
    lost_before: u64,
    /// Whether lost ACKs show in the identifications since then.
    numbered: bool,
    /// When the last ACK came, and the shortest time between two since the last one of new data, in nanoseconds.
    last: u64,
    apart: u64,
    /// What the last ACK of new data showed, until the next one agrees with it.
    pending: Vec<Shown>,
    /// ACKs of new data since the last one that no kept order explains.
    agreed: u32,
}

impl Arrivals {
    /// Begins with the outstanding transmissions, and the duplicate ACKs that came since the last ACK of new data.
    pub(super) fn begin(outstanding: impl Iterator<Item = Sent>, duplicates: u32) -> Self {
        let start = Filler { nanos: 0, last: 0 };
        Self {
            sent: outstanding.collect(),
            first: 1,
            fillers: vec![start],
            answers: duplicates.into(),
            agreed: AGREED,
            numbered: true,
            ..Self::default()
        }
    }

    /// Adds a transmission.
    pub(super) fn on_sent(&mut self, sent: Sent) {
        if self.sent.len() == MOST {
            self.sent.pop_front();
            self.first += 1;
            self.fillers.clear();
        }
        self.sent.push_back(sent);
    }

    /// Counts an ACK without news that comes at `now`, in nanoseconds.
    pub(super) fn on_without_news(&mut self, now: u64) {
        self.answers += 1;
        self.apart = self.apart.min(now.saturating_sub(self.last));
        self.last = now;
    }

    /// Counts ACKs that were lost; `None` if lost ones do not show.
    pub(super) fn on_lost(&mut self, count: Option<u32>) {
        self.numbered &= count.is_some();
        self.lost += u64::from(count.unwrap_or(0));
    }

    /// Handles an ACK of new data, as [`on_news`](Self::on_news) does, if these were sent once and nothing else passed
    /// or came since the last one. Returns whether it agrees with the one before, and what that showed; `None` if it
    /// is another ACK.
    #[inline]
    pub(super) fn follows(&mut self, news: &News, is_again: impl Fn(Block) -> bool) -> Option<(bool, Vec<Shown>)> {
        let agrees = match &self.fillers[..] {
            [] => false,
            [filler] if filler.last + 1 == self.first => true,
            _ => return None,
        };
        if self.answers + self.lost > 0 {
            return None;
        }
        let (mut next, mut count) = (news.block.start, 0);
        for sent in self.sent.iter().take_while(|sent| sent.block.end <= news.block.end) {
            if sent.block.start != next || is_again(sent.block) {
                return None;
            }
            (next, count) = (sent.block.end, count + 1);
        }
        if count == 0 || next < news.block.end {
            return None;
        }
        self.fillers.clear();
        self.fillers.push(Filler { nanos: self.sent[0].nanos, last: self.first + count - 1 });
        self.sent.drain(..count as usize);
        self.first += count;
        self.agreed += u32::from(agrees);
        (self.filled, self.lost_before) = (news.block.start, 0);
        (self.last, self.apart, self.numbered) = (news.nanos, u64::MAX, true);
        Some((agrees, std::mem::take(&mut self.pending)))
    }

    /// Returns whether all transmissions that were not answered are of data from `una` on.
    pub(super) fn are_new(&self, una: u64) -> bool {
        self.sent.iter().all(|sent| sent.block.start >= una)
    }

    /// Handles an ACK of new data. Returns what it shows. `is_again` tells whether data were sent more than once.
    pub(super) fn on_news(&mut self, news: &News, is_again: impl Fn(Block) -> bool) -> Vec<Shown> {
        let una = news.block.start;
        let older = |sent: &Sent| news.echo.zip(sent.stamp).is_none_or(|(echo, stamp)| !echo.precedes(stamp));
        let in_time = |sent: &Sent| sent.nanos + news.soonest <= news.nanos && older(sent);
        let mut fills: Vec<usize> = self.indices(|sent| covers(sent, una) && in_time(sent)).collect();
        // RFC 7323, section 4.3: the ACK echoes the timestamp of what filled the gap, unless an ACK before it was lost.
        let echoed = |index: &usize| news.echo.is_some() && self.sent[*index].stamp == news.echo;
        if fills.iter().any(echoed) {
            fills.retain(echoed);
        }
        let arrived =
            self.indices(|sent| una <= sent.block.start && sent.block.end <= news.block.end && !is_again(sent.block));
        let arrived: Vec<usize> = arrived.collect();
        let shown = if self.fillers.is_empty() { Vec::new() } else { self.compare(&mut fills, &arrived, una) };
        let last = arrived.last().copied().unwrap_or(0);
        let place = |index: usize| self.first + index as u64;
        let filler = |index: &usize| Filler { nanos: self.sent[*index].nanos, last: place((*index).max(last)) };
        self.fillers = fills.iter().map(filler).collect();
        let gone = self.fillers.iter().map(|filler| (filler.last + 1 - self.first) as usize).min();
        let gone = gone.unwrap_or_else(|| arrived.last().map_or(0, |last| last + 1));
        self.sent.drain(..gone);
        self.first += gone as u64;
        (self.filled, self.answers, self.lost, self.lost_before) = (una, 0, 0, self.lost);
        (self.last, self.apart, self.numbered) = (news.nanos, u64::MAX, true);
        shown
    }

    /// Compares the number of ACKs with the transmissions. Keeps those of `fills` that may have filled the gap at `una`.
    /// `arrived` are those that were sent once and that the ACK covers.
    fn compare(&mut self, fills: &mut Vec<usize>, arrived: &[usize], una: u64) -> Vec<Shown> {
        let is_one = |fills: &[usize]| matches!(fills, [one] if arrived.contains(one));
        let overtaken = is_one(fills) && self.answers >= 2 && arrived.len() as u64 > self.answers;
        let behind = |from: &Filler, to: usize| self.first + to as u64 > from.last;
        let in_order = fills.iter().any(|to| self.fillers.iter().any(|from| behind(from, *to)));
        let possible = |from: &Filler, to: usize| behind(from, to) && self.is_possible(from, to, una, arrived);
        fills.retain(|to| self.fillers.iter().any(|from| possible(from, *to)));
        if fills.is_empty() {
            self.pending.clear();
            self.agreed = 0;
            // Data that passed before the last filler arrived behind it: a card of the receiver joined others.
            return if in_order { vec![Shown::Disagrees { overtaken }] } else { Vec::new() };
        }
        let from = self.fillers.iter().copied().filter(|from| fills.iter().any(|to| possible(from, *to)));
        let from: Vec<_> = from.collect();
        let pending = if self.agreed >= AGREED { self.show(&from, fills, una) } else { Vec::new() };
        self.agreed += 1;
        [Shown::Agrees].into_iter().chain(std::mem::replace(&mut self.pending, pending)).collect()
    }

    /// Ends the count when everything below `una` is acknowledged. Returns what it shows.
    pub(super) fn finish(&mut self, una: u64) -> Vec<Shown> {
        let mut shown = std::mem::take(&mut self.pending);
        let to = self.sent.len();
        if let &[from] = &self.fillers[..]
            && self.agreed >= AGREED
            && (1..=self.most(&from, to, una)).contains(&self.answers)
        {
            self.show_duplicates(&from, to, una, &mut shown);
        }
        shown
    }

    fn indices(&self, which: impl Fn(&Sent) -> bool) -> impl Iterator<Item = usize> {
        self.sent.iter().enumerate().filter(move |(_, sent)| which(sent)).map(|(index, _)| index)
    }

    /// Returns the transmissions between two that brought news, but for those of the data at `una`, which would have
    /// brought news.
    fn between(&self, from: &Filler, to: usize, una: u64) -> impl Iterator<Item = &Sent> {
        let begin = (from.last + 1).saturating_sub(self.first) as usize;
        self.sent.range(begin.min(to)..to).filter(move |sent| !covers(sent, una))
    }

    /// Returns the most segments that passed in between.
    fn most(&self, from: &Filler, to: usize, una: u64) -> u64 {
        self.between(from, to, una).map(|sent| segments(sent.block)).sum()
    }

    /// Returns whether the transmission at index `to` may have filled the gap at `una`, after `from` filled the one
    /// before: enough others passed in between to cause the ACKs without news, and not none of these if others arrived.
    fn is_possible(&self, from: &Filler, to: usize, una: u64, arrived: &[usize]) -> bool {
        let begin = (from.last + 1).saturating_sub(self.first) as usize;
        let others = arrived.iter().any(|index| (begin..to).contains(index) && self.sent[*index].block.start > una);
        self.answers <= self.most(from, to, una) && (self.answers + self.lost > 0 || !others)
    }

    /// Returns what follows if the gap before was filled by one of `from`, and that at `una` by one of `fills`.
    fn show(&self, from: &[Filler], fills: &[usize], una: u64) -> Vec<Shown> {
        let &[to, ref others @ ..] = fills else { return Vec::new() };
        let is_known = others.is_empty();
        let mut shown = Vec::new();
        if is_known {
            shown.push(Shown::Filled { position: una, nanos: self.sent[to].nanos });
        }
        let mut exact = from.iter().filter(|from| self.most(from, to, una) == self.answers + self.lost);
        let found = match from {
            [only] => Some(only),
            _ if !is_known || self.lost_before + self.lost > 0 => None,
            // With fewer ACKs than were sent, a later one than the first seems to fit.
            [first, ..] if !self.numbered => exact.next().filter(|found| found.last == first.last),
            _ => exact.next().filter(|_| exact.next().is_none()),
        };
        let Some(found) = found.filter(|_| is_known || self.is_one_by_one()) else { return shown };
        if self.fillers.len() > 1 {
            shown.push(Shown::Filled { position: self.filled, nanos: found.nanos });
        }
        let missing = self.most(found, to, una).saturating_sub(self.answers + self.lost);
        if is_known && missing + self.lost + self.lost_before == 0 {
            shown.push(Shown::Settled { position: self.filled });
        }
        self.show_duplicates(found, to, una, &mut shown);
        shown
    }

    /// Returns whether segments arrived one by one since the last ACK of new data, and lost ACKs would show.
    fn is_one_by_one(&self) -> bool {
        self.numbered && self.answers > 0 && self.apart >= APART
    }

    /// Adds the duplicates among the transmissions behind `from` up to `to`. As many of the first ones as ACKs are missing
    /// may have arrived together with `from`, unless they came one by one. As many as ACKs were lost may have caused the
    /// ACK that seems to be of `from`.
    fn show_duplicates(&self, from: &Filler, to: usize, una: u64, shown: &mut Vec<Shown>) {
        let missing = self.most(from, to, una).saturating_sub(self.answers + self.lost);
        let unsure = self.lost_before + if self.is_one_by_one() { 0 } else { missing };
        let duplicates = self.between(from, to, una).filter(|sent| sent.block.end <= una);
        shown.extend(duplicates.skip(unsure as usize).map(|sent| Shown::Twice(*sent)));
    }
}

/// Returns whether a transmission has the data at a position.
fn covers(sent: &Sent, position: u64) -> bool {
    (sent.block.start..sent.block.end).contains(&position)
}

/// Returns the most segments into which a card divides a segment.
fn segments(block: Block) -> u64 {
    let len = block.end - block.start;
    if len <= LONGEST { 1 } else { len.div_ceil(SHORTEST) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const LEN: u64 = 10;
    const SOONEST: u64 = 50;

    /// A connection: its count, the segments sent, and those sent again.
    #[derive(Default)]
    struct Counted {
        arrivals: Arrivals,
        sent: BTreeSet<u64>,
        again: BTreeSet<u64>,
    }

    impl Counted {
        fn new(duplicates: u32) -> Self {
            Self { arrivals: Arrivals::begin(std::iter::empty(), duplicates), ..Self::default() }
        }

        fn send(&mut self, start: u64, nanos: u64) -> Sent {
            let sent = Sent { block: Block { start, end: start + LEN }, nanos, stamp: None };
            if !self.sent.insert(start) {
                self.again.insert(start);
            }
            self.arrivals.on_sent(sent);
            sent
        }

        fn repeats(&mut self, count: u32) {
            (0..count).for_each(|_| self.arrivals.on_without_news(0));
        }

        fn news(&mut self, start: u64, end: u64, nanos: u64) -> Vec<Shown> {
            let news = News { block: Block { start, end }, nanos, echo: None, soonest: SOONEST };
            let again = &self.again;
            self.arrivals.on_news(&news, |block| again.contains(&block.start))
        }
    }

    /// Returns a connection that lost the segment at 0 of five, and repaired it by a retransmission at 100.
    fn repaired(duplicates: u32) -> Counted {
        let mut one = Counted::new(0);
        (0..5).for_each(|number| _ = one.send(LEN * number, number));
        one.repeats(duplicates);
        one.send(0, 100);
        one
    }

    #[test]
    fn data_behind_a_gap_that_were_answered_show_which_transmission_filled_it() {
        let mut one = repaired(4);
        assert_eq!(one.news(0, 50, 200), [Shown::Agrees]);
        one.send(50, 210);
        let settled = Shown::Settled { position: 0 };
        let filled = Shown::Filled { position: 0, nanos: 100 };
        assert_eq!(one.news(50, 60, 300), [Shown::Agrees, filled, Shown::Settled { position: 0 }]);
        one.send(60, 310);
        let next = one.news(60, 70, 400);
        assert!(next.contains(&settled) && next.contains(&Shown::Filled { position: 50, nanos: 210 }), "{next:?}");
    }

    #[test]
    fn without_an_answer_to_data_behind_it_the_original_filled_the_gap() {
        let mut one = repaired(0);
        assert_eq!(one.news(0, 50, 200), [Shown::Agrees]);
        one.repeats(1);
        one.send(50, 210);
        let shown = one.news(50, 60, 300);
        // The ACK in between answers the retransmission.
        assert!(shown.contains(&Shown::Filled { position: 0, nanos: 0 }), "{shown:?}");
    }

    #[test]
    fn as_many_acks_as_segments_behind_what_filled_a_gap_answer_duplicates() {
        let judged = |answers, lost| {
            let mut one = repaired(2);
            one.news(0, 10, 200);
            one.arrivals.on_lost(Some(lost));
            let again = [10, 20, 30].map(|start| one.send(start, 201 + start));
            one.news(10, 40, 300);
            one.repeats(answers);
            one.send(40, 301);
            one.news(40, 50, 400);
            one.send(50, 401);
            let shown = one.news(50, 60, 500);
            again.map(|sent| shown.contains(&Shown::Twice(sent)))
        };
        assert_eq!(judged(2, 0), [false, true, true]);
        // A card may have joined the first ones with what filled the gap, or their ACKs were lost.
        assert_eq!([judged(1, 0), judged(0, 0)], [[false, false, true], [false; 3]]);
        assert_eq!([judged(2, 1), judged(2, 2)], [[false, false, true], [false; 3]]);
        // More ACKs than segments: no kept order explains them.
        assert_eq!(judged(4, 0), [false; 3]);
    }

    #[test]
    fn segments_that_arrive_one_by_one_are_not_joined() {
        let judged = |apart, lost| {
            let mut one = repaired(2);
            one.news(0, 10, 200);
            let again = [10, 20, 30].map(|start| one.send(start, 201 + start));
            one.news(10, 40, 300);
            one.arrivals.on_without_news(300 + apart);
            one.arrivals.on_lost(lost);
            one.send(40, 301);
            one.news(40, 50, 10 * APART);
            one.send(50, 10 * APART);
            let shown = one.news(50, 60, 11 * APART);
            again.map(|sent| shown.contains(&Shown::Twice(sent)))
        };
        assert_eq!(judged(APART, Some(0)), [false, true, true]);
        assert_eq!(judged(APART - 1, Some(0)), [false, false, true]);
        // Without identifications, ACKs may have been lost.
        assert_eq!(judged(APART, None), [false, false, true]);
    }

    #[test]
    fn more_acks_than_segments_disagree_and_nothing_is_shown_until_the_order_agrees_again() {
        let mut one = Counted::new(0);
        (0..6).for_each(|number| _ = one.send(LEN * number, number));
        one.repeats(3);
        // Data that were sent once are late: three others had arrived before them.
        assert_eq!(one.news(0, 40, 100), [Shown::Disagrees { overtaken: true }]);
        assert_eq!(one.news(40, 50, 200), []);
        assert_eq!(one.news(50, 60, 300), [Shown::Agrees]);
        one.send(60, 310);
        one.repeats(1);
        // A single ACK may answer a copy that the network made.
        assert_eq!(one.news(60, 70, 400), [Shown::Disagrees { overtaken: false }]);
    }

    #[test]
    fn a_long_segment_may_have_been_several() {
        let mut one = Counted::new(0);
        one.arrivals.on_sent(Sent { block: Block { start: 0, end: 10 }, nanos: 0, stamp: None });
        one.arrivals.on_sent(Sent { block: Block { start: 10, end: 2910 }, nanos: 1, stamp: None });
        one.repeats(2);
        one.send(0, 100);
        one.again.insert(0);
        assert_eq!(one.news(0, 2910, 200), [Shown::Agrees]);
    }

    #[test]
    fn the_oldest_transmissions_are_forgotten_and_with_them_the_order() {
        let mut one = Counted::new(0);
        (0..=MOST as u64).for_each(|number| _ = one.send(LEN * number, number));
        assert_eq!(one.arrivals.sent.len(), MOST);
        assert_eq!(one.news(0, LEN, 10_000), []);
    }
}
