//! Marks of retransmissions, with and without agreement, on segments and on their acknowledgements.

use std::collections::VecDeque;

use crate::talk::{PORTS, Talk, ms, plain};
use eifel_base::time::Duration;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{Config, Engine, Event as Recovery};
use eifel_recovery::registry::Choice;
use eifel_tcp::settings::{AckSettings, Marks, SackUse, TimestampSettings};
use eifel_tcp::{Connection, Event, Settings, State};

fn marking(marks: Marks) -> Settings {
    Settings { marks: Some(marks), ..plain() }
}

/// Establishes a connection by the SYN of a peer that offers `offer`. Returns this end's answer
/// too.
fn called(settings: &Settings, offer: &str) -> (Talk, Vec<String>) {
    let mut talk = Talk::listen(settings);
    talk.gets(0, &format!("S 0 win 10000 mss 1000 {offer}"));
    let answer = talk.sent();
    talk.gets(0, "A 1 ack 1 win 10000");
    assert_eq!(talk.connection.state(), State::Established);
    (talk, answer)
}

#[test]
fn marks_need_the_same_setting_at_both_ends() {
    let (_, answer) = called(&marking(Marks::Bits), "marks bits");
    assert_eq!(answer, ["SA 0 ack 1 win 10000 mss 1000 marks bits"]);
    let (_, answer) = called(&marking(Marks::Timestamps), "marks timestamps");
    assert_eq!(answer, ["SA 0 ack 1 win 10000 mss 1000 marks timestamps"]);
    for (own, offer) in [
        (marking(Marks::Bits), "marks timestamps"),
        (marking(Marks::Timestamps), "marks bits"),
        (marking(Marks::Bits), ""),
        (plain(), "marks bits"),
    ] {
        assert_eq!(called(&own, offer).1, ["SA 0 ack 1 win 10000 mss 1000"], "{offer}");
    }
}

#[test]
fn the_client_uses_marks_only_if_the_syn_ack_confirms_them() {
    let mut talk = Talk::connect(&marking(Marks::Bits));
    talk.says(&["S 0 win 10000 mss 1000 marks bits"]);
    talk.gets(50, "SA 0 ack 1 win 5000 mss 1000 marks bits");
    talk.says(&["A 1 ack 1 win 10000"]);
    talk.gets(60, "Ar 1..1001 ack 1 win 5000");
    talk.gets(60, "A 1001..2001 ack 1 win 5000");
    talk.says(&["Ae 1 ack 2001 win 10000"]);
}

#[test]
fn timestamps_on_every_segment_exclude_marks_by_timestamps() {
    let both = Settings { timestamps: Some(TimestampSettings::default()), ..marking(Marks::Timestamps) };
    Talk::connect(&both).says(&["S 0 win 10000 mss 1000 ts 0/0"]);
    let bits = Settings { timestamps: Some(TimestampSettings::default()), ..marking(Marks::Bits) };
    Talk::connect(&bits).says(&["S 0 win 10000 mss 1000 marks bits ts 0/0"]);
}

/// If a peer has refused the marks or does not know them, no marks are sent. The peer's reserved
/// bits have no meaning.
#[test]
fn a_peer_that_has_not_agreed_never_sees_a_mark() {
    for marks in [Marks::Bits, Marks::Timestamps] {
        let (mut talk, _) = called(&marking(marks), "");
        assert_eq!(talk.connection.write_counted(2000), 2000);
        talk.says(&["A 1..1001 ack 1 win 10000", "PA 1001..2001 ack 1 win 10000"]);
        let deadline = talk.connection.poll_timeout();
        talk.now = deadline;
        talk.connection.handle_timeout(deadline);
        talk.says(&["A 1..1001 ack 1 win 10000"]);
        talk.gets(2000, "Are 1..1001 ack 1 win 10000");
        talk.gets(2000, "A 1..1001 ack 1 win 10000");
        talk.says(&["A 2001 ack 1001 win 10000"]);
    }
}

