//! Whole conversations of senders with a receiver behind a rough path, compared with recordings,
//! for each algorithm and each of its parameters.
//!
//! The other tests check for correct results in situations that somebody thought of. These tests
//! check that nothing changes in all other situations. A case's name is its seed, so an added
//! algorithm adds cases and changes none. The test `contributing` proves it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod choices;
mod conversation;
#[path = "../naive/dice.rs"]
#[expect(dead_code, reason = "the models draw numbers of any size, too")]
mod dice;
mod receiver;

use std::fmt::Write;

use choices::{around, choices, dice, name};
use conversation::Conversation;
use eifel_recovery::registry::{Choice, Seam};
use eifel_testkit::{digest, golden};

/// Number of conversations for each choice. The other seams are drawn again for each conversation.
const EACH: u64 = 5;
/// Number of lines of the conversation that the recording keeps.
const SHOWN: usize = 120;

/// Holds the conversation of this number with a sender around a choice.
fn conversation(seam: Seam, choice: &Choice, number: u64) -> String {
    let mut dice = dice(seam, choice, number);
    Conversation::held(&around(seam, choice, &mut dice), &mut dice)
}

#[test]
fn senders_with_each_choice_act_as_recorded() {
    let mut text = String::new();
    for (seam, choice) in choices() {
        let digests: Vec<_> = (0..EACH).map(|number| digest(conversation(seam, &choice, number))).collect();
        writeln!(text, "{}\n  {}", name(seam, &choice), digests.join(" ")).unwrap();
    }
    golden!("senders.txt", text);
}

#[test]
fn a_sender_without_detection_acts_as_recorded_step_by_step() {
    let held = conversation(Seam::Detect, &Choice::named("none"), 0);
    let beginning: Vec<&str> = held.lines().take(SHOWN).collect();
    golden!("conversation.txt", beginning.join("\n"));
}
