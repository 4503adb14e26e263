//! Runs the registry's detectors on a captured sender, with the data that it sent and the ACKs that
//! it received. These are the same detectors that judge in a live sender.

mod deferred;

use std::collections::{BTreeMap, VecDeque};

use crate::result::{Cause as Why, DetectorVerdict};
use deferred::Deferred;
use eifel_base::ranges::Block;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::detect::{Detector, Judgement, Outcome};
use eifel_recovery::event::Event;
use eifel_recovery::fact::{Ack, Cause, Echo, Kind, Transmission, TxId};
use eifel_recovery::recover::HighRxt;
use eifel_recovery::registry::{self, Choice, Need, Seam, Value, part};
use eifel_recovery::scoreboard::Scoreboard;
use eifel_recovery::view::Negotiated;
use eifel_recovery::watch::{Placed, Watch};

/// The number of timestamps remembered with the times at which they left.
const MOST_STAMPS: usize = 4096;

/// The detector with two variants, and the name of the second variant here.
const BY_TIMESTAMPS: &str = "eifel-timestamps";
const BY_TIMESTAMPS_OLDER: &str = "eifel-timestamps, proof = older";

/// The state of a sender at the first loss sign.
pub(crate) struct SenderState {
    /// Time in nanoseconds since 1970.
    pub(crate) now: u64,
    /// The first position not acknowledged by the ACKs that the sender has received.
    pub(crate) una: u64,
    /// Shortest round trip between both ends, in nanoseconds.
    pub(crate) round_trip: Option<u64>,
    pub(crate) negotiated: Negotiated,
    /// Whether the sender sends SCTP chunks.
    pub(crate) sctp: bool,
}

/// Data that left once, at `nanos` since 1970, and take `len` positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) nanos: u64,
    pub(crate) len: u32,
    pub(crate) stamp: Option<Timestamp>,
}

/// An acknowledgement that the sender receives.
pub(crate) struct ReceivedAck<'a> {
    /// When the sender receives it, in nanoseconds since 1970.
    pub(crate) now: u64,
    /// The frame in which it passed.
    pub(crate) frame: u64,
    /// The acknowledgement without its echo.
    pub(crate) ack: Ack<'a>,
    pub(crate) echo: Option<Timestamp>,
    pub(crate) stamp: Option<Timestamp>,
    /// Bytes of the chunks that it newly covers; `None` with TCP, whose positions are bytes.
    pub(crate) chunk_bytes: Option<ChunkBytes>,
}

/// The bytes of the chunks that a SACK newly covers.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ChunkBytes {
    /// Bytes newly covered by its cumulative TSN.
    pub(crate) acked: u64,
    /// Bytes newly covered by its gap reports.
    pub(crate) sacked: u64,
    /// Of both, the bytes of chunks that left once.
    pub(crate) originals: u64,
}

/// The detectors of one sender, with the scoreboard and the watch that they need.
pub(crate) struct Detectors {
    names: Vec<&'static str>,
    sack: bool,
    board: Scoreboard,
    watch: Watch,
    stamps: VecDeque<(Timestamp, u64)>,
    next: u64,
    /// The number of the last episode before these detectors.
    before: u32,
    /// Whether the first detector has asked for a probe, and nothing has left since.
    asked: bool,
    /// The judgements by episode number.
    verdicts: BTreeMap<u32, Vec<DetectorVerdict>>,
    /// The last duplicate that the receiver reported, and the TSval of that ACK.
    reported: Option<(Block, Timestamp)>,
    deferred: Deferred,
}

impl std::fmt::Debug for Detectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Detectors")
            .field("names", &self.names)
            .field("verdicts", &self.verdicts)
            .finish_non_exhaustive()
    }
}

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

