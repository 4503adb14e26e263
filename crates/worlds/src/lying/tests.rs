//! Compares the search that continues each state once with a search that tries each lie by itself.

use core::fmt::Debug;
use core::ops::ControlFlow;
use std::collections::BTreeSet;

use eifel_recovery::registry::{Choice, Value};
use eifel_sim::liar::schedule::Answer;

use super::search::{Search, answers};
use super::{LieTally, search_lies};
use crate::fate::{Fate, Fates, Subject};
use crate::question::Question;
use crate::records::MOST_INPUTS;
use crate::state::Digester;
use crate::world::{Progress, World};

const PLAIN: &str = "eifel-timestamps, plain";

fn question(detect: &str, segments: u32) -> Question {
    let older = Choice::named("eifel-timestamps").with("proof", Value::Word("older".into()));
    match detect {
        PLAIN => Question::of_lies(older, segments, false),
        _ => Question::of_lies(Choice::named(detect), segments, true),
    }
}

fn lost(numbers: &[usize]) -> Fates {
    Fates::of(&numbers.iter().map(|number| (Subject::Segment(*number), Fate::Lost)).collect::<Vec<_>>())
}

/// Number of lies, of lies without a cut, of stuck lies, and the smallest lie without a cut.
type Counts = (u64, u64, u64, Option<Vec<Answer>>);

/// Tries each lie by itself, after the part that it shares with the lie before.
fn naive(mut world: World, losses: &Fates, altered: usize, told: &mut Vec<Answer>, counts: &mut Counts) {
    let progress = loop {
        match world.advance() {
            Progress::NeedsFate(subject @ Subject::Segment(_)) => {
                world.choose(losses.get(subject).unwrap_or(Fate::Delivered));
            }
            progress => break progress,
        }
    };
    if let Progress::NeedsFate(_) = progress {
        for answer in answers(&world, altered > 0) {
            let mut one = world.clone();
            one.say(&answer);
            told.push(answer);
            naive(one, losses, altered - usize::from(answer != Answer::default()), told, counts);
            told.pop();
        }
        return;
    }
    let uncut = progress == Progress::Over && !world.truth().is_cut();
    counts.0 += 1;
    counts.1 += u64::from(uncut);
    counts.2 += u64::from(progress == Progress::Stuck);
    let altered = |told: &[Answer]| told.iter().filter(|answer| **answer != Answer::default()).count();
    if uncut && counts.3.as_deref().is_none_or(|smallest| altered(told) < altered(smallest)) {
        counts.3 = Some(told.clone());
    }
}

fn world(question: &Question) -> World {
    World::new(question).expect("a question").lying()
}

fn one_by_one(world: World, losses: &Fates, altered: Option<usize>) -> Counts {
    let mut counts = (0, 0, 0, None);
    naive(world, losses, altered.unwrap_or(usize::MAX), &mut Vec::new(), &mut counts);
    counts
}

fn merged(question: &Question, altered: Option<usize>) -> Vec<LieTally> {
    search_lies(question, altered, |_| ControlFlow::Continue(())).expect("a question").expect("an answer")
}

/// Tries every lie in this world. States with the same digest count as the same state.
fn merged_by(digest: fn(&World, &mut Digester) -> u128, world: World, losses: Fates) -> Counts {
    let mut tell = |_| true;
    let endings = Search::by(digest, losses, &mut tell).endings(world, None);
    (endings.lies, endings.uncut, endings.stuck, endings.smallest())
}

fn assert_alike(detect: &str, segments: u32, altered: Option<usize>) {
    let question = question(detect, segments);
    for LieTally { losses, lies, uncut, stuck, smallest, states, .. } in merged(&question, altered) {
        let expected = one_by_one(world(&question), &losses, altered);
        assert_eq!((lies, uncut, stuck, smallest), expected, "{detect}, {losses}, at most {altered:?} altered");
        assert!(states <= lies, "{detect}, {losses}: {states} states for {lies} lies");
    }
}

#[test]
fn lies_counted_per_state_equal_lies_counted_one_by_one() {
    for detect in ["eifel-timestamps", PLAIN, "dsack", "none", "eifel-or-f-rto", "f-rto-sack", "dual-rtt"] {
        assert_alike(detect, 3, None);
        assert_alike(detect, 3, Some(2));
        assert_alike(detect, 4, Some(2));
    }
}

#[test]
fn lies_about_four_segments_counted_per_state_equal_lies_counted_one_by_one() {
    assert_alike(PLAIN, 4, None);
}

/// Only these two parts are left out. The other parts follow from them and from the time, so
/// leaving one of those out changes nothing.
#[test]
fn a_digest_that_omits_a_field_fails_the_check() {
    type Digest = fn(&World, &mut Digester) -> u128;
    fn without(world: &World, digester: &mut Digester, part: Option<usize>) -> u128 {
        let state = world.state().into_iter().enumerate();
        let kept: Vec<_> = state.filter(|(place, _)| Some(*place) != part).map(|(_, part)| part).collect();
        digester.digest(&kept)
    }
    let whole: Digest = |world, digester| without(world, digester, None);
    let faults: [(&str, Digest); 2] = [
        ("the sender", |world, digester| without(world, digester, Some(1))),
        ("packets under way", |world, digester| without(world, digester, Some(3))),
    ];
    let (question, losses) = (question("dsack", 4), lost(&[0]));
    let expected = one_by_one(world(&question), &losses, None);
    assert_eq!(merged_by(whole, world(&question), losses), expected);
    for (what, digest) in faults {
        assert_ne!(merged_by(digest, world(&question), losses), expected, "{what}");
    }
}

