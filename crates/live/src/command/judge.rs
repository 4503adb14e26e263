//! `judge`: tells which retransmissions of a kernel behind the box were needed, beside the kernel's
//! own conclusions.

use super::{Failure, OK, json_of, print};
use crate::hiccup::Direction;
use crate::judge::episodes::Episode;
use crate::judge::{self, Judgement, Retransmission, Sources};
use crate::system::Error;
use eifel_base::time::Instant;
use eifel_command::Options;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

const USAGE: &str = "\
Joins what `eifel live hiccup --out FOLDER` has written: which retransmissions of the kernel's sender were needed, why it sent
them, and whether it undid its window reduction. Without trace.csv, only one connection may send in the sender's namespace.

usage: eifel live judge [OPTIONS] FOLDER

  --sender FILE      a capture made at the sender, in place of FOLDER/sender.pcapng
  --receiver FILE    a capture made at the receiver, in place of FOLDER/receiver.pcapng
  --back             the data flow from the peer to the command
  --truth FILE       writes the truth for `eifel analyze CAPTURE --score FILE` (default: FOLDER/judged.csv)
  --json             print JSON
";

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let valued = ["--sender", "--receiver", "--truth"];
    let Some(options) = Options::read(words, &valued, &["--json", "--back"])? else { return print(USAGE).map(|()| OK) };
    let [folder] = &options.rest[..] else { return Err(Failure::Usage("one FOLDER is needed; see --help".to_owned())) };
    let folder = Path::new(folder);
    let judgement = judge::join(Sources {
        folder,
        sender: options.text("--sender").map(Path::new),
        receiver: options.text("--receiver").map(Path::new),
        direction: if options.has("--back") { Direction::Back } else { Direction::There },
    })?;
    let truth = options.text("--truth").map_or_else(|| folder.join("judged.csv"), Into::into);
    let failed = |error: std::io::Error| Error::new(truth.display().to_string(), &error, "");
    std::fs::write(&truth, judge::truth_file(&judgement.truth(|one| Some(one.judged.frame)))).map_err(failed)?;
    let document = document(&judgement);
    if options.has("--json") { print(&json_of("live-judge", document)) } else { print(&text(&judgement, &document)) }
        .map(|()| OK)
}

fn document(judgement: &Judgement) -> Value {
    let begun = judgement.retransmissions.first().map_or(Instant::ZERO, |one| one.judged.at);
    let episode = |one: &Episode| {
        json!({
            "after_s": judge::signed_ms(begun, one.begins) / 1e3,
            "lasts_s": (one.ends != Instant::NEVER).then(|| judge::signed_ms(one.begins, one.ends) / 1e3),
            "cause": one.cause.map(judge::causes::Cause::name),
            "retransmissions": one.retransmissions, "spurious": one.spurious, "first_spurious": one.first_spurious,
            "undo": one.undo.map(|(_, name)| name),
            "undo_after_ms": one.undo.map(|(at, _)| judge::signed_ms(one.begins, at)),
        })
    };
    let count = |spurious: bool, undone: bool| {
        let as_asked = |one: &&Episode| one.first_spurious == spurious && one.undo.is_some() == undone;
        judgement.episodes.iter().filter(as_asked).count()
    };
    let spurious = judgement.retransmissions.iter().filter(|one| one.judged.spurious).count();
    let causes: Vec<Value> = ["rto", "loss", "fast", "tlp", ""]
        .into_iter()
        .filter_map(|name| {
            let of = |one: &&Retransmission| one.cause.map_or("", judge::causes::Cause::name) == name;
            let all = judgement.retransmissions.iter().filter(of).count();
            let spurious = judgement.retransmissions.iter().filter(of).filter(|one| one.judged.spurious).count();
            let cause = if name.is_empty() { Value::Null } else { json!(name) };
            (all > 0).then(|| json!({ "cause": cause, "retransmissions": all, "spurious": spurious }))
        })
        .collect();
    json!({
        "retransmissions": judgement.retransmissions.len(), "spurious": spurious,
        "needed": judgement.retransmissions.len() - spurious,
        "causes": causes,
        "episodes": judgement.episodes.iter().map(episode).collect::<Vec<_>>(),
        "spurious_undone": count(true, true), "spurious_not_undone": count(true, false),
        "needed_undone": count(false, true), "needed_not_undone": count(false, false),
        "not_at_sender": judgement.not_at_sender, "not_at_receiver": judgement.not_at_receiver,
        "counters": judgement.counters_silent,
    })
}

fn text(judgement: &Judgement, document: &Value) -> String {
    let mut text = format!(
        "{} retransmissions: {} spurious, {} needed\n",
        document["retransmissions"], document["spurious"], document["needed"]
    );
    for one in document["causes"].as_array().into_iter().flatten() {
        let cause = one["cause"].as_str().unwrap_or("unknown");
        let _ = writeln!(text, "  {cause:<8} {:>5}, {} spurious", one["retransmissions"], one["spurious"]);
    }
    text += "episodes, from the first retransmission to the acknowledgement of all data outstanding then:\n";
    for one in document["episodes"].as_array().into_iter().flatten() {
        let cause = one["cause"].as_str().unwrap_or("unknown");
        let first = if one["first_spurious"] == true { "spurious" } else { "needed" };
        let undo = match (one["undo"].as_str(), one["undo_after_ms"].as_f64()) {
            (Some(name), Some(after)) => format!("undone after {} ({name})", milliseconds(after)),
            _ => "not undone".to_owned(),
        };
        let _ = writeln!(
            text,
            "  +{:<9.3} s  {cause:<8} {first:<9} {:>4} retransmissions, {} spurious; {undo}",
            one["after_s"].as_f64().unwrap_or_default(),
            one["retransmissions"],
            one["spurious"]
        );
    }
    let _ = writeln!(
        text,
        "of spurious episodes the kernel undid {} and kept {}; of genuine ones it undid {} and kept {}",
        document["spurious_undone"],
        document["spurious_not_undone"],
        document["needed_undone"],
        document["needed_not_undone"]
    );
    if judgement.not_at_sender + judgement.not_at_receiver > 0 {
        let (sender, receiver) = (judgement.not_at_sender, judgement.not_at_receiver);
        let _ =
            writeln!(text, "segments missing from the captures: {sender} at the sender, {receiver} at the receiver");
    }
    if let Some(why) = &judgement.counters_silent {
        let _ = writeln!(text, "causes and undos are not known: {why}");
    }
    text
}

/// Formats a time. An undo may follow its episode's first retransmission within a millisecond.
fn milliseconds(time: f64) -> String {
    if time < 10.0 { format!("{time:.3} ms") } else { format!("{time:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn a_time_below_a_millisecond_is_not_zero() {
        let shown = [0.0004, 0.31, 9.5, 10.0, 1881.4].map(milliseconds);
        assert_eq!(shown, ["0.000 ms", "0.310 ms", "9.500 ms", "10 ms", "1881 ms"]);
    }
}