impl Detectors {
    /// Returns the detectors that can judge a sender in this state after `before` episodes, with
    /// the data that it has under way. The known round trip takes the place of the one measured
    /// during the handshake.
    fn new(
        state: &SenderState,
        before: u32,
        rested: Option<Box<Rested>>,
        under_way: impl Iterator<Item = Departure>,
    ) -> Self {
        let &SenderState { now, una, round_trip, negotiated, sctp } = state;
        let (names, detectors): (Vec<_>, Vec<_>) = chosen(negotiated, sctp).into_iter().unzip();
        let mut board = Scoreboard::default();
        // Others may judge if the capture has shown timestamps meanwhile.
        let mut watch = match rested.filter(|rested| rested.names == names) {
            Some(rested) => Watch::resumed(rested.detectors),
            None => Watch::new(detectors),
        };
        if let Some(round_trip) = round_trip {
            let began = now.saturating_sub(round_trip);
            board.on_new(at(began), 1, None);
            watch.on_new(at(began), 1);
            let ack = Ack { cumulative: 1, sacks: &[], dsacks: &[], echo: None, mark: None, plain: false, ece: false };
            let acked = board.on_ack(&ack, false);
            watch.update_view(at(now), 1, 1);
            watch.on_ack(&acked);
        }
        board.skip_to(una);
        watch.agree(negotiated);
        watch.update_view(at(now), una, una);
        let (stamps, sack) = (VecDeque::new(), negotiated.sack);
        let (verdicts, deferred) = (BTreeMap::new(), Deferred::default());
        let mut made = Self {
            names,
            sack,
            board,
            watch,
            stamps,
            next: 0,
            before,
            asked: false,
            verdicts,
            reported: None,
            deferred,
        };
        under_way.for_each(|one| made.on_new(&one));
        made
    }

    /// Handles data that leave for the first time.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, departure: &Departure) {
        if !self.defers_new(departure) {
            // The slow path takes a copy. So `departure` needs no address, and its fields stay in
            // registers on the usual path.
            let departure = *departure;
            self.apply_at_once(&departure);
        }
    }

    #[inline(never)]
    fn apply_at_once(&mut self, departure: &Departure) {
        self.catch_up();
        self.apply_new(departure);
    }

    fn apply_new(&mut self, departure: &Departure) {
        let &Departure { nanos: now, len, stamp } = departure;
        self.asked = false;
        self.remember(now, stamp);
        self.board.on_new(at(now), len, stamp);
        self.watch.on_new(at(now), self.board.nxt());
        self.next += 1;
    }

    fn remember(&mut self, now: u64, stamp: Option<Timestamp>) {
        let Some(stamp) = stamp else { return };
        if self.stamps.back().is_none_or(|(last, _)| last.precedes(stamp)) {
            if self.stamps.len() == MOST_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((stamp, now));
        }
    }

    /// Handles a retransmission. Returns the number of the episode that it belongs to.
    pub(crate) fn on_retransmission(
        &mut self,
        now: u64,
        block: Block,
        why: Why,
        stamp: Option<Timestamp>,
    ) -> Option<u32> {
        self.catch_up();
        let block = Block { start: block.start.max(self.board.una()), end: block.end.min(self.board.nxt()) };
        if block.start >= block.end {
            return None;
        }
        self.watch.update_view(at(now), self.board.una(), self.board.nxt());
        if std::mem::take(&mut self.asked) {
            // The sender repeats old data instead of sending new data, so the result of the probe
            // is unknown.
            self.watch.refuse_probe();
            self.collect_verdicts(0, true);
        }
        let cause = self.open(why);
        self.remember(now, stamp);
        let (copy, original) = self.board.on_retransmission(at(now), block, HighRxt::Leave);
        let (id, len) = (TxId(self.next), (block.end - block.start) as u32);
        self.next += 1;
        let kind = Kind::Retransmission(cause);
        let transmission = Transmission { id, start: block.start, len, kind, copy };
        self.watch.on_retransmission(&transmission, stamp, original);
        self.watch.episode().map(|episode| self.before + episode.number)
    }

    /// Opens an episode if the retransmission needs a new one.
    fn open(&mut self, why: Why) -> Cause {
        let cause = match why {
            Why::Rto | Why::Loss => Cause::Timeout,
            _ => Cause::FastRetransmit,
        };
        let opens = match why {
            Why::Rto => self.watch.count_timeout().is_none(),
            _ => self.watch.episode().is_none_or(|episode| episode.cause != cause),
        };
        if opens {
            self.watch.open_episode(cause);
        }
        cause
    }

    /// Handles an ACK that the sender receives.
    pub(crate) fn on_ack(&mut self, received: &ReceivedAck<'_>) {
        if !self.defers_ack(received) {
            self.catch_up();
            self.apply_ack(received);
            self.update_deferral();
        }
    }

    fn apply_ack(&mut self, received: &ReceivedAck<'_>) {
        let ReceivedAck { now, ack, .. } = received;
        if ack.cumulative < self.board.una() || ack.cumulative > self.board.nxt() {
            return;
        }
        let report = ack.dsacks.first().copied().zip(received.stamp);
        let advances = ack.cumulative > self.board.una();
        if report.is_some() && std::mem::replace(&mut self.reported, report) == report && !advances {
            // The network has duplicated the ACK.
            return;
        }
        let echo = received.echo.and_then(|echo| self.echo(echo, *now));
        let mut acked = self.board.on_ack(&Ack { echo, ..*ack }, self.sack);
        if let Some(chunk_bytes) = received.chunk_bytes {
            (acked.bytes, acked.sacked, acked.originals) =
                (chunk_bytes.acked, chunk_bytes.sacked, Some(chunk_bytes.originals));
        }
        self.watch.update_view(at(*now), self.board.una(), self.board.nxt());
        self.watch.on_ack(&acked);
        self.asked = matches!(self.watch.judge(&acked), Judgement::Probe);
        self.watch.close_if_repaired(ack.cumulative);
        if self.watch.has_events() {
            self.collect_verdicts(received.frame, false);
        }
    }

    /// Returns the age of the newest transmission whose timestamp is not newer than the echoed one.
    fn echo(&self, value: Timestamp, now: u64) -> Option<Echo> {
        let place = self.stamps.partition_point(|(stamp, _)| !value.precedes(*stamp));
        let (_, left) = self.stamps.get(place.checked_sub(1)?)?;
        Some(Echo::Known { value, age: Duration::from_nanos(now.saturating_sub(*left)) })
    }

    fn collect_verdicts(&mut self, frame: u64, refused: bool) {
        while let Some(event) = self.watch.poll_event() {
            let Event::Judged { episode, detector, outcome, reason } = event else { continue };
            let Some(name) = self.names.get(detector).copied().filter(|_| !refused) else { continue };
            let verdicts = self.verdicts.entry(self.before + episode).or_default();
            if verdicts.iter().all(|one| one.detector != name) {
                verdicts.push(DetectorVerdict {
                    detector: name,
                    frame,
                    spurious: outcome == Outcome::Spurious,
                    reason,
                });
            }
        }
    }
}

