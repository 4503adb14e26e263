//! Small worlds of an association: every fate of a few chunks and of the SACKs that answer them, over one path or two.
//!
//! Each message is one chunk in its own packet. The chunks with fates leave on the primary path;
//! retransmissions, and the SACKs that answer them, may take the other path. The sender of the
//! primary path is judged like the sender of a connection.

use core::net::IpAddr;
use core::ops::ControlFlow;

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_recovery::association::PathId;
use eifel_recovery::fact::Kind;
use eifel_sctp::{Association, Delivery, Listener, ListenerAction, Phase, Ports, Settings};
use eifel_sim::End;

use crate::fate::{Fate, Subject};
use crate::path::{Packet, Path};
use crate::question::{Error, Size};
use crate::records::Records;
use crate::tally::Tally;
use crate::world::{LONGEST_HELD, Progress, sent};

const PORTS: Ports = Ports { local: 5_001, remote: 5_002 };
const PRIMARY: PathId = PathId(0);

/// An association, and the number of its chunks that have fates.
#[derive(Clone, Debug)]
pub struct AssociationQuestion {
    /// Settings of both ends. The search sets addresses and secret, lets every packet be
    /// acknowledged at once, and turns off HEARTBEAT and Nagle.
    pub settings: Settings,
    /// Paths between the ends: 1 or 2.
    pub paths: usize,
    pub size: Size,
}

/// An SCTP packet, and its addresses.
#[derive(Clone, Debug)]
struct Datagram {
    addresses: Addresses,
    packet: eifel_sctp::Packet,
}

/// One world, up to the last chosen fate.
#[derive(Clone)]
struct World {
    now: Instant,
    /// Sender and receiver.
    ends: [Association; 2],
    /// By the number of the association's path.
    paths: Vec<Path<Datagram>>,
    records: Records<Datagram>,
    /// The chunk that the receiver is about to acknowledge.
    answers: Option<usize>,
    /// Messages that the receiver has read.
    read: u32,
    /// The primary path's ssthresh before anything could be lost, in bytes; `None` until the first
    /// chunks are acknowledged.
    threshold: Option<u64>,
}

