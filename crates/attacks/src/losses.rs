//! A sender that loses one segment after another. Its receiver may lie about each loss.

use eifel_base::time::Duration;
use eifel_packet::segment::{Flags, Segment};
use eifel_recovery::engine::{Config, Event as Told};
use eifel_tcp::{Event, Settings};
use eifel_testkit::connections::Sent;

use crate::victim::{MSS, Victim, ack, engine, stamped, with_sack};

pub(crate) const ROUND_TRIP: Duration = Duration::from_millis(100);
/// The number of segments in flight before one is lost.
const FLIGHT: u64 = 12;

/// A connection with unlimited data to send.
pub(crate) struct Losses {
    pub(crate) victim: Victim,
    /// First transmissions that are not yet acknowledged.
    flight: Vec<Sent>,
    /// The segment acknowledged last.
    before: Option<Sent>,
    /// Retransmissions since the last loss.
    again: Vec<Sent>,
    /// The number of recovery episodes so far.
    pub(crate) noticed: u64,
    /// The number of undos so far.
    pub(crate) undone: u64,
}

/// A segment that was lost and sent again.
pub(crate) struct Lost {
    /// The segment before it, which arrived.
    pub(crate) before: Option<Sent>,
    pub(crate) original: Sent,
    /// The segment behind it, which arrived.
    pub(crate) next: Sent,
    pub(crate) again: Sent,
    /// The first position beyond all sent data.
    pub(crate) nxt: u64,
}

impl Lost {
    /// Returns the positions of the lost segment.
    pub(crate) fn block(&self) -> (u64, u64) {
        (self.original.start + 1, self.original.start + 1 + u64::from(self.original.segment.payload_len))
    }
}

impl Losses {
    pub(crate) fn new(settings: &Settings, config: &Config) -> Self {
        let mut victim = Victim::with_engine(settings, 64_000, engine(config));
        victim.connection.write_counted(1 << 40);
        let mut losses = Self { victim, flight: Vec::new(), before: None, again: Vec::new(), noticed: 0, undone: 0 };
        losses.sends();
        losses
    }

    fn sends(&mut self) {
        for sent in self.victim.sends() {
            match sent.transmission {
                Some(transmission) if transmission.copy == 0 => self.flight.push(sent),
                Some(_) => self.again.push(sent),
                None => {}
            }
        }
        while let Some(event) = self.victim.connection.poll_event() {
            match event {
                Event::Recovery(Told::EpisodeOpened { .. }) => self.noticed += 1,
                Event::Recovery(Told::Adjusted { .. }) => self.undone += 1,
                _ => {}
            }
        }
    }

    /// Delivers a segment of the receiver.
    pub(crate) fn gets(&mut self, segment: &Segment) {
        self.victim.gets(segment);
        let una = self.victim.connection.engine().una();
        self.flight.retain(|sent| sent.start + 1 >= una);
        self.sends();
    }

    /// Makes an honest ACK up to `position`, which echoes the timestamp of `answered`.
    pub(crate) fn honest(&self, position: u64, answered: &Segment) -> Segment {
        let now = (self.victim.now.as_nanos() / 1_000_000) as u32;
        match answered.options.timestamps {
            Some(stamps) => stamped(ack(position), now, stamps.value),
            None => ack(position),
        }
    }

    /// Runs round trips without loss until enough segments are in flight. The receiver sets their
    /// length.
    pub(crate) fn flows(&mut self, round_trip: Duration) {
        loop {
            self.victim.waits(round_trip);
            self.sends();
            for sent in core::mem::take(&mut self.flight) {
                let end = sent.start + 1 + u64::from(sent.segment.payload_len);
                let honest = self.honest(end, &sent.segment);
                self.gets(&honest);
                self.before = Some(sent);
            }
            if self.flight.len() as u64 >= FLIGHT {
                return;
            }
        }
    }

    /// Loses the oldest segment. A round trip later, the receiver reports three segments behind it,
    /// and the sender retransmits it.
    pub(crate) fn loses(&mut self) -> Lost {
        self.flows(ROUND_TRIP);
        let (original, next) = (self.flight[0], self.flight[1]);
        let (start, end) = (original.start + 1, next.start + 1);
        self.victim.waits(ROUND_TRIP);
        self.again.clear();
        for reported in 1..=3 {
            let answered = self.flight[reported as usize].segment;
            let duplicate = with_sack(self.honest(start, &answered), &[(end, end + reported * MSS)]);
            self.gets(&duplicate);
        }
        let again = *self.again.first().unwrap_or(&original);
        Lost { before: self.before, original, next, again, nxt: self.victim.connection.engine().nxt() }
    }

    /// A round trip later, acknowledges all but the newest segment with an ACK altered by `lie`. An
    /// ACK for all data might mean that other segments were lost (RFC 3522, section 3.2, step 5).
    pub(crate) fn answers(&mut self, lost: &Lost, lie: impl FnOnce(Segment) -> Segment) {
        self.victim.waits(ROUND_TRIP);
        let answer = lie(self.honest(lost.nxt - MSS, &lost.again.segment));
        self.gets(&answer);
    }
}

/// Returns the segment with `of`'s timestamp as its echo.
pub(crate) fn echoing(segment: Segment, of: &Sent) -> Segment {
    match (segment.options.timestamps, of.segment.options.timestamps) {
        (Some(own), Some(forged)) => stamped(segment, own.value, forged.value),
        _ => segment,
    }
}

/// Returns the segment without the mark for answers to retransmissions.
pub(crate) fn unmarked(segment: Segment) -> Segment {
    Segment { flags: Flags(segment.flags.0 & !Flags::ANSWERS_SENT_AGAIN.0), ..segment }
}