/// Detectors between two repairs. What they have learned of the peer lasts: that it reports
/// duplicates, or that the network makes them.
#[derive(Debug)]
struct Rested {
    names: Vec<&'static str>,
    detectors: Vec<Placed>,
}

/// The detectors of one sender from its first loss episode to its last. They exist while a repair
/// goes on.
#[derive(Debug, Default)]
pub(crate) struct EpisodeDetectors {
    /// `None` while everything is repaired.
    pub(crate) current: Option<Box<Detectors>>,
    /// The detectors after the last repair; `None` before the first.
    rested: Option<Box<Rested>>,
    /// The verdicts by episode, and the number of the last episode.
    verdicts: BTreeMap<u32, Vec<DetectorVerdict>>,
    episodes: u32,
}

impl EpisodeDetectors {
    /// Creates the detectors for a sender in this state, with the data that it has under way.
    pub(crate) fn start(&mut self, state: &SenderState, under_way: impl Iterator<Item = Departure>) {
        self.current = Some(Box::new(Detectors::new(state, self.episodes, self.rested.take(), under_way)));
    }

    /// Handles a retransmission. Returns the number of the episode that it belongs to.
    pub(crate) fn on_retransmission(
        &mut self,
        now: u64,
        block: Block,
        cause: Why,
        stamp: Option<Timestamp>,
    ) -> Option<u32> {
        let episode = self.current.as_mut()?.on_retransmission(now, block, cause, stamp);
        self.episodes = episode.unwrap_or(self.episodes);
        episode
    }

    /// Lets the detectors rest after everything is repaired, and keeps their verdicts.
    pub(crate) fn stop(&mut self) {
        if let Some(detectors) = self.current.take() {
            let Detectors { verdicts, names, watch, .. } = *detectors;
            self.verdicts.extend(verdicts);
            self.rested = Some(Box::new(Rested { names, detectors: watch.into_detectors() }));
        }
    }

    pub(crate) fn verdicts(&self, episode: u32) -> Vec<DetectorVerdict> {
        self.verdicts.get(&episode).cloned().unwrap_or_default()
    }
}