#[test]
fn bits_mark_retransmissions_and_the_acks_that_they_cause() {
    let (mut talk, _) = called(&marking(Marks::Bits), "marks bits");
    talk.connection.write_counted(2000);
    talk.says(&["A 1..1001 ack 1 win 10000", "PA 1001..2001 ack 1 win 10000"]);
    talk.wakes(1000);
    talk.says(&["Ar 1..1001 ack 1 win 10000"]);
    // Data with an acknowledgement: each has its own mark.
    talk.gets(1100, "Ar 1..1001 ack 1001 win 10000");
    talk.gets(1100, "A 1001..2001 ack 1001 win 10000");
    talk.says(&["PAre 1001..2001 ack 2001 win 10000"]);
    // Three acknowledgements are marked. A segment that is a complete duplicate is acknowledged
    // too, but not one without data.
    talk.gets(1200, "A 2001..3001 ack 2001 win 10000");
    talk.gets(1200, "A 3001..4001 ack 2001 win 10000");
    talk.says(&["Ae 2001 ack 4001 win 10000"]);
    talk.gets(1300, "Ar 1..1001 ack 2001 win 10000");
    talk.says(&["Ae 2001 ack 4001 win 10000"]);
    talk.gets(1400, "Ar 4001 ack 2001 win 10000");
    talk.gets(1400, "A 4001..5001 ack 2001 win 10000");
    talk.gets(1400, "A 5001..6001 ack 2001 win 10000");
    talk.says(&["Ae 2001 ack 6001 win 10000"]);
    talk.gets(1500, "A 6001..7001 ack 2001 win 10000");
    talk.gets(1500, "A 7001..8001 ack 2001 win 10000");
    talk.says(&["Ae 2001 ack 8001 win 10000"]);
    talk.gets(1600, "A 8001..9001 ack 2001 win 10000");
    talk.gets(1600, "A 9001..10001 ack 2001 win 10000");
    talk.says(&["A 2001 ack 10001 win 10000"]);
}

/// Data of the other direction carries acknowledgements too. The loss of a burst loses several of
/// them at once.
#[test]
fn an_ack_before_new_data_arrives_repeats_the_last_mark() {
    let (mut talk, _) = called(&marking(Marks::Bits), "marks bits");
    talk.gets(1100, "Ar 1..1001 ack 1 win 10000");
    talk.gets(1100, "A 1001..2001 ack 1 win 10000");
    talk.says(&["Ae 1 ack 2001 win 10000"]);
    talk.connection.write_counted(4000);
    talk.says(&[
        "Ae 1..1001 ack 2001 win 10000",
        "Ae 1001..2001 ack 2001 win 10000",
        "Ae 2001..3001 ack 2001 win 10000",
        "PAe 3001..4001 ack 2001 win 10000",
    ]);
    for (at, start, says) in [(1200, 2001, "Ae"), (1300, 4001, "Ae"), (1400, 6001, "A")] {
        for start in [start, start + 1000] {
            talk.gets(at, &format!("A {start}..{} ack 4001 win 10000", start + 1000));
        }
        talk.says(&[&format!("{says} 4001 ack {} win 10000", start + 2000)]);
    }
}

/// A full segment leaves room for the option that its retransmission may carry. The clock has ticks
/// of a millisecond.
#[test]
fn timestamps_mark_retransmissions_and_the_acks_that_they_cause() {
    let settings = Settings { sack: SackUse::WithDuplicates, ..marking(Marks::Timestamps) };
    let (mut talk, answer) = called(&settings, "sackok marks timestamps");
    assert_eq!(answer, ["SA 0 ack 1 win 10000 mss 1000 sackok marks timestamps"]);
    assert_eq!(talk.connection.mss(), 988);
    talk.connection.write_counted(1976);
    talk.says(&["A 1..989 ack 1 win 10000", "PA 989..1977 ack 1 win 10000"]);
    talk.wakes(1000);
    talk.says(&["A 1..989 ack 1 win 10000 ts 1000/0"]);
    // Three acknowledgements echo the earliest value. Three SACK blocks fit next to the option,
    // four without it.
    for (at, start) in [(1100, 1001), (1101, 3001), (1102, 5001), (1103, 7001)] {
        talk.gets(at, &format!("A {start}..{} ack 989 win 10000", start + 500));
    }
    talk.gets(1104, "A 7501..7601 ack 989 win 10000 ts 70/0");
    talk.gets(1105, "A 7601..7701 ack 989 win 10000 ts 71/0");
    talk.says(&[
        "A 1977 ack 1 win 10000 ts 0/70 sack 7001-7701 5001-5501 3001-3501",
        "PA 989..1977 ack 1 win 10000 ts 1105/70",
    ]);
}

/// Two ends of this stack. Segments wait in a queue until the test delivers them.
struct Pair {
    ends: [Connection; 2],
    waiting: [VecDeque<Segment>; 2],
    events: Vec<Recovery>,
}

