//! A lying receiver of an association. It tells the lies of TCP's receivers. A TSN stands for the
//! sequence number of one byte, and a duplicate TSN for a DSACK block. A gap ack block stands for a
//! SACK block, and the timestamp chunk for the timestamps option.

use crate::liar;
use crate::packet::SctpPacket;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Chunk, Data, Gap, Gaps, Header, Sack, SackFlags};
use eifel_packet::segment::{Flags, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_path::stream::Stream;
use eifel_sctp::Packet;

/// A packet that is held back.
pub struct Waiting {
    pub packet: Packet,
    pub addresses: Addresses,
}

pub struct Liar(liar::Liar<Waiting>);

/// A packet with a SACK, and possibly a timestamp chunk.
struct Answer<'b> {
    header: Header,
    stamp: Option<Timestamps>,
    sack: Sack<'b>,
}

/// The gap ack blocks of an altered answer.
enum Reported<'t> {
    /// All true blocks.
    Truth,
    /// All true blocks, and this block.
    Besides((Seq, Seq)),
    /// Only these blocks.
    Instead(&'t [(Seq, Seq)]),
}

impl Liar {
    /// Creates a liar that draws its random numbers from `stream`.
    pub fn new(kind: liar::Kind, stream: Stream) -> Self {
        Self(liar::Liar::new(kind, stream))
    }

    /// Notes the chunks of a packet that arrives.
    pub fn observe(&mut self, packet: &Packet) {
        let mut timestamps = None;
        for chunk in packet.chunks().flatten() {
            match chunk {
                Chunk::Init(init) => self.0.begins(init.initial_tsn),
                Chunk::Timestamp(stamp) => timestamps = Some(stamp),
                Chunk::Data(Data { tsn, .. }) => {
                    let mut segment = Segment { seq: tsn, payload_len: 1, ..Segment::default() };
                    segment.options.timestamps = timestamps;
                    self.0.observe(&segment);
                }
                _ => {}
            }
        }
    }

    /// Alters a packet that is about to leave, if it holds only a SACK and its timestamp. Returns
    /// the delay after which it leaves; `None` if it never leaves.
    pub fn alter(&mut self, packet: &mut Packet) -> Option<Duration> {
        let Some(answer) = Answer::read(packet) else { return Some(Duration::ZERO) };
        let honest = answer.segment();
        let mut told = honest;
        let leaves = self.0.alter(&mut told);
        if leaves.is_some() && told != honest {
            *packet = answer.altered(&honest, &told);
        }
        leaves
    }

    /// Alters a packet as [`alter`](Self::alter) does, and keeps it if it leaves later. Returns
    /// whether the liar keeps it from leaving now.
    pub fn falsify(&mut self, now: Instant, sctp: &mut SctpPacket) -> bool {
        let leaves = self.alter(&mut sctp.packet);
        self.0.keeps(now, leaves, || Waiting { packet: sctp.packet.clone(), addresses: sctp.addresses })
    }

    /// Returns when the next held packet leaves; [`Instant::NEVER`] if none is held.
    pub fn due(&self) -> Instant {
        self.0.held.next()
    }

    /// Removes and returns a held packet whose time to leave has come.
    pub fn release(&mut self, now: Instant) -> Option<Waiting> {
        self.0.held.take(now)
    }
}

impl<'b> Answer<'b> {
    /// Reads a packet. Returns `None` if it holds anything except a SACK and its timestamp.
    fn read(packet: &'b Packet) -> Option<Self> {
        let (sack, stamp) = packet.only_sack()?;
        Some(Self { header: *packet.header(), stamp, sack })
    }

    /// Returns the equivalent acknowledgement of TCP, with as many blocks as fit.
    fn segment(&self) -> Segment {
        let ack = after(self.sack.cumulative);
        let duplicate = self.sack.duplicates().next();
        let covers = |block: &(Seq, Seq)| duplicate.is_some_and(|tsn| holds(*block, tsn));
        // The block that contains a duplicate follows right after it (RFC 2883, section 4).
        let ordered = self.gaps().filter(covers).chain(self.gaps().filter(|gap| !covers(gap)));
        let mut sack = SackBlocks::EMPTY;
        for (left, right) in duplicate.map(|tsn| (tsn, after(tsn))).into_iter().chain(ordered) {
            sack.push(left, right);
        }
        let answers_again = self.sack.flags.has(SackFlags::ANSWERS_SENT_AGAIN);
        let flags = if answers_again { Flags::ACK.with(Flags::ANSWERS_SENT_AGAIN) } else { Flags::ACK };
        let mut segment = Segment { ack, flags, ..Segment::default() };
        segment.options.timestamps = self.stamp;
        segment.options.sack = sack;
        segment
    }

