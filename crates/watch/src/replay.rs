//! An observation as the packets that a capture at the sender would have shown, so that the rules for
//! captures judge it.
//!
//! The times of segments are those of their timestamps. The handshake, which is long over, is put in
//! front: it shows the options, and takes the shortest round trip that the kernel has measured.

use crate::fact::{BY_TIMER, HEADER, MICROSECONDS, MORE};
use crate::fact::{DISORDER, Fact, RECOVERY, SACK, SCALES, SENT_AGAIN, Sent, Start, Step, TIMESTAMPS};
use eifel_capture::analysis::{Known, Single};
use eifel_capture::frame::decode::Packet;
use eifel_capture::result::{End, Flow, Retransmission, When};
use eifel_packet::ip::Addresses;
use eifel_packet::options;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;

/// The time between a packet of the handshake and the next thing that happens, in nanoseconds.
const AT_ONCE: u64 = 10_000;

/// The most segments of a buffer.
const MOST_SEGMENTS: u32 = 1 << 10;

/// The window of packets that are put in front.
const WINDOW: u16 = u16::MAX;

/// A packet, when it passed, and which retransmission it is: the number of its fact, and of its segment
/// there.
struct Passing {
    nanos: u64,
    packet: Packet,
    retransmission: Option<(usize, usize)>,
}

/// Returns the segments that a buffer of the socket leaves as: start and length. A buffer without data is one
/// too.
pub(crate) fn segments(seq: u32, len: u32, mss: u32) -> impl Iterator<Item = (u32, u32)> {
    let mss = mss.max(1);
    let count = len.div_ceil(mss).clamp(1, MOST_SEGMENTS);
    (0..count).map(move |number| {
        let from = number * mss;
        (seq.wrapping_add(from), (len - from).min(if number + 1 == count { u32::MAX } else { mss }))
    })
}

/// What is made of an observation's facts.
pub(crate) struct Replay<'a> {
    start: &'a Start,
    passing: Vec<Passing>,
    /// The segments that were sent, in the order of their sequence numbers.
    sent: Vec<Sent>,
    /// Segments of which more than one transmission was sent before they were observed.
    unknown: Vec<(u32, u32)>,
    identification: u16,
    /// Whether the kernel has seen the path change the order of packets.
    reorders: bool,
}

pub(crate) fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

impl<'a> Replay<'a> {
    pub(crate) fn new(start: &'a Start, facts: &[Fact]) -> Self {
        let reorders = facts.iter().filter_map(Fact::step).any(|step| step.reorderings > 0);
        let mut replay =
            Self { start, passing: Vec::new(), sent: Vec::new(), unknown: Vec::new(), identification: 0, reorders };
        replay.opening_ack(facts);
        for (number, fact) in facts.iter().enumerate() {
            match fact {
                Fact::Sent(sent) => replay.on_sent(sent, &facts[number + 1..]),
                Fact::Retransmitted(step) => replay.on_retransmission(number, step),
                Fact::Ack(step) => replay.on_ack(step),
                Fact::Start(_) | Fact::State(_) | Fact::End(_) => {}
            }
        }
        replay.handshake();
        replay
    }

    /// Returns the timestamp of a packet that leaves at `nanos`.
    fn stamp(&self, nanos: u64) -> u32 {
        let unit = if self.start.options & MICROSECONDS != 0 { 1_000 } else { 1_000_000 };
        // The field wraps.
        ((nanos / unit) as u32).wrapping_add(self.start.tsoffset)
    }

    fn timestamps(&self, value: u32, echo: u32) -> Option<Timestamps> {
        (self.start.options & TIMESTAMPS != 0).then_some(Timestamps { value, echo })
    }

    fn addresses(&self) -> Addresses {
        let (local, remote) = (self.start.local.ip(), self.start.remote.ip());
        let unspecified = Addresses::V4 { source: [0; 4].into(), destination: [0; 4].into() };
        Addresses::new(local, remote).unwrap_or(unspecified)
    }

    fn flow(&self) -> Flow {
        Flow::new(&self.addresses(), (self.start.local.port(), self.start.remote.port()), 0)
    }

    fn add(&mut self, nanos: u64, segment: Segment, retransmission: Option<(usize, usize)>) {
        let own = segment.source_port == self.start.local.port();
        let addresses = if own { self.addresses() } else { self.addresses().reversed() };
        let packet = Packet { addresses, identification: 0, hop_limit: 64, tunnel: 0, segment };
        self.passing.push(Passing { nanos, packet, retransmission });
    }

    fn own(&self, seq: u32, nanos: u64, ts_recent: u32) -> Segment {
        Segment {
            source_port: self.start.local.port(),
            destination_port: self.start.remote.port(),
            seq: Seq(seq),
            ack: Seq(self.start.rcv_nxt),
            flags: Flags::ACK,
            window: WINDOW,
            options: Options { timestamps: self.timestamps(self.stamp(nanos), ts_recent), ..Options::NONE },
            ..Segment::EMPTY
        }
    }

