//! Whole paths, replays and predictions of hidden paths from fixed seeds.

use std::fmt::Write;

use eifel_path::stream::Stream;
use eifel_sim::record::Record;
use eifel_testkit::{digest, golden, rounded};
use eifel_whatif::trial::{Cross, hidden, trial};
use eifel_whatif::{events, replay, scenario, whatif};

const CROSSES: [Cross; 3] = [Cross::None, Cross::Transfer, Cross::Bursts];

#[test]
fn hidden_paths_are_drawn_as_before() {
    let mut text = String::new();
    for cross in CROSSES {
        for seed in 0..120 {
            let (scenario, asked) = hidden(seed, cross);
            let drawn = rounded(&format!("{scenario:#}\n{asked:?}"));
            if seed % 60 == 3 {
                writeln!(text, "{drawn}").unwrap();
            }
            writeln!(text, "{cross:?} {seed}: {}", digest(drawn)).unwrap();
        }
    }
    golden!("hidden.txt", text);
}

/// The capture at the sender of a hidden path, all results from it, and the predictions for another
/// sender.
#[test]
fn paths_are_extracted_replayed_and_predicted_as_before() {
    let mut text = String::new();
    for seed in 0..45 {
        let (hidden, asked) = hidden(seed, CROSSES[seed as usize / 10 % 3]);
        let outcome = replay::simulated(&hidden, Record::none().capturing(2)).unwrap();
        let Some(captured) = events::of_pcapng(&outcome.captures[0].pcapng) else {
            writeln!(text, "{seed}: nothing was sent").unwrap();
            continue;
        };
        let json = |value: serde_json::Value| rounded(&value.to_string());
        writeln!(text, "# {seed}\n{}", json(serde_json::to_value(captured.events()).unwrap())).unwrap();
        let path = match captured.path() {
            Ok(path) => path,
            Err(refusal) => {
                writeln!(text, "{}", refusal.0).unwrap();
                continue;
            }
        };
        writeln!(text, "{}", json(serde_json::to_value(&path).unwrap())).unwrap();
        let sender = &hidden["flow"][0]["sender"];
        writeln!(text, "{}", json(scenario::as_seen(&path, sender, seed))).unwrap();
        let mut draws = Stream::new(seed, &["golden"]);
        let drawn: Vec<_> = (0..30).map(|_| json(scenario::drawn(&path, sender, &mut draws))).collect();
        writeln!(text, "{}\n{}", drawn[0], digest(drawn.join("\n"))).unwrap();
        if seed % 6 > 1 {
            continue;
        }
        let replay = replay::replay(&captured, &path).unwrap();
        writeln!(text, "{}", json(serde_json::to_value(&replay).unwrap())).unwrap();
        let mut heard = Vec::new();
        let found = whatif::whatif((&captured, &path, &replay), &[asked], (3, seed), &mut |done| {
            heard.push(done);
            Ok(())
        });
        writeln!(text, "{}\n{heard:?}", json(serde_json::to_value(&found).unwrap())).unwrap();
    }
    golden!("paths.txt", text);
}

#[test]
fn trials_end_as_before() {
    let mut text = String::new();
    for (seed, cross) in [(1, Cross::None), (2, Cross::Transfer), (3, Cross::Bursts), (8, Cross::None)] {
        let found = trial(seed, cross, 3).unwrap();
        writeln!(text, "{}", rounded(&serde_json::to_string(&found).unwrap())).unwrap();
    }
    golden!("trials.txt", text);
}
