//! One world without I/O: the path with its fates, the receiver behind it, and a record of
//! everything that the sender did.

use super::stack::{Counted, PACED_PORT, PORT, Standing, State};
use super::world::{SEGMENT, World};
use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::engine::{Config, Engine};
use eifel_recovery::fact::Block;
use eifel_recovery::registry;
use eifel_sim::End;
use eifel_sim::oracle::{Oracle, Role, SentData};
use eifel_tcp::{Connection, Ports};
use eifel_worlds::path::{Packet, Path};
use eifel_worlds::{Fate, HeldUntil, Subject};
use std::collections::BTreeMap;

/// RTOs after which a held packet arrives if its event never comes.
const LONGEST_HELD: u64 = 3;

/// What happened at the sender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// Its application wrote bytes.
    Wrote(u32),
    /// A segment left. It may be as long as several of the path's. Data has the number of its first
    /// transmission.
    Sent(Segment, Option<u64>),
    /// A segment was processed: the state after it, and the undos that it caused.
    Received(Segment, Standing, Vec<&'static str>),
    /// Fast recovery began.
    FastRetransmit,
    /// The timer expired.
    Timeout,
}

/// The course of a connection, and the truth about it.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Both SYNs, the sender's first; `None` before the sender has answered.
    pub syns: Option<[Segment; 2]>,
    /// The segment that completed the handshake.
    pub opening: Option<Segment>,
    pub events: Vec<(Instant, What)>,
    /// Whether a retransmission was needed, by the number of its transmission.
    pub needed: BTreeMap<u64, bool>,
    /// Positions of lost transmissions.
    pub lost: Vec<Block>,
    /// Whether the timer may have expired at the very time at which an ACK was processed, so that
    /// their order is unknown.
    pub is_doubtful: bool,
}

impl Course {
    /// Returns the position of a sequence number of the sender, nearest to `near`.
    pub fn position(&self, near: u64, seq: Seq) -> u64 {
        self.syns.map_or(0, |[own, _]| unwrap(near, own.seq, seq))
    }
}

/// The peer of a sender, in one world.
pub struct Peer {
    pub world: World,
    receiver: Connection,
    syn: Option<Segment>,
    path: Path<Segment>,
    oracle: Oracle,
    /// The number of the segment that the receiver is about to acknowledge.
    answers: Option<usize>,
    /// First position that the sender has not sent.
    nxt: u64,
    transmissions: u64,
    /// Segments with data that were seen to leave.
    seen: u32,
    last: Standing,
    /// The first position beyond those outstanding when fast recovery began.
    high_seq: u64,
    pub course: Course,
}

impl Peer {
    /// Creates the peer of a world at this port.
    ///
    /// # Errors
    /// If the registry lacks an algorithm.
    pub fn new(world: World, port: u16, isn: Seq) -> Result<Self, registry::Error> {
        let ports = Ports { local: port, remote: if world.paced { PACED_PORT } else { PORT } };
        let receiver = Connection::connect(&world.settings(), Engine::new(&Config::default())?, ports, isn);
        let mut oracle = Oracle::new(1);
        oracle.syn_arrived(0, End::From);
        Ok(Self {
            world,
            receiver,
            syn: None,
            path: Path::default(),
            oracle,
            answers: None,
            nxt: 1,
            transmissions: 0,
            seen: 0,
            last: Standing::default(),
            high_seq: 0,
            course: Course::default(),
        })
    }

    /// Returns when to ask for the next arrival.
    pub fn next(&self) -> Instant {
        self.path.next().min(self.receiver.poll_timeout())
    }

    /// Returns the segments with data that were seen to leave.
    pub fn seen(&self) -> u32 {
        self.seen
    }

    /// Returns whether nothing is under way any more, by this state of the sender.
    pub fn is_over(&self, standing: &Standing) -> bool {
        let all = self.world.bytes().iter().sum::<u32>();
        let acked = standing.unacked == 0 && standing.unsent == 0 && standing.sent == self.seen;
        acked && self.nxt > u64::from(all) && self.path.next() == Instant::NEVER
    }