/// Returns all detectors of the registry, and those that a program provides for captures, that have
/// what they need, with their names. Only the first
/// may probe with new data: the last one in the registry that does, because it is the most
/// specific.
fn chosen(negotiated: Negotiated, sctp: bool) -> Vec<(&'static str, Box<dyn Detector>)> {
    let sees = |need: Option<Need>| match need {
        None => true,
        Some(Need::Timestamps) => negotiated.timestamps,
        Some(Need::Sack | Need::Duplicates) => negotiated.sack,
        Some(_) => false,
    };
    let of_chunks = Seam::Detect.association_entries().iter().filter(|_| sctp);
    let listed = Seam::Detect.entries().iter().chain(of_chunks);
    let seeing = listed.chain(registry::over_captures()).filter(|entry| sees(entry.needs));
    let prober = seeing.clone().rfind(|entry| entry.probes).map(|entry| entry.name);
    let mut found: Vec<_> = seeing
        .filter_map(|entry| Some((entry.name, part::detector(&Choice::named(entry.name)).ok()?)))
        .filter(|(_, detector)| detector.judges())
        .collect();
    found.sort_by_key(|(name, _)| Some(*name) != prober);
    if negotiated.timestamps {
        // By default that detector accepts only the proof that a receiver cannot forge.
        let plain = Choice::named(BY_TIMESTAMPS).with("proof", Value::Word("older".into()));
        found.extend(part::detector(&plain).ok().map(|detector| (BY_TIMESTAMPS_OLDER, detector)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::random::Random;
    use eifel_testkit::{digest, golden};
    use std::fmt::Write;

    const MS: u64 = 1_000_000;
    const SENDERS: u64 = 3000;
    /// Cases per digest.
    const TOGETHER: u64 = 50;

    /// A sender of segments of 100 positions, or of chunks of one position.
    struct Drawn {
        random: Random,
        detectors: Detectors,
        now: u64,
        una: u64,
        nxt: u64,
        len: u64,
        negotiated: Negotiated,
        sctp: bool,
        frame: u64,
    }

    impl Drawn {
        fn new(seed: u64) -> Self {
            let mut random = Random(seed);
            let sctp = random.below(4) == 0;
            let negotiated = Negotiated { mss: 100, sack: sctp || random.coin(), timestamps: !sctp && random.coin() };
            let (now, len) = (10_000 * MS, if sctp { 1 } else { 100 });
            let round_trip = random.one_of(&[None, Some(100 * MS), Some(7 * MS)]);
            let before = random.below(3) as u32;
            let state = SenderState { now, una: 1000, round_trip, negotiated, sctp };
            let count = random.below(8);
            let stamp = |number: u64| negotiated.timestamps.then_some(Timestamp(5 + number as u32 / 2));
            let under_way = (0..count).map(|number| Departure {
                nanos: now - 50 * MS + number * MS,
                len: len as u32,
                stamp: stamp(number),
            });
            let detectors = Detectors::new(&state, before, None, under_way);
            Self { random, detectors, now, una: 1000, nxt: 1000 + count * len, len, negotiated, sctp, frame: 1 }
        }

        fn stamp(&mut self) -> Option<Timestamp> {
            let stamp = Timestamp(4 + self.random.below(12) as u32);
            self.negotiated.timestamps.then_some(stamp)
        }

        fn new_data(&mut self) {
            let stamp = self.stamp();
            self.detectors.on_new(&Departure { nanos: self.now, len: self.len as u32, stamp });
            self.nxt += self.len;
        }

        fn again(&mut self) -> Option<u32> {
            let stamp = self.stamp();
            let start = (self.una + self.len * self.random.below(6)).saturating_sub(self.len);
            let block = Block { start, end: start + self.len * (1 + self.random.below(2)) };
            let why = self.random.one_of(&[Why::Rto, Why::Loss, Why::Fast, Why::Fast, Why::Tlp]);
            self.detectors.on_retransmission(self.now, block, why, stamp)
        }

        fn ack(&mut self) {
            self.frame += 1;
            let room = (self.nxt - self.una) / self.len;
            let ahead = self.random.below(room + 1) * self.random.below(2);
            // Some ACKs are older than all others, or acknowledge data that were never sent.
            let cumulative = match self.random.below(24) {
                0 => self.una - self.len,
                1 => self.nxt + self.len,
                _ => self.una + ahead * self.len,
            };
            if cumulative <= self.nxt {
                self.una = self.una.max(cumulative);
            }
            let (mut sacks, mut dsacks) = (Vec::new(), Vec::new());
            if self.negotiated.sack && self.random.coin() && room > ahead + 1 {
                let start = self.una + self.len * (1 + self.random.below(room - ahead - 1));
                sacks.push(Block { start, end: (start + self.len).min(self.nxt) });
            }
            if self.negotiated.sack && self.random.below(4) == 0 {
                let end = self.random.one_of(&[self.una, 1000]);
                dsacks.push(Block { start: end - self.len, end });
            }
            let plain = self.random.below(5) > 0;
            let ack = Ack { cumulative, sacks: &sacks, dsacks: &dsacks, echo: None, mark: None, plain, ece: false };
            let (echo, stamp) = (self.stamp(), self.stamp());
            let chunk_bytes = ChunkBytes {
                acked: ahead * 100,
                sacked: 100 * sacks.len() as u64,
                originals: 100 * self.random.below(2),
            };
            let chunk_bytes = self.sctp.then_some(chunk_bytes);
            let received = ReceivedAck { now: self.now, frame: self.frame, ack, echo, stamp, chunk_bytes };
            self.detectors.on_ack(&received);
            if self.random.below(8) == 0 {
                // The network duplicates the ACK.
                self.detectors.on_ack(&ReceivedAck { frame: self.frame + 1, ..received });
                self.frame += 1;
            }
        }

        fn run(mut self) -> String {
            let mut said = format!("{:?}\n", self.detectors.names);
            for _ in 0..self.random.below(40) {
                self.now += MS * self.random.one_of(&[0, 1, 20, 50, 100, 300]);
                match self.random.below(8) {
                    0..3 => self.new_data(),
                    3..5 => writeln!(said, "{:?}", self.again()).unwrap(),
                    _ => self.ack(),
                }
            }
            self.detectors.catch_up();
            let Detectors { verdicts, board, next, .. } = &self.detectors;
            write!(said, "{verdicts:?} {} {} {next}", board.una(), board.nxt()).unwrap();
            said
        }
    }

    #[test]
    fn detector_verdicts_on_drawn_senders_match_the_golden() {
        let (mut text, mut together) = (String::new(), String::new());
        for seed in 0..SENDERS {
            let said = Drawn::new(seed).run();
            if seed % 100 == 3 {
                writeln!(text, "{seed}: {said}").unwrap();
            }
            together += &said;
            if seed % TOGETHER == TOGETHER - 1 {
                writeln!(text, "up to {seed}: {}", digest(std::mem::take(&mut together))).unwrap();
            }
        }
        golden!("detectors.txt", text);
    }

    /// RFC 3708, section 3, step A.1: a report of a segment that was never sent again means that the
    /// network makes duplicates. That holds for later repairs too.
    #[test]
    fn a_detector_remembers_what_an_earlier_repair_taught() {
        let negotiated = Negotiated { mss: 100, sack: true, timestamps: false };
        let told = |of_network: bool| {
            let mut detectors = EpisodeDetectors::default();
            let mut verdicts = Vec::new();
            for (repair, start) in [(0, 1000), (1, 3000)] {
                let now = (10_000 + 1000 * repair) * MS;
                let state = SenderState { now, una: start, round_trip: None, negotiated, sctp: false };
                let under_way = (0..4).map(|number| Departure { nanos: now + number, len: 100, stamp: None });
                detectors.start(&state, under_way);
                let first = Block { start, end: start + 100 };
                let episode = detectors.on_retransmission(now + 50 * MS, first, Why::Fast, None).unwrap();
                let second = Block { start: start + 100, end: start + 200 };
                let dsacks = [if of_network && repair == 0 { second } else { first }];
                for (place, dsacks) in [(1, &[][..]), (2, &dsacks)] {
                    let ack = Ack {
                        cumulative: start + 400,
                        sacks: &[],
                        dsacks,
                        echo: None,
                        mark: None,
                        plain: true,
                        ece: false,
                    };
                    let now = now + (60 + place) * MS;
                    let received = ReceivedAck { now, frame: 1, ack, echo: None, stamp: None, chunk_bytes: None };
                    detectors.current.as_mut().unwrap().on_ack(&received);
                }
                detectors.stop();
                verdicts.push(detectors.verdicts(episode).iter().any(|one| one.detector == "dsack" && one.spurious));
            }
            verdicts
        };
        assert_eq!(told(false), [true, true]);
        assert_eq!(told(true), [false, false]);
    }

    /// An echo belongs to the newest remembered transmission whose timestamp is not newer.
    #[test]
    fn an_echo_gives_the_age_of_the_newest_transmission_it_can_answer() {
        let negotiated = Negotiated { mss: 100, sack: true, timestamps: true };
        let state = SenderState { now: 0, una: 0, round_trip: None, negotiated, sctp: false };
        let most = MOST_STAMPS as u32;
        for (count, first) in [(most, Some(900)), (most + 1, None)] {
            let departure = |number: u32| Departure {
                nanos: 100 + u64::from(number),
                len: 1,
                stamp: Some(Timestamp(10 + 2 * number)),
            };
            let detectors = Detectors::new(&state, 0, None, (0..count).map(departure));
            let age = |value| {
                detectors.echo(Timestamp(value), 1000).map(|echo| match echo {
                    Echo::Known { age, .. } => age.as_nanos(),
                    _ => panic!("its age is known"),
                })
            };
            assert_eq!((age(9), age(10), age(12), age(13), age(14)), (None, first, Some(899), Some(899), Some(898)));
        }
    }
}
