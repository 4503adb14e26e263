//! Ludwig, chapter 5, section 5.2.1 and its second footnote: a segment says whether it was sent before, and what answers it
//! whether that was; by a bit each way, or by timestamps on those segments alone. Two ends over a path that loses, repeats
//! and reorders, and every segment carries what the transcription says.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Marks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::{Connection, Ports, Settings, State};

use crate::dice::Dice;

const CONNECTIONS: u64 = 300;
const STEPS: u64 = 400;

struct End {
    connection: Connection,
    iss: u32,
    /// The first position that it has never sent.
    unsent: u32,
    /// A segment since the last that left was marked; with timestamps the first value of such.
    marked: Option<u32>,
}

/// How often segments said that they were sent before, and that they answer one that was.
#[derive(Default, Debug)]
struct Said {
    again: u64,
    answers: u64,
}

impl End {
    fn new(connection: Connection, iss: u32) -> Self {
        Self { connection, iss, unsent: 1, marked: None }
    }

    /// A segment has left.
    fn says(&mut self, segment: &Segment, marks: Marks, said: &mut Said, place: &str) {
        let start = segment.seq.0.wrapping_sub(self.iss);
        let len = positions(segment);
        let again = len > 0 && start < self.unsent;
        self.unsent = self.unsent.max(start + len);
        match marks {
            Marks::Bits => {
                assert_eq!(segment.flags.has(Flags::SENT_AGAIN), again, "{place}: {segment:?}");
                assert_eq!(segment.flags.has(Flags::ANSWERS_SENT_AGAIN), self.marked.is_some(), "{place}: {segment:?}");
            }
            Marks::Timestamps => {
                let Timestamps { value, echo } = segment.options.timestamps.unwrap_or(Timestamps { value: 0, echo: 0 });
                assert_eq!(
                    segment.options.timestamps.is_some(),
                    again || self.marked.is_some(),
                    "{place}: {segment:?}"
                );
                assert_eq!((value != 0, echo), (again, self.marked.unwrap_or(0)), "{place}: {segment:?}");
            }
        }
        said.again += u64::from(again);
        said.answers += u64::from(self.marked.is_some());
        self.marked = None;
    }

    /// A segment arrives: what takes positions will be answered.
    fn hears(&mut self, now: Instant, segment: &Segment, marks: Marks) {
        if positions(segment) > 0 {
            let mark = match marks {
                Marks::Bits => segment.flags.has(Flags::SENT_AGAIN).then_some(1),
                Marks::Timestamps => segment.options.timestamps.map(|stamps| stamps.value).filter(|&value| value != 0),
            };
            self.marked = self.marked.or(mark);
        }
        self.connection.handle_segment(now, segment, &[]);
    }
}

fn positions(segment: &Segment) -> u32 {
    segment.payload_len + u32::from(segment.flags.has(Flags::FIN))
}

/// Both ends, established without a loss.
fn opened(dice: &mut Dice, marks: Marks, now: &mut Instant) -> [End; 2] {
    let settings = Settings { mss: 500, marks: Some(marks), timestamps: None, ..Settings::default() };
    let isns = [0, 1].map(|_| dice.below(1 << 32) as u32);
    let ports = [Ports { local: 1, remote: 2 }, Ports { local: 2, remote: 1 }];
    let engine = || Engine::new(&Config::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut ends = [
        End::new(Connection::connect(&settings, engine(), ports[0], Seq(isns[0])), isns[0]),
        End::new(Connection::listen(&settings, engine(), ports[1], Seq(isns[1])), isns[1]),
    ];
    for from in [0, 1, 0] {
        *now += Duration::from_millis(20);
        while let Some(out) = eifel_talk::next(&mut ends[from].connection, *now) {
            ends[1 - from].connection.handle_segment(*now, &out.segment, &[]);
        }
    }
    assert!(ends.iter().all(|end| end.connection.state() == State::Established));
    ends
}

#[test]
fn marks_are_the_thesis_s() {
    for marks in [Marks::Bits, Marks::Timestamps] {
        let mut dice = Dice::new(18);
        let mut said = Said::default();
        for connection in 0..CONNECTIONS {
            let mut now = Instant::ZERO + Duration::from_secs(1);
            let mut ends = opened(&mut dice, marks, &mut now);
            let mut path: Vec<(Instant, usize, Segment)> = Vec::new();
            for step in 0..STEPS {
                let place = format!("{marks:?}, connection {connection}, step {step}");
                now += Duration::from_millis(dice.below(60));
                path.sort_by_key(|&(at, ..)| at);
                while path.first().is_some_and(|&(at, ..)| at <= now) {
                    let (_, to, segment) = path.remove(0);
                    ends[to].hears(now, &segment, marks);
                    send(&mut dice, &mut ends, now, (marks, &mut said, &place), &mut path);
                }
                for end in &mut ends {
                    if end.connection.poll_timeout() <= now {
                        end.connection.handle_timeout(now);
                    }
                    if dice.once_in(20) {
                        end.connection.write_counted(dice.of_any_size(4));
                    }
                }
                send(&mut dice, &mut ends, now, (marks, &mut said, &place), &mut path);
            }
        }
        assert!(said.again > CONNECTIONS && said.answers > CONNECTIONS, "{marks:?}: {said:?}");
    }
}

fn send(
    dice: &mut Dice,
    ends: &mut [End; 2],
    now: Instant,
    (marks, said, place): (Marks, &mut Said, &str),
    path: &mut Vec<(Instant, usize, Segment)>,
) {
    for (from, end) in ends.iter_mut().enumerate() {
        while let Some(out) = eifel_talk::next(&mut end.connection, now) {
            end.says(&out.segment, marks, said, place);
            let copies = if dice.once_in(10) { 0 } else { 1 + usize::from(dice.once_in(20)) };
            for _ in 0..copies {
                let delay = if dice.once_in(10) { 2000 } else { 50 };
                path.push((now + Duration::from_millis(1 + dice.below(delay)), 1 - from, out.segment));
            }
        }
    }
}
