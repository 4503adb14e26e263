//! Whole paths, replays and predictions of hidden paths from fixed seeds.

use std::fmt::Write;

use eifel_path::stream::Stream;
use eifel_sim::record::Record;
use eifel_testkit::{digest, golden, rounded};
use eifel_whatif::trial::{CrossTraffic, hidden, trial};
use eifel_whatif::{events, replay, scenario, whatif};

const CROSSES: [CrossTraffic; 3] = [CrossTraffic::None, CrossTraffic::Transfer, CrossTraffic::Bursts];

#[test]
fn drawn_hidden_paths_match_the_golden() {
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
fn extracted_replayed_and_predicted_paths_match_the_golden() {
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
        let mut seen = Vec::new();
        let found = whatif::whatif((&captured, &path, &replay), &[asked], (3, seed), &mut |done| {
            seen.push(done);
            Ok(())
        });
        writeln!(text, "{}\n{seen:?}", json(serde_json::to_value(&found).unwrap())).unwrap();
    }
    golden!("paths.txt", text);
}

#[test]
fn results_of_trials_match_the_golden() {
    let mut text = String::new();
    for (seed, cross) in
        [(1, CrossTraffic::None), (2, CrossTraffic::Transfer), (3, CrossTraffic::Bursts), (8, CrossTraffic::None)]
    {
        let found = trial(seed, cross, 3).unwrap();
        writeln!(text, "{}", rounded(&serde_json::to_string(&found).unwrap())).unwrap();
    }
    golden!("trials.txt", text);
}
