//! One world: two real connections, and a path that asks for the fate of each packet when it
//! leaves.

use core::fmt::Debug;

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Segment;
use eifel_packet::seq::Seq;
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{self, Engine, Kind};
use eifel_recovery::fact::Transmission;
use eifel_recovery::respond::Response;
use eifel_sim::End;
use eifel_sim::liar::schedule::{Answer, Schedule, Scheduled};
use eifel_sim::oracle::{Role, SentData};
use eifel_tcp::{Connection, Event, Outgoing, Ports};

use crate::fate::{Fate, Fates, Subject};
use crate::ladder::{Ladder, Numbers};
use crate::path::{Packet, Path};
use crate::question::{Error, Question};
use crate::records::Records;
use crate::truth::Truth;

const PORTS: Ports = Ports { local: 49_152, remote: 5_001 };
/// Initial sequence numbers of sender and receiver.
const ISNS: (Seq, Seq) = (Seq(1_000_000), Seq(2_000_000));
/// RTOs after which a held packet arrives if its event never comes.
pub(crate) const LONGEST_HELD: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// A packet leaves and needs a fate.
    NeedsFate(Subject),
    /// Everything is acknowledged, and nothing is under way.
    Over,
    /// The world does not end.
    Stuck,
}

/// One world, up to the last chosen fate.
#[derive(Clone)]
pub struct World {
    now: Instant,
    sender: Connection,
    receiver: Connection,
    path: Path<Segment>,
    records: Records<Segment>,
    /// Number of the segment that the receiver is about to acknowledge.
    answers: Option<usize>,
    /// ssthresh at the beginning, in bytes.
    threshold: u64,
    /// Whether a verdict may have triggered the response.
    may_have_responded: bool,
    ladder: Option<Box<Ladder>>,
    /// The lying receiver's knowledge, and the segments whose first retransmission has arrived, one
    /// bit each. `None` if the receiver is honest.
    liar: Option<(Box<Scheduled>, u8)>,
}