    fn answer(&self, ack: u32, echo: u32) -> Segment {
        Segment {
            source_port: self.start.remote.port(),
            destination_port: self.start.local.port(),
            seq: Seq(self.start.rcv_nxt),
            ack: Seq(ack),
            flags: Flags::ACK,
            window: WINDOW,
            options: Options { timestamps: self.timestamps(self.start.window.ts_recent, echo), ..Options::NONE },
            ..Segment::EMPTY
        }
    }

    /// Adds the segments of a buffer, which leave at once.
    fn add_sent(&mut self, nanos: u64, (seq, end, len): (u32, u32, u32), recent: u32, number: Option<usize>) {
        for (index, (start, payload)) in segments(seq, len, self.start.mss).enumerate() {
            let mut segment = self.own(start, nanos, recent);
            segment.payload_len = payload;
            if end.wrapping_sub(start) == payload.wrapping_add(1) {
                segment.flags = segment.flags.with(Flags::FIN);
            }
            self.add(nanos, segment, number.map(|number| (number, index)));
        }
    }

    /// Adds the first transmission of a segment.
    fn on_sent(&mut self, sent: &Sent, behind: &[Fact]) {
        let mut sent = *sent;
        let una = self.start.window.una;
        if is_before(sent.seq, una) {
            sent.len = sent.len.saturating_sub(una.wrapping_sub(sent.seq));
            sent.seq = una;
        }
        if sent.sacked & SENT_AGAIN != 0 {
            // Its time is that of the retransmission, which is the next fact but for segments, unless
            // there was an earlier one.
            let next = behind.iter().find(|fact| !matches!(fact, Fact::Sent(_)));
            let repeats = |step: &Step| step.seq == sent.seq && step.sent_nanos == sent.head.nanos;
            if !next.is_some_and(|fact| matches!(fact, Fact::Retransmitted(step) if repeats(step))) {
                self.unknown.push((sent.seq, sent.end));
            }
            sent.head.nanos = self.first_sent(&sent);
        }
        self.add_sent(sent.head.nanos, (sent.seq, sent.end, sent.len), sent.ts_recent, None);
        self.sent.push(sent);
    }

    /// Estimates when a segment left first of which only the retransmission is known: with the segment
    /// below it, or at the beginning of the flight.
    fn first_sent(&self, sent: &Sent) -> u64 {
        let flight = Some(self.start.first_sent_us * 1000).filter(|nanos| *nanos > 0);
        let below = self.sent.last().map(|below| below.head.nanos);
        let trip = u64::from(self.start.srtt_us) * 1000;
        below.max(flight).filter(|nanos| *nanos < sent.head.nanos).unwrap_or(sent.head.nanos.saturating_sub(trip))
    }

    fn on_retransmission(&mut self, number: usize, step: &Step) {
        let nanos = step.left();
        if step.head.flags & MORE != 0 && self.sent.last().is_none_or(|last| is_before(last.seq, step.seq)) {
            self.unknown.push((step.seq, step.end));
        }
        self.add_sent(nanos, (step.seq, step.end, step.len), step.window.ts_recent, Some(number));
    }

    fn on_ack(&mut self, step: &Step) {
        if let Some(segment) = parse(&step.header, step.len) {
            self.add(step.head.nanos, segment, None);
            if let Some(ack) = self.passing.last_mut() {
                // It shows which ACKs were lost.
                ack.packet.identification = step.identification;
            }
        }
    }

    /// Adds the ACK that began the observation, which no tracepoint shows: what it reported is what
    /// the socket remembers.
    fn opening_ack(&mut self, facts: &[Fact]) {
        let first = facts.iter().find(|fact| !matches!(fact, Fact::Sent(_)));
        let Some(Fact::State(step)) = first else { return };
        if ![DISORDER, RECOVERY].contains(&step.head.ca_state) || step.head.flags & BY_TIMER != 0 {
            return;
        }
        let window = &self.start.window;
        let mut segment = self.answer(window.una, self.start.rcv_tsecr);
        let mut sack = SackBlocks::EMPTY;
        let outstanding = |&&(left, right): &&(u32, u32)| {
            is_before(window.una, left) && is_before(left, right) && !is_before(window.nxt, right)
        };
        if self.start.sacked_out > 0 {
            for (left, right) in self.start.sacks.iter().filter(outstanding) {
                sack.push(Seq(*left), Seq(*right));
            }
        }
        segment.options.sack = sack;
        self.add(self.start.head.nanos.saturating_sub(AT_ONCE), segment, None);
    }