    /// Runs the receiver up to `now`. Returns the next segment that arrives at the sender.
    pub fn poll_arrival(&mut self, now: Instant) -> Option<Segment> {
        if self.receiver.poll_timeout() <= now {
            self.receiver.handle_timeout(now);
        }
        self.answer(now);
        while self.path.next() <= now {
            let arrival = self.path.take()?;
            let packet = &arrival.packet;
            if packet.to == End::From {
                return Some(packet.contents);
            }
            if let Some(sent) = packet.sent.filter(|_| arrival.first) {
                self.answers = match packet.subject {
                    Some(Subject::Segment(number)) => Some(number),
                    _ => None,
                };
                let accepted = self.receiver.takes_below(now, &packet.contents);
                self.oracle.arrived(0, End::From, sent, accepted);
            }
            self.receiver.handle_segment(now, &packet.contents, &[]);
            self.answer(now);
        }
        None
    }

    /// Sends what the receiver has to send.
    fn answer(&mut self, now: Instant) {
        let mut segment = Segment::default();
        while self.receiver.poll_transmit(now, &mut segment).is_some() {
            if segment.flags.has(Flags::SYN) {
                self.syn = Some(segment);
            }
            let subject = self.answers.take().map(Subject::Ack);
            self.carry(now, Packet { to: End::From, contents: segment, sent: None, subject, number: None });
        }
        // The events of a receiver say nothing, but must be polled.
        while self.receiver.poll_event().is_some() {}
    }

    /// Gives a packet its fate.
    fn carry(&mut self, now: Instant, packet: Packet<Segment>) {
        let fate = packet.subject.and_then(|subject| self.world.fates.get(subject)).unwrap_or(Fate::Delivered);
        if let Some(lost) = self.path.apply(now, packet, fate, self.last.rto * LONGEST_HELD) {
            self.course.lost.push(Block { start: lost.start, end: lost.end });
            self.oracle.lost(0, End::From, lost);
        }
    }

    /// Takes a segment that the sender has sent. `standing` is its state since, if it is open.
    pub fn on_sent(&mut self, now: Instant, segment: Segment, standing: Option<&Standing>) {
        if segment.flags.has(Flags::SYN) && self.course.syns.is_none() {
            self.course.syns = self.syn.map(|syn| [segment, syn]);
        }
        if let Some(standing) = standing {
            self.look(now, standing, false);
        }
        let first = self.transmissions + 1;
        let transmission = (segment.payload_len > 0).then_some(first);
        self.course.events.push((now, What::Sent(segment, transmission)));
        let mut piece = segment;
        piece.payload_len = segment.payload_len.min(SEGMENT);
        self.on_piece(now, piece);
        let mut begin = SEGMENT;
        while begin < segment.payload_len {
            piece.seq = Seq(segment.seq.0.wrapping_add(begin));
            piece.payload_len = (segment.payload_len - begin).min(SEGMENT);
            self.on_piece(now, piece);
            begin += SEGMENT;
        }
    }

    /// Takes a segment of the path.
    fn on_piece(&mut self, now: Instant, segment: Segment) {
        let start = self.course.position(self.nxt, segment.seq);
        let end = start + u64::from(segment.payload_len);
        let mut packet = Packet { to: End::To, contents: segment, sent: None, subject: None, number: None };
        if end > start {
            self.seen += 1;
            self.transmissions += 1;
            let role = if start < self.nxt { Role::Retransmission } else { Role::Original };
            let sent = SentData { transmission: self.transmissions, start, end, role };
            self.nxt = self.nxt.max(end);
            self.oracle.on_sent(0, End::From, sent);
            packet.sent = Some(sent);
            packet.subject = self.number(&sent).map(Subject::Segment);
        }
        self.carry(now, packet);
    }

    /// Returns the number of the segment with a fate that leaves for the first time.
    fn number(&self, sent: &SentData) -> Option<usize> {
        let number = ((sent.start - 1) / u64::from(SEGMENT)).checked_sub(u64::from(self.world.size.before))?;
        let has_fate = sent.role == Role::Original && number < u64::from(self.world.size.segments);
        has_fate.then_some(number as usize)
    }