impl Pair {
    /// The first end has 20 segments to send to the second, which acknowledges each.
    fn new(caller: &Settings, called: &Settings) -> Self {
        let config = Config {
            detect: Choice::named("eifel-bit"),
            respond: Choice::named("option-1"),
            recover: Choice::named("reno"),
            ..Config::default()
        };
        let engine = || Engine::new(&config).expect("known algorithms");
        let back = eifel_tcp::Ports { local: PORTS.remote, remote: PORTS.local };
        let first = Connection::connect(caller, engine(), PORTS, Seq(7));
        let second = Connection::listen(called, engine(), back, Seq(99));
        let mut pair = Self { ends: [first, second], waiting: [VecDeque::new(), VecDeque::new()], events: Vec::new() };
        pair.leave(0);
        for at in [10, 20, 30] {
            pair.arrive(at, 1);
            pair.arrive(at, 0);
        }
        assert_eq!(pair.ends[0].state(), State::Established);
        pair.ends[0].write_counted(20_000);
        pair.leave(40);
        assert_eq!(pair.waiting[1].len(), 10);
        pair
    }

    /// Lets both ends send.
    fn leave(&mut self, at: u64) {
        for from in [0, 1] {
            while let Some(out) = eifel_testkit::connections::next(&mut self.ends[from], ms(at)) {
                self.waiting[1 - from].push_back(out.segment);
            }
            while let Some(event) = self.ends[from].poll_event() {
                if let Event::Recovery(event) = event {
                    self.events.push(event);
                }
            }
        }
    }

    /// Delivers the waiting segments to an end, one by one.
    fn arrive(&mut self, at: u64, to: usize) {
        for _ in 0..self.waiting[to].len() {
            let segment = self.waiting[to].pop_front().expect("as many as were counted");
            self.ends[to].handle_segment(ms(at), &segment, &[]);
            self.leave(at);
        }
    }

    fn expire(&mut self) -> u64 {
        let deadline = self.ends[0].poll_timeout();
        self.ends[0].handle_timeout(deadline);
        let at = deadline.as_nanos() / 1_000_000;
        self.leave(at);
        at
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let judged = |event: &Recovery| match event {
            Recovery::Judged { outcome, .. } => Some(*outcome),
            _ => None,
        };
        self.events.iter().filter_map(judged).collect()
    }
}

fn each_segment(marks: Option<Marks>) -> Settings {
    let acks = AckSettings { every: 1, delay: Duration::ZERO, ..AckSettings::default() };
    Settings { marks, acks, receive_window: 60_000, ..plain() }
}

/// Ten segments are delayed until the first is retransmitted after them.
#[test]
fn with_marks_a_delay_spike_is_judged_spurious() {
    for marks in [Marks::Bits, Marks::Timestamps] {
        let settings = each_segment(Some(marks));
        let mut pair = Pair::new(&settings, &settings);
        let at = pair.expire();
        assert_eq!(pair.waiting[1].len(), 11);
        let marked = |segment: &Segment| segment.flags.has(Flags::SENT_AGAIN) || segment.options.timestamps.is_some();
        assert_eq!(pair.waiting[1].iter().map(marked).collect::<Vec<_>>(), [[false; 10].as_slice(), &[true]].concat());
        pair.arrive(at + 500, 1);
        assert_eq!(pair.waiting[0].len(), 11, "each is answered");
        pair.arrive(at + 600, 0);
        assert_eq!(pair.outcomes(), [Outcome::Spurious], "{marks:?}");
        for round in 0..5 {
            pair.arrive(at + 700 + 200 * round, 1);
            pair.arrive(at + 800 + 200 * round, 0);
        }
        assert_eq!(pair.ends[1].received(), 20_000);
    }
}

/// The first of ten segments is lost. The acknowledgement of its retransmission is marked.
#[test]
fn with_marks_a_loss_is_judged_genuine() {
    for marks in [Marks::Bits, Marks::Timestamps] {
        let settings = each_segment(Some(marks));
        let mut pair = Pair::new(&settings, &settings);
        pair.waiting[1].pop_front();
        pair.arrive(100, 1);
        pair.arrive(200, 0);
        pair.arrive(300, 1);
        pair.arrive(400, 0);
        assert_eq!(pair.outcomes(), [Outcome::Genuine], "{marks:?}");
    }
}

/// Without marks from the other end, the detector has no signal.
#[test]
fn without_agreed_marks_a_delay_spike_is_judged_genuine() {
    let mut pair = Pair::new(&each_segment(Some(Marks::Bits)), &each_segment(None));
    let at = pair.expire();
    assert!(pair.waiting[1].iter().all(|segment| segment.flags.0 & 0x0f00 == 0));
    pair.arrive(at + 500, 1);
    pair.arrive(at + 600, 0);
    assert_eq!(pair.outcomes(), [Outcome::Genuine]);
}