    /// Returns the packet that is equivalent to `told`.
    fn altered(&self, honest: &Segment, told: &Segment) -> Packet {
        let cumulative = Seq(told.ack.0.wrapping_sub(1));
        let (duplicate, reported) = self.reported(honest, told);
        let duplicates = match duplicate {
            Some(tsn) if self.sack.duplicates().next() == Some(tsn) => self.sack.duplicates.to_vec(),
            other => other.map(|tsn| tsn.0.to_be_bytes()).into_iter().collect(),
        };
        // A distance from the cumulative TSN has 16 bits. Blocks beyond it are left out.
        let distance = |tsn: Seq| u16::try_from(tsn.0.wrapping_sub(cumulative.0)).ok();
        let gap = |(left, right): (Seq, Seq)| {
            Some(Gap { start: distance(left)?, end: distance(Seq(right.0.wrapping_sub(1)))? }.to_bytes())
        };
        let mut gaps: Vec<[u8; 4]> = match reported {
            Reported::Truth => self.gaps().filter_map(gap).collect(),
            Reported::Besides(block) => self.gaps().chain([block]).filter_map(gap).collect(),
            Reported::Instead(blocks) => blocks.iter().copied().filter_map(gap).collect(),
        };
        gaps.sort_unstable();
        let again = told.flags.has(Flags::ANSWERS_SENT_AGAIN);
        let flags = if again { SackFlags::ANSWERS_SENT_AGAIN } else { SackFlags::default() };
        let sack = Sack { flags, cumulative, gaps: Gaps(&gaps), duplicates: &duplicates, ..self.sack };
        let mut packet = Packet::new(self.header);
        let stamp = told.options.timestamps.map(Chunk::Timestamp);
        stamp.into_iter().chain([Chunk::Sack(sack)]).for_each(|chunk| packet.push_chunk(&chunk));
        packet
    }

    /// Returns the duplicate and the blocks that `told` reports. A segment has room for only a few
    /// blocks. Blocks that equal the first true blocks stand for all true blocks.
    fn reported<'t>(&self, honest: &'t Segment, told: &'t Segment) -> (Option<Seq>, Reported<'t>) {
        let duplicates = usize::from(!self.sack.duplicates.is_empty());
        let truth = &honest.options.sack.as_slice()[duplicates..];
        let is_duplicate = |&(left, _): &(Seq, Seq)| {
            let below = told.ack.0.wrapping_sub(left.0).wrapping_sub(1) < 1 << 31;
            below || self.gaps().any(|gap| holds(gap, left))
        };
        // An invented block reports data that has arrived in order, above the altered number, as if
        // there were a gap below it.
        let is_invented = |&(left, right): &(Seq, Seq)| {
            let above = left.0.wrapping_sub(told.ack.0).wrapping_sub(1) < 1 << 31;
            above && honest.ack.0.wrapping_sub(right.0) < 1 << 31
        };
        let beyond = |blocks: &'t [(Seq, Seq)]| match blocks {
            [] => Some(Reported::Instead(&[])),
            _ if truth.starts_with(blocks) => Some(Reported::Truth),
            [first, rest @ ..] if is_invented(first) && truth.starts_with(rest) => Some(Reported::Besides(*first)),
            _ => None,
        };
        let blocks = told.options.sack.as_slice();
        if let Some(reported) = beyond(blocks) {
            return (None, reported);
        }
        match blocks {
            [first, rest @ ..] if is_duplicate(first) => match beyond(rest) {
                Some(reported) => (Some(first.0), reported),
                None => (None, Reported::Instead(blocks)),
            },
            _ => (None, Reported::Instead(blocks)),
        }
    }

    /// Iterates over the true gap ack blocks: the first TSN of each, and the first TSN after it.
    fn gaps(&self) -> impl Iterator<Item = (Seq, Seq)> {
        let ack = after(self.sack.cumulative);
        self.sack.gaps.iter().map(move |gap| (at(ack, gap.start), after(at(ack, gap.end))))
    }
}

