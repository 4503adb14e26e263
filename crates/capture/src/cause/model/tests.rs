//! Records the output of all models for drawn senders, with times at and near the limits.

use std::fmt::Write;

use super::*;
use crate::cause::sender::Overtaken;
use crate::order::AckPlace;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use eifel_testkit::random::Random;
use eifel_testkit::{digest, golden};

const MS: u64 = 1_000_000;
const CONVERSATIONS: u64 = 1200;
/// Cases per digest.
const TOGETHER: u64 = 40;
/// Limits of the models and times between them, in milliseconds.
const GAPS: [u64; 18] = [0, 1, 4, 8, 50, 100, 150, 172, 200, 225, 240, 300, 400, 480, 500, 600, 750, 1000];
const LEN: u64 = 100;

/// A sender whose packets are drawn.
struct Drawn {
    random: Random,
    now: u64,
    una: u64,
    nxt: u64,
    sack: bool,
    away: bool,
    estimate: Option<(u64, u64)>,
}

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let estimates =
            [None, Some((200 * MS, 30 * MS)), Some((100 * MS, 0)), Some((200 * MS, 50 * MS)), Some((2 * MS, MS))];
        let estimate = random.one_of(&estimates);
        let (sack, away) = (random.below(3) > 0, random.coin());
        Self { random, now: 10_000 * MS, una: 1000, nxt: 2000, sack, away, estimate }
    }

    fn before(&mut self) -> u64 {
        self.now - self.random.near(&GAPS.map(|gap| gap * MS))
    }

    fn stamp(&mut self) -> Option<Timestamp> {
        let stamp = Timestamp(self.random.below(6) as u32);
        self.random.coin().then_some(stamp)
    }

    fn overtaken(&mut self) -> Option<Overtaken> {
        let [from, advanced] = [(); 2].map(|()| self.before());
        (self.sack && self.random.coin()).then_some(Overtaken { from, advanced })
    }

    fn position(&mut self) -> u64 {
        let room = (self.nxt - self.una) / LEN + 2;
        self.una - LEN + self.random.below(room.max(1)) * LEN
    }

    fn resent(&mut self) -> Retransmitted {
        self.now += self.random.near(&[1, 4 * MS, 100 * MS, 300 * MS, 400 * MS]);
        let start = self.position();
        let [earliest, told, last_ack, last_sent, timer_since, timer_from] = [(); 6].map(|()| self.before());
        let ack_place = self.random.one_of(&[AckPlace::Unknown, AckPlace::Within, AckPlace::End(told)]);
        let (overtaken, duplicates) = (self.overtaken(), self.random.below(8) as u32);
        let mut coin = || self.random.coin();
        Retransmitted {
            now: self.now,
            earliest: if self.away { earliest } else { self.now },
            ack_place,
            silence_before: coin().then_some((400 * MS, 200 * MS)).filter(|_| self.away),
            start,
            end: start + LEN,
            una: self.una,
            nxt: self.nxt,
            last_ack,
            last_sent,
            timer_set: (timer_from.min(timer_since), timer_since),
            estimate: self.estimate,
            missing: coin(),
            suspected_lost: coin(),
            in_gap: coin(),
            echo_is_new: [None, Some(true), Some(false)][usize::from(coin()) + usize::from(coin())],
            duplicates: (!self.sack).then_some(duplicates),
            duplicates_passed: duplicates + u32::from(coin()),
            segments: 1 + usize::from(coin()),
            stamp: self.stamp(),
            repeated: self.random.coin(),
            reported: self.random.below(4) == 0,
            follows_another: self.random.coin(),
            overtaken,
            may_be_unseen: self.away,
        }
    }

    /// Returns a duplicate in front of the data that are not acknowledged.
    fn reported(&mut self) -> Block {
        let end = self.una - LEN * self.random.below(3);
        Block { start: end - LEN, end }
    }

    fn ack(&mut self) -> AckReceived {
        self.now += self.random.near(&[1, 4 * MS, 50 * MS]);
        let room = (self.nxt - self.una) / LEN;
        let ahead = self.random.below(room + 1) * self.random.below(2) * LEN;
        self.una += ahead;
        if self.random.below(3) == 0 {
            self.nxt += LEN * self.random.below(6);
        }
        let mut sacks = [Block { start: 0, end: 0 }; 4];
        for block in sacks.iter_mut().take(self.random.below(3) as usize) {
            let start = self.una + LEN * self.random.below(8);
            *block = Block { start, end: start + LEN * (1 + self.random.below(2)) };
        }
        let original_below = self.random.coin().then(|| self.una + LEN * self.random.below(10));
        AckReceived {
            now: self.now,
            una: self.una,
            nxt: self.nxt,
            advances: ahead > 0,
            duplicate: self.random.coin(),
            original_below,
            echo: self.stamp(),
            sacks,
            dsack: (self.random.below(3) == 0).then(|| self.reported()),
            sack: self.sack,
        }
    }
}

