//! Whole conversations of senders with a receiver behind a rough path, compared with recordings,
//! for each algorithm and each of its parameters.
//!
//! The other tests check for correct results in situations that somebody thought of. These tests
//! check that nothing changes in all other situations.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod choices;
mod conversation;
#[path = "../naive/dice.rs"]
#[expect(dead_code, reason = "the models draw numbers of any size, too")]
mod dice;
mod receiver;

use std::fmt::Write;

use choices::{around, choices};
use conversation::Conversation;
use dice::Dice;
use eifel_golden::{digest, golden};

/// Number of conversations for each choice. The other seams are drawn again for each conversation.
const EACH: u64 = 5;
/// Number of lines of the conversation that the recording keeps.
const SHOWN: usize = 120;

#[test]
fn senders_behave_as_before() {
    let mut text = String::new();
    for (number, (seam, choice)) in choices().into_iter().enumerate() {
        let digests = (0..EACH).map(|which| {
            let mut dice = Dice::new(number as u64 * EACH + which);
            let config = around(seam, &choice, &mut dice);
            digest(Conversation::held(&config, &mut dice))
        });
        let set: String = choice.parameters.iter().map(|(name, value)| format!(" {name} = {value}")).collect();
        let digests: Vec<_> = digests.collect();
        writeln!(text, "{} {}{set}\n  {}", seam.name(), choice.name, digests.join(" ")).unwrap();
    }
    golden!("senders.txt", text);
}

#[test]
fn a_conversation_is_as_before() {
    let mut dice = Dice::new(1);
    let (seam, choice) = choices().swap_remove(0);
    let held = Conversation::held(&around(seam, &choice, &mut dice), &mut dice);
    let beginning: Vec<&str> = held.lines().take(SHOWN).collect();
    golden!("conversation.txt", beginning.join("\n"));
}