/// Returns whether a block contains a TSN.
fn holds((left, right): (Seq, Seq), tsn: Seq) -> bool {
    tsn.0.wrapping_sub(left.0) < right.0.wrapping_sub(left.0)
}

fn after(tsn: Seq) -> Seq {
    Seq(tsn.0.wrapping_add(1))
}

/// Returns the TSN at this distance from the cumulative TSN, which is `ack` - 1.
fn at(ack: Seq, distance: u16) -> Seq {
    Seq(ack.0.wrapping_sub(1).wrapping_add(u32::from(distance)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_packet::sctp::DataFlags;
    use liar::Kind;
    use liar::schedule::{Answer as Table, Duplicates, Echoed, Gaps, Number, Schedule};

    const HEADER: Header = Header { source_port: 1, destination_port: 2, verification_tag: 3 };
    /// TSNs wrap in these tests.
    const FIRST: u32 = u32::MAX - 2;

    fn tsn(index: u32) -> Seq {
        Seq(FIRST.wrapping_add(index))
    }

    fn packet(chunks: &[Chunk<'_>]) -> Packet {
        let mut packet = Packet::new(HEADER);
        chunks.iter().for_each(|chunk| packet.push_chunk(chunk));
        packet
    }

    fn stamp(value: u32, echo: u32) -> Chunk<'static> {
        Chunk::Timestamp(Timestamps { value, echo })
    }

    /// Returns a packet with the chunk of this index and the timestamp `value`.
    fn data(index: u32, value: u32) -> Packet {
        let data = Data { flags: DataFlags::WHOLE, tsn: tsn(index), stream: 0, ssn: 0, ppid: [0; 4], payload: b"four" };
        packet(&[stamp(value, 0), Chunk::Data(data)])
    }

    /// The contents of a SACK: the first missing index, gap ack blocks and duplicates as indices,
    /// and the echo.
    type Said = (u32, Vec<(u32, u32)>, Vec<u32>, u32);

    fn sack((next, gaps, duplicates, echo): &Said) -> Packet {
        let gaps: Vec<[u8; 4]> = gaps
            .iter()
            .map(|(from, to)| Gap { start: (from - next + 1) as u16, end: (to - next + 1) as u16 }.to_bytes())
            .collect();
        let duplicates: Vec<[u8; 4]> = duplicates.iter().map(|index| tsn(*index).0.to_be_bytes()).collect();
        let cumulative = Seq(tsn(*next).0.wrapping_sub(1));
        let flags = SackFlags::ANSWERS_SENT_AGAIN;
        let sack = Sack { flags, cumulative, a_rwnd: 9, gaps: Gaps(&gaps), duplicates: &duplicates };
        packet(&[stamp(77, *echo), Chunk::Sack(sack)])
    }

    fn read(packet: &Packet) -> Said {
        let answer = Answer::read(packet).expect("a SACK and its timestamp");
        let index = |tsn: Seq| tsn.0.wrapping_sub(FIRST);
        let next = index(after(answer.sack.cumulative));
        let gaps = answer.sack.gaps.iter().map(|gap| (next + u32::from(gap.start) - 1, next + u32::from(gap.end) - 1));
        (next, gaps.collect(), answer.sack.duplicates().map(index).collect(), answer.stamp.unwrap().echo)
    }

    /// Shows chunks, each an index and a timestamp, to a liar. Returns its answer.
    fn answered(kind: Kind, heard: &[(u32, u32)], honest: &Said) -> Option<Said> {
        let mut liar = Liar::new(kind, Stream::new(1, &["test"]));
        heard.iter().for_each(|(index, value)| liar.observe(&data(*index, *value)));
        let mut packet = sack(honest);
        liar.alter(&mut packet).map(|_| read(&packet))
    }

    fn always(answer: Table) -> Kind {
        Kind::Scheduled(Schedule { tables: [[answer; 5]; 2] })
    }

    const HEARD: [(u32, u32); 7] = [(0, 10), (1, 11), (2, 12), (4, 14), (6, 16), (8, 18), (10, 20)];

    fn honest() -> Said {
        (3, vec![(4, 4), (6, 6), (8, 8), (10, 10), (12, 12), (14, 14)], vec![0, 1], 12)
    }

    #[test]
    fn an_answer_that_is_not_altered_keeps_every_block() {
        assert_eq!(answered(always(Table::default()), &HEARD, &honest()), Some(honest()));
    }

    #[test]
    fn each_lie_is_told_in_chunks() {
        let (next, gaps, duplicates, echo) = honest();
        let told = |answer| answered(always(answer), &HEARD, &honest());
        let one_less = Table { number: Number::OneLess, ..Table::default() };
        assert_eq!(told(one_less), Some((2, gaps.clone(), duplicates.clone(), echo)));
        let silent = Table { withheld: true, ..Table::default() };
        assert_eq!(told(silent), None);
        let older = Table { echoed: Echoed::AboveGap, ..Table::default() };
        assert_eq!(told(older), Some((next, gaps.clone(), duplicates.clone(), 14)));
        let hidden = Table { duplicates: Duplicates::Hidden, ..Table::default() };
        assert_eq!(told(hidden), Some((next, gaps.clone(), vec![], echo)));
        let invented = Table { duplicates: Duplicates::Invented, ..Table::default() };
        assert_eq!(told(invented), Some((next, gaps, vec![10], echo)));
        let blind = Table { gaps: Gaps::Hidden, ..Table::default() };
        assert_eq!(told(blind), Some((next, vec![], duplicates, echo)));
        // One chunk less is acknowledged. No further chunk in order follows it, so no gap is
        // invented.
        let inventive = Table { number: Number::OneLess, gaps: Gaps::Invented, ..Table::default() };
        assert_eq!(told(inventive), told(one_less));
    }

    /// Chunk 0 is acknowledged, 1 is denied, and 2 is reported above it, with every true block.
    #[test]
    fn a_gap_is_invented_below_what_has_arrived() {
        let (_, gaps, duplicates, echo) = honest();
        let mut liar = Liar::new(
            always(Table { number: Number::OneMore, gaps: Gaps::Invented, ..Table::default() }),
            Stream::new(1, &["test"]),
        );
        HEARD.iter().for_each(|(index, value)| liar.observe(&data(*index, *value)));
        let mut packet = sack(&honest());
        liar.alter(&mut packet).unwrap();
        let with_invented = [&[(2, 2)], &gaps[..]].concat();
        assert_eq!(read(&packet), (1, with_invented, duplicates, echo));
    }

    /// A TSN counts as a duplicate up to 2^31 - 1 TSNs below the acknowledged TSN.
    #[test]
    fn an_old_duplicate_tsn_is_still_a_duplicate() {
        let invented = always(Table { duplicates: Duplicates::Invented, ..Table::default() });
        for next in [1, 5, (1 << 30) - 1, (1 << 30) + 5, (1 << 31) - 1] {
            let heard = [(next - 1, 10), (0, 11)];
            assert_eq!(
                answered(invented, &heard, &(next, vec![], vec![], 7)),
                Some((next, vec![], vec![0], 7)),
                "{next}"
            );
        }
    }

    #[test]
    fn a_forged_gap_report_covers_what_is_missing() {
        let (next, _, duplicates, echo) = honest();
        let said = answered(Kind::ForgedSack, &HEARD, &honest());
        assert_eq!(said, Some((next, vec![(3, 10)], vec![], echo)), "{duplicates:?} leave with the true blocks");
    }

    #[test]
    fn the_bit_is_denied() {
        let mut liar = Liar::new(Kind::ForgedMark, Stream::new(1, &["test"]));
        let mut packet = sack(&honest());
        assert_eq!(liar.alter(&mut packet), Some(Duration::ZERO));
        assert_eq!(Answer::read(&packet).unwrap().sack.flags, SackFlags::default());
        assert_eq!(read(&packet), honest());
    }

    #[test]
    fn packets_with_data_or_control_chunks_are_not_altered() {
        let mut liar = Liar::new(always(Table { withheld: true, ..Table::default() }), Stream::new(1, &["test"]));
        liar.observe(&data(0, 1));
        for mut told in [data(5, 7), packet(&[Chunk::CookieAck])] {
            let before = told.to_bytes();
            assert_eq!(liar.alter(&mut told), Some(Duration::ZERO));
            assert_eq!(told.to_bytes(), before);
        }
    }
}
