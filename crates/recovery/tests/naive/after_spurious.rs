//! The timer's adaptations to verdicts: "Responding to Spurious Timeouts in TCP", section III.C.

use eifel_base::time::Duration;
use eifel_recovery::detect::Outcome;
use eifel_recovery::registry::{Choice, Seam, Value, part};
use eifel_recovery::rto::rfc6298::Ends;
use eifel_recovery::rto::{Rto, TimerChange};

use crate::dice::Dice;
use crate::rto::rfc6298::{Naive, pair, same, take};

const TIMERS: u64 = 5_000;
const OPERATIONS: u64 = 100;

/// The paper's rule for a verdict: spurious or not, with the delayed segment's round trip.
type Lesson = fn(&mut Naive, spurious: bool, r: Option<u128>, timeouts: u64);

fn nothing(_: &mut Naive, _: bool, _: Option<u128>, _: u64) {}

/// Option 1: SRTT <- R, RTTVAR <- R/2.
fn reseed(naive: &mut Naive, spurious: bool, r: Option<u128>, _: u64) {
    if let (true, Some(r)) = (spurious, r) {
        naive.srtt = Some(r);
        naive.rttvar = r / 2;
        naive.doublings = 0;
    }
}

/// Option 2: the timer stays backed off until a timeout is genuine.
fn back_off(naive: &mut Naive, spurious: bool, _: Option<u128>, _: u64) {
    naive.held = spurious;
    if !spurious {
        naive.doublings = 0;
    }
}

const STEP: u128 = 1_000_000_000;

/// Option 3: the minimum rises by a step, and a genuine timeout resets it.
fn min_plus_plus(naive: &mut Naive, spurious: bool, _: Option<u128>, _: u64) {
    if spurious { naive.raise_minimum(STEP) } else { naive.minimum = naive.configured_minimum }
}

fn min_plus_plus_by_expiry(naive: &mut Naive, spurious: bool, _: Option<u128>, timeouts: u64) {
    if spurious { naive.raise_minimum(STEP * u128::from(timeouts)) } else { naive.minimum = naive.configured_minimum }
}

/// A genuine timeout may halve it instead.
fn min_plus_plus_halved(naive: &mut Naive, spurious: bool, _: Option<u128>, _: u64) {
    if spurious { naive.raise_minimum(STEP) } else { halve(naive) }
}

fn halve(naive: &mut Naive) {
    naive.minimum /= 2;
    if naive.minimum < naive.configured_minimum {
        naive.minimum = naive.configured_minimum;
    }
}

/// The minimum rises to the length of the delay.
fn min_by_delay(naive: &mut Naive, spurious: bool, r: Option<u128>, _: u64) {
    match (spurious, r) {
        (true, Some(r)) if r > naive.minimum => naive.raise_minimum(r - naive.minimum),
        (true, _) => {}
        (false, _) => naive.minimum = naive.configured_minimum,
    }
}

/// The minimum rises to the average, in which a new delay has a quarter of the weight.
fn min_by_average(naive: &mut Naive, spurious: bool, r: Option<u128>, _: u64) {
    if !spurious {
        halve(naive);
    } else if let Some(r) = r {
        let average = naive.delays.map_or(r, |average| (3 * average + r) / 4);
        naive.delays = Some(average);
        if average > naive.minimum {
            naive.raise_minimum(average - naive.minimum);
        }
    }
}

/// Returns the variants of an adaptation, each with the paper's rule.
fn variants(name: &str) -> Vec<(Choice, Lesson)> {
    let choice = Choice::named(name);
    match name {
        "none" => vec![(choice, nothing)],
        "reseed" => vec![(choice, reseed)],
        "back-off" => vec![(choice, back_off)],
        "min-plus-plus" => {
            let choice = choice.with("step_ms", Value::Duration(Duration::from_nanos(STEP as u64)));
            let by_expiry = choice.clone().with("per", Value::Word("expiry".into()));
            let halved = choice.clone().with("on_genuine", Value::Word("halve".into()));
            vec![(choice, min_plus_plus), (by_expiry, min_plus_plus_by_expiry), (halved, min_plus_plus_halved)]
        }
        "min-by-delay" => {
            let average = choice.clone().with("average_of", Value::Integer(4));
            let average = average.with("on_genuine", Value::Word("halve".into()));
            vec![(choice, min_by_delay), (average, min_by_average)]
        }
        other => panic!("{other} has no transcription here"),
    }
}

#[test]
fn the_adaptations_agree_with_a_model_of_the_paper() {
    for (choice, lesson) in Seam::AfterSpurious.entries().iter().flat_map(|entry| variants(entry.name)) {
        compare(&choice, lesson);
    }
}

fn compare(choice: &Choice, lesson: Lesson) {
    let adaptation = part::after_spurious(choice).unwrap_or_else(|error| panic!("{error}"));
    let mut dice = Dice::new(2);
    for _ in 0..TIMERS {
        let mut adaptation = adaptation.clone();
        let (mut timer, mut naive) = pair(&mut dice, Ends::Sample);
        let mut timeouts = 0;
        for _ in 0..OPERATIONS {
            let r = dice.of_any_size(11);
            match dice.below(4) {
                0 | 1 => {
                    take(&mut timer, r);
                    naive.sample(r.into());
                }
                2 => {
                    timeouts += 1;
                    timer.back_off();
                    naive.doublings += 1;
                }
                _ => {
                    let spurious = dice.once_in(2);
                    let sample = (!dice.once_in(4)).then_some(r);
                    let outcome = if spurious { Outcome::Spurious } else { Outcome::Genuine };
                    let change = adaptation.on_verdict(outcome, sample.map(Duration::from_nanos), timeouts as u32);
                    if change != TimerChange::Keep {
                        timer.change(change);
                    }
                    lesson(&mut naive, spurious, sample.map(u128::from), timeouts);
                    timeouts = 0;
                }
            }
            same(&naive, &timer);
        }
    }
}
