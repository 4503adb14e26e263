//! Reads the box's `path.csv`: TCP packets and their fates.

use super::frames::Key;
use crate::hiccup::truth::PacketId;
use crate::hiccup::{Direction, Fate};
use crate::system::Error;
use eifel_base::ranges::Block;
use eifel_base::time::Instant;
use eifel_packet::segment::Flags;
use eifel_packet::seq::{Seq, unwrap};
use std::collections::BTreeMap;
use std::path::Path;

/// A packet, or a copy of it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub direction: Direction,
    /// When it came in; times count from 1970.
    pub entered: Instant,
    /// When it came out; `None` if it did not.
    pub left: Option<Instant>,
    pub fate: Fate,
    /// The fields by which it is found in a capture.
    pub key: Key,
    /// Its flow, its direction, and its number in both.
    pub which: PacketId,
    /// The positions of its data; `None` if it has none.
    pub block: Option<Block>,
    /// Its source and destination port; `None` if the log does not tell them.
    pub ports: Option<(u16, u16)>,
}

impl Row {
    /// Returns whether it is a copy that the box made.
    pub fn is_copy(&self) -> bool {
        self.fate == Fate::Copied
    }
}

/// The counting of stream positions in one direction of a flow.
#[derive(Default)]
struct Stream {
    isn: Option<Seq>,
    before: u64,
    nxt: u64,
}

/// Reads the file. Rows are in the order in which packets came in.
///
/// # Errors
/// The line that is wrong, and how.
pub fn read(path: &Path) -> Result<Vec<Row>, Error> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let advice = if missing { "expected a folder that `eifel live hiccup --out` has written" } else { "" };
        Error::new(&place, &error, advice)
    })?;
    parse(&text).map_err(|what| Error::new(place, &what, ""))
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines().enumerate();
    let (_, header) = lines.next().ok_or("empty: expected a header")?;
    let names: Vec<&str> = header.split(',').collect();
    let find = |name: &str| names.iter().position(|other| *other == name).ok_or(format!("line 1: no column {name}"));
    let [dir, t_in, t_out, fate] = [find("dir")?, find("t_in")?, find("t_out")?, find("fate")?];
    let [seq, ack, len, flags] = [find("seq")?, find("ack")?, find("len")?, find("flags")?];
    let [ipid, tsval, flow, n] = [find("ipid")?, find("tsval")?, find("flow")?, find("n")?];
    let protocol = find("protocol")?;
    let ports = find("sport").and_then(|source| Ok((source, find("dport")?))).ok();
    let mut rows = Vec::new();
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let at = |place: usize| fields.get(place).copied().unwrap_or_default();
        if at(protocol) != "6" || at(seq).is_empty() {
            continue;
        }
        let wrong = |place: usize| format!("line {}: {}: {:?}", number + 1, names[place], at(place));
        let whole = |place: usize| at(place).parse::<u64>().map_err(|_| wrong(place));
        let time = |place: usize| instant(at(place)).ok_or_else(|| wrong(place));
        let direction = if at(dir) == "A" { Direction::There } else { Direction::Back };
        let key = Key {
            seq: whole(seq)? as u32,
            ack: whole(ack)? as u32,
            len: whole(len)? as u32,
            flags: whole(flags)? as u16,
            identification: whole(ipid)? as u16,
            stamp: at(tsval).parse().unwrap_or_default(),
        };
        rows.push(Row {
            direction,
            entered: time(t_in)?,
            left: if at(t_out).is_empty() { None } else { Some(time(t_out)?) },
            fate: Fate::named(at(fate)).ok_or_else(|| wrong(fate))?,
            key,
            which: PacketId { flow: whole(flow)? as u32, direction, number: whole(n)? },
            block: None,
            ports: match ports {
                Some((source, destination)) => Some((whole(source)? as u16, whole(destination)? as u16)),
                None => None,
            },
        });
    }
    rows.sort_by_key(|row| (row.entered, row.which.number));
    let mut streams: BTreeMap<(u32, Direction), Stream> = BTreeMap::new();
    for row in &mut rows {
        row.block = streams.entry((row.which.flow, row.direction)).or_default().positions(&row.key);
    }
    Ok(rows)
}

impl Stream {
    /// Returns the positions of a segment's data. Positions of a later connection between the same
    /// ends follow those of the one before.
    fn positions(&mut self, key: &Key) -> Option<Block> {
        if Flags(key.flags).has(Flags::SYN) {
            if self.isn != Some(Seq(key.seq)) {
                *self = Self { isn: Some(Seq(key.seq)), before: self.before + self.nxt, nxt: 1 };
            }
            return None;
        }
        if key.len == 0 {
            return None;
        }
        let isn = *self.isn.get_or_insert(Seq(key.seq.wrapping_sub(1)));
        let start = unwrap(self.nxt, isn, Seq(key.seq));
        let end = start + u64::from(key.len);
        self.nxt = self.nxt.max(end);
        Some(Block { start: self.before + start, end: self.before + end })
    }
}