/// Returns the output of all models for one sender.
fn said(seed: u64) -> String {
    let mut drawn = Drawn::new(seed);
    let mut models = MODELS.each_ref().map(|settings| (Hypotheses::new(settings), StackModel::new(settings)));
    let mut text = String::new();
    for _ in 0..4 + drawn.random.below(16) {
        if drawn.random.below(5) < 2 {
            let ack = drawn.ack();
            for (hypotheses, model) in &mut models {
                hypotheses.on_ack(&ack);
                model.on_ack(&ack);
            }
        } else {
            let resent = drawn.resent();
            let chosen = drawn.random.below(4) as usize;
            for (hypotheses, model) in &mut models {
                let candidates: Vec<_> = model.candidates(&resent).collect();
                candidates.iter().for_each(|(cause, cost)| write!(text, "{} {cost:.6} ", cause.name()).unwrap());
                let (cause, cost) = candidates[chosen % candidates.len()];
                model.take(cause, cost, &resent);
                write!(text, "{} ", hypotheses.explain(&resent).name()).unwrap();
            }
        }
        for (hypotheses, model) in &models {
            let idle = [hypotheses.is_open(), hypotheses.is_idle(), model.is_open(), model.is_idle()];
            writeln!(text, "{} {idle:?} {:.6} {:.6}", hypotheses.name(), hypotheses.cost(), model.cost()).unwrap();
        }
    }
    for (hypotheses, _) in &mut models {
        writeln!(text, "{:?}", hypotheses.explained()).unwrap();
    }
    text
}

#[test]
fn explanations_of_drawn_senders_match_the_golden() {
    let (mut text, mut together) = (String::new(), String::new());
    for seed in 0..CONVERSATIONS {
        together += &said(seed);
        if seed % TOGETHER == TOGETHER - 1 {
            writeln!(text, "up to {seed}: {}", digest(std::mem::take(&mut together))).unwrap();
        }
    }
    golden!("senders.txt", text);
}

fn linux() -> StackModel {
    StackModel::new(&MODELS[0])
}

fn cheapest(model: &StackModel, resent: &Retransmitted) -> (Cause, f64) {
    model.candidates(resent).min_by(|one, other| one.1.total_cmp(&other.1)).unwrap()
}

/// Returns a retransmission next to the sender of the oldest segment, a timeout after the ACK in front of it.
fn by_timer() -> Retransmitted {
    Retransmitted {
        missing: false,
        repeated: false,
        may_be_unseen: false,
        now: 1220 * MS,
        ..hypotheses::tests::resent()
    }
}

#[test]
fn duplicates_of_an_earlier_episode_undo_no_timeout() {
    let resent = Retransmitted { start: 5000, end: 6000, una: 5000, ..by_timer() };
    let open_after = |dsack| {
        let mut model = linux();
        model.take(Cause::Rto, 0.0, &resent);
        let ack = AckReceived { dsack: Some(dsack), ..Drawn::new(1).ack() };
        model.on_ack(&AckReceived { una: 6000, nxt: 20_000, advances: true, echo: None, original_below: None, ..ack });
        model.is_open()
    };
    assert!(!open_after(Block { start: 4000, end: 5000 }));
    assert!(open_after(Block { start: 5000, end: 6000 }));
}

#[test]
fn a_probe_leaves_after_two_round_trips_and_two_jiffies() {
    let cost = |nanos| {
        let tail = Retransmitted { start: 19_000, end: 20_000, now: nanos, earliest: nanos, ..by_timer() };
        let tail = Retransmitted { estimate: Some((MS, MS / 2)), ..tail };
        linux().candidates(&tail).find(|(cause, _)| *cause == Cause::Tlp).unwrap().1
    };
    // Jiffies are 1 to 4 ms long.
    assert_eq!([804, 807, 810].map(|ms| cost(ms * MS)), [0.0; 3]);
    assert!(cost(803 * MS) > 0.5 && cost(815 * MS) > 0.3);
}

#[test]
fn what_follows_one_segment_alone_after_a_timeout_is_go_back_n() {
    let resent = Retransmitted {
        start: 5000,
        end: 6000,
        una: 5000,
        last_ack: 996 * MS,
        repeated: false,
        ..hypotheses::tests::resent()
    };
    // The timeout is 300 ms.
    let cause = |silence: Option<u64>| {
        let silence_before = silence.map(|ms| (ms * MS, 100 * MS));
        cheapest(&linux(), &Retransmitted { silence_before, ..resent }).0
    };
    let causes = [None, Some(224), Some(225)].map(cause);
    assert_eq!(causes, [Cause::Fast, Cause::Fast, Cause::Loss]);
}

#[test]
fn new_data_do_not_leave_before_go_back_n_has_repaired_all_but_for_f_rto() {
    let cost = |settings: usize, missing: fn(u64) -> u64| {
        let mut model = StackModel::new(&MODELS[settings]);
        model.take(Cause::Rto, 0.0, &by_timer());
        let before = model.cost();
        model.on_new(missing);
        model.cost() - before
    };
    assert!(!MODELS[1].forward_rto && MODELS[0].forward_rto);
    assert_eq!([cost(1, |position| position), cost(1, |_| 20_000), cost(0, |position| position)], [1.0, 0.0, 0.0]);
}
