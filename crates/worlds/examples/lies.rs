//! Tries every lie about a few segments, and prints the results for each loss: `cargo run --release
//! -p eifel-worlds --example lies -- eifel-timestamps 6`. Six segments take some minutes.

use core::ops::ControlFlow;
use std::process::ExitCode;

use eifel_recovery::registry::Choice;
use eifel_worlds::{LieTally, Question, search_lies};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [detect, segments] = &arguments[..] else {
        eprintln!("usage: lies DETECTOR SEGMENTS, with a detector of the registry");
        return ExitCode::FAILURE;
    };
    let found = match segments.parse() {
        Ok(segments) => {
            let question = Question::of_lies(Choice::named(detect), segments, true);
            search_lies(&question, None, |_| ControlFlow::Continue(()))
        }
        Err(error) => {
            eprintln!("{segments}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let found: Vec<LieTally> = match found {
        Ok(found) => found.into_iter().flatten().collect(),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for lied in &found {
        let verdict = if lied.pays() { "pays" } else { "does not pay" };
        println!(
            "{}: {} lies, {} states, {} without a cut: {verdict}",
            lied.losses, lied.lies, lied.states, lied.uncut
        );
    }
    let sum = |count: fn(&LieTally) -> u64| found.iter().map(count).sum::<u64>();
    let (lies, states, stuck) = (sum(|lied| lied.lies), sum(|lied| lied.states), sum(|lied| lied.stuck));
    let pays = found.iter().filter(|lied| lied.pays()).count();
    println!("{detect}: {lies} lies, {states} states, {stuck} stuck; one pays about {pays} of {} losses", found.len());
    ExitCode::SUCCESS
}