impl World {
    /// Makes the world without chosen fates: the first segments are acknowledged, and the others
    /// may leave.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn new(question: &Question) -> Result<Self, Error> {
        question.size.check()?;
        let settings = question.settings();
        let make = |ports: Ports, isns: (Seq, Seq)| -> Result<Connection, Error> {
            let engine = Engine::new(&question.sender).map_err(Error::Engine)?;
            Ok(Connection::established(&settings, &settings, engine, ports, isns, Instant::ZERO))
        };
        let back = Ports { local: PORTS.remote, remote: PORTS.local };
        let mut world = Self {
            now: Instant::ZERO,
            sender: make(PORTS, ISNS)?,
            receiver: make(back, (ISNS.1, ISNS.0))?,
            path: Path::default(),
            records: Records::new(question.size),
            answers: None,
            threshold: u64::MAX,
            may_have_responded: false,
            ladder: None,
            liar: None,
        };
        world.records.on_syn();
        let mss = u64::from(world.sender.mss());
        world.sender.write_counted(u64::from(question.size.before) * mss);
        world.advance();
        world.threshold = world.sender.engine().snapshot().ssthresh;
        world.sender.write_counted(u64::from(question.size.segments + question.size.after) * mss);
        Ok(world)
    }

    /// Turns on drawing.
    pub(crate) fn drawn(mut self) -> Self {
        self.ladder = Some(Box::new(self.empty_ladder()));
        self
    }

    /// Lets the receiver lie. The world asks for the answer to each segment with a fate, and to the
    /// first retransmission of that segment. [`say`](Self::say) gives the answer.
    pub(crate) fn lying(mut self) -> Self {
        self.liar = Some((Box::new(Scheduled::new(Schedule::default())), 0));
        self
    }

    /// Returns the waiting acknowledgement as this answer would alter it; `None` if it would not
    /// leave.
    pub(crate) fn altered(&self, answer: &Answer) -> Option<Segment> {
        let (Some((_, packet)), Some((liar, _))) = (&self.records.waiting, &self.liar) else { return None };
        let mut segment = packet.contents;
        liar.clone().alter_by(answer, &mut segment).then_some(segment)
    }

    /// Sends the waiting acknowledgement as `answer` alters it, unless `answer` withholds it.
    pub(crate) fn say(&mut self, answer: &Answer) {
        let (Some((_, mut packet)), Some((liar, _))) = (self.records.waiting.take(), &mut self.liar) else { return };
        if liar.alter_by(answer, &mut packet.contents) {
            self.apply_fate(packet, Fate::Delivered);
        }
    }

    /// Runs to the next packet that needs a fate, or to the end.
    pub fn advance(&mut self) -> Progress {
        loop {
            let mut segment = Segment::default();
            while let Some(outgoing) = self.sender.poll_transmit(self.now, &mut segment) {
                if let Some(subject) = self.leaves(segment, &outgoing) {
                    return Progress::NeedsFate(subject);
                }
            }
            while self.receiver.poll_transmit(self.now, &mut segment).is_some() {
                if let Some(subject) = self.answer(segment) {
                    return Progress::NeedsFate(subject);
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
    pub fn choose(&mut self, fate: Fate) {
        if let Some(packet) = self.records.choose(fate) {
            self.apply_fate(packet, fate);
        }
    }

    /// Returns all state that determines how a world that waits for an answer continues, and
    /// whether a cut remains. It omits the number of [inputs](Self::inputs), and mere records:
    /// fates, oracle, truth and drawing.
    pub(crate) fn state(&self) -> [&dyn Debug; 7] {
        // Every field is named, so that a new field forces a decision.
        let Self {
            now,
            sender,
            receiver,
            path,
            records: Records { waiting, .. },
            answers,
            liar,
            threshold: _,
            may_have_responded: _,
            ladder: _,
        } = self;
        [now, sender, receiver, path, waiting, answers, liar]
    }

    /// Adds to the number of inputs, so that the world is stuck sooner.
    #[cfg(test)]
    pub(crate) fn after_inputs(mut self, inputs: u32) -> Self {
        self.records.inputs += inputs;
        self
    }

    /// Returns the number of inputs so far.
    pub(crate) fn inputs(&self) -> u32 {
        self.records.inputs
    }

    /// Returns the fates chosen so far.
    pub fn fates(&self) -> &Fates {
        &self.records.fates
    }

    /// Returns whether a verdict may have triggered the response.
    pub(crate) fn may_have_responded(&self) -> bool {
        self.may_have_responded
    }

    /// Replaces the response, as long as no verdict [may have triggered
    /// it](Self::may_have_responded).
    pub(crate) fn respond_by(&mut self, response: Box<dyn Response>) {
        self.sender.respond_by(response);
    }

    /// Returns the records of the world; complete when the world is over.
    pub fn truth(&self) -> &Truth {
        &self.records.truth
    }

    pub(crate) fn into_ladder(self) -> Ladder {
        let empty = self.empty_ladder();
        self.ladder.map_or(empty, |ladder| *ladder)
    }

    fn empty_ladder(&self) -> Ladder {
        let numbers =
            Numbers { iss: ISNS.0, mss: u64::from(self.sender.mss()), before: u64::from(self.records.size.before) };
        Ladder::new(self.now, numbers)
    }

    /// Processes the next arrival or timer; returns `false` if there is none.
    fn step(&mut self) -> bool {
        debug_assert_eq!(self.receiver.poll_timeout(), Instant::NEVER, "it answers at once and sends no data");
        let timer = self.sender.poll_timeout();
        let arrival = self.path.next();
        let all = self.sender.engine().una() == self.sender.end();
        if arrival == Instant::NEVER && (all || timer == Instant::NEVER) {
            return false;
        }
        self.now = self.now.max(arrival.min(timer));
        if timer < arrival {
            self.sender.handle_timeout(self.now);
        } else if let Some(arrival) = self.path.take() {
            let packet = &arrival.packet;
            if let (Some(ladder), Some(number)) = (&mut self.ladder, packet.number) {
                ladder.arrives(self.now, number);
            }
            match packet.to {
                End::From => self.sender.handle_segment(self.now, &packet.contents, &[]),
                End::To => {
                    if let (true, Some(Subject::Segment(number))) = (arrival.first, packet.subject) {
                        self.answers = Some(number);
                    }
                    let again = packet.sent.filter(|sent| sent.role == Role::Retransmission);
                    let again = again.and_then(|sent| self.number(&sent));
                    if let Some((liar, heard)) = &mut self.liar {
                        liar.observe_segment(&packet.contents);
                        if let Some(number) = again.filter(|number| *heard >> number & 1 == 0) {
                            *heard |= 1 << number;
                            self.answers = Some(number);
                        }
                    }
                    if let (true, Some(sent)) = (arrival.first, packet.sent) {
                        let accepted = self.receiver.takes_below(self.now, &packet.contents);
                        self.records.on_arrival(sent, accepted);
                    }
                    self.receiver.handle_segment(self.now, &packet.contents, &[]);
                }
            }
        }
        true
    }

    /// Sends a segment of the sender. Returns its subject, if it needs a fate.
    fn leaves(&mut self, segment: Segment, outgoing: &Outgoing) -> Option<Subject> {
        // The engine reported these events before this segment left.
        self.listen();
        let mut packet = Packet { to: End::To, contents: segment, sent: None, subject: None, number: None };
        if let Some(transmission) = outgoing.transmission {
            let sent = sent(&transmission);
            packet.sent = Some(sent);
            self.records.on_sent(&sent);
            if let Some(number) = self.number(&sent).filter(|_| transmission.copy == 0) {
                packet.subject = Some(Subject::Segment(number));
            }
        }
        self.decide(packet)
    }

    /// Sends a segment of the receiver.
    fn answer(&mut self, mut segment: Segment) -> Option<Subject> {
        let subject = self.answers.take().map(Subject::Ack);
        if let (None, Some((liar, _))) = (subject, &mut self.liar) {
            liar.alter_by(&Answer::default(), &mut segment);
        }
        self.decide(Packet { to: End::From, contents: segment, sent: None, subject, number: None })
    }

    /// Returns the number of the segment with a fate in which `sent` begins; `None` if it begins in
    /// another.
    fn number(&self, sent: &SentData) -> Option<usize> {
        let number = (sent.start - 1) / u64::from(self.sender.mss());
        let number = number.checked_sub(u64::from(self.records.size.before))?;
        (number < u64::from(self.records.size.segments)).then_some(number as usize)
    }

    fn decide(&mut self, packet: Packet<Segment>) -> Option<Subject> {
        match self.records.keep(packet) {
            Ok(subject) => Some(subject),
            Err(packet) => {
                self.apply_fate(packet, Fate::Delivered);
                None
            }
        }
    }

    fn apply_fate(&mut self, mut packet: Packet<Segment>, fate: Fate) {
        if let Some(ladder) = &mut self.ladder {
            packet.number = Some(ladder.leaves(self.now, &packet, fate));
        }
        let longest = self.sender.engine().snapshot().rto * LONGEST_HELD;
        if let Some(lost) = self.path.apply(self.now, packet, fate, longest) {
            self.records.on_loss(&lost);
        }
    }

    /// Processes the events of both connections.
    fn listen(&mut self) {
        while let Some(event) = self.sender.poll_event() {
            if let Event::Recovery(event) = event {
                if let Some(ladder) = &mut self.ladder {
                    ladder.record_event(self.now, &event);
                }
                if self.records.size.held_until.releases(&event) {
                    self.path.release(self.now, Duration::from_millis(u64::from(self.records.size.late_ms)));
                }
                if let engine::Event::Judged { detector: 0, outcome, reason, .. } = event
                    && (outcome == Outcome::Spurious || reason == engine::MIXED)
                {
                    self.may_have_responded = true;
                }
                self.records.truth.record_event(&event);
            }
        }
        // The receiver's events are ignored, but must be polled.
        while self.receiver.poll_event().is_some() {}
    }

    fn finish(&mut self) {
        self.records.finish((self.threshold, self.sender.engine().snapshot().ssthresh));
    }
}

/// Returns a transmission as the oracle sees it.
pub(crate) fn sent(transmission: &Transmission) -> SentData {
    SentData {
        transmission: transmission.id.0,
        start: transmission.start,
        end: transmission.start + u64::from(transmission.len),
        role: match (transmission.kind, transmission.copy) {
            (Kind::Retransmission(_), _) => Role::Retransmission,
            (_, 0) => Role::Original,
            (_, _) => Role::Probe,
        },
    }
}

#[cfg(test)]
mod tests {
    use eifel_recovery::engine::Config;
    use eifel_recovery::registry::Choice;
    use eifel_tcp::Settings;
    use eifel_tcp::settings::{GiveUp, TimestampSettings};

    use super::*;
    use crate::question::{HeldUntil, Size};
    use crate::records::MOST_INPUTS;
    use crate::walk::draw;

    fn question(detect: &str) -> Question {
        let settings = Settings { timestamps: Some(TimestampSettings::default()), ..Settings::default() };
        let sender = Config { detect: Choice::named(detect), ..Config::default() };
        Question { settings, sender, size: Size { segments: 3, before: 2, after: 4, ..Size::default() } }
    }

    /// Runs a world to its end. Packets without a chosen fate are delivered.
    fn run(mut world: World, fates: &Fates) -> (Progress, World) {
        loop {
            match world.advance() {
                Progress::NeedsFate(subject) => world.choose(fates.get(subject).unwrap_or(Fate::Delivered)),
                ended => return (ended, world),
            }
        }
    }

    #[test]
    fn a_world_is_stuck_after_one_input_beyond_the_limit() {
        for fates in [Fates::default(), Fates::of(&[(Subject::Segment(0), Fate::Lost)])] {
            let world = || World::new(&question("none")).unwrap();
            let (ended, over) = run(world(), &fates);
            assert_eq!(ended, Progress::Over);
            let left = MOST_INPUTS - over.inputs();
            assert_eq!(run(world().after_inputs(left), &fates).0, Progress::Over);
            assert_eq!(run(world().after_inputs(left + 1), &fates).0, Progress::Stuck);
        }
    }

    /// Nine segments arrive, and their ACKs. Each run ends with an input that finds nothing.
    #[test]
    fn every_arrival_is_an_input() {
        let (_, over) = run(World::new(&question("none")).unwrap(), &Fates::default());
        assert_eq!(over.inputs(), 2 * 9 + 2);
    }

    #[test]
    fn only_the_middle_segments_have_fates() {
        let world = World::new(&question("none")).unwrap();
        let mss = u64::from(world.sender.mss());
        let number = |start| world.number(&SentData { transmission: 0, start, end: start + 1, role: Role::Original });
        assert_eq!([1, 2 * mss, 5 * mss + 1, 9 * mss].map(number), [None; 4]);
        assert_eq!([2 * mss + 1, 3 * mss, 3 * mss + 1, 5 * mss].map(number), [0, 0, 1, 2].map(Some));
    }

    #[test]
    fn a_held_packet_arrives_after_three_timeouts_if_its_event_never_comes() {
        let mut world = World::new(&question("none")).unwrap();
        assert!(matches!(world.advance(), Progress::NeedsFate(_)));
        world.choose(Fate::Delayed);
        let snapshot = world.sender.engine().snapshot();
        assert_eq!(world.path.next(), world.now + crate::DELAY + snapshot.rto * 3);
    }

    /// The sender's user timeout expires when the ACK of the last segment arrives, or a nanosecond
    /// before.
    #[test]
    fn an_arrival_precedes_a_timer_at_the_same_instant() {
        let drawn = |user_timeout: Option<Duration>| {
            let mut question = question("none");
            question.settings.give_up = GiveUp { user_timeout, ..GiveUp::default() };
            draw(&question, &Fates::default()).unwrap().to_string()
        };
        let patient = drawn(None);
        assert_eq!(drawn(Some(crate::DELAY * 2)), patient);
        assert_ne!(drawn(Some(crate::DELAY * 2 - Duration::from_nanos(1))), patient);
    }

    #[test]
    fn a_spurious_verdict_may_trigger_the_response() {
        let late = Fates::of(&[(Subject::Segment(0), Fate::Delayed)]);
        for (detect, fates, expected) in [
            ("dsack", Fates::default(), false),
            ("dsack", Fates::of(&[(Subject::Segment(0), Fate::Lost)]), false),
            ("dsack", late, true),
            // A verdict, but of a genuine episode.
            ("eifel-timestamps", Fates::of(&[(Subject::Segment(0), Fate::Lost)]), false),
            ("none", late, false),
        ] {
            let mut question = question(detect);
            question.settings.timestamps = Some(TimestampSettings::distinct([1, 2]));
            question.size.held_until = HeldUntil::LossSignal;
            let world = World::new(&question).unwrap();
            assert!(!world.may_have_responded());
            let drawn = draw(&question, &fates).unwrap();
            assert_eq!(run(world, &fates).1.may_have_responded(), expected, "{detect}, {fates}: {drawn}");
        }
    }

    /// RFC 7323, section 5.3: segment 2 arrives after the retransmission of segment 1, with an
    /// older timestamp. Reno leaves its recovery at once, so segment 2 is the first retransmission
    /// of a second episode.
    #[test]
    fn data_refused_by_the_receiver_counts_as_needed() {
        let needed = |late_ms| {
            let mut question = question("none");
            question.sender.recover = Choice::named("reno");
            question.size.held_until = HeldUntil::LossSignal;
            question.size.late_ms = late_ms;
            let fates = Fates::of(&[(Subject::Segment(0), Fate::Lost), (Subject::Segment(1), Fate::Delayed)]);
            let (_, world) = run(World::new(&question).unwrap(), &fates);
            world.truth().episodes().iter().map(|episode| episode.needed).collect::<Vec<_>>()
        };
        assert_eq!(needed(40), [Some(true)]);
        assert_eq!(needed(60), [Some(true), Some(true)]);
        assert_eq!(needed(4000), [Some(true), Some(false)]);
    }
}
