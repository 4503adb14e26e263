//! Analyses of random conversations that were captured away from their sender: on the path, and
//! next to the receiver.

mod conversation;

use std::fmt::Write;

use conversation::{Conversation, Setup};
use eifel_capture::result::Retransmission;
use eifel_capture::result::Vantage;
use eifel_testkit::{digest, golden};

const CONVERSATIONS: u64 = 2400;
/// Cases per digest.
const TOGETHER: u64 = 6;
/// One in this number of conversations is written out.
const WRITTEN_OUT: u64 = 120;

fn line(one: &Retransmission) -> String {
    let told: Vec<String> = one
        .first_told
        .iter()
        .map(|told| {
            format!("{} {} at {}", told.detector, if told.spurious { "spurious" } else { "genuine" }, told.frame)
        })
        .collect();
    let other = one.other_cause.map_or(String::new(), |other| format!(" or {}", other.name()));
    format!(
        "  frame {}, seq {}, copy {}: {}{other}, {:?}, {:?}, {}; {}",
        one.frame,
        one.number.value(),
        one.copy,
        one.cause.name(),
        one.verdict,
        one.confidence,
        one.reason,
        told.join(", ")
    )
}

#[test]
fn verdicts_on_drawn_conversations_far_from_the_sender_match_the_golden() {
    let (mut text, mut together) = (String::new(), String::new());
    let (mut again, mut told, mut far) = (0, 0, 0);
    for seed in 0..CONVERSATIONS {
        let setup = Setup::draw(seed);
        let said = Conversation::new(setup, seed).run();
        again += said.retransmissions.len();
        told += said.retransmissions.iter().filter(|one| !one.first_told.is_empty()).count();
        far += said.connections.iter().filter(|one| one.directions[0].vantage != Vantage::Sender).count();
        write!(together, "{:?}{:?}", said.connections, said.retransmissions).unwrap();
        if seed % WRITTEN_OUT == 0 {
            writeln!(text, "{seed}: {setup:?}, {:?}", said.connections[0].directions[0]).unwrap();
            said.retransmissions.iter().for_each(|one| writeln!(text, "{}", line(one)).unwrap());
        }
        if seed % TOGETHER == TOGETHER - 1 {
            writeln!(text, "up to {seed}: {}", digest(std::mem::take(&mut together))).unwrap();
        }
    }
    // Most retransmissions are judged by detectors, and most conversations have the expected
    // vantage.
    assert!(again > 20_000 && told * 2 > again, "{told} of {again}");
    assert!(far * 10 > CONVERSATIONS as usize * 9, "{far}");
    golden!("remote_sender.txt", text);
}