    /// Takes the state of the sender after it has processed a segment, and what the stack has counted
    /// in the meantime.
    pub fn on_delivered(&mut self, now: Instant, segment: Segment, standing: &Standing, counted: Counted) {
        self.course.is_doubtful |= standing.timeouts != self.last.timeouts;
        let Counted { undos, recoveries } = counted;
        // A timer of another connection may count too, so there has to be a reason to begin again.
        let ended = !undos.is_empty() || self.course.position(self.nxt, segment.ack) >= self.high_seq;
        self.course.events.push((now, What::Received(segment, *standing, undos)));
        self.look(now, standing, ended && recoveries > 0);
    }

    /// Looks at the sender's state, and notes the loss signals since the last look. `again` says
    /// whether fast recovery may have ended and begun anew in between.
    pub fn look(&mut self, now: Instant, standing: &Standing, again: bool) {
        let before = std::mem::replace(&mut self.last, *standing);
        for _ in before.timeouts..standing.timeouts {
            self.signal(now, What::Timeout);
        }
        if standing.state == State::Recovery && (before.state != State::Recovery || again) {
            self.signal(now, What::FastRetransmit);
        }
    }

    fn signal(&mut self, now: Instant, what: What) {
        self.high_seq = self.nxt;
        let releases = what == What::Timeout || self.world.size.held_until == HeldUntil::LossSignal;
        self.course.events.push((now, what));
        if releases {
            self.path.release(now, Duration::from_millis(u64::from(self.world.size.late_ms)));
        }
    }

    /// Takes a segment that was delivered before the connection was open.
    pub fn on_opening(&mut self, segment: Segment) {
        self.course.opening = Some(segment);
    }

    /// Takes the state of the sender when its connection is open.
    pub fn on_open(&mut self, standing: &Standing) {
        self.last = *standing;
    }

    /// Notes that the sender's application has written.
    pub fn on_write(&mut self, now: Instant, bytes: u32) {
        self.course.events.push((now, What::Wrote(bytes)));
    }

    /// Ends the world, and returns its course.
    pub fn finish(mut self) -> (World, Course) {
        self.oracle.finish();
        self.course.needed = self.oracle.take_judged().iter().map(|one| (one.transmission, one.needed)).collect();
        (self.world, self.course)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use eifel_packet::segment::Options;

    const ISN: u32 = 1_000_000;

    pub fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    pub fn standing(timeouts: u32, sent: u32) -> Standing {
        Standing { timeouts, sent, rto: Duration::from_millis(300), ..Standing::default() }
    }

    /// The segment of this number that the sender sends; 0 is the first.
    pub fn segment(number: u32) -> Segment {
        Segment {
            source_port: PORT,
            destination_port: 10_000,
            seq: Seq(ISN + 1 + number * SEGMENT),
            ack: Seq(1),
            flags: Flags::ACK,
            window: 65_535,
            payload_len: SEGMENT,
            ..Segment::EMPTY
        }
    }

    /// A peer whose connection opened at 150 ms.
    pub fn opened(world: &str) -> Peer {
        let mut peer = Peer::new(world.parse().unwrap(), 10_000, Seq(0)).unwrap();
        assert_eq!(peer.poll_arrival(ms(0)), None);
        let syn = peer.poll_arrival(ms(50)).unwrap();
        assert!(syn.flags.has(Flags::SYN) && peer.poll_arrival(ms(50)).is_none());
        let options = Options { mss: Some(1460), sack_permitted: peer.world.sack, ..Options::NONE };
        let (flags, seq) = (Flags::SYN.with(Flags::ACK), Seq(ISN));
        peer.on_sent(ms(50), Segment { flags, seq, options, payload_len: 0, ..segment(0) }, None);
        assert_eq!(peer.poll_arrival(ms(100)), None);
        let opening = peer.poll_arrival(ms(150)).unwrap();
        assert_eq!((opening.ack, peer.course.syns.map(|syns| syns[0].seq)), (Seq(ISN + 1), Some(Seq(ISN))));
        peer.on_opening(opening);
        peer.on_open(&standing(0, 0));
        peer
    }

    /// Returns the ACKs that arrive up to `until`, and when: numbers of segments below each. The timer
    /// has expired `timeouts` times.
    fn acks(peer: &mut Peer, until: u64, timeouts: u32) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for at in 0..=until {
            while let Some(ack) = peer.poll_arrival(ms(at)) {
                found.push((at, (ack.ack.0 - ISN - 1) / SEGMENT));
                peer.on_delivered(ms(at), ack, &standing(timeouts, 0), Counted::default());
            }
        }
        found
    }