    /// Adds the handshake in front of everything.
    fn handshake(&mut self) {
        let earliest = self.passing.iter().map(|one| one.nanos).min().unwrap_or(self.start.head.nanos);
        let shortest = match self.start.min_rtt_us {
            u32::MAX | 0 => self.start.srtt_us,
            known => known,
        };
        let answered = earliest.saturating_sub(2 * AT_ONCE);
        let opened = answered.saturating_sub(u64::from(shortest) * 1000);
        let una = self.start.window.una;
        let scale = |shift: u8| (self.start.options & SCALES != 0).then_some(shift);
        let offer = |shift: u8| Options {
            mss: Some(u16::try_from(self.start.mss).unwrap_or(u16::MAX)),
            window_scale: scale(shift),
            sack_permitted: self.start.options & SACK != 0,
            ..Options::NONE
        };
        let (of_peer, of_own) = self.start.scales;
        let syn = Segment {
            flags: Flags::SYN,
            options: Options { timestamps: self.timestamps(self.stamp(opened), 0), ..offer(of_own) },
            ..self.own(una.wrapping_sub(1), opened, 0)
        };
        let answer = self.answer(una, self.stamp(opened));
        let syn_ack = Segment {
            seq: Seq(self.start.rcv_nxt.wrapping_sub(1)),
            flags: Flags::SYN.with(Flags::ACK),
            options: Options { timestamps: answer.options.timestamps, ..offer(of_peer) },
            ..answer
        };
        let ack = self.own(una, answered + AT_ONCE, self.start.window.ts_recent);
        self.add(opened, syn, None);
        self.add(answered, syn_ack, None);
        self.add(answered + AT_ONCE, ack, None);
    }

    /// Judges the retransmissions. Each is given with the number of its fact, and of its segment there. `since_1970` is added to
    /// times, in nanoseconds.
    pub(crate) fn judge(mut self, since_1970: u64) -> Vec<((usize, usize), Retransmission)> {
        // At one instant, ACKs come before what they cause.
        let is_own = |packet: &Packet| packet.segment.source_port == self.start.local.port();
        self.passing.sort_by_key(|one| (one.nanos, is_own(&one.packet)));
        let when = |nanos: u64, frame: usize| When { nanos: nanos + since_1970, frame: frame as u64 + 1 };
        let first = self.passing.first().map_or(0, |one| one.nanos);
        let known = Known { reports: self.start.window.dsack_dups > 0, reorders: self.reorders };
        let mut single = Single::new(self.flow(), when(first, 0), known);
        for (frame, one) in self.passing.iter_mut().enumerate() {
            if one.packet.segment.source_port == self.start.local.port() {
                // No two transmissions look alike, so none is taken for a copy that the network made.
                self.identification = self.identification.checked_add(1).unwrap_or(1);
                one.packet.identification = self.identification;
            }
            single.packet(&one.packet, when(one.nanos, frame));
        }
        let (_, found) = single.finish();
        let of_fact = |found: &Retransmission| {
            let frame = usize::try_from(found.frame).ok()?.checked_sub(1)?;
            self.passing.get(frame)?.retransmission
        };
        let own = found.into_iter().filter(|one| one.sender == End::Client);
        own.filter_map(|one| Some((of_fact(&one)?, one))).collect()
    }

    /// Returns whether more than one transmission of a segment may have been sent before it was observed, or
    /// whether the first is unknown.
    pub(crate) fn is_unknown(&self, step: &Step) -> bool {
        self.unknown.iter().any(|(seq, end)| is_before(step.seq, *end) && is_before(*seq, step.end))
    }
}

/// Parses a TCP header, of which all bytes are there. `len` is the length of header and payload.
fn parse(header: &[u8; HEADER], len: u32) -> Option<Segment> {
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let header_len = usize::from(header[12] >> 4) * 4;
    let options = header.get(20..header_len)?;
    Some(Segment {
        source_port: short(0),
        destination_port: short(2),
        seq: Seq(word(4)),
        ack: Seq(word(8)),
        flags: Flags(short(12) & Flags::ALL.0),
        window: short(14),
        options: options::parse(options).unwrap_or_default(),
        payload_len: len.checked_sub(header_len as u32)?,
        ..Segment::EMPTY
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK of a connection over IPv4.
    #[test]
    fn a_replay_knows_lost_acks_and_what_the_kernel_saw_of_the_order() {
        let (mut start, mut ack) = ([0; 168], [0; 144]);
        (start[20], ack[20]) = (1, 4);
        // The length of its header, there and in its first word.
        (ack[72], ack[92]) = (20, 5 << 4);
        ack[140..142].copy_from_slice(&700_u16.to_be_bytes());
        let (Some(Fact::Start(start)), Some(quiet)) = (Fact::parse(&start), Fact::parse(&ack)) else { panic!("facts") };
        let replay = Replay::new(&start, &[quiet]);
        let identifications: Vec<u16> = replay.passing.iter().map(|one| one.packet.identification).collect();
        // The handshake behind it has none.
        assert_eq!((identifications, replay.reorders), (vec![700, 0, 0, 0], false));
        ack[142] = 1;
        let facts = [quiet, Fact::parse(&ack).unwrap()];
        assert!(Replay::new(&start, &facts).reorders);
    }
}