/// Reads seconds since 1970 with a fraction.
pub(crate) fn instant(text: &str) -> Option<Instant> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let nanos: u64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    Some(Instant::from_nanos(seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_path::stream::Stream;

    const HEADER: &str = "dir,t_in,t_out,fate,seq,ack,len,flags,ipid,tsval,tsecr,t_due,flow,n,protocol,bytes";

    #[test]
    fn positions_continue_over_a_sequence_wrap_and_a_new_connection() {
        let text = format!(
            "{HEADER}\nA,1.0,1.1,ok,4294967290,0,0,2,1,,,1.1,0,1,6,40\n\
             A,1.2,1.3,ok,4294967291,1,10,16,2,,,1.3,0,2,6,50\n\
             A,1.4,,queue,5,1,10,16,3,,,1.4,0,3,6,50\n\
             A,2.0,2.1,ok,100,0,0,2,4,,,2.1,0,4,6,40\n\
             A,2.2,2.3,ok,101,1,10,16,5,,,2.3,0,5,6,50\nB,2.2,2.3,ok,,,,,5,,,2.3,1,5,17,50\n"
        );
        let rows = parse(&text).unwrap();
        let blocks: Vec<_> = rows.iter().map(|row| row.block.map(|block| (block.start, block.end))).collect();
        assert_eq!(blocks, [None, Some((1, 11)), Some((11, 21)), None, Some((22, 32))]);
        assert_eq!(rows[2].left, None);
        assert_eq!(rows[1].entered, Instant::from_nanos(1_200_000_000));
    }

    #[test]
    fn an_error_names_the_line_that_cannot_be_read() {
        let text = format!("{HEADER}\nA,1.0,1.1,lost,1,0,0,2,1,,,1.1,0,1,6,40\n");
        assert_eq!(parse(&text).unwrap_err(), "line 2: fate: \"lost\"");
        assert_eq!(parse("dir\n").unwrap_err(), "line 1: no column t_in");
    }

    /// A sender of connections between the same ends that knows the positions of its data.
    struct Sender {
        draws: Stream,
        isn: u32,
        /// The position after those of earlier connections.
        before: u64,
        /// The next position of this connection; the SYN has position 0.
        sent: u64,
    }

    impl Sender {
        fn below(&mut self, count: u64) -> u64 {
            self.draws.below(count)
        }

        /// Returns sequence number, length, flags and positions of the next segment.
        fn next(&mut self) -> (u32, u64, u16, Option<(u64, u64)>) {
            match self.below(20) {
                0 => {
                    self.before += self.sent;
                    (self.isn, self.sent) = (self.below(1 << 32) as u32, 1);
                    (self.isn, 0, Flags::SYN.0, None)
                }
                // The SYN once more, with an ACK, as in a retransmitted answer to a SYN.
                1 => (self.isn, 0, Flags::SYN.with(Flags::ACK).0, None),
                2..5 => (self.isn.wrapping_add(self.sent as u32), 0, Flags::ACK.0, None),
                kind => {
                    let len = 1 + self.below(1400);
                    let start = if kind < 15 { self.sent } else { 1 + self.below(self.sent) };
                    self.sent = self.sent.max(start + len);
                    let seq = self.isn.wrapping_add(start as u32);
                    (seq, len, Flags::ACK.0, Some((self.before + start, self.before + start + len)))
                }
            }
        }
    }

    /// The first connection of each flow began before the log.
    #[test]
    fn unwrapped_positions_equal_those_of_a_64_bit_counter() {
        let (mut lines, mut expected) = (Vec::new(), Vec::new());
        let mut senders = [0, 1, 2].map(|flow| {
            let mut draws = Stream::new(flow, &["positions"]);
            let isn = draws.below(1 << 32) as u32;
            Sender { draws, isn, before: 0, sent: 1 }
        });
        for number in 1..3000_u64 {
            let flow = number as usize % 3;
            let (dir, flow_number) = [("A", 0), ("B", 0), ("A", 1)][flow];
            let sent = match (number, &mut senders[flow]) {
                // Positions count from the first data seen.
                (1..=3, sender) => {
                    sender.sent = 101;
                    (sender.isn.wrapping_add(1), 100, Flags::ACK.0, Some((1, 101)))
                }
                (_, sender) => sender.next(),
            };
            let (seq, len, flags, block) = sent;
            // Three packets come in at the same instant, numbered in the order in which they come.
            let at = number / 3;
            lines.push(format!("{dir},{at}.0,,queue,{seq},1,{len},{flags},1,,,1.1,{flow_number},{number},6,40"));
            expected.push(block);
        }
        // The box writes a line when a packet leaves, so lines may be out of order.
        lines.chunks_mut(20).for_each(<[String]>::reverse);
        let text = format!("{HEADER}\n{}\n", lines.join("\n"));
        let found: Vec<_> = parse(&text).unwrap().iter().map(|row| row.block.map(|one| (one.start, one.end))).collect();
        assert_eq!(found, expected);
    }
}