    #[test]
    fn a_lost_segment_is_repaired_by_a_needed_retransmission() {
        let mut peer = opened("sack 1+1+0 timeout+10ms: segment 1 lost");
        peer.on_sent(ms(200), segment(0), Some(&standing(0, 1)));
        assert_eq!(acks(&mut peer, 400, 0), [(300, 1)]);
        peer.on_sent(ms(400), segment(1), Some(&standing(0, 2)));
        assert_eq!(acks(&mut peer, 600, 0), []);
        assert_eq!(peer.course.lost, [Block { start: 1001, end: 2001 }]);
        assert!(!peer.is_over(&Standing { unacked: 1, ..standing(0, 2) }));
        peer.on_sent(ms(700), segment(1), Some(&standing(1, 3)));
        assert_eq!(acks(&mut peer, 900, 1), [(800, 2)]);
        assert!(peer.is_over(&standing(1, 3)));
        let (_, course) = peer.finish();
        assert_eq!(course.needed, BTreeMap::from([(3, true)]));
        assert_eq!(course.events.iter().filter(|(_, what)| *what == What::Timeout).count(), 1);
        assert!(!course.is_doubtful);
    }

    /// The segment arrives 10 ms after the timeout, and its ACK 50 ms later. The retransmission was
    /// needless. A large segment is cut into those of the path.
    #[test]
    fn a_delayed_segment_arrives_after_the_timeout() {
        let mut peer = opened("sack 1+1+1 timeout+10ms: segment 1 delayed");
        peer.on_sent(ms(200), segment(0), Some(&standing(0, 1)));
        let large = Segment { payload_len: 2 * SEGMENT, ..segment(1) };
        peer.on_sent(ms(300), large, Some(&standing(0, 3)));
        assert_eq!(peer.seen(), 3);
        assert_eq!(acks(&mut peer, 600, 0), [(300, 1), (400, 1)], "the second reports the last segment");
        peer.on_sent(ms(600), segment(1), Some(&standing(1, 4)));
        assert_eq!(acks(&mut peer, 699, 1), [(660, 3)]);
        assert_eq!(acks(&mut peer, 800, 1), [(700, 3)], "a DSACK");
        assert_eq!(peer.finish().1.needed, BTreeMap::from([(4, false)]));
    }

    #[test]
    fn fast_recovery_begins_once_and_again_beyond_its_end() {
        let mut peer = opened("sack 2+1+0 timeout+10ms: all delivered");
        for number in 0..3 {
            peer.on_sent(ms(200), segment(number), Some(&standing(0, number + 1)));
        }
        let recovery = Standing { state: State::Recovery, ..standing(0, 3) };
        peer.look(ms(300), &recovery, false);
        peer.look(ms(301), &recovery, false);
        let ack = |peer: &mut Peer, at, number, undos: &[&'static str], recoveries| {
            let counted = Counted { undos: undos.to_vec(), recoveries };
            peer.on_delivered(ms(at), Segment { ack: segment(number).seq, ..Segment::EMPTY }, &recovery, counted);
        };
        // Another connection's.
        ack(&mut peer, 302, 1, &[], 1);
        let signals = |peer: &Peer| {
            peer.course
                .events
                .iter()
                .filter(|(_, what)| *what == What::FastRetransmit)
                .map(|&(at, _)| at)
                .collect::<Vec<_>>()
        };
        assert_eq!(signals(&peer), [ms(300)]);
        ack(&mut peer, 303, 1, &["TCPPartialUndo"], 1);
        ack(&mut peer, 304, 1, &["TCPPartialUndo"], 0);
        ack(&mut peer, 305, 3, &[], 1);
        assert_eq!(signals(&peer), [ms(300), ms(303), ms(305)]);
    }
}