/// Counts all worlds of an association. `progress` receives the number of counted worlds and may
/// stop the search; then the result is `None`.
///
/// # Errors
/// See [`Error`].
///
/// # Panics
/// If a message is not delivered exactly once and in order, which no world permits.
pub fn search_association(
    question: &AssociationQuestion,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Tally>, Error> {
    let mut tally = Tally::default();
    let walked = walk(World::new(question)?, question.size.worlds(), &mut tally, &mut progress);
    Ok(walked.is_continue().then_some(tally))
}

/// Continues a world with every fate, and counts the worlds that are over.
fn walk(
    mut world: World,
    weight: u64,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match world.advance() {
        Progress::NeedsFate(_) => {
            for fate in Fate::ALL {
                let mut one = world.clone();
                one.choose(fate);
                walk(one, weight / 4, tally, progress)?;
            }
            return ControlFlow::Continue(());
        }
        Progress::Over => tally.add(&world.records.truth, &world.records.fates, weight),
        Progress::Stuck => tally.add_stuck(&world.records.fates, weight),
    }
    progress(tally.worlds)
}

/// Returns the address of an end on a path.
fn address(end: End, path: usize) -> IpAddr {
    [10, path as u8, 0, end.index() as u8 + 1].into()
}

impl World {
    fn new(question: &AssociationQuestion) -> Result<Self, Error> {
        question.size.check()?;
        let allowed = (1, 2);
        if !(1..=2).contains(&question.paths) {
            return Err(Error::Size { what: "paths", value: question.paths as u32, allowed });
        }
        let settings = |end: End| Settings {
            addresses: (0..question.paths).map(|path| address(end, path)).collect(),
            secret: [end.index() as u64 + 1, 2],
            sack_every: 1,
            heartbeat_interval: None,
            nagle: false,
            ..question.settings.clone()
        };
        let remotes: Vec<IpAddr> = (0..question.paths).map(|path| address(End::To, path)).collect();
        let caller = Association::connect(Instant::ZERO, &settings(End::From), PORTS, &remotes, 0);
        let listener = Listener::new(settings(End::To), PORTS.remote).map_err(Error::Engine)?;
        let mut ends = opened(caller.map_err(Error::Engine)?, listener);
        let Size { before, segments, after, .. } = question.size;
        for number in 0..before {
            ends[0].send(Delivery::default(), message(&question.settings, number)).expect("a buffer for all");
        }
        let mut world = Self {
            now: opened_at(),
            ends,
            paths: vec![Path::default(); question.paths],
            records: Records::new(question.size),
            answers: None,
            read: 0,
            threshold: None,
        };
        world.advance();
        world.threshold = Some(world.ends[0].engine().window(PRIMARY).ssthresh);
        for number in before..before + segments + after {
            world.ends[0].send(Delivery::default(), message(&question.settings, number)).expect("a buffer for all");
        }
        Ok(world)
    }

    /// Runs to the next packet that needs a fate, or to the end.
    fn advance(&mut self) -> Progress {
        let mut sent = eifel_sctp::Packet::default();
        loop {
            for end in [End::From, End::To] {
                while let Some(outgoing) = self.ends[end.index()].poll_transmit(self.now, &mut sent) {
                    let addresses = *self.ends[end.index()].addresses(&outgoing);
                    self.listen();
                    let contents = Datagram { addresses, packet: sent.clone() };
                    if let Some(subject) = self.leaves(end, contents) {
                        return Progress::NeedsFate(subject);
                    }
                }
            }
            self.listen();
            if self.records.is_stuck_after_input() {
                return Progress::Stuck;
            }
            if !self.step() {
                self.finish();
                return Progress::Over;
            }
        }
    }

    /// Gives the waiting packet its fate.
    fn choose(&mut self, fate: Fate) {
        if let Some(packet) = self.records.choose(fate) {
            self.apply_fate(packet, fate);
        }
    }

    /// Processes the next arrival or timer; returns `false` if there is none.
    fn step(&mut self) -> bool {
        // The receiver answers at once and sends no data, so it needs no timer.
        let timer = self.ends[0].poll_timeout();
        let path = (0..self.paths.len()).min_by_key(|path| self.paths[*path].next()).unwrap_or_default();
        let arrival = self.paths[path].next();
        let sender = self.ends[0].engine();
        if arrival == Instant::NEVER && (sender.una() == self.chunks() || timer == Instant::NEVER) {
            return false;
        }
        self.now = self.now.max(arrival.min(timer));
        if timer < arrival {
            self.ends[0].handle_timeout(self.now);
        } else if let Some(arrival) = self.paths[path].take() {
            let Packet { to, contents: Datagram { addresses, packet }, sent, subject, .. } = arrival.packet;
            if let (true, Some(sent)) = (arrival.first, sent) {
                if let Some(Subject::Segment(number)) = subject {
                    self.answers = Some(number);
                }
                self.ends[1].handle(self.now, &addresses, &packet);
                let kept = self.ends[1].has_received(sent.start);
                self.records.on_arrival(sent, if kept { u64::MAX } else { sent.start });
            } else {
                self.ends[to.index()].handle(self.now, &addresses, &packet);
            }
            self.read();
        }
        true
    }

    /// Returns the number of chunks written so far.
    fn chunks(&self) -> u64 {
        let Size { before, segments, after, .. } = self.records.size;
        u64::from(if self.threshold.is_some() { before + segments + after } else { before })
    }

    /// Reads messages, and verifies that they come in order.
    fn read(&mut self) {
        while let Some(message) = self.ends[1].receive() {
            let number = u32::from_be_bytes(*message.bytes.first_chunk().expect("a number in each message"));
            assert_eq!(number, self.read, "a message out of turn, in the world: {}", self.records.fates);
            self.read += 1;
        }
    }

    /// Sends a packet of one end. Returns its subject, if it needs a fate.
    fn leaves(&mut self, end: End, contents: Datagram) -> Option<Subject> {
        let mut packet = Packet { to: end.other(), contents, sent: None, subject: None, number: None };
        match end {
            End::From => {
                let transmissions = self.ends[0].transmissions();
                assert!(transmissions.len() <= 1, "a chunk fills its packet");
                if let [transmission] = transmissions {
                    let sent = sent(transmission);
                    packet.sent = Some(sent);
                    let first = transmission.kind == Kind::New;
                    let number = transmission.start.checked_sub(u64::from(self.records.size.before));
                    let number = number.filter(|number| first && *number < u64::from(self.records.size.segments));
                    packet.subject = number.map(|number| Subject::Segment(number as usize));
                    self.records.on_sent(&sent);
                }
            }
            End::To => packet.subject = self.answers.take().map(Subject::Ack),
        }
        match self.records.keep(packet) {
            Ok(subject) => Some(subject),
            Err(packet) => {
                self.apply_fate(packet, Fate::Delivered);
                None
            }
        }
    }

    fn apply_fate(&mut self, packet: Packet<Datagram>, fate: Fate) {
        let IpAddr::V4(to) = packet.contents.addresses.destination() else { unreachable!("all are of IPv4") };
        let path = &mut self.paths[usize::from(to.octets()[1])];
        let longest = self.ends[0].engine().rto(PRIMARY) * LONGEST_HELD;
        if let Some(lost) = path.apply(self.now, packet, fate, longest) {
            self.records.on_loss(&lost);
        }
    }

    /// Processes the events of both ends.
    fn listen(&mut self) {
        while let Some((path, event)) = self.ends[0].poll_engine_event() {
            if self.records.size.held_until.releases(&event) {
                let late = Duration::from_millis(u64::from(self.records.size.late_ms));
                self.paths.iter_mut().for_each(|path| path.release(self.now, late));
            }
            if path == PRIMARY {
                self.records.truth.record_event(&event);
            }
        }
        for end in &mut self.ends {
            while end.poll_event().is_some() {}
        }
    }

    fn finish(&mut self) {
        let Some(threshold) = self.threshold else { return };
        assert_eq!(u64::from(self.read), self.chunks(), "messages read in the world: {}", self.records.fates);
        self.records.finish((threshold, self.ends[0].engine().window(PRIMARY).ssthresh));
    }
}

/// Duration of each of the two round trips of the handshake.
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// Returns when the handshake is over.
fn opened_at() -> Instant {
    Instant::ZERO + ROUND_TRIP + ROUND_TRIP
}

/// Returns both ends after the handshake, over a network without loss.
fn opened(mut caller: Association, mut listener: Listener) -> [Association; 2] {
    let answered = Instant::ZERO + ROUND_TRIP;
    let sent = |end: &mut Association, now| {
        let mut packet = eifel_sctp::Packet::default();
        let outgoing = end.poll_transmit(now, &mut packet).expect("one packet of the handshake");
        (*end.addresses(&outgoing), packet)
    };
    let (addresses, init) = sent(&mut caller, Instant::ZERO);
    let ListenerAction::Reply(addresses, answer) = listener.handle(Instant::ZERO, &addresses, &init) else {
        panic!("the listener answers an INIT");
    };
    caller.handle(answered, &addresses, &answer);
    let (addresses, echo) = sent(&mut caller, answered);
    let ListenerAction::Accepted(mut callee) = listener.handle(answered, &addresses, &echo) else {
        panic!("the listener accepts a cookie of its own");
    };
    let (addresses, answer) = sent(&mut callee, answered);
    caller.handle(opened_at(), &addresses, &answer);
    assert_eq!([caller.phase(), callee.phase()], [Phase::Established; 2], "nothing is lost");
    [caller, *callee]
}

/// Returns a message that fills a packet, and begins with its number.
fn message(settings: &Settings, number: u32) -> Vec<u8> {
    let stamp = if settings.timestamp_chunk == eifel_sctp::TimestampChunk::Off { 0 } else { 12 };
    // Headers of IPv4, SCTP and DATA.
    let len = (settings.pmtu - 20 - 12 - 16 - stamp) & !3;
    let mut bytes = vec![0; len as usize];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use eifel_sctp::TimestampChunk;

    use super::*;
    use crate::records::MOST_INPUTS;

    fn question() -> AssociationQuestion {
        let size = Size { segments: 1, before: 4, after: 2, ..Size::default() };
        AssociationQuestion { settings: Settings::default(), paths: 2, size }
    }

    #[test]
    #[should_panic(expected = "a message out of turn, in the world: ")]
    fn a_message_that_is_read_twice_is_found() {
        let mut world = World::new(&question()).unwrap();
        world.read += 1;
        let _ = walk(world, 16, &mut Tally::default(), &mut |_| ControlFlow::Continue(()));
    }

    #[test]
    #[should_panic(expected = "messages read in the world: ")]
    fn a_message_that_is_never_read_is_found() {
        let mut world = World::new(&question()).unwrap();
        world.records.size.after += 1;
        let _ = walk(world, 16, &mut Tally::default(), &mut |_| ControlFlow::Continue(()));
    }

    #[test]
    fn a_message_fills_its_packet() {
        let len = |timestamp_chunk, pmtu| message(&Settings { pmtu, timestamp_chunk, ..question().settings }, 7).len();
        assert_eq!([1500, 1503, 1504].map(|pmtu| len(TimestampChunk::Off, pmtu)), [1452, 1452, 1456]);
        // A TIMESTAMP chunk has twelve bytes.
        assert_eq!([1500, 1503, 1504].map(|pmtu| len(TimestampChunk::Agreed, pmtu)), [1440, 1440, 1444]);
    }

    #[test]
    fn more_than_two_paths_are_refused() {
        let search =
            |paths| search_association(&AssociationQuestion { paths, ..question() }, |_| ControlFlow::Continue(()));
        let refused = [0, 3].map(|paths| search(paths).unwrap_err().to_string());
        assert_eq!(refused, [0, 3].map(|paths| format!("paths: {paths} is out of bounds; allowed: 1 to 2")));
    }

    /// Lets every packet arrive; returns how the world ended, and after how many inputs.
    fn ended(mut world: World) -> (Progress, u32) {
        loop {
            match world.advance() {
                Progress::NeedsFate(_) => world.choose(Fate::Delivered),
                ended => return (ended, world.records.inputs),
            }
        }
    }

    /// Seven chunks arrive, and their SACKs. Each run ends with an input that finds nothing.
    #[test]
    fn every_arrival_is_an_input_and_one_too_many_makes_a_world_stuck() {
        let after = |inputs| {
            let mut world = World::new(&question()).unwrap();
            world.records.inputs += inputs;
            ended(world)
        };
        assert_eq!(after(0), (Progress::Over, 2 * 7 + 2));
        assert_eq!(after(MOST_INPUTS - 16), (Progress::Over, MOST_INPUTS));
        assert_eq!(after(MOST_INPUTS - 15).0, Progress::Stuck);
    }

    #[test]
    fn a_packet_takes_the_path_of_its_addresses_and_a_held_one_arrives_after_three_timeouts() {
        let mut world = World::new(&question()).unwrap();
        world.paths = vec![Path::default(); 2];
        for (path, fate) in [(0, Fate::Delivered), (1, Fate::Delayed)] {
            let addresses = Addresses::new(address(End::From, path), address(End::To, path)).unwrap();
            let contents = Datagram { addresses, packet: eifel_sctp::Packet::default() };
            world.apply_fate(Packet { to: End::To, contents, sent: None, subject: None, number: None }, fate);
        }
        let soon = world.now + crate::DELAY;
        let rto = world.ends[0].engine().rto(PRIMARY);
        assert_eq!([0, 1].map(|path| world.paths[path].next()), [soon, soon + rto * 3]);
    }
}