/// Two states that differ in one part have different digests. Without that part, their digests are
/// equal.
#[test]
fn every_part_of_a_state_changes_its_digest() {
    let question = question("eifel-timestamps", 3);
    let mut waiting = Vec::new();
    let mut worlds = vec![world(&question)];
    while let Some(mut world) = worlds.pop().filter(|_| waiting.len() < 200) {
        match world.advance() {
            Progress::NeedsFate(Subject::Segment(number)) => {
                world.choose(if number == 0 { Fate::Lost } else { Fate::Delivered });
                worlds.push(world);
            }
            Progress::NeedsFate(Subject::Ack(_)) => {
                worlds.extend(answers(&world, true).iter().map(|answer| {
                    let mut one = world.clone();
                    one.say(answer);
                    one
                }));
                waiting.push(world);
            }
            Progress::Over | Progress::Stuck => {}
        }
    }
    let mut digester = Digester::default();
    let one = waiting[0].state();
    // An ACK that waits has been matched with its transmission, so no waiting world has this part.
    let (matched, unmatched) = (5, Some(0_usize));
    for part in 0..one.len() {
        let mut alone = |world: &World| digester.digest(&[world.state()[part]]);
        let same = alone(&waiting[0]);
        let mut mixed = one;
        mixed[part] = match waiting.iter().find(|world| alone(world) != same) {
            Some(other) => other.state()[part],
            None if part == matched => &unmatched,
            None => panic!("all worlds have the same part {part}"),
        };
        assert_ne!(digester.digest(&mixed), digester.digest(&one), "part {part}");
        let mut without = |state: &[&dyn Debug]| digester.digest(&[&state[..part], &state[part + 1..]].concat());
        assert_eq!(without(&mixed), without(&one), "part {part}");
    }
}

/// A hash of 128 bits distinguishes all states that the whole text distinguishes.
#[test]
fn each_state_has_its_own_digest() {
    let question = question("eifel-timestamps", 3);
    let (mut digests, mut texts) = (BTreeSet::new(), BTreeSet::new());
    let mut digester = Digester::default();
    let mut worlds = vec![world(&question)];
    while let Some(mut world) = worlds.pop() {
        match world.advance() {
            Progress::NeedsFate(Subject::Segment(number)) => {
                world.choose(if number == 0 { Fate::Lost } else { Fate::Delivered });
                worlds.push(world);
            }
            Progress::NeedsFate(Subject::Ack(_)) => {
                digests.insert(digester.digest(&world.state()));
                texts.insert(digester.write(&world.state()).to_owned());
                worlds.extend(answers(&world, true).iter().map(|answer| {
                    let mut one = world.clone();
                    one.say(answer);
                    one
                }));
            }
            Progress::Over | Progress::Stuck => {}
        }
    }
    assert_eq!(digests.len(), texts.len());
    assert_eq!(digests.len() as u64, merged(&question, None)[0].states);
}

/// The number of inputs is not part of a state. Near its limit, lies are still counted one by one.
#[test]
fn near_the_input_limit_lies_are_counted_one_by_one() {
    let question = question(PLAIN, 3);
    let losses = lost(&[0]);
    let mut stuck = Vec::new();
    for left in (10..32).chain([60, 500]) {
        let world = || world(&question).after_inputs(MOST_INPUTS - left);
        let digest = |world: &World, digester: &mut Digester| digester.digest(&world.state());
        let expected = one_by_one(world(), &losses, None);
        assert_eq!(merged_by(digest, world(), losses), expected, "{left} inputs left");
        stuck.push((expected.2, expected.0 - expected.2));
    }
    assert!(stuck.iter().any(|(stuck, ends)| *stuck > 0 && *ends > 0), "{stuck:?}");
    assert_eq!(stuck.last().map(|(stuck, _)| *stuck), Some(0), "{stuck:?}");
}

#[test]
fn a_cancelled_search_reports_no_further_progress() {
    for stop in [1, 2, 7] {
        let mut told = 0;
        let mut tell = |_| {
            told += 1;
            told < stop
        };
        let mut search = Search::new(lost(&[0]), &mut tell);
        search.endings(world(&question(PLAIN, 3)), None);
        assert_eq!(told, stop);
    }
}

#[test]
fn lies_pay_if_one_avoids_a_cut_of_the_honest_world() {
    let pays = |honest_is_cut, uncut| {
        let losses = Fates::default();
        LieTally { losses, honest_is_cut, lies: 9, uncut, stuck: 0, smallest: None, states: 9 }.pays()
    };
    assert_eq!([pays(true, 1), pays(true, 2)], [true; 2]);
    assert_eq!([pays(true, 0), pays(false, 1), pays(false, 0)], [false; 3]);
}
