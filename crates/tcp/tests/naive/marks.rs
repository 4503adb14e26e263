//! Ludwig, chapter 5, section 5.2.1 and its second footnote. A segment is marked if it is a
//! retransmission, and an acknowledgement if it answers one. The marks are a bit in each direction,
//! or timestamps on these segments only. Two ends use a path that loses, duplicates and reorders,
//! and the marks of every segment must equal those of the transcription.

use eifel_base::time::Duration;
use eifel_packet::segment::{Flags, Marks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::{Connection, Ports, Settings, State};
use eifel_testkit::connections::Pair;

use crate::dice::Dice;

const CONNECTIONS: u64 = 300;
const STEPS: u64 = 400;

/// The transcription of one end.
struct End {
    iss: u32,
    /// The first position that the end has never sent.
    unsent: u32,
    /// The mark to be answered, with timestamps its value. `answers` is the number of segments that
    /// still have to answer it.
    marked: Option<u32>,
    answers: u32,
    /// Whether a segment has arrived since the last one was sent. `told` is the answer in the last
    /// one.
    heard: bool,
    told: Option<u32>,
}

/// Numbers of marked retransmissions and marked answers.
#[derive(Default, Debug)]
struct Said {
    again: u64,
    answers: u64,
}

impl End {
    fn new(iss: u32) -> Self {
        Self { iss, unsent: 1, marked: None, answers: 0, heard: false, told: None }
    }

    /// Processes a segment that the end has sent, and checks its marks.
    fn says(&mut self, segment: &Segment, marks: Marks, said: &mut Said, place: &str) {
        let start = segment.seq.0.wrapping_sub(self.iss);
        let len = positions(segment);
        let again = len > 0 && start < self.unsent;
        self.unsent = self.unsent.max(start + len);
        // Not from the thesis: three segments with news carry the answer, and segments sent in
        // between repeat it.
        if self.heard {
            self.told = self.marked.filter(|_| self.answers > 0);
            self.answers = self.answers.saturating_sub(1);
            self.heard = false;
        }
        match marks {
            Marks::Bits => {
                assert_eq!(segment.flags.has(Flags::SENT_AGAIN), again, "{place}: {segment:?}");
                assert_eq!(segment.flags.has(Flags::ANSWERS_SENT_AGAIN), self.told.is_some(), "{place}: {segment:?}");
            }
            Marks::Timestamps => {
                let Timestamps { value, echo } = segment.options.timestamps.unwrap_or(Timestamps { value: 0, echo: 0 });
                assert_eq!(segment.options.timestamps.is_some(), again || self.told.is_some(), "{place}: {segment:?}");
                assert_eq!((value != 0, echo), (again, self.told.unwrap_or(0)), "{place}: {segment:?}");
            }
        }
        said.again += u64::from(again);
        said.answers += u64::from(self.told.is_some());
    }

    /// Processes an arriving segment. Segments with positions are answered.
    fn hears(&mut self, segment: &Segment, marks: Marks) {
        if positions(segment) > 0 {
            self.heard = true;
            let mark = match marks {
                Marks::Bits => segment.flags.has(Flags::SENT_AGAIN).then_some(1),
                Marks::Timestamps => segment.options.timestamps.map(|stamps| stamps.value).filter(|&value| value != 0),
            };
            // Three segments answer. Of several marks before the first answer, the earliest counts.
            if let Some(mark) = mark
                && self.answers < 3
            {
                (self.marked, self.answers) = (Some(mark), 3);
            }
        }
    }
}

fn positions(segment: &Segment) -> u32 {
    segment.payload_len + u32::from(segment.flags.has(Flags::FIN))
}

/// Makes both ends, established without loss.
fn opened(dice: &mut Dice, marks: Marks) -> (Pair, [End; 2]) {
    let settings = Settings { mss: 500, marks: Some(marks), timestamps: None, ..Settings::default() };
    let isns = [0, 1].map(|_| dice.below(1 << 32) as u32);
    let ports = [Ports { local: 1, remote: 2 }, Ports { local: 2, remote: 1 }];
    let engine = || Engine::new(&Config::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut pair = Pair::new([
        Connection::connect(&settings, engine(), ports[0], Seq(isns[0])),
        Connection::listen(&settings, engine(), ports[1], Seq(isns[1])),
    ]);
    pair.now += Duration::from_secs(1);
    for _ in 0..3 {
        pair.send(|_| Some(Duration::from_millis(20)));
        pair.step(pair.due());
    }
    assert!(pair.ends.iter().all(|end| end.state() == State::Established));
    (pair, isns.map(End::new))
}

#[test]
fn marks_agree_with_a_model_of_the_thesis() {
    for marks in [Marks::Bits, Marks::Timestamps] {
        let mut dice = Dice::new(18);
        let mut said = Said::default();
        for connection in 0..CONNECTIONS {
            let (mut pair, mut ends) = opened(&mut dice, marks);
            for step in 0..STEPS {
                let place = format!("{marks:?}, connection {connection}, step {step}");
                let then = pair.now + Duration::from_millis(dice.below(60));
                while let Some(flying) = pair.step(then) {
                    ends[1 - flying.from].hears(&flying.sent.segment, marks);
                    send(&mut dice, &mut pair, &mut ends, (marks, &mut said, &place));
                }
                for end in &mut pair.ends {
                    if dice.once_in(20) {
                        end.write_counted(dice.of_any_size(4));
                    }
                }
                send(&mut dice, &mut pair, &mut ends, (marks, &mut said, &place));
            }
        }
        assert!(said.again > CONNECTIONS && said.answers > CONNECTIONS, "{marks:?}: {said:?}");
    }
}

fn send(dice: &mut Dice, pair: &mut Pair, ends: &mut [End; 2], (marks, said, place): (Marks, &mut Said, &str)) {
    pair.send(|flying| {
        ends[flying.from].says(&flying.sent.segment, marks, said, place);
        let copies = if dice.once_in(10) { 0 } else { 1 + usize::from(dice.once_in(20)) };
        let mut delay = || {
            let most = if dice.once_in(10) { 2000 } else { 50 };
            Duration::from_millis(1 + dice.below(most))
        };
        (0..copies).map(|_| delay()).collect::<Vec<_>>()
    });
}
